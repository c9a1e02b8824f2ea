"""Bernoulli arms whose joint pulls are dependent: one click at most, and blocks that pay together.

Sabato (2019), "Epsilon-best-arm identification in pay-per-reward multi-armed bandits", NeurIPS: a joint pull of a set
of arms is one draw of a random vector. An arm that is pulled alone is an ordinary Bernoulli arm. Where a batch asks for
different numbers of pulls, the arms are pulled together as often as the one with the fewest, and alone from then on.
"""

import abc
import dataclasses
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.typing import ArrayLike

from jaxbandits.arrays import arms
from jaxbandits.arrays.numerics import MAX_COUNT, fast_max, fast_min
from jaxbandits.checks import whole
from jaxbandits.errors import UsageError
from jaxbandits.problems.argument_checks import family_name, probabilities
from jaxbandits.problems.base import register_problem
from jaxbandits.problems.constructors import varying
from jaxbandits.problems.distributions.bernoulli_and_normal import Bernoulli
from jaxbandits.random.binomial_draws import binomial
from jaxbandits.random.streams import MOST_ARMS, batch_key

__all__ = ["Blocks", "OneClick", "blocks", "one_click"]


#: The batch, under the key of a batch, of its pulls alone; those of joint pulls are at most the number of arms.
_ALONE = MOST_ARMS


@dataclasses.dataclass(frozen=True)
class _Joint(Bernoulli):
    """Bernoulli arms whose joint pulls are dependent."""

    scored: ClassVar[tuple[str, ...]] = ()  # the density of a joint pull is not that of its arms

    @abc.abstractmethod
    def together(self, key: jax.Array, pulled: jax.Array, count: jax.Array) -> jax.Array:
        """Return sums of the rewards of joint pulls, int32 `(K, …)`.

        Args:
            key: the batch's typed key, `(…)`.
            pulled: bool `(K, …)`: the arms that are pulled together.
            count: int32 `(…)`: how often.
        """

    def sums(self, key: jax.Array, batch: jax.Array, count: jax.Array, pulled: jax.Array) -> jax.Array:
        """Return the sums of a batch: of pulls together, and of what some arms are pulled more, alone."""
        del pulled
        key, asked = batch_key(key, batch), count > 0
        least = fast_min(arms.smallest(jnp.where(asked, count, MAX_COUNT)), arms.largest(count))
        alone = jnp.where(asked, count - least, 0)
        sums = self.together(key, asked, least)
        return sums + lax.cond(
            jnp.any(alone > 0),
            lambda: binomial(batch_key(key, _ALONE), alone, jnp.broadcast_to(self.probability, alone.shape)),
            lambda: jnp.zeros_like(sums),
        )


@register_problem
@dataclasses.dataclass(frozen=True)
class OneClick(_Joint):
    """At most one arm of a joint pull pays: arm i with probability w_i, float32 `(K, …)`; their sum is at most 1.

    Example:
        >>> isinstance(jb.one_click([0.5, 0.25]), jb.problems.OneClick)
        True
    """

    written = ("one-click", "means")

    def together(self, key: jax.Array, pulled: jax.Array, count: jax.Array) -> jax.Array:
        """Draw multinomial sums by halves: the payments of even and odd arms, and so on down.

        Sets of arms and their draws do not depend on how many arms there are: those beyond have weight 0.
        """
        weights = jnp.where(pulled, self.probability, 0)
        depth = (self.arms - 1).bit_length()
        padding = ((0, 2**depth - self.arms), *((0, 0) for _ in count.shape))
        levels = [jnp.pad(weights, padding)]
        for _ in range(depth):
            half = levels[-1].shape[0] // 2
            levels.append(levels[-1][:half] + levels[-1][half:])
        # From row n on: the n sets of arms after n was doubled to its size. Set j splits into j and j + n of the next
        # level.
        sets = jnp.concatenate([jnp.zeros_like(levels[-1]), *levels[::-1]])
        half = 2 ** (depth - 1)
        paid = binomial(batch_key(key, 0), count, fast_min(levels[-1][0], 1))
        drawn = jnp.zeros(levels[0].shape, jnp.int32).at[0].set(paid)

        def split(doubled: jax.Array | int, drawn: jax.Array) -> jax.Array:
            """Split one level; arrays have one size at all levels, so that one program suffices."""
            size = jnp.left_shift(1, doubled)
            whole, first, rest = (lax.dynamic_slice_in_dim(sets, n * size, half) for n in (1, 2, 3))
            parents = jnp.where(arms.index(half, count.shape) < size, drawn[:half], 0)
            shares = [fast_min(x / fast_max(whole, jnp.float32(1e-37)), 1) for x in (first, rest)]
            left = binomial(batch_key(key, 1 + doubled), parents, *shares)
            drawn = lax.dynamic_update_slice_in_dim(drawn, left, 0, 0)
            return lax.dynamic_update_slice_in_dim(drawn, parents - left, size, 0)

        return lax.fori_loop(0, depth, split, drawn)[: self.arms]


@register_problem
@dataclasses.dataclass(frozen=True)
class Blocks(_Joint):
    """Arms in blocks of `size` neighbours that pay together in a joint pull: X_i = [U < w_i], with one U for the block.

    Within a block probabilities, float32 `(K, …)`, do not increase.

    Example:
        >>> isinstance(jb.blocks([0.2, 0.1, 0.1, 0.1], 2), jb.problems.Blocks)
        True
    """

    size: int = 1
    choices = ("size",)
    written = ("blocks", "means")

    @property
    def correlation(self) -> float:
        """Return 1 + 2 Q: each arm is correlated with Q = size - 1 others (Sabato 2019, Appendix A)."""
        return 2.0 * self.size - 1

    def together(self, key: jax.Array, pulled: jax.Array, count: jax.Array) -> jax.Array:
        """Draw binomial sums: the next arm of a block is paid in some of the pulls that paid the last one."""
        size = min(self.size, self.arms)  # a block may have more places than there are arms
        whole = -(-self.arms // size) * size
        padding = ((0, whole - self.arms), *((0, 0) for _ in count.shape))
        blocks = jnp.pad(self.probability, padding).reshape(whole // size, size, *count.shape)

        def draw(place: jax.Array | int, loop: tuple[jax.Array, jax.Array, jax.Array]) -> tuple[jax.Array, ...]:
            before, paid, sums = loop
            here = lax.dynamic_index_in_dim(blocks, place, 1, keepdims=False)
            share = fast_min(here / fast_max(before, jnp.float32(1e-37)), 1)
            paid = binomial(batch_key(key, place), paid, share)
            return here, paid, lax.dynamic_update_index_in_dim(sums, paid, place, 1)

        start = (
            jnp.ones_like(blocks[:, 0]),
            jnp.broadcast_to(count, blocks[:, 0].shape),
            jnp.zeros(blocks.shape, jnp.int32),
        )
        sums = lax.fori_loop(0, size, draw, start)[2].reshape(whole, *count.shape)[: self.arms]
        return jnp.where(pulled, sums, 0)


@varying
def one_click(means: ArrayLike, *, name: str = "") -> OneClick:
    """Return arms of which at most one pays in a joint pull.

    Args:
        means: probabilities, one per arm, with a sum of at most 1.
        name: what the problem is called in results.

    Raises:
        UsageError: fewer than two arms, a mean outside [0, 1], or a sum above 1.

    Example:
        >>> print(jb.one_click([0.5, 0.25]).mean)
        [0.5  0.25]
    """
    probability, bandits = probabilities("one-click means", means)
    if bandits > 1:
        raise UsageError("one-click means are for one bandit")
    total = float(np.sum(np.asarray(probability, np.float64)))
    if total > 1 + 1e-6:
        raise UsageError(
            f"one-click means are probabilities of different events: their sum must be at most 1, not {total:g}"
        )
    return OneClick(probability, name=name or family_name("one-click", means))


@varying
def blocks(means: ArrayLike, size: int, *, name: str = "") -> Blocks:
    """Return arms in blocks that pay together in a joint pull.

    Args:
        means: probabilities, one per arm, not increasing within a block.
        size: arms in a block, at least 1; the last block may be smaller.
        name: what the problem is called in results.

    Raises:
        UsageError: fewer than two arms, a mean outside [0, 1], a size that is not a positive whole number, or means
            that increase within a block.

    Example:
        >>> jb.blocks([0.2, 0.1, 0.1, 0.1], 2).arms
        4
    """
    probability, bandits = probabilities("means of blocks", means)
    if bandits > 1:
        raise UsageError("means of blocks are for one bandit")
    size = whole("the size of a block", size, 1, MAX_COUNT)
    values = np.asarray(probability)
    increasing = (np.diff(values) > 0) & (np.arange(1, len(values)) % size != 0)
    if increasing.any():
        arm = int(np.argmax(increasing)) + 1
        raise UsageError(
            f"means must not increase within a block: arm {arm} has {values[arm]:g} after {values[arm - 1]:g}"
        )
    return Blocks(probability, size=size, name=name or family_name("blocks", means))
