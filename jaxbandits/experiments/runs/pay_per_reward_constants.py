"""MAB-PPR on the hardest instances found, one of its practical constants at a time made smaller."""

import dataclasses
from typing import Any

import numpy as np
import xarray as xr

import jaxbandits as jb
from jaxbandits.experiments.runs.common import Sweep
from jaxbandits.experiments.runs.pay_per_reward_common import DELTA, EPSILON

__all__ = ["SIZES", "SWEEPS", "Size", "smaller_constants"]


@dataclasses.dataclass(frozen=True)
class Size:
    """How much to run."""

    seeds: int
    steps: int  #: how often a constant is quartered


SIZES = {"quick": Size(seeds=400, steps=8), "paper": Size(seeds=10_000, steps=9)}

#: One best arm and 99 that are just too bad, with large and with small means: the hardest instances found.
_MEANS = {".50 and 99 of .39": [0.5] + [0.39] * 99, ".15 and 99 of .04": [0.15] + [0.04] * 99}
_LABELS = {"cq": "C_q", "c1": "C_1", "c2": "C_2", "c3": "C_3", "factor": "9/2 of q2, q3", "theta": "1 - θ"}
SWEEPS = len(_LABELS)


@jb.problems.varying
def _instance(means: str) -> jb.problems.Bernoulli:
    problem: jb.problems.Bernoulli = jb.with_costs(jb.bernoulli(_MEANS[means]), "reward")
    return problem


def smaller_constants(size: Size, sweep: Sweep = jb.sweep) -> dict[str, xr.Dataset]:
    """Runs by constant, over `share`, what is left of it, and `means`."""
    problem, runs = _instance(jb.axis(list(_MEANS))), {}
    left = 0.25 ** np.arange(size.steps + 1)  # quartered again and again
    for name, label in _LABELS.items():
        own = getattr(jb.theory.PPR_PRACTICAL, name)
        values = 1 - (1 - own) * left if name == "theta" else own * left
        changed: dict[str, Any] = {name: jb.axis([float(x) for x in values])}
        ds = sweep(dataclasses.replace(jb.MABPPR(EPSILON, DELTA), **changed), problem, size.seeds)
        runs[label] = ds.rename({name: "share"}).assign_coords(share=left)
    return runs
