"""UGapEc and LUCB1 until they stop, over epsilon, K and m."""

import dataclasses

import xarray as xr

import jaxbandits as jb
from jaxbandits.experiments.runs.common import Sweep

__all__ = ["BEST", "DELTA", "REST", "SIZES", "Size", "over_epsilon_and_arms", "over_returned"]


@dataclasses.dataclass(frozen=True)
class Size:
    """How much to run."""

    epsilons: tuple[float, ...]
    arms: tuple[int, ...]
    returned: tuple[int, ...]
    seeds: int
    at_epsilon: float = 0.1  #: where the curve against K is drawn, one of `epsilons`
    at_arms: int = 16  #: where the curve against epsilon is drawn, one of `arms`; and K of the problem with m varying


SIZES = {
    # Numbers of arms within two powers of two: they share a program, and compiling takes longest here.
    "quick": Size((0.025, 0.05, 0.1, 0.2, 0.4), (9, 11, 13, 16), (1, 2, 4, 8, 12, 15), seeds=60),
    "paper": Size(
        (0.0125, 0.025, 0.05, 0.1, 0.2, 0.4), (2, 4, 6, 8, 12, 16, 24, 32, 64, 128), tuple(range(1, 16)), seeds=1000
    ),
}

DELTA = 0.05
#: Means of one Bernoulli arm and of the others, where epsilon and K vary.
BEST, REST = 0.7, 0.5
_ALGORITHMS = {"UGapEc": jb.UGapEc, "LUCB1": jb.LUCB}


def over_epsilon_and_arms(size: Size, sweep: Sweep = jb.sweep) -> dict[str, xr.Dataset]:
    """Runs of each algorithm for one good arm among K, over `epsilon` and `n`, which is K."""
    epsilon, problem = jb.axis(size.epsilons), jb.one_sparse(n=jb.axis(size.arms), best=BEST, rest=REST)
    return {
        label: sweep(kind(epsilon=epsilon, delta=DELTA), problem, size.seeds) for label, kind in _ALGORITHMS.items()
    }


def over_returned(size: Size, sweep: Sweep = jb.sweep) -> dict[str, xr.Dataset]:
    """Runs of each algorithm for the best m of K arms with evenly spaced means, over `m`."""
    m, problem = jb.axis(size.returned), jb.linear(n=size.at_arms)
    return {
        label: sweep(kind(epsilon=size.at_epsilon, delta=DELTA, m=m), problem, size.seeds)
        for label, kind in _ALGORITHMS.items()
    }
