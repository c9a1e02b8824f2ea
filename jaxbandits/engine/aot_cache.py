"""Programs that are kept as machine code: the next process of the command line neither traces nor compiles them.

JAX's cache (`compilation_cache`) saves the compiler's work, not that of writing the program down, which takes longer
than most of a command's runs: .5 s a program with both, .1 s as machine code. What a program is made of must then be
told without writing it down: the package's source, JAX and its settings, the structure and types of the arguments, the
sizes of the loop. That is all of it only where no code but the package's own can take part. So programs are kept in
this way by processes of the command line alone, never where a user's Python runs.
"""

import contextlib
import functools
import hashlib
import os
import pickle
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
import jaxlib.version
from jax.experimental import serialize_executable

from jaxbandits.arrays.platform_lowering import lowering
from jaxbandits.engine.compilation import loaded
from jaxbandits.engine.compilation_cache import chosen_folder, only_compiled
from jaxbandits.engine.lane_state import Carry, Cells, Settings, Window
from jaxbandits.storage.block_files import write_whole

__all__ = ["kept_types", "machine_code", "with_machine_code"]

#: Of the engine's program: the grid, jobs, lanes, and how many rounds of how many steps.
Arguments = tuple[Cells, Window, Carry, Any, Any]
_LANES = 2

#: Bytes on disk; what was used longest ago makes room.
_MOST_BYTES = 2**29
_DIGEST_BYTES = 32
_PACKAGE = Path(__file__).parents[1]
# Of JAX's settings, those that say where programs are kept.
_OF_THE_CACHE = re.compile("compilation_cache|persistent_cache")
_on = False
_lock = threading.Lock()
# A process holds so many: each takes some 500 of the memory maps that it may have.
_MOST_PROGRAMS = 16
_programs: dict[Path, Callable[..., Any]] = {}


@contextlib.contextmanager
def machine_code() -> Iterator[None]:
    """Keep programs as machine code inside a `with` block: for a process that runs no code but the package's own."""
    global _on
    _on = True
    try:
        yield
    finally:
        _on = False


def kept_types(cells: Cells, settings: Settings) -> Carry | None:
    """Shapes and dtypes of the lanes of a program that is kept, which need not be traced then; None if none is."""
    program = _kept(_place(cells, settings)) if _on else None
    if program is None:
        return None
    lanes: Carry = program.args_info[0][_LANES]
    return jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype), lanes)


def with_machine_code(function: Any, arguments: Arguments, settings: Settings) -> Callable[..., Any]:
    """A jitted function for these arguments and others of their types; its machine code from disk where it is there.

    Args:
        function: of the engine's arguments, with the keyword argument `settings`, which is static.
        arguments: whose types follow from the first, the cells, and from the settings.
        settings: what it is compiled for.
    """
    place = _place(arguments[0], settings) if _on else None
    if place is None:
        return functools.partial(function, settings=settings)
    return _kept(place, lambda: _made(place, function, arguments, settings))


def _kept(place: Path | None, make: Callable[[], Any] = lambda: None) -> Any:
    """A program of this process, or from disk, or one that is made."""
    if place is None:
        return None
    with _lock:
        program = _programs.pop(place, None) or _read(place) or make()
        while len(_programs) >= _MOST_PROGRAMS:
            _programs.pop(next(iter(_programs)))
        if program is not None:
            _programs[place] = program
        return program


def _made(place: Path, function: Any, arguments: Arguments, settings: Settings) -> jax.stages.Compiled:
    with only_compiled():  # what JAX's cache gives back lacks the code of its parts when it is written out again
        compiled: jax.stages.Compiled = function.trace(*arguments, settings=settings).lower().compile()
    content = pickle.dumps(serialize_executable.serialize(compiled))
    with contextlib.suppress(OSError):  # a full disk: the program is there all the same
        place.parent.mkdir(parents=True, exist_ok=True)
        write_whole(place, hashlib.sha256(content).digest() + content)
        _make_room(place.parent)
    return compiled


def _read(place: Path) -> jax.stages.Compiled | None:
    """A program from disk; None if it is not there, not whole, or nothing that this JAX can load."""
    began = time.perf_counter()
    try:
        stored = place.read_bytes()
        digest, content = stored[:_DIGEST_BYTES], stored[_DIGEST_BYTES:]
        if hashlib.sha256(content).digest() != digest:
            return None
        os.utime(place)  # used just now
        found: jax.stages.Compiled = serialize_executable.deserialize_and_load(*pickle.loads(content))
    except Exception:  # whatever it is, the program is compiled anew
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
    """The file of a program; None where it is not kept. What other arguments it has follows from these."""
    folder = chosen_folder()
    devices = list(settings.mesh.devices.flat)
    # On CPU only: whether another platform's machine code can be loaded again has not been tried.
    if folder is None or devices != jax.local_devices()[: len(devices)] or devices[0].platform != "cpu":
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
    # An object's address says nothing of what it does.
    return None if " at 0x" in told else folder / "machine-code" / hashlib.sha256(told.encode()).hexdigest()


@functools.cache
def _source() -> str:
    """A hash of the package's source."""
    digest = hashlib.sha256()
    for file in sorted(_PACKAGE.rglob("*.py")):
        digest.update(str(file.relative_to(_PACKAGE)).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()
