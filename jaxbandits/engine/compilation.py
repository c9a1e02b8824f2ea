"""The costs of compilation: seconds and programs, by JAX's own monitoring events, and memory maps."""

import contextlib
import dataclasses
from collections.abc import Iterator
from pathlib import Path

import jax

from jaxbandits.bounded_jit import forget_older

__all__ = ["CompileClock", "compile_clock", "loaded", "make_room"]

_MAPS, _MOST_MAPS = Path("/proc/self/maps"), Path("/proc/sys/vm/max_map_count")


@dataclasses.dataclass
class CompileClock:
    """Seconds spent on tracing, lowering and compiling any program, and the number of the lane engine's programs."""

    seconds: float = 0.0
    programs: int = 0


_of_process = CompileClock()  # from the import on
_clocks = [_of_process]
_made_room: dict[float, float] = {}  # by share: the seconds of the process's clock


def _listen(event: str, seconds: float, **metadata: object) -> None:
    if event.startswith("/jax/core/compile/"):
        for clock in _clocks:
            clock.seconds += seconds
            engine = "advance" in str(metadata.get("fun_name", ""))
            clock.programs += engine and event.endswith("backend_compile_duration")


def loaded(seconds: float) -> None:
    """Count a program of the lane engine that was loaded from disk in this many seconds."""
    for clock in _clocks:
        clock.seconds += seconds
        clock.programs += 1


jax.monitoring.register_event_duration_secs_listener(_listen)  # type: ignore[arg-type]


@contextlib.contextmanager
def compile_clock() -> Iterator[CompileClock]:
    """Time the compilations inside a `with` block."""
    clock = CompileClock()
    _clocks.append(clock)
    try:
        yield clock
    finally:
        # By identity: two clocks with equal readings are equal.
        del _clocks[next(i for i, other in enumerate(_clocks) if other is clock)]


def make_room(share: float = 0.6) -> None:
    """Forget compiled programs once they fill a share of the memory maps that Linux grants a process.

    A program of the engine takes about 500 maps on a CPU, of usually 65 530 in all, and JAX keeps every program. Once
    the maps are used up, the compiler crashes, and the process with it. The maps are counted only if a program was
    compiled since: that takes 10 ms and more.
    """
    if _made_room.get(share) == _of_process.seconds:
        return
    _made_room[share] = _of_process.seconds
    try:
        used = _MAPS.read_bytes().count(b"\n")
        most = int(_MOST_MAPS.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # not Linux
        return
    if used > share * most:
        forget_older()
        if _MAPS.read_bytes().count(b"\n") > share * most:  # other programs of the process may fill them, too
            jax.clear_caches()
