"""The arrays of a store, which xarray opens: made from the blocks once all runs are complete."""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from jaxbandits.errors import UsageError
from jaxbandits.storage import seed_ranges
from jaxbandits.storage.accumulator_datasets import moments_dataset, summary_dataset
from jaxbandits.storage.accumulators import Stream
from jaxbandits.storage.arrays_on_disk import left_of_killed, read_arrays, remove, write_arrays
from jaxbandits.storage.block_files import block_names, check_block, read_block, read_done, write_whole
from jaxbandits.storage.blocks import Block, cells_of, entered
from jaxbandits.storage.layout import Layout, dataset_of
from jaxbandits.storage.locks import hold_lock
from jaxbandits.storage.store_files import (
    Description,
    blocks_folder,
    done_by_cell,
    read_description,
)

__all__ = [
    "blocks_of",
    "blocks_of_sums",
    "check_blocks",
    "count_of_runs",
    "is_current",
    "is_made",
    "make_view",
    "places_of",
    "read_store",
]

#: Largest arrays that are made in memory, in bytes; larger ones are made in a file beside the store.
_IN_MEMORY = 2**28


def places_of(layout: Layout) -> dict[str, list[int]]:
    """Return the numbers of each cell in a layout, by its hash."""
    found: dict[str, list[int]] = {}
    for number, cell in enumerate(layout.cells):
        found.setdefault(cell, []).append(number)
    return found


def count_of_runs(layout: Layout, done: dict[str, list[seed_ranges.Stretch]]) -> int:
    """Return the number of a layout's runs that exist."""
    wanted = (layout.first_seed, layout.first_seed + layout.seeds)
    missing = [seed_ranges.missing(wanted, done.get(cell, [])) for cell in layout.distinct_cells]
    return layout.runs - sum(stop - start for gaps in missing for start, stop in gaps)


def blocks_of(folder: Path, description: Description) -> Iterator[Block]:
    """Yield the blocks of a folder that count, after checking every byte.

    Raises:
        UsageError: a damaged block, two blocks of sums that share runs, or a block of sums of another store.
    """
    own = set(description.layout.cells)
    for name in _that_count(folder, description.keep):
        block = Block(*read_block(folder / name))
        if description.keep != "runs" and not own.issuperset(cells_of(block)):
            raise UsageError(f"block {folder / name} has runs of another store: delete it")
        yield block


def check_blocks(folder: Path, keep: str) -> dict[str, list[seed_ranges.Stretch]]:
    """Return the seeds of each cell in the blocks of a folder that count, after checking every byte.

    Raises:
        UsageError: as `blocks_of`.
    """
    rows = [check_block(folder / name) for name in _that_count(folder, keep)]
    return seed_ranges.by_cell(np.concatenate([np.zeros((0, 3), np.uint64), *rows]))


def _that_count(folder: Path, keep: str) -> list[str]:
    return block_names(folder) if keep == "runs" else blocks_of_sums(folder)


def blocks_of_sums(folder: Path) -> list[str]:
    """Return the names of the blocks whose sums count.

    A block whose runs are all in larger ones does not: `compact` has left it when it was killed.

    Raises:
        UsageError: a block that shares some runs with larger ones, and not all.
    """
    done = {name: read_done(folder / name) for name in block_names(folder)}
    counts = {name: seed_ranges.count_seeds(rows) for name, rows in done.items()}
    there, kept = np.zeros((0, 3), np.uint64), list[str]()
    if seed_ranges.count_seeds(np.concatenate([there, *done.values()])) == sum(counts.values()):
        return sorted(done)  # no two share a run, as always but after a kill: one by one would be slow
    for name in sorted(done, key=lambda name: -counts[name]):
        both = seed_ranges.unite_rows(np.concatenate([there, done[name]]))
        new = seed_ranges.count_seeds(both) - seed_ranges.count_seeds(there)
        if 0 < new < counts[name]:
            raise UsageError(
                f"block {folder / name} has {counts[name] - new:,} runs that other blocks have, and would be counted "
                "twice: delete it, and --resume makes what is missing"
            )
        if new:
            there, kept = both, [*kept, name]
    return sorted(kept)


def make_view(path: Path, description: Description) -> None:
    """Make the arrays of a store with all its runs.

    Raises:
        UsageError: a block that is damaged.
        OSError: they cannot be written; the blocks are unchanged.
    """
    folder = blocks_folder(path)
    with hold_lock(folder / "view.lock"):
        if is_current(path):
            return
        (folder / "view.json").unlink(missing_ok=True)
        for old in (*folder.glob(".arrays-*"), *left_of_killed(path)):
            remove(old)
        # What cannot be removed is removed by the next call: the error would hide an interruption.
        with tempfile.TemporaryDirectory(prefix=".arrays-", dir=folder, ignore_cleanup_errors=True) as room:
            dataset = _dataset(folder, description, Path(room))
            if path.suffix == ".zarr":
                made = Path(room) / "view.zarr"
                write_arrays(dataset, made)
                _move_in(made, path)
            else:
                write_arrays(dataset, path)
        # Not of the file: another process may have added to it meanwhile.
        made_of = hashlib.sha256(description.content()).hexdigest()
        hashes = {name: _hash(path / name) for name in _files(path)} if path.is_dir() else {path.name: _hash(path)}
        write_whole(folder / "view.json", json.dumps({"made_of": made_of, "files": hashes}).encode())


def is_made(path: Path) -> bool:
    """Return whether there are arrays of all runs of the store's description."""
    folder = blocks_folder(path)
    return _view(folder).get("made_of") == _hash(folder / "sweep.json")


def is_current(path: Path) -> bool:
    """Return whether there are arrays of all runs of the store, and they have not changed since they were made."""
    return is_made(path) and not _damaged(path, _view(blocks_folder(path))["files"])


def _view(folder: Path) -> dict[str, Any]:
    """Return the hashes of the description and of the arrays' files; empty where no arrays were made."""
    try:
        view = json.loads((folder / "view.json").read_bytes())
        return {"made_of": str(view["made_of"]), "files": dict(view["files"])}
    except (OSError, ValueError, KeyError, TypeError):
        return {"files": {}}


def read_store(path: Path) -> xr.Dataset:
    """Return the results of a store, in memory.

    Raises:
        UsageError: no store, something else, a store without all of its runs, or one that is damaged.
    """
    if (description := read_description(path)) is None:
        return read_arrays(path)
    folder = blocks_folder(path)
    if not is_made(path):
        there, wanted = count_of_runs(description.layout, done_by_cell(folder)), description.layout.runs
        raise UsageError(f"{path} has {there:,} of {wanted:,} runs: sweep … --resume makes the others")
    if damaged := _damaged(path, _view(folder)["files"]):
        raise UsageError(f"{path} is damaged, its file {damaged} has changed: sweep … --resume makes it again")
    return read_arrays(path)


def _dataset(folder: Path, description: Description, room: Path) -> xr.Dataset:
    layout, places = description.layout, places_of(description.layout)
    attrs = {
        **description.attrs,
        "spec": json.dumps(description.spec),
        "keep": description.keep,
        "made_with": "; ".join(description.made_with),
    }
    if description.keep == "runs":
        found: dict[str, np.ndarray] = {}
        for block in blocks_of(folder, description):
            entered(block, places, layout, found, lambda name: _blank(layout, name, room))
        dataset = dataset_of(layout, found, layout.first_seed)
        return dataset.assign_attrs(attrs)
    distinct = layout._replace(cells=layout.distinct_cells)  # the statistics of a cell are kept once
    stream, numbers = Stream(distinct, counting=description.keep == "summary"), places_of(distinct)
    for block in blocks_of(folder, description):
        cells = np.asarray([numbers[cell][0] for cell in cells_of(block)])
        stream.add_arrays(block.arrays, cells, (block.about["bandits"], block.about["arms"]))
    if description.keep == "summary":
        return summary_dataset(stream, layout, attrs)
    return moments_dataset(stream, layout).assign_attrs(attrs)


def _blank(layout: Layout, name: str, room: Path) -> np.ndarray:
    """Return an array for all runs: in memory or, where that would take much, in a file."""
    shape, dtype = layout.shape_of(name, layout.seeds), layout.dtype_of(name)
    if np.prod(shape, dtype=np.int64) * dtype.itemsize <= _IN_MEMORY:
        return layout.blank(name, layout.seeds)
    array: Any = np.memmap(room / name, dtype, "w+", shape=shape)
    return np.asarray(layout.blank(name, layout.seeds, array))


def _move_in(made: Path, path: Path) -> None:
    """Replace the existing arrays by new ones; metadata comes last, since without it nothing is opened."""
    names = [".zmetadata", ".zattrs", ".zgroup"]
    for name in names:
        (path / name).unlink(missing_ok=True)
    for old in path.iterdir():
        if old.is_dir() and old.name != "blocks":
            shutil.rmtree(old)
    for new in made.iterdir():
        if new.name not in names:
            os.replace(new, path / new.name)
    for name in reversed(names):
        os.replace(made / name, path / name)


def _files(path: Path) -> list[str]:
    """Return the files of a store's arrays."""
    found = (file.relative_to(path) for file in path.rglob("*") if file.is_file())
    return sorted(file.as_posix() for file in found if file.parts[0] != "blocks")


def _damaged(path: Path, files: dict[str, str]) -> str:
    """Return the first file that has changed; empty if none has."""
    for name, expected in files.items():
        file = path / name if path.is_dir() else path
        if not file.is_file() or _hash(file) != expected:
            return name
    return ""


def _hash(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
