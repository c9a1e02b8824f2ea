"""Blocks: files of runs, written whole or not at all, each named by the hash of its content.

A block is a zip archive of uncompressed NumPy arrays (`numpy.savez`). It is never changed. It contains no code, and
reading it takes no more memory than its length.
"""

import hashlib
import io
import json
import os
import re
import uuid
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from jaxbandits.errors import UsageError
from jaxbandits.storage.block_reader import first_arrays

__all__ = [
    "ENDING",
    "NOTE",
    "block_content",
    "block_names",
    "bytes_of_blocks",
    "damaged",
    "name_of",
    "named_by_content",
    "note_of",
    "read_block",
    "read_part",
    "write_block",
    "write_whole",
]

ENDING = ".npz"
#: The file that says which blocks are replaced by which.
NOTE = "replacing.json"
_HASH = 32  # hexadecimal digits of a name
_NAME = re.compile(rf"[0-9a-f]{{{_HASH}}}\{ENDING}")
#: How often a folder is listed that changes meanwhile.
_LISTINGS = 9


def write_whole(path: Path, content: bytes) -> None:
    """Write a file whole or not at all, even if the machine stops meanwhile.

    Raises:
        OSError: it cannot be written; an existing file is unchanged.
    """
    temporary = path.with_name(f".{path.name}-{uuid.uuid4().hex}.part")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise OSError(
            error.errno, f"cannot write to {path.parent}: {error.strerror}; what has been committed is kept"
        ) from None


def write_block(folder: Path, about: dict[str, Any], arrays: dict[str, np.ndarray]) -> int:
    """Commit a block, and return its size in bytes.

    Args:
        folder: the folder of the blocks.
        about: plain data.
        arrays: arrays by name, without objects.

    Raises:
        OSError: it cannot be written.
    """
    content = block_content(about, arrays)
    write_whole(folder / name_of(content), content)
    return len(content)


def block_content(about: dict[str, Any], arrays: dict[str, np.ndarray]) -> bytes:
    """Return the content of a block's file; arguments as in `write_block`."""
    buffer = io.BytesIO()
    text = np.frombuffer(json.dumps(about).encode(), np.uint8)
    np.savez(buffer, allow_pickle=False, about=text, **arrays)
    return buffer.getvalue()


def name_of(content: bytes) -> str:
    """Return the name of a block with this content."""
    return f"{hashlib.sha256(content).hexdigest()[:_HASH]}{ENDING}"


class Note(NamedTuple):
    """A note that a block replaces others: once it exists, they do not count."""

    new: str
    old: frozenset[str]


def note_of(folder: Path) -> Note | None:
    """Return the note that a process has left in a folder that is compacting it, or was; None without one."""
    try:
        data = json.loads((folder / NOTE).read_bytes())
        note = Note(data["new"], frozenset(data["old"]))
        if all(_NAME.fullmatch(name) for name in (note.new, *note.old)):
            return note
        raise ValueError("other files")
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError):
        raise UsageError(f"{folder / NOTE} is damaged: delete it") from None


def block_names(folder: Path) -> list[str]:
    """Return the names of the existing blocks, sorted, without those that another one replaces."""
    for _ in range(_LISTINGS):
        names = {path.name for path in folder.glob(f"[0-9a-f]*{ENDING}")}
        note = note_of(folder)
        if note is None or note.new in names:
            return sorted(names if note is None else names - note.old)
        if note.old <= names or not (folder / note.new).exists():
            break
        # The new block was written, and others deleted, while the folder was listed.
    return sorted(names)


def bytes_of_blocks(folder: Path) -> int:
    """Return the bytes of the blocks of a folder."""
    return sum((folder / name).stat().st_size for name in block_names(folder))


def named_by_content(name: str, content: bytes) -> bool:
    """Return whether the name of a block matches its content."""
    return name == name_of(content)


def read_block(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the contents of a block after checking every byte.

    Raises:
        UsageError: a block whose content does not match its name.
    """
    content = path.read_bytes()
    if not named_by_content(path.name, content):
        raise damaged(path)
    try:
        found = dict(_arrays(io.BytesIO(content)))
        return json.loads(found.pop("about").tobytes()), found
    except (ValueError, KeyError, OSError, zipfile.BadZipFile) as error:
        raise damaged(path) from error


def read_part(path: Path, names: frozenset[str]) -> dict[str, np.ndarray]:
    """Return some of the first arrays of a block; the rest is not checked.

    Raises:
        UsageError: a block that cannot be read.
        FileNotFoundError: no such block.
    """
    try:
        return first_arrays(path, names)
    except FileNotFoundError:
        raise
    except (ValueError, OSError) as error:
        raise damaged(path) from error


def _arrays(file: Any) -> Iterator[tuple[str, np.ndarray]]:
    with zipfile.ZipFile(file) as archive:
        for member in archive.infolist():
            name = member.filename.removesuffix(".npy")
            if member.compress_type != zipfile.ZIP_STORED:  # so that no array is longer than the file
                raise ValueError(f"{name} is compressed")
            with archive.open(member) as stream:
                yield name, np.lib.format.read_array(stream, allow_pickle=False)


def damaged(path: Path) -> UsageError:
    """Return the error for a block that is damaged."""
    return UsageError(
        f"block {path} is damaged: its content does not match its name; delete it, and --resume makes its runs again"
    )
