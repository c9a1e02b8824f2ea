"""Common forms of guarantees: an exponential under a condition, a number of pulls that bounds itself, powers of gaps.

An infinite number has slope 0 here, and so has a bound that says nothing: a derivative is never NaN. Arguments are made
harmless before a formula sees them, since a `where` behind it would still multiply 0 by an infinite slope.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike

from jaxbandits.checks import Rule
from jaxbandits.theory._checks import as_float, check

__all__ = ["error_if_admissible", "exponential", "largest_solution", "power", "quotient", "rate_log", "times"]

_KNOWN = Rule("must be a number", lambda x: x == x)  # NaN equals nothing
# The largest admissible a, as computed, must not fail its own condition through rounding.
_ROUNDING = 1e-5
# Newton's method starts from a close upper bound and converges quadratically: 4 steps reach float64, 2 are a reserve.
_NEWTON_STEPS = 6
# Closer than this to the double root at 1, float32 keeps no digit of the difference.
_CLOSEST = 1e-6


def error_if_admissible(
    a: ArrayLike | None, largest: jax.Array, log_error: Callable[[jax.Array], jax.Array]
) -> jax.Array:
    """Return the error bound exp(log_error(a)), capped at 1; 1 unless 0 < a <= largest.

    Args:
        a: exploration parameter, shape `()` or `(…)`; the largest admissible one if None.
        largest: largest parameter for which the theorem holds, shape `(…)`.
        log_error: logarithm of the theorem's bound at a.

    Returns:
        Shape `(…)`, in [0, 1]; 0 for an infinite parameter, as an infinite budget admits one.

    Raises:
        UsageError: a is NaN.
    """
    if a is not None:
        check("a", a, _KNOWN)
    chosen = largest if a is None else as_float(a)
    holds = chosen <= largest * (1 + _ROUNDING)
    endless = holds & (chosen == jnp.inf)
    # Capped before the exponential: it then never overflows, and a bound that says nothing has gradient 0, not NaN. The
    # case a <= 0 needs no separate condition: at a = 0 no union bound is below 1.
    some = holds & ~endless
    bound = jnp.exp(jnp.where(some, jnp.minimum(log_error(jnp.where(some, chosen, 1.0)), 0.0), 0.0))
    return jnp.where(endless, 0.0, bound)


def exponential(log: jax.Array) -> jax.Array:
    """Return the number with this logarithm; infinite where it exceeds the range of floats."""
    fits = log < jnp.log(jnp.finfo(log.dtype).max)
    return jnp.where(fits, jnp.exp(jnp.where(fits, log, 0.0)), jnp.inf)


def power(base: jax.Array, exponent: ArrayLike) -> jax.Array:
    """Return a positive number to a power; infinite beyond the range of floats, or for a negative power of 0.

    Args:
        base: at least 0, shape `(…)`; 0 with a negative exponent only.
        exponent: broadcasting with base.
    """
    exponent = as_float(exponent)
    log = exponent * jnp.log(jnp.where(base > 0, base, 1.0))
    fits = (base > 0) & (log < jnp.log(jnp.finfo(log.dtype).max))
    return jnp.where(fits, jnp.where(fits, base, 1.0) ** jnp.where(fits, exponent, 1.0), jnp.inf)


def times(factor: ArrayLike, complexity: jax.Array) -> jax.Array:
    """Return a positive factor times a complexity that may be infinite."""
    finite = jnp.isfinite(complexity)
    return jnp.where(finite, as_float(factor) * jnp.where(finite, complexity, 0.0), jnp.inf)


def quotient(spare: jax.Array, complexity: jax.Array) -> jax.Array:
    """Return the spare budget over a complexity: 0 for an infinite complexity, infinite for an infinite budget."""
    usable = jnp.isfinite(spare) & jnp.isfinite(complexity)
    ratio = jnp.where(usable, spare, 0.0) / jnp.where(usable, complexity, 1.0)
    return jnp.where(usable, ratio, jnp.where(jnp.isfinite(complexity), spare, 0.0))


def largest_solution(offset: jax.Array, slope: jax.Array, log_scale: jax.Array, power: float) -> jax.Array:
    """Return the largest x with x <= offset + slope (log_scale + power log x); differentiable in all but the power.

    With x = (slope power) y this is y - log y = C. If C < 1 no x qualifies, and the solution at C = 1 is returned.

    Args:
        offset: shape `(…)`, at least 0.
        slope: shape `(…)`, positive, possibly infinite.
        log_scale: shape `(…)`.
        power: positive.

    Returns:
        Shape `(…)`, at least `slope * power`.
    """
    finite = jnp.isfinite(slope)
    unit = jnp.where(finite, slope, 1.0) * power
    c = offset / unit + log_scale / power + jnp.log(unit)
    return jnp.where(finite, unit * _larger_root(jnp.maximum(c, 1.0 + _CLOSEST)), jnp.inf)


def rate_log(x: jax.Array) -> jax.Array:
    """Return log x, at least 1: a factor of a rate, which small numbers must not turn into 0."""
    return jnp.maximum(jnp.log(x), 1.0)


@jax.custom_jvp
def _larger_root(c: jax.Array) -> jax.Array:
    """Return the root y > 1 of y - log y = c, for c > 1: minus the lower branch of Lambert's W at -exp(-c)."""
    finite = jnp.where(jnp.isfinite(c), c, 2.0)
    # An upper bound of the root (Chatzigeorgiou 2013): on a convex increasing function Newton then descends to it.
    y = finite + jnp.sqrt(2 * (finite - 1))
    for _ in range(_NEWTON_STEPS):
        y = y * (finite - 1 + jnp.log(y)) / (y - 1)
    return jnp.where(jnp.isfinite(c), y, c)


@_larger_root.defjvp
def _larger_root_jvp(primals: tuple[jax.Array], tangents: tuple[jax.Array]) -> tuple[jax.Array, jax.Array]:
    # Implicit differentiation: (1 - 1/y) dy = dc.
    (c,), (dc,) = primals, tangents
    y = _larger_root(c)
    return y, y / (y - 1) * dc
