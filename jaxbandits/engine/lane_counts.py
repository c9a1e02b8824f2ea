"""The number of runs that a device makes at a time, and the steps between two checks; these change speed only."""

import numpy as np

from jaxbandits.engine.mapped_algorithm import MappedAlgorithm

__all__ = ["block_length", "lane_count"]

#: Lane-arms per device on CPU: enough to fill vectors, few enough to stay in the nearer caches (measured).
_LANE_ARMS = 16_800
#: The same on accelerators, to fill some 10^5 threads (measured on one GPU: docs/accelerators.md).
_ACCELERATOR_LANE_ARMS = 1_000_000
#: Sums of batches held at a time per device: some tens of MiB.
_SUMS = 2**23
#: Lane-arms below which short runs cost less than compiling again.
_SMALL = 2**17
#: Lanes for few jobs, and the largest number of jobs of each: with several, lanes stay busy until the last runs.
_FEW_LANES = {1: 1, 4: 1, 8: 1, 16: 1, 48: 1, 144: 5}
#: From this number of arms on, a step with 16 lanes takes two to five times as long as with 8, of which XLA:CPU makes
#: one vector (measured: experiments/benchmarks/few_lanes.py).
_MANY_ARMS, _FEW_LANES_OF_MANY = 600, {1: 1, 4: 1, 8: 2, 48: 1, 144: 5}
#: Up to `_FEW_ARMS` arms a step with `_CHEAP_LANES` lanes takes about twice as long as with one (measured).
_FEW_ARMS, _CHEAP_LANES = 85, 48
#: Sums on accelerators, which have gigabytes (not measured).
_ACCELERATOR_SUMS = 2**29
#: Steps of the innermost loop. The host decides after each such loop whether a GPU continues. There 128 steps are 5%
#: faster (measured), but a short run would wait for as many.
_BLOCK, _GPU_BLOCK = 16, 32
#: Steps of a kernel: enough that its loads and stores are few, some 8 bytes a pull for 10 arms (not measured).
_CHIP_BLOCK = 64


def lane_count(algorithm: MappedAlgorithm, arms: int, jobs: int, devices: int, platform: str) -> int:
    """Return the number of runs at a time per device; on accelerators never more than a device has jobs.

    Args:
        algorithm: the mapped algorithm.
        arms: arms per run.
        jobs: number of all runs; on a CPU, in units of the longest.
        devices: number of devices.
        platform: JAX's name of the devices' platform.
    """
    lanes = _usual(arms, platform, algorithm.slots)
    if platform != "cpu":
        return max(1, min(lanes, -(-jobs // devices)))
    return _few(lanes, jobs, devices, arms, long_steps=algorithm.traits.in_batches)


def block_length(platform: str, *, in_batches: bool, on_chip: bool = False) -> int:
    """Return the number of steps of the innermost loop.

    Args:
        platform: JAX's name of the devices' platform.
        in_batches: whether a step makes many pulls, and a run has few steps.
        on_chip: whether a kernel makes the steps, and loads and stores all state.
    """
    if in_batches:
        return 1
    if on_chip:
        return _CHIP_BLOCK
    return _BLOCK if platform in ("cpu", "tpu") else _GPU_BLOCK


def _usual(arms: int, platform: str, slots: int = 1) -> int:
    """Return the number of runs at a time per device, by the number of arms and of batches in a request."""
    if platform != "cpu":
        lanes = int(np.clip(_ACCELERATOR_LANE_ARMS // arms, 1024, 65_536))
        return max(1, min(lanes, _ACCELERATOR_SUMS // (arms * slots)))
    # An odd multiple of a vector's 16: rows with a power of two as stride would share few sets of the cache (measured).
    lanes = 16 * (int(np.clip(_LANE_ARMS // (16 * arms), 5, 37)) | 1)
    most = _SUMS // (arms * slots)
    return lanes if lanes <= most else 16 * (most // 16) or max(1, most)


def _few(lanes: int, jobs: int, devices: int, arms: int, *, long_steps: bool) -> int:
    """Return the number of runs at a time on a CPU device where there may be fewer jobs than `lanes`.

    Idle lanes take time, too. There are few sizes, so that another number of jobs rarely compiles again.

    Args:
        lanes: runs at a time for many jobs.
        jobs: number of jobs on all devices.
        devices: number of devices.
        arms: arms per run.
        long_steps: whether runs have few steps, so that only many lane-arms repay compiling again.
    """
    sizes = _FEW_LANES_OF_MANY if arms >= _MANY_ARMS and not long_steps else _FEW_LANES
    if long_steps:
        sizes = {size: most for size, most in sizes.items() if size * arms >= _SMALL}
    elif arms <= _FEW_ARMS and jobs > 1:
        sizes = {size: most for size, most in sizes.items() if size >= _CHEAP_LANES}
    few = min([lanes, *(size for size, most in sizes.items() if size * devices * most >= jobs)])

    def filled(size: int) -> int:
        """Return the number of jobs per device, rounded up to whole rounds of its lanes."""
        return -(-jobs // (size * devices)) * size

    # Of two similar numbers, the one with fewer idle lanes at the end if all runs have one length.
    return lanes if lanes < 2 * few and filled(lanes) < filled(few) else few
