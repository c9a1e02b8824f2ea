"""The state of a device's lanes, the data that they share, and the settings of their loop."""

import dataclasses
from collections.abc import Callable
from typing import NamedTuple

import jax
from jax.sharding import Mesh
from jax.typing import ArrayLike

from jaxbandits.arrays.numerics import fast_min
from jaxbandits.costs.accounts import CheckpointCosts
from jaxbandits.engine.mapped_algorithm import MappedAlgorithm
from jaxbandits.engine.metric import Metrics
from jaxbandits.engine.rule_states import RunState
from jaxbandits.problems.base import Problem
from jaxbandits.users_code.cache_key import Code

__all__ = ["Carry", "Cells", "Settings", "Window", "next_checkpoint"]


class Cells(NamedTuple):
    """The grid: hyperparameters, problems and checkpoints of C cells, padded, and the data that all jobs share."""

    algorithm: MappedAlgorithm  # leaves (C,)
    problem: Problem  # leaves (K, C)
    identity: jax.Array  # uint32 (2, C): a hash of the cell, folded into run keys when cells are to be independent
    checkpoints: jax.Array  # (Q, C), increasing: int32, pulls at which a run is logged, or float32, costs
    root: jax.Array  # typed key ()
    max_pulls: jax.Array  # int32 ()
    successor: jax.Array | None  # int32 (C,): the cell in which an ended run continues, -1 for none


class Window(NamedTuple):
    """The next jobs of a device's queue, at most W; a leading device axis is added outside."""

    numbers: jax.Array  # int32 (2, W + 1): cells and seeds, and their number; one array, since each transfer takes time

    @property
    def cell(self) -> jax.Array:
        """Return the cell of each job, int32 `(W,)`."""
        return self.numbers[..., 0, :-1]

    @property
    def seed(self) -> jax.Array:
        """Return the seed of each job, int32 `(W,)`."""
        return self.numbers[..., 1, :-1]

    @property
    def jobs(self) -> jax.Array:
        """Return the number of jobs, int32 `()`."""
        return self.numbers[..., 0, -1]


@dataclasses.dataclass(frozen=True)
class Settings:
    """The settings that the loop is compiled for; none changes a result."""

    mesh: Mesh
    lanes: int
    block: int  # steps of the innermost loop: a GPU runs a loop of known length without the host
    capacity: int  # rows that a call may log
    independent: bool
    together: bool  # whether lanes tend to end in the same step, and are refilled all at once, as on accelerators
    metrics: Metrics  # the user's
    judge: Callable[..., ArrayLike] | None  # the algorithm's own criterion; None where the host judges the answers
    code: Code  # the code of algorithm, problem and metrics
    on_chip: bool  # whether a block is a kernel that keeps the lanes' state on the chip

    @property
    def platform(self) -> str:
        """Return JAX's name of the devices' platform."""
        return str(self.mesh.devices.flat[0].platform)

    @property
    def window(self) -> int:
        """Return the number of jobs that a call may load: one for each lane, and one for each row."""
        return self.capacity + self.lanes


class Carry(NamedTuple):
    """The R lanes of one device, arms first, runs last; a leading device axis is added outside."""

    state: RunState  # the algorithm's state, (…, R)
    algorithm: MappedAlgorithm  # leaves (R,)
    problem: Problem  # leaves (K, R)
    key: jax.Array  # typed keys (R,)
    busy: jax.Array  # bool (R,)
    cell: jax.Array  # int32 (R,)
    seed: jax.Array  # int32 (R,)
    checkpoint: jax.Array  # int32 (R,): next checkpoint
    steps: jax.Array  # int32 (R,)
    looked: CheckpointCosts | None  # (K, R), where costs are drawn at checkpoints, of which there are several
    following: jax.Array  # int32 (): the next job of the window


def next_checkpoint(cells: Cells, carry: Carry) -> jax.Array:
    """Return the next checkpoint of each lane, int32 or float32 `(R,)`."""
    following = fast_min(carry.checkpoint, cells.checkpoints.shape[0] - 1)
    return cells.checkpoints[following, carry.cell]
