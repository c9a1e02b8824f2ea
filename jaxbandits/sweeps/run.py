"""Grid to jobs to Dataset: `sweep`, and `simulate` for when there is one cell or a few."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np
import xarray as xr

from jaxbandits.arrays.numerics import MAX_COUNT
from jaxbandits.checks import seed, whole
from jaxbandits.engine.admission import admitted, check, check_like
from jaxbandits.engine.compilation import compile_clock, make_room
from jaxbandits.engine.driver import Progress, job_rows
from jaxbandits.engine.metric import Metric, check_metrics, users_metrics
from jaxbandits.engine.no_derivative import INSTEAD
from jaxbandits.engine.program import Placement, Runs
from jaxbandits.engine.programs_on_disk import kept_programs
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem
from jaxbandits.problems.constructors import ProblemFamily
from jaxbandits.sweeps.grid import RESERVED, expand, identities
from jaxbandits.sweeps.metrics import METRICS, table
from jaxbandits.sweeps.options import checkpoint_values
from jaxbandits.sweeps.programs import alike, program
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
    metrics: Mapping[str, Callable[..., Any] | Metric] | None = None,
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
        metrics: further numbers to measure of every run, functions of problem, state and returned arms or `jb.Metric`s,
            by the names of the Dataset's variables; a grid over numbers of arms is then not padded.
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
    seeds, root_seed = whole("seeds", seeds, 1, MAX_COUNT), seed("root_seed", root_seed)
    known = admitted(algorithm)
    max_pulls = known.most_pulls if max_pulls is None else whole("max_pulls", max_pulls, 1, MAX_COUNT)
    points = checkpoint_values(known, checkpoints, max_pulls)
    if not isinstance(problem, Problem | ProblemFamily):
        raise UsageError(f"a problem is needed, such as jb.bernoulli([0.7, 0.5]), got {type(problem).__name__}")
    if any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves((algorithm, problem))):
        raise UsageError(f"jb.simulate and jb.sweep run on values, and these are being traced: {INSTEAD}")
    grid = expand(known, problem)
    own = users_metrics(metrics, {**METRICS, **grid.dimensions, **dict.fromkeys(RESERVED)})
    for cell in grid.cells:
        check(cell.algorithm)
    identity = identities(grid.cells) if independent else np.zeros((2, len(grid.cells)), np.uint32)
    for i, cell in enumerate(grid.cells):
        suited, explored = cell.algorithm.suited(cell.problem)
        grid.cells[i] = cell._replace(algorithm=suited, problem=explored)
    runs, placement = Runs(seeds, root_seed, max_pulls, independent), Placement(devices, lanes, chunk)
    settings: dict[str, Any] = runs._asdict()
    if checkpoints is not None:
        settings["checkpoints"] = points.tolist()
    if own:
        settings["metrics"] = [name for name, _ in own]  # their functions no text can hold
    groups, types = alike(grid.cells, runs, padded=not own), {}
    for cells in groups:
        key = jax.random.key(0, impl="threefry2x32")
        check_like([cell.algorithm for cell in cells], cells[0].problem, key)
        types = check_metrics(own, cells[0].algorithm.alone(), cells[0].problem, key)
    spec = json.dumps(describe(known, problem, settings))  # of what is there before the runs
    results = Results(grid, seeds, points, table(own, types))
    began = time.perf_counter()
    before = Progress(runs=0, pulls=0.0)
    make_room()
    with kept_programs(), compile_clock() as clock:
        for cells in groups:
            latest = Progress(runs=0, pulls=0.0)

            def report(progress: Progress, before: Progress = before) -> None:
                nonlocal latest
                latest = progress
                if on_progress is not None:
                    on_progress(Progress(before.runs + progress.runs, before.pulls + progress.pulls))

            hashes = identity[:, [results.index[cell.position] for cell in cells]]
            for batch in job_rows(program(cells, hashes, points, runs, own), placement, report):
                results.add(cells, batch)
            before = Progress(before.runs + latest.runs, before.pulls + latest.pulls)
    seconds = time.perf_counter() - began
    dataset = results.dataset()
    unseen = [cell.algorithm.unseen(cell.problem) for cell in grid.cells]
    if improbable := [probability for probability in unseen if probability is not None]:
        dataset.attrs["unseen"] = max(improbable)
    dataset.attrs.update(
        algorithm=known.name,
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
