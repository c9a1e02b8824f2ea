"""The input of one compiled loop: compatible cells of a grid, their runs, and where these are made."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jax.typing import ArrayLike

from jaxbandits.engine.mapped_algorithm import MappedAlgorithm
from jaxbandits.engine.metric import Metrics
from jaxbandits.problems.base import Problem

__all__ = ["Placement", "Program", "Runs"]


class Runs(NamedTuple):
    """The runs of every cell."""

    seeds: int  # runs per cell
    root_seed: int  # the root key's seed
    max_pulls: int  # a run is truncated after this many pulls
    independent: bool  # whether every cell has its own reward table


class Placement(NamedTuple):
    """Where runs are made; no field changes a result."""

    devices: int | None  # number of devices to use; None for all
    lanes: int | None  # runs at a time per device; None for a measured default
    chunk: int | None  # steps between two refills of the lanes; None to follow the length of the runs
    on_chip: bool = False  # whether to keep the state of lanes on the chip for a block of steps, where possible


class Program(NamedTuple):
    """C compatible cells of a grid, stacked, and their runs."""

    algorithm: MappedAlgorithm  # leaves (C,)
    problem: Problem  # leaves (K, C)
    identity: np.ndarray  # uint32 (2, C): a hash of each cell, used where cells are to be independent
    checkpoints: np.ndarray  # (Q, C): int32, numbers of pulls, or float32, costs where a budget is spent
    runs: Runs
    metrics: Metrics = ()  # the user's
    judge: Callable[..., ArrayLike] | None = None  # the algorithm's own criterion: of algorithm, problem and answer
    successor: np.ndarray | None = None  # int32 (C,): the cell in which an ended run continues, -1 for none
