"""Locks of a store's files, also on file systems without locks.

A network file system may be mounted without locks (NFS by `nolock`, Lustre without `flock`). There a marker replaces
the lock: a file with the process and the machine that hold it. If that process was killed, others of the same machine
take over the marker (filelock 3.22). Other machines cannot know whether it runs, and a message gives the remedy.
"""

import contextlib
import errno
import tempfile
from collections.abc import Iterator
from pathlib import Path

import filelock

from jaxbandits.errors import UsageError

__all__ = ["hold_lock", "lock_of", "remedy"]

#: The errors of `flock` where there are no locks.
_MISSING = {errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS}
#: Seconds to wait for a marker whose owner may be gone.
_MOST = 600.0


def lock_of(file: Path) -> filelock.BaseFileLock:
    """Return the lock of a file.

    It is the marker beside the file where there are no locks, or where a marker exists.
    """
    marker = _marker(file)
    if marker.exists() or not _has_locks(file.parent):
        return filelock.SoftFileLock(marker)
    return filelock.FileLock(file)


@contextlib.contextmanager
def hold_lock(file: Path) -> Iterator[None]:
    """Hold the lock of a file, once others have released it.

    Raises:
        UsageError: a marker has existed for ten minutes.
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
    """Return the remedy for a lock that nobody holds; empty where locks end with their process."""
    marker = _marker(file)
    return f"; if that process is gone, delete {marker}" if marker.exists() else ""


def _marker(file: Path) -> Path:
    return file.with_suffix(".marker")


def _has_locks(folder: Path) -> bool:
    """Return whether the file system of a folder has locks, tried on a separate file that disturbs nobody."""
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
