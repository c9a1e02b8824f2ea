"""Every rule with a fixed budget on the instances of Audibert et al. (2010) and Karnin et al. (2013)."""

import dataclasses

import numpy as np
import xarray as xr

import jaxbandits as jb
from jaxbandits.experiments.runs.common import Sweep

__all__ = ["ABM", "KARNIN", "SIZES", "Size", "abm", "karnin"]

ABM = (1, 2, 3, 4, 5, 6, 7)
#: Setups whose figure has numbers that can be read.
KARNIN = (1, 2, 3)


@dataclasses.dataclass(frozen=True)
class Size:
    """How much to run."""

    seeds: int
    budgets: tuple[int, ...] = (500, 1000, 2000, 4000, 8000)
    arms: tuple[int, ...] = (20, 40)  #: of Karnin's setups


SIZES = {"quick": Size(seeds=1000), "paper": Size(seeds=20_000, arms=(20, 40, 80))}


def abm(size: Size, sweep: Sweep = jb.sweep) -> dict[str, xr.Dataset]:
    """Runs of each algorithm over `number`, the experiment, and `budget`."""
    budget, problem = jb.axis(size.budgets), jb.abm(jb.axis(ABM))
    algorithms = {
        "uniform": jb.Uniform(budget=budget),
        "Successive Rejects": jb.SuccessiveRejects(budget=budget),
        "Sequential Halving": jb.SequentialHalving(budget=budget),
        "UCB-E, a = 2n/H₁": jb.UCBE(budget=budget, eta=2.0),
        "adaptive UCB-E": jb.UCBE(budget=budget, adaptive=True),
        "UGapEb, adaptive a": jb.UGapEb(budget=budget, adaptive=True),
    }
    return {label: sweep(algorithm, problem, size.seeds) for label, algorithm in algorithms.items()}


def karnin(number: int, n: int, size: Size, sweep: Sweep = jb.sweep) -> dict[str, xr.Dataset]:
    """Runs of each algorithm on a setup with n arms, with the paper's budget, the sum of 1/gap^2."""
    problem = jb.karnin(number, n=n)
    gaps = np.float64(0.5) - np.asarray(problem.mean, np.float64)[1:]
    budget = int(np.ceil(np.sum(gaps**-2.0)))
    algorithms = {
        "Sequential Halving": jb.SequentialHalving(budget=budget),
        "Successive Rejects": jb.SuccessiveRejects(budget=budget),
        "UCB-E, a = n/H₁": jb.UCBE(budget=budget, eta=1.0),
    }
    return {label: sweep(algorithm, problem, size.seeds) for label, algorithm in algorithms.items()}
