"""The memory of a device, known before a run: lanes, log and grid, for any number of runs.

A device holds the lanes' state S twice, before and after a call, and the intermediate arrays of a step. These take from
0.4 S to 6 S at 10 to 1000 arms (JAX 0.10.2 on CPU). Their size is 0.4 S for UGapEc and LUCB, 1 S to 2.5 S for most,
3.6 S for T3C and 5.9 S for MAB-PPR. The log of a call is stored twice, too. S is the size of the lanes' counts, sums
and hyperparameters: about 300 bytes a lane for 10 arms and 24 kB for 1000. Lanes that need more than the memory with
3 S and two logs are refused before the run. Between that and 8 S the memory may be exhausted during the run, and an
error then reports it.
"""

import contextlib
from collections.abc import Iterator

import jax

from jaxbandits.engine.lane_state import Carry, Settings
from jaxbandits.errors import UsageError
from jaxbandits.memory import check_fits_in_memory

__all__ = ["check_memory", "oom_as_usage_error"]

_STATES, _LOGS = 3, 2
#: Bytes of a row of the log without its returned arms, about.
_ROW = 64


def check_memory(lanes: Carry, arms: int, settings: Settings) -> None:
    """Check that the lanes fit into the memory of each device.

    Args:
        lanes: the shapes and dtypes of all lanes, with the device axis first.
        arms: arms of a run.
        settings: what the loop is compiled for.

    Raises:
        UsageError: the lanes do not fit.
    """
    state = sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(lanes)) / settings.mesh.size
    needed = _STATES * state + _LOGS * settings.capacity * (arms + _ROW)
    device = settings.mesh.devices.flat[0]
    limit = (device.memory_stats() or {}).get("bytes_limit")
    if limit is None:  # the host's memory, which its devices share
        needed *= settings.mesh.size
    what = f"{settings.lanes:,} lanes of {arms:,} arms"
    check_fits_in_memory(what, needed, "take fewer lanes (lanes=…)", there=limit)


@contextlib.contextmanager
def oom_as_usage_error(settings: Settings) -> Iterator[None]:
    """Replace the allocator's report of a full device by an error of one line.

    Raises:
        UsageError: the memory of a device is exhausted.
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
