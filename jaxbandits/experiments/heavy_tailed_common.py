"""What the parts of the experiment on heavy tails share."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from jax.typing import ArrayLike

import jaxbandits as jb
from jaxbandits.experiments.bench import Bench

__all__ = ["BATCHES", "COLUMNS", "PROMISE", "PULLS_COLUMNS", "eliminations", "with_theorem"]

BATCHES = 5  #: of medians of means in SR-T
COLUMNS = ["runs", "errors", "failure", "failure_low", "failure_high", "pulls_mean"]
PULLS_COLUMNS = [*COLUMNS, "pulls_q10", "pulls_q50", "pulls_q90", "censored", "bound"]
PROMISE = (
    "Lemma 1 holds for one t; the paper takes no union over all t, so δ is its claim, not a bound at every time. In "
    "practice the algorithms err far less often than δ: radii are made for the worst law with these moments."
)
_LANES = 128  # few and long runs: more lanes would stand idle


def eliminations(
    bench: Bench,
    where: str,
    seeds: Mapping[str, int],
    problem: jb.Problem | jb.problems.ProblemFamily,
    max_pulls: int,
    **fields: Any,
) -> dict[str, xr.Dataset]:
    """Runs of SE-delta with each of some estimators, as many as `seeds` says, a sweep each.

    Moments come from the problem, so that every sweep of an estimator over ten arms shares one program.
    """
    return {
        label: bench.sweep(
            f"SE-δ ({label}) {where}",
            jb.SuccessiveElimination(estimator=label.lower(), **fields),
            problem,
            number,
            max_pulls=max_pulls,
            lanes=_LANES,
        )
        for label, number in seeds.items()
    }


def with_theorem(
    known: xr.Dataset,
    along: str,
    problems: Sequence[jb.problems.HeavyTailed],
    delta: ArrayLike,
    orders: Sequence[float],
) -> xr.Dataset:
    """Summaries with Theorem 1's numbers of pulls, for EA and TEA; NaN for estimators that it is not about.

    Args:
        known: summaries along `estimator` and `along`.
        along: the other dimension.
        problems: a problem per place along it.
        delta: probability of error, `()` or one per place.
        orders: p, one per place.
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
    values = np.stack([bounds.get(str(label), nothing) for label in known["estimator"].values])
    return known.assign(bound=(("estimator", along), values, {"long_name": "Theorem 1"}))
