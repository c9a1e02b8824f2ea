"""SE-delta over delta and SR-T over budgets, with several estimators of the mean, on the paper's instances."""

import dataclasses

import numpy as np
import xarray as xr

import jaxbandits as jb
from jaxbandits.experiments.runs.common import Sweep
from jaxbandits.experiments.runs.heavy_tailed_common import BATCHES, eliminations

__all__ = [
    "ORDER",
    "PROBLEMS",
    "SIZES",
    "Size",
    "over_budgets",
    "over_deltas",
    "over_thresholds",
    "paper_threshold",
]


@dataclasses.dataclass(frozen=True)
class Size:
    """How much to run."""

    deltas: tuple[float, ...]
    stopped_seeds: int  #: runs per cell of SE-delta; a quarter of them for medians of means, which take longest
    budgets: tuple[int, ...]
    budget_seeds: int  #: runs per cell of SR-T
    tuned_at: int  #: the budget at which b is tuned, one of `budgets`
    return_budgets: tuple[int, ...]
    return_seeds: int


SIZES = {
    "quick": Size(
        deltas=(0.01, 0.02, 0.05, 0.1, 0.2), stopped_seeds=12,
        budgets=(100, 200, 400, 800, 1600, 3200), budget_seeds=4000, tuned_at=800,
        return_budgets=(1000, 3000, 10_000, 30_000, 100_000), return_seeds=500,
    ),
    "paper": Size(
        deltas=(0.005, 0.01, 0.02, 0.05, 0.1, 0.2), stopped_seeds=2000,
        budgets=(100, 200, 400, 800, 1600, 3200, 6400), budget_seeds=100_000, tuned_at=800,
        return_budgets=(1000, 3000, 10_000, 30_000, 100_000, 300_000), return_seeds=10_000,
    ),
}  # fmt: skip

#: The paper's instances: ten arms, Student t noise of 3 degrees of freedom.
PROBLEMS = {"S1": jb.s1, "S2": jb.s2}
#: The order p of the moments that the paper's algorithms are told of, and the moment B: Table 2.
ORDER, _MOMENT = 2.0, 7.0
_ESTIMATORS = {"S1": ("EA", "TEA", "MoM", "Catoni"), "S2": ("EA", "TEA")}
_TRIED = (2.5, 3.5, 5.0, 7.0, 10.0, 15.0, 25.0)  # thresholds to tune over
_NO_END = 10**9


def over_deltas(name: str, size: Size, sweep: Sweep = jb.sweep) -> dict[str, xr.Dataset]:
    """Runs of SE-delta until one arm is left, by estimator, over `delta`; `name` is one of `PROBLEMS`."""
    seeds = dict.fromkeys(_ESTIMATORS[name], size.stopped_seeds)
    if "MoM" in seeds:
        seeds["MoM"] = max(1, size.stopped_seeds // 4)
    return eliminations(sweep, seeds, PROBLEMS[name](), _NO_END, delta=jb.axis(size.deltas))


def paper_threshold(name: str) -> float:
    """The b at which the paper cuts rewards in SR-T."""
    means = np.sort(np.asarray(PROBLEMS[name]().mean, np.float64))
    return float(jb.theory.sr_tea_threshold(ORDER, _MOMENT, means[-1] - means[-2]))


def over_thresholds(name: str, size: Size, sweep: Sweep = jb.sweep) -> xr.Dataset:
    """Runs of SR-T with truncated means at one budget, over `threshold`, to tune b; on seeds of their own."""
    algorithm = jb.SuccessiveRejects(budget=size.tuned_at, estimator="tea", threshold=jb.axis(_TRIED), harmonic="full")
    return sweep(algorithm, PROBLEMS[name](), size.budget_seeds, root_seed=1)


def over_budgets(name: str, tuned: float, size: Size, sweep: Sweep = jb.sweep) -> dict[str, xr.Dataset]:
    """Runs of SR-T by estimator, over `budget`: truncated means with the paper's b, and with b = `tuned`."""
    budget, paper = jb.axis(size.budgets), paper_threshold(name)
    algorithms = {
        "EA": jb.SuccessiveRejects(budget=budget, harmonic="full"),
        f"TEA, the paper's b = {paper:.0f}": jb.SuccessiveRejects(
            budget=budget, estimator="tea", threshold=paper, harmonic="full"
        ),
        f"TEA, b = {tuned:g}": jb.SuccessiveRejects(budget=budget, estimator="tea", threshold=tuned, harmonic="full"),
        f"MoM, {BATCHES} batches": jb.SuccessiveRejects(
            budget=budget, estimator="mom", batches=BATCHES, harmonic="full"
        ),
    }
    return {label: sweep(algorithm, PROBLEMS[name](), size.budget_seeds) for label, algorithm in algorithms.items()}
