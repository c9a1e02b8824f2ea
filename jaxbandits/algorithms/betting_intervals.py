"""Intervals of the arms' means by betting or by Serfling's bounds, for rules that decide by confidence intervals.

A rule has a field `radius`, which is one of `RADII`. With `hoeffding` it has the intervals of its paper. The others
need rewards in [0, b], and see them one at a time.

* `empirical-bernstein` and `betting` are confidence sequences (`jaxbandits/statistics/betting.py`). Each of K arms has
  the level ln(2 K / delta), so each side of its interval ever fails with probability at most delta / (2 K).
* `serfling` and `bernstein-serfling` are for finite populations (`jaxbandits/statistics/serfling_radii.py`). Their
  bounds hold at one number of items. Of C cells each has the level ln(2 C / delta): a union over all arms and all
  numbers of items.

All intervals then hold at all times with probability at least 1 - delta, for every way of sampling. So each is cut to
those before it.

Where arms are finite populations (`arms.cells`), all of them know it. Bets are against the conditional mean of the next
item. The items that were not read lie in [0, b], which bounds the mean, too. Once all items have been read the interval
is the mean, whatever it was before. Two equal means are then 0 apart, and a rule ends where U_l - L_h <= epsilon.
"""

from typing import Any, NamedTuple, TypeAlias, TypeVar

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
from jaxbandits.statistics.serfling_radii import BernsteinSerfling, HoeffdingSerfling

__all__ = [
    "OF_POPULATIONS",
    "RADII",
    "Intervals",
    "are_apart",
    "bounds_of",
    "first_intervals",
    "first_sequences",
    "level_of",
    "next_intervals",
    "next_sequences",
    "with_bounded_rewards",
]

A = TypeVar("A", bound=Any)
T = TypeVar("T")

_SEQUENCES: dict[str, Any] = {
    "empirical-bernstein": PlugInBernstein,
    "betting": HedgedCapital,
    "serfling": HoeffdingSerfling,
    "bernstein-serfling": BernsteinSerfling,
}
#: The intervals of a rule: of its paper, or others.
RADII = ("hoeffding", *_SEQUENCES)
#: Those that are for finite populations only.
OF_POPULATIONS = ("serfling", "bernstein-serfling")


Sequence: TypeAlias = BettingSequence | HoeffdingSerfling
#: Pulls, sum of rewards and number of items of arms; None in place of the last, where arms are no finite populations.
_Seen: TypeAlias = tuple[jax.Array, jax.Array, jax.Array | None]


class Intervals(NamedTuple):
    """What is kept of each arm, and what follows from it."""

    sequences: Sequence  # (K, …)
    lower: jax.Array  # float32 (K,), in units of rewards
    upper: jax.Array  # float32 (K,)


def level_of(arms: Arms, delta: Numeric, radius: str = "betting") -> jax.Array:
    """Return ln(2 K / delta), or ln(2 C / delta) where a radius holds at one number of items; float32 `()`."""
    if radius not in OF_POPULATIONS:
        return jnp.log(2.0 * arms.count) - log_of(delta)
    assert arms.cells is not None
    return jnp.log(2.0 * jnp.sum(arms.cells)) - log_of(delta)


def are_apart(arms: Arms, distance: jax.Array, epsilon: Numeric) -> jax.Array:
    """Return whether U_l - L_h is below epsilon, or, where intervals may be points, at most epsilon."""
    return distance < epsilon if arms.cells is None else distance <= epsilon


def first_sequences(radius: str, arms: Arms, b: jax.Array, level: jax.Array) -> Sequence:
    """Return the sequences after one pull of every arm.

    Args:
        radius: one of `RADII` but the first.
        arms: what is known of the arms.
        b: float32 `()`, the largest reward.
        level: float32 `()`, the level of the bets.
    """
    reward = arms.total / b
    found: Sequence = _SEQUENCES[radius].start(reward.shape).after(reward, arms.pulls, reward, level, arms.cells)
    return found


def next_sequences(
    sequences: Sequence, arms: Arms, arm: jax.Array, reward: jax.Array, b: jax.Array, level: jax.Array
) -> Sequence:
    """Return the sequences after one more reward of an arm, `()` each; `arms` include it. Others as before."""
    return _put(sequences, arm, _after(_of_arm(sequences, arm), arms, arm, reward, b, level))


def first_intervals(radius: str, arms: Arms, b: jax.Array, delta: Numeric) -> Intervals:
    """Return the intervals after one pull of every arm."""
    level = level_of(arms, delta, radius)
    sequences = first_sequences(radius, arms, b, level)
    return Intervals(sequences, *bounds_of(sequences, _seen(arms), b, level))


def next_intervals(
    radius: str, before: Intervals, arms: Arms, arm: jax.Array, reward: jax.Array, b: jax.Array, delta: Numeric
) -> Intervals:
    """Return the intervals after one more reward of an arm, or of each of several, int32 and float32 `()` or `(P,)`."""
    level, new = level_of(arms, delta, radius), before
    for slot in np.ndindex(arm.shape):
        old = _of_arm(new, arm[slot])
        sequence = _after(old.sequences, arms, arm[slot], reward[slot], b, level)
        sequence = sequence.narrowed(*sequence.bounds(level))
        own = bounds_of(sequence, _of_arm(_seen(arms), arm[slot]), b, level, (old.lower, old.upper))
        new = _put(new, arm[slot], Intervals(sequence, *own))
    return new


def bounds_of(
    sequences: Sequence, seen: _Seen, b: jax.Array, level: jax.Array, before: tuple[jax.Array, jax.Array] | None = None
) -> tuple[jax.Array, jax.Array]:
    """Return the ends of intervals, in units of rewards, cut to those before; means once all items have been read."""
    (pulls, total, cells), (lower, upper) = seen, sequences.bounds(level)
    lower, upper = b * lower, b * upper
    if before is not None:
        lower, upper = jnp.maximum(before[0], lower), jnp.minimum(before[1], upper)
    if cells is None:
        return lower, upper
    mean, unread, least = total / pulls, jnp.maximum(cells - pulls, 0), total / cells
    lower = jnp.where(unread == 0, mean, jnp.maximum(lower, least))
    return lower, jnp.where(unread == 0, mean, jnp.minimum(upper, least + b * (unread / cells)))


def with_bounded_rewards(algorithm: A, problem: Problem) -> A:
    """Check that all rewards of a problem lie in [0, b], and set b if the algorithm has none.

    Raises:
        UsageError: they are not known to lie there; or intervals for finite populations, on another problem.
    """
    name, radius = type(algorithm).__name__, algorithm.given("radius")
    if radius in OF_POPULATIONS and not problem.finite:
        raise UsageError(
            f"{name}: radius={radius} is for score matrices, whose items are read once each, and {problem.name} is "
            "none: use radius=betting"
        )
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
    sequence: Sequence, arms: Arms, arm: jax.Array, reward: jax.Array, b: jax.Array, level: jax.Array
) -> Sequence:
    """Return the sequence of one arm after a reward."""
    number, total, cells = _of_arm(_seen(arms), arm)
    after: Sequence = materialize(type(sequence).after, sequence, reward / b, number, total / b, level, cells)  # type: ignore[assignment]
    return after


def _seen(arms: Arms) -> _Seen:
    return arms.pulls, arms.total, arms.cells


def _of_arm(every: T, arm: jax.Array) -> T:
    """Return the entries of one arm."""
    found: T = jax.tree.map(lambda leaf: leaf.at[arm].get(mode="promise_in_bounds"), every)
    return found


def _put(every: T, arm: jax.Array, one: T) -> T:
    """Return the arrays with other entries of one arm."""
    found: T = jax.tree.map(lambda leaf, new: leaf.at[arm].set(new, mode="promise_in_bounds"), every, one)
    return found
