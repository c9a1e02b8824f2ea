"""AT-LUCB, "Anytime exploration for multi-armed bandits using confidence information": Jun, Nowak (2016), ICML."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.confidence_bounds.lucb_rounds import Rivals, rivals_of
from jaxbandits.algorithms.largest_arms import is_largest
from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Arms, Rule, algorithm
from jaxbandits.algorithms.traits import Traits
from jaxbandits.arrays.static_int import StaticInt

__all__ = ["ATLUCB"]

#: The most stages; deltas stay the same from there on.
_MOST_STAGES = 2**30


class _State(NamedTuple):
    round: jax.Array  # int32 (): t, 1 after the first pull of every arm
    stage: jax.Array  # int32 (): s, from 0 on
    answer: jax.Array  # bool (K,): J(t)


@algorithm
class ATLUCB(Rule):
    """LUCB without an end: where it would stop with delta_s, it goes on with the next smaller one that does not stop.

    The radii are b sqrt(log(5/4 K t^4 / delta_s) / (2 N)) with delta_s = first_delta alpha^s. The answer changes only
    where s grows, and before it grows first. So it has confidence delta_s, and not the luck of the last pulls. The
    sampling does not depend on the budget. It follows public programs, and was not checked against the paper.

    Attributes:
        budget: number of pulls, at least K; the last one is not made where one is left, since a round has two.
        m: arms to return, 1 <= m < K.
        epsilon: accuracy, not negative: LUCB would stop at U_l - L_h < epsilon.
        first_delta: delta of the first stage, in (0, 1).
        alpha: factor from stage to stage, in (0, 1).
        b: range of the rewards; None takes the problem's.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> ds = jb.simulate(jb.ATLUCB(budget=100), jb.bernoulli([0.9, 0.4]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    budget: Numeric = parameter("count")
    m: Numeric = parameter("count", default=1, common=1)
    epsilon: Numeric = parameter("not negative", default=0.0)
    first_delta: Numeric = parameter("probability", default=0.5)
    alpha: Numeric = parameter("probability", default=0.99)
    b: Numeric = parameter("positive", default=None)
    traits = Traits(
        setting="fixed budget, (ε, m), at any time", source="Jun, Nowak 2016", answers="m", tolerance="epsilon"
    )

    def init(self, arms: Arms, key: jax.Array) -> _State:
        """Return the state after one pull of every arm."""
        del key
        return self._in_stage(_State(jnp.int32(1), jnp.int32(0), arms.pulls > 0), arms)

    def update(self, state: _State, arms: Arms, arm: jax.Array, reward: jax.Array) -> _State:
        """Return the state after a round's two rewards."""
        del arm, reward
        return self._in_stage(state._replace(round=state.round + 1), arms)

    def select(self, state: _State, arms: Arms, key: jax.Array) -> jax.Array:
        """Return h and l, as LUCB does with delta_s."""
        del key
        radius = self.range_of(arms) * jnp.sqrt(self._level(state.round, arms, state.stage) / (2 * arms.pulls))
        rivals: Rivals = rivals_of(arms.mean - radius, arms.mean + radius, is_largest(arms.mean, self.m))
        return jnp.stack([rivals.h, rivals.l])

    def done(self, state: _State, arms: Arms) -> jax.Array:
        """Return whether the budget has no other round."""
        del state
        return self.budget - arms.time < 2

    def recommend(self, state: _State, arms: Arms) -> jax.Array:
        """Return J(t)."""
        del arms
        return state.answer

    def _in_stage(self, state: _State, arms: Arms) -> _State:
        """Return the first stage from s on in which LUCB does not stop, and the answer in it."""
        more = self._least_level(arms) - self._level(state.round, arms, 0)
        wanted = jnp.minimum(jnp.ceil(more / -jnp.log(self.alpha)), _MOST_STAGES).astype(jnp.int32)
        stage = jnp.maximum(wanted, state.stage)
        changes = (stage > state.stage) | (stage == 0)
        return _State(state.round, stage, jnp.where(changes, is_largest(arms.mean, self.m), state.answer))

    def _level(self, t: jax.Array, arms: Arms, stage: jax.Array | int) -> jax.Array:
        """Return log(5/4 K t^4 / delta_s), float32 `()`."""
        return jnp.log(1.25 * arms.count) + 4 * jnp.log(t) - jnp.log(self.first_delta) - stage * jnp.log(self.alpha)

    def _least_level(self, arms: Arms) -> jax.Array:
        """Return the least level with which LUCB does not stop, float32 `()`: the least of a pair h, l."""
        chosen = is_largest(arms.mean, self.m)
        mean, width, inside = arms.mean[:, None], arms.inverse_root[:, None], chosen[:, None]
        if isinstance(self.m, StaticInt) and self.m == 1:
            best = jnp.argmax(arms.mean)
            mean, width, inside = arms.mean[best], arms.inverse_root[best], jnp.bool_(True)
        roots = (mean - arms.mean + self.epsilon) / (width + arms.inverse_root)
        least = jnp.min(jnp.where(inside & ~chosen, roots, jnp.inf))
        root = least / self.range_of(arms)
        return 2 * (root * root)
