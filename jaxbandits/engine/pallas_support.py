"""Whether the state of lanes may stay on the chip for a block of steps (`engine/pallas_loop.py`), where that is wished.

It is found once, before the runs: by what is known of an algorithm's kind, and else by compiling the program. Where it
may not, runs are made without, and one line says why.
"""

from typing import Any

from jaxbandits.engine.devices import chosen_devices
from jaxbandits.engine.lane_state import Settings
from jaxbandits.engine.mapped_algorithm import MappedAlgorithm
from jaxbandits.engine.program import Placement
from jaxbandits.errors import warn

__all__ = ["compiles_on_chip", "in_powers_of_two", "may_stay_on_chip"]


def in_powers_of_two(placement: Placement) -> bool:
    """Whether arms are to be padded to a power of two: Triton's arrays have no other lengths."""
    return placement.on_chip and chosen_devices(placement)[0].platform not in ("cpu", "tpu")


def may_stay_on_chip(algorithm: MappedAlgorithm) -> bool:
    """Whether an algorithm, as the engine has it, is of a kind whose steps can be part of a kernel; says so if not."""
    if algorithm.traits.in_batches:
        return _declined(algorithm, "a run has few steps, each of them long")
    return True


def compiles_on_chip(function: Any, arguments: tuple[Any, ...], settings: Settings) -> bool:
    """Whether a program with kernels compiles; says so if not.

    The program is kept: called afterwards, it is not compiled again.

    Args:
        function: jitted, with the keyword argument `settings`.
        arguments: pytrees of arrays.
        settings: what it is compiled for.
    """
    try:
        function.trace(*arguments, settings=settings).lower().compile()
    except Exception as error:  # of as many classes as there are compilers, and as many ways to lack an operation
        why = " ".join(f"{type(error).__name__}: {error}".split())
        return _declined(arguments[0].algorithm, f"no kernel compiles for {settings.platform}: {why[:200]}")
    return True


def _declined(algorithm: MappedAlgorithm, why: str) -> bool:
    warn(f"on_chip: {type(algorithm.rule).__name__} runs without kernels: {why}")
    return False
