"""The only reader of CSV files: a header, and rows with their line numbers; each fault gets one clear line."""

import csv
import gzip
import io
import re
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn

import numpy as np

from jaxbandits.checks import FINITE, Rule, as_single
from jaxbandits.errors import UsageError
from jaxbandits.io.serialize import File

__all__ = ["MISSING", "Table", "is_number", "looks_like_number", "meant_as_number"]

#: Cells without a value, in lower case: R and pandas write such words.
MISSING = ("", "na", "n/a", "nan", "null", "none")
_ROWS = {1: "a row", 2: "two rows"}
#: What cells of scores may hold for 1 and 0.
_TRUTH = {"true": 1.0, "false": 0.0}
_DECIMAL_COMMA = re.compile(r"[-+]?\d*,\d+([eE][-+]?\d+)?")
_THOUSANDS = re.compile(r"[-+]?\d{1,3}(?P<mark>[,' \u00a0\u202f])\d{3}((?P=mark)\d{3})*(\.\d+)?")
#: The first bytes of files of other formats, and the remedy.
_FORMATS = {
    b"PK\x03\x04": "a zip archive or a workbook: save it as CSV",
    b"\xfd7zXZ": "compressed by xz: decompress it, or use gzip",
    b"\x28\xb5\x2f\xfd": "compressed by zstd: decompress it, or use gzip",
    b"PAR1": "Parquet: save it as CSV",
}


def is_number(cell: str) -> bool:
    """Return whether a cell holds a finite number."""
    try:
        return bool(np.isfinite(float(cell))) and "_" not in cell  # Python reads 1_000 as 1000
    except ValueError:
        return False


def looks_like_number(cell: str) -> bool:
    """Return whether a cell is or was meant to be a number: with a decimal comma, infinite, or NaN."""
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return False
    return True


def meant_as_number(cell: str) -> bool:
    """Return whether a cell looks like a number, also with thousands separators, a currency or a percent sign."""
    bare = re.sub(r"[,'\s_]", "", cell.strip().strip("()%$€£¥+-−\u2009 "))
    return looks_like_number(cell) or looks_like_number(bare)


class Table(NamedTuple):
    """A file's header and rows. Each row has the number of its first line, and cells are stripped of spaces.

    Other tables than files may be made by hand: `numbered` says what their rows are counted in.
    """

    source: str
    header: list[str]
    rows: list[tuple[int, list[str]]]
    numbered: str = "line"

    @classmethod
    def read(cls, file: str | Path, least: int = 1) -> "Table":
        """Read a file, separated by commas or tabs, in UTF-8, uncompressed or compressed by gzip.

        Args:
            file: its path, or a `File` that has been read.
            least: the number of rows that it must have, 1 or 2.

        Raises:
            UsageError: a file that cannot be read, cells separated by semicolons, no header, too few rows, or a row
                with another number of cells than the header.
        """
        file = File.read(file)
        text = _text(file)
        tabs = "\t" in text.partition("\n")[0]
        # Line ends stay, so that those within quotes are counted too.
        reader = csv.reader(io.StringIO(text, newline=""), delimiter="\t" if tabs else ",", strict=True)
        rows, line = [], 1
        try:
            for row in reader:
                if row:
                    rows.append((line, [cell.strip() for cell in row]))
                line = reader.line_num + 1
        except csv.Error as error:
            raise UsageError(f"{file}, line {line}: {error}") from None
        if rows:
            _check_header(str(file), *rows[0])
        if len(rows) < 1 + least:
            raise UsageError(f"{file}: a header and {_ROWS[least]} or more are needed, got {len(rows)} line(s)")
        (_, header), *others = rows
        for line, row in others:
            if len(row) != len(header):
                raise UsageError(f"{file}, line {line}: {len(row)} cells, and the header has {len(header)}")
        return cls(str(file), header, others)

    def has(self, names: Sequence[str]) -> bool:
        """Return whether there is a column of one of these names, in lower case."""
        return any(name in map(str.lower, self.header) for name in names)

    def place(self, names: Sequence[str]) -> int:
        """Return the index of that column.

        Raises:
            UsageError: if there are two.
        """
        known = [name.lower() for name in self.header]
        name = next(name for name in names if name in known)
        if known.count(name) > 1:
            raise UsageError(f"{self.source}: there are {known.count(name)} columns {name!r}")
        return known.index(name)

    def cell(self, line: int, row: list[str], place: int) -> str:
        """Return a cell that must not be empty.

        Raises:
            UsageError: if it is.
        """
        return row[place] or self.refuse(line, place, "is missing")

    def number(
        self,
        line: int,
        row: list[str],
        place: int,
        rule: Rule = FINITE,
    ) -> float:
        """Return a cell that must hold a finite number, which satisfies the rule.

        Raises:
            UsageError: a cell that is empty, violates the rule, or is beyond the range of float32.
        """
        text = self.cell(line, row, place)
        if not (is_number(text) and rule.holds(float(text))):
            words = rule.words if is_number(text) else "must be a finite number"
            self.refuse(line, place, f"{words}, got {text!r}{'' if is_number(text) else _hint(text)}")
        as_single(f"{self.source}, {self.numbered} {line}, column {self.header[place]!r}: it", float(text))
        return float(text)

    def score(self, line: int, row: list[str], place: int, rule: Rule = FINITE) -> float:
        """Return a cell that must hold a number, as `number` does, or true for 1 and false for 0."""
        text = row[place].lower()
        return _TRUTH[text] if text in _TRUTH else self.number(line, row, place, rule)

    @property
    def has_labels(self) -> bool:
        """Return whether the first column holds labels or dates of the rows: no number, and no true or false."""
        firsts = [row[0] for _, row in self.rows]
        return any(firsts) and not any(meant_as_number(cell) or cell.lower() in _TRUTH for cell in firsts)

    def refuse_repeated(self, names: Sequence[str], what: str) -> None:
        """Refuse a table with two rows of one thing, such as an arm, as far as columns name it.

        Args:
            names: accepted names of the columns that identify the thing, in lower case; without one, the columns of
                text do.
            what: the noun for the thing in the message.

        Raises:
            UsageError: two rows are of one thing.
        """
        named = [place for place, name in enumerate(self.header) if name.lower() in names]
        texts = [i for i in range(len(self.header)) if not any(meant_as_number(row[i]) for _, row in self.rows)]
        seen: dict[tuple[str, ...], int] = {}
        for line, row in self.rows:
            who = tuple(row[place] for place in named or texts)
            if any(who) and who in seen:
                self.refuse(
                    line,
                    (named or texts)[0],
                    f"{what} {', '.join(who)!r} has a row already, {self.numbered} {seen[who]}",
                )
            seen[who] = line

    def refuse(self, line: int, place: int, why: str) -> NoReturn:
        """Raise the error of a cell."""
        raise UsageError(f"{self.source}, {self.numbered} {line}, column {self.header[place]!r}: {why}")


def _hint(text: str) -> str:
    """Return the remedy for a cell that was meant as a number."""
    if thousands := _THOUSANDS.fullmatch(text):
        several = len(re.findall(r"\D", text.lstrip("+-"))) > 1 or thousands["mark"] != ","
        plain = text.replace(thousands["mark"], "")
        return f": without separators it is {plain}" if several else f": write {plain}, or {text.replace(',', '.')}"
    if _DECIMAL_COMMA.fullmatch(text):
        return ": decimals are written with a point"
    if text.endswith("%") and is_number(bare := text[:-1].strip()):
        return f": write {float(bare) / 100:.10g} in place of a percentage"
    return ": write the number alone" if meant_as_number(text) and not looks_like_number(text) else ""


def _text(file: File) -> str:
    """Return the file as text, without the byte order mark that spreadsheets write."""
    content = file.content
    if content.startswith(b"\x1f\x8b"):
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error):
            raise UsageError(f"cannot read {file}: what gzip compressed there is damaged") from None
    for beginning, what in _FORMATS.items():
        if content.startswith(beginning) and b"\0" in content:
            raise UsageError(f"cannot read {file}: it is {what}")
    if content.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in content:
        raise UsageError(f"cannot read {file}: the text is UTF-16, not UTF-8: save it as UTF-8")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"cannot read {file}: not UTF-8 text") from None


def _check_header(source: str, line: int, header: list[str]) -> None:
    if len(header) == 1 and ";" in header[0]:
        raise UsageError(
            f"{source}, line {line}: cells are separated by semicolons: commas or tabs are needed, and numbers with "
            "decimal points"
        )
    if all(looks_like_number(cell) for cell in header):
        raise UsageError(
            f"{source}, line {line}: numbers where the names of the columns should be, {', '.join(header[:3])}: the "
            "file needs a header"
        )
