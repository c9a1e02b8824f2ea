"""A race on differences: candidates are compared on the same items, and leave when another one is surely better.

Maron, Moore (1997), "The racing algorithm", Artificial Intelligence Review 11, section on blocking, and Birattari,
Stuetzle, Paquete, Varrentrapp (2002), "A racing algorithm for configuring metaheuristics", GECCO, for races on the same
items; Waudby-Smith, Ramdas (2020), "Confidence sequences for sampling without replacement", NeurIPS, for the intervals.
"""

from typing import NamedTuple, Self

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.betting_intervals import are_apart, bounds_of, with_bounded_rewards
from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Arms, Rule, algorithm
from jaxbandits.algorithms.traits import Traits
from jaxbandits.arrays.probabilities import log_of
from jaxbandits.compilers.xla_cpu import materialize
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem
from jaxbandits.statistics.betting import PlugInBernstein

__all__ = ["PairedRace"]


class _State(NamedTuple):
    number: jax.Array  # int32 (): items that every active arm has been pulled for
    active: jax.Array  # bool (K,)
    sequences: PlugInBernstein  # (K, K): of (1 + X_j - X_i) / 2, with X_i first
    lower: jax.Array  # float32 (K, K): the ends of their intervals
    upper: jax.Array


@algorithm
class PairedRace(Rule):
    """A race on the differences of rewards: in each round every active arm is pulled, on a score matrix for one item.

    For arms i and j, (1 + (X_j - X_i) / b) / 2 lies in [0, 1]. An empirical Bernstein confidence sequence
    (`jaxbandits/statistics/betting.py`) bounds its mean, and so mu_j - mu_i. Arm i leaves when that is above 0 for an
    active arm j. The race ends when no active arm may be better than the best-looking one by epsilon or more.

    It errs only if one of the differences from the best arm leaves its interval. These are K - 1 differences with two
    sides each, so the level is ln(2 (K - 1) / delta), and the answer is epsilon-optimal with probability at least
    1 - delta. On a score matrix the intervals know that each item is read once.

    A difference varies little where candidates agree on most items, even if the scores vary much. Then this race needs
    far fewer pulls than one with an interval for each arm. With rewards that are independent a difference varies more
    than a reward, and it needs more.

    Attributes:
        epsilon: accuracy, not negative.
        delta: allowed probability of error, in (0, 1).
        b: the largest reward; None takes the problem's.

    Raises:
        UsageError: a value outside its range, rewards that are not known to lie in [0, b], or a score matrix in which
            scores are missing.

    Example:
        >>> scores = jb.problems.synthetic_scores(items=100, candidates=4)
        >>> ds = jb.simulate(jb.PairedRace(epsilon=0.1, delta=0.1), jb.matrix(scores), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    epsilon: Numeric = parameter("not negative")
    delta: Numeric = parameter("error probability")
    b: Numeric = parameter("positive", default=None)
    initial_pulls = 0
    traits = Traits(
        setting="fixed confidence, ε, one arm; races on differences of scores of the same items",
        source="Maron, Moore 1997; Waudby-Smith, Ramdas 2020, 2024",
        tolerance="epsilon",
    )

    @property
    def bets(self) -> bool:
        """Whether its intervals are by betting: they are."""
        return True

    def resolved(self, problem: Problem) -> Self:
        """Fill in the largest reward.

        Raises:
            UsageError: rewards that are not known to lie in [0, b], or missing scores.
        """
        if getattr(problem, "gaps", False):
            raise UsageError(
                f"PairedRace compares candidates on the same items, and scores are missing in {problem.name}: drop "
                "those items, or use BettingRace"
            )
        return with_bounded_rewards(super().resolved(problem), problem)

    def check_suitable(self, problem: Problem, m: float) -> None:
        """Check also that the arms have something in common.

        Raises:
            UsageError: they are independent.
        """
        super().check_suitable(problem, m)
        if not problem.finite and problem.correlation <= 1:
            raise UsageError("is for arms that are pulled on the same items")

    def init(self, arms: Arms, key: jax.Array) -> _State:
        """Return the state before the first pull."""
        del key
        pairs = (len(arms), len(arms))
        everyone = jnp.ones(len(arms), bool)
        return _State(jnp.int32(0), everyone, PlugInBernstein.start(pairs), jnp.zeros(pairs), jnp.ones(pairs))

    def request(self, state: _State, arms: Arms, key: jax.Array) -> jax.Array:
        """Return one pull of every active arm."""
        del arms, key
        return state.active.astype(jnp.int32)

    def absorb(self, state: _State, arms: Arms, counts: jax.Array, sums: jax.Array) -> _State:
        """Return the state after a round, without the arms that are worse than another one."""
        del counts
        b, number = self.range_of(arms), state.number + 1
        level = jnp.log(2.0 * (arms.count - 1)) - log_of(self.delta)
        cells = None if arms.cells is None else arms.cells[:, None]
        reward = (1 + (sums - sums[:, None]) / b) / 2
        total = (number + (arms.total - arms.total[:, None]) / b) / 2
        sequences = materialize(PlugInBernstein.after, state.sequences, reward, number, total, level, cells)
        lower, upper = bounds_of(sequences, (number, total, cells), jnp.float32(1), level, (state.lower, state.upper))
        worse = jnp.any(state.active & (lower > 0.5), axis=1)
        return _State(number, state.active & ~worse, sequences, lower, upper)

    def done(self, state: _State, arms: Arms) -> jax.Array:
        """Return whether no active arm may be better than the best-looking one by epsilon or more."""
        leader = _leader(state, arms)
        better = 2 * state.upper[leader] - 1
        others = state.active & (jnp.arange(len(arms)) != leader)
        b = self.range_of(arms)
        apart = are_apart(arms, b * jnp.max(jnp.where(others, better, -1)), self.epsilon)
        read = False if arms.cells is None else state.number >= jnp.max(arms.cells)
        return (state.number > 0) & (apart | read | ~jnp.any(others))

    def recommend(self, state: _State, arms: Arms) -> jax.Array:
        """Return the active arm with the largest mean."""
        return _leader(state, arms)


def _leader(state: _State, arms: Arms) -> jax.Array:
    """Return the active arm with the largest mean, also where a subclass answers otherwise."""
    return jnp.argmax(jnp.where(state.active, arms.mean, -jnp.inf))
