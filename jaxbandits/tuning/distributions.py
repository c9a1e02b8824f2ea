"""Distributions over problems from plain data: a [problem] table whose numbers may be drawn."""

import contextvars
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from jaxbandits.checks import FINITE, POSITIVE, number, whole
from jaxbandits.errors import UsageError, unknown_name
from jaxbandits.problems.base import Problem
from jaxbandits.problems.specs import build_problem
from jaxbandits.random.streams import MOST_ARMS
from jaxbandits.tuning.instance_parameters import Draw

__all__ = ["distribution"]

#: The laws of a value: two numbers, and how many values to draw (None for one).
_LAWS: dict[str, Callable[[np.random.Generator, float, float, int | None], Any]] = {
    "uniform": lambda random, low, high, size: random.uniform(low, high, size),
    "log_uniform": lambda random, low, high, size: np.exp(random.uniform(np.log(low), np.log(high), size)),
    "normal": lambda random, mean, sd, size: random.normal(mean, sd, size),
}


def distribution(table: Mapping[str, object]) -> Draw:
    """Return a function that draws problems as a table says.

    The table is such as `{name = "bernoulli", means = {uniform = [0.2, 0.8], arms = 10}}`.

    Args:
        table: as the [problem] table of a specification, where an argument may be `{ LAW = [first, second] }`: one
            number, or with `arms = K` a list of K. LAW is uniform or log_uniform (from, to) or normal (mean, standard
            deviation).

    Raises:
        UsageError: an unknown law, numbers outside its range, nothing that is drawn, or a table that makes no problem.
    """
    drawn = {name: _law(name, value) for name, value in table.items() if isinstance(value, dict)}
    if not drawn:
        raise UsageError("[instances] draws nothing: one of its values must be such as { uniform = [0.2, 0.8] }")

    here = contextvars.copy_context()  # the folder from which paths count, also when the file has been left

    def draw(random: np.random.Generator) -> Problem:
        made = here.run(build_problem, {**table, **{name: law(random) for name, law in drawn.items()}})
        assert isinstance(made, Problem)  # a table of a law is no axis
        return made

    draw(np.random.default_rng(0))  # errors in the table are raised now
    return draw


def _law(name: str, value: dict[str, object]) -> Callable[[np.random.Generator], float | list[float]]:
    given = {key: one for key, one in value.items() if key != "arms"}
    if len(given) != 1:
        raise UsageError(f"{name} of [instances] needs one law, {' or '.join(_LAWS)}, got {sorted(value)}")
    ((law, numbers),) = given.items()
    if law not in _LAWS:
        raise unknown_name("law", law, _LAWS)
    if not isinstance(numbers, list) or len(numbers) != 2:
        raise UsageError(f"{name} of [instances]: {law} needs two numbers, got {numbers!r}")
    positive = law == "log_uniform"
    first = number(f"{name} of [instances]: the first number of {law}", numbers[0], POSITIVE if positive else FINITE)
    second = number(f"{name} of [instances]: the second number of {law}", numbers[1], FINITE)
    if not (second > 0 if law == "normal" else second > first):
        larger = "positive" if law == "normal" else "above the first"
        raise UsageError(f"{name} of [instances]: the second number of {law} must be {larger}, got {second:g}")
    size = None if "arms" not in value else whole(f"{name} of [instances]: arms", value["arms"], 1, MOST_ARMS)

    def draw(random: np.random.Generator) -> float | list[float]:
        found = _LAWS[law](random, first, second, size)
        return float(found) if size is None else found.tolist()

    return draw
