"""How many runs a device makes at a time, and for how many steps on end: speed settings, which change no result."""

from typing import Any

import numpy as np

__all__ = ["block_length", "lane_count"]

#: Lane-arms per device on CPU: enough to fill vectors, few enough to stay in the nearer caches (measured).
_LANE_ARMS = 16_800
#: The same on accelerators, to fill some 10^5 threads (not measured).
_ACCELERATOR_LANE_ARMS = 1_000_000
#: Sums of batches held at a time per device: some tens of MiB.
_SUMS = 2**23
#: Lane-arms whose steps cost less than another compilation where a run has few.
_SMALL = 2**17
#: Lanes for few jobs, and how many jobs a lane then has at most: with several, lanes stay busy until the last runs.
_FEW_LANES = {1: 1, 4: 1, 16: 1, 48: 1, 144: 5}
#: Up to so many arms a step takes about twice as long with so many lanes as with one (measured).
_FEW_ARMS, _CHEAP_LANES = 85, 48
#: Sums on accelerators, which have gigabytes (not measured).
_ACCELERATOR_SUMS = 2**29
#: Steps of the innermost loop. The host is asked whether a GPU goes on after each of them (not measured).
_BLOCK, _GPU_BLOCK = 16, 32
#: So many that what a kernel loads and stores is little beside them: some 8 bytes a pull for 10 arms (not measured).
_CHIP_BLOCK = 64


def lane_count(algorithm: Any, arms: int, jobs: int, devices: int, platform: str) -> int:
    """Runs at a time per device; on accelerators never more than there are jobs for it.

    Args:
        algorithm: as the engine has it.
        arms: per run.
        jobs: runs in all.
        devices: number of devices.
        platform: of the devices, JAX's word.
    """
    lanes = _usual(arms, platform, algorithm.slots)
    if platform != "cpu":
        return max(1, min(lanes, -(-jobs // devices)))
    return _few(lanes, jobs, devices, arms, long_steps=algorithm.traits.in_batches)


def block_length(platform: str, *, in_batches: bool, on_chip: bool = False) -> int:
    """Steps of the innermost loop.

    Args:
        platform: of the devices, JAX's word.
        in_batches: whether a step makes many pulls, and a run has few.
        on_chip: whether these are made by a kernel that loads and stores all state.
    """
    if in_batches:
        return 1
    if on_chip:
        return _CHIP_BLOCK
    return _BLOCK if platform in ("cpu", "tpu") else _GPU_BLOCK


def _usual(arms: int, platform: str, slots: int = 1) -> int:
    """Runs at a time per device, by the number of arms, and of the batches that are held at once of each."""
    if platform != "cpu":
        lanes = int(np.clip(_ACCELERATOR_LANE_ARMS // arms, 1024, 65_536))
        return max(1, min(lanes, _ACCELERATOR_SUMS // (arms * slots)))
    # An odd multiple of a vector's 16: rows of arms a power of two apart would share few sets of the cache (measured).
    lanes = 16 * (int(np.clip(_LANE_ARMS // (16 * arms), 5, 37)) | 1)
    most = _SUMS // (arms * slots)
    return lanes if lanes <= most else 16 * (most // 16) or max(1, most)


def _few(lanes: int, jobs: int, devices: int, arms: int, *, long_steps: bool) -> int:
    """Runs at a time on a CPU's device where there may be fewer jobs than `lanes`: idle lanes take time, too.

    Few sizes, so that another number of jobs rarely means another compilation.

    Args:
        lanes: runs at a time for many jobs.
        jobs: on all devices.
        devices: number of devices.
        arms: per run.
        long_steps: runs have few steps, or idle lanes take little time: only many lane-arms repay another compilation.
    """
    sizes = list(_FEW_LANES)
    if long_steps:
        sizes = [size for size in sizes if size * arms >= _SMALL]
    elif arms <= _FEW_ARMS and jobs > 1:
        sizes = [size for size in sizes if size >= _CHEAP_LANES]
    few = min([lanes, *(size for size in sizes if size * devices * _FEW_LANES[size] >= jobs)])

    def filled(size: int) -> int:
        """Lanes that are loaded, or idle beside them, until all jobs have been."""
        return -(-jobs // (size * devices)) * size

    # Of two that are nearly as many, those with fewer idle ones at the end where runs are of one length.
    return lanes if lanes < 2 * few and filled(lanes) < filled(few) else few
