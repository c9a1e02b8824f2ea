"""T3C: a top-two rule led by a posterior draw.

Shang, de Heide, Kaufmann, Ménard, Valko (2020), "Fixed-confidence guarantees for Bayesian best-arm identification",
AISTATS.
"""

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.likelihood_ratio.posterior_leader import PosteriorLeader
from jaxbandits.algorithms.likelihood_ratio.top_two_pulls import toss_share
from jaxbandits.algorithms.protocol import Arms, algorithm
from jaxbandits.algorithms.told_arms import OwnState
from jaxbandits.algorithms.traits import Traits

__all__ = ["T3C"]


@algorithm
class T3C(PosteriorLeader):
    """T3C: the best arm of a posterior draw leads; the challenger is the arm hardest to distinguish from it.

    The challenger minimises the statistic of the empirical means against the leader, which is 0 for arms with a larger
    mean. The leader is pulled with the probability `share` (Shang et al. 2020).
    Priors: `jaxbandits.statistics.posteriors`.

    Attributes:
        delta: as for `UniformGLR`, as are epsilon, threshold, family, b and stopping.
        share: share of the leader, in (0, 1), or `ids`: N_C / (N_B + N_C) for normal rewards.

    Raises:
        UsageError: a value outside its range, a threshold that is proved for another family.

    Example:
        >>> ds = jb.simulate(jb.T3C(delta=0.1), jb.bernoulli([0.9, 0.4]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    traits = Traits(
        setting="fixed confidence, ε, one arm; top two: the best arm of a posterior draw and its closest rival",
        source="Shang, de Heide, Kaufmann, Ménard, Valko 2020",
        tolerance="epsilon",
        stops_by=("delta",),
        relative_cost=50,
    )

    def select(self, state: OwnState, arms: Arms, key: jax.Array) -> jax.Array:
        """Return the leader or the challenger, at random."""
        del state
        draw, toss = jax.random.split(key)
        leader = jnp.argmax(self.drawn(arms, draw, 0))
        near = self.against(arms, leader, self.epsilon)
        challenger = jnp.argmin(near.cost)
        return jnp.where(toss_share(toss, self.leaders_share(near, challenger)), leader, challenger)
