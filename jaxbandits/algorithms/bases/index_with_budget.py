"""What the algorithms share that spend a budget of cost, pull by pull, and collect rewards."""

import abc
import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar, Self

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxbandits.algorithms.bases.arm_state import ArmState
from jaxbandits.algorithms.bases.built_in import BuiltIn
from jaxbandits.algorithms.bases.parameters import Numeric, parameter
from jaxbandits.algorithms.bases.traits import Traits
from jaxbandits.arrays import arms, ranking
from jaxbandits.arrays.compiler_forms import computed_once
from jaxbandits.arrays.known import Known
from jaxbandits.arrays.numerics import exp, larger, log, rounded, smaller
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.arrays.sums import CompensatedSum, WholeSum
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem
from jaxbandits.random import ties
from jaxbandits.spending.accounts import Account, Looked, account_of_ledger
from jaxbandits.spending.budget_ledger import Ledger
from jaxbandits.statistics.arm_statistics import ArmStatistics

__all__ = ["SEQUENCES", "BudgetState", "FromReservoir", "Growing", "GrowingState", "IndexWithBudget", "exploration"]


@pytree
@dataclasses.dataclass(frozen=True)
class BudgetState(ArmState):
    """The state of a run; arms first, runs last."""

    costs: CompensatedSum | WholeSum  # (K, …): costs of the pulls of each arm
    mean_cost: jax.Array  # float32 (K, …): 0 before the first pull
    ledger: Ledger  # (…)
    known: jax.Array  # int32 (…): arms pulled so far; they are the first ones

    def reached(self, point: jax.Array) -> jax.Array:
        """Whether more than a cost, float32 `(…)`, was paid: bool `(…)`."""
        return self.ledger.beyond(point)

    def account(
        self, problem: Problem, key: jax.Array, budget: jax.Array | None = None, looked: Looked | None = None
    ) -> Account:
        """What runs have spent, and the reward that they collected within a budget."""
        del key, looked
        return account_of_ledger(problem, self.pulls, self.time, self.ledger, budget)

    def part(self, first: jax.Array | int, size: int) -> Self:
        """The state as if there were only `size` arms from arm `first` on."""

        def cut(x: jax.Array) -> jax.Array:
            return lax.dynamic_slice_in_dim(x, first, size)

        return dataclasses.replace(
            self,
            statistics=dataclasses.replace(self.statistics, moments=jax.tree.map(cut, self.statistics.moments)),
            order=cut(self.order),
            mask=None if self.mask is None else cut(self.mask),
            costs=jax.tree.map(cut, self.costs),
            mean_cost=cut(self.mean_cost),
        )

    def paid(self, arm: jax.Array, reward: jax.Array, cost: jax.Array, live: jax.Array) -> Self:
        """The state after one pull; unchanged where `live` is false."""
        spent = jax.tree.map(lambda x: arms.take(x, arm), self.costs).plus(jnp.where(live, cost, 0))
        # Counted again, not read again where it was just written.
        pulls = larger(arms.take(self.pulls, arm) + live.astype(jnp.int32), jnp.int32(1)).astype(jnp.float32)
        return dataclasses.replace(
            self,
            statistics=self.statistics.add(arm, reward, live),
            costs=jax.tree.map(lambda x, value: arms.put(x, arm, value), self.costs, spent),
            mean_cost=arms.put(self.mean_cost, arm, spent.high / pulls),
            ledger=self.ledger.plus(reward, cost, live),
            known=self.known + (live & (arm == self.known)).astype(jnp.int32),
        )


@dataclasses.dataclass(frozen=True)
class IndexWithBudget(BuiltIn):
    """Pulls every arm once, and then the arm with the largest index, until a pull costs more than is left.

    That pull pays nothing. Of several arms with the largest index one is taken at random, anew at every pull.
    """

    budget: Numeric = parameter("positive")
    traits = Traits(criterion="ratio", spends="budget")
    #: Whether `_index` of a part of the state is that part of `_index`: not where arms are looked at by their numbers.
    in_parts: ClassVar[bool] = False

    @abc.abstractmethod
    def _index(self, state: Any) -> jax.Array:
        """The index of each arm, float32 `(K, …)`, not NaN; of no interest for arms not pulled yet."""

    @property
    def initial_pulls(self) -> int:
        """None: what the first pulls cost may be more than the budget."""
        return 0

    def begin(self, statistics: ArmStatistics, problem: Problem, key: jax.Array) -> Any:
        """The state before the first pull."""
        shared = ArmState.of(statistics, problem, key, None).shared()
        zero = jnp.zeros(statistics.pulls.shape, jnp.float32)
        whole = _whole(problem)
        return BudgetState(
            **shared,
            costs=WholeSum.of(zero) if whole else CompensatedSum.of(zero),
            mean_cost=zero,
            ledger=Ledger.empty(key.shape, whole=whole),
            known=jnp.zeros(key.shape, jnp.int32),
        )

    def init(self, problem: Problem, key: jax.Array) -> Any:
        """The state before the first pull."""
        statistics = ArmStatistics.none(
            problem.arms, key.shape, integer=problem.integer_rewards, one_by_one=True, variance=self.second_moments
        )
        return self.begin(statistics, problem, key)

    def select(self, state: Any) -> jax.Array:
        """The arm to pull, int32 `(…)`."""
        count = state.order.shape[0]
        # Another tie order at every pull: which of equals comes first is random.
        turn = ties.turn(state.ties, state.time)

        def block(first: jax.Array | int, size: int) -> tuple[jax.Array, jax.Array]:
            part = state if size == count else state.part(first, size)
            return self._index(part), ties.turned(first + arms.index(size, state.time.shape), turn)

        _, place = ranking.arg_largest_of_known(block, state.known, count, at_once=not self.in_parts)
        return jnp.where(self._wanting(state), smaller(state.known, jnp.int32(count - 1)), ties.arm_turned(place, turn))

    takes_costs = True

    def asked(self, state: Any) -> tuple[jax.Array, jax.Array]:
        """The arm that is selected, once."""
        arm = self.select(state)[None]
        return arm, jnp.ones_like(arm)

    def told(self, state: Any, asked: jax.Array, counts: jax.Array, sums: jax.Array, cost: jax.Array) -> Any:
        """The state after its reward and its cost."""
        del counts
        return state.paid(asked[0], sums[0], cost, jnp.bool_(True))

    def _wanting(self, state: Any) -> jax.Array:
        """Whether the next pull is the first of the next arm, bool `(…)`."""
        return state.known < state.arms.astype(jnp.int32)

    def step(self, problem: Problem, key: jax.Array, state: Any, live: jax.Array | bool = True) -> Any:
        """Select, pull, pay."""
        arm = self.select(state)
        live = live & ~self.done(state) & ~jnp.asarray(self.exhausted(state))
        # Five results depend on them, and the compiler would draw them for each.
        reward, cost = computed_once(problem.payoff, key, arm, arms.take(state.pulls, arm))
        return state.paid(arm, reward, cost, live)

    def done(self, state: Any) -> jax.Array:
        """A pull cost more than was left."""
        return state.ledger.beyond(self.budget)

    def recommend(self, state: Any) -> jax.Array:
        """The arm pulled most often."""
        return ranking.top_mask(state.pulls, Known(1), state.order)

    def check(self, arms_per_bandit: int, bandits: int) -> None:
        """Whether the problem has one bandit.

        Raises:
            UsageError: it has several.
        """
        del arms_per_bandit  # the budget need not cover a pull of each
        if bandits > 1:
            raise UsageError(f"{type(self).__name__} explores one bandit, the problem has {bandits}")

    def resolved(self, problem: Problem) -> Self:
        """The algorithm as it is, if the budget buys a pull.

        Raises:
            UsageError: it does not; or rewards or costs of the problem may lie outside [0, 1].
        """
        super().resolved(problem)
        name = type(self).__name__
        if problem.drawn:
            smallest = problem.smallest_cost
        else:
            if problem.lowest_reward < 0:
                raise UsageError(f"{name}: rewards must lie in [0, 1], those of {problem.name} may be negative")
            expected = np.asarray(1.0 if problem.costs is None else problem.costs.expected(problem.mean))
            if expected.min() <= 0:
                raise UsageError(
                    f"{name}: every pull must cost something on average, arm {int(expected.argmin())} does not"
                )
            smallest = float(expected.min())
        if self.budget < smallest:
            raise UsageError(f"{name}: a budget of {self.budget:g} is below the smallest cost of a pull, {smallest:g}")
        return self


@dataclasses.dataclass(frozen=True)
class FromReservoir(IndexWithBudget):
    """An algorithm that draws its arms from a reservoir, K(B) of them."""

    beta: Numeric = parameter("positive", default=None)

    def check_live(self) -> None:
        """Not in a live experiment.

        Raises:
            UsageError: always.
        """
        raise UsageError(f"{type(self).__name__} draws its arms from a reservoir: in a live experiment use RCB")

    def resolved(self, problem: Problem) -> Self:
        """The algorithm with the reservoir's beta, where it has none of its own.

        Raises:
            UsageError: the problem is no reservoir, or its beta is not known.
        """
        if not problem.drawn:
            raise UsageError(
                f"{type(self).__name__} draws its arms from a reservoir, and {problem.name} has given ones: use RCB"
            )
        super().resolved(problem)
        known: dict[str, Any] = {"beta": self.scale(problem)[1]}
        return dataclasses.replace(self, **known)

    def explored(self, problem: Problem) -> Problem:
        """The reservoir with K(B) arms, unless it says itself how many."""
        if not problem.drawn or problem.arms:
            return problem
        budget, beta = self.scale(problem)
        exponent = beta / 2 if self._slow(beta, problem.best_ratio) else beta / (1 + beta)
        return problem.sized(_power(self._rounds(budget, problem.smallest_cost), exponent))

    def _slow(self, beta: Any, best: Any) -> Any:
        """Whether there are B^(beta/2) arms, else B^(beta/(1+beta)) (eq. 5); `best` is the largest ratio."""
        del best
        return beta < 1

    def _rounds(self, budget: float, smallest_cost: float) -> float:
        del smallest_cost
        return budget


@pytree
@dataclasses.dataclass(frozen=True)
class GrowingState(BudgetState):
    """The state of a run that draws arms as it goes."""

    exponent: jax.Array  # float32 (…): round t has at least t^exponent arms


class Growing(FromReservoir):
    """An arm-increasing rule: round t draws a new arm if there are fewer than t^exponent."""

    def _rounds(self, budget: float, smallest_cost: float) -> float:
        # A run has more rounds with probability below exp(-18 / (1 + 6 / sqrt(B))) (Chernoff), and is then stopped.
        return (budget + 6 * budget**0.5 + 20) / smallest_cost

    def begin(self, statistics: ArmStatistics, problem: Problem, key: jax.Array) -> GrowingState:
        """The state before the first pull."""
        state = super().begin(statistics, problem, key)
        beta = jnp.asarray(self.beta)
        best = jnp.float32(1) if problem.supremum is None else problem.supremum
        exponent = jnp.where(self._slow(beta, best), beta / 2, beta / (1 + beta))
        fields = {field.name: getattr(state, field.name) for field in dataclasses.fields(BudgetState)}
        return GrowingState(**fields, exponent=jnp.broadcast_to(jnp.asarray(exponent, jnp.float32), key.shape))

    def _wanting(self, state: GrowingState) -> jax.Array:
        wanted = exp(rounded(state.exponent * log((state.time + 1).astype(jnp.float32))))
        return state.known.astype(jnp.float32) < wanted * jnp.float32(1 - 1e-6)  # exact powers, in spite of rounding

    def exhausted(self, state: GrowingState) -> jax.Array:
        """Whether the rule asks for an arm that is not simulated."""
        return self._wanting(state) & (state.known >= state.arms.astype(jnp.int32))


def _whole(problem: Problem) -> bool:
    """Whether all rewards and costs are whole numbers; not in a live experiment, whose costs nobody knows."""
    costs = problem.costs
    return problem.integer_rewards and (
        costs is None or costs.price is None or (costs.random and costs.concentration is None)
    )


def _power(base: float, exponent: float) -> int:
    """base^exponent, rounded up to a number of arms."""
    return max(2, int(np.ceil(base**exponent * (1 - 1e-12))))


def exploration(sequence: str, time: jax.Array) -> jax.Array:
    """The exploration sequence after so many rounds.

    Args:
        sequence: a key of `SEQUENCES`.
        time: int32 `(…)`, at least 0.

    Returns:
        float32 `(…)`, not negative.
    """
    rounds = larger(time, 1).astype(jnp.float32)
    return SEQUENCES[sequence](log(rounds))


_LOG_2 = 0.6931471805599453
#: E_t from log t: the natural choice; the smallest one that Theorem 1 of Li and Xia (2017) allows; and that of Wang,
#: Audibert and Munos (2008).
SEQUENCES: dict[str, Callable[[jax.Array], jax.Array]] = {
    "log": lambda log_t: log_t,
    "peeling": lambda log_t: 2 * log(4 * (rounded(log_t * jnp.float32(1 / _LOG_2)) + 1)),
    "log-log": lambda log_t: larger(log(larger(10 * log_t, jnp.float32(1))), jnp.float32(0)),
}
