"""Rewards that lie in no interval and are not sub-Gaussian, but have moments that the theory asks for."""

import abc
import functools
import math

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.problems.base import Problem
from jaxbandits.users_code.cache_key import code_of

__all__ = ["Unbounded"]


class Unbounded(Problem):
    """Arms that know their p-th moments, and have no range: bounds by Hoeffding's inequality need one given."""

    has_moments = True

    bounded = False

    @property
    def reward_range(self) -> jax.Array:
        """There is none: NaN."""
        return jnp.full(self.mean.shape[1:], jnp.nan, jnp.float32)

    def moments(self, p: float, *, central: bool) -> np.ndarray:
        """E|X|^p of each arm, or E|X - mean|^p, float64 `(K,)`; infinite where there is none.

        Accurate to 1e-6 while p is at most 0.95 times the tail index.
        """
        columns = [np.asarray(getattr(self, name), np.float64) for name in self.parameters]
        means, tails = np.asarray(self.mean, np.float64), self.tail_index
        laws = zip(*(column.tolist() for column in columns), strict=True)
        arms = zip(means.tolist(), tails.tolist(), laws, strict=True)
        kept = functools.partial(_moment, type(self), code_of(self).key, p, central)
        return np.asarray([kept(mean, law) if p < tail else math.inf for mean, tail, law in arms])

    @classmethod
    @abc.abstractmethod
    def _moment(cls, p: float, central: bool, mean: float, *parameters: float) -> float:
        """A moment of one arm, below its tail index."""


@functools.lru_cache(maxsize=4096)
def _moment(
    law: type[Unbounded], code: str | None, p: float, central: bool, mean: float, parameters: tuple[float, ...]
) -> float:
    # Kept: an integral takes milliseconds, and a sweep asks for the same one in every cell.
    del code  # of a user's own law
    return law._moment(p, central, mean, *parameters)
