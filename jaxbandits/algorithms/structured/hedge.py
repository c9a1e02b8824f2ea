"""AdaHedge: shares of the arms that lose little against the best shares in hindsight, with no rate to choose.

De Rooij, van Erven, Grünwald, Koolen (2014), "Follow the leader if you can, hedge if you must", JMLR 15.
"""

from typing import NamedTuple, Self

import jax
import jax.numpy as jnp

__all__ = ["Hedge"]

# With a first gap above 0 the rate is finite. Public programs begin with this one.
_FIRST_GAP = 0.01


class Hedge(NamedTuple):
    """The state of AdaHedge over K arms.

    Attributes:
        regrets: float32 `(K,)`, how much less each arm has gained than the best, at least 0.
        gap: float32 `()`, the sum of the mixability gaps, positive.
    """

    regrets: jax.Array
    gap: jax.Array

    @classmethod
    def even(cls, length: int) -> Self:
        """Return the state before the first gains."""
        return cls(jnp.zeros(length, jnp.float32), jnp.float32(_FIRST_GAP))

    def shares(self, count: jax.Array) -> jax.Array:
        """Return the shares, float32 `(K,)`, which sum to 1.

        Args:
            count: int32 `()`, the number of arms, at least 2.
        """
        powers = jnp.exp(-self._rate(count) * self.regrets)
        return powers / jnp.sum(powers)

    def after(self, gains: jax.Array, count: jax.Array) -> Self:
        """Return the state after gains, float32 `(K,)`; `count` as for `shares`."""
        rate = self._rate(count)
        regrets = self.regrets - gains
        least = jnp.min(regrets)
        regrets = regrets - least
        # The loss of the mixture: the change of -log(sum of powers) / rate.
        powers, before = jnp.sum(jnp.exp(-rate * regrets)), jnp.sum(jnp.exp(-rate * self.regrets))
        mixed = least - jnp.log(powers / before) * self.gap / jnp.log(count)
        lost = -jnp.sum(self.shares(count) * gains)
        return type(self)(regrets, self.gap + jnp.maximum(lost - mixed, 0.0))

    def _rate(self, count: jax.Array) -> jax.Array:
        return jnp.log(count) / self.gap
