"""What every reader of a CSV file needs: the file as text, or one clear line that says why not."""

from pathlib import Path

import numpy as np

from jaxbandits.errors import UsageError

__all__ = ["is_number", "text_of"]


def text_of(path: str | Path) -> str:
    """The file as text, without the mark that spreadsheets put at the start.

    Raises:
        UsageError: no such file, or not UTF-8 text.
    """
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise UsageError(f"cannot read {path}: {reason}") from None


def is_number(cell: str) -> bool:
    """Whether a cell holds a finite number."""
    try:
        return bool(np.isfinite(float(cell)))
    except ValueError:
        return False
