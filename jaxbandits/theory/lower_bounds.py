"""The lower bound that no algorithm with a fixed confidence beats: characteristic times and proportions.

Sources:
- Garivier, Kaufmann 2016, "Optimal best arm identification with fixed confidence" (one best arm, epsilon = 0);
- Degenne, Koolen 2019, "Pure exploration with multiple correct answers" (epsilon > 0, asymptotic in delta);
- Russo 2016, "Simple Bayesian algorithms for best arm identification" (a fixed share of the best arm).
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from jaxbandits.bounded_jit import recent_programs
from jaxbandits.checks import INSIDE_UNIT, NOT_NEGATIVE, POSITIVE, numbers, whole
from jaxbandits.errors import UsageError
from jaxbandits.statistics.exponential_families import FAMILIES
from jaxbandits.statistics.optimal_proportions import proportions
from jaxbandits.theory._bound_shapes import times
from jaxbandits.theory._checks import as_float, check, check_arms, check_mask, check_size, rule_of_means
from jaxbandits.theory._m_best_arms import m_best_time
from jaxbandits.theory._scales import scaled
from jaxbandits.theory.divergences import binary_relative_entropy
from jaxbandits.theory.several_answers import least_time, right_answers

__all__ = ["characteristic_time", "pulls_lower_bound"]

# A mean in the range of every family, for padded arms.
_PADDED = 0.5
# With a given share, the standard deviations of normal arms must be within this factor of each other. Beyond it,
# float32 has no digit left of what the others' pulls count beside the best arm's.
_FURTHEST_SPREADS = 100
# Rounds that reach the accuracy of the docstring, or the floats' own, whatever the means.
_ROUNDS, _ROUNDS_WITH_EPSILON = 8, 18
# One compiled program, where the numbers are concrete.
_proportions = recent_programs(32, "family", "rounds")(proportions)


def characteristic_time(
    means: ArrayLike,
    m: int = 1,
    epsilon: ArrayLike = 0.0,
    family: str = "bernoulli",
    sd: ArrayLike = 1.0,
    share: ArrayLike | None = None,
    mask: ArrayLike | None = None,
) -> tuple[jax.Array, jax.Array]:
    """Return the characteristic time T* of finding the m best arms, and the proportions of pulls that attain it.

    1/T* = max over proportions w of the min over arms i of S, j not of S, of
    inf over lambda_j >= lambda_i + epsilon of w_i d(mu_i, lambda_i) + w_j d(mu_j, lambda_j),
    where S holds the m best arms and d is the Kullback-Leibler divergence of the family.

    It bounds the expected pulls of algorithms that are right with probability at least 1 - delta on every instance of
    the family. Right is a set of m arms whose worst mean is at most epsilon below the best mean left out.

    - epsilon = 0: one answer is right, and E[pulls] >= T* kl(delta, 1 - delta) for every delta < 1/2 (Garivier and
      Kaufmann 2016, Theorem 1, whose argument holds for any m).
    - epsilon > 0: several answers may be right. As delta tends to 0, E[pulls] / log(1/delta) is at least the smallest
      characteristic time of a right answer (Degenne and Koolen 2019), which is returned. That answer is S: exchanging
      an arm of a right answer for a better one, together with their weights, lowers none of the costs that are
      minimised above. Only with different sd of normal arms it may be another one: all are compared.
    - m > 1 and epsilon > 0: the criterion is stronger than the (epsilon, m)-optimality of UGapE, mu_k >= mu_(m) -
      epsilon, which compares with the m-th best arm, in or out of the set. LUCB and UGapE certify the stronger one when
      they stop. An algorithm that guarantees (epsilon, m)-optimality alone may need fewer pulls. For m = 1 the two are
      the same.

    With a share, the maximum is over the proportions that give it to the best arm: T*_beta and w*_beta of top-two
    algorithms. T*_(1/2) is at most 2 T* (Russo 2016), and T*_beta is T* where beta is the best arm's share in w*.

    Normal, exponential and Poisson arms are rescaled first. Means and sd of 1e-150 or 1e150 have the T* of those of 1,
    to the same accuracy, where it is a float.

    All instances are computed at once, on the device, with all derivatives; those of several best arms in float64
    (`_m_best_arms`), some 1 ms an instance of ten arms.

    Args:
        means: arm means, shape `(K, …)`; like epsilon, sd and share they may be traced.
        m: number of best arms, in [1, K-1].
        epsilon: accuracy, at least 0, shape `()` or `(…)`.
        family: "bernoulli" (means in [0, 1]), "gaussian", "poisson" (means at least 0) or "exponential" (positive).
        sd: standard deviation of Gaussian rewards, shape `()` or `(…)`, or of every arm's, with the number of axes of
            the means.
        share: proportion of the best arm, in (0, 1), shape `()` or `(…)`, for m = 1; None for the optimal one. With sd
            of every arm, they have to be within a factor of 100 of each other (NaN elsewhere, where they are traced).
        mask: bool, shape `(K, …)`, false for padded arms.

    Returns:
        T*, shape `(…)`, and the proportions, shape `(K, …)`, adding up to 1. The relative error of T* is below 1e-8 in
        float64, 1e-5 in float32, and below 1e-6 for m > 1. T* is infinite if epsilon = 0 and S is not unique, and 0 if
        no instance makes S wrong. In these two cases any proportions are optimal; they are uniform, with slope 0.

    Raises:
        UsageError: a value outside its range, an unknown family, a share with m > 1, or more than 20,000 right
            answers of normal arms with different sd and epsilon > 0.

    Example:
        >>> time, proportions = jb.theory.characteristic_time([0.7, 0.5, 0.5])
        >>> round(float(time), 1), proportions.round(2).tolist()
        (69.0, [0.42, 0.29, 0.29])
    """
    check_arms(means)
    check_mask(mask)
    for name, value in (("epsilon", epsilon), ("sd", sd), ("share", share)):
        if value is not None and not isinstance(value, jax.core.Tracer):
            numbers(name, value)  # others have shapes that do not broadcast
    shape = np.broadcast_shapes(*(jnp.shape(x) for x in (means, epsilon, sd, share, mask) if x is not None))
    means = (jnp if isinstance(means, jax.Array) else np).broadcast_to(means, shape)
    if isinstance(m, jax.core.Tracer):
        raise UsageError("m must be a number, and is being traced by jax.grad, jit or vmap: make it static")
    _check(means, epsilon, family, sd, share, mask)
    check_size(m, shape[0], mask)
    m = whole("m", m)  # one number for all runs
    real = None if mask is None else jnp.broadcast_to(jnp.asarray(mask, bool), shape)
    inside = scaled(family, m, as_float(means), as_float(epsilon), as_float(sd), real)
    mu, lead, scale = inside.means, inside.epsilon, inside.sd
    variances = None
    if family == "gaussian":
        if jnp.ndim(sd) == len(shape):
            variances = jnp.broadcast_to(scale * scale, shape)
        else:
            mu, lead = mu / scale, lead / scale
    if real is not None:
        mu = jnp.where(real, mu, _PADDED)
        if variances is not None:
            variances = jnp.where(real, variances, jnp.max(jnp.where(real, variances, 0.0), axis=0))
    known = isinstance(epsilon, jax.core.Tracer) or bool(np.any(np.asarray(epsilon)))
    if m > 1 and share is not None:
        raise UsageError(f"m must be 1 with a share of the best arm, got m={m}")
    if variances is not None and known and share is None and not _same(sd):
        answers = right_answers(m, means, epsilon, mask)
        time, weights = _of_right_answers(answers, mu, lead, variances, real, m=m)
        return inside.time(time), weights
    if m > 1:
        time, weights = m_best_time(m, family, mu, lead, variances, real)
        return inside.time(time), weights
    found = _proportions(
        FAMILIES[family],
        mu,
        mask=real,
        epsilon=lead if known else None,
        share=None if share is None else as_float(share),
        variances=variances,
        rounds=_ROUNDS_WITH_EPSILON if known else _ROUNDS,
    )
    there = jnp.ones(shape, mu.dtype) if real is None else real.astype(mu.dtype)
    uniform = there / jnp.sum(there, axis=0)
    time, weights = inside.time(found.time), jnp.where(jnp.isinf(found.time), uniform, found.weights)
    if share is None or variances is None:
        return time, weights
    far = jnp.max(variances, axis=0) > _FURTHEST_SPREADS**2 * jnp.min(variances, axis=0)
    return jnp.where(far, jnp.nan, time), jnp.where(far, jnp.nan, weights)


def _same(sd: ArrayLike) -> bool:
    """Return whether all arms are known to have the same standard deviation."""
    return not isinstance(sd, jax.core.Tracer) and bool(np.all(np.ptp(np.asarray(sd), axis=0) == 0))


def _least_time(
    answers: jax.Array, means: jax.Array, epsilon: jax.Array, variances: jax.Array, real: jax.Array | None, *, m: int
) -> tuple[jax.Array, jax.Array]:
    """Return T* and w* of normal arms of different variances, with epsilon > 0."""

    def solve(mu: jax.Array, answer: jax.Array) -> tuple[jax.Array, jax.Array]:
        if m > 1:
            return m_best_time(m, "gaussian", mu, jnp.zeros_like(epsilon), variances, real)
        found = proportions(FAMILIES["gaussian"], mu, mask=real, best=answer, variances=variances, rounds=_ROUNDS)
        return found.time, found.weights

    return least_time(answers, means, epsilon, real, solve)


_of_right_answers = recent_programs(32, "m")(_least_time)


def pulls_lower_bound(
    means: ArrayLike,
    delta: ArrayLike,
    m: int = 1,
    epsilon: ArrayLike = 0.0,
    family: str = "bernoulli",
    sd: ArrayLike = 1.0,
    mask: ArrayLike | None = None,
) -> jax.Array:
    """Return T* kl(delta, 1 - delta): every delta-correct algorithm needs this many expected pulls on this instance.

    `characteristic_time` says for which algorithms, and when only as delta tends to 0. From delta = 1/2 on it is 0.

    Args:
        means: arm means, shape `(K, …)`.
        delta: probability of error, in (0, 1), shape `()` or `(…)`.
        m: number of best arms, in [1, K-1].
        epsilon: accuracy, at least 0, shape `()` or `(…)`.
        family: "bernoulli", "gaussian", "poisson" or "exponential".
        sd: standard deviation of Gaussian rewards, as for `characteristic_time`.
        mask: bool, shape `(K, …)`, false for padded arms.

    Returns:
        Shape `(…)`, at least 0.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> round(float(jb.theory.pulls_lower_bound([0.7, 0.5, 0.4], 0.05)), 1)
        144.2
    """
    check("delta", delta, INSIDE_UNIT)
    time, _ = characteristic_time(means, m, epsilon, family, sd, mask=mask)
    # Garivier and Kaufmann 2016, Theorem 1; its last step needs 1 - delta (right here) above delta (right elsewhere).
    return jnp.where(as_float(delta) < 0.5, times(binary_relative_entropy(delta), as_float(time)), 0.0)


def _check(means: ArrayLike, epsilon: ArrayLike, family: str, sd: ArrayLike, share: Any, mask: Any) -> None:
    rule = rule_of_means(family)
    shape = jnp.shape(means)
    by_arm = jnp.ndim(sd) == len(shape)
    check("means", _there(means, mask), rule)
    check("epsilon", epsilon, NOT_NEGATIVE)
    check("sd", _there(sd, mask) if by_arm else sd, POSITIVE)
    if share is not None:
        check("share", share, INSIDE_UNIT)
    if share is not None and by_arm and not isinstance(sd, jax.core.Tracer):
        each = np.broadcast_to(np.asarray(sd), shape)
        real = True if mask is None or isinstance(mask, jax.core.Tracer) else np.asarray(mask)
        least, most = (f(each, axis=0, where=real, initial=x) for f, x in ((np.min, np.inf), (np.max, 0.0)))
        if np.any(most > _FURTHEST_SPREADS * least):
            raise UsageError(f"a share needs sd of arms within a factor of {_FURTHEST_SPREADS} of each other")


def _there(x: ArrayLike, mask: ArrayLike | None) -> ArrayLike:
    """Return the values, with one in the range of every family for padded arms."""
    if mask is None or any(isinstance(value, jax.core.Tracer) for value in (x, mask)):
        return x
    return np.where(np.asarray(mask), np.asarray(x), _PADDED)
