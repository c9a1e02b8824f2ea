"""Programs stored as machine code: the next process of the command line neither traces nor compiles them.

JAX's cache (`compilation_cache`) saves the compiler's work, but not the tracing and lowering. These take longer than
most of a command's runs: a program takes 0.5 s with JAX's cache, and 0.1 s as machine code. A program must then be
identified before it is traced. The key holds the package's source, JAX and its settings, the structure and types of
the arguments, and the sizes of the loop. The key is complete only where no code but the package's own can take part.
So only processes of the command line store programs in this way, never a process that runs a user's Python.

A stored program is a pickle, and a pickle of someone else could run any code. So programs are stored and read only in
a folder that belongs to the user and in which nobody else may write.
"""

import contextlib
import functools
import hashlib
import os
import pickle
import re
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
import jaxlib.version
import numpy as np
from jax.experimental import serialize_executable

from jaxbandits.arrays.platform_lowering import lowering
from jaxbandits.bounded_jit import RecentPrograms
from jaxbandits.engine.compilation import loaded
from jaxbandits.engine.compilation_cache import chosen_folder, only_compiled
from jaxbandits.engine.lane_state import Carry, Cells, Settings, Window
from jaxbandits.engine.rows import Log
from jaxbandits.storage.block_files import write_whole

__all__ = ["kept_types", "machine_code", "with_machine_code"]

#: The arguments of the engine's program: the grid, jobs, lanes, the number of rounds, and the steps of a round.
Arguments = tuple[Cells, Window, Carry, np.int32 | jax.Array, np.int32 | jax.Array]
_LANES = 2

#: Largest number of bytes on disk; the least recently used programs are deleted.
_MOST_BYTES = 2**29
_DIGEST_BYTES = 32
_PACKAGE = Path(__file__).parents[1]
# The settings of JAX that say where programs are stored: not part of the key.
_OF_THE_CACHE = re.compile("compilation_cache|persistent_cache")
_on = False
_lock = threading.Lock()
# Largest number of programs that a process holds: each takes about 500 of its memory maps, which are limited.
_MOST_PROGRAMS = 16
_programs: dict[Path, Callable[..., object]] = {}
_locks: dict[Path, threading.Lock] = {}


@contextlib.contextmanager
def machine_code() -> Iterator[None]:
    """Store programs as machine code inside a `with` block: for a process that runs only the package's own code."""
    global _on
    _on = True
    try:
        yield
    finally:
        _on = False


def kept_types(cells: Cells, settings: Settings) -> Carry | None:
    """Return the shapes and dtypes of the lanes of a stored program, without tracing; None if it is not stored."""
    program = _kept(_place(cells, settings)) if _on else None
    if program is None:
        return None
    lanes: Carry = program.args_info[0][_LANES]
    return jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype), lanes)


def with_machine_code(
    function: RecentPrograms[tuple[Carry, Log]], arguments: Arguments, settings: Settings
) -> Callable[..., Any]:
    """Return a function for these arguments and others of their types, as machine code from disk where it is stored.

    Args:
        function: takes the engine's arguments, and the static keyword argument `settings`.
        arguments: their types follow from the first, the cells, and from the settings.
        settings: what it is compiled for.
    """
    place = _place(arguments[0], settings) if _on else None
    if place is None:
        return functools.partial(function, settings=settings)
    return _kept(place, lambda: _made(place, function, arguments, settings))


def _kept(place: Path | None, make: Callable[[], Any] = lambda: None) -> Any:
    """Return a program of this process, or from disk, or the result of `make`."""
    if place is None:
        return None
    with _lock:
        own = _locks.setdefault(place, threading.Lock())
    with own:  # one thread makes a program, others may make other programs
        program = _programs.get(place) or _read(place) or make()
    with _lock:
        _programs.pop(place, None)
        while len(_programs) >= _MOST_PROGRAMS:
            _programs.pop(next(iter(_programs)))
        if program is not None:
            _programs[place] = program
    return program


def _made(
    place: Path, function: RecentPrograms[tuple[Carry, Log]], arguments: Arguments, settings: Settings
) -> jax.stages.Compiled:
    with only_compiled():  # a program from JAX's cache lacks the code of its parts when it is serialised again
        compiled: jax.stages.Compiled = function.trace(*arguments, settings=settings).lower().compile()
    content = pickle.dumps(serialize_executable.serialize(compiled))
    with contextlib.suppress(OSError):  # a full disk: the program still runs
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_whole(place, hashlib.sha256(content).digest() + content)
        _make_room(place.parent)
    return compiled


def _read(place: Path) -> jax.stages.Compiled | None:
    """Return a program from disk; None if it is missing, incomplete, or this JAX cannot load it."""
    began = time.perf_counter()
    try:
        stored = place.read_bytes()
        digest, content = stored[:_DIGEST_BYTES], stored[_DIGEST_BYTES:]
        if hashlib.sha256(content).digest() != digest:
            return None
        os.utime(place)  # marks it as recently used
        found: jax.stages.Compiled = serialize_executable.deserialize_and_load(*pickle.loads(content))
    except Exception:  # of any kind: the program is then compiled again
        return None
    loaded(time.perf_counter() - began)
    return found


def _make_room(folder: Path) -> None:
    files = sorted(((entry.stat().st_mtime, entry) for entry in folder.iterdir()), reverse=True)
    kept = 0
    for _, file in files:
        kept += file.stat().st_size
        if kept > _MOST_BYTES:
            file.unlink(missing_ok=True)


def _place(cells: Cells, settings: Settings) -> Path | None:
    """Return the file of a program; None where it is not stored. The other arguments follow from these."""
    chosen = chosen_folder()
    folder = None if chosen is None else chosen / "machine-code"
    devices = list(settings.mesh.devices.flat)
    # On CPU only: whether another platform's machine code can be loaded again has not been tried.
    if (
        folder is None
        or not _is_own(folder)
        or devices != jax.local_devices()[: len(devices)]
        or devices[0].platform != "cpu"
        or settings.on_chip  # it calls a function that only this process has
    ):
        return None
    leaves, structure = jax.tree.flatten(cells)
    try:
        metrics = pickle.dumps(settings.metrics)  # functions by their names
    except (pickle.PicklingError, AttributeError, TypeError):
        return None
    sizes = {name: value for name, value in vars(settings).items() if name not in ("mesh", "metrics")}
    told = repr((
        jax.__version__, jaxlib.version.__version__, sys.version, _source(), os.environ.get("XLA_FLAGS"),
        sorted((name, value) for name, value in jax.config.values.items() if not _OF_THE_CACHE.search(name)),
        lowering(), str(structure), [(leaf.shape, str(leaf.dtype)) for leaf in leaves], len(devices), sizes, metrics,
    ))  # fmt: skip
    # An object's address does not identify its behaviour.
    return None if " at 0x" in told else folder / hashlib.sha256(told.encode()).hexdigest()


def _is_own(folder: Path) -> bool:
    """Return whether a folder, if it is there, belongs to the user, and nobody else may write in it."""
    if sys.platform == "win32":  # a user's cache folder is the user's there
        return True
    try:
        found = folder.stat()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return found.st_uid == os.getuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


@functools.cache
def _source() -> str:
    """Return a hash of the package's source."""
    digest = hashlib.sha256()
    for file in sorted(_PACKAGE.rglob("*.py")):
        digest.update(str(file.relative_to(_PACKAGE)).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()
