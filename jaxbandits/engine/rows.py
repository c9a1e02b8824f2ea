"""The log of runs: a row when a run ends or reaches a checkpoint, and how the host reads the rows."""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxbandits.arrays import arms, ranking
from jaxbandits.arrays.numerics import ROUNDING, fast_max, fast_min
from jaxbandits.costs.accounts import Account, CheckpointCosts
from jaxbandits.engine.finite_populations import known_arms
from jaxbandits.engine.flights import Journey
from jaxbandits.engine.lane_state import Carry, Cells, Settings, next_checkpoint
from jaxbandits.engine.metric import measured
from jaxbandits.engine.own_criterion import judged
from jaxbandits.problems.base import Problem
from jaxbandits.status import CAPPED, ENDED, STALLED

__all__ = ["Log", "LogRow", "Regret", "blank_log", "record", "row_types", "unpacked"]


class Regret(NamedTuple):
    """The difference in value of the returned arms from the reservoir's best; NaN where none is returned."""

    simple: jax.Array  # float32 (…): of the worst returned arm
    aggregate: jax.Array  # float32 (…): the mean over the returned arms
    beyond: jax.Array  # float32 (…): of the worst of m, from the m-th best arm that the run pulled, less `ROUNDING`


class LogRow(NamedTuple):
    """The entries of one row of the log."""

    cell: jax.Array  # int32 (…)
    seed: jax.Array  # int32 (…)
    checkpoint: jax.Array  # int32 (…)
    account: Account  # (…)
    steps: jax.Array  # int32 (…)
    status: jax.Array  # int32 (…): how the run ended, a code of `jaxbandits.status`
    ended: jax.Array  # bool (…): whether it is the run's last row
    regret: Regret | None  # (…): where the arms were drawn for the run, so that only the device has them
    correct: jax.Array | None  # bool (…): by the algorithm's own criterion, where it has one
    own: dict[str, jax.Array]  # (…) or (K, …): the user's metrics
    evaluations: jax.Array | None  # int32 (…): cells of finite populations that were read; None elsewhere
    journey: Journey | None  # (…): of runs with pulls in flight; None for others


class Log(NamedTuple):
    """Rows written in one call, in order of completion; the first `rows` are valid."""

    rows: jax.Array  # int32 ()
    rounds: jax.Array  # int32 (): chunks of steps made in this call
    pulled: jax.Array  # float32 (): pulls made in this call, for the progress display
    # One array: each array has a loop over lanes, and each loop takes 30 ms to compile, however small.
    words: jax.Array  # uint32 (W, capacity): the leaves of `LogRow`, see `unpacked`
    recommended: jax.Array  # bool (capacity, K)


def row_types(cells: Cells, carry: Carry, settings: Settings) -> LogRow:
    """Return the types of the rows of one device, `(R,)` or `(K, R)`, from lanes with the device axis first."""
    types: LogRow = _of_a_device.eval_shape(cells, carry, settings=settings)
    return types


@functools.partial(jax.jit, static_argnames=("settings",))  # traced once for all runs of these types
def _of_a_device(cells: Cells, carry: Carry, *, settings: Settings) -> LogRow:
    lanes = jax.tree.map(lambda leaf: leaf[0], carry)
    recommended = jnp.zeros((lanes.problem.arms, *lanes.busy.shape), bool)  # as any: to trace the answer takes long
    with settings.code.traced():
        return _row(cells, lanes, lanes.cell, lanes.busy, recommended, settings)


def blank_log(types: LogRow, arms: int, settings: Settings) -> Log:
    """Return an empty log for rows of these types, and for answers of this many arms."""
    words = sum(1 if leaf.ndim == 1 else leaf.shape[0] for leaf in jax.tree.leaves(types))
    return Log(
        rows=jnp.int32(0),
        rounds=jnp.int32(0),
        pulled=jnp.float32(0),
        words=jnp.zeros((words, settings.capacity), jnp.uint32),
        recommended=jnp.zeros((settings.capacity, arms), bool),
    )


def record(cells: Cells, carry: Carry, log: Log, settings: Settings) -> tuple[Carry, Log]:
    """Log the lanes that are done, at a checkpoint or at `max_pulls`; free the lanes of ended runs."""
    time = carry.state.time
    done = carry.algorithm.done(carry.state)
    known = known_arms(carry.algorithm, carry.problem, carry.state) if carry.problem.finite else None
    if known is not None:
        done = done | known.everything
    limited = carry.algorithm.at_limit(carry.state, cells.max_pulls)
    capped = ~done & (limited | jnp.asarray(carry.algorithm.exhausted(carry.state)))
    if known is not None:
        capped = capped | (~done & known.in_vain)
    stalled = ~done & ~capped & jnp.asarray(carry.algorithm.stalled(carry.state))
    fault = carry.algorithm.fault(carry.state)
    status = jnp.where(capped, CAPPED, jnp.where(stalled, STALLED, ENDED))
    status = jnp.where(fault > 0, fault, status)
    over = done | capped | stalled | (fault > 0)
    points = cells.checkpoints.shape[0]
    if points:
        written = carry.busy & (over | carry.state.reached(next_checkpoint(cells, carry)))
        # The last checkpoint ends a run: nothing after it is logged.
        over = over | (written & (carry.checkpoint + 1 >= points))
    else:
        written = carry.busy & over
    ended = carry.busy & over

    def write(log: Log) -> tuple[Log, CheckpointCosts | None]:
        number = log.rows + jnp.cumsum(written, dtype=jnp.int32)
        row = jnp.where(written, number - 1, settings.capacity)
        recommended = carry.algorithm.recommend(carry.state)
        found = _row(cells, carry, status, ended, recommended, settings)
        looked = carry.looked
        if looked is not None:
            assert found.account.paid is not None
            looked = looked.again(carry.state.pulls, time, found.account.paid, written)
        log = log._replace(
            rows=number[-1],
            words=log.words.at[:, row].set(_packed(found), mode="drop"),
            recommended=log.recommended.at[row].set(recommended.T, mode="drop"),
        )
        return log, looked

    log, looked = lax.cond(jnp.any(written), write, lambda log: (log, carry.looked), log)
    carry = carry._replace(
        looked=looked,
        busy=carry.busy & ~ended,
        checkpoint=carry.checkpoint + written.astype(jnp.int32),
    )
    return _gone_on(cells, carry, ended), log


def _gone_on(cells: Cells, carry: Carry, ended: jax.Array) -> Carry:
    """Continue ended runs in the next cell, in which they would have the same state by now."""
    if cells.successor is None:
        return carry
    following = cells.successor[carry.cell]
    on = ended & (following >= 0)

    def go_on(carry: Carry) -> Carry:
        cell = jnp.where(on, following, carry.cell)
        algorithm = jax.tree.map(lambda leaf: leaf[..., cell], cells.algorithm)
        return carry._replace(
            algorithm=algorithm, cell=cell, busy=carry.busy | on, checkpoint=jnp.where(on, 0, carry.checkpoint)
        )

    return lax.cond(jnp.any(on), go_on, lambda carry: carry, carry)


def _row(
    cells: Cells, carry: Carry, status: jax.Array, ended: jax.Array, recommended: jax.Array, settings: Settings
) -> LogRow:
    """Return the rows of all lanes, of which these arms are recommended, bool `(K, R)`."""
    budget = carry.algorithm.cost_budget
    if budget is not None and cells.checkpoints.shape[0]:
        budget = fast_min(budget, next_checkpoint(cells, carry))
    spent = carry.state.account(carry.problem, carry.key, budget, carry.looked)
    return LogRow(
        cell=carry.cell, seed=carry.seed, checkpoint=carry.checkpoint, account=spent, steps=carry.steps, status=status,
        ended=ended, regret=_regret(carry.problem, recommended, carry.state.pulls > 0),
        correct=_correct(carry, recommended, settings),
        own=_measured(carry, recommended, settings),
        evaluations=carry.problem.evaluations(carry.state.pulls) if carry.problem.finite else None,
        journey=carry.algorithm.journey(carry.state),
    )  # fmt: skip


def _measured(carry: Carry, recommended: jax.Array, settings: Settings) -> dict[str, jax.Array]:
    if not settings.metrics:
        return {}
    return measured(settings.metrics, carry.problem, carry.algorithm.state_of(carry.state), recommended)


def _regret(problem: Problem, recommended: jax.Array, pulled: jax.Array) -> Regret | None:
    if problem.supremum is None:
        return None
    value, number = problem.value, arms.total(recommended.astype(jnp.int32))
    worst = arms.smallest(jnp.where(recommended, value, jnp.inf))
    mean = arms.total(jnp.where(recommended, value, 0)) / number.astype(jnp.float32)
    best = ranking.kth_largest(value, fast_max(number, 1), pulled)
    rounding = jnp.float32(ROUNDING) * fast_max(jnp.abs(best), jnp.abs(worst))
    lost = (problem.supremum - worst, problem.supremum - mean, (best - worst) - rounding)
    return Regret(*(jnp.where(number > 0, regret, jnp.nan) for regret in lost))


def _correct(carry: Carry, recommended: jax.Array, settings: Settings) -> jax.Array | None:
    """Judge the answers of all lanes by the algorithm's own criterion, which is written for one run."""
    if settings.judge is None:
        return None
    return judged(settings.judge, carry.algorithm.rule, carry.problem, recommended)


def _packed(row: LogRow) -> jax.Array:
    """Return the bits of the leaves of rows, `(R,)` or `(K, R)`, stacked; uint32 `(W, R)`."""
    whole = [leaf.astype(jnp.int32) if leaf.dtype == bool else leaf for leaf in jax.tree.leaves(row)]
    return jnp.concatenate([lax.bitcast_convert_type(jnp.atleast_2d(leaf), jnp.uint32) for leaf in whole])


def unpacked(words: np.ndarray, like: LogRow) -> LogRow:
    """Return rows `(N,)`, or `(N, K)` where each arm has a value, from the words of a log, on the host.

    Args:
        words: uint32 `(W, N)`.
        like: rows with the leaves' types, of shape `(R,)` or `(K, R)`.
    """
    leaves, structure = jax.tree.flatten(like)
    ends = np.cumsum([1 if len(leaf.shape) == 1 else leaf.shape[0] for leaf in leaves])
    found = []
    for leaf, columns in zip(leaves, np.split(words, ends[:-1]), strict=True):
        values = columns.astype(bool) if leaf.dtype == bool else columns.view(leaf.dtype)
        found.append(values[0] if len(leaf.shape) == 1 else values.T)
    rows: LogRow = jax.tree.unflatten(structure, found)
    return rows
