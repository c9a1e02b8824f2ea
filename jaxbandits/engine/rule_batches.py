"""Batches of pulls that a rule requests: the number of their pulls, and the sums of their rewards."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxbandits.algorithms.protocol import Batches, Rule
from jaxbandits.algorithms.told_arms import LARGEST_BATCH
from jaxbandits.arrays import arms as over_arms
from jaxbandits.arrays.compensated_sums import compensated_total
from jaxbandits.arrays.numerics import MAX_COUNT, NO_LIMIT, fast_max
from jaxbandits.arrays.uint64 import UInt64
from jaxbandits.engine.rule_states import RuleState, Wanted
from jaxbandits.problems.base import Problem
from jaxbandits.random.streams import batch_key

__all__ = [
    "add_sums", "asked_arms", "counts_of", "draw_sums", "takes_back", "told_sums",
    "wanted", "with_counts",
]  # fmt: skip


#: How often to pull each arm, int32 `(K, …)`, or `Batches` of such counts.
Request = jax.Array | Batches


def number_of(asked: Request, state: RuleState) -> jax.Array:
    """Return how many batches there are, int32 `(…)`."""
    return asked.number if isinstance(asked, Batches) else jnp.ones(state.time.shape, jnp.int32)


def counts_of(asked: Request) -> jax.Array:
    """Return the pulls of each arm in a batch, int32 `(K, …)`."""
    counts: jax.Array = asked.counts if isinstance(asked, Batches) else asked
    return counts


def with_counts(asked: Request, counts: jax.Array) -> Request:
    """Return a request with other pulls of each arm."""
    return asked._replace(counts=counts) if isinstance(asked, Batches) else counts


def takes_back(asked: Request, state: RuleState) -> jax.Array:
    """Return which requests have a negative number of pulls or batches, bool `(…)`."""
    return over_arms.any_arm(counts_of(asked) < 0) | (number_of(asked, state) < 0)


def wanted(rule: Rule, asked: Request, state: RuleState) -> Wanted:
    """Return a request with its number of pulls, and whether it exceeds the range of counts or the slots."""
    number = number_of(asked, state)
    pulls, beyond = UInt64.total(fast_max(counts_of(asked), 0)).times(fast_max(number, 0)), number > rule.slots
    if rule.fresh_only or isinstance(asked, Batches):
        beyond |= over_arms.largest(counts_of(asked)) > LARGEST_BATCH
    if not rule.fresh_only:
        beyond |= ~pulls.within(NO_LIMIT - state.time)
    return Wanted(asked, pulls.capped(), beyond)


def draw_sums(rule: Rule, problem: Problem, key: jax.Array, state: RuleState, asked: Request) -> jax.Array:
    """Draw the sums of the requested rewards, `(K, …)`, or of several batches, `(slots, K, …)`; by places."""
    counts, before = state.by_arm(counts_of(asked)), state.by_arm(state.statistics.pulls)
    if not isinstance(asked, Batches):
        return state.by_place(problem.sums(key, state.batches, counts, before).astype(problem.sum_type))
    number, dtype = asked.number, problem.sum_type

    def draw(batch: jax.Array | int, sums: jax.Array) -> jax.Array:
        pulled = state.statistics.add_counts(counts_of(asked), jnp.full(number.shape, batch), state.time).pulls
        now = jnp.where(batch < number, counts, 0)
        fresh = state.by_place(problem.sums(key, state.batches + batch, now, state.by_arm(pulled)))
        return lax.dynamic_update_index_in_dim(sums, fresh.astype(dtype), batch, 0)

    return lax.fori_loop(0, jnp.max(number), draw, jnp.zeros((rule.slots, *counts.shape), dtype))


def add_sums(
    state: RuleState, asked: Request, sums: jax.Array, live: jax.Array, problem: Problem | None = None,
    key: jax.Array | None = None,
) -> RuleState:  # fmt: skip
    """Return the states after some batches, before the rule's own update.

    Args:
        state: the states before the batches.
        asked: the requested pulls; none where `live` is false.
        sums: the sums of the rewards, as `draw_sums` returns them.
        live: bool `(…)`, which runs made a step.
        problem: the problem; None where the costs of pulls are unknown.
        key: the runs' typed keys; None where the costs of pulls are unknown.
    """
    assert state.idle is not None
    assert state.wanted is not None
    assert state.steps is not None
    pulls = jnp.where(live, state.wanted.pulls, 0)
    counts, number, known, spent = counts_of(asked), number_of(asked, state), state.statistics, state.spent
    if spent is not None:
        reward, paid_key = jnp.zeros(state.time.shape), key
        if problem is not None and key is not None and problem.costs is not None:
            reward, paid_key = _reward(sums, asked), batch_key(key, state.batches)
        spent = spent.plus(problem, paid_key, state.by_arm(counts), number, reward)
        known = known.add_counts(counts, number, spent.pulls.capped(MAX_COUNT - 1))
    elif isinstance(asked, Batches):
        known = dataclasses.replace(known.add_sums(over_arms.total(sums), counts * number), time=state.time + pulls)
    else:
        known = dataclasses.replace(known.add_sums(sums, counts), time=state.time + pulls)
    return dataclasses.replace(
        state, statistics=known, spent=spent, steps=state.steps + live.astype(jnp.int32),
        idle=jnp.where(live, jnp.where(pulls > 0, 0, state.idle + 1), state.idle),
        drawn=None if state.drawn is None else state.drawn + number,
    )  # fmt: skip


def _reward(sums: jax.Array, asked: Request) -> jax.Array:
    """Return the sum of all rewards, float32 `(…)`."""
    over = compensated_total if jnp.issubdtype(sums.dtype, jnp.floating) else over_arms.total_of_counts
    if not isinstance(asked, Batches):
        return over(sums)

    def add(batch: jax.Array | int, total: jax.Array) -> jax.Array:
        return total + over(lax.dynamic_index_in_dim(sums, batch, 0, keepdims=False))

    return lax.fori_loop(0, jnp.max(asked.number), add, jnp.zeros(sums.shape[2:]))


def asked_arms(rule: Rule, asked: Request, state: RuleState) -> tuple[jax.Array, jax.Array]:
    """Return arms of the problem and how often to pull each, batch after batch; for one run."""
    counts = state.by_arm(counts_of(asked))
    arms = jnp.arange(counts.shape[0], dtype=jnp.int32)
    if not isinstance(asked, Batches):
        return arms, counts
    counts = jnp.where(np.arange(rule.slots)[:, None] < asked.number, counts, 0).reshape(-1)
    return jnp.tile(arms, rule.slots), counts


def told_sums(rule: Rule, asked: Request, state: RuleState, arms: jax.Array, sums: jax.Array) -> jax.Array:
    """Return sums in the layout of `draw_sums`, from those of the pulled arms, batch after batch; for one run."""
    shape = counts_of(asked).shape
    if not isinstance(asked, Batches):
        return state.by_place(jnp.zeros(shape).at[arms].add(sums))
    batch = jnp.arange(arms.shape[0]) // jnp.sum(counts_of(asked) > 0)
    found = jnp.zeros((rule.slots, *shape)).at[batch, arms].add(sums, mode="drop")
    return jax.vmap(state.by_place)(found)
