"""Maps a rule that is written for one run to an algorithm of the engine: for one run or for R, runs last.

This module draws the rewards and updates the arms. The rule's decisions are mapped over the runs
(`jaxbandits/transform`).
"""

import dataclasses
import functools
import math
from collections.abc import Sequence

import jax
import jax.numpy as jnp
from jax import lax

from jaxbandits.algorithms.protocol import Arms, Batches, Rule
from jaxbandits.arrays.numerics import NO_LIMIT, fast_max, fast_min
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.compilers.unroll_arms import fuse_outputs, reduce_well
from jaxbandits.compilers.xla_cpu import barrier
from jaxbandits.engine import rule_batches as batches
from jaxbandits.engine.finite_populations import exact_answer
from jaxbandits.engine.mapped_algorithm import MappedAlgorithm
from jaxbandits.engine.pulls_in_flight import count_pending
from jaxbandits.engine.pulls_in_turn import ended, in_turn, lacks_arms, with_pull
from jaxbandits.engine.reached_arms import decisions
from jaxbandits.engine.rule_calls import (
    as_runs,
    axes_of_own,
    begun,
    call,
    make_step,
    of_shape,
    requested,
    selected,
    shape_of,
    updated,
)  # fmt: skip
from jaxbandits.engine.rule_states import RuleState, first_state, shown
from jaxbandits.engine.step_rewards import draw
from jaxbandits.problems.base import Problem
from jaxbandits.status import MOST_IDLE, OUTSIDE, TAKEN_BACK

__all__ = ["MappedRule"]


@pytree
@dataclasses.dataclass(frozen=True)
class MappedRule(MappedAlgorithm):
    """A rule that selects arms to pull, or requests batches of pulls, mapped over the runs."""

    #: A step checks whether the run has ended.
    one_pull_a_step = True
    #: The states determine how many steps were made.
    states_count_steps = True

    def init(self, problem: Problem, key: jax.Array) -> RuleState:
        """Return the states after the first pulls."""
        state = first_state(self.rule, problem, key)
        if self.rule.has_state:
            state = dataclasses.replace(state, own=call(self.rule, self.facts, begun, state))
        return self.asking(state) if self.rule.in_batches else state

    def step(self, problem: Problem, key: jax.Array, state: RuleState, live: jax.Array | bool = True) -> RuleState:
        """Make one step of the runs that are live and not done."""
        live = jnp.broadcast_to(jnp.asarray(live), state.time.shape)
        if self.rule.in_batches:
            return self._batch(problem, key, state, live)
        live, places, outside = self._decided(state, live)
        rewards, cost = draw(problem, key, state, places)
        return self._observed(state, places, rewards, live, outside, cost)

    def _decided(
        self, state: RuleState, live: jax.Array, seen: RuleState | None = None
    ) -> tuple[jax.Array, Sequence[jax.Array], jax.Array]:
        """Return which runs continue, bool `(…)`, the places that they pull, int32 `(…)` each, and which have a fault.

        The last, bool `(…)`, are runs that selected a place without an arm. All results come from one loop: a fusion
        of XLA:CPU has one result, and the compiler would repeat the decision for each of the others. A rule selects by
        `seen`, if it is given, and not by `state`.
        """
        count = state.statistics.pulls.shape[0]

        def found(rule: Rule, state: RuleState, live: jax.Array, seen: RuleState | None) -> tuple[jax.Array, ...]:
            chosen, done = decisions(rule, self.facts, state, as_runs(live), seen)
            places = [chosen.array] if chosen.array.ndim == 1 else list(chosen.array)
            inside = chosen.range is not None and chosen.range[0] >= 0 and chosen.range[1] < count
            places, ended = in_turn(rule, self.facts, state, places, done.array)
            going = as_runs(live) & ~ended
            outside: tuple[jax.Array, ...] = ()
            if not inside:
                exist = count if state.count is None else as_runs(state.count)
                wrong = functools.reduce(jnp.logical_or, [(place < 0) | (place >= exist) for place in places])
                places = [fast_min(fast_max(place, 0), count - 1) for place in places]
                going, outside = going & ~wrong, ((going & wrong).astype(jnp.int32),)
            parts = (going.astype(jnp.int32), *places, *outside)
            return tuple(of_shape(part, state) for part in parts)

        number = self._arms_a_step(state)
        if number == 1:
            going, *places = fuse_outputs(found, max(2, count), self.rule, state, live, seen)
        else:  # several arms are no faster from one loop; but every arm reads whether a run continues
            going, *places = found(self.rule, state, live, seen)
            going = barrier(going)
        outside = places[number] > 0 if len(places) > number else jnp.zeros(going.shape, bool)
        return going > 0, places[:number], outside

    def _observed(
        self, state: RuleState, places: Sequence[jax.Array], rewards: Sequence[jax.Array], live: jax.Array,
        outside: jax.Array, cost: jax.Array | None = None,
    ) -> RuleState:  # fmt: skip
        """Return the states after one reward of each place; unchanged where `live` is false."""
        known = state.statistics
        for place, reward in zip(places, rewards, strict=True):
            known = known.add(place, reward, live)
        new = dataclasses.replace(state, statistics=known, fault=jnp.where(outside, OUTSIDE, state.fault))
        if state.known is not None:
            new = with_pull(new, state, places[0], rewards[0], cost, live)
        several = bool(shape_of(self.rule, selected, state))
        pulled = (jnp.stack(places), jnp.stack(rewards)) if several else (places[0], rewards[0])
        return self._updated(new, live, *pulled)

    def _batch(self, problem: Problem, key: jax.Array, state: RuleState, live: jax.Array) -> RuleState:
        """Draw the sums of the batches of the runs that are live and not done."""
        asked = self._asked(state)
        live = live & ~self.done(state) & ~self.exhausted(state)
        taken_back = live & batches.takes_back(asked, state)
        live = live & ~taken_back
        asked = jax.tree.map(lambda leaf: jnp.where(live, fast_max(leaf, 0), 0), asked)
        sums = batches.draw_sums(self.rule, problem, key, state, asked)
        new = batches.add_sums(state, asked, sums, live, problem, key)
        new = dataclasses.replace(new, fault=jnp.where(taken_back, TAKEN_BACK, new.fault))
        return self.asking(self._updated(new, live, asked, sums))

    def _updated(self, state: RuleState, live: jax.Array, pulled: jax.Array | Batches, rewards: jax.Array) -> RuleState:
        """Return the states after the rule's own update, where `live` holds."""
        if not self.rule.has_state:
            return state
        step = functools.partial(make_step, self.rule, self.facts, updated)
        own = reduce_well(step, state.statistics.pulls.shape[0], state, (pulled, rewards), live)
        return dataclasses.replace(state, own=own)

    def asking(self, state: RuleState) -> RuleState:
        """Return the states with their next requests, without pulls of arms that do not exist."""
        asked = call(self.rule, self.facts, requested, state)
        if state.count is not None:
            asked = batches.with_counts(asked, jnp.where(state.exists, batches.counts_of(asked), 0))
        return dataclasses.replace(state, wanted=batches.wanted(self.rule, asked, state))

    def _asked(self, state: RuleState) -> jax.Array | Batches:
        """Return how often the runs pull each arm next, int32 `(K, …)`, or `Batches` of such counts."""
        assert state.wanted is not None
        return state.wanted.asked

    def _arms_a_step(self, state: RuleState) -> int:
        """Return how many arms `select` returns."""
        return math.prod(shape_of(self.rule, selected, state))

    def done(self, state: RuleState) -> jax.Array:
        """Return which runs have ended, bool `(…)`."""
        return ended(self.rule, self.facts, state)

    def recommend(self, state: RuleState) -> jax.Array:
        """Return masks of the returned arms, bool `(K, …)`, in the problem's order."""
        return state.by_arm(exact_answer(state, self.answer(state) & state.exists))

    def state_of(self, state: RuleState) -> Arms:
        """Return the part of a state that a user sees."""
        return shown(state, self.recommend(state), self.done(state), axes_of_own(self.rule, state))

    def exhausted(self, state: RuleState) -> jax.Array:
        """Return which runs cannot continue: counts would pass their range, or no new arm is left; bool `(…)`."""
        return lacks_arms(self.rule, self.facts, state) if state.wanted is None else state.wanted.beyond

    def stalled(self, state: RuleState) -> jax.Array:
        """Return which runs have made many steps without a pull, or have a fault, bool `(…)`."""
        idle = jnp.zeros(state.time.shape, bool) if state.idle is None else state.idle >= MOST_IDLE
        return idle | super().stalled(state)

    def next_pulls(self, state: RuleState) -> jax.Array | int:
        """Return how many pulls the next step makes, int32 `(…)` or `()`."""
        return self._arms_a_step(state) if state.wanted is None else state.wanted.pulls

    def at_limit(self, state: RuleState, max_pulls: jax.Array | int) -> jax.Array:
        """Return whether the next step would pass `max_pulls`, bool `(…)`; batches never do without a limit."""
        limited = super().at_limit(state, max_pulls)
        return jnp.asarray(max_pulls < NO_LIMIT) & limited if self.rule.in_batches else limited

    def steps_made(self, before: RuleState, after: RuleState, live: jax.Array) -> jax.Array:
        """Return how many steps a call of `advance` has made, int32 `(…)`."""
        del live
        if after.steps is not None and before.steps is not None:
            return after.steps - before.steps
        pulls, number = after.time - before.time, self._arms_a_step(before)
        return pulls if number == 1 else lax.div(pulls, jnp.int32(number))

    def asked(self, state: RuleState, pending: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Return the arms of the problem to pull next, and how often to pull each; for one run."""
        if self.rule.in_batches:
            return batches.asked_arms(self.rule, self._asked(state), state)
        state = dataclasses.replace(state, statistics=count_pending(state.statistics, state.by_place(pending)))
        _, places, outside = self._decided(state, jnp.ones((), bool))
        arms = jnp.stack([state.arm_at(place) for place in places])
        if not self.rule.one_by_one:  # an arm that does not exist is returned as the rule selected it
            arms = jnp.where(outside, jnp.atleast_1d(call(self.rule, self.facts, selected, state)), arms)
        return arms, jnp.ones_like(arms)

    def told(
        self, state: RuleState, asked: jax.Array, counts: jax.Array, sums: jax.Array, cost: jax.Array
    ) -> RuleState:
        """Return the state after the requested rewards; for one run."""
        del counts
        live = jnp.ones((), bool)
        if self.rule.in_batches:
            wanted = self._asked(state)
            found = batches.told_sums(self.rule, wanted, state, asked, sums)
            return self.asking(self._updated(batches.add_sums(state, wanted, found, live), live, wanted, found))
        places = [state.place_of(arm) for arm in asked]
        return self._observed(state, places, list(sums), live, jnp.zeros((), bool), cost)
