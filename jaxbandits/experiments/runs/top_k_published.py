"""The settings of published figures on top-K: OptMAI and its rivals over K, SAR and uniform sampling over m.

Zhou, Chen, Li (2014), Figures 1(a), 1(d) and 2(b); Bubeck, Wang, Viswanathan (2013), Figure 4.
"""

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import xarray as xr

import jaxbandits as jb
from jaxbandits.experiments.runs.common import Sweep, at_budgets

__all__ = ["SAR_SHOWN", "SETTINGS", "SIZES", "Setting", "Size", "over_k", "sar", "sweeps"]


@dataclasses.dataclass(frozen=True)
class Size:
    """How much to run."""

    runs: int  #: of every point; on random means each has means of its own
    one_by_one: bool  #: whether to run SAR and LUCB too, which pull one or two arms a step
    sar_runs: int  #: of every point of the figure on SAR
    problems: tuple[str, ...] = ("uniform means", "0.6/0.5", "RTE workers")  #: of Zhou et al.


SIZES = {
    # Not the random means: runs that share no rewards are two more programs of 1000 arms.
    "quick": Size(runs=40, one_by_one=False, sar_runs=100, problems=("0.6/0.5", "RTE workers")),
    "paper": Size(runs=200, one_by_one=True, sar_runs=5000),
}


class Setting(NamedTuple):
    """What a figure of Zhou et al. is about."""

    #: From the axes of K and of random means.
    problem: Callable[[jb.Axis, jb.Axis], jb.Problem | jb.problems.ProblemFamily]
    ks: tuple[int, ...]
    budget: int
    anew: bool = False  #: whether every run has means of its own


_ARMS = 1000
_MANY = tuple(range(50, 501, 50))
#: The experiments on SAR with as many m as arms but one; the others have three and five.
SAR_SHOWN = (1, 2)
SETTINGS = {
    "uniform means": Setting(
        lambda _, instance: jb.random_uniform(_ARMS, seed=instance), _MANY, budget=20 * _ARMS, anew=True
    ),
    "0.6/0.5": Setting(lambda k, _: jb.two_group(_ARMS, k, 0.6, 0.5), _MANY, budget=20 * _ARMS),
    "RTE workers": Setting(lambda *_: jb.rte_workers(), tuple(range(10, 101, 10)), budget=1640),
}


def sweeps(size: Size) -> int:
    """How many sweeps the functions below make."""
    return len(size.problems) * (5 if size.one_by_one else 3) + 2 * len(SAR_SHOWN)


def over_k(problem: str, size: Size, sweep: Sweep = jb.sweep) -> dict[str, xr.Dataset]:
    """Runs by algorithm, over `k`.

    Args:
        problem: a key of `SETTINGS`.
        size: how much to run.
        sweep: in place of `jaxbandits.sweep`.
    """
    setting = SETTINGS[problem]
    k = jb.axis(setting.ks, name="k")
    algorithms: dict[str, Any] = {
        # Below 49 n pulls AdaptiveTopK is uniform sampling, drawn as sums.
        "uniform": jb.AdaptiveTopK(k=k, budget=setting.budget),
        "OptMAI, β = .8": jb.OptMAI(k=k, budget=setting.budget, beta=0.8),
        "OptMAI, β = .9": jb.OptMAI(k=k, budget=setting.budget, beta=0.9),
    }
    if size.one_by_one:
        algorithms["SAR"] = jb.SAR(m=k, budget=setting.budget)
        algorithms["LUCB"] = jb.LUCB(m=k, epsilon=0.0, delta=0.1)
    return {label: _runs(setting, algorithm, size, sweep) for label, algorithm in algorithms.items()}


def _runs(setting: Setting, algorithm: Any, size: Size, sweep: Sweep) -> xr.Dataset:
    """The runs over K; instances of random means count as seeds."""
    instance = jb.axis(range(size.runs), name="instance")
    problem = setting.problem(jb.axis(setting.ks, name="k"), instance)
    seeds = 1 if setting.anew else size.runs
    if isinstance(algorithm, jb.LUCB):  # it stops by confidence, not by a budget
        ds = at_budgets(sweep, algorithm, problem, seeds, [setting.budget], independent=setting.anew)
        ds = ds.isel(budget=0, drop=True)
    else:
        ds = sweep(algorithm, problem, seeds, independent=setting.anew)
    attributes = ds.attrs
    ds = ds[["pulls", "aggregate_regret", "correct", "status"]]
    if setting.anew:
        ds = ds.isel(seed=0, drop=True).rename(instance="seed")
    return ds.assign_attrs(attributes)


def sar(number: int, budget: int, most: int, size: Size, sweep: Sweep = jb.sweep) -> dict[str, xr.Dataset]:
    """SAR and uniform sampling on an experiment of Audibert et al. 2010, over `m`; right are the exact m best arms.

    Args:
        number: of the experiment.
        budget: pulls.
        most: the largest m.
        size: how much to run.
        sweep: in place of `jaxbandits.sweep`.
    """
    m, runs = jb.axis(range(1, most + 1)), {}
    for label, cls in (("SAR", jb.SAR), ("uniform", jb.Uniform)):
        ds = sweep(cls(budget=budget, m=m), jb.abm(number), size.sar_runs)
        runs[label] = ds.assign(correct=ds["aggregate_regret"] < 1e-6)
    return runs
