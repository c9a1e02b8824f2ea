"""Checks that float32 holds the properties of a problem's arms: runs would go on with inf, NaN or 0."""

import dataclasses
from typing import Any

import numpy as np

from jaxbandits.arrays.numerics import SMALLEST
from jaxbandits.arrays.pytrees import is_traced
from jaxbandits.checks import SUMMABLE, Rule
from jaxbandits.errors import UsageError
from jaxbandits.problems.argument_checks import as_singles
from jaxbandits.problems.registry import REGISTRY

__all__ = ["HELD", "check_moments", "check_parameters", "is_checked"]

#: The range of means, variances and values of arms.
HELD = Rule("0, or between 1.2e-38 and 1.5e29 in size", lambda x: (x == 0) | ((abs(x) >= SMALLEST) & SUMMABLE.holds(x)))
#: Largest relative error of a float32 number.
_ROUNDING = 1e-3


def is_checked(problem: Any) -> bool:
    """Return whether a constructor has checked a problem.

    It has not checked a user's own family, nor a problem changed by hand.
    """
    return problem.drawn or (problem.recipe is not None and problem.recipe.describes(problem))


def check_parameters(problem: Any) -> None:
    """Refuse a problem, of leaves `(K, …)`, whose parameters and prices float32 does not hold."""
    owner = type(problem).__name__
    given = {name: getattr(problem, name) for name in problem.parameters}
    if problem.costs is not None and problem.costs.price is not None:
        given["costs"] = problem.costs.price
    for name, leaf in given.items():
        values = np.asarray(leaf, np.float64)
        if not np.all(np.isfinite(values)):
            first = np.argwhere(~np.isfinite(values))[0]
            raise UsageError(f"{owner}.{name} must be finite, got {values[tuple(first)]} at arm {first[0]}")
        as_singles(f"{owner}.{name}", values)


def check_moments(problem: Any) -> None:
    """Check that float32 holds the means, variances and values of a problem's arms, as it computes them.

    Heavy-tailed laws may have an infinite variance; others may not. Sums of 2^31 rewards or costs must be finite.

    Args:
        problem: leaves `(K,)`; traced ones have no values yet and are not checked.

    Raises:
        UsageError: it does not; the message names the arm, its parameters and the value.
    """
    if problem.drawn or is_traced(problem) or any(np.ndim(getattr(problem, name)) != 1 for name in problem.parameters):
        return
    known = REGISTRY.holds(type(problem))
    single = _with_leaves(problem, np.float32) if known else problem
    double = _with_leaves(problem, np.float64) if known else problem
    with np.errstate(all="ignore"):
        mean = double.exact_mean
        _refuse_lost(problem, "mean", mean, single.mean)
        if problem.bounded:
            _refuse_lost(problem, "variance", double.variance, single.variance)
        if problem.costs is not None and problem.costs.price is not None:
            _refuse_lost(problem, "reward over cost", _ratio(double), _ratio(single))


def _ratio(problem: Any) -> np.ndarray:
    """Return mean over price; 0 where an arm is free."""
    mean, price = np.asarray(problem.mean), np.asarray(problem.costs.price)
    return np.where(price > 0, mean / np.where(price > 0, price, 1), 0)


def _refuse_lost(problem: Any, what: str, exact: object, single: object) -> None:
    wanted, found = np.asarray(exact, np.float64), np.asarray(single, np.float64)
    near = np.abs(found - wanted) <= _ROUNDING * np.abs(wanted)
    kept = HELD.holds(wanted) & near
    if kept.all():
        return
    arm = int(np.argmin(kept))
    values = [float(np.asarray(getattr(problem, name))[arm]) for name in problem.parameters]
    names = problem.written[1:] or problem.parameters
    law = ", ".join(f"{name} {value:g}" for name, value in zip(names, values, strict=True))
    computed = "" if near[arm] or not HELD.holds(wanted[arm]) else f", and {found[arm]:g} as float32 computes it"
    heavy = "; bounded = False says that it may be infinite" if what == "variance" and np.isinf(wanted[arm]) else ""
    raise UsageError(
        f"{problem.name or type(problem).__name__}: the {what} of arm {arm} ({law}) must be {HELD.words}, so that "
        f"float32 holds it and its sums, got {wanted[arm]:g}{computed}: use other units or values{heavy}"
    )


def _with_leaves(problem: Any, dtype: type[np.floating]) -> Any:
    """Return the problem with its parameters and prices as NumPy arrays of a dtype."""
    leaves: dict[str, object] = {name: np.asarray(getattr(problem, name), dtype) for name in problem.parameters}
    if problem.costs is not None and problem.costs.price is not None:
        leaves["costs"] = dataclasses.replace(problem.costs, price=np.asarray(problem.costs.price, dtype))
    return dataclasses.replace(problem, **leaves)
