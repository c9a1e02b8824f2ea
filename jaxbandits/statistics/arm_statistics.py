"""Statistics of an algorithm's arms: counts, sums that stay right for 10^9 pulls, means and variances.

Counts are integers, and so are sums of integer rewards. Other sums are compensated, since a plain float32 sum of ones
stops at 2^24.
"""

import dataclasses
from typing import NamedTuple, Self

import jax
import jax.numpy as jnp

from jaxbandits.arrays import arms
from jaxbandits.arrays.compensated_sums import CompensatedSum, Sums, sums_of
from jaxbandits.arrays.numerics import MAX_COUNT, fast_max, fast_min, no_fma
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.arrays.uint64 import UInt64
from jaxbandits.compilers.xla_cpu import materialize

__all__ = ["LARGEST_MEAN", "LARGEST_SQUARE", "ArmStatistics", "Moments", "unbiased_variance", "variance_by_pulls"]

#: Limit on the size of stored means: sums and differences of them are then finite.
LARGEST_MEAN = 2.0**100
#: Limit on a stored squared deviation, so that sums of 2^31 are finite.
LARGEST_SQUARE = 2.0**96


class Moments(NamedTuple):
    """Count, sum, mean and spread of rewards, elementwise over any shape."""

    pulls: jax.Array  # int32
    total: Sums  # int32, or compensated float32
    mean: jax.Array | None  # float32; None where rewards come in sums: nothing reads it between two sums
    inverse_root: jax.Array | None  # float32: 1/sqrt(pulls); None likewise
    squares: CompensatedSum | None  # sum of squared deviations from the mean, where variances are needed

    def plus(self, count: jax.Array, reward: jax.Array) -> "Moments":
        """Return the moments after `count` (0 or 1) more pulls of this reward; a count of 0 changes no bit."""
        pulled = count > 0
        pulls = self.pulls + count
        divisor = _divisor(pulls)
        total = self.total.plus(jnp.where(pulled, reward, 0))
        mean = fast_min(fast_max(total.high / divisor, jnp.float32(-LARGEST_MEAN)), jnp.float32(LARGEST_MEAN))
        squares = self.squares
        if squares is not None:
            assert self.mean is not None
            # Welford (1962): the product of the deviations from the old and the new mean.
            value = reward.astype(jnp.float32)
            product = no_fma((value - self.mean) * (value - mean))
            product = fast_min(fast_max(product, jnp.float32(0)), jnp.float32(LARGEST_SQUARE))
            squares = squares.plus(jnp.where(pulled, product, 0))
        return Moments(pulls=pulls, total=total, mean=mean, inverse_root=jnp.sqrt(1 / divisor), squares=squares)


@pytree
@dataclasses.dataclass(frozen=True)
class ArmStatistics:
    """Counts and moments of the rewards seen; arms first, runs last.

    The mean and 1/sqrt(pulls) are stored: a pull changes them for one arm, and every arm's are read.
    """

    moments: Moments  # leaves (K, …)
    time: jax.Array  # int32 (…): pulls of all arms together

    @classmethod
    def first(cls, reward: jax.Array, mask: jax.Array | None, *, variance: bool = False) -> Self:
        """Return the statistics after one pull of every arm.

        Args:
            reward: int32 or float32, shape `(K, …)`.
            mask: bool `(K, …)` of the arms that exist; None for all.
            variance: whether to keep squared deviations.
        """
        mean = reward.astype(jnp.float32)
        exists = jnp.ones(reward.shape, bool) if mask is None else jnp.broadcast_to(mask, reward.shape)
        pulls = exists.astype(jnp.int32)
        moments = Moments(
            pulls=pulls,
            total=sums_of(reward),
            mean=mean,
            inverse_root=jnp.ones_like(mean),
            squares=CompensatedSum.of(jnp.zeros_like(mean)) if variance else None,
        )
        return cls(moments=moments, time=arms.total(pulls))

    @classmethod
    def none(
        cls, arms: int, batch: tuple[int, ...], *, integer: bool, one_by_one: bool = False, variance: bool = False
    ) -> Self:
        """Return the statistics before the first pull of K arms in runs of a shape.

        Args:
            arms: K.
            batch: the shape.
            integer: whether sums of rewards are int32.
            one_by_one: whether they come one by one, not in sums; means are then stored, 0 before the first pull.
            variance: whether to keep squared deviations.
        """
        nothing, zero = jnp.zeros((arms, *batch), jnp.int32), jnp.zeros((arms, *batch), jnp.float32)
        moments = Moments(
            pulls=nothing,
            total=sums_of(nothing if integer else zero),
            mean=zero if one_by_one else None,
            inverse_root=jnp.ones_like(zero) if one_by_one else None,
            squares=CompensatedSum.of(zero) if variance else None,
        )
        return cls(moments=moments, time=jnp.zeros(batch, jnp.int32))

    @classmethod
    def of_counts(
        cls,
        pulls: jax.Array,
        total: jax.Array | Sums,
        squares: jax.Array | None = None,
        time: jax.Array | None = None,
    ) -> Self:
        """Return the statistics after pulls of which only counts and sums are known.

        Args:
            pulls: int32 `(K, …)`, 0 for none.
            total: sums of the rewards, int32 or float32 `(K, …)` if an array.
            squares: float32 `(K, …)`, sums of squared deviations from the mean; None where they are not kept.
            time: int32 `(…)`, pulls of all arms; None for their sum.
        """
        sums = total if isinstance(total, Sums) else sums_of(total)
        divisor = _divisor(pulls)
        moments = Moments(
            pulls=pulls,
            total=sums,
            mean=fast_min(fast_max(sums.high / divisor, jnp.float32(-LARGEST_MEAN)), jnp.float32(LARGEST_MEAN)),
            inverse_root=jnp.sqrt(1 / divisor),
            squares=None if squares is None else CompensatedSum.of(squares),
        )
        return cls(moments=moments, time=arms.total(pulls) if time is None else time)

    @property
    def pulls(self) -> jax.Array:
        """Return the pulls per arm, int32 `(K, …)`."""
        return self.moments.pulls

    @property
    def total(self) -> jax.Array:
        """Return the sum of rewards, int32 or float32 `(K, …)`."""
        return self.moments.total.value

    @property
    def mean(self) -> jax.Array:
        """Return the empirical mean, float32 `(K, …)`; 0 before the first pull."""
        mean = self.moments.mean
        return self.moments.total.high / _divisor(self.pulls) if mean is None else mean

    @property
    def inverse_root(self) -> jax.Array:
        """Return 1/sqrt(pulls), float32 `(K, …)`; 1 before the first pull."""
        inverse_root = self.moments.inverse_root
        return jnp.sqrt(1 / _divisor(self.pulls)) if inverse_root is None else inverse_root

    def add(self, arm: jax.Array, reward: jax.Array, live: jax.Array | bool = True) -> Self:
        """Return the statistics after one more pull of one arm per run.

        Args:
            arm: int32 `(…)`.
            reward: int32 or float32 `(…)`.
            live: bool `(…)`; where false nothing happened.
        """
        count = jnp.broadcast_to(live, self.time.shape).astype(jnp.int32)
        old = jax.tree.map(lambda x: arms.take(x, arm), self.moments)

        def after(arm: jax.Array, old: Moments, count: jax.Array, reward: jax.Array) -> tuple[jax.Array, Moments]:
            return arm, old.plus(count, reward)

        arm, new = materialize(after, arm, old, count, reward)
        moments = jax.tree.map(lambda x, value: arms.put(x, arm, value), self.moments, new)
        return dataclasses.replace(self, moments=moments, time=self.time + count)

    def add_each(self, reward: jax.Array, pulled: jax.Array) -> Self:
        """Return the statistics after one more pull of every arm in `pulled`.

        Args:
            reward: int32 or float32 `(K, …)`.
            pulled: bool `(K, …)`.
        """
        count = jnp.broadcast_to(pulled, self.pulls.shape).astype(jnp.int32)
        return dataclasses.replace(self, moments=self.moments.plus(count, reward), time=self.time + arms.total(count))

    def add_sums(self, total: jax.Array, count: jax.Array) -> Self:
        """Return the statistics after `count` more pulls of every arm, whose rewards add up to `total`.

        The statistics must have been made by `none`.

        Args:
            total: int32 or float32 `(K, …)`.
            count: int32 `(K, …)`; 0 changes no bit.
        """
        old = self.moments
        moments = old._replace(pulls=old.pulls + count, total=old.total.plus(jnp.where(count > 0, total, 0)))
        return dataclasses.replace(self, moments=moments, time=self.time + arms.total(count))

    def without_sums(self) -> Self:
        """Drop the sums of the rewards, where nothing reads them; one row is left, which keeps their type."""
        return dataclasses.replace(self, moments=self.moments._replace(total=sums_of(self.total[:1])))

    def add_counts(self, count: jax.Array, number: jax.Array, time: jax.Array) -> Self:
        """Return the statistics after batches whose sums are not kept: counts stop at 2^31 - 1.

        Args:
            count: int32 `(K, …)`: pulls of each arm in a batch.
            number: int32 `(…)`: of batches.
            time: int32 `(…)`: pulls of all arms after them.
        """
        more = UInt64.product(count, jnp.broadcast_to(number, count.shape)).capped()
        pulls = self.pulls + fast_min(MAX_COUNT - self.pulls, more)
        return dataclasses.replace(self, moments=self.moments._replace(pulls=pulls), time=time)

    def variance(self) -> jax.Array:
        """Return the unbiased variance, float32 `(K, …)`; needs two pulls of every arm and squared deviations."""
        assert self.moments.squares is not None
        return unbiased_variance(self.moments.squares.high, self.pulls)


def unbiased_variance(squares: jax.Array, pulls: jax.Array) -> jax.Array:
    """Return the variance of rewards from their squared deviations, float32, and their number; 0 of one reward."""
    return fast_max(squares, jnp.float32(0)) / fast_max(pulls - 1, 1).astype(jnp.float32)


def variance_by_pulls(squares: jax.Array | None, pulls: jax.Array) -> jax.Array:
    """Return squared deviations, float32, over the number of rewards: the variance of the most likely normal law."""
    assert squares is not None
    return fast_max(squares, jnp.float32(0)) / _divisor(pulls)


def _divisor(pulls: jax.Array) -> jax.Array:
    """Return pulls as float32, 1 where there are none, as of padded arms."""
    return fast_max(pulls, jnp.int32(1)).astype(jnp.float32)
