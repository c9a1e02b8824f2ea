"""Every rule with a fixed confidence on one good arm among K, over the allowed probability of error."""

import dataclasses

import numpy as np
import xarray as xr

import jaxbandits as jb
from jaxbandits.experiments.runs.common import Sweep

__all__ = ["BEST", "REST", "RULES", "SIZES", "Size", "over_delta_and_arms"]

#: Means of one Bernoulli arm and of the others.
BEST, REST = 0.7, 0.4


@dataclasses.dataclass(frozen=True)
class Size:
    """How much to run."""

    seeds: int
    arms: tuple[int, ...] = (4, 16)
    deltas: tuple[float, ...] = (1e-1, 1e-2, 1e-4, 1e-6, 1e-8, 1e-10)


SIZES = {"quick": Size(seeds=100), "paper": Size(seeds=2000, arms=(4, 16, 64))}

#: From a delta, or an axis of them, to a rule; thresholds and constants are proved ones.
RULES = {
    "UGapEc": lambda delta: jb.UGapEc(epsilon=0.0, delta=delta),
    "LUCB1": lambda delta: jb.LUCB(epsilon=0.0, delta=delta),
    "LUCB++": lambda delta: jb.LUCBPlusPlus(epsilon=0.0, delta=delta),
    "lil'UCB": lambda delta: jb.LilUCB(delta=delta),
    "KL-LUCB": lambda delta: jb.KLLUCB(epsilon=0.0, delta=delta),
    "KL race": lambda delta: jb.KLRace(epsilon=0.0, delta=delta),
    "uniform, GLR": lambda delta: jb.UniformGLR(delta=delta),
    "Track-and-Stop": lambda delta: jb.TrackAndStop(delta=delta),
    "T3C": lambda delta: jb.T3C(delta=delta),
    "EB-TCI": lambda delta: jb.EBTCI(delta=delta),
    "TTUCB": lambda delta: jb.TTUCB(delta=delta),
}


def over_delta_and_arms(size: Size, sweep: Sweep = jb.sweep) -> dict[str, xr.Dataset]:
    """Runs of each rule over `delta` and `n`, the number of arms."""
    problem = jb.one_sparse(n=jb.axis(size.arms), best=BEST, rest=REST)
    return {label: sweep(rule(jb.axis(np.asarray(size.deltas))), problem, size.seeds) for label, rule in RULES.items()}
