"""Top-two Thompson sampling (Russo 2016, COLT) with a fixed budget and a Beta prior of each arm."""

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.likelihood_ratio.posterior_leader import words_of
from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Arms, Rule, algorithm
from jaxbandits.algorithms.traits import Traits
from jaxbandits.random.gamma_draws import beta

__all__ = ["BetaTopTwo"]


@algorithm
class BetaTopTwo(Rule):
    """Pulls the best arm of a posterior draw, or the best arm of the first further draw in which it is another arm.

    Rewards in [0, 1] count as fractions of a success. The answer has the largest posterior mean.

    Attributes:
        budget: number of pulls, at least K.
        prior_a: a of Beta(a, b), positive: one number, or one for each arm in the problem's order.
        prior_b: b of it, in the same way.
        share: probability with which the first of the two is pulled, in (0, 1).
        resamplings: the most further draws, at least 1; if one arm is best in all, the second-best of the last counts.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> rule = jb.BetaTopTwo(budget=100, prior_a=[3.0, 1.0], prior_b=2.0)
        >>> bool(jb.simulate(rule, jb.bernoulli([0.9, 0.2]), seeds=5).correct.all())
        True
    """

    budget: Numeric = parameter("count")
    prior_a: Numeric = parameter("positive", default=1.0, per_arm=True)
    prior_b: Numeric = parameter("positive", default=1.0, per_arm=True)
    share: Numeric = parameter("probability", default=0.5)
    resamplings: Numeric = parameter("count", default=100)
    traits = Traits(
        setting="fixed budget, one arm; Beta priors of the arms", source="Russo 2016", unit_rewards=True,
        relative_cost=300,
    )  # fmt: skip

    def select(self, arms: Arms, key: jax.Array) -> jax.Array:
        """Return the first arm or the second, at random."""
        draws, toss = jax.random.split(key)
        a, b = self.prior_a + arms.total, self.prior_b + (arms.pulls - arms.total)

        def again(last: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
            return last[0] + 1, beta(words_of(draws, arms, last[0]), a, b)

        _, first = again((jnp.int32(0), a))
        leader = jnp.argmax(first)
        _, last = jax.lax.while_loop(
            lambda last: (jnp.argmax(last[1]) == leader) & (last[0] <= self.resamplings), again, (jnp.int32(1), first)
        )
        second = jnp.argmax(jnp.where(jnp.arange(len(arms)) == leader, -1.0, last))
        return jnp.where(jax.random.uniform(toss) < self.share, leader, second)

    def done(self, arms: Arms) -> jax.Array:
        """Return whether the budget is spent."""
        return arms.time >= self.budget

    def recommend(self, arms: Arms) -> jax.Array:
        """Return the arm with the largest posterior mean."""
        return jnp.argmax((self.prior_a + arms.total) / (self.prior_a + self.prior_b + arms.pulls))
