"""Blocks: files of runs, written whole or not at all, each named by the hash of its content.

A block is a zip archive of uncompressed NumPy arrays (`numpy.savez`). It is never changed. It contains no code, and
reading it takes no more memory than its length.
"""

import hashlib
import io
import json
import os
import uuid
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from jaxbandits.errors import UsageError

__all__ = ["ENDING", "block_names", "named_by_content", "read_block", "read_part", "write_block", "write_whole"]

ENDING = ".npz"
_HASH = 32  # hexadecimal digits of a name


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
    buffer = io.BytesIO()
    text = np.frombuffer(json.dumps(about).encode(), np.uint8)
    np.savez(buffer, allow_pickle=False, about=text, **arrays)
    content = buffer.getvalue()
    write_whole(folder / f"{hashlib.sha256(content).hexdigest()[:_HASH]}{ENDING}", content)
    return len(content)


def block_names(folder: Path) -> list[str]:
    """Return the names of the existing blocks, sorted."""
    return sorted(path.name for path in folder.glob(f"[0-9a-f]*{ENDING}"))


def named_by_content(name: str, content: bytes) -> bool:
    """Return whether the name of a block matches its content."""
    return name == f"{hashlib.sha256(content).hexdigest()[:_HASH]}{ENDING}"


def read_block(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the contents of a block after checking every byte.

    Raises:
        UsageError: a block whose content does not match its name.
    """
    content = path.read_bytes()
    if not named_by_content(path.name, content):
        raise _damaged(path)
    try:
        found = dict(_arrays(io.BytesIO(content), None))
        return json.loads(found.pop("about").tobytes()), found
    except (ValueError, KeyError, OSError, zipfile.BadZipFile) as error:
        raise _damaged(path) from error


def read_part(path: Path, names: tuple[str, ...]) -> dict[str, np.ndarray]:
    """Return some arrays of a block; the rest is not checked.

    Raises:
        UsageError: a block that cannot be read.
    """
    try:
        with path.open("rb") as file:
            return dict(_arrays(file, names))
    except (ValueError, OSError, zipfile.BadZipFile) as error:
        raise _damaged(path) from error


def _arrays(file: Any, names: tuple[str, ...] | None) -> Iterator[tuple[str, np.ndarray]]:
    with zipfile.ZipFile(file) as archive:
        for member in archive.infolist():
            name = member.filename.removesuffix(".npy")
            if names is not None and name not in names:
                continue
            if member.compress_type != zipfile.ZIP_STORED:  # so that no array is longer than the file
                raise ValueError(f"{name} is compressed")
            with archive.open(member) as stream:
                yield name, np.lib.format.read_array(stream, allow_pickle=False)


def _damaged(path: Path) -> UsageError:
    return UsageError(
        f"block {path} is damaged: its content does not match its name; delete it, and --resume makes its runs again"
    )
