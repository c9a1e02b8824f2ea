"""SE-delta over the order p of the moments that it is told of; SE-delta and SR-T over degrees of freedom."""

import dataclasses

import numpy as np
import xarray as xr

import jaxbandits as jb
from jaxbandits.experiments.runs.common import Sweep
from jaxbandits.experiments.runs.heavy_tailed_common import BATCHES, eliminations

__all__ = [
    "DELTA",
    "ESTIMATORS",
    "MEANS",
    "SIZES",
    "SLOPE",
    "Size",
    "eliminations_over_heavy_tails",
    "eliminations_over_light_tails",
    "eliminations_over_orders",
    "order_for",
    "rejects_over_tails",
]


@dataclasses.dataclass(frozen=True)
class Size:
    """How much to run."""

    orders: tuple[float, ...]  #: p
    order_pulls: int  #: where runs against p are stopped
    dofs: tuple[float, ...]  #: degrees of freedom, increasing, from below 2.25 to above
    dof_pulls: int  #: where runs of SE-delta against them are stopped; enough for the lightest tails
    seeds: int  #: runs per cell of SE-delta
    budget: int  #: of SR-T
    budget_seeds: int  #: runs per cell of SR-T


SIZES = {
    "quick": Size(
        orders=(1.7, 1.8, 1.9, 2.0), order_pulls=300_000,
        dofs=(1.1, 1.2, 1.3, 1.4, 1.5, 1.75, 2.0, 2.5, 3.0), dof_pulls=200_000, seeds=8, budget=800, budget_seeds=4000,
    ),
    "paper": Size(
        orders=(1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2.0), order_pulls=3_000_000,
        dofs=(1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2.0, 2.25, 2.5, 2.75, 3.0), dof_pulls=1_000_000,
        seeds=100, budget=800, budget_seeds=100_000,
    ),
}  # fmt: skip

DELTA = 0.05
ESTIMATORS = ("EA", "TEA", "MoM", "Catoni")  #: of SE-delta

# One arm above nine by a large gap. Pulls go as gap^(-p/(p-1)): with S1's smallest, 0.5, there would be 8000 times as
# many at p = 1.5. Zero lies in the middle, where the raw moments, which TEA pays for, are least.
_GAP = 10.0
MEANS = [_GAP / 2, *[-_GAP / 2] * 9]
SLOPE = 0.8


def order_for(dof: float) -> float:
    """The p told to the algorithm; near `dof` the moments explode, near 1 the exponent 1/(p - 1) does.

    At 1.25, 1.5, 2 and 3 degrees of freedom Theorem 1 asks TEA for at most 15% more pulls than with the p best for
    it, and EA for at most 4, 2, 1.5 and 1.01 times as many.
    """
    return min(2.0, 1 + SLOPE * (dof - 1))


@jb.problems.varying
def _told(p: float) -> jb.Problem:
    """The problem whose tails go with a p below 2."""
    problem: jb.Problem = jb.student_t(MEANS, 1 + (p - 1) / SLOPE)
    return problem


def eliminations_over_orders(size: Size, sweep: Sweep = jb.sweep) -> dict[str, xr.Dataset]:
    """Runs of SE-delta on S1 by estimator, over `p`."""
    seeds = dict.fromkeys(ESTIMATORS, size.seeds)
    return eliminations(sweep, seeds, jb.s1(), size.order_pulls, delta=DELTA, p=jb.axis(size.orders))


def eliminations_over_heavy_tails(size: Size, sweep: Sweep = jb.sweep) -> dict[str, xr.Dataset]:
    """Runs of SE-delta by estimator, over `dof`, where the p told is below 2 and moves with it, as coordinate `p`."""
    seeds = dict.fromkeys(ESTIMATORS, size.seeds)
    heavy = [dof for dof in size.dofs if order_for(dof) < 2]
    told = [order_for(dof) for dof in heavy]
    runs = eliminations(sweep, seeds, _told(jb.axis(told, "p")), size.dof_pulls, delta=DELTA, p=jb.axis(told))
    return {label: ds.assign_coords(dof=("p", heavy)).swap_dims(p="dof") for label, ds in runs.items()}


def eliminations_over_light_tails(size: Size, sweep: Sweep = jb.sweep) -> dict[str, xr.Dataset]:
    """Runs of SE-delta by estimator, over `dof`, from where on the p told is 2."""
    seeds = dict.fromkeys(ESTIMATORS, size.seeds)
    light = [dof for dof in size.dofs if order_for(dof) == 2]
    return eliminations(sweep, seeds, jb.student_t(MEANS, jb.axis(light)), size.dof_pulls, delta=DELTA)


def rejects_over_tails(size: Size, sweep: Sweep = jb.sweep) -> dict[str, xr.Dataset]:
    """Runs of SR-T with the means of S1 by estimator, over `dof`."""
    means = [float(x) for x in np.asarray(jb.s1().mean, np.float64)]
    problem = jb.student_t(means, jb.axis(size.dofs))
    algorithms = {
        "EA": jb.SuccessiveRejects(budget=size.budget, harmonic="full"),
        "TEA, b = 10": jb.SuccessiveRejects(budget=size.budget, estimator="tea", threshold=10.0, harmonic="full"),
        "TEA, b = 4": jb.SuccessiveRejects(budget=size.budget, estimator="tea", threshold=4.0, harmonic="full"),
        f"MoM, {BATCHES} batches": jb.SuccessiveRejects(
            budget=size.budget, estimator="mom", batches=BATCHES, harmonic="full"
        ),
    }
    return {label: sweep(algorithm, problem, size.budget_seeds) for label, algorithm in algorithms.items()}
