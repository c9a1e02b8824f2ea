"""OptMAI: K arms with small aggregate regret from a budget.

Zhou, Chen, Li (2014), "Optimal PAC multiple arm identification with applications to crowdsourcing", ICML.
"""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.algorithms.bases.batch_based import BatchBased
from jaxbandits.algorithms.bases.parameters import Numeric, parameter
from jaxbandits.algorithms.bases.top_k_rounds import TopKState
from jaxbandits.algorithms.bases.traits import Traits
from jaxbandits.arrays import arms, ranking
from jaxbandits.arrays.numerics import MAX_COUNT, exp, larger, log, rounded
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.problems.base import Problem
from jaxbandits.random.ties import order_at
from jaxbandits.statistics.arm_statistics import ArmStatistics

__all__ = ["OptMAI"]

_LOG_SHRINK = np.float32(np.log(4 / 3))


@pytree
@dataclasses.dataclass(frozen=True)
class OptMAI(BatchBased):
    """Quartile elimination while there are 4K arms or more, then accept and reject a quarter a round (Algorithm 1).

    Round r spreads beta^r (1 - beta) Q' pulls over the active arms, Q' = Q / (1 - beta^(ln n / ln(4/3))) so that about
    Q are used (section 5). Where K >= n/2 it finds the worst n - K arms (Theorem 4.5). The aggregate regret is
    O(sqrt((n/Q) (1 + ln(1/delta)/K))) with probability 1 - delta for rewards in [0, 1] (Theorem 4.3).

    An arm that is taken out is accepted if it is among the K - |T| best, tied means in a random order. Printed is "at
    least the next best mean", by which the next best arm is accepted too when it is drawn, and of two arms left either.
    The authors may have run that: their regret on few of the RTE workers is nearer to it (`top-k-published-workers`).

    Attributes:
        k: arms to return, K, 1 <= K < n.
        budget: Q, at least n; rounds are rounded to whole pulls of every arm, so a little more or less is used.
        beta: how fast budgets fall, in (0, 1); 0.8 is the paper's advice.
        reuse: whether means are over all rewards so far, as in the paper's experiments, or over the round's, whose ties
            are then broken anew.

    Raises:
        UsageError: a value outside its range.
    """

    k: Numeric = parameter("count")
    budget: Numeric = parameter("count")
    beta: Numeric = parameter("probability", default=0.8)
    reuse: bool = parameter(default=True, static=True)
    traits = Traits(
        setting="fixed budget, K arms by aggregate regret",
        source="Zhou, Chen, Li 2014",
        criterion="aggregate",
        answers="k",
        anytime=False,
        in_batches=True,
    )

    def begin(self, statistics: ArmStatistics, problem: Problem, key: jax.Array) -> TopKState:
        """The state before the first pull."""
        return self._planned(TopKState.start(statistics, problem, key))

    def _reflected(self, state: TopKState) -> tuple[jax.Array, jax.Array]:
        """Whether the worst arms are sought, bool `(…)`, and how many arms are, int32 `(…)`."""
        k, count = jnp.asarray(self.k, jnp.int32), state.arms.astype(jnp.int32)
        turned = 2 * k >= count
        return turned, jnp.where(turned, count - k, k)

    def _planned(self, state: TopKState) -> TopKState:
        """With the next round's pulls."""
        beta, log_beta = jnp.asarray(self.beta, jnp.float32), log(self.beta)
        whole = 1 - exp(rounded(log_beta * (log(state.arms) / _LOG_SHRINK)))  # Q / Q'
        share = exp(rounded(log_beta * state.round.astype(jnp.float32))) * (1 - beta) / whole
        active = larger(state.count, 1).astype(jnp.float32)
        pulls = jnp.round(share * jnp.asarray(self.budget, jnp.float32) / active)
        return dataclasses.replace(state, each=pulls.astype(jnp.int32))

    def request(self, state: TopKState) -> jax.Array:
        """The planned pulls of every active arm, int32 `(K, …)`."""
        return jnp.where(state.active, state.each, 0)

    def absorb(self, state: TopKState, count: jax.Array, sums: jax.Array, live: jax.Array | bool = True) -> TopKState:
        """The state after a round, without a quarter of the active arms."""
        live = jnp.broadcast_to(live, state.ended.shape)
        statistics = state.statistics.add_sums(sums, count)
        values = statistics.total if self.reuse else sums
        turned, wanted = self._reflected(state)
        ranked = jnp.where(turned, -values, values)
        alive, left = state.count, state.left(wanted)
        order = state.order if self.reuse else order_at(state.ties, state.round, state.order.shape[0])
        # Quartile elimination: the worst floor(|S| / 4) go.
        best = ranking.top_mask(ranked, alive - alive // 4, order, state.active)
        # Accept and reject: the ceil(|S| / 4) arms farthest from the border between the K - |T| best and the rest go.
        inside = ranking.top_mask(ranked, left, order, state.active)
        farthest = _farthest(ranked, inside, state.active & ~inside, order, (alive + 3) // 4)
        quartile = alive >= 4 * wanted
        gone = jnp.where(quartile, state.active & ~best, farthest)
        # Printed is "at least the (K - |T| + 1)-th best", which takes that arm too: its gap equals the one before's.
        taken = farthest & inside & ~quartile & live
        new = dataclasses.replace(
            state,
            statistics=statistics,
            active=state.active & ~(gone & live),
            accepted=state.accepted | taken,
            values=jnp.where(live, values, state.values),
            round=state.round + live.astype(jnp.int32),
        )
        full = new.left(wanted) <= 0
        return self._planned(dataclasses.replace(new, ended=state.ended | (live & (full | (new.count == 0)))))

    def done(self, state: TopKState) -> jax.Array:
        """K arms are accepted, or none is active."""
        return state.ended

    def recommend(self, state: TopKState) -> jax.Array:
        """The accepted arms, or all others if the worst were sought; what is missing, from the active arms' means."""
        turned, wanted = self._reflected(state)
        ranked = jnp.where(turned, -state.values, state.values)
        found = state.accepted | ranking.top_mask(ranked, state.left(wanted), state.order, state.active)
        exists = state.existing(jnp.ones_like(found), False)
        return jnp.where(turned, exists & ~found, found)


def _farthest(
    values: jax.Array, inside: jax.Array, outside: jax.Array, order: jax.Array, number: jax.Array
) -> jax.Array:
    """The arms farthest from the border between those inside and outside.

    Tied values stand in the tie order: of arms equally far from the border, those go first that are farther from it in
    that order too. Without it, as many arms would be accepted as rejected where one side of the border is a long tie.

    Args:
        values: int32 or float32 `(K, …)`.
        inside: bool `(K, …)`: the arms with the largest values, ties by the order; at least one.
        outside: bool `(K, …)`: the other arms that are looked at.
        order: int32 `(K, …)`, tie order.
        number: int32 `(…)`: how many.

    Returns:
        bool `(K, …)`.
    """
    lowest = -jnp.inf if jnp.issubdtype(values.dtype, jnp.floating) else -MAX_COUNT
    inner = arms.smallest(jnp.where(inside, values, -lowest))
    outer = arms.largest(jnp.where(outside, values, lowest))
    # Sums are counts, whose differences are counts.
    gap = jnp.where(inside, jnp.where(arms.any_arm(outside), values - outer, -lowest), inner - values)
    last = arms.largest(jnp.where(inside & (values == inner), order, -1))
    first = ranking.first_place(outside & (values == outer), order)
    behind = jnp.where(inside, first - order, order - last)
    looked_at = inside | outside
    kth = ranking.kth_largest(gap, number, looked_at)
    beyond = looked_at & (gap > kth)
    missing = number - arms.total(beyond.astype(jnp.int32))
    return beyond | ranking.top_mask(behind, missing, order, looked_at & (gap == kth))
