"""Top-two Thompson sampling: leader and challenger are the best arms of two posterior draws.

Russo (2016), "Simple Bayesian algorithms for best arm identification", COLT.
"""

import jax
import jax.numpy as jnp
from jax import lax

from jaxbandits.algorithms.likelihood_ratio.posterior_leader import PosteriorLeader, words_of
from jaxbandits.algorithms.likelihood_ratio.top_two_pulls import toss_share
from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Arms, algorithm
from jaxbandits.algorithms.told_arms import OwnState
from jaxbandits.algorithms.traits import Traits
from jaxbandits.random.threefry import open_uniform
from jaxbandits.statistics.exponential_families import FAMILIES
from jaxbandits.statistics.posterior_tilts import advantage, tilts

__all__ = ["TTTS"]

# A counter beyond the numbers of all arms: a random word that no arm's draw uses.
_RIVAL = 1 << 30
# The most attempts. One succeeds with probability about 0.4 / z, with z standard deviations between leader and rival.
_MOST = 1024


@algorithm
class TTTS(PosteriorLeader):
    """Top-two Thompson sampling: the best arm of a posterior draw leads; that of another draw is the challenger.

    Draws are repeated until another arm than the leader is best (Russo 2016). Towards the end of a run this takes
    1 / delta draws and more. After `resamplings` draws the challenger is drawn directly, from the law that further
    draws would give it (`jaxbandits.statistics.posterior_tilts`). So the limit changes the time of a step, but not the
    law, up to rounding. If 1024 attempts at this fail, the arm hardest to distinguish from the leader is taken.

    With normal rewards of unknown variances there is no direct draw. After `resamplings` draws their challenger is the
    arm hardest to distinguish from the leader, as in T3C. The law tends to this arm; runs are somewhat shorter.

    The leader is pulled with the probability `share`. Priors: `jaxbandits.statistics.posteriors`.

    Attributes:
        delta: as for `UniformGLR`, as are epsilon, threshold, family, b and stopping.
        share: share of the leader, in (0, 1), or `ids`: N_C / (N_B + N_C) for normal rewards.
        resamplings: repeated draws before the direct one, at least 1.

    Raises:
        UsageError: a value outside its range, a threshold that is proved for another family.

    Example:
        >>> jb.TTTS(delta=0.1, share="ids").share
        'ids'
    """

    resamplings: Numeric = parameter("count", default=32)
    traits = Traits(
        setting="fixed confidence, ε, one arm; top two: the best arms of two posterior draws",
        source="Russo 2016",
        tolerance="epsilon",
        stops_by=("delta",),
        relative_cost=1500,
    )

    def select(self, state: OwnState, arms: Arms, key: jax.Array) -> jax.Array:
        """Return the leader or the challenger, at random."""
        del state
        draws, rare, toss = jax.random.split(key, 3)
        leader = jnp.argmax(self.drawn(arms, draws, 0))

        def again(last: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
            attempt = last[0] + 1
            return attempt, jnp.argmax(self.drawn(arms, draws, attempt))

        def waiting(last: tuple[jax.Array, jax.Array]) -> jax.Array:
            return (last[1] == leader) & (last[0] < self.resamplings)

        _, challenger = lax.while_loop(waiting, again, (jnp.int32(0), leader))
        if self.family_word in FAMILIES:
            challenger = lax.cond(
                challenger == leader, lambda _: self.rare(arms, rare, leader), lambda other: other, challenger
            )
        near = self.against(arms, leader, self.epsilon)
        challenger = jnp.where(challenger == leader, jnp.argmin(near.cost), challenger)
        return jnp.where(toss_share(toss, self.leaders_share(near, challenger)), leader, challenger)

    def rare(self, arms: Arms, key: jax.Array, leader: jax.Array) -> jax.Array:
        """Return the best arm of a draw given that it is not the leader; the leader if none is found."""
        accept, draws = jax.random.split(key)
        tilt = tilts(self.family_word, arms, self.width(arms), leader)
        number = jnp.arange(len(arms))
        log_weight = jnp.where(number == leader, -jnp.inf, tilt.log_weight)
        possible = jnp.max(log_weight) > -jnp.inf  # false if exponential rewards are all 0

        def again(last: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
            attempt = last[0]
            # Gumbel's method: each arm has the largest sum with a probability proportional to its weight.
            level = -jnp.log(open_uniform(words_of(draws, arms, attempt, _RIVAL)[0]))
            rival = jnp.argmax(log_weight - jnp.log(jnp.maximum(level, 1e-30)))
            strength = tilt.strength[rival]
            pair = (((number == leader) | (number == rival)) & (strength > 0), tilt.mean[rival])
            drawn = self.drawn(arms, draws, attempt, pair)
            above = jnp.sum(drawn > drawn[leader])
            lost = strength * advantage(self.family_word, drawn[leader], drawn[rival])
            chance = open_uniform(jax.random.bits(jax.random.fold_in(accept, attempt)))
            accepted = jnp.log(chance) + jnp.log(jnp.maximum(above, 1)) + lost <= 0
            best = jnp.where((drawn[rival] > drawn[leader]) & accepted, jnp.argmax(drawn), leader)
            return attempt + 1, best

        def waiting(last: tuple[jax.Array, jax.Array]) -> jax.Array:
            return (last[1] == leader) & possible & (last[0] < _MOST)

        return lax.while_loop(waiting, again, (jnp.int32(0), leader))[1]
