"""How many more pulls a session needs: runs from its state, with the estimated means for the true ones."""

import dataclasses
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxbandits.arrays.numerics import NO_LIMIT
from jaxbandits.bounded_jit import recent_programs
from jaxbandits.engine.lanes import COMPILER_OPTIONS
from jaxbandits.engine.mapped_algorithm import MappedAlgorithm
from jaxbandits.engine.rule_states import RunState
from jaxbandits.problems.base import Problem, register_problem
from jaxbandits.problems.distributions.bernoulli_and_normal import Bernoulli, Gaussian
from jaxbandits.problems.distributions.exponential_arms import Exponential
from jaxbandits.problems.distributions.poisson_arms import Poisson
from jaxbandits.random.streams import run_key
from jaxbandits.random.threefry import key_words
from jaxbandits.users_code.cache_key import Code, code_of

__all__ = ["RemainingPulls", "estimated_problem", "simulate_rest"]


class RemainingPulls(NamedTuple):
    """Numbers of further pulls in simulated runs.

    Attributes:
        mean: their mean; infinite if a run was truncated.
        low: the 5% quantile.
        high: the 95% quantile; infinite if more runs than that were truncated.
        truncated: the share of runs that did not end within the limit.
    """

    mean: float
    low: float
    high: float
    truncated: float


@register_problem
@dataclasses.dataclass(frozen=True)
class _ZeroOrB(Bernoulli):
    """Rewards 0 or b, as floats: of all rewards in [0, b] with these means, those that vary most."""

    largest: jax.Array = dataclasses.field(kw_only=True)  # float32 (K, …)
    parameters: ClassVar[tuple[str, ...]] = ("probability", "largest")
    integer_rewards = False
    integer_sums = False
    bound_law = ("bernoulli", 1.0)
    second_word_free = True

    @property
    def reward_range(self) -> jax.Array:
        """Return b."""
        return self.largest[0]

    def sums(self, key: jax.Array, batch: jax.Array, count: jax.Array, pulled: jax.Array) -> jax.Array:
        """Draw b times binomial sums."""
        return self.largest * super().sums(key, batch, count, pulled)

    @classmethod
    def sample(  # type: ignore[override]  # of a law with one more parameter
        cls, words: tuple[jax.Array, jax.Array], probability: jax.Array, largest: jax.Array
    ) -> jax.Array:
        """Draw 0 or b."""
        return largest * Bernoulli.sample(words, probability).astype(jnp.float32)


def estimated_problem(law: str, means: np.ndarray, sd: np.ndarray) -> Problem:
    """Return arms of a law (`validation.law_of`) with these means.

    Args:
        law: rewards are 0 or b for `bernoulli`, and normal unless it names another family.
        means: `(K,)`.
        sd: standard deviations of normal rewards, `(K,)`; b/2 for `bernoulli`.
    """
    mean, spread = jnp.asarray(means, jnp.float32), jnp.asarray(sd, jnp.float32)
    if law == "bernoulli":
        return _ZeroOrB(mean / (2 * spread), largest=2 * spread)
    if law == "poisson":
        return Poisson(mean)
    return Exponential(mean) if law == "exponential" else Gaussian(mean, spread)


def simulate_rest(
    runs: MappedAlgorithm, state: RunState, problem: Problem, key: jax.Array, *, seeds: int, most: int
) -> RemainingPulls:
    """Continue `seeds` runs from one state to their end, and summarise their pulls.

    Args:
        runs: the mapped rule.
        state: the state of one run.
        problem: leaves `(K,)`.
        key: the session's typed key `()`.
        seeds: the number of runs.
        most: the largest number of further pulls of a run.
    """
    limit = min(int(state.time) + most, NO_LIMIT)
    more, done = jax.device_get(
        _further(runs, state, problem, key, np.int32(limit), seeds=seeds, code=code_of(runs, problem))
    )
    pulls = np.where(done, more, np.inf)
    low, high = np.quantile(pulls, [0.05, 0.95], method="higher")
    return RemainingPulls(float(np.mean(pulls)), float(low), float(high), float(np.mean(~done)))


@recent_programs(4, "seeds", "code", compiler_options=COMPILER_OPTIONS)
def _further(
    runs: MappedAlgorithm, state: RunState, problem: Problem, key: jax.Array, limit: jax.Array, *, seeds: int,
    code: Code,
) -> tuple[jax.Array, jax.Array]:  # fmt: skip
    """Return the further pulls of each run, int32 `(R,)`, and which have ended, bool `(R,)`."""

    def of_runs(leaf: jax.Array) -> jax.Array:
        leaf = jnp.asarray(leaf)
        return jnp.broadcast_to(leaf[..., None], (*leaf.shape, seeds))

    def live(state: RunState) -> jax.Array:
        stopped = algorithm.done(state) | algorithm.exhausted(state) | algorithm.stalled(state)
        return ~stopped & ~algorithm.at_limit(state, limit)

    def after(state: RunState) -> RunState:
        return algorithm.advance(arms, keys, state, live(state), limit)

    with code.traced():
        keys, before = run_key(key, jnp.arange(seeds)), state.time
        algorithm, state, arms = jax.tree.map(of_runs, (runs, state, problem))
        state = dataclasses.replace(state, words=key_words(keys))
        last = lax.while_loop(lambda state: jnp.any(live(state)), after, state)
        return last.time - before, algorithm.done(last)
