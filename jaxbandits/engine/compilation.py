"""How long compilation took, and how often the engine was compiled: both from JAX's own monitoring events."""

import contextlib
import dataclasses
from collections.abc import Iterator
from typing import Any

import jax

__all__ = ["CompileClock", "compile_clock"]


@dataclasses.dataclass
class CompileClock:
    """Seconds spent tracing, lowering and compiling anything, and how many programs of the lane engine that made."""

    seconds: float = 0.0
    programs: int = 0


_clocks: list[CompileClock] = []


def _listen(event: str, seconds: float, **metadata: Any) -> None:
    if event.startswith("/jax/core/compile/"):
        for clock in _clocks:
            clock.seconds += seconds
            engine = "advance" in str(metadata.get("fun_name", ""))
            clock.programs += engine and event.endswith("backend_compile_duration")


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
