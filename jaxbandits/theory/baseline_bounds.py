"""Guarantees of the algorithms that UGapE is compared with: UCB-E, Successive Rejects and LUCB1.

Sources:
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
from jaxbandits.theory.complexity import gaps, h1, h2

__all__ = [
    "lucb_pulls_bound",
    "successive_rejects_error_bound",
    "ucb_e_error_bound",
    "ucb_e_largest_a",
]


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
