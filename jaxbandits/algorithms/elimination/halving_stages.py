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
from jaxbandits.arrays.compensated_sums import CompensatedSum, Sums, sums_of
from jaxbandits.errors import UsageError

__all__ = ["HalvingStages", "Stage", "check_first_phase", "stages_of"]


class Stage(NamedTuple):
    """A stage, with the sums of its own rewards: differences of all sums would lose the digits of its first ones."""

    alive: jax.Array  # bool (K,): the arms that are pulled
    end: jax.Array  # int32 (): the number of pulls, of all arms, at its end
    pulls: jax.Array  # int32 (K,): of each arm at its beginning
    number: jax.Array  # int32 (K,): its rewards
    total: Sums  # (K,): their sums
    squares: CompensatedSum | None  # (K,): their squared deviations; None where they are not kept
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
        squares = None if arms.squares is None else CompensatedSum.of(arms.squares)
        total = sums_of(arms.total)
        first = Stage(alive, jnp.int32(0), 0 * arms.pulls, arms.pulls, total, squares, budget, jnp.int32(-1))
        return self._following(first._replace(end=self.length(budget, alive, arms)), arms)

    def update(self, stage: Stage, arms: Arms, arm: jax.Array, reward: jax.Array) -> Stage:
        """Return the stage with one more reward, or the next one after its last pull."""
        here = jnp.arange(len(arms)) == arm
        now = stage._replace(number=stage.number + here, total=stage.total.plus(jnp.where(here, reward, 0)))
        if stage.squares is not None:  # Welford (1962)
            apart = (reward - self.means(stage)) * (reward - self.means(now))
            now = now._replace(squares=stage.squares.plus(jnp.where(here, apart, 0.0)))
        return self._following(now, arms)

    def _following(self, stage: Stage, arms: Arms) -> Stage:
        over = arms.time >= stage.end
        return Stage(*lax.cond(over, lambda *now: tuple(self.halved(Stage(*now), arms)), lambda *now: now, *stage))

    def halved(self, stage: Stage, arms: Arms) -> Stage:
        """Return the stage of the ceil(n / 2) of n arms with the largest means."""
        left = jnp.sum(stage.alive)
        alive = are_largest(self.means(stage), (left + 1) // 2, stage.alive)
        end = arms.time + self.length(stage.budget, alive, arms)
        number, total, squares = jax.tree.map(jnp.zeros_like, (stage.number, stage.total, stage.squares))
        return stage._replace(alive=alive, end=end, pulls=arms.pulls, number=number, total=total, squares=squares)

    def means(self, stage: Stage) -> jax.Array:
        """Return the mean of the stage's rewards of each arm, float32 `(K,)`; 0 without any."""
        return stage.total.high / jnp.maximum(stage.number, 1)

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
        del arms
        return jnp.argmax(jnp.where(stage.alive, self.means(stage), -jnp.inf))


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
