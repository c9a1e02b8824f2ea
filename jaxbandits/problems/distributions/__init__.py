"""Distributions of rewards: a law, its moments, and its draw from random words."""
