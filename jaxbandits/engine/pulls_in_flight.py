"""Pulls in flight: made, and their rewards are not known yet.

A rule that selects its next arm sees each of them as a pull that gave the present mean of its arm. So several pulls can
be chosen before their rewards arrive, and they spread over the arms: the mean of an arm stays, and its confidence
interval narrows. Whether the run is done, its answer, and the rule's own state know the rewards that have arrived only.
"""

import dataclasses

import jax
import jax.numpy as jnp

from jaxbandits.arrays import arms
from jaxbandits.arrays.compensated_sums import CompensatedSum, IntSum
from jaxbandits.arrays.numerics import fast_max, no_fma
from jaxbandits.statistics.arm_statistics import ArmStatistics, Moments

__all__ = ["count_pending"]


def count_pending(statistics: ArmStatistics, pending: jax.Array) -> ArmStatistics:
    """Return statistics in which each pull in flight counts as a pull that gave the present mean of its arm.

    Pulls, time and sums grow; the means and the unbiased variances stay. The mean of an arm without a reward is 0. An
    arm without a pull in flight keeps every bit, but sums of whole rewards become float32.

    Args:
        statistics: of the rewards that have arrived, leaves `(K, …)`.
        pending: int32 `(K, …)`, pulls in flight of each arm, not negative.

    Example:
        >>> import jax.numpy as jnp
        >>> told = ArmStatistics.first(jnp.array([0.25, 0.75]), None)
        >>> seen = count_pending(told, jnp.array([0, 3]))
        >>> seen.pulls.tolist(), seen.mean.tolist(), seen.total.tolist(), int(seen.time)
        ([1, 4], [0.25, 0.75], [0.25, 3.0], 5)
    """
    old, some = statistics.moments, pending > 0
    pulls = old.pulls + pending
    more = no_fma(pending.astype(jnp.float32) * statistics.mean)
    # Sums of whole rewards are floats here: rounded, they would not have the mean, and a session has floats.
    known = CompensatedSum.of(old.total.high) if isinstance(old.total, IntSum) else old.total

    def grown(x: jax.Array, value: jax.Array) -> jax.Array:
        return jnp.where(some, value, x)

    total = jax.tree.map(grown, known, known.plus(more))
    root, squares = old.inverse_root, old.squares
    if root is not None:
        root = grown(root, jnp.sqrt(1 / fast_max(pulls, jnp.int32(1)).astype(jnp.float32)))
    if squares is not None:  # as many more as leave the variance as it is
        times = _freedom(pulls) / _freedom(old.pulls)
        squares = jax.tree.map(lambda x: grown(x, x * times), squares)
    moments = Moments(pulls=pulls, total=total, mean=old.mean, inverse_root=root, squares=squares)
    return dataclasses.replace(statistics, moments=moments, time=statistics.time + arms.total(pending))


def _freedom(pulls: jax.Array) -> jax.Array:
    """Return the divisor of the squares in an unbiased variance, float32 `(K, …)`."""
    return fast_max(pulls - 1, jnp.int32(1)).astype(jnp.float32)
