"""Build MAB-PPR and its rivals, and measure costs in units of W, the sum of all means."""

from collections.abc import Callable
from typing import Any

import xarray as xr

import jaxbandits as jb
from jaxbandits.papers.bench import Bench, stack_summaries
from jaxbandits.papers.title_claims import Ends, at_least, quotient
from jaxbandits.report import formatting

__all__ = [
    "CLICK_EPSILON", "COLUMNS", "COST_OVER_W", "DELTA", "EPSILON", "MAB", "PAID_COLUMNS", "RACE", "UNION",
    "build_algorithms", "describe_race", "describe_safety", "divide_by_weight", "run_arms", "summarise_arms",
]  # fmt: skip

EPSILON, DELTA = 0.1, 0.1
CLICK_EPSILON = 0.02  #: for click-through rates
MAB, RACE, UNION = "MAB-PPR, practical", "Bernstein race", "union bound, Hoeffding"
COLUMNS = ["runs", "cost_mean", "cost_low", "cost_high", "failure", "failure_low", "failure_high"]
PAID_COLUMNS = [*COLUMNS[:4], "paid_mean", *COLUMNS[4:]]
COST_OVER_W = "cost / W"


def build_algorithms(epsilon: float, *, every: bool = False) -> dict[str, Any]:
    """Return the four most informative algorithms, or all of them."""
    fields: dict[str, Any] = {"epsilon": epsilon, "delta": DELTA}
    few = {
        MAB: jb.MABPPR(**fields),
        "median elimination": jb.MedianElimination(**fields),
        UNION: jb.UnionBound(**fields),
        RACE: jb.BernsteinRace(**fields),
    }
    more = {
        "union bound, MoM": jb.UnionBound(**fields, estimator="mom"),
        "Hoeffding race": jb.HoeffdingRace(**fields),
        "exponential gaps": jb.ExpGapElimination(**fields),
    }
    return {**few, **more} if every else few


def run_arms(
    bench: Bench,
    problem: Callable[[int], jb.Problem | jb.problems.ProblemFamily],
    algorithms: dict[str, Any],
    runs: tuple[tuple[int, int], ...],
) -> dict[str, list[xr.Dataset]]:
    """Run each algorithm with each number of arms, as often as `runs` says: a list of Datasets for each."""
    return {
        label: [bench.sweep(algorithm, problem(k), seeds) for k, seeds in runs]
        for label, algorithm in algorithms.items()
    }


def divide_by_weight(ds: xr.Dataset, weight: float) -> xr.Dataset:
    """Return runs with their costs in units of W."""
    return ds.assign(cost=ds["cost"] / weight, paid=ds["paid"] / weight)


def summarise_arms(runs: dict[str, list[xr.Dataset]], arms: list[int], weight: Callable[[int], float]) -> xr.Dataset:
    """Return summaries along `algorithm` and `k`, with costs in units of W."""
    by_arms = []
    for place, k in enumerate(arms):
        parts = {label: divide_by_weight(datasets[place], weight(k)) for label, datasets in runs.items()}
        by_arms.append(stack_summaries("algorithm", parts))
    stats = xr.concat(by_arms, "k", join="exact").assign_coords(k=arms)
    stats["k"].attrs["long_name"] = "arms K"
    stats["cost_mean"].attrs["label"] = COST_OVER_W
    return stats


def describe_race(cost: Ends) -> str:
    """Say how much less the Bernstein race surely pays than MAB-PPR."""
    least = at_least(quotient(cost.sel(algorithm=MAB), cost.sel(algorithm=RACE)))
    if not least:
        return "the intervals do not tell everywhere that the Bernstein race pays less than MAB-PPR"
    return f"the Bernstein race pays at least {least} times less than MAB-PPR everywhere"


def describe_safety(stats: xr.Dataset) -> str:
    """Count the wrong answers."""
    errors, runs = int(stats["errors"].sum()), int(stats["runs"].sum())
    worst = stats["failure_high"].max()
    return (
        f"{errors} of {formatting.count(runs)} runs returned an arm more than ε below the best; the largest upper "
        "end of "
        f"a 95% interval is {formatting.probability(float(worst))} (δ = {DELTA:g})."
    )
