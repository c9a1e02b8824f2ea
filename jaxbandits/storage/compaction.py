"""Makes few blocks of many: a sweep of weeks leaves thousands of small ones.

A new block is on the disk before those that it replaces are deleted. If the process is killed between, their runs are
there twice. Of equal runs one is read, and sums count once (`blocks_of_sums`). The next call deletes what is left.
"""

import contextlib
import json
import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from jaxbandits.errors import UsageError
from jaxbandits.interruptions import interruptible
from jaxbandits.storage.block_files import block_names, bytes_of_blocks, read_block, write_block
from jaxbandits.storage.blocks import Block, joined_blocks, summed
from jaxbandits.storage.consolidate import blocks_of, blocks_of_sums
from jaxbandits.storage.locks import hold_lock
from jaxbandits.storage.store_files import Description, blocks_folder, path_of, read_description
from jaxbandits.storage.writer import Part, writing

__all__ = ["Compacted", "compact"]

_LOGGER = logging.getLogger(__name__)

#: Bytes of a block that has no need of others, and of blocks that are read before they become one.
_LARGE, _TOGETHER = 2**25, 2**26
#: Blocks of sums that are added at a time.
_SUMS = 64


class Compacted(NamedTuple):
    """Blocks of a store and their bytes, before and after."""

    blocks_before: int
    bytes_before: int
    blocks: int
    bytes: int


def compact(store: str | Path) -> Compacted:
    """Make few large blocks of the many small ones of a store; no run changes.

    No runs are lost or counted twice, even if the process is killed at any moment: a call after it finishes what is
    left. Arrays that were made of the blocks stay valid. Nothing may write to the store meanwhile.

    Args:
        store: the path of a store that `sweep` wrote, NAME.zarr or NAME.nc.

    Returns:
        The numbers of blocks and of bytes, before and after.

    Raises:
        UsageError: no store, one without blocks, one that is damaged or being written.
        OSError: a block cannot be written; those that are replaced stay.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     for seeds in (10, 20, 30):
        ...         _ = jb.sweep(jb.Uniform(budget=20), jb.bernoulli([0.9, 0.4]), seeds, store=f"{folder}/grid.zarr")
        ...     found = jb.compact(f"{folder}/grid.zarr")
        >>> found.blocks_before >= 3, found.blocks
        (True, 1)
    """
    path = path_of(store)
    folder = blocks_folder(path)
    if (description := read_description(path)) is None:
        raise UsageError(f"{path} has no blocks")
    with interruptible(), writing(folder, Part(1, 1)), hold_lock(folder / "view.lock"):
        before = len(block_names(folder)), bytes_of_blocks(folder)
        if description.keep != "runs":
            for _ in blocks_of(folder, description):  # checks every byte, before others are deleted
                pass
            _delete(folder, set(block_names(folder)) - set(blocks_of_sums(folder)))
        for old, block in _groups(folder, description):
            new = write_block(folder, *block)
            read_block(folder / new)
            _delete(folder, set(old) - {new})
            _LOGGER.info("%s: %d blocks became %s", path, len(old), new)
        return Compacted(*before, len(block_names(folder)), bytes_of_blocks(folder))


def _delete(folder: Path, names: set[str]) -> None:
    """Delete blocks, once the names of the others are on the disk, where the system can wait for that."""
    with contextlib.suppress(OSError, AttributeError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
    for name in names:
        (folder / name).unlink()


def _groups(folder: Path, description: Description) -> Iterator[tuple[list[str], Block]]:
    """Yield the names of two or more blocks, and the block that replaces them."""
    sums = description.keep != "runs"
    names: dict[Any, list[str]] = {}
    blocks: dict[Any, list[Block]] = {}
    sizes: dict[Any, int] = {}
    for name in block_names(folder):
        size = (folder / name).stat().st_size
        if size >= _LARGE:
            continue
        block = Block(*read_block(folder / name))
        kind = None if sums else _kind(block)
        names.setdefault(kind, []).append(name)
        blocks.setdefault(kind, []).append(block)
        sizes[kind] = sizes.get(kind, 0) + size
        if sums and len(blocks[kind]) >= _SUMS:
            blocks[kind] = [summed(blocks[kind], description.layout)]
        elif not sums and sizes[kind] >= _TOGETHER:
            yield names.pop(kind), joined_blocks(blocks.pop(kind))
            del sizes[kind]
    for kind, several in names.items():
        if len(several) > 1:
            yield several, summed(blocks[kind], description.layout) if sums else joined_blocks(blocks[kind])


def _kind(block: Block) -> Any:
    """Return what blocks of runs have in common that can be joined."""
    arrays = [(name, values.dtype.str, values.shape[1:]) for name, values in block.arrays.items()]
    return json.dumps(block.about, sort_keys=True), tuple(sorted(one for one in arrays if one[0].startswith("value.")))
