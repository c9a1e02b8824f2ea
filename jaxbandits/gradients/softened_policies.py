"""Index policies whose selection is softened, so that their expectations have exact derivatives in their parameters.

The arm with the largest index + temperature x Gumbel noise is pulled, which is arm k with probability
softmax(index / temperature)_k (Gumbel 1954). d E[f] / d theta = E[f S], with S the sum over the run of d log
softmax(index / temperature)_arm / d theta at the arms pulled (Williams 1992). As the temperature goes to 0 it becomes
the policy itself, and the variance of S grows without bound.
"""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.confidence_bounds.gape import GapE
from jaxbandits.algorithms.confidence_bounds.ucb_e import UCBE
from jaxbandits.algorithms.largest_arms import is_largest
from jaxbandits.algorithms.traits import Traits
from jaxbandits.arrays.jax_settings import own_settings
from jaxbandits.arrays.known import Known
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.checks import POSITIVE, number
from jaxbandits.engine.rule_states import RuleState, arms_of, first_state
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem

__all__ = ["PolicyScore", "Softened", "softened"]

#: Parameters of an index.
_OF_INDICES = ("a", "eta", "b")


@pytree
@dataclasses.dataclass(frozen=True)
class SoftenedState:
    """The state of one run."""

    inner: RuleState
    scores: jax.Array  # float32 (P,): of the parameters in `Softened.scored`

    @property
    def pulls(self) -> jax.Array:
        """Pulls per arm, int32 `(K,)`."""
        return self.inner.pulls


@pytree
@dataclasses.dataclass(frozen=True)
class Softened:
    """An index policy at a temperature; `softened` makes one."""

    algorithm: UCBE | GapE
    temperature: Any

    @property
    def traits(self) -> Traits:
        """Those of the policy itself."""
        return self.algorithm.traits

    @property
    def scored(self) -> tuple[str, ...]:
        """The parameters with a derivative: those of the index that are given."""
        return tuple(name for name in _OF_INDICES if self.algorithm.given(name) is not None)

    def init(self, problem: Problem, key: jax.Array) -> SoftenedState:
        """After the first pulls, which are those of the policy itself."""
        return SoftenedState(first_state(self.algorithm, problem, key), jnp.zeros(len(self.scored), jnp.float32))

    def step(self, problem: Problem, key: jax.Array, state: SoftenedState) -> SoftenedState:
        """One pull, and what it adds to the scores."""
        inner, arms = state.inner, arms_of(state.inner)
        noise = jax.random.gumbel(jax.random.fold_in(key, arms.time), arms.pulls.shape, jnp.float32, mode="low")

        def indices(values: list[jax.Array]) -> jax.Array:
            changes: dict[str, Any] = dict(zip(self.scored, values, strict=True))
            moved = dataclasses.replace(self.algorithm, **changes)
            return moved.indices(arms, moved.exploration(problem) if moved.a is None else moved.a)

        values = [jnp.asarray(self.algorithm.given(name), jnp.float32) for name in self.scored]
        place = jnp.argmax(indices(values) + self.temperature * noise).astype(jnp.int32)

        def log_probability(values: list[jax.Array]) -> jax.Array:
            return jax.nn.log_softmax(indices(values) / self.temperature)[place]

        slopes = jnp.stack(jax.grad(log_probability)(values)) if values else state.scores
        reward = problem.reward(key, inner.arm_at(place), arms.pulls[place])
        known = inner.statistics.add(place, reward)
        return SoftenedState(dataclasses.replace(inner, statistics=known), state.scores + slopes)

    def done(self, state: SoftenedState) -> jax.Array:
        """The budget is spent."""
        return arms_of(state.inner).time >= self.algorithm.budget

    def recommend(self, state: SoftenedState) -> jax.Array:
        """The policy's answer."""
        arms = arms_of(state.inner)
        return state.inner.by_arm(is_largest(arms.per_bandit(arms.mean), Known(1)).reshape(-1))


@own_settings()
def softened(algorithm: UCBE | GapE, temperature: float) -> Softened:
    """An index policy that pulls arm k with probability softmax(index / temperature)_k.

    `jb.gradients.expected` differentiates it exactly, with respect to `a`, `eta` or `b` where these are given.

    Args:
        algorithm: `jb.UCBE` or `jb.GapE`, not adaptive.
        temperature: in units of the index, which are those of the rewards; positive.

    Raises:
        UsageError: another algorithm, one that estimates its exploration, or a temperature that is not positive.

    Example:
        >>> rule = jb.gradients.softened(jb.UCBE(budget=20, a=2.0), 0.05)
        >>> int(jb.simulate(rule, jb.bernoulli([0.9, 0.4]), seeds=10).pulls.max())
        20
    """
    if not isinstance(algorithm, UCBE | GapE):
        raise UsageError(
            f"only what pulls the arm with the largest index is softened, UCBE and GapE, not {type(algorithm).__name__}"
        )
    if algorithm.given("adaptive"):
        raise UsageError(f"{type(algorithm).__name__} with adaptive estimates its exploration, and is not softened")
    return Softened(algorithm, number("the temperature", temperature, POSITIVE))


@dataclasses.dataclass(frozen=True)
class PolicyScore:
    """The metric that is one of a run's scores. Two of the same place are equal, so that they are one program."""

    place: int

    def __call__(self, problem: Any, state: Any, recommended: Any) -> jax.Array:
        """Float32 `()`."""
        del problem, recommended
        found: jax.Array = state.scores[self.place]
        return found
