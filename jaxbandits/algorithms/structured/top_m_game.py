"""Which m means are the largest, as a question: Degenne, Koolen, Ménard (2019), NeurIPS 32."""

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.largest_arms import is_largest
from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import algorithm
from jaxbandits.algorithms.structured.question import Question
from jaxbandits.algorithms.traits import Traits
from jaxbandits.arrays.static_int import StaticInt

__all__ = ["TopMGame"]


@algorithm
class TopMGame(Question):
    """Finds the m best arms, or the best one, by best responses in place of optimal proportions.

    The closest alternative moves one of the m best means and one of the others to their weighted mean. Steps cost more
    with m.

    Attributes:
        m: arms to return, 1 <= m < K.
        delta: as for `Question`, as are threshold, family and b.

    Raises:
        UsageError: a value outside its range, a threshold that is proved for another family.

    Example:
        >>> ds = jb.simulate(jb.TopMGame(delta=0.1, m=2), jb.bernoulli([0.9, 0.8, 0.2]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    m: Numeric = parameter("count", default=1, common=1)
    traits = Traits(
        setting="fixed confidence, m arms; best responses of the closest alternative",
        source="Degenne, Koolen, Ménard 2019",
        answers="m",
        stops_by=("delta",),
        relative_cost=8,
    )

    def answer(self, means: jax.Array) -> jax.Array:
        """Return the m largest means."""
        return is_largest(means, self.m)

    def closest_alternative(self, means: jax.Array, shares: jax.Array) -> jax.Array:
        """Move one of the m largest means and one of the others to the same place."""
        best, number = self.answer(means), jnp.arange(len(means))

        def against(arm: jax.Array) -> tuple[jax.Array, jax.Array]:
            """Return the least cost of one of the largest means against the others, and its alternative."""
            mean, share = means[arm], shares[arm]
            middle = (shares * means + share * mean) / (shares + share)
            costs = shares * self.divergence(means, middle) + share * self.divergence(mean, middle)
            costs = jnp.where(best, jnp.inf, costs)
            rival = jnp.argmin(costs)
            return costs[rival], jnp.where((number == arm) | (number == rival), middle[rival], means)

        if isinstance(self.m, StaticInt):
            return against(jnp.argmax(means))[1]

        def with_next(
            _: jax.Array | int, found: tuple[jax.Array, jax.Array, jax.Array]
        ) -> tuple[jax.Array, jax.Array, jax.Array]:
            """Add the next of the largest means."""
            left, least, nearest = found
            arm = jnp.argmax(jnp.where(left, means, -jnp.inf))
            cost, alternative = against(arm)
            nearest = jnp.where(cost < least, alternative, nearest)
            return left.at[arm].set(False), jnp.minimum(cost, least), nearest

        return jax.lax.fori_loop(0, jnp.asarray(self.m, jnp.int32), with_next, (best, jnp.float32(jnp.inf), means))[2]

    def tests(self, count: jax.Array) -> tuple[float, jax.Array]:
        """Return two arms, and the number of pairs of one of the m best arms and another."""
        return 2.0, self.m * (count - self.m)
