"""Track-and-Stop: pulls in the proportions that would identify the best-looking arm soonest.

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

_PROJECTIONS = 6  # steps of Newton's method on a piecewise linear, convex function: each puts an arm at the floor


@algorithm
class TrackAndStop(Tracked):
    """Track-and-Stop: keeps the numbers of pulls near t w*, w* being optimal for the empirical means.

    The expected pulls are T* log(1/delta) for small delta, like the lower bound (Theorems 1 and 14). A few rounds of
    Newton's method find w*; they start from the result of the last pull.

    * `d`, D-tracking: an arm pulled least while it has fewer than sqrt(t) - K/2 pulls, else argmax t w*_a - N_a.
    * `c`, C-tracking: argmax of the sum over s <= t of w^(e_s)_a - N_a. Here w^e is the point nearest to w*, in the
      maximum norm, with entries of at least e, and e_s = (K^2 + s)^(-1/2) / 2. The sum begins with the one pull of
      every arm.

    With epsilon, w* belongs to the epsilon-best answer that looks best (Garivier and Kaufmann 2021).

    Attributes:
        delta: as for `UniformGLR`, as are epsilon, threshold, family, b and stopping.
        lazy: a cheaper rule than the paper's: compute w* again only when the pulls have grown by a 64th.
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

    @property
    def takes_counts(self) -> bool:
        """Whether a run may start from counts: C-tracking would need the proportions since the first pull."""
        return self.tracking == "d" and super().takes_counts

    def init(self, arms: Arms, key: jax.Array) -> Weighed:
        """Return the state after the first pulls; in C-tracking the sum of proportions starts with these pulls."""
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
            # A difference of nearby floats is exact, so the low part of the sum is added afterwards.
            return jnp.argmax((state.asked.high - arms.pulls) + state.asked.low)
        fewest, forced = least_pulled(arms)
        return jnp.where(forced, fewest, jnp.argmax(arms.time * state.weights - arms.pulls))

    def _added(self, state: Weighed, arms: Arms, asked: CompensatedSum) -> Weighed:
        """Return the state with w^e added to the sums."""
        return state._replace(asked=asked.plus(self._at_least(state.weights, arms)))

    def _at_least(self, weights: jax.Array, arms: Arms) -> jax.Array:
        """Return w^e: entries below the floor are raised to it; all others are reduced equally, down to the floor."""
        count = arms.count.astype(jnp.float32)
        floor = 0.5 / jnp.sqrt(count * count + arms.time)
        given = jnp.zeros_like(floor)
        for _ in range(_PROJECTIONS):
            excess = jnp.sum(jnp.maximum(weights - given, floor)) - 1
            number = jnp.maximum(jnp.sum(weights - given > floor), 1)
            given = given + jnp.maximum(excess, 0.0) / number
        return jnp.maximum(weights - given, floor)
