"""Makes few blocks of many: a sweep of weeks leaves thousands of small ones."""

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from jaxbandits.errors import UsageError
from jaxbandits.interruptions import interruptible
from jaxbandits.storage.block_files import block_content, block_names, bytes_of_blocks, name_of, read_block
from jaxbandits.storage.blocks import Block, joined_blocks, summed
from jaxbandits.storage.consolidate import check_counted_once, keep_view
from jaxbandits.storage.locks import hold_lock
from jaxbandits.storage.replaced_blocks import finish_replacing, names_after, replace_blocks
from jaxbandits.storage.store_files import Description, blocks_folder, read_description
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
        >>> found.blocks_before, found.blocks
        (3, 1)
    """
    path = Path(store)
    folder = blocks_folder(path)
    if not path.exists() and not folder.exists():
        raise UsageError(f"there is no store {path}")
    if (description := read_description(path)) is None:
        raise UsageError(f"{path} has no blocks")
    with interruptible(), writing(folder, Part(1, 1)), hold_lock(folder / "view.lock"):
        finish_replacing(folder)
        before = len(block_names(folder)), bytes_of_blocks(folder)
        for old, block in _groups(folder, description):
            content = block_content(*block)
            keep_view(path, names_after(folder, old, name_of(content)))
            replace_blocks(folder, old, content)
            _LOGGER.info("%s: %d blocks became one of %d bytes", path, len(old), len(content))
        return Compacted(*before, len(block_names(folder)), bytes_of_blocks(folder))


def _groups(folder: Path, description: Description) -> Iterator[tuple[list[str], Block]]:
    """Yield the names of two or more blocks, and the block that replaces them."""
    sums = description.keep != "runs"
    if sums:
        check_counted_once(folder)
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
