"""The content of a value: plain data that text can keep, or a hash where that would be long."""

import contextlib
import contextvars
import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Self

import numpy as np

from jaxbandits.errors import UsageError

__all__ = ["WHOLE", "File", "NotPlainError", "array_hash", "is_hash", "paths_from", "plain"]

#: The largest number of elements of an array that is kept in full.
WHOLE = 10_000

_folder = contextvars.ContextVar("folder", default=Path())


class NotPlainError(TypeError):
    """A value that text cannot hold."""


@contextlib.contextmanager
def paths_from(folder: Path) -> Iterator[None]:
    """Resolve relative paths of files that are read inside a `with` block against a folder."""
    token = _folder.set(folder)
    try:
        yield
    finally:
        _folder.reset(token)


class File(str):
    """A file's path, together with the file's content when it was read.

    Attributes:
        content: the file's bytes.
        sha256: their hash, as `sha256sum` prints it.
    """

    __slots__ = ("content", "sha256")
    content: bytes
    sha256: str

    @classmethod
    def of(cls, name: str, content: bytes) -> Self:
        """Return a file with content that is already in memory."""
        file = cls(name)
        file.content, file.sha256 = content, hashlib.sha256(content).hexdigest()
        return file

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read a file, unless it has been read already.

        Raises:
            UsageError: no such file, or one that cannot be read.
        """
        if isinstance(path, cls):
            return path
        if not isinstance(path, str | Path):
            raise UsageError(f"a file's path is needed, got {path!r}")
        try:
            place = _folder.get() / path
            return cls.of(str(place) if _folder.get().parts else str(path), place.read_bytes())
        except (OSError, ValueError) as error:
            raise UsageError(f"cannot read {place}: {getattr(error, 'strerror', None) or error}") from None


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it: None, a truth value, a number, a text, or lists of them.

    An array of more than `WHOLE` numbers becomes `{"sha256": …, "shape": […]}`.

    Raises:
        NotPlainError: anything else.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str | Path):
        return str(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if not (isinstance(value, list | tuple) or hasattr(value, "__array__")):
        raise NotPlainError(type(value).__name__)
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):  # rows of different lengths; elements unknown to NumPy
        array = np.asarray(None)
    if array.dtype.kind in "biuf":
        return array.tolist() if array.size <= WHOLE else {"sha256": array_hash([array]), "shape": list(array.shape)}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    raise NotPlainError(f"{type(value).__name__} of {array.dtype}")


def is_hash(value: Any) -> bool:
    """Return whether `plain` kept an array's hash in place of its numbers."""
    return isinstance(value, dict) and value.keys() == {"sha256", "shape"}


def array_hash(arrays: Iterable[Any]) -> str:
    """Return the sha256 of arrays of numbers, by shape and value: 1, 1.0 and True are equal."""
    found = hashlib.sha256()
    for array in arrays:
        numbers = np.asarray(array).astype("<f8")
        found.update(str(numbers.shape).encode() + np.ascontiguousarray(numbers).tobytes())
    return found.hexdigest()
