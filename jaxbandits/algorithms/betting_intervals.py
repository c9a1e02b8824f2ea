"""Intervals of the arms' means by betting, for rules that stop or drop arms by confidence intervals.

A rule has a field `radius`, which is one of `RADII`. With `hoeffding` it has the intervals of its paper. The other two
are confidence sequences (`jaxbandits/statistics/betting.py`): they need rewards in [0, b], and see them one at a time.

Each of K arms has the level ln(2 K / delta), so each side of its interval ever fails with probability at most
delta / (2 K). By a union bound all intervals hold at all times with probability at least 1 - delta, for every way of
sampling. The intervals of all times hold together, so each is cut to those before it.
"""

from typing import Any, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.algorithms.parameters import Numeric
from jaxbandits.algorithms.protocol import Arms
from jaxbandits.algorithms.reward_range import with_range_from_zero
from jaxbandits.arrays.probabilities import log_of
from jaxbandits.compilers.xla_cpu import materialize
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem
from jaxbandits.statistics.betting import BettingSequence, HedgedCapital, PlugInBernstein

__all__ = [
    "RADII",
    "Intervals",
    "first_intervals",
    "first_sequences",
    "level_of",
    "next_intervals",
    "next_sequences",
    "with_bounded_rewards",
]

A = TypeVar("A", bound=Any)
T = TypeVar("T")

_SEQUENCES: dict[str, type[PlugInBernstein] | type[HedgedCapital]] = {
    "empirical-bernstein": PlugInBernstein,
    "betting": HedgedCapital,
}
#: The intervals of a rule: of its paper, or by betting.
RADII = ("hoeffding", *_SEQUENCES)


class Intervals(NamedTuple):
    """What is kept of each arm, and what follows from it."""

    sequences: BettingSequence  # (K, …)
    lower: jax.Array  # float32 (K,), in units of rewards
    upper: jax.Array  # float32 (K,)


def level_of(arms: Arms, delta: Numeric) -> jax.Array:
    """Return ln(2 K / delta), float32 `()`."""
    return jnp.log(2.0 * arms.count) - log_of(delta)


def first_sequences(radius: str, arms: Arms, b: jax.Array, level: jax.Array) -> BettingSequence:
    """Return the sequences after one pull of every arm.

    Args:
        radius: one of `RADII` but the first.
        arms: what is known of the arms.
        b: float32 `()`, the largest reward.
        level: float32 `()`, the level of the bets.
    """
    reward = arms.total / b
    return _SEQUENCES[radius].start(reward.shape).after(reward, arms.pulls, reward, level)


def next_sequences(
    sequences: BettingSequence, arms: Arms, arm: jax.Array, reward: jax.Array, b: jax.Array, level: jax.Array
) -> BettingSequence:
    """Return the sequences after one more reward of an arm, `()` each; `arms` include it. Others as before."""
    return _put(sequences, arm, _after(_of_arm(sequences, arm), arms, arm, reward, b, level))


def first_intervals(radius: str, arms: Arms, b: jax.Array, delta: Numeric) -> Intervals:
    """Return the intervals after one pull of every arm."""
    level = level_of(arms, delta)
    sequences = first_sequences(radius, arms, b, level)
    lower, upper = sequences.bounds(level)
    return Intervals(sequences, b * lower, b * upper)


def next_intervals(
    before: Intervals, arms: Arms, arm: jax.Array, reward: jax.Array, b: jax.Array, delta: Numeric
) -> Intervals:
    """Return the intervals after one more reward of an arm, or of each of several, int32 and float32 `()` or `(P,)`."""
    level, new = level_of(arms, delta), before
    for slot in np.ndindex(arm.shape):
        old = _of_arm(new, arm[slot])
        sequence = _after(old.sequences, arms, arm[slot], reward[slot], b, level)
        lower, upper = sequence.bounds(level)
        sequence = sequence.narrowed(lower, upper)
        own = Intervals(sequence, jnp.maximum(old.lower, b * lower), jnp.minimum(old.upper, b * upper))
        new = _put(new, arm[slot], own)
    return new


def with_bounded_rewards(algorithm: A, problem: Problem) -> A:
    """Check that all rewards of a problem lie in [0, b], and set b if the algorithm has none.

    Raises:
        UsageError: they are not known to lie there.
    """
    name = type(algorithm).__name__
    if not problem.in_interval:
        raise UsageError(f"{name} by betting needs rewards in [0, b]; those of {problem.name} have no largest value")
    algorithm = with_range_from_zero(algorithm, problem)
    highest = problem.lowest_reward + float(np.max(np.asarray(problem.reward_range)))
    if algorithm.b is not None and np.min(np.asarray(algorithm.b)) < highest * (1 - 1e-6):
        raise UsageError(
            f"{name} by betting needs rewards in [0, b]; those of {problem.name} reach {highest:g}, and b is "
            f"{np.min(np.asarray(algorithm.b)):g}"
        )
    return algorithm


def _after(
    sequence: BettingSequence, arms: Arms, arm: jax.Array, reward: jax.Array, b: jax.Array, level: jax.Array
) -> BettingSequence:
    """Return the sequence of one arm after a reward."""
    number, total = _of_arm((arms.pulls, arms.total), arm)
    after: BettingSequence = materialize(type(sequence).after, sequence, reward / b, number, total / b, level)  # type: ignore[assignment]
    return after


def _of_arm(every: T, arm: jax.Array) -> T:
    """Return the entries of one arm."""
    found: T = jax.tree.map(lambda leaf: leaf.at[arm].get(mode="promise_in_bounds"), every)
    return found


def _put(every: T, arm: jax.Array, one: T) -> T:
    """Return the arrays with other entries of one arm."""
    found: T = jax.tree.map(lambda leaf, new: leaf.at[arm].set(new, mode="promise_in_bounds"), every, one)
    return found
