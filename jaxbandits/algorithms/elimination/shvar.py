"""SHVar, Sequential Halving with known variances: Lalitha, Kalantari, Ma, Deoras, Kveton (2023), UAI.

"Fixed-budget best-arm identification with heterogeneous reward variances".
"""

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.elimination.halving_stages import HalvingStages, Stage
from jaxbandits.algorithms.elimination.known_variances import KnownVariances
from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Arms, algorithm
from jaxbandits.algorithms.traits import Traits

__all__ = ["SHVar"]


@algorithm
class SHVar(KnownVariances, HalvingStages):
    """Sequential Halving that pulls the arm whose mean is least certain in the stage, by known variances.

    Each of ceil(log2 K) stages has floor(n / ceil(log2 K)) pulls. The arm with the largest s^2 / N is pulled, N its
    pulls in the stage: after a stage all means have nearly the same standard error. The better half by the means of the
    stage stays. It follows a description, and was not checked against the paper.

    Attributes:
        budget: number of pulls n, at least K ceil(log2 K).
        variances: s^2 of the rewards, positive, one number or one for each arm; None takes the problem's: an oracle.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> ds = jb.simulate(jb.SHVar(budget=100), jb.gaussian([0.9, 0.2], sd=[0.2, 0.8]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    variances: Numeric = parameter("positive", default=None, per_arm=True)
    traits = Traits(setting="fixed budget, one arm, known variances", source="Lalitha et al. 2023", anytime=False)

    def wanted(self, stage: Stage, arms: Arms) -> jax.Array:
        """Return s^2 / N; arms without a pull in the stage come first."""
        pulls = arms.pulls - stage.pulls
        return jnp.where(pulls > 0, self.variances / jnp.maximum(pulls, 1), jnp.inf)
