"""What the parts of the experiment on heavy tails share."""

from collections.abc import Sequence

import numpy as np
import xarray as xr
from jax.typing import ArrayLike

import jaxbandits as jb

__all__ = ["COLUMNS", "PROMISE", "PULLS_COLUMNS", "with_theorem"]

COLUMNS = ["runs", "errors", "failure", "failure_low", "failure_high", "pulls_mean"]
PULLS_COLUMNS = [*COLUMNS, "pulls_q10", "pulls_q50", "pulls_q90", "censored", "bound"]
PROMISE = (
    "Lemma 1 holds for one t; the paper takes no union over all t, so δ is its claim, not a bound at every time. In "
    "practice the algorithms err far less often than δ: radii are made for the worst law with these moments."
)


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
