"""Axes of formulas: per-arm arrays are `(K, …)`, numbers `()` or `(…)`, one for each run.

Without care JAX would line up an epsilon of shape `(K,)` with the arms of means of shape `(K,)`.
"""

import functools
import inspect
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import jax
import numpy as np

from jaxbandits.errors import UsageError

__all__ = ["arms_then_runs"]

P = ParamSpec("P")
R = TypeVar("R")

_PER_ARM = ("means", "variances", "mask")


def arms_then_runs(formula: Callable[P, R]) -> Callable[P, R]:
    """Decorate a formula so that its numbers broadcast with the runs of its means, and never with the arms.

    Means of shape `(K,)` and an epsilon of shape `(E,)` are E runs with the same arms. Each per-arm array gets axes of
    length 1 behind its first axis, until it has as many axes of runs as the others. `sd` is a per-arm array if it has
    as many axes as the means.

    Raises:
        UsageError: shapes that do not broadcast.
    """
    names = tuple(inspect.signature(formula).parameters)
    if "means" not in names:
        return formula

    @functools.wraps(formula)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        fitted = _fitted(dict(zip(names, args, strict=False)) | kwargs)
        placed: Any = [fitted.get(name, value) for name, value in zip(names, args, strict=False)]
        placed += args[len(names) :]  # too many: the formula says so
        named: Any = {name: fitted.get(name, value) for name, value in kwargs.items()}
        return formula(*placed, **named)

    return checked


def _fitted(given: dict[str, Any]) -> dict[str, Any]:
    """Return the per-arm arrays that lack axes of runs, with them."""
    # The formula itself refuses what is no number.
    values = {name: x if isinstance(x, jax.Array) else np.asarray(x) for name, x in given.items()}
    shapes = {name: x.shape for name, x in values.items() if x.dtype.kind in "biuf"}
    means = shapes.get("means", ())
    if not means:
        return {}
    per_arm = {name for name in _PER_ARM if shapes.get(name)}
    if len(shapes.get("sd", ())) == len(means):
        per_arm.add("sd")
    axes = max(len(shape) + (name not in per_arm) for name, shape in shapes.items())
    full = {name: (shapes[name][0], *(1,) * (axes - len(shapes[name])), *shapes[name][1:]) for name in per_arm}
    try:
        common = np.broadcast_shapes(*(shapes | full).values())
    except ValueError:
        common = (-1,)
    if common[0] != means[0]:
        listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items() if shape)
        raise UsageError(f"arms come first, then runs, and these shapes do not broadcast: {listed}")
    return {name: values[name].reshape(shape) for name, shape in full.items() if shape != shapes[name]}
