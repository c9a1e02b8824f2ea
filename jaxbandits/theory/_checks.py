"""Checks that refuse arguments for which no formula of this folder has a meaning, and the floats of formulas.

Only concrete values are checked: an argument that `jit`, `vmap` or `grad` has made a tracer passes.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from jaxbandits.checks import ABOVE_ONE, FINITE, NOT_NEGATIVE, POSITIVE, UNIT, Rule, each, shown, whole_rule
from jaxbandits.errors import UsageError
from jaxbandits.statistics.exponential_families import FAMILIES

__all__ = [
    "SOME", "as_float", "check", "check_arms", "check_budget", "check_mask", "check_moment_order", "check_size",
    "check_truth", "log_of", "number_of_arms", "rule_of_means",
]  # fmt: skip


#: Numbers of pulls, rewards or arms, which may be infinite.
SOME = Rule("must be at least 1", lambda x: x >= 1)


def as_float(x: ArrayLike) -> jax.Array:
    """Return the value in JAX's default floating type: float32, or float64 under `jax.enable_x64`."""
    return jnp.asarray(x, jnp.result_type(float))


def log_of(probability: ArrayLike) -> jax.Array:
    """Return the logarithm of a probability in JAX's default floating type, `(…)`, however small the number.

    JAX turns numbers below the smallest normal one into 0; where there is a value, NumPy computes the logarithm.
    """
    if isinstance(probability, jax.core.Tracer):
        return jnp.log(as_float(probability))
    with np.errstate(divide="ignore"):
        return as_float(np.log(np.asarray(probability, np.float64)))


def check(name: str, values: ArrayLike, rule: Rule) -> None:
    """Check numbers of any shape, each against the rule."""
    if not isinstance(values, jax.core.Tracer):
        each(name, values, rule)


def rule_of_means(family: str) -> Rule:
    """Return the rule of means in a family of rewards.

    Raises:
        UsageError: an unknown family.
    """
    if not isinstance(family, str) or family not in FAMILIES:
        *some, last = map(repr, sorted(FAMILIES))
        raise UsageError(f"family must be {', '.join(some)} or {last}, got {family!r}")
    law = FAMILIES[family]
    if np.isfinite(law.highest):
        return UNIT
    if not np.isfinite(law.lowest):
        return FINITE
    return NOT_NEGATIVE if law.reaches_lowest else POSITIVE


def check_moment_order(p: ArrayLike, most: float = float("inf")) -> None:
    """Check that the order of a moment is finite, above 1 and at most `most`."""
    rule = Rule(f"must lie in (1, {most:g}]", lambda x: (x > 1) & (x <= most))
    check("p", p, ABOVE_ONE if most == float("inf") else rule)


def check_budget(n: ArrayLike) -> None:
    """Check that a budget is at least one pull; it may be infinite."""
    check("the budget n", n, SOME)


def check_arms(means: ArrayLike, fewest: int = 2) -> None:
    """Check that means have an axis of arms, with two of them or, where one is enough, one."""
    if not (shape := jnp.shape(means)) or shape[0] < fewest:
        arms = "one arm" if fewest == 1 else "two arms"
        raise UsageError(f"means must have shape (K, …) with {arms} or more, got {shape}")


def number_of_arms(means: ArrayLike) -> int:
    """Return K, of means that have an axis of arms."""
    check_arms(means, 1)
    return jnp.shape(means)[0]


def check_truth(name: str, value: object) -> None:
    """Check that a choice is true or false."""
    if not isinstance(value, bool | np.bool_):
        raise UsageError(f"{name} is true or false, got {shown(value)}")


def check_mask(mask: ArrayLike | None) -> None:
    """Check that a mask has true or false for each arm, or 1 or 0."""
    if mask is None or isinstance(mask, jax.core.Tracer):
        return
    given = np.asarray(mask)
    if not given.ndim or not (given.dtype == bool or (given.dtype.kind in "iuf" and np.isin(given, (0, 1)).all())):
        raise UsageError(f"mask must have true or false for each arm, got {shown(mask)}")


def check_size(m: ArrayLike, arms: int, mask: ArrayLike | None = None, name: str = "m") -> None:
    """Check that the number of arms to return is a whole number between 1 and K - 1, and the mask."""
    check_mask(mask)
    if mask is not None and not isinstance(mask, jax.core.Tracer):
        arms = int(np.min(np.sum(np.asarray(mask), axis=0)))
    check(name, m, whole_rule(1, arms - 1, "smaller than the number of arms"))
