"""Compiled programs are kept on disk, in the user's cache folder, so that the next process need not compile them.

JAX's persistent cache does the work; it is switched on around the package's own programs only, so that nothing changes
for what else a process compiles. A user who has told JAX of a folder of his own (`JAX_COMPILATION_CACHE_DIR`) keeps
everything there, and `JAX_ENABLE_COMPILATION_CACHE=false` keeps nothing.
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

#: Bytes on disk; what was used longest ago makes room.
_MOST_BYTES = 2**30
#: Programs that take less time than this to compile are compiled again: hundreds of files cost more than they save.
_LEAST_SECONDS = 0.1
_USERS = ("jax_compilation_cache_dir", "jax_enable_compilation_cache")
_lock = threading.Lock()
_before: list[dict[str, Any]] = []  # the settings to come back to, for every block that is open


@contextlib.contextmanager
def kept_programs() -> Iterator[None]:
    """Keep on disk what is compiled inside a `with` block, and take from there what was kept before.

    Nothing is changed where the user has chosen a folder, or none, or where the folder cannot be written to.
    """
    with _lock:
        _before.append(_switched_on() if not _before else {})
    try:
        yield
    finally:
        with _lock:
            if len(_before) > 1:  # of several threads' blocks the last one closes
                _before.pop()
            else:
                _set(_before.pop())


@contextlib.contextmanager
def only_compiled() -> Iterator[None]:
    """What is compiled inside a `with` block is neither kept on disk by JAX nor taken from there."""
    with _lock:
        switch = "jax_enable_compilation_cache"
        before = {switch: getattr(jax.config, switch)}
        _set({switch: False})
        try:
            yield
        finally:
            _set(before)


def chosen_folder() -> Path | None:
    """Where programs are kept: in the user's folder, or in ours; None where nothing is to be kept."""
    chosen, used = (getattr(jax.config, name) for name in _USERS)
    if not used:
        return None
    return folder() if chosen is None else Path(chosen)


def _switched_on() -> dict[str, Any]:
    """Switch JAX's cache on, and return the settings to come back to; none where nothing was changed."""
    chosen, used = (getattr(jax.config, name) for name in _USERS)
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


def _set(settings: dict[str, Any]) -> None:
    for name, value in settings.items():
        jax.config.update(name, value)
    if settings:
        compilation_cache.reset_cache()  # JAX looks at its settings again when it compiles next


def folder() -> Path:
    """Where programs are kept: by the kind of processor, since a shared home may serve several."""
    return Path(platformdirs.user_cache_dir("jaxbandits", appauthor=False)) / f"programs-{_processor()}"


def _usable(place: Path) -> bool:
    """Whether programs can be kept there; what a process that was killed had half written is taken away."""
    try:
        place.mkdir(parents=True, exist_ok=True)
        if not os.access(place, os.W_OK):
            return False
        with filelock.FileLock(place / ".lockfile", timeout=1):
            # JAX writes a program first and then when it was used: without that a program is not whole.
            for program in place.glob("*-cache"):
                if not program.with_name(program.name.removesuffix("-cache") + "-atime").exists():
                    program.unlink()
    except (OSError, filelock.Timeout):
        return False
    return True


def _processor() -> str:
    """A short name of the processor's kind and instructions."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        told = sorted({line for line in lines if line.startswith(("model name", "flags", "Features", "CPU part"))})
    except OSError:
        told = [platform.machine(), platform.processor()]
    return hashlib.sha256("\n".join(told).encode()).hexdigest()[:12]
