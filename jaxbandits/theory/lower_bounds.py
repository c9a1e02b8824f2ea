"""The lower bound that no algorithm with a fixed confidence beats: characteristic times and proportions.

Sources:
- Garivier, Kaufmann 2016, "Optimal best arm identification with fixed confidence" (one best arm, epsilon = 0);
- Degenne, Koolen 2019, "Pure exploration with multiple correct answers" (epsilon > 0, asymptotic in delta).
"""

from typing import Literal

import jax
import numpy as np
from jax import numpy as jnp
from jax.typing import ArrayLike
from numpy.typing import NDArray

from jaxbandits.checks import FINITE, INSIDE_UNIT, NOT_NEGATIVE, POSITIVE, UNIT
from jaxbandits.errors import UsageError
from jaxbandits.theory._allocation import BERNOULLI, PairCosts, gaussian, smallest_allocation
from jaxbandits.theory._checks import as_float, check, check_size
from jaxbandits.theory.divergences import binary_relative_entropy, kl_bernoulli, kl_gaussian

__all__ = ["binary_relative_entropy", "characteristic_time", "kl_bernoulli", "kl_gaussian", "pulls_lower_bound"]


def characteristic_time(
    means: ArrayLike,
    m: int = 1,
    epsilon: float = 0.0,
    family: Literal["bernoulli", "gaussian"] = "bernoulli",
    sd: float = 1.0,
) -> tuple[float, NDArray[np.float64]]:
    """Characteristic time T* of finding the m best arms, and the proportions of pulls that attain it.

    1/T* = max over proportions w of the min over arms i of S, j not of S, of
    inf over lambda_j >= lambda_i + epsilon of w_i d(mu_i, lambda_i) + w_j d(mu_j, lambda_j),
    where S holds the m best arms and d is the Kullback-Leibler divergence of the family.

    What it bounds: the expected pulls of algorithms that, on every instance of the family and with probability at least
    1 - delta, return a set of m arms whose worst mean is at most epsilon below the best mean left out.

    - epsilon = 0: one answer is right, and E[pulls] >= T* kl(delta, 1 - delta) for every delta < 1/2 (Garivier and
      Kaufmann 2016, Theorem 1, whose argument holds for any m).
    - epsilon > 0: several answers may be right. As delta tends to 0, E[pulls] / log(1/delta) is at least the smallest
      characteristic time of a right answer (Degenne and Koolen 2019). That answer is S: exchanging an arm of a right
      answer for a better one, together with their weights, lowers none of the costs that are minimised above.
    - m > 1 and epsilon > 0: the criterion is stronger than the (epsilon, m)-optimality of UGapE, mu_k >= mu_(m) -
      epsilon, which compares with the m-th best arm, in or out of the set. It is what LUCB and UGapE certify when
      they stop, but an algorithm that guarantees (epsilon, m)-optimality alone may need fewer pulls. For m = 1 the
      two are the same.

    Args:
        means: concrete arm means, shape `(K,)`.
        m: number of best arms, in [1, K-1].
        epsilon: accuracy, at least 0.
        family: "bernoulli" (means in [0, 1]) or "gaussian".
        sd: standard deviation of Gaussian rewards.

    Returns:
        T* (relative error below 1e-6; infinite if epsilon = 0 and S is not unique; 0 if no instance makes S wrong)
        and the proportions, shape `(K,)`, float64, adding up to 1; in these two cases any are optimal, and they are
        uniform.
    """
    check("means", means, FINITE)
    check("epsilon", epsilon, NOT_NEGATIVE)
    mu = np.asarray(means, np.float64)
    if mu.ndim != 1:
        raise UsageError(f"means must have shape (K,), got {mu.shape}")
    check_size(m, mu.size)
    m = int(m)
    if family == "bernoulli":
        check("means", mu, UNIT)
        rewards = BERNOULLI
    elif family == "gaussian":
        check("sd", sd, POSITIVE)
        rewards = gaussian(float(sd))
    else:
        raise UsageError(f"family must be 'bernoulli' or 'gaussian', got {family!r}")
    order = np.argsort(-mu, kind="stable")
    pairs = PairCosts(rewards, mu[order[:m]], mu[order[m:]], float(epsilon))
    uniform = np.full(mu.size, 1 / mu.size)
    if pairs.epsilon >= rewards.highest - rewards.lowest:
        return 0.0, uniform
    if pairs.costs(uniform[:m], uniform[m:]).min() == 0:
        return float("inf"), uniform
    w_best, w_rest = smallest_allocation(pairs)
    weights = np.empty_like(mu)
    weights[order] = np.concatenate([w_best, w_rest])
    total = weights.sum()
    # The value at the proportions returned, rather than the sum, whose excess over the optimum has the other sign.
    return float(total / pairs.costs(w_best, w_rest).min()), weights / total


def pulls_lower_bound(
    means: ArrayLike,
    delta: ArrayLike,
    m: int = 1,
    epsilon: float = 0.0,
    family: Literal["bernoulli", "gaussian"] = "bernoulli",
    sd: float = 1.0,
) -> jax.Array:
    """T* kl(delta, 1 - delta): expected pulls below which no delta-correct algorithm gets on this instance.

    For which algorithms, and when only as delta tends to 0, `characteristic_time` says. From delta = 1/2 on it is 0.

    Args:
        means: concrete arm means, shape `(K,)`.
        delta: probability of error, in (0, 1), shape `(…)`; may be traced.
        m: number of best arms, in [1, K-1].
        epsilon: accuracy, at least 0.
        family: "bernoulli" or "gaussian".
        sd: standard deviation of Gaussian rewards.

    Returns:
        Shape `(…)`, at least 0.
    """
    check("delta", delta, INSIDE_UNIT)
    time, _ = characteristic_time(means, m, epsilon, family, sd)
    # Garivier and Kaufmann 2016, Theorem 1; its last step needs 1 - delta (right here) above delta (right elsewhere).
    return jnp.where(as_float(delta) < 0.5, time * binary_relative_entropy(delta), 0.0)
