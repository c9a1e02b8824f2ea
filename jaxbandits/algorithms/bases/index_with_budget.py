"""What the algorithms share that spend a budget of cost, pull by pull, and collect rewards."""

import abc
import dataclasses
from typing import Any, ClassVar, Self

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.algorithms.bases.arm_state import ArmState
from jaxbandits.algorithms.bases.budget_state import BudgetState
from jaxbandits.algorithms.bases.built_in import BuiltIn
from jaxbandits.algorithms.bases.parameters import Numeric, parameter
from jaxbandits.algorithms.bases.traits import Traits
from jaxbandits.arrays import arms, ranking
from jaxbandits.arrays.compiler_forms import computed_once
from jaxbandits.arrays.known import Known
from jaxbandits.arrays.numerics import smaller
from jaxbandits.arrays.sums import CompensatedSum, WholeSum
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem
from jaxbandits.random import ties
from jaxbandits.spending.budget_ledger import Ledger
from jaxbandits.statistics.arm_statistics import ArmStatistics

__all__ = ["IndexWithBudget"]


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


def _whole(problem: Problem) -> bool:
    """Whether all rewards and costs are whole numbers; not in a live experiment, whose costs nobody knows."""
    costs = problem.costs
    return problem.integer_rewards and (
        costs is None or costs.price is None or (costs.random and costs.concentration is None)
    )
