"""Arrays on disk that are read when they are used, and no others that have come in their place."""

import os
from pathlib import Path
from typing import Any

from zarr.storage import LocalStore

from jaxbandits.errors import UsageError

__all__ = ["OpenedStore"]

#: Files of metadata, of which a store has one at least; the first of them is replaced with the arrays.
_METADATA = (".zmetadata", ".zgroup", "zarr.json")


class OpenedStore(LocalStore):
    """A Zarr store on disk, for reading, as long as it is where it was opened and was not replaced.

    Zarr takes a chunk without a file for zeros. So the numbers of a store that was moved or deleted would be 0, and
    those of one that has grown would be of other cells.
    """

    def __init__(self, root: Path | str, *, read_only: bool = True) -> None:
        """Remember which files are there."""
        super().__init__(Path(root).absolute(), read_only=read_only)
        self._opened = self._present()

    async def get(self, *args: Any, **kwargs: Any) -> Any:
        """Return the bytes of a file."""
        return self._checked(await super().get(*args, **kwargs))

    def get_sync(self, *args: Any, **kwargs: Any) -> Any:
        """Return the bytes of a file, in recent versions of Zarr."""
        return self._checked(super().get_sync(*args, **kwargs))

    def _checked(self, found: Any) -> Any:
        """Return what was read from the files that were opened; what replaces them changes the metadata first."""
        if self._present() != self._opened:
            raise UsageError(
                f"{self.root} was moved, deleted or replaced since it was opened: open it again, or call load() "
                "before, which reads all numbers"
            )
        return found

    def _present(self) -> tuple[int, int, int] | None:
        """Return what tells the file of metadata from any other; None where there is none."""
        for name in _METADATA:
            try:
                status = os.stat(self.root / name)
            except OSError:
                continue
            return status.st_dev, status.st_ino, status.st_mtime_ns
        return None
