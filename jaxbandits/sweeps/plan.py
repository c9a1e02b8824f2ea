"""A plan of a sweep: everything is checked before anything runs; any part of it can then be run."""

import dataclasses
import functools
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from jaxbandits.arrays.numerics import MAX_COUNT
from jaxbandits.arrays.pytrees import is_traced
from jaxbandits.checks import seed, shown, whole
from jaxbandits.engine.binding import most_pulls
from jaxbandits.engine.declared_properties import check_declared_properties
from jaxbandits.engine.first_pulls import check_first_pulls
from jaxbandits.engine.flight_checks import warn_of_one_arm
from jaxbandits.engine.gradient_guard import INSTEAD
from jaxbandits.engine.job_queue import Ranges
from jaxbandits.engine.mapping import map_algorithm
from jaxbandits.engine.metric import Metric, MetricKind, Metrics, check_metrics, functions_of, users_metrics
from jaxbandits.engine.problem_checks import check_family, check_values
from jaxbandits.engine.program import Runs
from jaxbandits.engine.stacked_algorithms import as_stacked, check_like
from jaxbandits.errors import UsageError, about
from jaxbandits.storage.layout import Layout
from jaxbandits.sweeps.checked_cells import check_cells, check_kinds
from jaxbandits.sweeps.entries import Entries, entries_of
from jaxbandits.sweeps.grid import RESERVED, Cell, expand
from jaxbandits.sweeps.group_cells import batched_problem, group_by_program
from jaxbandits.sweeps.metrics import METRICS, MetricSpec, table
from jaxbandits.sweeps.options import check_names, checked_option, checkpoint_values
from jaxbandits.sweeps.platform_options import flight_options
from jaxbandits.sweeps.results import layout_of
from jaxbandits.sweeps.shared_trajectories import Chains, share_trajectories
from jaxbandits.sweeps.spec import describe
from jaxbandits.users_code.records import recorded
from jaxbandits.xla_flags import ATTRIBUTE, flags_now

__all__ = ["Plan", "make_plan"]


@dataclasses.dataclass(frozen=True)
class Plan:
    """A checked sweep."""

    algorithms: Entries
    problems: Entries
    cells: list[Cell]  # with the parameters derived from the problem
    distinct: list[int]  # the numbers of the cells that are run: each of those that repeat runs once
    first: np.ndarray  # int64 (C,): the number of the first cell that has the same runs; `NONE` of one that is not run
    not_run: dict[str, str]  # why, by the names of algorithm and problem
    identity: np.ndarray  # uint32 (2, C): a hash of each cell, as the user gave it
    runs: Runs
    limited: bool  # whether the user set `max_pulls`
    checkpoints: np.ndarray  # (Q,)
    own: Metrics
    metrics: dict[str, MetricSpec]
    spec: dict[str, Any]
    layout: Layout
    paddable: dict[Any, bool]  # which programs may be padded, as far as that is known

    @property
    def attrs(self) -> dict[str, Any]:
        """Return the attributes of a Dataset of this sweep."""
        found: dict[str, Any] = {}
        unseen = [cell.algorithm.unseen(cell.problem) for cell in self.distinct_cells]
        if improbable := [probability for probability in unseen if probability is not None]:
            found["unseen"] = max(improbable)
        if self.chains.field is not None:
            found["one_trajectory"] = self.chains.field
        if self.not_run:
            found["not_run"] = json.dumps(self.not_run)
        if not self.algorithms.listed:
            found["algorithm"] = type(self.algorithms.things[""]).__name__
        if not self.problems.listed:
            found["problem"] = self.problems.things[""].name
        return found | {"root_seed": self.runs.root_seed, "spec": json.dumps(self.spec), ATTRIBUTE: flags_now()}

    @property
    def distinct_cells(self) -> list[Cell]:
        """Return the cells that are run: each of those that repeat runs once."""
        return [self.cells[place] for place in self.distinct]

    @functools.cached_property
    def chains(self) -> Chains:
        """Return the numbers of the cells that share runs, in the order in which a run continues."""
        groups: dict[str, list[int]] = {}
        for place in self.distinct:
            number = self.cells[place].position[0] if self.algorithms.listed else 0
            groups.setdefault(self.algorithms.names[number], []).append(place)
        found = {
            name: share_trajectories([self.cells[place] for place in places], self.runs, len(self.checkpoints))
            for name, places in groups.items()
        }
        fields = [f"{chains.field} of {name}".removesuffix(" of ") for name, chains in found.items() if chains.field]
        numbered = [[groups[name][i] for i in chain] for name, chains in found.items() for chain in chains.places]
        return Chains(", ".join(fields) or None, numbered)

    def runs_of(self, cells: Sequence[Cell]) -> Runs:
        """Return the runs of cells of one class of algorithms, with the limit that is usual for it if none is given."""
        limit = self.runs.max_pulls if self.limited else most_pulls(cells[0].algorithm)
        return self.runs._replace(max_pulls=limit)

    def places(self, cells: Sequence[Cell]) -> np.ndarray:
        """Return the numbers of cells in the grid, int64 `(C,)`."""
        shape = self.layout.shape
        steps = np.cumprod([1, *shape[:0:-1]], dtype=np.int64)[::-1][: len(shape)]
        return np.asarray(np.asarray([cell.position for cell in cells], np.int64) @ steps)

    def all_seeds(self, cells: Sequence[Cell]) -> list[Ranges]:
        """Return the seeds of each of some cells."""
        return [[(self.layout.first_seed, self.layout.first_seed + self.layout.seeds)] for _ in cells]

    def groups(self, cells: Sequence[Cell]) -> list[list[Cell]]:
        """Return groups of cells that share a program."""
        return group_by_program(list(cells), self.runs, padded=not self.own, known=self.paddable)


def make_plan(
    algorithm: Any,
    problem: Any,
    seeds: int,
    *,
    first_seed: int = 0,
    root_seed: int = 0,
    max_pulls: int | None = None,
    checkpoints: Sequence[float] | None = None,
    independent: bool = False,
    metrics: Mapping[str, Callable[..., Any] | Metric] | None = None,
    batch: Any = None,
    delay: Any = None,
) -> Plan:
    """Check everything that a sweep is given; arguments as in `sweep`.

    Raises:
        UsageError: any input that cannot be run.
    """
    seeds = checked_option("seeds", whole, "seeds", seeds, 1, MAX_COUNT)
    first_seed = checked_option("first_seed", whole, "first_seed", first_seed, 0, MAX_COUNT - seeds)
    root_seed = checked_option("root_seed", seed, "root_seed", root_seed)
    if not isinstance(independent, bool):
        with about("run", "independent"):
            raise UsageError(f"independent is true or false, got {shown(independent)}")
    algorithms = entries_of("algorithm", algorithm)
    limited = max_pulls is not None
    usual = max(map(most_pulls, algorithms.things.values()))
    max_pulls = checked_option("max_pulls", whole, "max_pulls", max_pulls, 1, MAX_COUNT) if limited else usual
    points = checkpoint_values(algorithms, checkpoints, max_pulls)
    problems = entries_of("problem", problem)
    if is_traced((list(algorithms.things.values()), list(problems.things.values()))):
        raise UsageError(f"runs need values, and these are being traced: call it outside of jax.jit; {INSTEAD}")
    flights = flight_options(batch, delay)
    grid = expand(algorithms, problems, flights)
    own = users_metrics(metrics, {**METRICS, **grid.dimensions, **dict.fromkeys(RESERVED)})
    check_names(algorithms, problems, flights, [name for name, _ in own])
    grid, identity, not_run = check_cells(grid, algorithms, problems)
    runs = Runs(seeds, root_seed, max_pulls, independent)
    settings: dict[str, Any] = runs._asdict()
    if algorithms.listed and not limited:
        del settings["max_pulls"]  # each class of algorithms has its own
    if first_seed:
        settings["first_seed"] = first_seed
    settings |= flights.settings
    if checkpoints is not None:
        settings["checkpoints"] = points.tolist()
    if own:
        settings["metrics"] = [name for name, _ in own]  # text cannot hold their functions
        settings |= recorded(functions=functions_of(own))
    kinds: dict[str, MetricKind] = {}
    paddable: dict[Any, bool] = {}
    for cells in group_by_program(grid.distinct_cells, runs, padded=not own, known=paddable):
        key = jax.random.key(0, impl="threefry2x32")
        check_family(cells[0].problem, key)
        for cell in cells:
            check_values(cell.problem, key)
        check_declared_properties(cells[0].problem)
        check_like([cell.algorithm for cell in cells], cells[0].problem, key)
        if any(cell.flight is not None and cell.flight.overlaps for cell in cells):
            warn_of_one_arm(as_stacked(cells[0].algorithm), cells[0].problem, key)
        if limited:
            check_first_pulls([cell.algorithm for cell in cells], batched_problem(cells), max_pulls)
        found = check_metrics(own, map_algorithm(cells[0].algorithm), cells[0].problem, key)
        check_kinds(kinds, found, cells[0])
        kinds |= found
    spec = describe(algorithms, problems, settings)  # before the runs, of the code as it is now
    measured = table(own, kinds)
    layout = layout_of(grid, algorithms, problems, (first_seed, seeds), points, measured, identity)
    return Plan(
        algorithms, problems, grid.cells, grid.distinct, grid.first, not_run, identity, runs, limited, points, own,
        measured, spec, layout, paddable,
    )  # fmt: skip
