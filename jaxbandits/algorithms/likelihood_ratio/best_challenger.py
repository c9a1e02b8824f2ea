"""Best Challenger: the best-looking arm or its nearest rival, by their optimal proportions.

Garivier, Kaufmann (2016), "Optimal best arm identification with fixed confidence", COLT, section 6.
"""

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.likelihood_ratio.optimal_tracking import Tracked, Weighed, least_pulled
from jaxbandits.algorithms.protocol import Arms, algorithm
from jaxbandits.algorithms.traits import Traits

__all__ = ["BestChallenger"]


@algorithm
class BestChallenger(Tracked):
    """Pulls the best-looking arm or its nearest rival, by their shares in w*.

    The rival c is the arm with the least statistic. An arm pulled least is pulled while it has fewer than sqrt(t) - K/2
    pulls. Otherwise the best-looking arm a is pulled if N_a / (N_a + N_c) < w*_a / (w*_a + w*_c), and else the rival c.
    This is the rule of the paper's experiments (section 6).

    Attributes:
        delta: as for `UniformGLR`, as are epsilon, threshold, family, b and stopping.
        lazy: compute w* again only when the pulls have grown by a 64th, not at every pull.

    Raises:
        UsageError: a value outside its range, a threshold that is proved for another family.

    Example:
        >>> ds = jb.simulate(jb.BestChallenger(delta=0.1), jb.bernoulli([0.9, 0.4]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    traits = Traits(
        setting="fixed confidence, ε, one arm; the best-looking arm or its nearest rival",
        source="Garivier, Kaufmann 2016",
        tolerance="epsilon",
        stops_by=("delta",),
        relative_cost=40,
    )

    def select(self, state: Weighed, arms: Arms, key: jax.Array) -> jax.Array:
        """Return one of the two, or an arm pulled least."""
        del key
        standing, w, n = self.standing(arms), state.weights, arms.pulls
        a, c = standing.nearest, jnp.argmin(standing.evidence.cost)
        fewest, forced = least_pulled(arms)
        return jnp.where(forced, fewest, jnp.where(n[a] * w[c] < w[a] * n[c], a, c))
