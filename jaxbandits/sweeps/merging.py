"""Merges results of compatible specifications: Datasets, or stores."""

import shutil
import uuid
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import xarray as xr

from jaxbandits.compilers.jax_settings import own_settings
from jaxbandits.errors import UsageError
from jaxbandits.storage import seed_ranges
from jaxbandits.storage.arrays_on_disk import ENDINGS, open_arrays, remove
from jaxbandits.storage.block_files import block_names, check_block, read_block
from jaxbandits.storage.blocks import Block, entered
from jaxbandits.storage.consolidate import count_of_runs, make_view, places_of, read_store
from jaxbandits.storage.layout import Layout
from jaxbandits.storage.merged_specs import merge_specs
from jaxbandits.storage.store_files import blocks_folder, done_by_cell, path_of, read_description
from jaxbandits.sweeps.merging_datasets import merged
from jaxbandits.sweeps.stored import Outcome

__all__ = ["merge", "merge_stores"]


@own_settings()
def merge(parts: Sequence[xr.Dataset | str | Path], store: str | Path | None = None) -> xr.Dataset:
    """Merge results of compatible specifications, with other seeds or other values on their axes.

    Args:
        parts: two or more Datasets of `sweep`, selections from them, or paths of stores. Runs in more than one of them
            must be equal.
        store: for parts that are stores, the merged store to write, NAME.zarr or NAME.nc. Stores of sums (`keep` of
            summary or moments) can be merged in no other way.

    Returns:
        A Dataset with all of them; its specification is that of one sweep with all of their runs.

    Raises:
        UsageError: different specifications (the message names the entry), cells or seeds that no part has, runs that
            differ or that would be counted twice, damaged stores.

    Example:
        >>> one = jb.simulate(jb.Uniform(budget=20), jb.bernoulli([0.9, 0.4]), seeds=10)
        >>> two = jb.simulate(jb.Uniform(budget=20), jb.bernoulli([0.9, 0.4]), seeds=10, first_seed=10)
        >>> jb.merge([one, two]).sizes["seed"]
        20
    """
    if not isinstance(parts, list | tuple) or len(parts) < 2:
        raise UsageError("merge takes a list of two or more Datasets, or of stores")
    for part in parts:
        if not isinstance(part, xr.Dataset | str | Path):
            raise UsageError(f"merge takes Datasets or paths of stores, got {type(part).__name__}")
    if store is None:
        return merged([part if isinstance(part, xr.Dataset) else read_store(path_of(part)) for part in parts])
    if any(isinstance(part, xr.Dataset) for part in parts):
        raise UsageError("merge writes a store of stores only: jb.merge([…]).to_zarr(…) keeps merged Datasets")
    paths, out = [path_of(part) for part in parts if not isinstance(part, xr.Dataset)], path_of(store)
    outcome = merge_stores(paths, out)
    if outcome.there < outcome.wanted:
        return xr.Dataset(attrs={"missing": f"{outcome.wanted - outcome.there} runs, that no part has"})
    return open_arrays(out)


def merge_stores(paths: Sequence[Path], out: Path) -> Outcome:
    """Merge stores into a new one, which has all of their blocks.

    Raises:
        UsageError: see `merge`.
        OSError: it cannot be written.
    """
    if len(paths) < 2:
        raise UsageError("merge takes two or more stores")
    if out.suffix not in ENDINGS:
        raise UsageError(f"a store's name must end in {' or '.join(ENDINGS)}, got {str(out)!r}")
    if out.exists() or blocks_folder(out).exists():
        raise UsageError(f"{out} exists already")
    parts = []
    for path in paths:
        if (description := read_description(path)) is None:
            raise UsageError(f"{path} has no blocks: merge it with others as Datasets, jb.merge([…])")
        parts.append(description)
    both = merge_specs(parts, [str(path) for path in paths])
    done = [done_by_cell(blocks_folder(path)) for path in paths]
    _check_what_is_there_twice(paths, done, both.layout, both.keep)
    room = out.with_name(f".{out.stem}-{uuid.uuid4().hex}{out.suffix}")
    try:
        folder = blocks_folder(room)
        folder.mkdir(parents=True)
        for path in paths:
            for name in block_names(blocks_folder(path)):
                check_block(blocks_folder(path) / name)
                shutil.copyfile(blocks_folder(path) / name, folder / name)
        both.write(folder)
        there = count_of_runs(both.layout, done_by_cell(folder))
        if there == both.layout.runs:
            make_view(room, both)
        if folder.parent != room:
            folder.rename(blocks_folder(out))
        if room.exists():
            room.rename(out)
    finally:
        for leftover in (room, blocks_folder(room)):
            remove(leftover)
    return Outcome(0, 0, there, both.layout.runs, None)


def _check_what_is_there_twice(
    paths: Sequence[Path], done: Sequence[dict[str, list[seed_ranges.Stretch]]], layout: Layout, keep: str
) -> None:
    """Check that runs in more than one store are the same in all.

    Each run is compared with those of the last store before that has it: all stores before agree.
    """
    last: dict[str, list[tuple[int, int, int]]] = {}  # a store's number, and what no later one so far has of its seeds
    for i, own in enumerate(done):
        twice: dict[int, dict[str, list[seed_ranges.Stretch]]] = {}
        for cell, seeds in own.items():
            left = []
            for j, start, stop in last.get(cell, []):
                if found := seed_ranges.common([(start, stop)], seeds):
                    twice.setdefault(j, {}).setdefault(cell, []).extend(found)
                    left += [(j, a, b) for a, b in seed_ranges.missing((start, stop), found)]
                else:
                    left.append((j, start, stop))
            last[cell] = left + [(i, a, b) for a, b in seeds]
        for j, cells in sorted(twice.items()):
            if keep != "runs":
                start, stop = next(iter(cells.values()))[0]
                raise UsageError(
                    f"{paths[j]} and {paths[i]} both have the seeds {start} to {stop - 1} of a cell, which would be "
                    "counted twice: stores of sums must not share runs"
                )
            _compare(paths[j], paths[i], cells, layout)


def _compare(one: Path, other: Path, twice: dict[str, list[seed_ranges.Stretch]], layout: Layout) -> None:
    first = min(start for seeds in twice.values() for start, _ in seeds)
    last = max(stop for seeds in twice.values() for _, stop in seeds)
    part = layout._replace(cells=tuple(twice), first_seed=first, seeds=last - first)
    both = [_runs_of(path, part) for path in (one, other)]
    for number, (cell, seeds) in enumerate(twice.items()):
        del cell
        for start, stop in seeds:
            for name in both[0]:
                a, b = (found[name][number, start - first : stop - first] for found in both)
                if not np.array_equal(a, b, equal_nan=a.dtype.kind == "f"):
                    raise UsageError(
                        f"{one} and {other} have different runs of the same cell and seed, in their {name}: they were "
                        "made by other versions or on other processors"
                    )


def _runs_of(path: Path, layout: Layout) -> dict[str, np.ndarray]:
    places = places_of(layout)
    found: dict[str, np.ndarray] = {}
    for name in block_names(blocks_folder(path)):
        about, arrays = read_block(blocks_folder(path) / name)
        entered(Block(about, arrays), places, layout, found, lambda name: layout.blank(name, layout.seeds))
    return found
