"""The best arm of a reservoir where every pull costs one: SiRI, Sequential Halving, UGapEb and RCB-I."""

import dataclasses
from typing import Any

import numpy as np
import xarray as xr

import jaxbandits as jb
from jaxbandits.experiments.runs.budgeted_common import lanes
from jaxbandits.experiments.runs.common import Sweep

__all__ = ["BEST", "FACTOR", "SIRI", "SIZES", "Size", "of_regularity", "siri_arms", "sweeps"]


@dataclasses.dataclass(frozen=True)
class Size:
    """How much to run."""

    runs: tuple[tuple[float, tuple[int, ...]], ...]  #: regularities, and numbers of pulls n
    seeds: int
    slow_seeds: int  #: of algorithms that pull one arm at a time
    slow_most: int  #: and their largest budget
    every: bool  #: all algorithms, or those that tell most


SIZES = {
    "quick": Size(runs=((1, (4400, 7000, 11_000)),), seeds=1000, slow_seeds=128, slow_most=11_000, every=False),
    # SiRI takes some 5 K steps with sums for all K arms: few arms where they are many.
    "paper": Size(
        runs=((1, (300, 1000, 3000, 10_000, 30_000, 100_000)), (3, (300, 1000, 3000, 10_000))), seeds=400,
        slow_seeds=100, slow_most=10_000, every=True,
    ),
}  # fmt: skip

BEST = 0.5  # mu*: arms near a best mean of 1 would hardly vary
FACTOR = 0.3  # SiRI's A, as its authors have it
SIRI, _TWICE = "SiRI", "sequential halving, 2 K arms"


def sweeps(size: Size) -> int:
    """How many sweeps a figure makes: those of `of_regularity` for every one."""
    return (5 if size.every else 3) * len(size.runs)


def siri_arms(n: float, beta: float, factor: float = FACTOR) -> int:
    """SiRI's number of arms: that of which the best misses the rate of its simple regret."""
    return int(np.ceil(factor * float(jb.theory.siri_simple_regret_rate(n, beta)) ** -beta * (1 - 1e-5)))


@jb.problems.varying
def _pool(beta: float, n: int, factor: float) -> jb.problems.RatioReservoir:
    return jb.reservoir(beta=beta, rho=BEST, prices="unit", arms=siri_arms(n, beta, factor))


def of_regularity(beta: float, budgets: tuple[int, ...], size: Size, sweep: Sweep = jb.sweep) -> dict[str, xr.Dataset]:
    """Runs by algorithm, over `budget`."""
    budget = jb.axis(budgets, name="budget")
    few = jb.axis([n for n in budgets if n <= size.slow_most], name="budget")

    def pool(n: jb.Axis, factor: float = FACTOR) -> jb.problems.ProblemFamily:
        family = _pool(beta, n, factor)
        assert isinstance(family, jb.problems.ProblemFamily)
        return family

    one_by_one: dict[str, Any] = {"UGapEb": jb.UGapEb(few, last=True)}
    batches: dict[str, Any] = {
        SIRI: (jb.SiRI(budget, a=FACTOR), jb.reservoir(beta=beta, rho=BEST, prices="unit")),
        "sequential halving": (jb.SequentialHalving(budget), pool(budget)),
    }
    if size.every:
        one_by_one["RCB-I"] = jb.RCBI(few)
        batches[_TWICE] = (jb.SequentialHalving(budget), pool(budget, 2 * FACTOR))
    found = {label: sweep(algorithm, problem, size.seeds) for label, (algorithm, problem) in batches.items()}
    for label, algorithm in one_by_one.items():
        found[label] = sweep(algorithm, pool(few), size.slow_seeds, lanes=lanes(size.slow_seeds))
    return found
