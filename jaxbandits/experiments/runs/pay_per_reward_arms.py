"""MAB-PPR and its rivals against the number of arms: a fixed sum of means, and means like click-through rates."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import xarray as xr

import jaxbandits as jb
from jaxbandits.experiments.runs.common import Sweep
from jaxbandits.experiments.runs.pay_per_reward_common import DELTA, EPSILON, MAB, RACE, UNION

__all__ = [
    "CLICKS", "CLICK_EPSILON", "SIZES", "WEIGHT", "Size", "click_weight", "clicks", "fixed_weight", "survey", "sweeps",
    "ugape_at_few_arms",
]  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Size:
    """How much to run."""

    runs: tuple[tuple[int, int], ...]  #: numbers of arms, and runs of each
    every: bool  #: all rivals, or the four that tell most


SIZES = {
    "quick": Size(runs=((100, 100), (10_000, 10)), every=False),
    "paper": Size(runs=((100, 1000), (1000, 1000), (10_000, 200), (100_000, 40), (1_000_000, 10)), every=True),
}

WEIGHT = 2.0
_WEIGHTS = ("one-good", "power", "flat")
#: A Beta law fitted to the click-through rates of 18 176 headlines (Upworthy Research Archive).
CLICKS = (2.29, 166.4)
CLICK_EPSILON = 0.02


def _algorithms(epsilon: float, *, every: bool) -> dict[str, Any]:
    known: dict[str, Any] = {"epsilon": epsilon, "delta": DELTA}
    few = {
        MAB: jb.MABPPR(**known),
        "median elimination": jb.MedianElimination(**known),
        UNION: jb.UnionBound(**known),
        RACE: jb.BernsteinRace(**known),
    }
    more = {
        "union bound, MoM": jb.UnionBound(**known, estimator="mom"),
        "Hoeffding race": jb.HoeffdingRace(**known),
        "exponential gaps": jb.ExpGapElimination(**known),
    }
    return {**few, **more} if every else few


def sweeps(size: Size, tables: int) -> int:
    """How many sweeps the functions below make, with so many tables."""
    rivals, few = (len(_algorithms(EPSILON, every=every)) for every in (size.every, False))
    return (rivals + few) * len(size.runs) + 1 + few * tables


def _against_arms(
    problem: Callable[[int], jb.Problem | jb.problems.ProblemFamily],
    algorithms: dict[str, Any],
    size: Size,
    sweep: Sweep,
) -> dict[str, list[xr.Dataset]]:
    return {
        label: [sweep(algorithm, problem(k), seeds) for k, seeds in size.runs]
        for label, algorithm in algorithms.items()
    }


def fixed_weight(size: Size, sweep: Sweep = jb.sweep) -> dict[str, list[xr.Dataset]]:
    """Runs over `weights` by algorithm, a Dataset for each number of arms."""
    algorithms = _algorithms(EPSILON, every=size.every)
    return _against_arms(lambda k: jb.ppr(jb.axis(_WEIGHTS), k, WEIGHT), algorithms, size, sweep)


def ugape_at_few_arms(sweep: Sweep = jb.sweep) -> xr.Dataset:
    """UGapEc with one good arm of 100; it pulls one arm a step."""
    return sweep(jb.UGapEc(epsilon=EPSILON, delta=DELTA), jb.ppr("one-good", 100, WEIGHT), 100)


@jb.problems.varying
def _headlines(k: int, seed: int) -> jb.problems.Bernoulli:
    problem: jb.problems.Bernoulli = jb.with_costs(jb.random_beta(k, seed, *CLICKS), "reward")
    return problem


def click_weight(k: int) -> float:
    """Sum of the means of k headlines."""
    return float(np.sum(np.asarray(_headlines(k, 0).mean, np.float64)))


def clicks(size: Size, sweep: Sweep = jb.sweep) -> dict[str, list[xr.Dataset]]:
    """Runs on headlines by algorithm, a Dataset for each number of arms."""
    return _against_arms(lambda k: _headlines(k, 0), _algorithms(CLICK_EPSILON, every=False), size, sweep)


def survey(problem: jb.Problem, size: Size, sweep: Sweep = jb.sweep) -> dict[str, xr.Dataset]:
    """Runs by algorithm on the arms of one table of clicks."""
    return {
        name: sweep(algorithm, problem, size.runs[0][1])
        for name, algorithm in _algorithms(CLICK_EPSILON, every=False).items()
    }
