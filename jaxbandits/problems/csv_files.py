"""What every reader of a CSV file needs: the file as text, or one clear line that says why not."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from jaxbandits.errors import UsageError

__all__ = ["Table", "is_number", "text_of"]


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


class Table(NamedTuple):
    """A file's header and rows, each with its line number."""

    source: str
    header: list[str]
    rows: list[tuple[int, list[str]]]

    @classmethod
    def read(cls, path: str | Path) -> "Table":
        """The file, separated by commas or tabs.

        Raises:
            UsageError: a file that cannot be read, or a row with another number of cells than the header.
        """
        lines = text_of(path).splitlines()
        reader = csv.reader(lines, delimiter="\t" if lines and "\t" in lines[0] else ",")
        try:
            rows = [(reader.line_num, [cell.strip() for cell in row]) for row in reader if row]
        except csv.Error as error:
            raise UsageError(f"{path}, line {reader.line_num}: {error}") from None
        if len(rows) < 2:
            raise UsageError(f"{path}: a header and a row or more are needed, got {len(rows)} line(s)")
        (_, first), *others = rows
        header = [name.lower() for name in first]
        for line, row in others:
            if len(row) != len(header):
                raise UsageError(f"{path}, line {line}: {len(row)} cells, and the header has {len(header)}")
        return cls(str(path), header, others)

    def has(self, names: Sequence[str]) -> bool:
        """Whether there is a column of one of these names."""
        return any(name in self.header for name in names)

    def place(self, names: Sequence[str]) -> int:
        """The place of that column."""
        return next(self.header.index(name) for name in names if name in self.header)

    def cell(self, line: int, row: list[str], place: int) -> str:
        """A cell that must not be empty."""
        return row[place] or self.refuse(line, place, "is missing")

    def refuse(self, line: int, place: int, why: str) -> str:
        """The error of a cell."""
        raise UsageError(f"{self.source}, line {line}, column {self.header[place]!r}: {why}")
