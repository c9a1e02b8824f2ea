"""CLUCB and CLUCB-PAC for top-K: combinatorial lower and upper confidence bounds, one pull a step.

Chen, Lin, King, Lyu, Chen (2014), "Combinatorial pure exploration of multi-armed bandits", NIPS 27, for sets of K arms.

The version that stops early is in the paper's appendix. Chen, Chen, Zhang, Zhou (2017) compare with it.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.largest_arms import exchange, exchanged, is_largest
from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Arms, Rule, algorithm
from jaxbandits.algorithms.traits import Traits
from jaxbandits.arrays.numerics import MAX_COUNT
from jaxbandits.arrays.probabilities import log_of

__all__ = ["CLUCB"]


class _State(NamedTuple):
    """Both sets. They are kept since a pull moves few arms across a border, which takes few passes over the arms."""

    chosen: jax.Array  # bool (K,): M_t, the k largest means
    rival: jax.Array  # bool (K,): M~_t, the k largest once the means are moved against M_t
    close: jax.Array  # bool (): w~(M~_t) - w~(M_t) <= k epsilon


@algorithm
class CLUCB(Rule):
    """Pulls the least pulled arm that is in doubt, until the most that the rival set can gain is small.

    M_t are the k largest means. Moving these down and the others up by their radii gives another k largest, M~_t. With
    epsilon = 0 the run ends when both are equally good (CLUCB). Otherwise it ends once the sum of moved means over M~_t
    exceeds the sum over M_t by at most k epsilon (CLUCB-PAC).

    The radius is b sqrt(ln(4 n t^3 / delta) / (2 T)), for rewards with range b, or (b/2)-sub-Gaussian. The aggregate
    regret is the mean of the k best means less that of the returned. It is at most epsilon with probability at least
    1 - delta (Theorem 1 and its PAC version).

    A step costs a few passes over all arms, for every k.

    Attributes:
        k: arms to return, 1 <= k < K.
        epsilon: the aggregate regret allowed, not negative.
        delta: allowed probability of error, in (0, 1).
        budget: number of pulls after which a run ends with its M_t, at least K; None for fixed confidence, as only then
            delta is proved.
        b: range of the rewards; None takes the problem's.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> ds = jb.simulate(jb.CLUCB(k=1, epsilon=0.2, delta=0.1), jb.bernoulli([0.9, 0.4]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    k: Numeric = parameter("count")
    epsilon: Numeric = parameter("not negative", default=0.01)
    delta: Numeric = parameter("error probability", default=0.01)
    budget: Numeric = parameter("count", default=None)
    b: Numeric = parameter("positive", default=None)
    traits = Traits(
        setting="fixed confidence or budget, K arms by aggregate regret; ε = 0 for the exact set",
        source="Chen, Lin, King, Lyu, Chen 2014",
        criterion="aggregate",
        answers="k",
        tolerance="epsilon",
    )

    @property
    def proved(self) -> bool:
        """Whether it runs until it is sure: no budget ends it."""
        return self.budget is None

    def init(self, arms: Arms, key: jax.Array) -> _State:
        """Return both sets after one pull of every arm."""
        del key
        chosen = is_largest(arms.mean, self.k)
        moved = self._moved(chosen, arms)
        return self._state(chosen, is_largest(moved, self.k), moved)

    def update(self, state: _State, arms: Arms, arm: jax.Array, reward: jax.Array) -> _State:
        """Return both sets after a reward; one mean has changed, so at most one arm of M_t has."""
        del arm, reward
        chosen = exchange(arms.mean, state.chosen)
        moved = self._moved(chosen, arms)
        return self._state(chosen, exchanged(moved, state.rival), moved)

    def select(self, state: _State, arms: Arms, key: jax.Array) -> jax.Array:
        """Return the arm with the largest radius among those in exactly one of the two sets."""
        del key
        return jnp.argmin(jnp.where(state.chosen ^ state.rival, arms.pulls, MAX_COUNT))

    def done(self, state: _State, arms: Arms) -> jax.Array:
        """Return whether the rival set can gain little, or the budget is spent."""
        return state.close if self.budget is None else state.close | (arms.time >= self.budget)

    def recommend(self, state: _State, arms: Arms) -> jax.Array:
        """Return M_t."""
        del arms
        return state.chosen

    def _state(self, chosen: jax.Array, rival: jax.Array, moved: jax.Array) -> _State:
        gain = jnp.sum(jnp.where(chosen ^ rival, jnp.where(rival, moved, -moved), 0))
        return _State(chosen, rival, gain <= self.epsilon * self.k)

    def _moved(self, chosen: jax.Array, arms: Arms) -> jax.Array:
        """Return w~_t: the means of M_t less the radius b sqrt(ln(4 n t^3 / delta) / (2 T)), others plus it."""
        b = self.range_of(arms)
        level = jnp.log(4 * arms.count) - log_of(self.delta) + 3 * jnp.log(arms.time)
        radius = b * jnp.sqrt(level / (2 * arms.pulls))
        return jnp.where(chosen, arms.mean - radius, arms.mean + radius)
