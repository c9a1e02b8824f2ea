"""What the papers' figures run: functions from a size to Datasets, with the public face only. Copy from here.

Every function takes `sweep`, a function like `jaxbandits.sweep`; the figures hand in one that reports where it is.
"""
