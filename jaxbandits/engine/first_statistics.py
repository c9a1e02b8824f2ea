"""The statistics of the arms when a rule first decides: after its first pulls, or after those made before a run."""

import dataclasses

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.protocol import Rule
from jaxbandits.arrays import arms as over_arms
from jaxbandits.problems.base import Problem
from jaxbandits.random.arm_orders import ArmOrder
from jaxbandits.random.threefry import key_words
from jaxbandits.statistics.arm_statistics import ArmStatistics

__all__ = ["statistics_at_start"]


def statistics_at_start(
    rule: Rule, problem: Problem, key: jax.Array, count: jax.Array | None, order: ArmOrder | None
) -> ArmStatistics:
    """Return the statistics after the first pulls, by places.

    Args:
        rule: the rule.
        problem: leaves `(K, …)`.
        key: the runs' typed keys, shape `(…)`.
        count: int32 `(…)`, how many arms exist, the first ones; None for all.
        order: the order in which the runs see them; None for the problem's.
    """
    return _not_folded(_after_first_pulls(rule, problem, key, count, order), key)


def _after_first_pulls(
    rule: Rule, problem: Problem, key: jax.Array, count: jax.Array | None, order: ArmOrder | None
) -> ArmStatistics:
    if problem.history is not None:
        return _after_history(rule, problem, key, count, order)
    if rule.fresh_only:
        return ArmStatistics.none(problem.arms, key.shape, integer=problem.integer_sums).without_sums()
    if not rule.initial_pulls:
        one_by_one = not rule.in_batches
        return ArmStatistics.none(
            problem.arms,
            key.shape,
            integer=problem.integer_sums,
            one_by_one=one_by_one,
            variance=rule.second_moments,
        )

    def rewards(pull: int) -> jax.Array:
        drawn = problem.rewards(key, pull).astype(problem.sum_type)
        return drawn if order is None else order.by_place(jnp.broadcast_to(drawn, (problem.arms, *key.shape)))

    known = ArmStatistics.first(rewards(0), None, variance=rule.second_moments)
    if rule.in_batches:  # means are then not stored
        known = dataclasses.replace(known, moments=known.moments._replace(mean=None, inverse_root=None))
    for pull in range(1, rule.initial_pulls):
        known = known.add_each(rewards(pull), jnp.ones(known.pulls.shape, bool))
    return known if count is None else dataclasses.replace(known, time=count * rule.initial_pulls)


def _after_history(
    rule: Rule, problem: Problem, key: jax.Array, count: jax.Array | None, order: ArmOrder | None
) -> ArmStatistics:
    """Return the statistics of pulls made before; arms with fewer than the initial pulls are pulled up to these."""
    before, shape = problem.history, (problem.arms, *key.shape)
    assert before is not None
    pulls, total, squares = (jnp.broadcast_to(leaf, shape) for leaf in (before.pulls, before.total, before.squares))
    known = ArmStatistics.of_counts(pulls, total, squares if rule.second_moments else None)
    for pull in range(rule.initial_pulls):
        known = known.add_each(jnp.broadcast_to(problem.rewards(key, pull), shape), known.pulls <= pull)
    if count is not None:
        exist = over_arms.index(problem.arms, key.shape) < count
        known = dataclasses.replace(known, time=over_arms.total(jnp.where(exist, known.pulls, 0)))
    if order is None:
        return known
    return dataclasses.replace(known, moments=jax.tree.map(order.by_place, known.moments))


def _not_folded(known: ArmStatistics, key: jax.Array) -> ArmStatistics:
    """Return the same statistics, but hide from the compiler that all runs begin with the same counts.

    Otherwise it would fold constants in a formula of them in one program and not in another.
    """
    nothing = ((key_words(key)[0] >> 16) >> 16).astype(jnp.int32)
    moments, root = known.moments, known.moments.inverse_root
    moments = moments._replace(
        pulls=moments.pulls + nothing, inverse_root=None if root is None else root + nothing.astype(jnp.float32)
    )
    return dataclasses.replace(known, moments=moments, time=known.time + nothing)
