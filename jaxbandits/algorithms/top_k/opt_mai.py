"""OptMAI: K arms with small aggregate regret from a budget.

Zhou, Chen, Li (2014), "Optimal PAC multiple arm identification with applications to crowdsourcing", ICML.
"""

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.largest_arms import are_largest, kth_largest
from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Arms, Rule, algorithm
from jaxbandits.algorithms.top_k.top_k_rounds import Rounds, first_round, with_best
from jaxbandits.algorithms.traits import Traits
from jaxbandits.algorithms.uniform_sampling.joint_rounds import tie_numbers
from jaxbandits.arrays.numerics import MAX_COUNT

__all__ = ["OptMAI"]


@algorithm
class OptMAI(Rule):
    """Quartile elimination while there are 4K arms or more, then accept and reject a quarter a round (Algorithm 1).

    Round r spreads beta^r (1 - beta) Q' pulls over the active arms. With Q' = Q / (1 - beta^(ln n / ln(4/3))) about Q
    pulls are made (section 5). If K >= n/2 it finds the worst n - K arms (Theorem 4.5). The aggregate regret is
    O(sqrt((n/Q) (1 + ln(1/delta)/K))) with probability 1 - delta for rewards in [0, 1] (Theorem 4.3).

    A deactivated arm is accepted if it is among the K - |T| best; tied means are in a random order. The paper prints
    "at least the next best mean". By this the next best arm is accepted too when it is deactivated, and either of two
    arms left. The authors may have run that: their regret on few of the RTE workers is nearer to it
    (`top-k-published-workers`).

    Attributes:
        k: arms to return, K, 1 <= K < n.
        budget: Q, at least n, never exceeded. Rounds have whole pulls of every arm, rounded, and each arm at least one:
            with few pulls an arm the last rounds may have none left, and with many 5% to 15% are not used.
        beta: rate at which the rounds' budgets fall, in (0, 1); 0.8 is the paper's advice.
        reuse: whether means are over all rewards so far, as in the paper's experiments. Otherwise they are over the
            rewards of the round, with a new random order of ties in each round.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> ds = jb.simulate(jb.OptMAI(k=1, budget=200), jb.bernoulli([0.9, 0.4]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
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
    )

    initial_pulls = 0
    shuffle_arms = False

    def init(self, arms: Arms, key: jax.Array) -> Rounds:
        """Return the state before the first pull; rounds are numbered from 1."""
        return first_round(arms, key)

    def request(self, state: Rounds, arms: Arms, key: jax.Array) -> jax.Array:
        """Return beta^r (1 - beta) Q' / |S_r| pulls of every active arm, r from 0."""
        del key
        whole = 1 - jnp.exp(jnp.log(self.beta) * jnp.log(arms.count) / jnp.log(4 / 3))  # Q / Q', 1 - beta^(ln n / …)
        share = self.beta ** (state.round - 1) * (1 - self.beta) / whole
        number = jnp.maximum(jnp.sum(state.active), 1)
        each = jnp.round(share * self.budget / number).astype(jnp.int32)
        # Whole pulls: each arm has one at least, and what the budget leaves at most.
        each = jnp.minimum(jnp.maximum(each, state.round == 1), (jnp.int32(self.budget) - arms.time) // number)
        return jnp.where(state.active, each, 0)

    def absorb(self, state: Rounds, arms: Arms, counts: jax.Array, sums: jax.Array) -> Rounds:
        """Return the state after a round, with a quarter of the active arms deactivated."""
        worst, wanted = self._sought(arms)
        fresh = jnp.where(jnp.any(counts > 0), sums, state.values)  # with no pull left, as in the last round
        values, number = (arms.total, 0) if self.reuse else (fresh, state.round)
        ranked, ties = jnp.where(worst, -values, values), tie_numbers(state.seed, number, len(arms))
        size, left = jnp.sum(state.active), state.left(wanted)
        # Quartile elimination, while there are 4 K arms or more: drop the worst floor(|S| / 4).
        best = are_largest(ranked, size - size // 4, state.active, ties)
        # Accept and reject: decide on the ceil(|S| / 4) arms farthest from the border between the K - |T| best and the
        # rest.
        inside = are_largest(ranked, left, state.active, ties)
        farthest = _farthest(ranked, inside, state.active & ~inside, ties, (size + 3) // 4)
        quartile = size >= 4 * wanted
        gone = jnp.where(quartile, state.active & ~best, farthest)
        # The paper prints "at least the (K - |T| + 1)-th best", which accepts that arm too: its gap is the same.
        accepted = farthest & inside & ~quartile
        new = state.after(accepted, gone & ~accepted, values)
        return new._replace(ended=(new.left(wanted) <= 0) | ~jnp.any(new.active))

    def done(self, state: Rounds, arms: Arms) -> jax.Array:
        """Return whether K arms are accepted, or none is active."""
        del arms
        return state.ended

    def recommend(self, state: Rounds, arms: Arms) -> jax.Array:
        """Return the accepted arms and the best active ones up to K; if the worst were sought, all others."""
        worst, wanted = self._sought(arms)
        return worst ^ with_best(state, jnp.where(worst, -state.values, state.values), wanted)

    def _sought(self, arms: Arms) -> tuple[jax.Array, jax.Array]:
        """Return whether the worst arms are sought (Theorem 4.5), bool `()`, and the number sought, int32 `()`."""
        worst = 2 * self.k >= arms.count
        return worst, jnp.where(worst, arms.count - self.k, self.k)


def _farthest(
    values: jax.Array, inside: jax.Array, outside: jax.Array, ties: jax.Array, number: jax.Array
) -> jax.Array:
    """Return the arms farthest from the border between those inside and outside, bool `(K,)`.

    Tied values are in the order of the tie numbers. Of arms equally far from the border, those come first that are
    farther from it in that order too. Without this, a long tie on one side of the border would be accepted as often as
    rejected.

    Args:
        values: int32 or float32 `(K,)`.
        inside: bool `(K,)`: the arms with the largest values; at least one.
        outside: bool `(K,)`: the other arms that are compared.
        ties: int32 `(K,)`, tie numbers.
        number: int32 `()`: the number of arms to return.
    """
    floating = jnp.issubdtype(values.dtype, jnp.floating)
    infinity = jnp.asarray(jnp.inf if floating else MAX_COUNT, values.dtype)
    inner, outer = jnp.min(jnp.where(inside, values, infinity)), jnp.max(jnp.where(outside, values, -infinity))
    gap = jnp.where(inside, jnp.where(jnp.any(outside), values - outer, infinity), inner - values)
    first = jnp.max(jnp.where(outside & (values == outer), ties, -1))
    last = jnp.min(jnp.where(inside & (values == inner), ties, MAX_COUNT))
    behind = jnp.where(inside, ties - first, last - ties)
    looked_at = inside | outside
    kth = kth_largest(gap, number, looked_at)
    level = looked_at & (gap == kth)
    beyond = looked_at & (gap > kth)
    missing = number - jnp.sum(beyond)
    furthest = kth_largest(behind, jnp.maximum(missing, 1), level)
    farther, equal = level & (behind > furthest), level & (behind == furthest)  # two of these at most, at the border
    return beyond | farther | are_largest(ties, missing - jnp.sum(farther), equal, ties)
