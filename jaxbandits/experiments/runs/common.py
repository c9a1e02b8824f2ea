"""What several of the figures' runs share."""

from collections.abc import Callable, Sequence
from typing import Any

import xarray as xr

import jaxbandits as jb

__all__ = ["Call", "Sweep", "at_budgets", "called"]

#: A function like `jaxbandits.sweep`.
Sweep = Callable[..., xr.Dataset]
#: What calls a public function with the arguments that follow it.
Call = Callable[..., Any]


def called(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """The function's result."""
    return function(*args, **options)


def at_budgets(
    sweep: Sweep,
    algorithm: Any,
    problem: jb.Problem | jb.problems.ProblemFamily,
    seeds: int,
    budgets: Sequence[int],
    **options: Any,
) -> xr.Dataset:
    """The answers of an algorithm that knows no budget after each of these numbers of pulls, from the same runs."""
    ds = sweep(algorithm, problem, seeds, max_pulls=budgets[-1], checkpoints=budgets, **options)
    ds = ds.rename(checkpoint="budget")
    return ds.assign(status=xr.zeros_like(ds["status"]))  # ended by their budget, not cut short
