"""How many more pulls a session needs: runs from its state, with the estimated means for the true ones."""

import dataclasses
import time
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

#: How long a piece takes, roughly, and the fewest steps that it has.
_SECONDS, _FEWEST_STEPS = 0.25, 64


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

    The runs are made in pieces, since a program that runs cannot be interrupted.

    Args:
        runs: the mapped rule.
        state: the state of one run.
        problem: leaves `(K,)`.
        key: the session's typed key `()`.
        seeds: the number of runs.
        most: the largest number of further pulls of a run.
    """
    before = int(state.time)
    limit = np.int32(min(before + most, NO_LIMIT))
    code, steps, goes_on = code_of(runs, problem), _FEWEST_STEPS, True
    (runs, last, problem), keys = _first(runs, state, problem, key, seeds=seeds)
    while goes_on:
        start = time.monotonic()
        last, live, done = _further(runs, last, problem, keys, limit, np.int32(steps), seeds=seeds, code=code)
        goes_on = bool(live)  # waits for the piece
        steps = steps * 2 if time.monotonic() - start < _SECONDS else max(steps // 2, _FEWEST_STEPS)
    more, ended = jax.device_get((last.time, done))
    pulls = np.where(ended, more - before, np.inf)
    low, high = np.quantile(pulls, [0.05, 0.95], method="higher")
    return RemainingPulls(float(np.mean(pulls)), float(low), float(high), float(np.mean(~ended)))


def _of_runs(leaf: jax.Array, seeds: int) -> jax.Array:
    leaf = jnp.asarray(leaf)
    return jnp.broadcast_to(leaf[..., None], (*leaf.shape, seeds))


@recent_programs(4, "seeds")
def _first(
    runs: MappedAlgorithm, state: RunState, problem: Problem, key: jax.Array, *, seeds: int
) -> tuple[tuple[MappedAlgorithm, RunState, Problem], jax.Array]:
    """Return the rule, the state at its start and the problem of each run, and the runs' typed keys `(R,)`.

    This is a program of its own: where XLA sees that numbers are repeated, its simplifier may go round in circles, and
    write errors to stderr.
    """
    keys = run_key(key, jnp.arange(seeds))
    algorithm, state, arms = jax.tree.map(lambda leaf: _of_runs(leaf, seeds), (runs, state, problem))
    return (algorithm, dataclasses.replace(state, words=key_words(keys)), arms), keys


@recent_programs(4, "seeds", "code", compiler_options=COMPILER_OPTIONS)
def _further(
    runs: MappedAlgorithm, state: RunState, problem: Problem, keys: jax.Array, limit: jax.Array, steps: jax.Array, *,
    seeds: int, code: Code,
) -> tuple[RunState, jax.Array, jax.Array]:  # fmt: skip
    """Continue all runs by at most `steps` steps; the leaves of the rule and of the problem are `(…, R)`.

    Returns:
        the state of each run, whether one of them goes on, bool `()`, and which have ended, bool `(R,)`.
    """

    def after(loop: _Loop) -> _Loop:
        done = runs.done(loop.state)
        stopped = done | runs.exhausted(loop.state) | runs.stalled(loop.state)
        live = ~stopped & ~runs.at_limit(loop.state, limit)
        return _Loop(runs.advance(problem, keys, loop.state, live, limit), loop.left - 1, jnp.any(live), done)

    with code.traced():
        start = _Loop(state, steps, jnp.bool_(True), jnp.zeros(seeds, bool))
        last = lax.while_loop(lambda loop: loop.goes_on & (loop.left > 0), after, start)
        return last.state, last.goes_on, last.done


class _Loop(NamedTuple):
    """What the steps of a piece change; the flags are those before the last step."""

    state: RunState
    left: jax.Array  # int32 (): steps of the piece
    goes_on: jax.Array  # bool (): whether a run had not ended
    done: jax.Array  # bool (R,)
