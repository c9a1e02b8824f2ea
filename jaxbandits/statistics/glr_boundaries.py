"""When to stop: thresholds of generalised likelihood ratio tests, by their name.

A run stops at time t and returns its empirical best arm or arms. It stops when the least cost of distinguishing them
from any other arm (`closest_alternative.least_cost`, with numbers of pulls for weights) exceeds a threshold. The
threshold is a constant of the run, computed once, plus a function of t. `jaxbandits.theory.glr_threshold` says what is
proved of each, and why.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

__all__ = ["THRESHOLDS", "Threshold", "arms_boundary", "exponential_family_level", "gaussian_level"]

Function = Callable[[jax.Array], jax.Array]


class Threshold(NamedTuple):
    """A threshold, constant + growth.

    Attributes:
        constant: of `events` and ln(delta), `(…)`, both floats.
        growth: of t, `(…)`, a float, at least 2.
        by_arms: whether delta is shared among arms, not among pairs of them.
    """

    constant: Callable[[jax.Array, jax.Array], jax.Array]
    growth: Function
    by_arms: bool = False

    def events(self, arms: jax.Array, m: jax.Array) -> jax.Array:
        """Return the number of failure events that share delta, if the m best of K arms are to be found.

        There is one for each pair of an arm among the m and another, m (K - m); or one for each of the K arms.

        Args:
            arms: K, a float, at least 2, `(…)`.
            m: a float, in [1, K), `(…)`.
        """
        return arms if self.by_arms else m * (arms - m)


# (-1)^n gamma_n / n!, n = 0, 1, …, with Stieltjes' constants: zeta(1 + u) = 1/u + sum of these u^n.
_ZETA = (
    5.772156649015329e-01, 7.281584548367672e-02, -4.845181596436159e-03, -3.423057367172244e-04, 9.689041939447083e-05,
    -6.611031810842189e-06, -3.316240908752772e-07, 1.0462094584479187e-07, -8.733218100273798e-09,
    9.478277782762358e-11, 5.658421927608708e-11, -6.768689863514337e-12,
)  # fmt: skip
_NEWTON_STEPS = 7
_LOG_2_ZETA_2 = math.log(math.pi**2 / 3)
_LOG_LOG_1_5 = math.log(math.log(1.5))
_KINK = 1 / math.log(1.5) + _LOG_LOG_1_5  # h(1 / log(3/2)), h(u) = u - log u


def _zeta(u: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return u zeta(1 + u), u in (0, 1], and its derivative."""
    value, slope = jnp.full_like(u, 0.0), jnp.full_like(u, 0.0)
    for term in reversed(_ZETA):
        slope = slope * u + value
        value = value * u + term
    return value * u + 1.0, slope * u + value


def _spare(u: jax.Array, x: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return (g(lambda) + x) / lambda at lambda = (1 + u) / 2, and a number with the sign of its derivative in lambda.

    g(lambda) = 2 lambda - 2 lambda log(4 lambda) + log zeta(2 lambda) - log(1 - lambda) / 2.
    """
    twice = 1 + u
    zeta, zeta_slope = _zeta(u)
    log_four = jnp.log(2 * twice)
    g = (twice - twice * log_four) + (jnp.log(zeta) - jnp.log(u)) - jnp.log((1 - u) / 2) / 2
    slope = (2 * (zeta_slope / zeta - 1 / u) - 2 * log_four) + 1 / (1 - u)
    level = g + x
    return 2 * (level / twice), (twice * slope) / 2 - level


def gaussian_level(x: jax.Array) -> jax.Array:
    """Return C_G(x) = min over lambda in (1/2, 1) of (g(lambda) + x) / lambda (Kaufmann and Koolen 2021), `(…)`.

    Args:
        x: at least 0, `(…)`, float.
    """
    return _spare(_best(x), x)[0]


def _best(x: jax.Array) -> jax.Array:
    @jax.custom_jvp
    def found(x: jax.Array) -> jax.Array:
        def halve(_: jax.Array | int, ends: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
            low, high = ends
            middle = (low + high) / 2
            rising = _spare(middle, x)[1] > 0  # g is convex
            return jnp.where(rising, low, middle), jnp.where(rising, middle, high)

        bits = jnp.finfo(x.dtype).nmant
        low, high = lax.fori_loop(0, bits, halve, (jnp.zeros_like(x), jnp.ones_like(x)))
        return low + (high - low) / 2

    @found.defjvp
    def slope_of_found(primals: tuple[jax.Array], tangents: tuple[jax.Array]) -> tuple[jax.Array, jax.Array]:
        (x,), u = primals, found(primals[0])
        slope = jax.jvp(lambda u: _spare(u, x)[1], (u,), (jnp.ones_like(u),))[1]
        return u, tangents[0] / slope  # where the derivative vanishes, it falls with x as x grows

    solution: jax.Array = found(x)
    return solution


def _larger_root(c: jax.Array) -> jax.Array:
    """Return the y >= 1 with h(y) = y - log y = c, for c > 1: Newton's method, from above."""
    c = jnp.maximum(c, 1 + 1e-6)
    y = c + jnp.sqrt(2 * (c - 1))
    for _ in range(_NEWTON_STEPS):
        y = y * (((c - 1) + jnp.log(y)) / (y - 1))
    return y


def exponential_family_level(x: jax.Array) -> jax.Array:
    """Return T(x) = min over z in (1, 3/2] of z (h^-1(1 + x) + log(2 zeta(2)) + 2 log(1 / log z)), `(…)`.

    h(u) = u - log u. In Kaufmann and Koolen (2021) it is 2 h~_(3/2)((h^-1(1 + x) + log(2 zeta(2))) / 2).

    Args:
        x: positive, `(…)`, float.
    """
    half = (_larger_root(1 + x) + _LOG_2_ZETA_2) / 2
    # The minimum over all z > 1 is at log z = 1/v with h(v) = half, and its value is 2 exp(1/v) v. It applies where v
    # is at least the one of z = 3/2.
    free = _larger_root(jnp.maximum(half, _KINK))
    return jnp.where(half >= _KINK, 2 * (jnp.exp(1 / free) * free), 3 * (half - _LOG_LOG_1_5))


def _level(events: jax.Array, log_delta: jax.Array) -> jax.Array:
    return jnp.log(events) - log_delta


#: By name; `jaxbandits.theory.glr_threshold` has the sources.
THRESHOLDS = {
    "heuristic": Threshold(
        constant=lambda pairs, log_delta: jnp.zeros_like(pairs) - log_delta,
        growth=lambda t: jnp.log(1 + jnp.log(t)),
    ),
    "gk16": Threshold(
        constant=lambda pairs, log_delta: _level(2 * pairs, log_delta),
        growth=lambda t: jnp.log(t),
    ),
    "kk21-gaussian": Threshold(
        constant=lambda pairs, log_delta: 2 * gaussian_level(_level(pairs, log_delta) / 2),
        growth=lambda t: 4 * jnp.log(4 + jnp.log(t / 2)),
    ),
    "kk21": Threshold(
        constant=lambda pairs, log_delta: 2 * exponential_family_level(_level(pairs, log_delta) / 2),
        growth=lambda t: 6 * jnp.log(1 + jnp.log(t / 2)),
    ),
    "student-mixture": Threshold(
        constant=lambda pairs, log_delta: _larger_root(1 + _level(pairs, log_delta)) - 1,
        growth=lambda t: jnp.zeros_like(t),
    ),
    "lucb1": Threshold(
        constant=lambda arms, log_delta: _level(1.25 * arms, log_delta),
        growth=lambda t: 4 * jnp.log(t),
        by_arms=True,
    ),
    "ugape": Threshold(
        constant=lambda arms, log_delta: _level(4 * arms, log_delta),
        growth=lambda t: 3 * jnp.log(t),
        by_arms=True,
    ),
    "bounded": Threshold(
        constant=lambda pairs, log_delta: 2 + _level(pairs, log_delta),
        growth=lambda t: 2 * jnp.log(1 + t / 2),
    ),
}

# By name, for each of n arms that a test is about: a level of x / n, and a growth with log(t / n). The proofs of
# `glr_threshold`, with a product of n martingales.
_FOR_ARMS: dict[str, tuple[Function, Function]] = {
    "gk16": (lambda x: x, lambda u: math.log(2) + u / 2),
    "kk21-gaussian": (gaussian_level, lambda u: 2 * jnp.log(4 + u)),
    "kk21": (exponential_family_level, lambda u: 3 * jnp.log(1 + u)),
}


def arms_boundary(
    name: str, t: jax.Array, size: jax.Array | float, number: jax.Array | float, log_delta: jax.Array
) -> jax.Array:
    """Return the threshold of a test about any one of some sets of arms, `(…)`.

    Args:
        name: `gk16`, `kk21-gaussian`, `kk21` or `heuristic`, which uses t and delta only.
        t: pulls so far, a float, at least 2, `(…)`.
        size: the number of arms in a set, a float, at least 1, `(…)`.
        number: the number of sets, which share delta, a float, at least 1, `(…)`.
        log_delta: ln(delta), a float, `(…)`.
    """
    if name == "heuristic":
        return THRESHOLDS[name].constant(jnp.zeros_like(t), log_delta) + THRESHOLDS[name].growth(t)
    level, growth = _FOR_ARMS[name]
    each = (jnp.log(number) - log_delta) / size
    return size * (level(each) + growth(jnp.log(t / size)))
