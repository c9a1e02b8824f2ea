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


def karnin(size: Size, sweep: Sweep = jb.sweep) -> dict[str, xr.Dataset]:
    """Runs of each algorithm over `number`, the setup, and `n`, with the paper's budget, the sum of 1/gap^2."""
    algorithms = {
        "Sequential Halving": jb.SequentialHalving,
        "Successive Rejects": jb.SuccessiveRejects,
        "UCB-E, a = n/H₁": lambda budget: jb.UCBE(budget=budget, eta=1.0),
    }
    found = {}
    for label, made in algorithms.items():
        cells = [[_at_its_budget(made, number, n, size.seeds, sweep) for n in size.arms] for number in KARNIN]
        found[label] = xr.combine_nested(cells, ["number", "n"], join="exact", combine_attrs="drop_conflicts")
        found[label].attrs["wall_seconds"] = sum(ds.attrs.get("wall_seconds", 0.0) for row in cells for ds in row)
    return {label: ds.assign_coords(number=list(KARNIN), n=list(size.arms)) for label, ds in found.items()}


def _at_its_budget(made: object, number: int, n: int, seeds: int, sweep: Sweep) -> xr.Dataset:
    problem = jb.karnin(number, n=n)
    gaps = np.float64(0.5) - np.asarray(problem.mean, np.float64)[1:]
    ds = sweep(made(int(np.ceil(np.sum(gaps**-2.0)))), problem, seeds)  # type: ignore[operator]
    return ds[["correct", "pulls", "status", "simple_regret"]]
