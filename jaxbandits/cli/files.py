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
    """Refuse a file whose ending has no known format, or that cannot be created there."""
    if path.suffix not in endings:
        raise UsageError(f"{option} must end in {' or '.join(endings)}, got {str(path)!r}")
    try:
        tempfile.TemporaryFile(dir=path.parent).close()
    except OSError as error:
        raise UsageError(f"cannot write to {path.parent}: {error.strerror}") from None


def check_folder(path: Path) -> None:
    """Refuse a folder in which no file can be created; it may not exist yet, and is not created."""
    there = next(parent for parent in (path, *path.absolute().parents) if parent.exists())
    try:
        tempfile.TemporaryFile(dir=there).close()
    except OSError as error:
        raise UsageError(f"cannot write to {there}: {error.strerror}") from None
