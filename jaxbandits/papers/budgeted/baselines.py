"""Compare RCB-I and RCB-AIR with simple baselines over the budget."""

from typing import Any, NamedTuple

import xarray as xr

import jaxbandits as jb
from jaxbandits.papers.bench import Bench
from jaxbandits.papers.budgeted import growth_with_budget
from jaxbandits.papers.budgeted.regret_exponents import COLUMNS, fit_exponent, join_summaries, run_each
from jaxbandits.papers.title_claims import ends_of, quotient, times
from jaxbandits.report import formatting, plots, tables


class Size(NamedTuple):
    seeds: int
    budgets: tuple[float, ...]  #: each is one of RCB-AIR's checkpoints
    betas: tuple[float, ...]
    thompson_most: float  #: largest budget of Thompson sampling, which draws 2 K numbers a pull
    every: bool  #: all algorithms, or the most informative ones


SIZES = {
    # One program covers all numbers of arms with the same power of two: few programs, by the choice of budgets.
    "quick": Size(seeds=64, budgets=(316, 562, 1000), betas=(1,), thompson_most=1000, every=False),
    "paper": Size(
        seeds=32, budgets=(100, 316, 1000, 3162, 10_000, 31_623, 100_000), betas=(0.5, 1, 2), thompson_most=1000,
        every=True,
    ),
}  # fmt: skip

RCB = "RCB-I"


def build_algorithms(budget: jb.Axis, *, every: bool = False) -> dict[str, Any]:
    """Return those that need few seconds: two, or all of them."""
    few = {RCB: jb.RCBI(budget), "ε-first (0.1)": jb.EpsilonFirst(budget)}
    return {**few, "UCB-V(∞)": jb.UCBVInf(budget), "KUBE": jb.KUBE(budget)} if every else few


def run_baselines(bench: Bench, size: Size) -> dict[str, xr.Dataset]:
    """Run each algorithm over `beta` and `budget`."""
    budget = jb.axis(size.budgets)
    algorithms = build_algorithms(budget, every=size.every)
    if size.every:
        algorithms["RCB-I, peeling E"] = jb.RCBI(budget, sequence="peeling")
    few = [b for b in size.budgets if b <= size.thompson_most]
    algorithms["Thompson sampling"] = jb.BudgetedThompson(jb.axis(few))
    return run_each(bench, algorithms, jb.reservoir(beta=jb.axis(size.betas)), size.seeds)


def show(bench: Bench, size: Size) -> None:
    """Draw regret against B for all algorithms; RCB-AIR's runs are those of `growth_with_budget`."""
    growing = bench.run_once(growth_with_budget.run_budgets, growth_with_budget.SIZES[bench.scale])
    air = growth_with_budget.summarise_groups(growing).sel(beta=list(size.betas), budget=list(size.budgets))
    runs = bench.run_once(run_baselines, size)
    stats = join_summaries("algorithm", {RCB: runs[RCB], "RCB-AIR": air, **{k: v for k, v in runs.items() if k != RCB}})
    finding = _rank(stats)
    panel = "beta" if len(size.betas) > 1 else None
    bench.exhibit(
        "budgeted-algorithms",
        plots.curve(stats, x="budget", y="regret", hue="algorithm", panel=panel, title=finding),
        tables.frame(stats, COLUMNS).dropna(subset="runs"),
        runs.values(),
        _describe_exponents(runs, size),
        "RCB has a bound on rewards and one on costs, both Hoeffding's, and pulls arms of small cost until "
        "their costs' bound is above 0. The others use mean costs (KUBE, ε-first), rewards alone (UCB-V), "
        "or draw from posteriors; their proofs are for known costs or finitely many arms.",
        f"Thompson sampling draws two Beta numbers per arm and pull: only up to B = {size.thompson_most:g}.",
        finding=finding,
        drawn="Mean regret, ρ* B minus the reward collected, with 95% intervals.",
        settings="Ratios 1 − U^(1/β), expected costs uniform on [0.2, 1], rewards and costs 0 or 1. All but "
        "RCB-AIR draw K(B) arms (equation 5); a run has the same ones, with the same rewards, with every "
        "algorithm. RCB-AIR's runs are those of the first figure.",
        alt=f"Regret against the budget for {stats.sizes['algorithm']} algorithms.",
    )


def _rank(stats: xr.Dataset) -> str:
    """Rank the algorithms by their regret at β = 1, at the largest budget that all of them have."""
    at = stats["regret_mean"].sel(beta=1.0)
    common = at.dropna("budget")["budget"].values[-1]
    order = at.sel(budget=common).sortby(at.sel(budget=common))["algorithm"].values
    regret = ends_of(stats, "regret").sel(beta=1.0, budget=common)
    others = [str(name) for name in order if name != RCB]
    ratios = {name: quotient(regret.sel(algorithm=name), regret.sel(algorithm=RCB)) for name in others}
    texts = ", ".join(f"{times(ratio)} ({name})" for name, ratio in ratios.items())
    return f"β = 1, B = {formatting.value(float(common))}: regret in units of RCB-I's is {texts}"


def _describe_exponents(runs: dict[str, xr.Dataset], size: Size) -> str:
    """Say how the regret of each grows at β = 1."""
    fits = {label: fit_exponent(ds).sel(beta=1.0) for label, ds in runs.items() if ds.sizes["budget"] > 1}
    growth = ", ".join(
        f"{label} B^{float(fit['exponent_mean']):.2f} [{float(fit['exponent_low']):.2f}, "
        f"{float(fit['exponent_high']):.2f}]"
        for label, fit in fits.items()
    )
    ends = " to ".join(formatting.value(float(b)) for b in (size.budgets[0], size.budgets[-1]))
    return f"Fitted over B from {ends} at β = 1, or as far as it was run: {growth}."
