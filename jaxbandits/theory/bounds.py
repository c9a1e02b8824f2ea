"""Guarantees of UGapE: error bounds at a fixed budget, numbers of pulls at a fixed confidence.

Sources: Gabillon, Ghavamzadeh, Lazaric 2012, "Best arm identification: a unified approach to fixed budget and fixed
confidence"; for the versions with variances also Maurer, Pontil 2009, "Empirical Bernstein bounds and sample-variance
penalization".

Rewards lie in [0, b]. Means are `(K, …)`, n, epsilon, delta and m `()` or `(…)`, results `(…)`. An error bound is a
probability: it is capped at 1, and it is 1 where the theorem's condition on the exploration parameter a fails.
"""

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike

from jaxbandits.checks import INSIDE_UNIT, POSITIVE
from jaxbandits.theory._bound_shapes import error_if_admissible, largest_solution, quotient, times
from jaxbandits.theory._checks import as_float, check, check_budget, log_of, number_of_arms
from jaxbandits.theory.complexity import h_epsilon, h_epsilon_variance

__all__ = [
    "ugape_b_error_bound",
    "ugape_b_largest_a",
    "ugape_b_variance_error_bound",
    "ugape_b_variance_largest_a",
    "ugape_c_pulls_bound",
    "ugape_c_variance_pulls_bound",
]


def ugape_b_largest_a(
    means: ArrayLike, n: ArrayLike, epsilon: ArrayLike, m: ArrayLike = 1, b: ArrayLike = 1.0
) -> jax.Array:
    """Return the largest exploration parameter that UGapE Theorem 1 admits; it also minimises the theorem's bound.

    Args:
        means: arm means, shape `(K, …)`.
        n: budget in pulls.
        epsilon: accuracy, at least 0.
        m: number of arms to return, in [1, K-1].
        b: range of the rewards.

    Returns:
        Shape `(…)`; not positive if the budget does not exceed K.

    Example:
        >>> round(float(jb.theory.ugape_b_largest_a([0.7, 0.5, 0.4], 20_000, 0.1)), 1)
        43.9
    """
    check_budget(n)
    spare = as_float(n) - number_of_arms(means)
    return quotient(spare, 4 * h_epsilon(means, epsilon, m, b))  # Theorem 1: a = (n-K) / (4 H_eps)


def ugape_b_error_bound(
    means: ArrayLike,
    n: ArrayLike,
    epsilon: ArrayLike,
    m: ArrayLike = 1,
    b: ArrayLike = 1.0,
    a: ArrayLike | None = None,
) -> jax.Array:
    """Return a bound on the probability that UGapEb returns a set that is not (epsilon, m)-optimal (UGapE Theorem 1).

    Args:
        means: arm means, shape `(K, …)`.
        n: budget in pulls.
        epsilon: accuracy, at least 0.
        m: number of arms to return, in [1, K-1].
        b: range of the rewards.
        a: exploration parameter; the largest admissible one if not given.

    Returns:
        Shape `(…)`, in [0, 1].

    Example:
        >>> f"{jb.theory.ugape_b_error_bound([0.7, 0.5, 0.4], 20_000, 0.1):.1e}"
        '8.9e-34'
    """
    largest = ugape_b_largest_a(means, n, epsilon, m, b)
    pairs = jnp.log(2.0 * number_of_arms(means)) + jnp.log(as_float(n))
    return error_if_admissible(a, largest, lambda a: pairs - 2 * a)  # Theorem 1: 2Kn exp(-2a)


def ugape_b_variance_largest_a(
    means: ArrayLike,
    variances: ArrayLike,
    n: ArrayLike,
    epsilon: ArrayLike,
    m: ArrayLike = 1,
    b: ArrayLike = 1.0,
) -> jax.Array:
    """Return the largest exploration parameter for UGapEb with variances, two pulls of every arm at the start.

    Derived, not printed in the paper. The radius is beta = sqrt(2 a s^2 / T) + 7ab / (3(T-1)). On the event of the
    theorem s <= sigma + b sqrt(2a / (T-1)), so beta <= sigma sqrt(2a / T) + (13/3) ab / (T-1). Let an arm be pulled
    while B_J >= eps, T being its pulls before. By Lemma 2 it has 2 beta >= D = max((Delta+eps)/2, eps). This is a
    quadratic inequality in sqrt(a / (T-1)), with the solution T - 1 <= 2a (sigma + sqrt(sigma^2 + (13/3) b D))^2 / D^2.
    Summing T + 1 over arms gives n <= 2K + 2a H^sigma_eps, and the contradiction of Theorem 1 needs a <= (n - 2K) / (2
    H^sigma_eps).

    Args:
        means: arm means, shape `(K, …)`.
        variances: arm variances, shape `(K, …)`.
        n: budget in pulls.
        epsilon: accuracy, at least 0.
        m: number of arms to return, in [1, K-1].
        b: range of the rewards.

    Returns:
        Shape `(…)`; not positive if the budget does not exceed 2K.

    Example:
        >>> round(float(jb.theory.ugape_b_variance_largest_a([0.7, 0.5, 0.4], [0.21, 0.25, 0.24], 20_000, 0.1)), 2)
        42.0
    """
    check_budget(n)
    spare = as_float(n) - 2 * number_of_arms(means)
    return quotient(spare, 2 * h_epsilon_variance(means, variances, epsilon, m, b))


def ugape_b_variance_error_bound(
    means: ArrayLike,
    variances: ArrayLike,
    n: ArrayLike,
    epsilon: ArrayLike,
    m: ArrayLike = 1,
    b: ArrayLike = 1.0,
    a: ArrayLike | None = None,
) -> jax.Array:
    """Return a bound on the error probability of UGapEb with variances: 4Kn exp(-a).

    Four events of probability exp(-a) for every arm and number of pulls: Bennett's inequality on either side of the
    mean, and an empirical standard deviation too small or too large by b sqrt(2a / (T-1)) (Maurer and Pontil 2009).

    Args:
        means: arm means, shape `(K, …)`.
        variances: arm variances, shape `(K, …)`.
        n: budget in pulls.
        epsilon: accuracy, at least 0.
        m: number of arms to return, in [1, K-1].
        b: range of the rewards.
        a: exploration parameter; the largest admissible one if not given.

    Returns:
        Shape `(…)`, in [0, 1].

    Example:
        >>> f"{jb.theory.ugape_b_variance_error_bound([0.7, 0.5, 0.4], [0.21, 0.25, 0.24], 20_000, 0.1):.1e}"
        '1.4e-13'
    """
    largest = ugape_b_variance_largest_a(means, variances, n, epsilon, m, b)
    pairs = jnp.log(4.0 * number_of_arms(means)) + jnp.log(as_float(n))
    return error_if_admissible(a, largest, lambda a: pairs - a)


def ugape_c_pulls_bound(
    means: ArrayLike,
    epsilon: ArrayLike,
    delta: ArrayLike,
    m: ArrayLike = 1,
    b: ArrayLike = 1.0,
    c: ArrayLike = 0.5,
) -> jax.Array:
    """Return the number of pulls that UGapEc exceeds with probability at most delta (UGapE Theorem 2, with constants).

    On the event that all intervals hold, by Lemma 2 an arm pulled at t has eps <= min(0, 2 beta - Delta) + 2 beta. So D
    = max((Delta+eps)/2, eps) <= 2 beta = 2b sqrt(c log(4K(t-1)^3/delta) / T), T being its pulls before. At the end
    every arm therefore has at most 4 c b^2 log(4K(n-1)^3/delta) / D^2 + 1 pulls (eq. 15 for c = 1/2). The sum over arms
    is n <= K + 4 c H_eps log(4K(n-1)^3/delta). The bound is the largest such n. (Step 2 of the paper's proof drops the
    4 inside the logarithm.)

    Args:
        means: arm means, shape `(K, …)`.
        epsilon: accuracy, at least 0.
        delta: probability of error, in (0, 1).
        m: number of arms to return, in [1, K-1].
        b: range of the rewards.
        c: exploration parameter; the guarantee needs c >= 1/2.

    Returns:
        Shape `(…)`; infinite if epsilon = 0 and the m best arms are not unique.

    Example:
        >>> round(float(jb.theory.ugape_c_pulls_bound([0.7, 0.5, 0.4], 0.1, 0.05)), 0)
        7333.0
    """
    check("delta", delta, INSIDE_UNIT)
    check("c", c, POSITIVE)
    arms = number_of_arms(means)
    slope = times(4 * as_float(c), h_epsilon(means, epsilon, m, b))
    log_scale = jnp.log(4.0 * arms) - log_of(delta)
    return 1 + largest_solution(as_float(arms - 1), slope, log_scale, power=3)  # eq. 15 summed over arms, x = n - 1


def ugape_c_variance_pulls_bound(
    means: ArrayLike,
    variances: ArrayLike,
    epsilon: ArrayLike,
    delta: ArrayLike,
    m: ArrayLike = 1,
    b: ArrayLike = 1.0,
) -> jax.Array:
    """Return the number of pulls that UGapEc with variances exceeds with probability at most delta.

    Its exploration rate is a_t = log(7Kt^3/delta). The steps of `ugape_b_variance_largest_a` give n <= 2K + 2
    H^sigma_eps log(7K(n-1)^3/delta). The union over arms, times and numbers of pulls costs sum_t 4Kt exp(-a_t) =
    (4/7)(pi^2/6) delta < delta.

    Args:
        means: arm means, shape `(K, …)`.
        variances: arm variances, shape `(K, …)`.
        epsilon: accuracy, at least 0.
        delta: probability of error, in (0, 1).
        m: number of arms to return, in [1, K-1].
        b: range of the rewards.

    Returns:
        Shape `(…)`; infinite if epsilon = 0 and the m best arms are not unique.

    Example:
        >>> round(float(jb.theory.ugape_c_variance_pulls_bound([0.7, 0.5, 0.4], [0.21, 0.25, 0.24], 0.1, 0.05)), 0)
        16775.0
    """
    check("delta", delta, INSIDE_UNIT)
    arms = number_of_arms(means)
    slope = 2 * h_epsilon_variance(means, variances, epsilon, m, b)
    log_scale = jnp.log(7.0 * arms) - log_of(delta)
    return 1 + largest_solution(as_float(2 * arms - 1), slope, log_scale, power=3)
