"""Guarantees for top-K with aggregate regret: pulls of AdaptiveTopK, rates of the others, losses of OptMAI.

Sources:
- Chen, Chen, Zhang, Zhou 2017, "Adaptive multiple-arm identification" (AdaptiveTopK, ImprovedTopK);
- Zhou, Chen, Li 2014, "Optimal PAC multiple arm identification with applications to crowdsourcing" (OptMAI);
- Chen, Lin, King, Lyu, Chen 2014, "Combinatorial pure exploration of multi-armed bandits" (CLUCB-PAC).

A function whose name ends in `_rate` returns the argument of an O, Omega or Theta. The paper leaves its constant open,
and only ratios of it mean something. Where such a rate has log log(1/epsilon) or log(1/epsilon), that term counts as 0
once epsilon is too large for it to be positive. The other functions return bounds with their constants.

Rewards lie in [0, 1]. Means are `(n, …)`, the other arguments `()` or `(…)`, results `(…)`; all is differentiable in
epsilon, delta, means and budget, as `top_k` says.
"""

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike

from jaxbandits.checks import AT_LEAST_ONE, INSIDE_UNIT, POSITIVE
from jaxbandits.theory._checks import as_float, check, log_of
from jaxbandits.theory.top_k import border, h_0_epsilon, h_t_epsilon

__all__ = [
    "adaptive_top_k_pulls_bound",
    "adaptive_top_k_pulls_rate",
    "clucb_pac_pulls_rate",
    "improved_top_k_pulls_rate",
    "opt_mai_accept_reject_loss",
    "opt_mai_pulls_rate",
    "opt_mai_quartile_loss",
    "opt_mai_regret_rate",
    "top_k_lower_bound_rate",
]

# Rounds that the bound counts: enough for epsilon down to 2^-38, below which it is infinite.
_ROUNDS = 40
# A gap may lie on a power of two, or just above it by rounding: it must not lose a round.
_ROUNDING = 1e-5


def adaptive_top_k_pulls_bound(
    means: ArrayLike, epsilon: ArrayLike, delta: ArrayLike, k: ArrayLike, mask: ArrayLike | None = None
) -> jax.Array:
    """Return the pulls that AdaptiveTopK exceeds with probability at most delta (Chen et al. 2017, Theorem 4).

    The constants are those of the steps of the paper's section 2.2. Arm i is pulled in round r only if it was left
    after round r - 1, so 8 2^-r > Delta_i (Lemmas 5 and 7). The loop must also have gone on, so 4 2^-r > epsilon. And 8
    2^-r >= Delta_{K-t} for the largest t <= K - 1 with Delta_{K-t} t <= K epsilon (Lemma 6). Otherwise all but t of the
    K best were accepted, and 4 2^-r t > K epsilon >= Delta_{K-t} t > 8 2^-r t. Round r costs every arm at most 4^r ln(2
    n r^2 / delta) + 1 pulls (eq. 18). The rounds are those printed (schedule "paper" with scale 1).

    Args:
        means: arm means, shape `(n, …)`.
        epsilon: aggregate regret that is allowed, positive.
        delta: probability of error, in (0, 1).
        k: K, number of arms to return, in [1, n-1].
        mask: bool, shape `(n, …)`, false for padded arms.

    Returns:
        Shape `(…)`, piecewise constant in means and epsilon; infinite for epsilon below 2^-38.

    Raises:
        UsageError: a value outside its range.
    """
    check("delta", delta, INSIDE_UNIT)
    around = border(means, epsilon, k, mask)
    epsilon = as_float(epsilon)
    distance = jnp.maximum(around.gap, around.gap_inside(around.inside))
    scale = jnp.log(2.0 * _arms(means, mask)) - log_of(delta)
    total = jnp.zeros_like(scale)
    for r in range(1, _ROUNDS + 1):
        reach = 2.0 ** (3 - r) * (1 + _ROUNDING)
        pulled = jnp.sum((distance < reach) & (epsilon < 2.0 ** (2 - r)), axis=0)
        total = total + pulled * (4.0**r * (scale + 2 * jnp.log(float(r))) + 1)  # eq. (18)
    return jnp.where(epsilon < 2.0 ** (2 - _ROUNDS), jnp.inf, total)


def adaptive_top_k_pulls_rate(
    means: ArrayLike, epsilon: ArrayLike, delta: ArrayLike, k: ArrayLike, mask: ArrayLike | None = None
) -> jax.Array:
    """Return the rate of AdaptiveTopK's pulls, (log log 1/epsilon + log n + log 1/delta) H^(t,epsilon) (Theorem 1).

    Args:
        means: arm means, shape `(n, …)`.
        epsilon: aggregate regret that is allowed, positive.
        delta: probability of error, in (0, 1).
        k: K, number of arms to return, in [1, n-1].
        mask: bool, shape `(n, …)`, false for padded arms.

    Raises:
        UsageError: a value outside its range.
    """
    check("delta", delta, INSIDE_UNIT)
    h = h_t_epsilon(means, epsilon, k, mask)
    iterated = jnp.log(jnp.maximum(-jnp.log(as_float(epsilon)), 1.0))
    return (iterated + jnp.log(as_float(_arms(means, mask))) - log_of(delta)) * h


def improved_top_k_pulls_rate(
    means: ArrayLike, epsilon: ArrayLike, delta: ArrayLike, k: ArrayLike, mask: ArrayLike | None = None
) -> jax.Array:
    """Return the rate of ImprovedTopK's pulls, (log 1/epsilon + log 1/delta) H^(t,epsilon) (Theorem 2).

    Arguments and errors as in `adaptive_top_k_pulls_rate`.
    """
    check("delta", delta, INSIDE_UNIT)
    return (_log_inverse(epsilon) - log_of(delta)) * h_t_epsilon(means, epsilon, k, mask)


def clucb_pac_pulls_rate(
    means: ArrayLike, epsilon: ArrayLike, delta: ArrayLike, k: ArrayLike, mask: ArrayLike | None = None
) -> jax.Array:
    """Return the rate of CLUCB-PAC's pulls, (log H^(0,epsilon) + log 1/delta) H^(0,epsilon) (Chen et al. 2017).

    Arguments and errors as in `adaptive_top_k_pulls_rate`.
    """
    check("delta", delta, INSIDE_UNIT)
    h = h_0_epsilon(means, epsilon, k, mask)
    return (jnp.log(h) - log_of(delta)) * h


def top_k_lower_bound_rate(n: ArrayLike, epsilon: ArrayLike) -> jax.Array:
    """Return the rate of the pulls of a worst instance with H^(t,epsilon) = Theta(n): n log 1/epsilon (Theorem 3).

    For every n = 2K and epsilon = Omega(1/n) there is an instance with H^(t,epsilon) = Theta(n) on which every
    algorithm that is right with probability 0.9 needs Omega(n log 1/epsilon) pulls. Not a lower bound for every one.

    Args:
        n: number of arms.
        epsilon: aggregate regret that is allowed, positive.

    Raises:
        UsageError: a value that is not positive.
    """
    check("n", n, POSITIVE)
    check("epsilon", epsilon, POSITIVE)
    return as_float(n) * _log_inverse(epsilon)


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


def _arms(means: ArrayLike, mask: ArrayLike | None) -> jax.Array:
    """Return the number of arms, padded ones left out."""
    return as_float(jnp.shape(means)[0]) if mask is None else as_float(jnp.sum(jnp.asarray(mask), axis=0))


def _log_inverse(epsilon: ArrayLike) -> jax.Array:
    return jnp.maximum(-jnp.log(as_float(epsilon)), 0.0)
