"""Sequential Halving pull by pull: stages with any allocation of their pulls, judged by the rewards of the stage alone.

Karnin, Koren, Somekh (2013), "Almost optimal exploration in multi-armed bandits", ICML, has stages of equal pulls. The
rules here differ in the arm of a stage that is pulled, and in what follows the last stage.
"""

import abc
import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxbandits.algorithms.largest_arms import are_largest
from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Arms, Rule
from jaxbandits.errors import UsageError
from jaxbandits.statistics.arm_statistics import LARGEST_SQUARE

__all__ = ["HalvingStages", "Spread", "Stage", "check_first_phase", "stages_of"]


class Spread(NamedTuple):
    """Mean and variance of a stage's rewards of each arm, by Welford (1962).

    Differences between sums since the first pull would lose the first rewards of a late stage: sums are float32.
    """

    mean: jax.Array  # float32 (K,)
    variance: jax.Array  # float32 (K,): squared deviations over their number

    def plus(self, number: jax.Array, arm: jax.Array, reward: jax.Array) -> "Spread":
        """Return the moments with one more reward of an arm; `number` counts those of the stage, from 1 on."""
        off = reward - self.mean[arm]
        mean = self.mean[arm] + off / number
        square = jnp.minimum(off * (reward - mean), LARGEST_SQUARE)
        variance = self.variance[arm] + (square - self.variance[arm]) / number
        return Spread(self.mean.at[arm].set(mean), self.variance.at[arm].set(variance))


class Stage(NamedTuple):
    """A stage, with what was known of each arm at its beginning."""

    alive: jax.Array  # bool (K,): the arms that are pulled
    end: jax.Array  # int32 (): the number of pulls, of all arms, at its end
    pulls: jax.Array  # int32 (K,)
    total: jax.Array  # int32 or float32 (K,): sums of rewards
    spread: Spread | None  # of the stage's rewards; None where no variances are needed
    budget: jax.Array  # int32 (): the pulls of all stages of this halving
    answer: jax.Array  # int32 (): the arm that the last completed halving returned; -1 before


@dataclasses.dataclass(frozen=True)
class HalvingStages(Rule):
    """Pulls the arms of a stage, and keeps the better half; a subclass has the allocation of a stage's pulls."""

    budget: Numeric = parameter("count")

    def check(self, arms_per_bandit: int, bandits: int) -> None:
        """Check also that the budget covers the first pulls of all arms in the first stage."""
        super().check(arms_per_bandit, bandits)
        stages, least = (arms_per_bandit - 1).bit_length(), arms_per_bandit * self.initial_pulls
        if isinstance(self.budget, int | float) and self.budget < least * stages:
            raise UsageError(
                f"{type(self).__name__}: the budget must cover {least} first pulls of {arms_per_bandit} arms in the "
                f"first of {stages} stages: at least {least * stages}, got {self.budget:g}"
            )

    @abc.abstractmethod
    def wanted(self, stage: Stage, arms: Arms) -> jax.Array:
        """Return how much each arm should be pulled next, float32 `(K,)`; the alive arm with the largest value is."""

    def first_budget(self, arms: Arms) -> jax.Array:
        """Return the pulls of all stages of the first halving, int32 `()`."""
        del arms
        return jnp.int32(self.budget)

    def length(self, budget: jax.Array, alive: jax.Array, arms: Arms) -> jax.Array:
        """Return the pulls of a stage, int32 `()`: an equal part of the budget."""
        del alive
        return budget // stages_of(arms)

    def init(self, arms: Arms, key: jax.Array) -> Stage:
        """Return the first stage, which has the first pulls already."""
        del key
        budget, alive = self.first_budget(arms), arms.pulls > 0
        nothing, none = jnp.zeros_like(arms.pulls), jnp.zeros_like(arms.total)
        spread = None if arms.squares is None else Spread(arms.mean, arms.squares / jnp.maximum(arms.pulls, 1))
        first = Stage(alive, jnp.int32(0), nothing, none, spread, budget, jnp.int32(-1))
        return self._following(first._replace(end=self.length(budget, alive, arms)), arms)

    def update(self, stage: Stage, arms: Arms, arm: jax.Array, reward: jax.Array) -> Stage:
        """Return the stage, or the next one after its last pull."""
        if stage.spread is not None:
            number = (arms.pulls - stage.pulls)[arm].astype(jnp.float32)
            stage = stage._replace(spread=stage.spread.plus(number, arm, reward))
        return self._following(stage, arms)

    def _following(self, stage: Stage, arms: Arms) -> Stage:
        over = arms.time >= stage.end
        return Stage(*lax.cond(over, lambda *now: tuple(self.halved(Stage(*now), arms)), lambda *now: now, *stage))

    def halved(self, stage: Stage, arms: Arms) -> Stage:
        """Return the stage of the ceil(n / 2) of n arms with the largest means."""
        left = jnp.sum(stage.alive)
        alive = are_largest(self.means(stage, arms), (left + 1) // 2, stage.alive)
        end = arms.time + self.length(stage.budget, alive, arms)
        return stage._replace(alive=alive, end=end, pulls=arms.pulls, total=arms.total)

    def means(self, stage: Stage, arms: Arms) -> jax.Array:
        """Return the mean of the stage's rewards of each arm, float32 `(K,)`; 0 without any."""
        return (arms.total - stage.total) / jnp.maximum(arms.pulls - stage.pulls, 1)

    def select(self, stage: Stage, arms: Arms, key: jax.Array) -> jax.Array:
        """Return the arm of the stage that is to be pulled most."""
        del key
        return jnp.argmax(jnp.where(stage.alive, self.wanted(stage, arms), -jnp.inf))

    def done(self, stage: Stage, arms: Arms) -> jax.Array:
        """Return whether one arm is left."""
        del arms
        return jnp.sum(stage.alive) == 1

    def recommend(self, stage: Stage, arms: Arms) -> jax.Array:
        """Return the arm that is left; before that the one with the largest mean in the stage."""
        return jnp.argmax(jnp.where(stage.alive, self.means(stage, arms), -jnp.inf))


def stages_of(arms: Arms) -> jax.Array:
    """Return ceil(log2 K), int32 `()`."""
    return 32 - lax.clz(arms.count - 1)


def check_first_phase(rule: Rule, arms: int) -> None:
    """Check that the budget of a rule gives every arm a pull in the first phase.

    Raises:
        UsageError: it does not.
    """
    phases, budget = (arms - 1).bit_length(), rule.given("budget")
    if isinstance(budget, int | float) and budget < arms * phases:
        raise UsageError(
            f"{type(rule).__name__}: the budget must give each of {arms} arms a pull in the first of "
            f"{phases} phases: at least {arms * phases}, got {budget:g}"
        )
