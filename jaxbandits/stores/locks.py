"""Locks of a store's files, also on file systems that have none.

A network file system may be mounted without locks (NFS by `nolock`, Lustre without `flock`). There a marker, a file
with the process and the machine that hold the lock, stands in for it. The marker of a process that was killed is taken
over by others of the same machine (filelock 3.22); on another machine nobody can tell whether it runs, and a message
says what to do.
"""

import contextlib
import errno
import tempfile
from collections.abc import Iterator
from pathlib import Path

import filelock

from jaxbandits.errors import UsageError

__all__ = ["held", "lock_of", "remedy"]

#: What `flock` says where there are no locks.
_MISSING = {errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS}
#: Seconds to wait for a marker, whose owner may be gone.
_MOST = 600.0


def lock_of(file: Path) -> filelock.BaseFileLock:
    """Return the lock of a file, or of the marker beside it where there are no locks, or one has been set."""
    marker = _marker(file)
    if marker.exists() or not _has_locks(file.parent):
        return filelock.SoftFileLock(marker)
    return filelock.FileLock(file)


@contextlib.contextmanager
def held(file: Path) -> Iterator[None]:
    """Hold the lock of a file, once others have released it.

    Raises:
        UsageError: a marker has stood there for ten minutes.
    """
    lock = lock_of(file)
    try:
        lock.acquire(timeout=_MOST if isinstance(lock, filelock.SoftFileLock) else -1)
    except filelock.Timeout:
        raise UsageError(f"another process holds {file}{remedy(file)}") from None
    try:
        yield
    finally:
        lock.release()


def remedy(file: Path) -> str:
    """Return what to do about a lock that nobody holds; nothing where locks end with their process."""
    marker = _marker(file)
    return f"; if that process is gone, delete {marker}" if marker.exists() else ""


def _marker(file: Path) -> Path:
    return file.with_suffix(".marker")


def _has_locks(folder: Path) -> bool:
    """Return whether the file system of a folder has locks; a file of its own is tried, which disturbs nobody."""
    try:
        import fcntl  # not on every system
    except ImportError:
        return True
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in _MISSING
    return True
