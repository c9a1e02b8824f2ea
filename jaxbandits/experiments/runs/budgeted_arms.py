"""RCB on multiples of K(B), the number of arms that the paper takes."""

import dataclasses

import numpy as np
import xarray as xr

import jaxbandits as jb
from jaxbandits.experiments.runs.budgeted_common import lanes
from jaxbandits.experiments.runs.common import Sweep

__all__ = ["SIZES", "Size", "over_arms", "sweeps"]


@dataclasses.dataclass(frozen=True)
class Size:
    """How much to run."""

    runs: tuple[tuple[int, int], ...]  #: budgets, and runs of each number of arms
    betas: tuple[float, ...]
    multipliers: tuple[float, ...]  #: of K(B)
    arms: tuple[int, int]  #: the smallest and the largest number of arms to try


SIZES = {
    # A program serves the numbers of arms of one power of two: few of these.
    "quick": Size(
        runs=((4096, 64),), betas=(2 / 3, 1, 2), multipliers=(1 / 64, 1 / 16, 1 / 4, 1, 4, 16), arms=(4, 256)
    ),
    "paper": Size(
        runs=((2**12, 64), (2**18, 16)), betas=(2 / 3, 1, 2),
        multipliers=(1 / 128, 1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8, 16), arms=(2, 4096),
    ),
}  # fmt: skip


def sweeps(size: Size) -> int:
    """How many sweeps a figure makes: `over_arms` for every budget and regularity."""
    return len(size.runs) * len(size.betas)


def over_arms(budget: int, beta: float, seeds: int, size: Size, sweep: Sweep = jb.sweep) -> xr.Dataset:
    """Runs over `multiplier`, with their numbers of `arms`."""
    paper = jb.theory.reservoir_arms(budget, beta)
    tried = {m: round(paper * m) for m in size.multipliers if size.arms[0] <= paper * m <= size.arms[1]}
    problem = jb.reservoir(beta=beta, arms=jb.axis(list(tried.values())))
    ds = sweep(jb.RCBI(budget), problem, seeds, lanes=lanes(seeds))
    ds = ds.rename(arms="multiplier").assign_coords(multiplier=list(tried))
    return ds.assign(arms=("multiplier", np.asarray(list(tried.values()), np.float64)))
