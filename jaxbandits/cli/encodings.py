"""Output that is not UTF-8, as where Windows redirects it (cp1252, cp437): missing characters are written in ASCII."""

import codecs
import contextlib
import io
import sys
import unicodedata
from collections.abc import Iterator

__all__ = ["printable"]

_HANDLER = "jaxbandits.ascii"
#: The error handlers of streams that nobody has configured.
_DEFAULTS = {"strict", "surrogateescape", "backslashreplace"}
#: Signs in ASCII; letters are named instead.
_SIGNS = {
    "∞": "inf", "−": "-", "–": "-", "—": "-", "≥": ">=", "≤": "<=", "≠": "!=", "≈": "~", "±": "+-", "×": "x", "·": "*",
    "…": "...", "→": "->", "•": "*", "√": "sqrt", "“": '"', "”": '"', "‘": "'", "’": "'", "∈": "in",
}  # fmt: skip


@contextlib.contextmanager
def printable() -> Iterator[None]:
    """Let stdout and stderr accept all text inside a `with` block; a user's choice, `cp437:replace`, stays."""
    before = []
    for stream in (sys.stdout, sys.stderr):  # None where they are closed
        if isinstance(stream, io.TextIOWrapper) and stream.errors in _DEFAULTS:
            before.append((stream, stream.errors))
            stream.reconfigure(errors=_HANDLER)
    try:
        yield
    finally:
        for stream, errors in before:
            with contextlib.suppress(OSError, ValueError):  # full, or closed: this has been reported
                stream.reconfigure(errors=errors)


def _replaced(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_in_ascii, error.object[error.start : error.end])), error.end


def _in_ascii(letter: str) -> str:
    """Return a letter in ASCII: `inf` for ∞, `epsilon` for ε, `e` for é, `?` where nothing is similar."""
    if letter in _SIGNS:
        return _SIGNS[letter]
    if bare := unicodedata.normalize("NFKD", letter).encode("ascii", "ignore").decode():
        return bare
    name = unicodedata.name(letter, "")
    if name.startswith("GREEK ") and "LETTER " in name:
        word = name.partition("LETTER ")[2].split()[0]
        return word.capitalize() if "CAPITAL" in name else word.lower()
    return "?"


codecs.register_error(_HANDLER, _replaced)
