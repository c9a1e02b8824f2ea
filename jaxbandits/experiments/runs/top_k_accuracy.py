"""AdaptiveTopK and the derived ImprovedTopK with fixed confidence, over K and the accuracy."""

import dataclasses

import xarray as xr

import jaxbandits as jb
from jaxbandits.experiments.runs.common import Sweep

__all__ = ["ARMS", "DELTA", "KS", "SIZES", "SWEEPS", "Size", "over_accuracy"]


@dataclasses.dataclass(frozen=True)
class Size:
    """How much to run."""

    seeds: int
    epsilons: tuple[float, ...]


SIZES = {
    "quick": Size(seeds=10, epsilons=(0.02, 0.05, 0.1, 0.2)),
    "paper": Size(seeds=200, epsilons=(0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2)),
}

ARMS, DELTA, KS = 1000, 0.01, (100, 500)
SWEEPS = 2


def over_accuracy(size: Size, sweep: Sweep = jb.sweep) -> dict[str, xr.Dataset]:
    """Runs on UNIFORM by algorithm, over `k` and `epsilon`."""
    problem, k, epsilon = jb.uniform_means(ARMS), jb.axis(KS), jb.axis(size.epsilons)
    return {
        name: sweep(cls(k=k, epsilon=epsilon, delta=DELTA), problem, size.seeds)
        for name, cls in (("AdaptiveTopK", jb.AdaptiveTopK), ("ImprovedTopK, derived", jb.ImprovedTopK))
    }
