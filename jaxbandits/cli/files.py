"""Checks that files can be written, made before long work starts; and the names of stores."""

import os
import tempfile
from pathlib import Path

from jaxbandits.errors import UsageError
from jaxbandits.storage.arrays_on_disk import ENDINGS

__all__ = ["PICTURES", "check_folder", "check_writable", "with_name"]

#: How names of pictures end.
PICTURES = (".png", ".pdf", ".svg")


def with_name(path: Path) -> Path:
    """Return a path by its name, also where it is written without one: `.` in a store is that store."""
    return Path(os.path.abspath(path)) if path.name in ("", "..") else path


def check_writable(path: Path, endings: tuple[str, ...] = ENDINGS, option: str = "--out") -> None:
    """Check that a file can be created there.

    Raises:
        UsageError: an ending without a known format, or a folder that is missing or cannot be written.
    """
    if path.suffix not in endings:
        raise UsageError(f"{option} must end in {' or '.join(endings)}, got {str(path)!r}")
    try:
        tempfile.TemporaryFile(dir=path.parent).close()
    except OSError as error:
        raise UsageError(f"cannot write to {path.parent}: {error.strerror}") from None


def check_folder(path: Path) -> None:
    """Check that files can be created in a folder that may not exist yet; the folder is not created.

    Raises:
        UsageError: if they cannot be created.
    """
    there = next(parent for parent in (path, *path.absolute().parents) if parent.exists())
    try:
        tempfile.TemporaryFile(dir=there).close()
    except OSError as error:
        raise UsageError(f"cannot write to {there}: {error.strerror}") from None
