"""Which designs are not dominated, as a question: the Pareto set, from objectives that are measured one at a time."""

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.parameters import parameter
from jaxbandits.algorithms.protocol import algorithm
from jaxbandits.algorithms.structured.question import Question
from jaxbandits.errors import UsageError

__all__ = ["ParetoGame"]


@algorithm
class ParetoGame(Question):
    """Finds the designs that no other design beats in one objective and equals or beats in all.

    An arm is one objective of one design, and the arms of a design follow each other. With two objectives, arms 0 and 1
    are those of the first design. All objectives are to be large. The answer has all arms of the designs found.

    Closest alternatives are of two kinds. A design of the Pareto set meets another one in every objective in which it
    is better. Or a dominated design meets one that dominates it, in one objective. Of several that do, the one that
    costs most counts: less than the alternative costs. So a run may take more pulls than it must, and errs no more
    often. The rule is this package's own, for `Question`.

    The arms of a design stay together. Each run has an order of the designs and one of the objectives, drawn at random,
    and plays the game in them. So equal claims to the next pull are fair.

    Attributes:
        objectives: their number, at least 1; the number of arms is a multiple of it. With one, the best arm is sought.
        delta: as for `Question`, as are threshold, family and b.

    Raises:
        UsageError: a value outside its range, a number of arms that is no multiple, or fewer than two designs.

    Example:
        >>> designs = [[0.9, 0.1], [0.5, 0.6], [0.3, 0.2]]
        >>> ds = jb.simulate(jb.ParetoGame(delta=0.1, objectives=2), jb.gaussian(np.ravel(designs), 0.1), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    objectives: int = parameter(default=1, static=True)
    shuffle_arms = False

    def check(self, arms_per_bandit: int, bandits: int) -> None:
        """Check that the arms are those of whole designs.

        Raises:
            UsageError: as in every algorithm, or they are not.
        """
        if bandits > 1:
            raise UsageError(
                f"ParetoGame explores one bandit, the problem has {bandits}: give the objectives of all designs in one "
                "list, as np.ravel makes it of a row for each design"
            )
        super().check(arms_per_bandit, bandits)
        if self.objectives < 1 or arms_per_bandit % self.objectives or arms_per_bandit < 2 * self.objectives:
            raise UsageError(
                f"ParetoGame: {arms_per_bandit} arms are not {self.objectives} objectives of two designs or more"
            )

    def own_order(self, count: int, key: jax.Array) -> jax.Array:
        """Return the arms by a random order of the designs and one of the objectives, int32 `(K,)`."""
        of_designs, of_objectives = jax.random.split(key)
        designs = jax.random.permutation(of_designs, count // self.objectives)
        objectives = jax.random.permutation(of_objectives, self.objectives)
        return (designs[:, None] * self.objectives + objectives).ravel()

    def answer(self, means: jax.Array) -> jax.Array:
        """Return the arms of the designs that are not dominated."""
        return jnp.repeat(~jnp.any(self._dominates(self._table(means)), axis=0), self.objectives)

    def closest_alternative(self, means: jax.Array, shares: jax.Array) -> jax.Array:
        """Move the designs that meet most easily to their weighted means."""
        mean, share = self._table(means), self._table(shares)
        weight = share[:, None] + share
        middle = (share[:, None] * mean[:, None] + share * mean) / weight
        costs = share[:, None] * self.divergence(mean[:, None], middle) + share * self.divergence(mean, middle)
        ahead, dominates = mean[:, None] > mean, self._dominates(mean)
        bad, same = jnp.any(dominates, axis=0), jnp.eye(len(mean), dtype=bool)
        falls = jnp.where(bad[:, None] | same, jnp.inf, jnp.sum(jnp.where(ahead, costs, 0.0), axis=2))
        rises = jnp.where(dominates, jnp.min(costs, axis=2), -jnp.inf)  # (by whom, which)
        rival, easiest = jnp.argmax(rises, axis=0), jnp.where(bad, jnp.max(rises, axis=0), jnp.inf)
        risen = jnp.argmin(easiest)
        fallen, over = jnp.divmod(jnp.argmin(falls), len(mean))
        is_fall = jnp.min(falls) <= jnp.min(easiest)
        one, other = jnp.where(is_fall, fallen, risen), jnp.where(is_fall, over, rival[risen])
        nearest = jnp.arange(self.objectives) == jnp.argmin(costs[one, other])
        met = jnp.where(is_fall, ahead[one, other], nearest)
        moved = jnp.where(met, middle[one, other], mean[one]), jnp.where(met, middle[one, other], mean[other])
        return mean.at[one].set(moved[0]).at[other].set(moved[1]).ravel()

    def tests(self, count: jax.Array) -> tuple[float, jax.Array]:
        """Return the arms of two designs, and the number of pairs of designs."""
        designs = count / self.objectives
        return 2.0 * self.objectives, designs * (designs - 1) / 2

    def _table(self, values: jax.Array) -> jax.Array:
        """Return values of the arms with a row for each design."""
        return values.reshape(-1, self.objectives)

    def _dominates(self, mean: jax.Array) -> jax.Array:
        """Return whether the first design beats the second in one objective and equals or beats it in all."""
        return jnp.all(mean[:, None] >= mean, axis=2) & jnp.any(mean[:, None] > mean, axis=2)
