"""Blocks: files of runs, written whole or not at all, each named by the hash of its content.

A block is a zip archive of uncompressed NumPy arrays (`numpy.savez`). It is never changed. It contains no code, and
reading it takes no more memory than its length. Its first array, `done`, says which seeds of which cells it has:
uint64 `(n, 3)`, a cell's hash, the first seed, and one after the last.
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
from typing import Any

import numpy as np

from jaxbandits.errors import UsageError

__all__ = [
    "ENDING",
    "block_content",
    "block_names",
    "bytes_of_blocks",
    "check_block",
    "name_of",
    "read_block",
    "read_done",
    "write_block",
    "write_whole",
]

ENDING = ".npz"
_HASH = 32  # hexadecimal digits of a name
#: More bytes than come before the numbers of a block's first array, and what these bytes are.
_AT_ONCE = 2**12
_START = re.compile(
    rb"PK\x03\x04.{26}done\.npy.*?"
    rb"\x93NUMPY\x01\x00..\{'descr': '<u8', 'fortran_order': False, 'shape': \((\d{1,9}), 3\), \} *\n",
    re.DOTALL,
)


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


def write_block(folder: Path, about: dict[str, Any], arrays: dict[str, np.ndarray]) -> str:
    """Commit a block, and return its name.

    Args:
        folder: the folder of the blocks.
        about: plain data.
        arrays: arrays by name, without objects; `done` is one of them.

    Raises:
        OSError: it cannot be written.
    """
    content = block_content(about, arrays)
    write_whole(folder / name_of(content), content)
    return name_of(content)


def block_content(about: dict[str, Any], arrays: dict[str, np.ndarray]) -> bytes:
    """Return the content of a block's file; arguments as in `write_block`."""
    buffer = io.BytesIO()
    text = np.frombuffer(json.dumps(about).encode(), np.uint8)
    np.savez(buffer, allow_pickle=False, **{"done": arrays["done"], "about": text} | arrays)
    return buffer.getvalue()


def name_of(content: bytes) -> str:
    """Return the name of a block with this content."""
    return f"{hashlib.sha256(content).hexdigest()[:_HASH]}{ENDING}"


def block_names(folder: Path) -> list[str]:
    """Return the names of the existing blocks, sorted."""
    return sorted(path.name for path in folder.glob(f"[0-9a-f]*{ENDING}"))


def bytes_of_blocks(folder: Path) -> int:
    """Return the bytes of the blocks of a folder."""
    return sum((folder / name).stat().st_size for name in block_names(folder))


def read_block(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the contents of a block after checking every byte.

    Raises:
        UsageError: a block whose content does not match its name.
    """
    content = _checked(path)
    try:
        found = dict(_arrays(io.BytesIO(content)))
        return json.loads(found.pop("about").tobytes()), found
    except (ValueError, KeyError, OSError, zipfile.BadZipFile) as error:
        raise _damaged(path) from error


def check_block(path: Path) -> np.ndarray:
    """Return what `read_done` does, after checking every byte of a block.

    Raises:
        UsageError: a block whose content does not match its name.
    """
    content = _checked(path)
    start, size = _place_of_done(path, content[:_AT_ONCE], len(content))
    return np.frombuffer(content[start : start + size], np.uint64).reshape(-1, 3)


def read_done(path: Path) -> np.ndarray:
    """Return which seeds of which cells a block has, uint64 `(n, 3)`; the rest of it is neither read nor checked.

    Raises:
        UsageError: a block that cannot be read.
        FileNotFoundError: no such block.
    """
    with path.open("rb", buffering=_AT_ONCE) as file:
        start, size = _place_of_done(path, file.read(_AT_ONCE), os.fstat(file.fileno()).st_size)
        file.seek(start)
        return np.frombuffer(file.read(size), np.uint64).reshape(-1, 3)


def _checked(path: Path) -> bytes:
    """Return the content of a block, which matches its name."""
    content = path.read_bytes()
    if path.name != name_of(content):
        raise _damaged(path)
    return content


def _place_of_done(path: Path, first: bytes, length: int) -> tuple[int, int]:
    """Return where the numbers of a block's first array begin, and their bytes, from its first bytes and its length."""
    start = _START.match(first)
    size = 24 * int(start[1]) if start else 0
    if not start or size > length - start.end():
        raise _damaged(path)
    return start.end(), size


def _arrays(file: Any) -> Iterator[tuple[str, np.ndarray]]:
    with zipfile.ZipFile(file) as archive:
        for member in archive.infolist():
            name = member.filename.removesuffix(".npy")
            if member.compress_type != zipfile.ZIP_STORED:  # so that no array is longer than the file
                raise ValueError(f"{name} is compressed")
            with archive.open(member) as stream:
                yield name, np.lib.format.read_array(stream, allow_pickle=False)


def _damaged(path: Path) -> UsageError:
    """Return the error for a block that is damaged."""
    return UsageError(
        f"block {path} is damaged: its content does not match its name; delete it, and --resume makes its runs again"
    )
