"""Strict settings for every test: two CPU devices (before JAX starts) and no silent rank promotion in the tests' own code."""

import os

os.environ.setdefault("JAX_NUM_CPU_DEVICES", "2")
os.environ.setdefault("MPLBACKEND", "Agg")
