"""Several bandits with one budget: uniform sampling, UCB-E per bandit, GapE and its versions."""

import dataclasses
from collections.abc import Collection

import numpy as np
import xarray as xr

import jaxbandits as jb
from jaxbandits.experiments.runs.common import Sweep

__all__ = ["LABEL_FACTOR", "SIZES", "Size", "budget_of", "runs_of_method"]


@dataclasses.dataclass(frozen=True)
class Size:
    """How much to run."""

    seeds: int


SIZES = {"quick": Size(seeds=10_000), "paper": Size(seeds=100_000)}

#: Pulls for all bandits together, by problem.
_BUDGETS = {1: 700, 2: 1000}
#: Published labels of the adaptive versions agree with ours at this multiple.
LABEL_FACTOR = 2


def budget_of(number: int) -> int:
    """Pulls for all bandits of a problem of the paper together."""
    return _BUDGETS[number]


def runs_of_method(number: int, name: str, etas: Collection[float], size: Size, sweep: Sweep = jb.sweep) -> xr.Dataset:
    """All runs of one method, over `eta` where it has one.

    Args:
        number: of the paper's problem, 1 or 2.
        name: `uniform`, `uniform + UCB-E`, or `GapE` with `A-` before it and `-V` behind it.
        etas: values of eta; the adaptive versions run at `LABEL_FACTOR` times these too.
        size: how much to run.
        sweep: in place of `jaxbandits.sweep`.
    """
    problem, budget = jb.gabillon(number), _BUDGETS[number]
    if name == "uniform":
        return sweep(jb.Uniform(budget=budget), problem, size.seeds)
    if name == "uniform + UCB-E":
        return _per_bandit(number, etas, size, sweep)
    adaptive, variance = name.startswith("A-"), name.endswith("-V")
    if adaptive:
        etas = sorted({*etas, *(LABEL_FACTOR * eta for eta in etas)})
    algorithm = jb.GapE(
        budget=budget, eta=jb.axis([float(eta) for eta in etas]), adaptive=adaptive, variance=variance, b=1.0
    )
    return sweep(algorithm, problem, size.seeds)


def _per_bandit(number: int, etas: Collection[float], size: Size, sweep: Sweep) -> xr.Dataset:
    """UCB-E on every bandit by itself with an equal share of the budget; a run is right if all bandits are."""
    problem = jb.gabillon(number)
    means = np.asarray(problem.mean, np.float64).reshape(-1, problem.bandits).T.round(6)
    ds = sweep(
        jb.UCBE(budget=_BUDGETS[number] // problem.bandits, eta=jb.axis([float(eta) for eta in etas]), b=1.0),
        jb.bernoulli(jb.axis(means.tolist(), name="alone")),
        size.seeds,
        independent=True,  # the bandits of one run must not share rewards
    )
    return xr.Dataset(
        {"pulls": ds["pulls"].sum("alone"), "correct": ds["correct"].all("alone"), "status": ds["status"].max("alone")},
        attrs=ds.attrs,
    )
