"""Grid to jobs to Dataset: `sweep`, and `simulate` for when there is one cell or a few."""

import dataclasses
import itertools
import json
import time
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
import xarray as xr

from jaxbandits.algorithms.bases.parameters import is_parameter
from jaxbandits.algorithms.bases.protocol import BuiltIn, RoundBased, Sequential
from jaxbandits.algorithms.bases.traits import traits_of
from jaxbandits.arrays.known import Known
from jaxbandits.arrays.numerics import MAX_COUNT
from jaxbandits.arrays.pytrees import classes
from jaxbandits.engine.border import check_algorithm, check_methods, in_registry
from jaxbandits.engine.compilation import compile_clock, make_room
from jaxbandits.engine.driver import Progress, job_rows
from jaxbandits.engine.stepping import pull_limit
from jaxbandits.engine.vectorise import Vectorised
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem
from jaxbandits.problems.constructors import ProblemFamily
from jaxbandits.sweeps.grid import Cell, expand, identities
from jaxbandits.sweeps.results import Results
from jaxbandits.sweeps.spec import describe

__all__ = ["simulate", "sweep"]


def sweep(
    algorithm: Any,
    problem: Problem | ProblemFamily,
    seeds: int = 1000,
    *,
    root_seed: int = 0,
    max_pulls: int | None = None,
    checkpoints: Sequence[float] | None = None,
    independent: bool = False,
    devices: int | None = None,
    lanes: int | None = None,
    chunk: int | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> xr.Dataset:
    """Run every cell of a grid with the same seeds and return a labelled Dataset.

    Fields of the algorithm and arguments of the problem made with `jb.axis` span the grid; everything numeric in it
    shares one compilation.
    Seed `s` sees the same reward table in every cell (common random numbers), so differences between cells are paired.

    Args:
        algorithm: a built-in algorithm, or a dataclass with `jb.pytree` and the protocol's methods, written for one
            run; it is judged by the criterion and the tolerance that its `jb.Traits` declare.
        problem: a problem, or a constructor's result with axes among its arguments.
        seeds: runs per cell, at least 1.
        root_seed: seed of the root key, in [0, 2^64) (of JAX's own keys, below 2^32); run `s` has the key
            `fold_in(key(root_seed), s)`.
        max_pulls: a run is stopped after this many pulls, with status 1 and its recommendation of that moment; None
            for 10^9, or for no limit where a built-in algorithm draws sums, which take no more time if they are longer.
        checkpoints: numbers of pulls at which to look at each run as well, increasing; for algorithms that need not
            know their budget. Where a budget of cost is spent they are smaller budgets.
        independent: give every cell its own reward tables: by its values, so that a cell's runs are the same on its own
            and in every grid.
        devices: number of devices to use; None for all that JAX sees.
        lanes: runs at a time per device; changes speed, never results.
        chunk: steps between looks at the lanes; changes speed, never results.
        on_progress: called now and then with the runs and pulls done so far.

    Returns:
        Dimensions: one per axis, `checkpoint` where asked for, `seed`, and `arm` (`bandit`, `arm` for several bandits).
            Variables: `pulls`, `cost`,
        `recommended`, `correct`, `simple_regret`, `aggregate_regret`, `steps`, `status` (0 finished, 1 stopped at
        `max_pulls`, or because the next counts would pass 2^31, 2 stopped after 10 000 steps without a pull, which only
        a user's own algorithm makes); `joint_pulls` where sets of arms are pulled at once;
        `paid`, the cost that was drawn, where pulls have costs of their own and it is known; `reward`, collected within
        a budget of cost, and `regret`, what it lacks to the best ratio times the budget.

    Raises:
        UsageError: anything that cannot be run, before anything is.
    """
    seeds, root_seed = _whole("seeds", seeds, 1), _seed(root_seed)
    if max_pulls is None:
        max_pulls = pull_limit(algorithm)
    max_pulls = _whole("max_pulls", max_pulls, 1)
    points = _checkpoints(algorithm, checkpoints, max_pulls)
    if not isinstance(problem, Problem | ProblemFamily):
        raise UsageError(f"a problem is needed, such as jb.bernoulli([0.7, 0.5]), got {type(problem).__name__}")
    grid = expand(algorithm, problem)
    for cell in grid.cells:
        check_algorithm(cell.algorithm)
    identity = identities(grid.cells) if independent else np.zeros((2, len(grid.cells)), np.uint32)
    for i, cell in enumerate(grid.cells):
        if isinstance(cell.algorithm, BuiltIn):
            explored = cell.algorithm.explored(cell.problem)
            cell.algorithm.check(explored.arms // explored.bandits, explored.bandits)
            grid.cells[i] = cell._replace(algorithm=cell.algorithm.resolved(explored), problem=explored)
            continue
        name = type(cell.algorithm).__name__
        if not cell.problem.arms:
            raise UsageError(f"{name}: give {cell.problem.name} arms=, the number that a run draws")
        if cell.problem.bandits > 1 and not traits_of(cell.algorithm).multi_bandit:
            raise UsageError(
                f"{name} explores one bandit, the problem has {cell.problem.bandits}: if it can, multi_bandit=True in "
                "its jb.Traits says so"
            )
    settings = {"seeds": seeds, "root_seed": root_seed, "max_pulls": max_pulls, "independent": independent}
    if checkpoints is not None:
        settings["checkpoints"] = points.tolist()
    groups = _alike(grid.cells)
    for cells in groups:
        if not in_registry(cells[0].algorithm):
            example = jax.tree.map(lambda leaf: leaf[..., 0], _stacked(cells))
            check_methods(example, cells[0].problem, jax.random.key(0, impl="threefry2x32"))
    spec = json.dumps(describe(algorithm, problem, settings))  # of what is there before the runs
    results = Results(grid, seeds=seeds, checkpoints=points)
    began = time.perf_counter()
    before = Progress(runs=0, pulls=0.0)
    make_room()
    with compile_clock() as clock:
        for cells in groups:
            latest = Progress(runs=0, pulls=0.0)

            def report(progress: Progress, before: Progress = before) -> None:
                nonlocal latest
                latest = progress
                if on_progress is not None:
                    on_progress(Progress(before.runs + progress.runs, before.pulls + progress.pulls))

            arms = max(cell.problem.arms // cell.problem.bandits for cell in cells)
            rows = job_rows(
                _batched_algorithm(cells),
                _batched_problem(cells, arms),
                identity=identity[:, [results.index[cell.position] for cell in cells]],
                checkpoints=np.repeat(points[:, None], len(cells), axis=1),
                seeds=seeds,
                root_seed=root_seed,
                max_pulls=max_pulls,
                independent=independent,
                devices=devices,
                lanes=lanes,
                chunk=chunk,
                on_progress=report,
            )
            for batch in rows:
                results.add(cells, batch)
            before = Progress(before.runs + latest.runs, before.pulls + latest.pulls)
    seconds = time.perf_counter() - began
    dataset = results.dataset()
    unseen = [cell.algorithm.unseen(cell.problem) for cell in grid.cells if isinstance(cell.algorithm, BuiltIn)]
    if known := [probability for probability in unseen if probability is not None]:
        dataset.attrs["unseen"] = max(known)
    dataset.attrs.update(
        algorithm=type(algorithm).__name__,
        problem=problem.name,
        root_seed=root_seed,
        spec=spec,
        compile_seconds=round(clock.seconds, 4),
        seconds=round(max(seconds - clock.seconds, 1e-9), 4),
    )
    return dataset


def simulate(algorithm: Any, problem: Problem | ProblemFamily, seeds: int = 1000, **options: Any) -> xr.Dataset:
    """Run one algorithm on one problem: `sweep` by the name that reads better without a grid, options as there."""
    return sweep(algorithm, problem, seeds, **options)


def _alike(cells: list[Cell]) -> list[list[Cell]]:
    """Cells that share one program: the same classes and static choices, arms within one power of two."""
    groups: dict[Any, list[Cell]] = {}
    for cell in cells:
        arms = cell.problem.arms // cell.problem.bandits
        problem = cell.problem.kind()
        static = (jax.tree.structure(cell.algorithm), jax.tree.structure(problem), classes((cell.algorithm, problem)))
        # A user's own algorithm need not know of arms that are there only to fill up a table: its are never padded.
        size = (arms - 1).bit_length() if in_registry(cell.algorithm) else arms
        groups.setdefault((static, size), []).append(cell)
    return list(groups.values())


def _batched_algorithm(cells: list[Cell]) -> Any:
    """The cells' algorithms as one, with leaves of shape `(C,)`; what may be written for one run is wrapped."""
    stacked = _stacked(cells)
    # A class with these two halves may be written for one run, too, as `AskTell` needs no more.
    several = isinstance(stacked, BuiltIn) and not isinstance(stacked, Sequential | RoundBased)
    return stacked if several or in_registry(stacked) else Vectorised(stacked)


def _stacked(cells: list[Cell]) -> Any:
    """The cells' algorithms as one, with leaves of shape `(…, C)`."""
    algorithms = [cell.algorithm for cell in cells]
    first = algorithms[0]
    name = type(first).__name__
    changes: dict[str, Any] = {}
    for field in dataclasses.fields(first) if isinstance(first, BuiltIn) else ():
        values = [getattr(algorithm, field.name) for algorithm in algorithms]
        if not is_parameter(field) or field.metadata["static"] or values[0] is None:
            continue
        common = field.metadata["common"]
        if common is not None and all(value == common for value in values):
            changes[field.name] = Known(common)
        elif field.metadata["rule"] == "count":
            if max(values) > MAX_COUNT:
                raise UsageError(f"{name}: {field.name} must stay below 2^31, got {max(values):g}")
            changes[field.name] = np.asarray(values, np.int32)
        else:
            changes[field.name] = np.asarray(values, np.float32)
    stacked = jax.tree.map(lambda *leaves: _stack(name, leaves), *algorithms)
    return dataclasses.replace(stacked, **changes) if changes else stacked


def _stack(owner: str, leaves: Sequence[Any]) -> np.ndarray:
    stacked = np.stack([np.asarray(leaf) for leaf in leaves], axis=-1)
    if np.issubdtype(stacked.dtype, np.floating):
        return stacked.astype(np.float32)
    if np.issubdtype(stacked.dtype, np.integer):
        if stacked.size and np.abs(stacked).max() > MAX_COUNT:
            raise UsageError(f"{owner}: whole numbers must stay below 2^31, got {np.abs(stacked).max()}")
        return stacked.astype(np.int32)
    return stacked


def _batched_problem(cells: list[Cell], arms: int) -> Problem:
    """The cells' problems as one, with leaves of shape `(K, C)`; padded only where their numbers of arms differ."""
    counts = {cell.problem.arms // cell.problem.bandits for cell in cells}
    if len(counts) > 1:
        # A power of two, so that other numbers of arms in the same range reuse the program.
        width = 1 << (arms - 1).bit_length()
        problems = [cell.problem.padded(width) for cell in cells]
    else:
        problems = [cell.problem for cell in cells]
    unnamed = [dataclasses.replace(problem, name="") for problem in problems]
    stacked: Problem = jax.tree.map(lambda *leaves: np.stack([np.asarray(x) for x in leaves], axis=-1), *unnamed)
    return stacked


def _whole(name: str, value: Any, least: int) -> int:
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool) and np.isfinite(value)
    if not number or value != int(value) or value < least:
        raise UsageError(f"{name} must be a whole number, at least {least}, got {value!r}")
    if value > MAX_COUNT:
        raise UsageError(f"{name} must stay below 2^31, the range of the counts, got {value:g}")
    return int(value)


def _seed(value: Any) -> int:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or not 0 <= value < 2**64:
        raise UsageError(f"root_seed must be a whole number from 0 to 2^64 - 1, got {value!r}")
    return int(value)


def _checkpoints(algorithm: Any, checkpoints: Sequence[float] | None, max_pulls: int) -> np.ndarray:
    if checkpoints is None:
        return np.zeros(0, np.int32)
    traits = traits_of(algorithm)
    if not traits.anytime:
        why = "says that it cannot be looked at before it ends"
        if isinstance(algorithm, BuiltIn) and algorithm.given("budget") is not None:
            why = "must know its budget: use budget=jb.axis([…]) in place of checkpoints"
        elif traits.in_batches:
            why = "pulls in large batches, and cannot be looked at in between"
        raise UsageError(f"{type(algorithm).__name__} {why}")
    spends = traits.spends is not None
    points = [_cost("a checkpoint", p) if spends else _whole("a checkpoint", p, 1) for p in checkpoints]
    if not points or any(a >= b for a, b in itertools.pairwise(points)):
        raise UsageError(f"checkpoints must be increasing, and at least one, got {list(checkpoints)}")
    if spends:
        return np.asarray(points, np.float32)
    if points[-1] > max_pulls:
        raise UsageError(f"checkpoints must not exceed max_pulls={max_pulls}, got {points[-1]}")
    return np.asarray(points, np.int32)


def _cost(name: str, value: Any) -> float:
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool) and np.isfinite(value)
    if not number or value <= 0:
        raise UsageError(f"{name} must be a positive number, got {value!r}")
    return float(value)
