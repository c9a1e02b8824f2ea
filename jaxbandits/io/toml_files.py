"""TOML files: read with limits; errors name the key and the line."""

import contextlib
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from jaxbandits.errors import UsageError
from jaxbandits.io.serialize import paths_from

__all__ = ["TomlFile", "read_toml"]

#: The largest size of a file in bytes: some 10^5 values of an axis.
_LONGEST = 2**21
#: A list without brackets.
_BARE_LIST = re.compile(r"^\s*[\w.-]+\s*=\s*[-+]?[\d.]+\s*,", re.MULTILINE)
#: The largest number of lines with a key that are examined.
_MOST_LINES = 50


class TomlFile(NamedTuple):
    """A file that was read."""

    path: Path
    text: str
    tables: dict[str, Any]

    def line_of(self, place: tuple[str, ...]) -> int | None:
        """Return the number of the first line of an entry, or of the nearest table above it; None without one.

        Args:
            place: the keys that lead to it; of a list, the number of the entry, from 0.
        """
        for end in range(len(place), 0, -1):
            if (found := self._line_of(place[:end])) is not None:
                return found
        return None

    def _line_of(self, place: tuple[str, ...]) -> int | None:
        if not _has(self.tables, place):
            return None
        lines = self.text.splitlines(keepends=True)
        key = next((key for key in reversed(place) if not key.isdecimal()), place[-1])  # a list's number has no text
        named = re.compile(rf"(?<![\w-]){re.escape(key)}(?![\w-])")
        candidates = [number for number, line in enumerate(lines) if named.search(line)]
        for number in candidates[:_MOST_LINES]:
            if not _has(_parsed("".join(lines[:number])), place) and _has(_first_whole(lines, number), place):
                return number + 1
        return None

    @contextlib.contextmanager
    def blamed(self) -> Iterator[None]:
        """Use the entries of this file inside a `with` block: an error about one names the entry and its line.

        Relative paths of files are resolved against the folder of this one.

        Raises:
            UsageError: in place of any other error about values.
        """
        try:
            with paths_from(self.path.parent):
                yield
        except MemoryError:
            raise UsageError(f"{self.path}: there is not enough memory") from None
        except (ValueError, TypeError, ArithmeticError) as error:
            place = error.place if isinstance(error, UsageError) else ()
            line = self.line_of(place)
            keys = ".".join(key for key in place if not key.isdecimal())
            where = [str(self.path)] + [f"line {line}"] * (line is not None) + [keys] * bool(keys)
            raise UsageError(f"{', '.join(where)}: {error}") from None


def read_toml(path: Path) -> TomlFile:
    """Return the tables of a TOML file.

    Raises:
        UsageError: a file that cannot be read, is too long, or is not TOML.
    """
    try:
        with path.open("rb") as file:
            content = file.read(_LONGEST + 1)
        text = content.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else None
        raise UsageError(f"cannot read {path}: {why or 'not a text file'}") from None
    if len(content) > _LONGEST:
        raise UsageError(f"{path} is longer than {_LONGEST >> 20} MiB, which no specification is")
    try:
        return TomlFile(path, text, tomllib.loads(text.replace("\r\n", "\n")))
    except tomllib.TOMLDecodeError as error:
        hint = ": a list is written [0.7, 0.5]" if _BARE_LIST.search(text) else ""
        raise UsageError(f"{path} is not TOML: {error}{hint}") from None
    except (RecursionError, ValueError) as error:  # endlessly nested lists; whole numbers of thousands of digits
        raise UsageError(f"{path} is not TOML that can be read: {error}") from None


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text.replace("\r\n", "\n"))
    except (ValueError, RecursionError):
        return None


def _first_whole(lines: list[str], number: int) -> dict[str, Any] | None:
    """Return the entries up to this line, with the further lines that its value takes."""
    for end in range(number + 1, min(len(lines), number + 200) + 1):
        if (found := _parsed("".join(lines[:end]))) is not None:
            return found
    return None


def _has(tables: Any, place: tuple[str, ...]) -> bool:
    for key in place:
        if isinstance(tables, list) and key.isdecimal() and int(key) < len(tables):
            tables = tables[int(key)]
        elif isinstance(tables, dict) and key in tables:
            tables = tables[key]
        else:
            return False
    return True
