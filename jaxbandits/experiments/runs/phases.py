"""Grids of a thousand cells: UGapEc over epsilon and K, RCB-I over the budget and the regularity of the reservoir."""

import dataclasses

import numpy as np
import xarray as xr

import jaxbandits as jb
from jaxbandits.experiments.runs.common import Sweep

__all__ = ["BEST", "DELTA", "REST", "SIZES", "Size", "over_budget_and_regularity", "over_epsilon_and_arms"]


@dataclasses.dataclass(frozen=True)
class Size:
    """How much to run."""

    values: int  #: of each axis
    seeds: int


SIZES = {"quick": Size(values=32, seeds=10), "paper": Size(values=40, seeds=200)}

DELTA = 0.05
#: Means of one Bernoulli arm and of the others.
BEST, REST = 0.9, 0.5


def over_epsilon_and_arms(size: Size, sweep: Sweep = jb.sweep) -> xr.Dataset:
    """Runs of UGapEc for one good arm among K, over `epsilon` and `n`, which is K, with `h_epsilon`."""
    epsilon = jb.axis(np.geomspace(0.02, 0.5, size.values))
    arms = jb.axis(np.unique(np.linspace(2, 64, size.values).round().astype(int)))
    ds = sweep(jb.UGapEc(epsilon=epsilon, delta=DELTA), jb.one_sparse(n=arms, best=BEST, rest=REST), size.seeds)
    return jb.with_theory(ds, "h_epsilon")


def over_budget_and_regularity(size: Size, sweep: Sweep = jb.sweep) -> xr.Dataset:
    """Runs of RCB-I over `budget` and `beta`, with the `rate` of its theorem."""
    budget, beta = jb.axis(np.geomspace(100, 5000, size.values)), jb.axis(np.geomspace(0.25, 4, size.values))
    return jb.with_theory(sweep(jb.RCBI(budget=budget), jb.reservoir(beta=beta), size.seeds), "rate")
