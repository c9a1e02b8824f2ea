"""FC2FB, a rule with fixed confidence for a budget: Balagopalan, Li, Zhao, Nguyen, Daitche, Nassif, Jun (2026).

"Fixed budget is no harder than fixed confidence in best-arm identification up to logarithmic factors", arXiv
2602.03972.
"""

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxbandits.algorithms.confidence_bounds.lil_ucb import LilUCB
from jaxbandits.algorithms.confidence_bounds.ugape_c import UGapEc
from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Arms, Rule, algorithm
from jaxbandits.algorithms.told_arms import OwnState
from jaxbandits.algorithms.traits import Traits
from jaxbandits.arrays.compensated_sums import Sums, sums_of
from jaxbandits.arrays.probabilities import LogProbability
from jaxbandits.arrays.static_int import StaticInt

__all__ = ["FC2FB"]


class _State(NamedTuple):
    stage: jax.Array  # int32 (): r, from 1 on; R + 1 after the last one
    pulls: jax.Array  # int32 (K,), before the stage
    total: Sums  # (K,): of the stage's rewards
    stopped: jax.Array  # bool (): the rule has stopped in this stage
    following: jax.Array  # int32 (): the arm to pull next


@algorithm
class FC2FB(Rule):
    """Starts a rule with fixed confidence in each of R stages, with ever larger deltas; returns its first answer.

    R = floor(log2(n / least)), each stage has floor(n / R) pulls, and delta_r = first_delta^(2^(R - r)) (Algorithm 3).
    There are at most n / K stages, so that each can pull every arm: the paper has n large. If the rule stops in no
    stage, the answer is the arm with the largest mean of all rewards; the paper takes any arm. Its error decreases
    exponentially in n (Theorem 3.2), if the rule stops within A log(1/delta) + C pulls with probability 1 - delta. It
    follows public programs, and was not checked against the paper.

    Attributes:
        budget: number of pulls n, at least K.
        rule: the rule with fixed confidence, `ugape-c` or `lil-ucb`.
        first_delta: delta of the last stage, in (0, 1), the root of all others.
        least: the paper's Q, which sets the number of stages.
        b: range of the rewards; None takes the problem's.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> ds = jb.simulate(jb.FC2FB(budget=400), jb.bernoulli([0.9, 0.2]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    budget: Numeric = parameter("count")
    rule: str = parameter(default="ugape-c", static=True, choices=("ugape-c", "lil-ucb"))
    first_delta: Numeric = parameter("probability", default=0.3678794)
    least: Numeric = parameter("count", default=1)
    b: Numeric = parameter("positive", default=None)
    traits = Traits(
        setting="fixed budget, one arm, by a rule with fixed confidence",
        source="Balagopalan et al. 2026",
        anytime=False,
    )

    def init(self, arms: Arms, key: jax.Array) -> _State:
        """Return the first stage, which has the first pulls already."""
        nothing, zero = jnp.zeros_like(arms.pulls), jnp.int32(0)
        first = _State(jnp.int32(1), nothing, sums_of(arms.total), arms.time < 0, zero)
        return self._following(first, arms, key)

    def update(self, state: _State, arms: Arms, arm: jax.Array, reward: jax.Array) -> _State:
        """Return the stage, or the next one, after a reward."""
        new = jax.tree.map(lambda x: x[arm], state.total).plus(reward)
        total = jax.tree.map(lambda x, value: x.at[arm].set(value), state.total, new)
        return self._following(state._replace(total=total), arms, reward)

    def select(self, state: _State, arms: Arms, key: jax.Array) -> jax.Array:
        """Return the arm that was decided on."""
        del arms, key
        return state.following

    def done(self, state: _State, arms: Arms) -> jax.Array:
        """Return whether the rule has stopped, or the last stage is over."""
        return state.stopped | (state.stage > self._stages(arms))

    def recommend(self, state: _State, arms: Arms) -> jax.Array:
        """Return the rule's answer if it has stopped, else the arm with the largest mean."""
        fresh = _since(state, arms)
        rule, own = self._begun(state, fresh, state.stage)
        return jnp.where(state.stopped, _arm_of(rule.recommend(own, fresh)), jnp.argmax(arms.mean))

    def _stages(self, arms: Arms) -> jax.Array:
        """Return R, int32 `()`."""
        stages = 31 - lax.clz(jnp.int32(self.budget) // jnp.int32(self.least))
        return jnp.maximum(jnp.minimum(stages, jnp.int32(self.budget) // arms.count), 1)

    def _following(self, state: _State, arms: Arms, key: jax.Array) -> _State:
        fresh = _since(state, arms)
        rule, own = self._begun(state, fresh, key)
        fewest = jnp.argmin(fresh.pulls)
        all_pulled = fresh.pulls[fewest] > 0
        stopped = rule.done(own, fresh) & all_pulled
        over = ~stopped & (fresh.time >= jnp.int32(self.budget) // self._stages(arms))
        pulls = jnp.where(over, arms.pulls, state.pulls)
        total = jax.tree.map(lambda x: jnp.where(over, jnp.zeros_like(x), x), state.total)
        following = jnp.where(all_pulled, rule.select(own, fresh, key), fewest)  # each arm once in each stage first
        return _State(state.stage + over, pulls, total, stopped, jnp.where(over, 0, following))

    def _begun(self, state: _State, fresh: Arms, key: jax.Array) -> tuple[UGapEc | LilUCB, OwnState]:
        """Return the rule with this stage's delta, and its state, which only depends on the stage's rewards."""
        power = jnp.left_shift(1, jnp.maximum(self._stages(fresh) - state.stage, 0))
        delta = LogProbability(power * jnp.log(self.first_delta))
        one = StaticInt(1)
        rule = LilUCB(delta=delta, b=self.b) if self.rule == "lil-ucb" else UGapEc(0.0, delta, one, b=self.b)
        return rule, rule.init(fresh, key)


def _since(state: _State, arms: Arms) -> Arms:
    """Return the observations of a stage: its own sums, since differences of float32 sums lose its first rewards."""
    pulls, total = arms.pulls - state.pulls, state.total.value
    divisor = jnp.maximum(pulls, 1)
    return dataclasses.replace(
        arms, pulls=pulls, total=total, mean=total / divisor, inverse_root=jnp.sqrt(1 / divisor), time=jnp.sum(pulls),
        cells=None,
    )  # fmt: skip


def _arm_of(answer: jax.Array) -> jax.Array:
    """Return the arm of an answer, an arm or a mask of one."""
    return jnp.argmax(answer) if answer.ndim else answer
