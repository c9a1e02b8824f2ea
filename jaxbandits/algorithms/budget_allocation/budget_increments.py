"""Allocate a budget in increments, in proportion to shares that are estimated before each.

Chen, Lee (2011), "Stochastic simulation optimization: an optimal computing budget allocation", World Scientific. It
follows public programs, and was not checked against the book.
"""

import abc
import dataclasses

import jax
import jax.numpy as jnp
from jax import lax

from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Arms, Rule
from jaxbandits.errors import UsageError

__all__ = ["BudgetIncrements", "shares_of", "variance_of"]

#: What lacks less than this of a whole number is one.
_WHOLE = 1e-3


@dataclasses.dataclass(frozen=True)
class BudgetIncrements(Rule):
    """Plans each increment by shares and pulls it; a subclass has the shares."""

    budget: Numeric = parameter("count")
    increment: Numeric = parameter("count", default=10)
    initial: int = parameter("count", default=5, static=True)
    second_moments = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.initial < 2:
            raise UsageError(f"{type(self).__name__}: initial must be at least 2, for a variance, got {self.initial}")

    @property
    def initial_pulls(self) -> int:
        """The pulls of every arm before the first increment."""
        return self.initial

    @abc.abstractmethod
    def shares(self, arms: Arms) -> tuple[jax.Array, jax.Array]:
        """Return the shares of the pulls up to a factor, float32 `(K,)`, and the arm that gets what rounding leaves."""

    def init(self, arms: Arms, key: jax.Array) -> jax.Array:
        """Return the first increment: how many pulls of each arm it has, int32 `(K,)`."""
        del key
        return self.planned(arms)

    def update(self, owed: jax.Array, arms: Arms, arm: jax.Array, reward: jax.Array) -> jax.Array:
        """Return the increment without the pull that was made, or the next one."""
        del reward
        owed = owed.at[arm].add(-1)
        following: jax.Array = lax.cond(jnp.max(owed) <= 0, lambda _: self.planned(arms), lambda owed: owed, owed)
        return following

    def select(self, owed: jax.Array, arms: Arms, key: jax.Array) -> jax.Array:
        """Return the arm of which most pulls are left."""
        del arms, key
        return jnp.argmax(owed)

    def done(self, owed: jax.Array, arms: Arms) -> jax.Array:
        """Return whether the budget is spent."""
        del owed
        return arms.time >= self.budget

    def planned(self, arms: Arms) -> jax.Array:
        """Return the increment after which the pulls of all arms are nearest to their shares, int32 `(K,)`.

        An arm that already has more pulls than its share gets none, and the others share the rest.
        """
        shares, rest = self.shares(arms)

        def target(behind: jax.Array) -> jax.Array:
            left = arms.time + self.increment - jnp.sum(arms.pulls, where=~behind)
            part = jnp.floor(left * (shares / jnp.sum(shares, where=behind)) + _WHOLE)
            return jnp.where(behind, part.astype(jnp.int32), arms.pulls)

        def still(behind: jax.Array) -> jax.Array:
            return behind & (target(behind) >= arms.pulls)

        behind = lax.while_loop(lambda now: jnp.any(now & ~still(now)), still, arms.pulls >= 0)
        owed = target(behind) - arms.pulls
        return owed.at[rest].add(self.increment - jnp.sum(owed))


def shares_of(distance: jax.Array, variance: jax.Array) -> jax.Array:
    """Return (s / d)^2 up to a factor, float32 `(K,)`; if distances are 0, those arms have all shares.

    Args:
        distance: d, float32 `(K,)`, not negative; infinite for an arm with share 0.
        variance: s^2, float32 `(K,)`, positive.
    """
    nearest = jnp.min(distance)
    closeness = jnp.where(distance > nearest, nearest / distance, 1.0)
    return closeness * closeness * variance


def variance_of(arms: Arms) -> jax.Array:
    """Return the variance of each arm, float32 `(K,)`, positive: of equal rewards the mean of all arms' variances."""
    pooled = jnp.sum(arms.variance) / arms.count
    return jnp.where(arms.variance > 0, arms.variance, jnp.where(pooled > 0, pooled, 1.0))
