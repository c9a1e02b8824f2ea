"""Median Elimination: a good arm with fixed confidence; every round drops half of the arms.

Even-Dar, Mannor, Mansour (2006), "Action elimination and stopping conditions for the multi-armed bandit and
reinforcement learning problems", JMLR 7, Algorithm 3.

It appeared first in their "PAC bounds for multi-armed bandit and Markov decision processes", COLT 2002.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits import theory
from jaxbandits.algorithms.largest_arms import are_largest
from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Arms, Rule, algorithm
from jaxbandits.algorithms.traits import Theorem, Traits
from jaxbandits.algorithms.uniform_sampling.joint_rounds import as_count, first_seed, one_of, tie_numbers
from jaxbandits.arrays.probabilities import log_of

__all__ = ["MedianElimination", "median_pulls", "upper_half"]


def median_pulls(epsilon: jax.Array, level: jax.Array, rounds: jax.Array) -> jax.Array:
    """Return the pulls of every arm in round l, int32 `()`: (4 / eps_l^2) ln(3 / delta_l).

    Args:
        epsilon: accuracy in units of the range of the rewards.
        level: ln(1 / delta).
        rounds: int32 `()`: l - 1, rounds so far.
    """
    epsilon_l = epsilon / 4 * jnp.exp(rounds * jnp.log(0.75))  # eps_1 = epsilon / 4, eps_(l+1) = 3/4 eps_l
    level_l = level + (rounds + 1) * jnp.log(2.0)  # delta_1 = delta / 2, delta_(l+1) = delta_l / 2
    return as_count(4 / epsilon_l**2 * (jnp.log(3.0) + level_l))


def upper_half(active: jax.Array, sums: jax.Array, ties: jax.Array) -> jax.Array:
    """Return the ceil(|S| / 2) active arms with the largest means of fresh rewards, bool `(K,)`."""
    return are_largest(sums, (jnp.sum(active) + 1) // 2, active, ties)


class _State(NamedTuple):
    active: jax.Array  # bool (K,): S_l
    round: jax.Array  # int32 (): l - 1
    leader: jax.Array  # int32 (): the active arm with the largest mean
    seed: jax.Array  # uint32 (2,): breaks ties


@algorithm
class MedianElimination(Rule):
    """Drops the lower half of the arms, round by round, until one is left (Algorithm 3).

    The arm is within epsilon of the best with probability at least 1 - delta, for rewards in [0, b]. Round l pulls
    every arm ceil((4 / eps_l^2) ln(3 / delta_l)) times and uses these rewards only. Here delta_l = delta 2^-l, and
    eps_l = (epsilon / 4) (3/4)^(l-1) in units of b. There are O(K log(1/delta) / epsilon^2) pulls in all (Theorem 10).
    A good arm stays to the last round and is pulled K^0.83 log K times. So if pulls cost their reward, the cost grows
    with the number of arms.

    Attributes:
        epsilon: accuracy, positive.
        delta: allowed probability of error, in (0, 1).
        b: range of the rewards; None takes the problem's.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> ds = jb.simulate(jb.MedianElimination(epsilon=0.2, delta=0.1), jb.bernoulli([0.9, 0.4]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    epsilon: Numeric = parameter("positive")
    delta: Numeric = parameter("error probability")
    b: Numeric = parameter("positive", default=None)
    traits = Traits(
        setting="fixed confidence, (ε, 1)",
        source="Even-Dar, Mannor, Mansour 2006",
        tolerance="epsilon",
    )
    initial_pulls = 0
    fresh_only = True
    shuffle_arms = False

    def theorem(
        self, means: np.ndarray, variances: np.ndarray, b: float, *, delta: float, epsilon: float, m: int
    ) -> Theorem | None:
        """Return its number of pulls, which depends on no reward."""
        del variances, m
        arguments = (len(means), epsilon, delta, b)
        return Theorem(theory.median_elimination_pulls, arguments, "Even-Dar et al. 2006, Algorithm 3")

    def init(self, arms: Arms, key: jax.Array) -> _State:
        """Return the state before the first pull."""
        active, seed = jnp.ones(len(arms), bool), first_seed(key)
        return _State(active, jnp.int32(0), one_of(arms.total, active, tie_numbers(seed, 0, len(arms))), seed)

    def request(self, state: _State, arms: Arms, key: jax.Array) -> jax.Array:
        """Return the round's pulls of every active arm."""
        del key
        b = self.range_of(arms)
        return jnp.where(state.active, median_pulls(self.epsilon / b, -log_of(self.delta), state.round), 0)

    def absorb(self, state: _State, arms: Arms, counts: jax.Array, sums: jax.Array) -> _State:
        """Return the state after a round, with the upper half of the arms."""
        del arms, counts
        ties = tie_numbers(state.seed, state.round, len(sums))
        active = upper_half(state.active, sums, ties)
        return _State(active, state.round + 1, one_of(sums, active, ties), state.seed)

    def done(self, state: _State, arms: Arms) -> jax.Array:
        """Return whether one arm is left."""
        del arms
        return jnp.sum(state.active) == 1

    def recommend(self, state: _State, arms: Arms) -> jax.Array:
        """Return the remaining arm; before the end, the active arm with the largest mean."""
        del arms
        return state.leader
