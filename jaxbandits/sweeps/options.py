"""Checks of the options of a sweep, made before anything runs."""

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from jaxbandits.arrays.numerics import MAX_COUNT
from jaxbandits.checks import POSITIVE, as_single, number, shown, whole
from jaxbandits.engine.binding import why_not_anytime
from jaxbandits.errors import UsageError, about
from jaxbandits.io.axis_values import check_entries
from jaxbandits.report.summaries import variables_of
from jaxbandits.storage.store_files import check_keep
from jaxbandits.sweeps.entries import Entries
from jaxbandits.sweeps.grid import RESERVED
from jaxbandits.sweeps.metrics import METRICS
from jaxbandits.sweeps.platform_options import FlightOptions
from jaxbandits.sweeps.time_limit import seconds_of

__all__ = ["check_names", "checked_option", "checkpoint_values", "run_options"]

T = TypeVar("T")

#: The options of a sweep that the table [run] of a specification may set.
_RUN = (
    "seeds", "first_seed", "root_seed", "max_pulls", "independent", "checkpoints", "batch", "delay", "keep", "max_time",
)  # fmt: skip


def run_options(table: dict[str, Any]) -> tuple[dict[str, Any], str, float | None]:
    """Return the options of a table [run] for `make_plan`, which checks them; what is kept, and the limit in seconds.

    Raises:
        UsageError: an unknown option, or a value of the last two that cannot be used.
    """
    options = {"seeds": 1000, **table}
    with about("run"):
        check_entries(table, _RUN)
    keep = checked_option("keep", check_keep, options.pop("keep", "runs"))
    limit = options.pop("max_time", None)
    return options, keep, None if limit is None else checked_option("max_time", seconds_of, limit)


def checked_option(name: str, check: Callable[..., T], *arguments: Any) -> T:
    """Return what a check returns; its error is about an option in the table [run]."""
    with about("run", name):
        return check(*arguments)


def check_names(algorithms: Entries, problems: Entries, flights: FlightOptions, own: Iterable[str]) -> None:
    """Check that no axis and no metric has the name of another variable of the results or of their summary.

    Raises:
        UsageError: a name that is taken; the message names the axis or the metric.
    """
    own = list(own)
    in_summary = variables_of([*METRICS, *own])
    for name in own:
        if twice := [one for one in variables_of([name]) if in_summary.count(one) > 1]:
            raise UsageError(f"the metric {name!r} needs another name: summaries have {twice[0]!r} already")
    both = (algorithms, problems)
    placed = [(place, entries.axes(entry)) for entries in both for entry, place in entries.places.items()]
    for place, axes in [*placed, (("run",), flights.axes)]:
        for field, values in axes.items():
            name = values.name or field
            if name in {*RESERVED, *METRICS, *own, *in_summary}:
                where = "results" if name in {*RESERVED, *METRICS, *own} else "their summaries"
                with about(*place, field):
                    raise UsageError(
                        f"an axis cannot be called {name!r}, since {where} have that name already: "
                        "give it another name, axis(…, name=…)"
                    )
    _check_budgets(algorithms)


def _check_budgets(algorithms: Entries) -> None:
    """Check that an axis of budgets is of costs, or of pulls: results say which."""
    spends = {name: rule.traits.spends is not None for name, rule in algorithms.things.items()}
    if len(set(spends.values())) > 1:
        for name, of_cost in spends.items():
            called = [axis.name or field for field, axis in algorithms.axes(name).items()]
            if not of_cost and "budget" in called:
                with about(*algorithms.places[name]):
                    raise UsageError(
                        f"the budgets of {name} are numbers of pulls, and those of {_first(spends)} are costs: give "
                        "the axis another name, axis(…, name=…)"
                    )


def _first(chosen: Mapping[str, bool]) -> str:
    return next(name for name, is_so in chosen.items() if is_so)


def checkpoint_values(algorithms: Entries, checkpoints: Sequence[float] | None, max_pulls: int) -> np.ndarray:
    """Return the checkpoints of runs, `(Q,)`: int32, numbers of pulls, or float32, costs; empty for None.

    Raises:
        UsageError: checkpoints that do not increase, none, or some beyond `max_pulls`; an algorithm without an
            answer before it ends; or algorithms that spend a budget of cost beside others.
    """
    if checkpoints is None:
        return np.zeros(0, np.int32)
    with about("run", "checkpoints"):
        if isinstance(checkpoints, str) or not isinstance(checkpoints, Iterable):
            raise UsageError(f"checkpoints are a list of numbers of pulls, got {shown(checkpoints)}")
        rules = list(algorithms.things.values())
        for algorithm in rules:
            if not algorithm.traits.anytime:
                raise UsageError(f"{type(algorithm).__name__} {why_not_anytime(algorithm)}")
        spends = rules[0].traits.spends is not None
        for algorithm in rules:
            if (algorithm.traits.spends is not None) != spends:
                one, other = (type(rule).__name__ for rule in (rules[0], algorithm))
                units = ("costs", "numbers of pulls")[:: 1 if spends else -1]
                raise UsageError(f"checkpoints are {units[0]} for {one} and {units[1]} for {other}: run them apart")
        points = [
            float(as_single("a checkpoint", number("a checkpoint", point, POSITIVE)))
            if spends
            else whole("a checkpoint", point, 1, MAX_COUNT)
            for point in checkpoints
        ]
        if not points or any(a >= b for a, b in itertools.pairwise(points)):
            raise UsageError(f"checkpoints must be increasing, and at least one, got {list(checkpoints)}")
        if spends:
            return np.asarray(points, np.float32)
        if points[-1] > max_pulls:
            raise UsageError(f"checkpoints must not exceed max_pulls={max_pulls}, got {points[-1]}")
        return np.asarray(points, np.int32)
