"""Gaps and complexities of pure-exploration problems: how hard an instance is, in one number.

Sources:
- Gabillon, Ghavamzadeh, Lazaric 2012, "Best arm identification: a unified approach to fixed budget and fixed
  confidence" (UGapE);
- Audibert, Bubeck, Munos 2010, "Best arm identification in multi-armed bandits" (H1, H2);
- Bubeck, Wang, Viswanathan 2013, "Multiple identifications in multi-armed bandits" (H2 of the m best arms).

Shapes: per-arm arrays are `(K, …)`, one number per run is `(…)` (arms first, runs last; `…` may be empty). All is
differentiable in means, variances and epsilon where no two arms that decide a gap are tied. Where a complexity is
infinite its derivative is 0.
"""

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike

from jaxbandits.checks import FINITE, NOT_NEGATIVE, POSITIVE
from jaxbandits.theory._bound_shapes import power
from jaxbandits.theory._checks import as_float, check, check_size, number_of_arms

__all__ = ["gaps", "h1", "h2", "h_epsilon", "h_epsilon_variance", "squares", "variance_terms"]

# The constant of ab / (T - 1) in the radius once the true standard deviation has replaced the empirical one: 7/3 + 2.
_UGAPE_V_RANGE = 13 / 3


def gaps(means: ArrayLike, m: ArrayLike = 1, mask: ArrayLike | None = None) -> jax.Array:
    """Return the gaps of the m-best-arms problem (UGapE section 2): advantages of the m best, deficits of the others.

    Args:
        means: arm means, shape `(K, …)`.
        m: number of best arms, in [1, K-1], shape `()` or `(…)`; may be traced.
        mask: bool, shape `(K, …)`, false for padded arms.

    Returns:
        Shape `(K, …)`, non-negative; infinite for padded arms, which then weigh nothing in any complexity.

    Example:
        >>> jb.theory.gaps([0.7, 0.5, 0.4]).round(2).tolist()
        [0.2, 0.2, 0.3]
    """
    check("means", means, FINITE)
    mu = as_float(means)
    check_size(m, number_of_arms(mu), mask)
    key = mu if mask is None else jnp.where(mask, mu, -jnp.inf)
    # Two stable sorts give every arm its rank, the best being 0; with ranks, m can differ from run to run.
    rank = jnp.argsort(jnp.argsort(-key, axis=0), axis=0)
    last_in = jnp.sum(jnp.where(rank == m - 1, mu, 0.0), axis=0)
    first_out = jnp.sum(jnp.where(rank == m, mu, 0.0), axis=0)
    # Section 2: Delta_k = mu_k - mu_(m+1) if k is among the m best, mu_(m) - mu_k otherwise.
    gap = jnp.where(rank < m, mu - first_out, last_in - mu)
    return gap if mask is None else jnp.where(mask, gap, jnp.inf)


def h_epsilon(
    means: ArrayLike, epsilon: ArrayLike, m: ArrayLike = 1, b: ArrayLike = 1.0, mask: ArrayLike | None = None
) -> jax.Array:
    """Return the complexity of finding an (epsilon, m)-optimal set (UGapE eq. 6).

    Args:
        means: arm means, shape `(K, …)`.
        epsilon: accuracy, at least 0, shape `()` or `(…)`.
        m: number of arms to return, in [1, K-1].
        b: rewards lie in [0, b], b > 0.
        mask: bool, shape `(K, …)`, false for padded arms.

    Returns:
        Shape `(…)`, positive; infinite if epsilon = 0 and the m best arms are not unique.

    Example:
        >>> round(float(jb.theory.h_epsilon([0.7, 0.5, 0.4], 0.05)), 1)
        160.7
    """
    check("b", b, POSITIVE)
    distance = _distance(gaps(means, m, mask), epsilon)
    return jnp.sum(squares(as_float(b), distance), axis=0)  # eq. 6


def h_epsilon_variance(
    means: ArrayLike,
    variances: ArrayLike,
    epsilon: ArrayLike,
    m: ArrayLike = 1,
    b: ArrayLike = 1.0,
    mask: ArrayLike | None = None,
) -> jax.Array:
    """Return the complexity of the (epsilon, m) problem for UGapE with empirical variances.

    The technical report that defines it (HAL 00747005, appendix B) could not be consulted. The constant 13/3 is derived
    from the radius sqrt(2 a s^2 / T) + 7ab / (3(T-1)); `bounds.ugape_b_variance_largest_a` has the steps.

    Args:
        means: arm means, shape `(K, …)`.
        variances: arm variances, at least 0, shape `(K, …)`; the derivative in a zero variance is infinite.
        epsilon: accuracy, at least 0, shape `()` or `(…)`.
        m: number of arms to return, in [1, K-1].
        b: rewards lie in an interval of length b > 0.
        mask: bool, shape `(K, …)`, false for padded arms.

    Returns:
        Shape `(…)`, positive.

    Example:
        >>> round(float(jb.theory.h_epsilon_variance([0.7, 0.5, 0.4], [0.21, 0.25, 0.24], 0.05)), 1)
        308.4
    """
    check("b", b, POSITIVE)
    return jnp.sum(variance_terms(_distance(gaps(means, m, mask), epsilon), variances, b, _UGAPE_V_RANGE, mask), axis=0)


def h1(means: ArrayLike, m: ArrayLike = 1, mask: ArrayLike | None = None) -> jax.Array:
    """Return H1: the sum of Delta_k^-2, the best arm's gap being that of the second best (Audibert et al. 2010).

    Args:
        means: arm means, shape `(K, …)`.
        m: number of best arms; gaps as in `gaps`.
        mask: bool, shape `(K, …)`, false for padded arms.

    Returns:
        Shape `(…)`, positive.

    Example:
        >>> round(float(jb.theory.h1([0.7, 0.5, 0.4])), 1)
        61.1
    """
    return jnp.sum(power(gaps(means, m, mask), -2.0), axis=0)


def h2(means: ArrayLike, m: ArrayLike = 1, mask: ArrayLike | None = None) -> jax.Array:
    """Return H2, the largest i Delta_(i)^-2, gaps ascending (Audibert et al. 2010; Bubeck et al. 2013 for m > 1).

    Args:
        means: arm means, shape `(K, …)`.
        m: number of best arms; gaps as in `gaps`.
        mask: bool, shape `(K, …)`, false for padded arms.

    Returns:
        Shape `(…)`, positive, with H2 <= H1 <= log(2K) H2.

    Example:
        >>> round(float(jb.theory.h2([0.7, 0.5, 0.4])), 1)
        50.0
    """
    ascending = jnp.sort(gaps(means, m, mask), axis=0)
    place = jnp.arange(1, ascending.shape[0] + 1).reshape((-1,) + (1,) * (ascending.ndim - 1))
    return jnp.max(place * power(ascending, -2.0), axis=0)


def _distance(gap: jax.Array, epsilon: ArrayLike) -> jax.Array:
    """Return how far a confidence interval must shrink before its arm needs no more pulls."""
    check("epsilon", epsilon, NOT_NEGATIVE)
    accuracy = as_float(epsilon)
    return jnp.maximum((gap + accuracy) / 2, accuracy)


def squares(b: jax.Array, distance: jax.Array) -> jax.Array:
    """Return (b / D)^2 of each arm; infinite, with slope 0, where D = 0."""
    apart = distance > 0
    return jnp.where(apart, (b / jnp.where(apart, distance, 1.0)) ** 2, jnp.inf)


def variance_terms(
    distance: jax.Array, variances: ArrayLike, b: ArrayLike, range_constant: float, mask: ArrayLike | None
) -> jax.Array:
    """Return (sigma + sqrt(sigma^2 + c b D))^2 / D^2 of each arm; 0 for padded arms, infinite where D = 0."""
    check("variances", variances, NOT_NEGATIVE)
    variance = as_float(variances)
    # Selected twice, before and after: an infinite or 0/0 term that `where` drops would still put NaN into gradients.
    usable = (distance > 0) & jnp.isfinite(distance)
    safe, variance = jnp.where(usable, distance, 1.0), jnp.where(usable, variance, 1.0)
    spread = jnp.sqrt(variance) + jnp.sqrt(variance + range_constant * as_float(b) * safe)
    terms = jnp.where(usable, (spread / safe) ** 2, jnp.inf)
    return terms if mask is None else jnp.where(mask, terms, 0.0)
