"""Checks whether the state of lanes can stay on the chip for a block of steps (`engine/on_chip/pallas_loop.py`).

The check is made once, before the runs, if `on_chip` was requested. It excludes kinds of algorithms, and compiles the
program. Where the state cannot stay on the chip, runs are made without kernels, and a warning gives the reason.
"""

from jaxbandits.bounded_jit import RecentPrograms
from jaxbandits.engine.aot_cache import Arguments
from jaxbandits.engine.devices import chosen_devices
from jaxbandits.engine.lane_state import Carry, Settings
from jaxbandits.engine.llvm.ffi_kernel import compiler_is_there
from jaxbandits.engine.mapped_algorithm import MappedAlgorithm
from jaxbandits.engine.program import Placement
from jaxbandits.engine.rows import Log
from jaxbandits.errors import warn

__all__ = ["compiles_on_chip", "in_powers_of_two", "may_stay_on_chip"]


def in_powers_of_two(placement: Placement) -> bool:
    """Return whether arms must be padded to a power of two: Triton's arrays have no other lengths."""
    return placement.on_chip and chosen_devices(placement)[0].platform not in ("cpu", "tpu")


def may_stay_on_chip(algorithm: MappedAlgorithm, platform: str) -> bool:
    """Return whether the steps of a mapped algorithm can be part of a kernel on a platform; warn if not."""
    if platform == "cpu" and not compiler_is_there():
        return _declined(algorithm, 'on a CPU it needs llvmlite, pip install "jaxbandits[llvm]"')
    if algorithm.traits.in_batches:
        return _declined(algorithm, "a run has few steps, each of them long")
    if algorithm.in_flight:
        return _declined(algorithm, "pulls in flight take too much room")
    return True


def compiles_on_chip(function: RecentPrograms[tuple[Carry, Log]], arguments: Arguments, settings: Settings) -> bool:
    """Return whether a program with kernels compiles; warn if not.

    JAX keeps the program: a later call does not compile it again.

    Args:
        function: a jitted function, with the keyword argument `settings`.
        arguments: pytrees of arrays.
        settings: what it is compiled for.
    """
    try:
        function.trace(*arguments, settings=settings).lower().compile()
    except Exception as error:  # each compiler has its own classes of errors for an unsupported operation
        why = " ".join(f"{type(error).__name__}: {error}".split())
        return _declined(arguments[0].algorithm, f"no kernel compiles for {settings.platform}: {why[:200]}")
    return True


def _declined(algorithm: MappedAlgorithm, why: str) -> bool:
    warn(f"on_chip: {type(algorithm.rule).__name__} runs without kernels: {why}")
    return False
