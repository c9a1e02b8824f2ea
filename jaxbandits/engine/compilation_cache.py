"""Stores compiled programs on disk, in the user's cache folder, so that the next process need not compile them.

JAX's persistent cache does the work. It is switched on around the package's own programs only, so that nothing changes
for other programs of the process. Where the user has set JAX's folder (`JAX_COMPILATION_CACHE_DIR`), all programs are
stored there. `JAX_ENABLE_COMPILATION_CACHE=false` stores none.
"""

import contextlib
import hashlib
import os
import platform
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import filelock
import jax
import platformdirs
from jax.experimental.compilation_cache import compilation_cache

__all__ = ["chosen_folder", "folder", "kept_programs", "only_compiled"]

#: Largest number of bytes on disk; the least recently used programs are deleted.
_MOST_BYTES = 2**30
#: Programs that take less time than this to compile are compiled again: hundreds of files cost more than they save.
_LEAST_SECONDS = 0.1
_SWITCH = "jax_enable_compilation_cache"
_USERS = ("jax_compilation_cache_dir", _SWITCH)
_lock = threading.Lock()
_before: list[dict[str, object]] = []  # the settings to restore, for every open block
_switched_off: list[dict[str, Any]] = []
_looked_through: dict[Path, int] = {}  # folders, and when they had last been changed before: every call asks for one


@contextlib.contextmanager
def kept_programs() -> Iterator[None]:
    """Store the programs compiled inside a `with` block on disk, and load those that were stored before.

    No setting is changed where the user has chosen a folder, or no cache, or where the folder is not writable.
    """
    with _lock:
        _before.append(_switched_on() if not _before else {})
    try:
        yield
    finally:
        with _lock:
            if len(_before) > 1:  # of the blocks of several threads, the last one restores the settings
                _before.pop()
            else:
                _set(_before.pop())


@contextlib.contextmanager
def only_compiled() -> Iterator[None]:
    """Switch JAX's cache off inside a `with` block: programs are neither stored on disk nor loaded from there.

    Blocks of several threads may overlap: the last one to end switches it on again.
    """
    with _lock:
        _switched_off.append({} if _switched_off else {_SWITCH: getattr(jax.config, _SWITCH)})
        _set({_SWITCH: False})
    try:
        yield
    finally:
        with _lock:
            if len(_switched_off) == 1:
                _set(_switched_off[0])
            _switched_off.pop()


def chosen_folder() -> Path | None:
    """Return the folder of the programs, the user's or the package's; None where no program is to be stored."""
    chosen, used = _of_user()
    if not used:
        return None
    return folder() if chosen is None else Path(chosen)


def _of_user() -> tuple[str | None, bool]:
    """Return the user's folder, and whether the user lets programs be stored: another thread may be in a block."""
    chosen, used = (getattr(jax.config, name) for name in _USERS)
    for before in _switched_off[:1]:
        used = before[_SWITCH]
    return chosen, used


def _switched_on() -> dict[str, object]:
    """Switch JAX's cache on, and return the settings to restore; empty where none was changed."""
    chosen, used = _of_user()
    if chosen is not None or not used or not _usable(place := folder()):
        return {}
    wanted = {
        "jax_compilation_cache_dir": str(place),
        "jax_compilation_cache_max_size": _MOST_BYTES,
        "jax_persistent_cache_min_compile_time_secs": _LEAST_SECONDS,
    }
    before = {name: getattr(jax.config, name) for name in wanted}
    _set(wanted)
    return before


def _set(settings: dict[str, object]) -> None:
    for name, value in settings.items():
        jax.config.update(name, value)
    if settings:
        compilation_cache.reset_cache()  # JAX then reads its settings again


def folder() -> Path:
    """Return the package's folder of programs, by the kind of processor: several may share a home folder."""
    return Path(platformdirs.user_cache_dir("jaxbandits", appauthor=False)) / f"programs-{_processor()}"


def _usable(place: Path) -> bool:
    """Return whether programs can be stored there, after deleting incomplete ones, left by a killed process."""
    try:
        place.mkdir(parents=True, exist_ok=True)
        if not os.access(place, os.W_OK):
            return False
        changed = place.stat().st_mtime_ns
        if _looked_through.get(place) != changed:
            with filelock.FileLock(place / ".lockfile", timeout=1):
                _delete_incomplete(place)
            _looked_through[place] = changed
    except (OSError, filelock.Timeout):
        return False
    return True


def _delete_incomplete(place: Path) -> None:
    """Delete programs without a time of access, which JAX writes last."""
    names = set(os.listdir(place))
    for name in names:
        if name.endswith("-cache") and f"{name.removesuffix('-cache')}-atime" not in names:
            (place / name).unlink()


def _processor() -> str:
    """Return a short name of the processor's kind and instructions."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        told = sorted({line for line in lines if line.startswith(("model name", "flags", "Features", "CPU part"))})
    except OSError:
        told = [platform.machine(), platform.processor()]
    return hashlib.sha256("\n".join(told).encode()).hexdigest()[:12]
