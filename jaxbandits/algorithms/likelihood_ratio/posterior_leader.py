"""Top-two rules whose leader is the best arm of a posterior draw.

Russo (2016), "Simple Bayesian algorithms for best arm identification", COLT.
"""

import dataclasses

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.likelihood_ratio.top_two_pulls import TopTwo
from jaxbandits.algorithms.protocol import Arms
from jaxbandits.random.threefry import block
from jaxbandits.statistics.posteriors import posterior_draws

__all__ = ["PosteriorLeader", "words_of"]


@dataclasses.dataclass(frozen=True)
class PosteriorLeader(TopTwo):
    """A rule that draws means from their posterior (`jaxbandits.statistics.posteriors`)."""

    def drawn(
        self, arms: Arms, key: jax.Array, attempt: jax.Array | int, tilted: tuple[jax.Array, jax.Array] | None = None
    ) -> jax.Array:
        """Return a draw of all means, float32 `(K,)`; `tilted` as for `posterior_draws`."""
        return posterior_draws(self.family_word, words_of(key, arms, attempt), arms, self.width(arms), tilted)

    def width(self, arms: Arms) -> jax.Array:
        """Return the range of the rewards if their posterior needs it, else 1."""
        return self.range_of(arms) if self.family_word in ("bernoulli", "gaussian") else jnp.float32(1)


def words_of(key: jax.Array, arms: Arms, attempt: jax.Array | int, first: int = 0) -> tuple[jax.Array, jax.Array]:
    """Return two words of every arm under a key, uint32 `(K,)` each; an arm's counter is its number and `first`."""
    number = jnp.arange(len(arms), dtype=jnp.uint32) + jnp.uint32(first)
    return block(key, number, jnp.asarray(attempt).astype(jnp.uint32), rolled=True)
