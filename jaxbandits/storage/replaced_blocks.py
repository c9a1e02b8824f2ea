"""Replaces blocks by one with the same runs, so that runs are never lost nor counted twice, whenever the process dies.

1. A note, `replacing.json`, names the new block and those that it replaces.
2. The new block is written, whole or not at all. From then on the others do not count (`block_names`).
3. The others are deleted, then the note.

What a killed process has left is finished by the next call.
"""

import contextlib
import json
import os
from pathlib import Path

from jaxbandits.storage.block_files import NOTE, block_names, name_of, note_of, read_block, write_whole

__all__ = ["finish_replacing", "names_after", "replace_blocks"]


def names_after(folder: Path, old: list[str], new: str) -> list[str]:
    """Return the names of the blocks of a folder once some are replaced by a new one."""
    return sorted({*block_names(folder), new} - (set(old) - {new}))


def replace_blocks(folder: Path, old: list[str], content: bytes) -> None:
    """Replace blocks by one with the same runs; only one process at a time.

    Args:
        folder: the folder of the blocks.
        old: the names of the blocks that are replaced.
        content: the new block, as `block_content` returns it.

    Raises:
        OSError: the new block cannot be written; the others are unchanged.
    """
    new = name_of(content)
    write_whole(folder / NOTE, json.dumps({"new": new, "old": [name for name in old if name != new]}).encode())
    write_whole(folder / new, content)
    read_block(folder / new)
    _flush(folder)
    finish_replacing(folder)


def finish_replacing(folder: Path) -> None:
    """Delete blocks that were replaced, and the note about them."""
    note = note_of(folder)
    if note is not None and (folder / note.new).exists():
        for name in note.old:
            (folder / name).unlink(missing_ok=True)
        _flush(folder)
    (folder / NOTE).unlink(missing_ok=True)


def _flush(folder: Path) -> None:
    """Wait until the names of a folder's files are on the disk, where the system can: before others are deleted."""
    with contextlib.suppress(OSError, AttributeError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
