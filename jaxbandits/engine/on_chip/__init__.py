"""Kernels of Pallas that keep the state of lanes on chip for a block of steps (`on_chip=True`): one room for all."""
