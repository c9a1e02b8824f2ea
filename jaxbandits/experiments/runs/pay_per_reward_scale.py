"""MAB-PPR over the accuracy and V, over the sum of all means, and on infinitely many arms."""

import dataclasses

import xarray as xr

import jaxbandits as jb
from jaxbandits.experiments.runs.common import Sweep
from jaxbandits.experiments.runs.pay_per_reward_common import DELTA, EPSILON, MAB, RACE, UNION

__all__ = [
    "ARMS",
    "PHASE_WEIGHT",
    "SIZES",
    "SWEEPS",
    "Size",
    "over_accuracy_and_v",
    "over_weight_of_arms",
    "unbounded",
]


@dataclasses.dataclass(frozen=True)
class Size:
    """How much to run."""

    seeds: int
    epsilons: tuple[float, ...]
    correlations: tuple[int, ...]
    weights: tuple[float, ...]  #: sums of all means
    exponents: tuple[float, ...]  #: of Zipf laws
    ratios: tuple[float, ...]  #: of geometric laws


SIZES = {
    "quick": Size(
        seeds=20, epsilons=(0.03, 0.1, 0.3), correlations=(1, 3, 10, 30, 100, 300), weights=(0.5, 1, 2, 5, 10, 20),
        exponents=(6.0,), ratios=(0.9,),
    ),
    "paper": Size(
        seeds=200, epsilons=(0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3),
        correlations=(1, 2, 5, 10, 20, 50, 100, 200, 500, 1000), weights=(0.5, 1, 2, 5, 10, 20, 50, 100),
        exponents=(3.5, 4.0, 5.0, 6.0, 8.0), ratios=(0.3, 0.5, 0.7, 0.9),
    ),
}  # fmt: skip

ARMS, PHASE_WEIGHT = 100, 2.0
SWEEPS = 6


def over_accuracy_and_v(size: Size, sweep: Sweep = jb.sweep) -> xr.Dataset:
    """MAB-PPR with one good arm, over `epsilon` and `v`, the correlation it is told of."""
    algorithm = jb.MABPPR(epsilon=jb.axis(size.epsilons), delta=DELTA, correlation=jb.axis(size.correlations, name="v"))
    return sweep(algorithm, jb.ppr("one-good", ARMS, PHASE_WEIGHT), size.seeds)


def over_weight_of_arms(size: Size, sweep: Sweep = jb.sweep) -> dict[str, xr.Dataset]:
    """Runs by algorithm on equal means, over `w`, their sum."""
    problem = jb.ppr("flat", ARMS, jb.axis(size.weights))
    return {
        MAB: sweep(jb.MABPPR(EPSILON, DELTA), problem, size.seeds),
        UNION: sweep(jb.UnionBound(EPSILON, DELTA), problem, size.seeds),
        RACE: sweep(jb.BernsteinRace(EPSILON, DELTA), problem, size.seeds),
    }


def unbounded(size: Size, sweep: Sweep = jb.sweep) -> tuple[xr.Dataset, xr.Dataset]:
    """MAB-PPR on infinitely many arms: Zipf laws over `exponent`, geometric laws over `ratio`."""
    algorithm = jb.MABPPR(EPSILON, DELTA)
    zipf = sweep(algorithm, jb.ppr_unbounded(exponent=jb.axis(size.exponents)), size.seeds)
    geometric = sweep(algorithm, jb.ppr_unbounded("geometric", ratio=jb.axis(size.ratios)), size.seeds)
    return zipf, geometric
