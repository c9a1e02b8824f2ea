"""SHAdaVar, Sequential Halving with unknown variances: Lalitha, Kalantari, Ma, Deoras, Kveton (2023), UAI.

"Fixed-budget best-arm identification with heterogeneous reward variances".
"""

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.elimination.halving_stages import HalvingStages, Stage
from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Arms, algorithm
from jaxbandits.algorithms.traits import Traits

__all__ = ["SHAdaVar"]


@algorithm
class SHAdaVar(HalvingStages):
    """SHVar with variances that are overestimated from the rewards of the stage.

    In a stage each arm is first pulled until N > 4 log(1/level) + 1. After that the arm with the largest U / N is
    pulled, U = S^2 / (1 - 2 sqrt(log(1/level) / (N - 1))), with the unbiased variance S^2. For normal rewards, U is
    below the variance with probability at most `level`, since (N - 1) S^2 / s^2 is below N - 1 - 2 sqrt((N - 1) x) with
    probability at most exp(-x) (Laurent, Massart 2000). If a stage has fewer pulls than that, they are equally many of
    each arm. It follows a description, and was not checked against the paper.

    Attributes:
        budget: number of pulls n, at least 2 K ceil(log2 K).
        level: probability with which a variance may be underestimated, in (0, 1).

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> ds = jb.simulate(jb.SHAdaVar(budget=100), jb.gaussian([0.9, 0.2], sd=[0.2, 0.8]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    level: Numeric = parameter("probability", default=0.05)
    second_moments = True
    traits = Traits(setting="fixed budget, one arm, by variances", source="Lalitha et al. 2023", anytime=False)

    def wanted(self, stage: Stage, arms: Arms) -> jax.Array:
        """Return U / N; arms with few pulls in the stage come first, the arm pulled least before the others."""
        pulls, log_level = (arms.pulls - stage.pulls).astype(jnp.float32), -jnp.log(self.level)
        room = 1 - 2 * jnp.sqrt(log_level / jnp.maximum(pulls - 1, 1))
        assert stage.spread is not None
        unbiased = stage.spread.variance * pulls / jnp.maximum(pulls - 1, 1)
        upper = unbiased / jnp.where(room > 0, room, 1)
        enough = pulls > 4 * log_level + 1
        fewest = jnp.min(jnp.where(stage.alive, pulls, jnp.inf))
        return jnp.where(enough, upper / jnp.maximum(pulls, 1), jnp.where(pulls > fewest, -jnp.inf, jnp.inf))
