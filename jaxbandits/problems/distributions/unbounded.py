"""Rewards that are neither bounded nor sub-Gaussian, but have the moments that the theory requires."""

import abc
import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.problems.base import Problem
from jaxbandits.users_code.cache_key import code_of

__all__ = ["Unbounded"]


class Unbounded(Problem):
    """Arms with known p-th moments and no range: bounds by Hoeffding's inequality need one given."""

    has_moments = True

    bounded = False

    @property
    def reward_range(self) -> jax.Array:
        """Return NaN: there is no range."""
        return jnp.full(self.mean.shape[1:], jnp.nan, jnp.float32)

    def moments(self, p: float, *, central: bool) -> np.ndarray:
        """Return E|X|^p of each arm, or E|X - mean|^p, float64 `(K,)`; infinite where there is none.

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
    def _moment(cls, p: float, central: bool, mean: float, *parameters: Any) -> float:
        """Return a moment of one arm, below its tail index."""


@functools.lru_cache(maxsize=4096)
def _moment(
    law: type[Unbounded], code: str | None, p: float, central: bool, mean: float, parameters: tuple[float, ...]
) -> float:
    # Cached: an integral takes milliseconds, and a sweep requests the same one in every cell.
    del code  # a part of the key: the user may have changed the law
    return law._moment(p, central, mean, *parameters)
