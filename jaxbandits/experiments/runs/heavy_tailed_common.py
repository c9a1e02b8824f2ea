"""What the runs on heavy tails share."""

from collections.abc import Mapping
from typing import Any

import xarray as xr

import jaxbandits as jb
from jaxbandits.experiments.runs.common import Sweep

__all__ = ["BATCHES", "best_threshold", "eliminations"]

BATCHES = 5  #: of medians of means in SR-T
_LANES = 128  # few and long runs: more lanes would stand idle


def eliminations(
    sweep: Sweep,
    seeds: Mapping[str, int],
    problem: jb.Problem | jb.problems.ProblemFamily,
    max_pulls: int,
    **fields: Any,
) -> dict[str, xr.Dataset]:
    """Runs of SE-delta with each of some estimators, as many as `seeds` says, a sweep each.

    Moments come from the problem, so that every sweep of an estimator over ten arms shares one program.
    """
    return {
        label: sweep(
            jb.SuccessiveElimination(estimator=label.lower(), **fields),
            problem,
            number,
            max_pulls=max_pulls,
            lanes=_LANES,
        )
        for label, number in seeds.items()
    }


def best_threshold(tuning: xr.Dataset) -> float:
    """The `threshold` with the fewest errors."""
    return float(tuning["correct"].mean("seed").idxmax("threshold"))
