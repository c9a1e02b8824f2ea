"""Arms whose rewards come from one of L components, each with its own probability."""

import abc
import dataclasses
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from jaxbandits.arrays import arms
from jaxbandits.arrays.numerics import no_fma
from jaxbandits.arrays.on_host import as_float32
from jaxbandits.checks import FINITE, each, numbers
from jaxbandits.errors import UsageError
from jaxbandits.problems.argument_checks import as_singles
from jaxbandits.problems.base import Problem
from jaxbandits.random.streams import reward_block

__all__ = ["Components", "as_chances", "in_shape"]

#: Most components: a draw looks at each of them.
_MOST = 64
#: How far the probabilities of an arm may be from a sum of 1 as they are given.
_ROUNDING = 1e-6


@dataclasses.dataclass(frozen=True)
class Components(Problem):
    """Arms with L components; a subclass says what a component's reward is.

    Attributes:
        chance: float32 `(K, L, …)`, the probability of each component.
    """

    has_moments = True

    chance: jax.Array
    parameters: ClassVar[tuple[str, ...]] = ("chance",)

    @classmethod
    @abc.abstractmethod
    def sample(cls, words: tuple[jax.Array, jax.Array], *parameters: Any) -> jax.Array:
        """Return rewards of components' parameters, each with a leading axis `(L, …)`."""

    def _drawn(self, key: jax.Array, arm: jax.Array, pull: jax.Array) -> tuple[jax.Array, tuple[jax.Array, jax.Array]]:
        words = reward_block(key, arm, pull)
        return self.sample(words, *(self._of(name, arm) for name in self.parameters)), words

    def rewards(self, key: jax.Array, pull: ArrayLike) -> jax.Array:
        """Return the rewards of one pull of every arm; shapes as in `Problem.rewards`."""
        words = reward_block(key, arms.index(self.arms, key.shape), pull, rolled=True)
        return self.sample(words, *(self.each(name) for name in self.parameters))

    def weighted(self, values: jax.Array) -> jax.Array:
        """Return the sum of one value for each component, `(K, L, …)`, times the probabilities, `(K, …)`."""
        terms = no_fma(jnp.asarray(self.chance) * values)
        total = terms[:, 0]
        for one in range(1, terms.shape[1]):
            total = total + terms[:, one]
        return total

    def each(self, name: str) -> jax.Array:
        """Return a parameter with its components first, `(L, K, …)`."""
        return jnp.moveaxis(jnp.asarray(getattr(self, name)), 1, 0)

    def _of(self, name: str, arm: jax.Array) -> jax.Array:
        """Return a parameter of one arm per run, `(L, …)`."""
        table = jnp.asarray(getattr(self, name))
        flat = table.reshape(table.shape[0] * table.shape[1], *table.shape[2:])
        first = arm * table.shape[1]
        return jnp.stack([arms.take(flat, first + one) for one in range(table.shape[1])])


def as_chances(what: str, values: ArrayLike) -> jax.Array:
    """Return probabilities given by a user, `(K, L)`, as float32.

    Raises:
        UsageError: another shape, fewer than two arms, no components or too many, a number outside [0, 1], or a row
            that does not add up to 1 within 1e-6.
    """
    array = numbers(what, values)
    if array.ndim != 2 or array.shape[0] < 2 or not 1 <= array.shape[1] <= _MOST:
        raise UsageError(
            f"{what} must have a row for each of two arms or more, with 1 to {_MOST} entries, got shape {array.shape}"
        )
    each(what, array, FINITE)
    for arm, row in enumerate(array):
        if row.min() < 0 or abs(row.sum() - 1) > _ROUNDING:
            raise UsageError(f"{what} of arm {arm} must be at least 0 and add up to 1, got {row.tolist()}")
    return as_float32(as_singles(what, array / array.sum(axis=1, keepdims=True)))


def in_shape(what: str, values: ArrayLike, chance: jax.Array) -> np.ndarray:
    """Return numbers of each component, `(L,)` for all arms or `(K, L)`, as float64 `(K, L)`.

    Raises:
        UsageError: another shape, or a number that is not finite or that float32 cannot hold.
    """
    array = numbers(what, values)
    each(what, array, FINITE)
    try:
        array = np.array(np.broadcast_to(array, chance.shape))
    except ValueError:
        shape = " x ".join(map(str, chance.shape))
        raise UsageError(f"{what} must be {chance.shape[1]} numbers, or {shape}, got shape {array.shape}") from None
    as_singles(what, array)
    return array
