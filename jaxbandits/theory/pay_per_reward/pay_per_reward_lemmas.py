"""Lemmas of pay-per-reward on medians of means: their error, and how many of them are large at a time.

Sabato 2019, "Epsilon-best-arm identification in pay-per-reward multi-armed bandits", NeurIPS. Arguments are `()` or
`(…)`, and so are results; all is differentiable in every number.
"""

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike

from jaxbandits.checks import AT_LEAST_ONE, NOT_NEGATIVE, POSITIVE
from jaxbandits.theory._checks import as_float, check

__all__ = [
    "ppr_large_estimates_bound",
    "ppr_median_of_means_bound",
]


def ppr_median_of_means_bound(batches: ArrayLike, size: ArrayLike, variance: ArrayLike) -> tuple[jax.Array, jax.Array]:
    """Return the radius sqrt(6 sigma^2/l) around the median of the means of q batches of l draws (Lemma 2.3).

    A batch is off by that with probability at most 1/6 (Chebyshev), and half of them with at most exp(-2q/9)
    (Hoeffding: 2q (1/2 - 1/6)^2).

    Args:
        batches: q, at least 1.
        size: l, draws in a batch, at least 1.
        variance: sigma^2, at least 0.

    Returns:
        The radius, and the probability with which the error is larger: exp(-2q/9) at most.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> bound = jb.theory.ppr_median_of_means_bound(8, 10, 0.25)
        >>> [round(float(x), 4) for x in bound]
        [0.3873, 0.169]
    """
    check("the number of batches", batches, AT_LEAST_ONE)
    check("the size of a batch", size, AT_LEAST_ONE)
    check("variances", variance, NOT_NEGATIVE)
    return jnp.sqrt(6 * as_float(variance)) / jnp.sqrt(as_float(size)), jnp.exp(-2 * as_float(batches) / 9)


def ppr_large_estimates_bound(
    batches: ArrayLike, size: ArrayLike, gamma: ArrayLike, mean: ArrayLike, variance: ArrayLike
) -> tuple[jax.Array, jax.Array]:
    """Return how many non-negative variables have a median of means of gamma mu or more (Lemma 5.7).

    At most (4/gamma)(1 + sqrt(6 sigma^2/l)/mu) have. mu and sigma^2 are mean and variance of the variables' sum,
    however they depend on each other. In 2q/3 batches or more the means add up to at most mu + sqrt(6 sigma^2/l), but
    for a probability of exp(-q/18) (Hoeffding: 2q (1/3 - 1/6)^2). A variable that counts is at gamma mu or above in q/2
    batches, so in q/6 of any 2q/3.

    Args:
        batches: q, at least 1.
        size: l, draws in a batch, at least 1.
        gamma: share of the mean, positive.
        mean: mu, positive.
        variance: sigma^2, at least 0.

    Returns:
        The number, not rounded, and the probability with which there are more: exp(-q/18) at most.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> bound = jb.theory.ppr_large_estimates_bound(8, 10, 2.0, 0.5, 0.25)
        >>> [round(float(x), 4) for x in bound]
        [3.5492, 0.6412]
    """
    check("gamma", gamma, POSITIVE)
    check("the mean", mean, POSITIVE)
    radius, _ = ppr_median_of_means_bound(batches, size, variance)
    return 4 / as_float(gamma) * (1 + radius / as_float(mean)), jnp.exp(-as_float(batches) / 18)
