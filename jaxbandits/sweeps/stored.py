"""Sweeps that are stored on disk as they run: only the runs that a store lacks are made."""

import importlib.metadata
import json
import logging
import os
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
import xarray as xr

from jaxbandits.checks import whole
from jaxbandits.engine.devices import chosen_devices
from jaxbandits.engine.program import Placement
from jaxbandits.errors import UsageError
from jaxbandits.interruptions import interruptible
from jaxbandits.io.diff import difference
from jaxbandits.io.spec_axes import by_label, same_files, with_paths_of
from jaxbandits.storage import seed_ranges
from jaxbandits.storage.arrays_on_disk import ENDINGS, open_arrays, read_arrays
from jaxbandits.storage.block_files import bytes_of_blocks
from jaxbandits.storage.consolidate import check_blocks, count_of_runs, is_current, is_made, make_view
from jaxbandits.storage.layout import numbers_of_values
from jaxbandits.storage.locks import hold_lock
from jaxbandits.storage.merged_specs import merge_specs, refuse_another
from jaxbandits.storage.seed_ranges import Stretch
from jaxbandits.storage.store_files import Description, blocks_folder, check_arrays, done_by_cell, read_description
from jaxbandits.storage.writer import BlockWriter, Part, writing
from jaxbandits.sweeps.checked_cells import check_same
from jaxbandits.sweeps.grid import Cell
from jaxbandits.sweeps.plan import Plan
from jaxbandits.sweeps.plan_runs import Timing
from jaxbandits.sweeps.stored_runs import Listeners, make_stored_runs
from jaxbandits.sweeps.time_limit import TimeLimit
from jaxbandits.xla_flags import refuse_other_flags

__all__ = ["Outcome", "part_of", "results_in", "run_stored"]

_LOGGER = logging.getLogger(__name__)


class Outcome(NamedTuple):
    """The outcome of a call for a store."""

    made: int  # runs that this call has made
    stopped: int  # of these, truncated runs
    there: int  # runs of the whole sweep in the store
    wanted: int  # runs of the whole sweep
    spent: Timing | None
    out_of_time: bool = False  # whether a time limit ended it before it was complete


def part_of(given: Any) -> Part:
    """Return a share of the runs, from `(number, of)`.

    None is all of them, or this process's share where JAX has several processes.

    Raises:
        UsageError: no such share.
    """
    if given is None:
        return Part(jax.process_index() + 1, jax.process_count())
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise UsageError(f"a part is a pair such as (1, 8), the first of eight, got {given!r}")
    of = whole("the number of parts", given[1], 1, 100_000)
    return Part(whole("the part", given[0], 1, of), of)


def run_stored(
    plan: Plan,
    path: Path,
    keep: str,
    part: Part,
    placement: Placement,
    listeners: Listeners | None = None,
    limit: TimeLimit | None = None,
) -> Outcome:
    """Make the runs that a store lacks, and its arrays once it has all.

    Raises:
        UsageError: a store of another specification or made under other XLA flags, one that is damaged or being
            written, too many devices, or an axis or a metric with a name that no array of a store can have.
        OSError: it cannot be written; what has been committed is kept.
        KeyboardInterrupt: interrupted, by Ctrl-C, SIGTERM or SIGUSR1; completed runs are kept.
    """
    if path.suffix not in ENDINGS:
        raise UsageError(f"a store's name must end in {' or '.join(ENDINGS)}, got {str(path)!r}")
    check_arrays(path, [*plan.layout.dimensions, *(plan.layout.variables if keep == "runs" else ())])
    chosen_devices(placement)
    folder = blocks_folder(path)
    if folder.exists() and not os.access(folder, os.W_OK) and _has_all(plan, path, keep):  # of a read-only disk
        return Outcome(0, 0, plan.layout.runs, plan.layout.runs, None)
    if path.exists() and not folder.exists() and (not path.is_dir() or any(path.iterdir())):
        return _of_arrays_only(plan, path, keep)
    folder.mkdir(parents=True, exist_ok=True)
    with interruptible(), writing(folder, part):
        known = read_description(path)
        done = check_blocks(folder, keep if known is None else known.keep)
        pending = _pending(plan, done, part)
        count = sum(stop - start for seeds in pending for start, stop in seeds)
        description = _described(plan, path, keep, running=count > 0)
        spent, made, stopped = None, 0, 0
        if count:
            there = plan.layout.runs - count
            _LOGGER.info("%s: %d runs to make in part %d/%d, %d are there or of other parts", path, count, *part, there)
            writer = BlockWriter(folder, part, plan.layout, keep, count)
            spent = make_stored_runs(plan, pending, placement, writer, path, limit, listeners or Listeners())
            made, stopped = writer.runs, writer.stopped
        there = count_of_runs(description.layout, done_by_cell(folder))
    late = made < count
    if there == description.layout.runs:
        late = limit is not None and not is_made(path) and not limit.allows_arrays(bytes_of_blocks(folder))
        if not late:
            make_view(path, description)
    return Outcome(made, stopped, there, description.layout.runs, spent, late)


def results_in(path: Path, plan: Plan) -> xr.Dataset:
    """Return the runs of a plan in a store, read when they are used."""
    dataset, layout = open_arrays(path), plan.layout
    there = read_description(path)
    if there is None or there.spec == plan.spec:
        return dataset
    others = there.layout.dimensions.keys() - layout.dimensions.keys()  # axes that this plan lacks repeat its runs
    dataset = dataset.isel(dict.fromkeys(others, 0), drop=True)
    chosen: dict[str, Any] = {}
    paths = same_files(there.spec, plan.spec)
    for name, values in layout.dimensions.items():
        numbers = numbers_of_values(np.asarray(there.layout.dimensions[name]).tolist())
        chosen[name] = [numbers[paths.get(name, {}).get(value, value)] for value in np.asarray(values).tolist()]
    if "seed" in dataset.dims:
        start = layout.first_seed - there.layout.first_seed
        chosen["seed"] = slice(start, start + layout.seeds)
        moved = {name: np.asarray(layout.dimensions[name]) for name in paths}
        return dataset.isel(chosen).assign_coords(moved).assign_attrs(plan.attrs)
    return dataset.isel(chosen)


def _of_arrays_only(plan: Plan, path: Path, keep: str) -> Outcome:
    """Return the outcome for a store without blocks: it may match the plan, but nothing can be added to it."""
    dataset = read_arrays(path)
    there = json.loads(dataset.attrs["spec"])
    there.setdefault("run", {})["keep"] = dataset.attrs.get("keep", "runs")
    here = json.loads(json.dumps({**plan.spec, "run": {**plan.spec["run"], "keep": keep}}))
    refuse_another(there, here, str(path))
    refuse_other_flags(dataset.attrs, plan.attrs, str(path))
    if difference(by_label(there), by_label(with_paths_of(there, here))):
        raise UsageError(
            f"{path} was written as a whole, without blocks that others could be added to: write a new store"
        )
    return Outcome(0, 0, plan.layout.runs, plan.layout.runs, None)


def _pending(plan: Plan, done: dict[str, list[Stretch]], part: Part) -> list[list[Stretch]]:
    """Return the seeds of each cell that this part is to run: its share of every cell, rotated between chains."""
    layout = plan.layout
    found: list[list[Stretch]] = []
    seen: dict[str, Cell] = {}
    chain_of = {place: number for number, chain in enumerate(plan.chains.places) for place in chain}
    for number, cell in enumerate(layout.cells):
        if cell in seen:  # a cell that is in the grid twice is run once
            check_same(plan.cells[number], seen[cell])
        if cell in seen or not cell:
            found.append([])
            continue
        share = (part.number - 1 + chain_of[number]) % part.of
        start, stop = (layout.first_seed + layout.seeds * end // part.of for end in (share, share + 1))
        found.append(seed_ranges.missing((start, stop), done.get(cell, [])))
        seen[cell] = plan.cells[number]
    return found


def _described(plan: Plan, path: Path, keep: str, *, running: bool) -> Description:
    """Return the description of a store that is to have a plan's runs, too; it is written again if it changes."""
    folder = blocks_folder(path)
    versions = [f"{name} {importlib.metadata.version(name)}" for name in ("jaxbandits", "jax")]
    made_with = ", ".join([*versions, jax.default_backend()])
    with hold_lock(folder / "sweep.lock"):
        there = read_description(path)
        both = _together(plan, path, keep, there, (made_with,) if running else ())
        if there is None or both.content() != there.content():
            both.write(folder)
        return both


def _has_all(plan: Plan, path: Path, keep: str) -> bool:
    """Return whether a store is complete, and has the runs of a plan."""
    there = read_description(path)
    if there is None or not is_current(path):
        return False
    return _together(plan, path, keep, there, ()).content() == there.content()


def _together(plan: Plan, path: Path, keep: str, there: Description | None, made_with: tuple[str, ...]) -> Description:
    """Return the description of the runs that are there, and of a plan's."""
    attrs = {name: value for name, value in plan.attrs.items() if name != "spec"}
    here = Description(plan.spec, keep, plan.layout, attrs, made_with)
    return here if there is None else merge_specs([there, here], [str(path), "what is to be added"])
