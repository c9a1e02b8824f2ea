"""Sweeps: from a grid to a labelled Dataset, and the plain-data specification of both."""
