"""Contents of a block: one row per run, or the statistics of a stream; and the seeds of each cell."""

from typing import Any, NamedTuple

import numpy as np

from jaxbandits.errors import UsageError
from jaxbandits.storage import seed_ranges
from jaxbandits.storage.accumulators import Stream
from jaxbandits.storage.layout import FinishedRuns, Layout

__all__ = ["Block", "block_of", "cells_of", "entered", "joined", "joined_blocks", "summed"]


class Block(NamedTuple):
    """A block as its file stores it."""

    about: dict[str, Any]
    arrays: dict[str, np.ndarray]


def joined(parts: list[FinishedRuns]) -> FinishedRuns:
    """Return all runs of several parts, which have the same variables."""
    values = {name: np.concatenate([part.values[name] for part in parts]) for name in parts[0].values}
    cell, seed = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    return FinishedRuns(cell, seed, values)


def block_of(runs: FinishedRuns, layout: Layout, keep: str) -> Block:
    """Return a block of runs, whose cells are numbered as in the layout; `keep` is one of `KEEP`."""
    numbers = np.flatnonzero(np.bincount(runs.cell, minlength=len(layout.cells)))
    cell = np.searchsorted(numbers, runs.cell)
    cells = np.asarray([int(layout.cells[i], 16) for i in numbers], np.uint64)
    arrays = {"done": _done(cells, np.sort((cell << 33) | runs.seed)), "cells": cells}
    about = {"keep": keep, "bandits": layout.bandits, "arms": layout.arms}
    if keep != "runs":
        stream = Stream(_narrowed(layout, numbers), counting=keep == "summary")
        stream.add(runs._replace(cell=cell))
        return Block(about, arrays | stream.arrays())
    arrays |= {"cell": cell.astype(np.uint32), "seed": runs.seed.astype(np.uint32)}
    for name, values in runs.values.items():
        arrays[f"value.{name}"] = np.packbits(values, axis=-1) if _is_mask(layout, name) else values
    return Block(about, arrays)


def joined_blocks(blocks: list[Block]) -> Block:
    """Return one block with the runs of several, each run once, ordered by cell and seed.

    Args:
        blocks: blocks of runs with the same `about` and variables; of equal runs the last stays.
    """
    parts = [block.arrays for block in blocks]
    names, number = np.unique(np.concatenate([part["cells"] for part in parts]), return_inverse=True)
    ends = np.cumsum([part["cells"].size for part in parts])[:-1]
    cells = [own[part["cell"]] for own, part in zip(np.split(number, ends), parts, strict=True)]
    key = (np.concatenate(cells).astype(np.int64) << 33) | np.concatenate([part["seed"] for part in parts])
    order = np.argsort(key, kind="stable")
    order = order[np.append(np.diff(key[order]) != 0, True)]
    arrays = {"done": _done(names, key[order]), "cells": names}
    arrays["cell"], arrays["seed"] = (key[order] >> 33).astype(np.uint32), (key[order] & 0xFFFFFFFF).astype(np.uint32)
    for name in parts[0]:
        if name.startswith("value."):
            arrays[name] = np.concatenate([part[name] for part in parts])[order]
    return Block(blocks[0].about, arrays)


def summed(blocks: list[Block], layout: Layout) -> Block:
    """Return one block with the sums of several, of which no two share a run."""
    numbers = {cell: number for number, cell in enumerate(layout.cells)}
    places = [np.asarray([numbers[cell] for cell in cells_of(block)]) for block in blocks]
    there = np.unique(np.concatenate(places))
    stream = Stream(_narrowed(layout, there), counting=blocks[0].about["keep"] == "summary")
    for block, place in zip(blocks, places, strict=True):
        stream.add_arrays(block.arrays, np.searchsorted(there, place), (block.about["bandits"], block.about["arms"]))
    done = seed_ranges.unite_rows(np.concatenate([block.arrays["done"] for block in blocks]))
    arrays = {"done": done, "cells": np.asarray([int(layout.cells[i], 16) for i in there], np.uint64)}
    about = {**blocks[0].about, "bandits": layout.bandits, "arms": layout.arms}
    return Block(about, arrays | stream.arrays())


def cells_of(block: Block) -> list[str]:
    """Return the hashes of the cells of a block, in the order of their numbers in it."""
    return [f"{cell:016x}" for cell in block.arrays["cells"].tolist()]


def _done(cells: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Return which seeds of which cells there are, uint64 `(n, 3)`.

    Args:
        cells: the hashes of the cells.
        keys: the runs in order, each as 2^33 times the number of its cell plus its seed; gaps divide the cells.
    """
    ends = np.asarray(seed_ranges.of_seeds(keys), np.uint64).reshape(-1, 2)
    start, stop = (ends & np.uint64(2**33 - 1)).T
    return np.column_stack([cells[ends[:, 0] >> np.uint64(33)], start, stop])


def _is_mask(layout: Layout, name: str) -> bool:
    """Return whether a variable has a truth value for each arm, which takes a bit of a block."""
    return layout.variables[name].per_arm and bool(layout.variables[name].dtype == np.bool_)


def _narrowed(layout: Layout, numbers: np.ndarray) -> Layout:
    """Return the layout of some cells."""
    return layout._replace(cells=tuple(layout.cells[i] for i in numbers))


def entered(
    block: Block, places: dict[str, list[int]], layout: Layout, found: dict[str, np.ndarray], blank: Any
) -> None:
    """Write the rows of a block of runs into arrays `(cells, seeds, points, …)`.

    Args:
        block: a block of runs.
        places: the numbers of each cell in the layout; none for cells that are not in it.
        layout: the layout of the arrays; seeds outside it are left out.
        found: the arrays by variable; new variables are added to it.
        blank: from a variable's name to an array without a value.
    """
    arrays = block.arrays
    shown = [places.get(cell, []) for cell in cells_of(block)]
    column = arrays["seed"].astype(np.int64) - layout.first_seed
    inside = (column >= 0) & (column < layout.seeds)
    for copy in range(max(map(len, shown), default=0)):  # a grid may list a cell more than once
        number = np.asarray([numbers[copy] if copy < len(numbers) else -1 for numbers in shown])[arrays["cell"]]
        which = inside & (number >= 0)
        for key, values in arrays.items():
            if not key.startswith("value."):
                continue
            name = key.removeprefix("value.")
            if name not in found:
                found[name] = blank(name)
            if layout.variables[name].per_arm:
                if _is_mask(layout, name):
                    own = np.unpackbits(values[which], axis=-1, count=block.about["arms"]).astype(bool)
                elif values.dtype == np.uint8:
                    raise UsageError(f"an earlier version kept {name} of each arm as bits: write a new store")
                else:
                    own = values[which]
                bandits, arms = min(block.about["bandits"], layout.bandits), min(block.about["arms"], layout.arms)
                rows = found[name][:, :, :, :bandits, :arms]
                rows[number[which], column[which]] = own[:, :, :bandits, :arms]
            else:
                found[name][number[which], column[which]] = values[which]
