"""What theory promises of OptMAI: losses of its rounds, and rates of its regret and its pulls.

Zhou, Chen, Li 2014, "Optimal PAC multiple arm identification with applications to crowdsourcing".

What a name that ends in `_rate` means, shapes, and derivatives are as in `top_k_bounds`.
"""

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike

from jaxbandits.checks import AT_LEAST_ONE, INSIDE_UNIT, POSITIVE
from jaxbandits.theory._checks import as_float, check, log_of

__all__ = ["opt_mai_accept_reject_loss", "opt_mai_pulls_rate", "opt_mai_quartile_loss", "opt_mai_regret_rate"]


def opt_mai_quartile_loss(arms: ArrayLike, pulls: ArrayLike, delta: ArrayLike, k: ArrayLike) -> jax.Array:
    """Return what a round of quartile elimination may lose (Zhou et al. 2014, Lemma 4.1).

    With probability at least 1 - delta the mean of the K best arms left falls by at most
    sqrt((|S|/Q) (10 + 4 ln(2/delta)/K)).

    Args:
        arms: |S|, arms at the start of the round, at least 4K.
        pulls: Q, pulls of the round, spread evenly.
        delta: probability of error, in (0, 1).
        k: K, number of arms to return.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> round(float(jb.theory.opt_mai_quartile_loss(100, 10_000, 0.05, 10)), 4)
        0.3388
    """
    arms, pulls, ratio = _opt_mai(arms, pulls, delta, k, 2.0)
    return jnp.sqrt(arms / pulls * (10 + 4 * ratio))  # Lemma 4.1


def opt_mai_accept_reject_loss(arms: ArrayLike, pulls: ArrayLike, delta: ArrayLike, k: ArrayLike) -> jax.Array:
    """Return what a round of accepting and rejecting may lose (Zhou et al. 2014, Lemma 4.2).

    With probability at least 1 - delta the mean of the best K arms among those accepted and those left falls by at
    most sqrt((|S|/Q) (4 + ln(2/delta)/K)).

    Args:
        arms: |S|, arms at the start of the round, below 4K.
        pulls: Q, pulls of the round, spread evenly.
        delta: probability of error, in (0, 1).
        k: K, number of arms to return.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> round(float(jb.theory.opt_mai_accept_reject_loss(30, 10_000, 0.05, 10)), 4)
        0.1145
    """
    arms, pulls, ratio = _opt_mai(arms, pulls, delta, k, 2.0)
    return jnp.sqrt(arms / pulls * (4 + ratio))  # Lemma 4.2


def opt_mai_regret_rate(n: ArrayLike, budget: ArrayLike, delta: ArrayLike, k: ArrayLike) -> jax.Array:
    """Return the rate of OptMAI's aggregate regret, sqrt((n/Q) (1 + ln(1/delta)/K)) (Zhou et al. 2014, Theorem 4.3).

    Args:
        n: number of arms.
        budget: Q, all pulls.
        delta: probability of error, in (0, 1).
        k: K, number of arms to return, at most n/2.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> round(float(jb.theory.opt_mai_regret_rate(100, 10_000, 0.05, 10)), 4)
        0.114
    """
    n, budget, ratio = _opt_mai(n, budget, delta, k, 1.0)
    return jnp.sqrt(n / budget * (1 + ratio))  # Theorem 4.3


def opt_mai_pulls_rate(n: ArrayLike, epsilon: ArrayLike, delta: ArrayLike, k: ArrayLike) -> jax.Array:
    """Return the rate of the pulls that OptMAI needs, (n/epsilon^2) (1 + ln(1/delta)/K) (Zhou et al., Corollary 4.4).

    No algorithm has a better rate over all instances (the same paper's lower bounds).

    Args:
        n: number of arms.
        epsilon: aggregate regret that is allowed, positive.
        delta: probability of error, in (0, 1).
        k: K, number of arms to return, at most n/2.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> round(float(jb.theory.opt_mai_pulls_rate(100, 0.1, 0.05, 10)), 0)
        12996.0
    """
    check("epsilon", epsilon, POSITIVE)
    n, _, ratio = _opt_mai(n, 1.0, delta, k, 1.0)
    return n / as_float(epsilon) ** 2 * (1 + ratio)  # Corollary 4.4


def _opt_mai(
    arms: ArrayLike, pulls: ArrayLike, delta: ArrayLike, k: ArrayLike, factor: float
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Return the number of arms and of pulls, and ln(factor/delta)/K."""
    check("the number of arms", arms, POSITIVE)
    check("the number of pulls", pulls, AT_LEAST_ONE)
    check("delta", delta, INSIDE_UNIT)
    check("k", k, POSITIVE)
    return as_float(arms), as_float(pulls), (jnp.log(factor) - log_of(delta)) / as_float(k)
