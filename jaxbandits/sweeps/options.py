"""Checks of the options of a sweep, made before anything runs."""

import itertools
from collections.abc import Iterable, Sequence

import numpy as np

from jaxbandits.algorithms.parameters import axes_of
from jaxbandits.algorithms.protocol import Rule
from jaxbandits.arrays.numerics import MAX_COUNT
from jaxbandits.checks import POSITIVE, as_single, number, whole
from jaxbandits.engine.binding import why_not_anytime
from jaxbandits.errors import UsageError, about
from jaxbandits.problems.base import Problem
from jaxbandits.problems.constructors import ProblemFamily
from jaxbandits.report.summary_names import variables_of
from jaxbandits.sweeps.grid import RESERVED
from jaxbandits.sweeps.metrics import METRICS

__all__ = ["check_names", "checkpoint_values"]


def check_names(algorithm: Rule, problem: Problem | ProblemFamily, own: Iterable[str]) -> None:
    """Check that no axis and no metric has the name of another variable of the results or of their summary.

    Args:
        algorithm: the algorithm with its axes.
        problem: the problem with its axes.
        own: names of the user's metrics.

    Raises:
        UsageError: a name that is taken; the message names the axis or the metric.
    """
    own = list(own)
    in_summary = variables_of([*METRICS, *own])
    for name in own:
        if twice := [one for one in variables_of([name]) if in_summary.count(one) > 1]:
            raise UsageError(f"the metric {name!r} needs another name: summaries have {twice[0]!r} already")
    for table, axes in (("algorithm", axes_of(algorithm)), ("problem", problem.axes)):
        for field, values in axes.items():
            name = values.name or field
            if name in {*RESERVED, *METRICS, *own, *in_summary}:
                where = "results" if name in {*RESERVED, *METRICS, *own} else "their summaries"
                with about(table, field):
                    raise UsageError(
                        f"an axis cannot be called {name!r}, since {where} have that name already: "
                        "give it another name, axis(…, name=…)"
                    )


def checkpoint_values(algorithm: Rule, checkpoints: Sequence[float] | None, max_pulls: int) -> np.ndarray:
    """Return the checkpoints of runs, `(Q,)`: int32, numbers of pulls, or float32, costs; empty for None.

    Raises:
        UsageError: checkpoints that do not increase, none, or some beyond `max_pulls`; or an algorithm without an
            answer before it ends.
    """
    if checkpoints is None:
        return np.zeros(0, np.int32)
    with about("run", "checkpoints"):
        traits = algorithm.traits
        if not traits.anytime:
            raise UsageError(f"{type(algorithm).__name__} {why_not_anytime(algorithm)}")
        spends = traits.spends is not None
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
