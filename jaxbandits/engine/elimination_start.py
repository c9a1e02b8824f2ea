"""The first round of a run of a rule that eliminates arms, and the length of its blocks of rounds."""

import dataclasses

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.protocol import Rule
from jaxbandits.arrays import arms as over_arms
from jaxbandits.arrays.compensated_sums import CompensatedSum, IntSum
from jaxbandits.engine.elimination_state import EliminationState
from jaxbandits.engine.rule_states import order_of, values_by_place
from jaxbandits.problems.base import Problem
from jaxbandits.random.threefry import key_words
from jaxbandits.statistics.robust_means import Catoni, EmpiricalMean, MeanEstimator

__all__ = ["first_round", "rounds_of_a_block", "unpulled"]


def rounds_of_a_block(rule: Rule, estimator: MeanEstimator) -> int:
    """Return how many rewards of one arm a step draws at once; this changes no run.

    More rewards are drawn faster, but more of them are discarded.
    """
    if not estimator.running:
        return 1
    return 16 if rule.looks_each_round else 8


def unpulled(rule: Rule, problem: Problem, key: jax.Array) -> EliminationState:
    """Return the state before the first pull, without the fields that depend on the rule's methods.

    Args:
        rule: the rule.
        problem: leaves `(K, …)`.
        key: the runs' typed keys, shape `(…)`.
    """
    shape, count = key.shape, None
    exists = jnp.ones((problem.arms, *shape), bool)
    if problem.mask is not None:
        exists = jnp.broadcast_to(problem.mask, exists.shape)
        count = over_arms.total(exists.astype(jnp.int32))
    b = jnp.broadcast_to(jnp.asarray(problem.reward_range, jnp.float32), shape) if problem.bounded else None
    order = order_of(rule, problem, key, count)
    nothing, zeros = jnp.zeros(shape, jnp.int32), jnp.zeros(exists.shape, jnp.float32)
    return EliminationState(
        sums=CompensatedSum.of(zeros), undone=None,
        survivors=jnp.broadcast_to(over_arms.index(problem.arms, shape), exists.shape), active=exists,
        gone=zeros.astype(jnp.int32), left=over_arms.total(exists.astype(jnp.int32)), position=nothing, round=nothing,
        start=nothing, target=None, highest=None, lowest=None, ahead=nothing + 1, time=nothing,
        estimator=EmpiricalMean(), b=b, count=count, order=order, own=None, words=key_words(key),
        fault=nothing, bandits=problem.bandits, placed=values_by_place(rule, order, shape),
    )  # fmt: skip


def first_round(rule: Rule, state: EliminationState, problem: Problem, key: jax.Array) -> EliminationState:
    """Return the state after the first round, in which every arm is pulled."""
    estimator, one = state.estimator, jnp.ones(state.time.shape, jnp.int32)
    drawn = jnp.broadcast_to(problem.rewards(key, 0), state.active.shape)
    first = estimator.term(state.by_place(drawn).astype(jnp.float32), one)
    others = jnp.zeros(((estimator.slots - 1) * state.places, *state.time.shape), first.dtype)
    whole = problem.integer_sums and isinstance(estimator, EmpiricalMean)
    sums = (IntSum if whole else CompensatedSum).of(jnp.concatenate([first, others]))
    if isinstance(estimator, Catoni):
        estimator = dataclasses.replace(estimator, last=first)
    state = dataclasses.replace(state, sums=sums, estimator=estimator, round=one, time=state.left)
    if not (rule.looks_each_round and estimator.running):
        return state
    estimates = estimator.estimates(sums, one)
    highest = over_arms.largest(jnp.where(state.active, estimates, -jnp.inf))
    lowest = over_arms.smallest(jnp.where(state.active, estimates, jnp.inf))
    return dataclasses.replace(state, undone=sums, highest=highest, lowest=lowest)
