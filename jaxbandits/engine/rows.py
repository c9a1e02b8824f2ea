"""What is logged of runs: a row when a run ends, or is looked at; the log, and how the host reads it."""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxbandits.arrays import arms, ranking
from jaxbandits.arrays.numerics import fast_max, fast_min
from jaxbandits.costs.accounts import Account, CheckpointCosts
from jaxbandits.engine.lane_state import Carry, Cells, Settings, next_checkpoint
from jaxbandits.engine.metric import measured
from jaxbandits.engine.own_criterion import judged
from jaxbandits.problems.base import Problem
from jaxbandits.status import CAPPED, ENDED, STALLED

__all__ = ["ROUNDING", "Log", "LogRow", "Regret", "blank_log", "record", "row_types", "unpacked"]


#: Means are float32: by this share of the larger one, four of its spacings, two that are compared may be off.
ROUNDING = 2.0**-21


class Regret(NamedTuple):
    """How far the returned arms are from the best that the reservoir has, in value; NaN where none is returned."""

    simple: jax.Array  # float32 (…): the worst of them
    aggregate: jax.Array  # float32 (…): their mean
    beyond: jax.Array  # float32 (…): the worst of m of them, from the m-th best that the run pulled, less `ROUNDING`


class LogRow(NamedTuple):
    """What is logged of a run at a time."""

    cell: jax.Array  # int32 (…)
    seed: jax.Array  # int32 (…)
    checkpoint: jax.Array  # int32 (…)
    account: Account  # (…)
    steps: jax.Array  # int32 (…)
    status: jax.Array  # int32 (…): how the run ended, a code of `jaxbandits.status`
    ended: jax.Array  # bool (…): the run's last row
    regret: Regret | None  # (…): where arms were drawn for the run, and only the device knows them
    correct: jax.Array | None  # bool (…): by the algorithm's own criterion, where it has one
    own: dict[str, jax.Array]  # (…) or (K, …): a user's metrics


class Log(NamedTuple):
    """Rows written in one call, in order of completion; the first `rows` are valid."""

    rows: jax.Array  # int32 ()
    rounds: jax.Array  # int32 (): chunks of steps made in this call
    pulled: jax.Array  # float32 (): pulls made in this call, for the progress display
    # One array: the compiler takes 30 ms for each loop over lanes, however small, and there is one for each array.
    words: jax.Array  # uint32 (W, capacity): the leaves of `LogRow`, see `unpacked`
    recommended: jax.Array  # bool (capacity, K)


def row_types(cells: Cells, carry: Carry, settings: Settings) -> LogRow:
    """The types of what is logged of these lanes, which have the device axis first."""
    types: LogRow = _of_devices.eval_shape(cells, carry, settings=settings)
    return types


@functools.partial(jax.jit, static_argnames=("settings",))  # traced once for all runs of these types
def _of_devices(cells: Cells, carry: Carry, *, settings: Settings) -> LogRow:
    with settings.code.traced():
        rows: LogRow = jax.vmap(lambda c: _row(cells, c, c.cell, c.busy, settings)[0])(carry)
    return rows


def blank_log(cells: Cells, carry: Carry, settings: Settings) -> Log:
    """A log of these lanes without a row."""
    row, recommended = jax.eval_shape(lambda c: _row(cells, c, c.cell, c.busy, settings), carry)
    return Log(
        rows=jnp.int32(0),
        rounds=jnp.int32(0),
        pulled=jnp.float32(0),
        words=jnp.zeros((jax.eval_shape(_packed, row).shape[0], settings.capacity), jnp.uint32),
        recommended=jnp.zeros((settings.capacity, recommended.shape[0]), bool),
    )


def record(cells: Cells, carry: Carry, log: Log, settings: Settings) -> tuple[Carry, Log]:
    """Log the lanes that are done, at a checkpoint or at `max_pulls`; free those whose run is over."""
    time = carry.state.time
    done = carry.algorithm.done(carry.state)
    limited = carry.algorithm.at_limit(carry.state, cells.max_pulls)
    capped = ~done & (limited | jnp.asarray(carry.algorithm.exhausted(carry.state)))
    stalled = ~done & ~capped & jnp.asarray(carry.algorithm.stalled(carry.state))
    fault = carry.algorithm.fault(carry.state)
    status = jnp.where(capped, CAPPED, jnp.where(stalled, STALLED, ENDED))
    status = jnp.where(fault > 0, fault, status)
    over = done | capped | stalled | (fault > 0)
    points = cells.checkpoints.shape[0]
    if points:
        written = carry.busy & (over | carry.state.reached(next_checkpoint(cells, carry)))
        # The last checkpoint ends a run: nothing after it is asked for.
        over = over | (written & (carry.checkpoint + 1 >= points))
    else:
        written = carry.busy & over
    ended = carry.busy & over

    def write(log: Log) -> tuple[Log, CheckpointCosts | None]:
        row = jnp.where(written, log.rows + jnp.cumsum(written) - 1, settings.capacity)
        found, recommended = _row(cells, carry, status, ended, settings)
        looked = carry.looked
        if looked is not None:
            assert found.account.paid is not None
            looked = looked.again(carry.state.pulls, time, found.account.paid, written)
        log = log._replace(
            rows=log.rows + jnp.sum(written.astype(jnp.int32)),
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
    """Lanes whose runs have ended in a cell and go on in another, as what they would be there by now."""
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
    cells: Cells, carry: Carry, status: jax.Array, ended: jax.Array, settings: Settings
) -> tuple[LogRow, jax.Array]:
    """Rows of all lanes, and their recommended arms, bool (K, R)."""
    recommended = carry.algorithm.recommend(carry.state)
    budget = carry.algorithm.cost_budget
    if budget is not None and cells.checkpoints.shape[0]:
        budget = fast_min(budget, next_checkpoint(cells, carry))
    spent = carry.state.account(carry.problem, carry.key, budget, carry.looked)
    row = LogRow(
        cell=carry.cell, seed=carry.seed, checkpoint=carry.checkpoint, account=spent, steps=carry.steps, status=status,
        ended=ended, regret=_regret(carry.problem, recommended, carry.state.pulls > 0),
        correct=_correct(carry, recommended, settings),
        own=_measured(carry, recommended, settings),
    )  # fmt: skip
    return row, recommended


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
    """The leaves of rows, `(R,)` or `(K, R)`, bit for bit below each other; uint32 `(W, R)`."""
    whole = [leaf.astype(jnp.int32) if leaf.dtype == bool else leaf for leaf in jax.tree.leaves(row)]
    return jnp.concatenate([lax.bitcast_convert_type(jnp.atleast_2d(leaf), jnp.uint32) for leaf in whole])


def unpacked(words: np.ndarray, like: LogRow) -> LogRow:
    """Rows `(N,)`, or `(N, K)` where there is a value of each arm, from the words `(W, N)` of a log, on the host.

    Args:
        words: uint32.
        like: rows with the leaves' types, of shape `(devices, R)` or `(devices, K, R)`.
    """
    leaves, structure = jax.tree.flatten(like)
    ends = np.cumsum([1 if len(leaf.shape) == 2 else leaf.shape[1] for leaf in leaves])
    found = []
    for leaf, columns in zip(leaves, np.split(words, ends[:-1]), strict=True):
        values = columns.astype(bool) if leaf.dtype == bool else columns.view(leaf.dtype)
        found.append(values[0] if len(leaf.shape) == 2 else values.T)
    rows: LogRow = jax.tree.unflatten(structure, found)
    return rows
