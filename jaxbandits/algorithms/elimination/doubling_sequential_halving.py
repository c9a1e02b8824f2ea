"""Doubling Sequential Halving, for budgets that are not known: Zhao, Stephens, Szepesvári, Jun (2023), ICML.

"Revisiting simple regret: fast rates for returning a good arm". The doubling trick for Sequential Halving is older; Jun
and Nowak (2016) compare with it.
"""

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.elimination.halving_stages import HalvingStages, Stage, stages_of
from jaxbandits.algorithms.protocol import Arms, algorithm
from jaxbandits.algorithms.traits import Traits

__all__ = ["DoublingSequentialHalving"]


@algorithm
class DoublingSequentialHalving(HalvingStages):
    """Sequential Halving with the budgets T, 2 T, 4 T, … one after another, T = K ceil(log2 K).

    Each run of Sequential Halving forgets the rewards before it, and each stage those of the stages before, as printed
    in its paper. The answer at any time is that of the last run that was completed; before the first, the arm with the
    largest mean in the stage. The sampling does not depend on the budget. It follows descriptions, and was not checked
    against the paper.

    Attributes:
        budget: number of pulls, at least K ceil(log2 K).

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> ds = jb.simulate(jb.DoublingSequentialHalving(budget=100), jb.bernoulli([0.9, 0.4]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.8)
        True
    """

    traits = Traits(setting="fixed budget, one arm, at any time", source="Zhao, Stephens, Szepesvári, Jun 2023")

    def first_budget(self, arms: Arms) -> jax.Array:
        """Return K ceil(log2 K): each arm is pulled once in the first stage."""
        return arms.count * stages_of(arms)

    def length(self, budget: jax.Array, alive: jax.Array, arms: Arms) -> jax.Array:
        """Return the pulls of a stage: floor(budget / (n ceil(log2 K))) of each of n arms."""
        left = jnp.sum(alive)
        pulls = left * (budget // (left * stages_of(arms)))
        return jnp.minimum(pulls, self.budget - arms.time + 1)  # a stage that cannot end: its end is still an int32

    def wanted(self, stage: Stage, arms: Arms) -> jax.Array:
        """Return -N: the arm with the fewest pulls in the stage is pulled."""
        return -(arms.pulls - stage.pulls).astype(jnp.float32)

    def halved(self, stage: Stage, arms: Arms) -> Stage:
        """Return the next stage; after the last one, the first stage with twice the budget."""
        following = super().halved(stage, arms)
        everyone = arms.pulls > 0
        twice = jnp.where(stage.budget > self.budget // 2, self.budget, 2 * stage.budget)
        end, answer = arms.time + self.length(twice, everyone, arms), jnp.argmax(following.alive)
        anew = following._replace(alive=everyone, end=end, budget=twice, answer=answer)
        over = jnp.sum(following.alive) == 1
        return jax.tree.map(lambda x, y: jnp.where(over, x, y), anew, following)

    def done(self, stage: Stage, arms: Arms) -> jax.Array:
        """Return whether the budget is spent."""
        del stage
        return arms.time >= self.budget

    def recommend(self, stage: Stage, arms: Arms) -> jax.Array:
        """Return the answer of the last halving that was completed; before, the arm with the largest mean."""
        return jnp.where(stage.answer < 0, super().recommend(stage, arms), stage.answer)
