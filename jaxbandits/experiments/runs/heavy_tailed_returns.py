"""SR-T on a table of returns, resampled, over budgets, with several estimators of the mean."""

from collections.abc import Sequence

import numpy as np
import xarray as xr

import jaxbandits as jb
from jaxbandits.experiments.runs.common import Sweep
from jaxbandits.experiments.runs.heavy_tailed_common import BATCHES

__all__ = ["over_budgets", "over_thresholds", "returns", "spread"]

_TRIED = np.asarray([0.5, 1, 2, 4, 8])  # thresholds to tune over, in standard deviations


def returns(table: str) -> jb.problems.Empirical:
    """A table with a column per arm: `data:NAME`, which comes with the package, or the path of a CSV file."""
    problem: jb.problems.Empirical
    if table.startswith("data:"):
        problem = jb.empirical_from_data(table.removeprefix("data:"))
    else:
        problem = jb.empirical_from_csv(table)
    return problem


def spread(problem: jb.problems.Empirical) -> float:
    """The largest standard deviation of an arm."""
    return float(np.sqrt(problem.moments(2, central=True).max()))


def over_thresholds(problem: jb.problems.Empirical, budget: int, seeds: int, sweep: Sweep = jb.sweep) -> xr.Dataset:
    """Runs of SR-T with truncated means at one budget, over `threshold`, to tune b; on seeds of their own."""
    threshold = jb.axis(np.round(spread(problem) * _TRIED, 3))
    algorithm = jb.SuccessiveRejects(budget=budget, estimator="tea", threshold=threshold, harmonic="full")
    return sweep(algorithm, problem, seeds, root_seed=1)


def over_budgets(
    problem: jb.problems.Empirical, tuned: float, budgets: Sequence[int], seeds: int, sweep: Sweep = jb.sweep
) -> dict[str, xr.Dataset]:
    """Runs of SR-T by estimator, over `budget`; truncated means with b = `tuned`."""
    budget = jb.axis(budgets)
    algorithms = {
        "EA": jb.SuccessiveRejects(budget=budget, harmonic="full"),
        f"TEA, b = {tuned:g}": jb.SuccessiveRejects(budget=budget, estimator="tea", threshold=tuned, harmonic="full"),
        f"MoM, {BATCHES} batches": jb.SuccessiveRejects(
            budget=budget, estimator="mom", batches=BATCHES, harmonic="full"
        ),
    }
    return {label: sweep(algorithm, problem, seeds) for label, algorithm in algorithms.items()}
