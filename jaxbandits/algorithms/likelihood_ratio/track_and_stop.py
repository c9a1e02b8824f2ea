"""Track-and-Stop: pulls in the proportions that would tell the best-looking arm soonest.

Garivier, Kaufmann (2016), "Optimal best arm identification with fixed confidence", COLT.
"""

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.likelihood_ratio.optimal_tracking import Tracked, Weighed, least_pulled
from jaxbandits.algorithms.parameters import parameter
from jaxbandits.algorithms.protocol import Arms, algorithm
from jaxbandits.algorithms.traits import Traits
from jaxbandits.arrays.compensated_sums import CompensatedSum

__all__ = ["TrackAndStop"]

# Newton's method on a piecewise linear, convex function: each step puts at least one more arm at the floor.
_PROJECTIONS = 6


@algorithm
class TrackAndStop(Tracked):
    """Track-and-Stop: keeps the numbers of pulls near t w*, w* being optimal for the empirical means.

    The expected pulls are T* log(1/delta) for small delta, as the lower bound has it (Theorems 1 and 14). w* is found
    in a few rounds of Newton's method that start where they ended at the last pull.

    * `d`, D-tracking: an arm pulled least while it has fewer than sqrt(t) - K/2 pulls, else argmax t w*_a - N_a;
    * `c`, C-tracking: argmax of the sum over s <= t of w^(e_s)_a - N_a, where w^e is the nearest point to w* in the
      largest coordinate with entries of at least e, and e_s = (K^2 + s)^(-1/2) / 2. The sum begins with the one
      pull of every arm.

    With epsilon, w* is that of the epsilon-best answer which looks best (Garivier and Kaufmann 2021).

    Attributes:
        delta: as for `GLRStopped`, as are epsilon, threshold, family, b and stopping.
        lazy: not the paper's rule but a cheaper one: w* is computed again when the pulls have grown by a 64th.
        tracking: `d` or `c`.

    Raises:
        UsageError: a value outside its range, a threshold that is proved for another family.

    Example:
        >>> ds = jb.simulate(jb.TrackAndStop(delta=0.1), jb.bernoulli([0.9, 0.4]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    tracking: str = parameter(default="d", static=True, choices=("c", "d"))
    traits = Traits(
        setting="fixed confidence, ε, one arm; optimal proportions, tracked at every pull or, `lazy`, now and then",
        variants=({}, {"threshold": "heuristic"}),
        source="Garivier, Kaufmann 2016",
        tolerance="epsilon",
        stops_by=("delta",),
        relative_cost=50,
    )

    def init(self, arms: Arms, key: jax.Array) -> Weighed:
        """Return the state after the first pulls, in C-tracking with the sum of proportions that these have kept to."""
        state = super().init(arms, key)
        return state if self.tracking == "d" else self._added(state, arms, CompensatedSum.of(jnp.ones_like(arms.mean)))

    def update(self, state: Weighed, arms: Arms, arm: jax.Array, reward: jax.Array) -> Weighed:
        """Return the state after a reward, with w*."""
        new = super().update(state, arms, arm, reward)
        return new if state.asked is None else self._added(new, arms, state.asked)

    def select(self, state: Weighed, arms: Arms, key: jax.Array) -> jax.Array:
        """Return the arm that is furthest behind."""
        del key
        if state.asked is not None:
            # The difference of like numbers is exact: what the sum's high part has lost comes after it.
            return jnp.argmax((state.asked.high - arms.pulls) + state.asked.low)
        fewest, forced = least_pulled(arms)
        return jnp.where(forced, fewest, jnp.argmax(arms.time * state.weights - arms.pulls))

    def _added(self, state: Weighed, arms: Arms, asked: CompensatedSum) -> Weighed:
        """Return the state with w^e added to the sums."""
        return state._replace(asked=asked.plus(self._at_least(state.weights, arms)))

    def _at_least(self, weights: jax.Array, arms: Arms) -> jax.Array:
        """Return w^e: the floor raises some arms, and the others give the same each, but for those that it stops."""
        count = arms.count.astype(jnp.float32)
        floor = 0.5 / jnp.sqrt(count * count + arms.time)
        given = jnp.zeros_like(floor)
        for _ in range(_PROJECTIONS):
            excess = jnp.sum(jnp.maximum(weights - given, floor)) - 1
            number = jnp.maximum(jnp.sum(weights - given > floor), 1)
            given = given + jnp.maximum(excess, 0.0) / number
        return jnp.maximum(weights - given, floor)
