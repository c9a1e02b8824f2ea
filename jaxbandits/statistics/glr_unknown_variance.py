"""The evidence that one normal arm is better than each of the others, with unknown variances.

The generalised likelihood ratio statistic of arms 1 and a, with means mu, variances s^2 (sums of squared deviations
over pulls) and N pulls, is the least over lambda of

    N_1/2 log(1 + (mu_1 - lambda)^2 / s_1^2) + N_a/2 log(1 + (lambda + epsilon - mu_a)^2 / s_a^2),

and 0 where mu_a leads by epsilon already. A normal law of given mean fits best with the variance s^2 + (mu - mean)^2
(Jourdan, Degenne, Kaufmann 2023, "Dealing with unknown variances in best-arm identification", ALT). With a few pulls
its tail is as heavy as that of Student's law, so that no threshold of time alone can hold. `discounted` subtracts what
that requires.

Shapes: the arm `(…)`, all arms `(K, …)`.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxbandits.arrays.numerics import expm1, fast_max, fast_min, log, log1pmx, no_fma
from jaxbandits.arrays.static_int import StaticInt
from jaxbandits.statistics.glr import Evidence, Lead

__all__ = ["PRIOR", "among_unknown_variances", "discounted", "radius_at_all_times"]

#: c: `discounted` mixes over means that are normal with variance sigma^2 / c. None of 1, 2, 4, 8 needs much fewer pulls
#: at gaps of sigma / 30 to 4 sigma (measured): larger ones suit smaller gaps.
PRIOR = 4.0
# Newton steps from either end: a threefold root, where the cost is flat, is then 4% off, others by rounding.
_STEPS = 8
# Limit on the squared way between two means in standard deviations: rewards that never differ have none.
_FURTHEST = 1e10
# A squared standard deviation small enough to count as 0.
_TINY = float(np.finfo(np.float32).tiny ** 0.75)


def among_unknown_variances(
    top: jax.Array,
    own: jax.Array,
    spread: jax.Array,
    mean: jax.Array,
    pulls: jax.Array,
    variance: jax.Array,
    lead: Lead,
) -> Evidence:
    """Return the statistic of every pair; the entry of the arm itself means nothing.

    Args:
        top: mean of the arm, `(…)`.
        own: its pulls, float32 `(…)`.
        spread: its s^2, `(…)`.
        mean: means, `(K, …)`.
        pulls: float32 `(K, …)`.
        variance: s^2, `(K, …)`.
        lead: epsilon.
    """
    way = top - mean
    if not isinstance(lead, StaticInt):
        way = way + lead
    way = fast_max(way, jnp.float32(0))
    square = way * way
    ours = fast_min(square * (1 / fast_max(spread, jnp.float32(_TINY))), jnp.float32(_FURTHEST))
    theirs = fast_min(square / fast_max(variance, jnp.float32(_TINY)), jnp.float32(_FURTHEST))

    def cost(y: jax.Array) -> Evidence:
        z = 1 - y
        of_best = own / 2 * _log_of_one_more(no_fma(ours * (y * y)))
        of_other = pulls / 2 * _log_of_one_more(no_fma(theirs * (z * z)))
        sum_of_both = no_fma(of_best) + no_fma(of_other)
        share = jnp.where(sum_of_both > 0, of_best / jnp.where(sum_of_both > 0, sum_of_both, 1.0), 0.5)
        return Evidence(sum_of_both, share)

    one, other = (cost(y) for y in _stationary(ours, theirs, own, pulls))
    return jax.tree.map(lambda x, y: jnp.where(one.cost <= other.cost, x, y), one, other)


def _stationary(ours: jax.Array, theirs: jax.Array, own: jax.Array, pulls: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return where the cost may be least: the best arm's part of the way, `(K, …)` in [0, 1], twice.

    With y of the way, and A and B for the ways squared in variances of the two, the derivative of the cost vanishes
    with the cubic N_1 A y (1 + B (1-y)^2) - N_a B (1-y) (1 + A y^2). It is negative at 0, positive at 1 and of positive
    leading coefficient. The cost has one minimum or two, at the least and the largest root. Newton's method falls to
    the largest from 1 where that lies beyond the point of inflection. It climbs to the least from 0 where that lies
    before it. Three roots have that point between them, and one lies on one side. Where one end does not lead to a
    minimum, the other does.
    """
    whole = 1 / fast_max(no_fma(own * ours) + no_fma(pulls * theirs), jnp.float32(_TINY))
    p, q = (own * ours) * whole, (pulls * theirs) * whole

    def closer(_: jax.Array | int, ends: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        return step(ends[0]), step(ends[1])

    def step(y: jax.Array) -> jax.Array:
        z = 1 - y
        by_best, by_other = 1 + no_fma(ours * (y * y)), 1 + no_fma(theirs * (z * z))
        value = no_fma(p * (y * by_other)) - no_fma(q * (z * by_best))
        twice = 2 * no_fma(y * z)
        bent = no_fma(p * theirs) + no_fma(q * ours)
        slope = (no_fma(p * by_other) + no_fma(q * by_best)) - no_fma(twice * bent)
        moved = y - value / jnp.where(slope > 0, slope, jnp.inf)
        return fast_min(fast_max(moved, jnp.float32(0)), jnp.float32(1))

    return lax.fori_loop(0, _STEPS, closer, (jnp.zeros_like(p), jnp.ones_like(p)))


def discounted(cost: jax.Array, own: jax.Array, pulls: jax.Array) -> jax.Array:
    """Subtract from the statistic what may be due to chance, as the threshold `student-mixture` requires, `(K, …)`.

    W - n/2 log(1 + c/(n + c) (e^(2W/n) - 1)) - log(1 + N_1/c)/2 - log(1 + N_a/c)/2, n = min(N_1, N_a), with c of
    `PRIOR` (`jaxbandits.theory.glr_threshold` has the proof); it increases with W.

    Args:
        cost: W, `(K, …)`; infinite where it is to stay so.
        own: N_1, float32 `(…)`.
        pulls: N_a, float32 `(K, …)`.
    """
    fewer = fast_max(fast_min(pulls, own), jnp.float32(1))
    weight = PRIOR / (fewer + PRIOR)
    heavy = fewer / 2 * _log_of_one_more(no_fma(weight * expm1(2 * cost / fewer)))
    both = _log_of_one_more(own * (1 / PRIOR)) + _log_of_one_more(pulls * (1 / PRIOR))
    return (cost - no_fma(heavy)) - both / 2


def radius_at_all_times(pulls: np.ndarray, squares: np.ndarray, level: float) -> np.ndarray:
    """Return how far the true mean of normal rewards may lie from their mean, float64 `(K,)`.

    The martingale M of `discounted`, of one arm, exceeds e^level at some time with probability e^-level at most. It is
    (1 + N/c)^(-1/2) ((S + N d^2) / (S + N d^2 c/(N + c)))^(N/2) at the distance d, which is solved for d.

    Args:
        pulls: N, `(K,)`.
        squares: S, the sum of squared deviations from the mean, float64 `(K,)`.
        level: positive.

    Returns:
        Infinite for few pulls, and for rewards that never differ, of which the normal law says nothing.
    """
    number = np.maximum(pulls, 1).astype(np.float64)
    # e^(2 level / N) (1 + N/c)^(1/N) - 1, which is the most that the ratio in M exceeds 1 by.
    growth = np.expm1(np.minimum((2 * level + np.log1p(number / PRIOR)) / number, 700.0))
    spare = number - PRIOR * growth
    known = (spare > 0) & (squares > 0)
    square = growth * squares * (number + PRIOR) / (number * np.where(known, spare, 1.0))
    return np.where(known, np.sqrt(square), np.inf)


def _log_of_one_more(x: jax.Array) -> jax.Array:
    """Return log(1 + x), x at least 0, to rounding also where x is small."""
    return jnp.where(x < 1, x - log1pmx(fast_min(x, jnp.float32(1)), 1 + fast_min(x, jnp.float32(1))), log(1 + x))
