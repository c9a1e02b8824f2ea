"""Guarantees of the algorithms that UGapE is compared with: GapE, UCB-E, Successive Rejects and LUCB1.

Sources:
- Gabillon, Ghavamzadeh, Lazaric, Bubeck 2011, "Multi-bandit best arm identification" (GapE, GapE-V);
- Audibert, Bubeck, Munos 2010, "Best arm identification in multi-armed bandits" (UCB-E, Successive Rejects);
- Kalyanakrishnan, Tewari, Auer, Stone 2012, "PAC subset selection in stochastic multi-armed bandits" (LUCB1).

Shapes and the meaning of an error bound are those of `bounds`; rewards of UCB-E, Successive Rejects and LUCB1 are in
[0, 1].
"""

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike

from jaxbandits.checks import INSIDE_UNIT, NOT_NEGATIVE
from jaxbandits.theory._bound_shapes import error_if_admissible, largest_solution, power, quotient
from jaxbandits.theory._checks import as_float, check, check_budget, log_of, number_of_arms
from jaxbandits.theory.complexity import bandits_first, gape_h, gape_h_variance, gaps, h1, h2

__all__ = [
    "gape_error_bound",
    "gape_largest_a",
    "gape_variance_error_bound",
    "gape_variance_largest_a",
    "lucb_pulls_bound",
    "successive_rejects_error_bound",
    "ucb_e_error_bound",
    "ucb_e_largest_a",
]


def gape_largest_a(means: ArrayLike, n: ArrayLike, b: ArrayLike = 1.0) -> jax.Array:
    """Return the largest exploration parameter that GapE Theorem 1 admits.

    Args:
        means: arm means, shape `(bandits, arms, …)`, or `(arms,)` for one bandit.
        n: budget in pulls over all bandits.
        b: range of the rewards.

    Returns:
        Shape `(…)`; not positive if the budget does not exceed the number of arms.

    Example:
        >>> round(float(jb.theory.gape_largest_a([0.7, 0.5, 0.4], 20_000)), 2)
        145.43
    """
    check_budget(n)
    total = jnp.sum(gape_h(bandits_first(as_float(means)), b), axis=0)
    return quotient(4 / 9 * (as_float(n) - _arms(means)), total)  # Theorem 1: a = 4/9 (n - MK) / H


def gape_error_bound(means: ArrayLike, n: ArrayLike, b: ArrayLike = 1.0, a: ArrayLike | None = None) -> jax.Array:
    """Return a bound on the probability that GapE is wrong about the best arm of any bandit (GapE Theorem 1).

    Args:
        means: arm means, shape `(bandits, arms, …)`, or `(arms,)` for one bandit.
        n: budget in pulls over all bandits.
        b: range of the rewards.
        a: exploration parameter; the largest admissible one if not given.

    Returns:
        Shape `(…)`, in [0, 1].

    Example:
        >>> f"{jb.theory.gape_error_bound([0.7, 0.5, 0.4], 200_000):.1e}"
        '1.6e-04'
    """
    largest = gape_largest_a(means, n, b)
    pairs = jnp.log(2.0 * _arms(means)) + jnp.log(as_float(n))
    return error_if_admissible(a, largest, lambda a: pairs - a / 64)  # Theorem 1: 2MKn exp(-a/64)


def gape_variance_largest_a(means: ArrayLike, variances: ArrayLike, n: ArrayLike, b: ArrayLike = 1.0) -> jax.Array:
    """Return the largest exploration parameter that GapE-V's theorem (GapE Theorem 2) admits.

    Args:
        means: arm means, shape `(bandits, arms, …)`, or `(arms,)` for one bandit.
        variances: arm variances, with the shape of the means.
        n: budget in pulls over all bandits.
        b: range of the rewards.

    Returns:
        Shape `(…)`; not positive if the budget does not exceed twice the number of arms.

    Example:
        >>> round(float(jb.theory.gape_variance_largest_a([0.7, 0.5, 0.4], [0.21, 0.25, 0.24], 20_000)), 2)
        105.29
    """
    check_budget(n)
    check("variances", variances, NOT_NEGATIVE)
    means, variances = (bandits_first(as_float(x)) for x in (means, variances))
    total = jnp.sum(gape_h_variance(means, variances, b), axis=0)
    # A tie makes it infinite. The infinite slope of a variance of 0 elsewhere must then not meet the 0 of `quotient`.
    harmless = jnp.where(jnp.isfinite(total), variances, 1.0)
    total = jnp.sum(gape_h_variance(means, harmless, b), axis=0)
    return quotient(8 / 9 * (as_float(n) - 2 * _arms(means)), total)  # a = 8/9 (n - 2MK) / H^sigma


def gape_variance_error_bound(
    means: ArrayLike, variances: ArrayLike, n: ArrayLike, b: ArrayLike = 1.0, a: ArrayLike | None = None
) -> jax.Array:
    """Return a bound on the probability that GapE-V is wrong about the best arm of any bandit (GapE Theorem 2).

    Args:
        means: arm means, shape `(bandits, arms, …)`, or `(arms,)` for one bandit.
        variances: arm variances, with the shape of the means.
        n: budget in pulls over all bandits.
        b: range of the rewards.
        a: exploration parameter; the largest admissible one if not given.

    Returns:
        Shape `(…)`, in [0, 1].

    Example:
        >>> f"{jb.theory.gape_variance_error_bound([0.7, 0.5, 0.4], [0.21, 0.25, 0.24], 2_000_000):.1e}"
        '3.2e-03'
    """
    largest = gape_variance_largest_a(means, variances, n, b)
    pairs = jnp.log(6.0 * _arms(means)) + jnp.log(as_float(n))
    return error_if_admissible(a, largest, lambda a: pairs - 9 * a / (64 * 64))  # 6nMK exp(-9a / (64 * 64))


def ucb_e_largest_a(means: ArrayLike, n: ArrayLike) -> jax.Array:
    """Return the largest exploration parameter that Audibert et al. 2010, Theorem 1, admits for UCB-E.

    Args:
        means: arm means, shape `(K, …)`.
        n: budget in pulls.

    Returns:
        Shape `(…)`; not positive if the budget does not exceed K.

    Example:
        >>> round(float(jb.theory.ucb_e_largest_a([0.7, 0.5, 0.4], 20_000)), 1)
        227.2
    """
    check_budget(n)
    return quotient(25 / 36 * (as_float(n) - number_of_arms(means)), h1(means))  # Theorem 1: a = 25/36 (n - K) / H1


def ucb_e_error_bound(means: ArrayLike, n: ArrayLike, a: ArrayLike | None = None) -> jax.Array:
    """Return a bound on the probability that UCB-E does not return the best arm (Audibert et al. 2010, Theorem 1).

    Args:
        means: arm means, shape `(K, …)`.
        n: budget in pulls.
        a: exploration parameter; the largest admissible one if not given.

    Returns:
        Shape `(…)`, in [0, 1].

    Example:
        >>> f"{jb.theory.ucb_e_error_bound([0.7, 0.5, 0.4], 20_000):.1e}"
        '1.5e-03'
    """
    largest = ucb_e_largest_a(means, n)
    pairs = jnp.log(2.0 * number_of_arms(means)) + jnp.log(as_float(n))
    return error_if_admissible(a, largest, lambda a: pairs - 2 * a / 25)  # Theorem 1: 2nK exp(-2a/25)


def successive_rejects_error_bound(means: ArrayLike, n: ArrayLike) -> jax.Array:
    """Return a bound on the probability that Successive Rejects misses the best arm (Audibert et al. 2010, Theorem 2).

    Args:
        means: arm means, shape `(K, …)`.
        n: budget in pulls.

    Returns:
        Shape `(…)`, in [0, 1].

    Example:
        >>> f"{jb.theory.successive_rejects_error_bound([0.7, 0.5, 0.4], 5000):.1e}"
        '8.4e-33'
    """
    check_budget(n)
    arms = number_of_arms(means)
    log_bar = 0.5 + sum(1 / i for i in range(2, arms + 1))
    # Theorem 2: K(K-1)/2 exp(-(n-K) / (logbar(K) H2)), with logbar(K) = 1/2 + sum_{i=2}^K 1/i.
    rate = quotient(as_float(n) - arms, log_bar * h2(means))
    return jnp.exp(jnp.minimum(jnp.log(arms * (arms - 1) / 2) - rate, 0.0))


def lucb_pulls_bound(means: ArrayLike, epsilon: ArrayLike, delta: ArrayLike, m: ArrayLike = 1) -> jax.Array:
    """Return the number of pulls that LUCB1 exceeds with probability at most delta.

    The radius in round t is beta = sqrt(log(5/4 K t^4/delta) / (2T)). The order H log(H/delta) is that of
    Kalyanakrishnan et al. 2012; the constants are derived here, after their argument. Let c lie halfway between the
    m-th and the next mean. Consider the event
    that some arm of the best m has U < mu or some other L > mu, in any round. It has probability at most
    sum_t Kt delta / (5/4 K t^4) < delta. Outside it, while U_l - L_h >= epsilon, one of the arms h,
    l has c in [L, U] and beta >= epsilon/4, wherever the two intervals lie relative to c. Its mean is then within 2
    beta of c and at least Delta/2 from it, so beta >= Delta/4. Both arms are pulled. So every such round gives a pull
    to an arm k with T_k <= 8 log(5/4 K t^4/delta) / max(Delta_k, epsilon)^2. The number of rounds is therefore at most
    the largest r <= 8 sum_k max(Delta_k, epsilon)^-2 log(5/4 K r^4/delta), and each costs two pulls.

    Args:
        means: arm means, shape `(K, …)`.
        epsilon: accuracy, at least 0.
        delta: probability of error, in (0, 1).
        m: number of arms to return, in [1, K-1].

    Returns:
        Shape `(…)`; infinite if epsilon = 0 and the m best arms are not unique.

    Example:
        >>> round(float(jb.theory.lucb_pulls_bound([0.7, 0.5, 0.4], 0.1, 0.05)), 0)
        43265.0
    """
    check("epsilon", epsilon, NOT_NEGATIVE)
    check("delta", delta, INSIDE_UNIT)
    arms = number_of_arms(means)
    slope = 8 * jnp.sum(power(jnp.maximum(gaps(means, m), as_float(epsilon)), -2.0), axis=0)
    log_scale = jnp.log(1.25 * arms) - log_of(delta)
    return arms + 2 * largest_solution(jnp.zeros_like(slope), slope, log_scale, power=4)


def _arms(means: ArrayLike) -> int:
    """Return the number of arms of all bandits together, MK."""
    bandits, arms = bandits_first(as_float(means)).shape[:2]
    return bandits * arms
