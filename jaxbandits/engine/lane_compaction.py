"""Reduces the lanes for the last runs.

On a CPU idle lanes take as long as busy ones, but another program takes some seconds to compile.
"""

from typing import Any

import jax
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

from jaxbandits.arrays.pytrees import is_key
from jaxbandits.engine.job_queue import JobQueue
from jaxbandits.engine.lane_state import Carry, Settings

__all__ = ["WORTH", "lanes_worth_having", "packed"]

#: Lanes of a vector.
_VECTOR = 16
#: Fewer lanes must save at least this many seconds: compiling takes about 4 (measured).
WORTH = 8.0


def lanes_worth_having(carry: Carry, queue: JobQueue, settings: Settings, seconds_of_a_step: float) -> int:
    """Return the lanes per device that save more time than compiling takes; the present number if none do.

    Args:
        carry: the lanes.
        queue: the jobs, with estimates of their lengths; while any is left, no lanes are removed.
        settings: the settings of the lanes.
        seconds_of_a_step: the measured time of a step of all lanes.
    """
    if queue.left:
        return settings.lanes
    busy = np.asarray(carry.busy)
    wanted = -(-int(busy.sum()) // settings.mesh.size)
    lanes = max(1, wanted if wanted < _VECTOR else -(-wanted // _VECTOR) * _VECTOR)
    if not busy.any() or lanes >= settings.lanes:
        return settings.lanes
    still = queue.still(np.asarray(carry.cell)[busy], np.asarray(carry.steps)[busy])
    saved = float(still.max()) * seconds_of_a_step * (1 - lanes / settings.lanes)
    return lanes if saved > WORTH else settings.lanes


def packed(carry: Carry, settings: Settings) -> Carry:
    """Return the busy lanes, distributed evenly over devices with `settings.lanes` lanes each, enough for all."""
    devices, lanes = settings.mesh.size, settings.lanes
    busy = np.flatnonzero(np.asarray(carry.busy).ravel())
    source = np.zeros((devices, lanes), np.int64)
    filled: Any = np.zeros((devices, lanes), bool)
    for device in range(devices):
        part = busy[device::devices]
        source[device, : part.size], filled[device, : part.size] = part, True

    def leaf(old: jax.Array) -> jax.Array | np.ndarray:
        if is_key(old):
            words: Any = np.asarray(jax.random.key_data(old)).reshape(-1, 2)[source]
            return jax.random.wrap_key_data(words, impl="threefry2x32")
        values = np.asarray(old)
        if values.ndim == 1:  # one value of each device
            return values
        values = np.moveaxis(values, 0, -2)  # (…, devices, R)
        return np.moveaxis(values.reshape(*values.shape[:-2], -1)[..., source], -2, 0)

    moved: Carry = jax.tree.map(leaf, carry)
    return jax.device_put(moved._replace(busy=filled), NamedSharding(settings.mesh, PartitionSpec("device")))
