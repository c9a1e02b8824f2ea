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
#: A line that begins a table, or an entry; the keys may be quoted.
_HEADER = re.compile(r"""\s*\[(\[?)([\w\s.'"-]+)\]+\s*(?:#.*)?$""")
_ENTRY = re.compile(r"""\s*([\w\s.'"-]+?)\s*=""")


class TomlFile(NamedTuple):
    """A file that was read."""

    path: Path
    text: str
    tables: dict[str, Any]

    def line_of(self, place: tuple[str, ...]) -> int | None:
        """Return the number of the line where an entry begins, or the nearest one above it; None without one.

        Args:
            place: the keys that lead to it; of a list, the number of the entry, from 0.
        """
        lines: dict[tuple[str, ...], int] = {}
        above, keys = tuple[str, ...](), tuple[str, ...]()
        for number, line in enumerate(self.text.splitlines(), 1):
            if header := _HEADER.match(line):
                above, keys = (), _keys(header[2])
                if header[1]:  # the next table of a list
                    keys = (*keys, str(sum(known[:-1] == keys and known[-1].isdecimal() for known in lines)))
            elif entry := _ENTRY.match(line):
                keys = _keys(entry[1])
            else:
                continue
            for end in range(1, len(keys) + 1):
                lines.setdefault((*above, *keys[:end]), number)
            above = keys if header else above
        return next((lines[place[:end]] for end in range(len(place), 0, -1) if place[:end] in lines), None)

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


def _keys(text: str) -> tuple[str, ...]:
    return tuple(key.strip(" \t'\"") for key in text.split("."))
