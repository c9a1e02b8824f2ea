"""Memory of a device, which is known before a run: lanes, log and grid, whatever the number of runs.

A device holds the lanes' state S twice, before and after a call, and what a step stores in between: from .4 S to 6 S
(JAX 0.10.2 on CPU: .4 for UGapEc and LUCB, 1 to 2.5 for most, 3.6 for T3C, 5.9 for MAB-PPR, at 10 to 1000 arms). The
log of a call is there twice, too. S is what a lane's counts, sums and hyperparameters take: some 300 bytes for 10 arms
and 24 kB for 1000. Refused is what cannot fit, 3 S and two logs; what lies between that and 8 S may not, and is told of
when it does not.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

import jax

from jaxbandits.engine.lane_state import Settings
from jaxbandits.errors import UsageError
from jaxbandits.memory import check_fits_in_memory

__all__ = ["check_memory", "oom_as_usage_error"]

_STATES, _LOGS = 3, 2
#: Bytes of a row of the log beside its returned arms, more or less.
_ROW = 64


def check_memory(lanes: Any, arms: int, settings: Settings) -> None:
    """Refuse lanes that no device of these holds.

    Args:
        lanes: all lanes, their shapes and dtypes, with the device axis first.
        arms: of a run.
        settings: what the loop is made for.

    Raises:
        UsageError: they do not fit.
    """
    state = sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(lanes)) / settings.mesh.size
    needed = _STATES * state + _LOGS * settings.capacity * (arms + _ROW)
    device = settings.mesh.devices.flat[0]
    limit = (device.memory_stats() or {}).get("bytes_limit")
    if limit is None:  # the host's, which its devices share
        needed *= settings.mesh.size
    what = f"{settings.lanes:,} lanes of {arms:,} arms"
    check_fits_in_memory(what, needed, "take fewer lanes (lanes=…)", there=limit)


@contextlib.contextmanager
def oom_as_usage_error(settings: Settings) -> Iterator[None]:
    """Say in one line that a device's memory is full, in place of the allocator's report.

    Raises:
        UsageError: it is.
    """
    try:
        yield
    except jax.errors.JaxRuntimeError as error:
        if "RESOURCE_EXHAUSTED" not in str(error):
            raise
        raise UsageError(
            f"{settings.lanes:,} lanes do not fit into the memory of {settings.mesh.devices.flat[0]}: "
            "take fewer lanes (lanes=…)"
        ) from error
