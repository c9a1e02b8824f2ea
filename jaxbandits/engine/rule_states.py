"""The state of a run of a rule: the statistics of the arms, in the order in which the run sees them."""

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.arm_values import by_arm
from jaxbandits.algorithms.protocol import Arms, Batches, Rule
from jaxbandits.algorithms.told_arms import OwnState
from jaxbandits.arrays import arms as over_arms
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.costs.accounts import Account, CheckpointCosts, CostCounter, account_of_ledger, account_of_reads
from jaxbandits.costs.arm_costs import ArmCosts
from jaxbandits.engine.arm_positions import PlacedArms
from jaxbandits.engine.elimination_state import EliminationState
from jaxbandits.engine.first_statistics import statistics_at_start
from jaxbandits.problems.base import Problem
from jaxbandits.random.arm_orders import ArmOrder
from jaxbandits.random.threefry import key_words
from jaxbandits.statistics.arm_statistics import ArmStatistics

__all__ = ["RuleState", "RunState", "Wanted", "arms_of", "first_state", "order_of", "shown", "values_by_place"]


class Wanted(NamedTuple):
    """The next requests of runs, stored, since a step reads them in many places."""

    asked: jax.Array | Batches  # int32 (K, …): pulls of each arm by places; or `Batches` of that
    pulls: jax.Array  # int32 (…): of all arms; 2^31 - 1 for more
    beyond: jax.Array  # bool (…): whether it exceeds the range of counts or the slots


@pytree
@dataclasses.dataclass(frozen=True)
class RuleState(PlacedArms):
    """The state of a run, or of R runs, runs last; arms by their places in the order of the run.

    Padding arms have one pull, or the initial pulls of all arms, so that no division is by zero.
    """

    statistics: ArmStatistics
    b: jax.Array | None  # float32 (…): range of the rewards; None where they have none
    count: jax.Array | None  # int32 (…): how many arms exist, the first ones; None for all
    cells: jax.Array | None  # int32 (K, …): items of each arm of a finite population; None on other problems
    order: ArmOrder | None  # the arm at each place; None where they stay in the problem's order
    known: jax.Array | None  # int32 (…): arms pulled so far, the first places; None where all are pulled first
    costs: ArmCosts | None  # the costs of pulls; None where the rule takes none
    own: OwnState  # the rule's own state; None where it has none
    words: tuple[jax.Array, jax.Array]  # uint32 (…) each: the words of the runs' keys
    steps: jax.Array | None  # int32 (…): steps made; None where they follow from the pulls, as of rules without batches
    idle: jax.Array | None  # int32 (…): batches since the last one with a pull; None where arms are pulled one by one
    fault: jax.Array  # int32 (…): the code of a fault in `jaxbandits.status`, 0 for none
    wanted: Wanted | None  # the next request; None where arms are pulled one by one
    drawn: jax.Array | None  # int32 (…): batches so far; None where a step has one at most
    spent: CostCounter | None  # the costs so far, where pulls may pass 2^31; None where they follow from the pulls
    bandits: int = dataclasses.field(default=1, metadata={"static": True})  # bandits that share the axis of arms
    grows: bool = dataclasses.field(default=False, metadata={"static": True})  # whether the rule sees pulled arms only
    placed: tuple[jax.Array, ...] = ()  # (K, …) each: the rule's values of arms, by places; none where arms stay
    waited: Any = None  # `Waited`: the time without a pull, on a platform with delays; None elsewhere

    @property
    def pulls(self) -> jax.Array:
        """Return the pulls of each arm of the problem, int32 `(K, …)`; 0 for arms that do not exist."""
        return self._of_existing(self.statistics.pulls)

    @property
    def time(self) -> jax.Array:
        """Return the pulls of all arms, int32 `(…)`."""
        return self.statistics.time

    def made(self) -> jax.Array:
        """Return the pulls so far, float32 `(…)`, also beyond the range of `time`."""
        return super().made() if self.spent is None else self.spent.pulls.as_float()

    def account(
        self, problem: Problem, key: jax.Array, budget: jax.Array | None = None, looked: CheckpointCosts | None = None
    ) -> Account:
        """Return the account of the runs: their costs, and the reward collected within a budget."""
        if self.spent is not None:
            return account_of_reads(problem, self.spent, self.pulls) if problem.finite else self.spent.account()
        if self.costs is not None:
            return account_of_ledger(problem, self.pulls, self.time, self.costs.ledger, budget)
        return super().account(problem, key, budget, looked)

    def reached(self, point: jax.Array) -> jax.Array:
        """Return whether runs have reached a point of a curve, a number of pulls or a cost; bool `(…)`."""
        if self.costs is None or jnp.issubdtype(point.dtype, jnp.integer):
            return super().reached(point)
        return self.costs.ledger.beyond(point)

    @property
    def collected(self) -> jax.Array:
        """Return the sum of the rewards of each arm of the problem, int32 or float32 `(K, …)`; 0 as for `pulls`."""
        return self._of_existing(self.statistics.total)

    def _of_existing(self, value: jax.Array) -> jax.Array:
        # Places without an arm have first pulls, too, so that nothing divides by 0.
        return self.by_arm(value if self.count is None else jnp.where(self.exists, value, 0))

    @property
    def batches(self) -> jax.Array:
        """Return the number of batches so far, int32 `(…)`."""
        found = self.steps if self.drawn is None else self.drawn
        assert found is not None
        return found

    @property
    def places(self) -> int:
        """Return the length of the axis of arms."""
        return int(self.statistics.pulls.shape[0])

    @property
    def told(self) -> jax.Array | None:
        """Return how many arms the rule sees, the first ones, int32 `(…)`; None for all."""
        return self.known if self.grows else self.count


#: The state of runs of a mapped rule: a `RuleState`, or an `EliminationState`. Each kind of rule takes its own.
RunState: TypeAlias = Any


def first_state(rule: Rule, problem: Problem, key: jax.Array) -> RuleState:
    """Return the state after the first pulls, without the rule's own state.

    Args:
        rule: the rule.
        problem: leaves `(K, …)`.
        key: the runs' typed keys, shape `(…)`.
    """
    shape, count = key.shape, None
    if problem.mask is not None:
        count = over_arms.total(jnp.broadcast_to(problem.mask, (problem.arms, *shape)).astype(jnp.int32))
    order = order_of(rule, problem, key, count)
    b = jnp.broadcast_to(jnp.asarray(problem.reward_range, jnp.float32), shape) if problem.bounded else None
    cells = jnp.broadcast_to(problem.cells, (problem.arms, *shape)) if problem.finite else None
    if cells is not None and order is not None:
        cells = order.by_place(cells)
    nothing = jnp.zeros(shape, jnp.int32)
    known = statistics_at_start(rule, problem, key, count, order)
    return RuleState(
        statistics=known, b=b, count=count, cells=cells, order=order, own=None,
        words=key_words(key), steps=nothing if rule.in_batches else None,
        idle=nothing if rule.in_batches else None, fault=nothing,
        wanted=None, drawn=nothing if rule.slots != 1 else None,
        spent=CostCounter.nothing(problem, shape) if rule.fresh_only else None,
        bandits=problem.bandits, known=nothing if rule.one_by_one else None, grows=rule.grows,
        costs=ArmCosts.none(problem, shape) if rule.takes_costs else None, placed=values_by_place(rule, order, shape),
    )  # fmt: skip


def order_of(rule: Rule, problem: Problem, key: jax.Array, count: jax.Array | None) -> ArmOrder | None:
    """Return the order in which runs see their arms; None for the problem's order. Arguments as for `first_state`."""
    if not rule.shuffle_arms or problem.supremum is not None:  # drawn arms have no order
        return None
    return ArmOrder.draw(key, problem.arms, count, problem.bandits)


def values_by_place(rule: Rule, order: ArmOrder | None, shape: tuple[int, ...]) -> tuple[jax.Array, ...]:
    """Return a rule's values of arms, in the order in which runs see them; empty if arms stay in order."""
    if order is None:
        return ()
    leaves = zip(jax.tree.leaves(rule), by_arm(rule, len(shape)), strict=True)
    return tuple(order.by_place(jnp.asarray(leaf)) for leaf, is_one in leaves if is_one)


def arms_of(state: RuleState | EliminationState) -> Arms:
    """Return the arms as the rule sees them."""
    if isinstance(state, EliminationState):
        return state.surviving
    known, squares = state.statistics, state.statistics.moments.squares
    count = jnp.full(state.time.shape, known.pulls.shape[0], jnp.int32) if state.told is None else state.told
    if state.spent is not None:
        nothing = jnp.zeros(known.pulls.shape, known.total.dtype)
        return Arms(pulls=known.pulls, time=known.time, count=count, b=state.b, total=nothing, cells=state.cells)
    return Arms(
        pulls=known.pulls, mean=known.mean, inverse_root=known.inverse_root, total=known.total, time=known.time,
        count=count, b=state.b, squares=None if squares is None else squares.high, bandits=state.bandits,
        costs=state.costs, cells=state.cells,
    )  # fmt: skip


def shown(
    state: RuleState | EliminationState, answer: jax.Array, ended: jax.Array, own_axes: Sequence[tuple[int, ...]]
) -> Arms:
    """Return the part of a state that users see: the arms in the problem's order.

    Args:
        state: the state.
        answer: bool `(K, …)`, the returned arms, in the problem's order.
        ended: bool `(…)`, which runs the rule has ended.
        own_axes: a tuple of the axes of arms for each leaf of the rule's own state.
    """
    arms = arms_of(state)
    leaves, tree = jax.tree.flatten(state.own)
    for i, axes in enumerate(own_axes):
        for axis in axes:
            if leaves[i].shape[axis] == len(arms):  # not the arms of each of several bandits
                leaves[i] = state.by_arm(leaves[i], axis)
    mean, root, squares = (
        None if value is None else state.by_arm(value) for value in (arms.mean, arms.inverse_root, arms.squares)
    )
    return dataclasses.replace(
        arms, pulls=state.pulls, mean=mean, inverse_root=root, total=state.by_arm(arms.total), squares=squares,
        cells=None if arms.cells is None else state.by_arm(arms.cells),
        costs=None if arms.costs is None else arms.costs.moved(state.by_arm),
        own=jax.tree.unflatten(tree, leaves), answer=answer, ended=ended,
    )  # fmt: skip
