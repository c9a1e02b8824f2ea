"""The lower bound that no algorithm with a fixed confidence beats: characteristic times and proportions.

Sources:
- Garivier, Kaufmann 2016, "Optimal best arm identification with fixed confidence" (one best arm, epsilon = 0);
- Degenne, Koolen 2019, "Pure exploration with multiple correct answers" (epsilon > 0, asymptotic in delta).
"""

import functools
from typing import Literal

import jax
import numpy as np
from jax import numpy as jnp
from jax.typing import ArrayLike
from numpy.typing import NDArray

from jaxbandits.checks import FINITE, INSIDE_UNIT, NOT_NEGATIVE, POSITIVE, UNIT
from jaxbandits.errors import UsageError
from jaxbandits.theory._allocation import BERNOULLI, Family, PairCosts, gaussian, smallest_allocation
from jaxbandits.theory._allocation_slopes import allocation_and_slopes
from jaxbandits.theory._checks import as_float, check, check_size
from jaxbandits.theory._forms import times
from jaxbandits.theory.divergences import binary_relative_entropy, kl_bernoulli, kl_gaussian

__all__ = ["binary_relative_entropy", "characteristic_time", "kl_bernoulli", "kl_gaussian", "pulls_lower_bound"]


def characteristic_time(
    means: ArrayLike,
    m: int = 1,
    epsilon: ArrayLike = 0.0,
    family: Literal["bernoulli", "gaussian"] = "bernoulli",
    sd: ArrayLike = 1.0,
) -> tuple[float | jax.Array, NDArray[np.float64] | jax.Array]:
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
        means: arm means, shape `(K,)`; like epsilon and sd they may be traced.
        m: number of best arms, in [1, K-1].
        epsilon: accuracy, at least 0.
        family: "bernoulli" (means in [0, 1]) or "gaussian".
        sd: standard deviation of Gaussian rewards.

    Returns:
        T* (relative error below 1e-6; infinite if epsilon = 0 and S is not unique; 0 if no instance makes S wrong)
        and the proportions, shape `(K,)`, float64, adding up to 1; in these two cases any are optimal, and they are
        uniform, with slope 0. JAX arrays where an argument is traced: the host computes them, with their first
        derivatives.
    """
    check("means", means, FINITE)
    check("epsilon", epsilon, NOT_NEGATIVE)
    shape = jnp.shape(means)
    if len(shape) != 1:
        raise UsageError(f"means must have shape (K,), got {shape}")
    check_size(m, shape[0])
    if family == "bernoulli":
        check("means", means, UNIT)
    elif family == "gaussian":
        check("sd", sd, POSITIVE)
    else:
        raise UsageError(f"family must be 'bernoulli' or 'gaussian', got {family!r}")
    if any(isinstance(x, jax.core.Tracer) for x in (means, epsilon, sd)):
        return _traced(int(m), family, as_float(means), as_float(epsilon), as_float(sd))
    pairs, order = _pairs(
        int(m), family, np.asarray(means, np.float64), float(np.asarray(epsilon)), float(np.asarray(sd))
    )
    if (edge := _edge(pairs)) is not None:
        return edge, np.full(order.size, 1 / order.size)
    w_best, w_rest = smallest_allocation(pairs)
    weights = np.empty(order.size)
    weights[order] = np.concatenate([w_best, w_rest])
    total = weights.sum()
    # The value at the proportions returned, rather than the sum, whose excess over the optimum has the other sign.
    return float(total / pairs.costs(w_best, w_rest).min()), weights / total


def _rewards(family: str, sd: float) -> Family:
    return BERNOULLI if family == "bernoulli" else gaussian(sd)


def _pairs(m: int, family: str, mu: np.ndarray, epsilon: float, sd: float) -> tuple[PairCosts, np.ndarray]:
    """The costs, and the arms from the best to the worst."""
    order = np.argsort(-mu, kind="stable")
    return PairCosts(_rewards(family, sd), mu[order[:m]], mu[order[m:]], epsilon), order


def _edge(pairs: PairCosts) -> float | None:
    """The time where no allocation need be found: 0 if no instance makes S wrong, infinite if S is not unique."""
    if pairs.epsilon >= pairs.family.highest - pairs.family.lowest:
        return 0.0
    uniform = pairs.costs(np.ones(pairs.best.size), np.ones(pairs.rest.size))
    return float("inf") if uniform.min() == 0 else None


def _on_host(m: int, family: str, means: ArrayLike, epsilon: ArrayLike, sd: ArrayLike) -> tuple[np.ndarray, ...]:
    """T* `()`, proportions `(K,)`, and both with their derivatives in means, epsilon and sd, `(K + 2,)` behind."""
    mu = np.asarray(means, np.float64)
    at, arms = np.asarray([*mu, epsilon, sd], np.float64), mu.size
    pairs, order = _pairs(m, family, mu, float(at[-2]), float(at[-1]))
    if (edge := _edge(pairs)) is not None:
        return np.asarray(edge), np.full(arms, 1 / arms), np.zeros(arms + 2), np.zeros((arms, arms + 2))

    def pairs_of(at: np.ndarray) -> PairCosts:  # the order stays: at a tie across S there is no derivative
        mu = at[:-2]
        return PairCosts(_rewards(family, float(at[-1])), mu[order[:m]], mu[order[m:]], float(at[-2]))

    weights, slopes = np.empty(arms), np.empty((arms, arms + 2))
    weights[order], slopes[order] = allocation_and_slopes(pairs_of, at)
    time, slope = weights.sum(), slopes.sum(axis=0)
    return np.asarray(time), weights / time, slope, slopes / time - np.outer(weights, slope) / time**2


@functools.partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def _traced(m: int, family: str, means: jax.Array, epsilon: jax.Array, sd: jax.Array) -> tuple[jax.Array, jax.Array]:
    time, weights, *_ = _called(m, family, means, epsilon, sd)
    return time, weights


@_traced.defjvp
def _traced_jvp(
    m: int, family: str, primals: tuple[jax.Array, ...], tangents: tuple[jax.Array, ...]
) -> tuple[tuple[jax.Array, jax.Array], tuple[jax.Array, jax.Array]]:
    time, weights, of_time, of_weights = _called(m, family, *primals)
    direction = jnp.concatenate([tangents[0], tangents[1][None], tangents[2][None]])
    return (time, weights), (of_time @ direction, of_weights @ direction)


def _called(m: int, family: str, means: jax.Array, epsilon: jax.Array, sd: jax.Array) -> tuple[jax.Array, ...]:
    """`_on_host`, from the device."""
    arms, dtype = means.shape[0], means.dtype
    shapes = tuple(jax.ShapeDtypeStruct(shape, dtype) for shape in [(), (arms,), (arms + 2,), (arms, arms + 2)])

    def host(*arguments: np.ndarray) -> tuple[np.ndarray, ...]:
        return tuple(np.asarray(x, dtype) for x in _on_host(m, family, *arguments))

    found: tuple[jax.Array, ...] = jax.pure_callback(host, shapes, means, epsilon, sd, vmap_method="sequential")
    return found


def pulls_lower_bound(
    means: ArrayLike,
    delta: ArrayLike,
    m: int = 1,
    epsilon: ArrayLike = 0.0,
    family: Literal["bernoulli", "gaussian"] = "bernoulli",
    sd: ArrayLike = 1.0,
) -> jax.Array:
    """T* kl(delta, 1 - delta): expected pulls below which no delta-correct algorithm gets on this instance.

    For which algorithms, and when only as delta tends to 0, `characteristic_time` says. From delta = 1/2 on it is 0.

    Args:
        means: arm means, shape `(K,)`.
        delta: probability of error, in (0, 1), shape `(…)`.
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
    return jnp.where(as_float(delta) < 0.5, times(binary_relative_entropy(delta), as_float(time)), 0.0)
