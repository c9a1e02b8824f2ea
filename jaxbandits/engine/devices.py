"""The devices on which runs are made."""

import contextlib
import os

import jax

from jaxbandits.checks import whole
from jaxbandits.engine.program import Placement
from jaxbandits.errors import UsageError

__all__ = ["chosen_devices", "use_all_cores"]


def use_all_cores(count: int | None = None) -> int:
    """Give JAX one CPU device per core, to spread lanes over all of them; call it before JAX starts.

    Args:
        count: number of CPU devices; None for the number of usable cores.

    Returns:
        The number of CPU devices there are now.

    Raises:
        UsageError: if JAX has already started with another number.

    Example:
        >>> jb.use_all_cores(len(jax.devices("cpu"))) >= 1
        True
    """
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    wanted = usable if count is None else count
    with contextlib.suppress(RuntimeError):  # raised when JAX has started, which the count of devices shows
        jax.config.update("jax_num_cpu_devices", wanted)
    there = len(jax.local_devices(backend="cpu"))
    if there != wanted:
        raise UsageError(
            f"JAX has already started with {there} CPU device(s); call use_all_cores() before any computation"
        )
    return there


def chosen_devices(placement: Placement) -> list[jax.Device]:
    """Return the devices to use: those of the platform that JAX prefers, or its default device.

    Raises:
        UsageError: more are requested than JAX sees.
    """
    default = getattr(jax.config, "jax_default_device", None)  # a device, a platform's name, or None
    there = jax.local_devices(backend=default) if default is None or isinstance(default, str) else [default]
    if placement.devices is None:
        return there
    return there[: whole("devices", placement.devices, 1, len(there), bound="the number JAX sees")]
