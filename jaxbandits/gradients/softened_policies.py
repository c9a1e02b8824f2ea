"""Index policies whose selection is softened, so that their expectations have exact derivatives in their parameters.

The arm with the largest index + temperature x Gumbel noise is pulled. This is arm k with probability
softmax(index / temperature)_k (Gumbel 1954). The derivative is d E[f] / d theta = E[f S]. Here S is the sum over the
run of d log softmax(index / temperature)_arm / d theta at the pulled arms (Williams 1992). As the temperature goes to
0, the softened policy becomes the policy itself, and the variance of S grows without bound.
"""

import dataclasses
from typing import Any, NamedTuple, Self

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxbandits.algorithms.confidence_bounds.gape import GapE
from jaxbandits.algorithms.confidence_bounds.ucb_e import UCBE
from jaxbandits.algorithms.largest_arms import is_largest
from jaxbandits.algorithms.parameters import Numeric
from jaxbandits.algorithms.protocol import Arms, Rule, algorithm
from jaxbandits.algorithms.traits import Traits
from jaxbandits.arrays.static_int import StaticInt
from jaxbandits.checks import POSITIVE, number
from jaxbandits.compilers.jax_settings import own_settings
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem

__all__ = ["PolicyScore", "Softened", "softened"]

#: Parameters of an index.
_OF_INDICES = ("a", "eta", "b")


class _State(NamedTuple):
    scores: tuple[jax.Array, ...]  # float32 () each: the scores of the parameters in `Softened.scored`
    slopes: tuple[jax.Array, ...]  # float32 (K,) each: d log probability that each arm is pulled next


@algorithm
class Softened(Rule):
    """An index policy, softened at a temperature; made by `softened`.

    Attributes:
        policy: the policy.
        temperature: the temperature, in units of the index.
        scored: the parameters with a derivative: those of the index that were given.
        by_a: float32 `(P,)`, the derivative of a in each of these, where a follows from them and the problem.
    """

    policy: UCBE | GapE
    temperature: Numeric
    scored: tuple[str, ...] = dataclasses.field(metadata={"static": True})
    by_a: np.ndarray = dataclasses.field(metadata={"per_arm": False})

    @property
    def traits(self) -> Traits:  # type: ignore[override]
        """Return the traits of the policy."""
        return self.policy.traits

    @property
    def oracle(self) -> bool:
        """Return whether the policy computes a from the true gaps."""
        return self.policy.oracle

    def given(self, name: str) -> Numeric:
        """Return the value of a hyperparameter of the policy."""
        return self.policy.given(name)

    def resolved(self, problem: Problem) -> Self:
        """Return the policy with its a, and the derivatives of a in the parameters."""
        policy = self.policy.resolved(problem)
        if not self.oracle:
            return dataclasses.replace(self, policy=policy)

        def a(values: tuple[jax.Array, ...], problem: Problem) -> jax.Array:
            changes: dict[str, Any] = dict(zip(self.scored, values, strict=True))
            return jnp.asarray(dataclasses.replace(self.policy, **changes).exploration(problem), jnp.float32)

        values = tuple(jnp.float32(self.policy.given(name)) for name in self.scored)
        by_a = np.asarray(jax.jit(jax.grad(a))(values, problem), np.float32)
        return dataclasses.replace(self, policy=policy, by_a=by_a)

    def init(self, arms: Arms, key: jax.Array) -> _State:
        """Return the state after the first pulls, which are those of the policy."""
        del key
        return _State(tuple(jnp.float32(0) for _ in self.scored), self._slopes(arms))

    def select(self, state: _State, arms: Arms, key: jax.Array) -> jax.Array:
        """Return the arm with the largest sum of index and noise."""
        del state
        noise = jax.random.gumbel(key, arms.pulls.shape, jnp.float32, mode="low")
        return jnp.argmax(self._indices(arms, self._values()) + self.temperature * noise)

    def update(self, state: _State, arms: Arms, arm: jax.Array, reward: jax.Array) -> _State:
        """Return the state with the scores of the pull added."""
        del reward
        scores = tuple(score + slope[arm] for score, slope in zip(*state, strict=True))
        return _State(scores, self._slopes(arms))

    def done(self, state: _State, arms: Arms) -> jax.Array:
        """Return whether the budget is spent."""
        del state
        return arms.time >= self.policy.budget

    def recommend(self, state: _State, arms: Arms) -> jax.Array:
        """Return the policy's answer: the arm with the largest mean."""
        del state
        return is_largest(arms.per_bandit(arms.mean), StaticInt(1)).reshape(-1)

    def _values(self) -> list[jax.Array]:
        return [jnp.asarray(self.policy.given(name), jnp.float32) for name in self.scored]

    def _indices(self, arms: Arms, values: list[jax.Array]) -> jax.Array:
        """Return the indices as a function of the parameters, exact up to the first derivative."""
        changes: dict[str, Any] = dict(zip(self.scored, values, strict=True))
        moved = dataclasses.replace(self.policy, **changes)
        a = jnp.asarray(moved.a, jnp.float32)
        for place, value in enumerate(values):  # adds 0, and a derivative
            a += jnp.asarray(self.by_a)[place] * (value - lax.stop_gradient(value))
        return moved.indices(arms, a)

    def _slopes(self, arms: Arms) -> tuple[jax.Array, ...]:
        """Return the derivatives of the logarithm of each arm's probability."""
        values = self._values()

        def log_probabilities(*values: jax.Array) -> jax.Array:
            return jax.nn.log_softmax(self._indices(arms, list(values)) / self.temperature)

        units = [[jnp.float32(i == j) for j in range(len(values))] for i in range(len(values))]
        return tuple(jax.jvp(log_probabilities, values, unit)[1] for unit in units)


@own_settings("mesh")
def softened(algorithm: UCBE | GapE, temperature: float) -> Softened:
    """Return an index policy that pulls arm k with probability softmax(index / temperature)_k.

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
    if type(algorithm) not in (UCBE, GapE):  # a class made from them may have another `select`
        raise UsageError(
            f"only policies that pull the arm with the largest index can be softened: UCBE and GapE, not "
            f"{type(algorithm).__name__}"
        )
    if algorithm.given("adaptive"):
        raise UsageError(f"adaptive {type(algorithm).__name__} estimates its exploration, and cannot be softened")
    scored = tuple(name for name in _OF_INDICES if algorithm.given(name) is not None)
    nothing = np.zeros(len(scored), np.float32)
    return Softened(algorithm, number("the temperature", temperature, POSITIVE), scored, nothing)


@dataclasses.dataclass(frozen=True)
class PolicyScore:
    """The metric that is one of a run's scores; two of the same place are equal, so that they share a program."""

    place: int

    def __call__(self, problem: Problem, state: Arms, recommended: jax.Array) -> jax.Array:
        """Return the score, float32 `()`."""
        del problem, recommended
        found: jax.Array = state.own.scores[self.place]
        return found
