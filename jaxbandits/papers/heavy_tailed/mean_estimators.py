"""Run SE-delta and SR-T with several estimators of the mean, and add Theorem 1 to their summaries."""

from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr
from jax.typing import ArrayLike

import jaxbandits as jb
from jaxbandits.papers.bench import Bench
from jaxbandits.report import formatting

__all__ = [
    "COLUMNS", "DELTA", "ESTIMATORS", "PAPER_ORDER", "PROBLEMS", "PROMISE", "PULLS_COLUMNS", "add_theorem",
    "build_rejects", "build_truncated", "describe_arrows", "find_best_threshold", "run_eliminations",
]  # fmt: skip

#: The paper's instances: ten arms, Student t noise of 3 degrees of freedom.
PROBLEMS = {"S1": jb.s1, "S2": jb.s2}
#: The order p of the moments that the paper gives its algorithms.
PAPER_ORDER = 2.0
#: Where tails and orders vary.
DELTA = 0.05
ESTIMATORS = ("EA", "TEA", "MoM", "Catoni")
COLUMNS = ["runs", "errors", "failure", "failure_low", "failure_high", "pulls_mean"]
PULLS_COLUMNS = [*COLUMNS, "pulls_q10", "pulls_q50", "pulls_q90", "censored", "bound"]
PROMISE = (
    "Lemma 1 holds for one t; the paper takes no union over all t, so δ is its claim, not a bound at every time. In "
    "practice the algorithms err far less often than δ: radii are made for the worst law with these moments."
)
_BATCHES = 5  # of medians of means in SR-T
_LANES = 128  # few and long runs: more lanes would idle


def run_eliminations(
    bench: Bench,
    seeds: Mapping[str, int],
    problem: jb.Problem | jb.problems.ProblemFamily,
    max_pulls: int,
    **fields: object,
) -> dict[str, xr.Dataset]:
    """Run SE-delta with each estimator of `seeds`, a sweep each with its number of runs.

    Moments come from the problem, so that every sweep of an estimator over ten arms shares one program.
    """
    return {
        label: bench.sweep(
            jb.SuccessiveElimination(estimator=label.lower(), **fields),
            problem,
            number,
            max_pulls=max_pulls,
            lanes=_LANES,
        )
        for label, number in seeds.items()
    }


def build_rejects(budget: float | jb.Axis, thresholds: Mapping[str, float]) -> dict[str, jb.SuccessiveRejects]:
    """Return SR-T by estimator: empirical means, truncated ones by their labels and b, medians of means."""
    return {
        "EA": jb.SuccessiveRejects(budget=budget, harmonic="full"),
        **{label: build_truncated(budget, b) for label, b in thresholds.items()},
        f"MoM, {_BATCHES} batches": jb.SuccessiveRejects(
            budget=budget, estimator="mom", batches=_BATCHES, harmonic="full"
        ),
    }


def build_truncated(budget: float | jb.Axis, threshold: float | jb.Axis) -> jb.SuccessiveRejects:
    """Return SR-T with means truncated at b = `threshold`."""
    return jb.SuccessiveRejects(budget=budget, estimator="tea", threshold=threshold, harmonic="full")


def find_best_threshold(tuning: xr.Dataset) -> float:
    """Return the `threshold` with the fewest errors."""
    return float(tuning["correct"].mean("seed").idxmax("threshold"))


def add_theorem(
    stats: xr.Dataset,
    along: str,
    problems: Sequence[jb.problems.HeavyTailed],
    delta: ArrayLike,
    orders: Sequence[float],
) -> xr.Dataset:
    """Add Theorem 1's numbers of pulls, for EA and TEA; NaN for estimators that it is not about.

    Args:
        stats: summaries along `estimator` and `along`.
        along: the other dimension.
        problems: a problem per coordinate.
        delta: probability of error, `()` or one per coordinate.
        orders: p, one per coordinate.
    """
    means = np.stack([np.asarray(problem.mean, np.float64) for problem in problems], axis=-1)
    raw, central = (
        np.asarray([problem.moments(p, central=kind).max() for problem, p in zip(problems, orders, strict=True)])
        for kind in (False, True)
    )
    p = np.asarray(orders, np.float64)
    bounds = {
        "EA": jb.theory.se_ea_pulls_bound(means, delta, p, central),
        "TEA": jb.theory.se_tea_pulls_bound(means, delta, p, raw),
    }
    nothing = np.full(len(problems), np.nan)
    values = np.stack([bounds.get(str(label), nothing) for label in stats["estimator"].values])
    return stats.assign(bound=(("estimator", along), values, {"long_name": "Theorem 1"}))


def describe_arrows(max_pulls: int) -> str:
    """Say what arrows mean in a picture of runs with a limit."""
    return f"Arrows: half of the runs or more were truncated at {formatting.count(max_pulls)} pulls, a lower bound."
