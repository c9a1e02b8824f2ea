"""Reservoirs: infinitely many arms, of which every run draws its own."""
