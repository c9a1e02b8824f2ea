"""Compare RCB's regret on multiples of K(B), the number of arms that the paper draws."""

from typing import NamedTuple

import numpy as np
import xarray as xr

import jaxbandits as jb
from jaxbandits.papers.bench import Bench
from jaxbandits.papers.budgeted.regret_exponents import COLUMNS, SEQUENCE, choose_lanes, fit_slope, join_summaries
from jaxbandits.papers.title_claims import Ends, at_least, ends_of
from jaxbandits.report import formatting, plots, tables


class Size(NamedTuple):
    runs: tuple[tuple[int, int], ...]  #: budgets, and runs of each number of arms
    betas: tuple[float, ...]
    multipliers: tuple[float, ...]  #: of K(B)
    arms: tuple[int, int]  #: the smallest and the largest number of arms to try


SIZES = {
    # One program covers all numbers of arms with the same power of two: few programs.
    "quick": Size(
        runs=((4096, 64),), betas=(2 / 3, 1, 2), multipliers=(1 / 64, 1 / 16, 1 / 4, 1, 4, 16), arms=(4, 256)
    ),
    "paper": Size(
        runs=((2**12, 64), (2**18, 16)), betas=(2 / 3, 1, 2),
        multipliers=(1 / 128, 1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8, 16), arms=(2, 4096),
    ),
}  # fmt: skip


def show(bench: Bench, size: Size) -> None:
    """Draw regret against the multiple, a line per beta, and what the best of that many arms misses."""
    every: list[xr.Dataset] = []
    by_budget = {}
    for budget, seeds in size.runs:
        runs = {beta: _run(bench, budget, beta, seeds, size) for beta in size.betas}
        by_budget[budget] = join_summaries("beta", {beta: _add_floor(ds, budget, beta) for beta, ds in runs.items()})
        every += runs.values()
    stats = join_summaries("budget", by_budget)
    stats["multiplier"].attrs["long_name"] = "number of arms, in units of K(B)"
    stats["floor"].attrs["long_name"] = "what the best of K arms misses"
    best = stats["regret_mean"].idxmin("multiplier")
    regret = ends_of(stats, "regret")
    excess = regret.low.sel(multiplier=1) / regret.high.min("multiplier")
    finding = "; ".join(_describe_best(best.sel(budget=b), excess.sel(budget=b), b) for b, _ in size.runs)
    panel = "budget" if len(size.runs) > 1 else None
    seen = stats.assign(floor=stats["floor"].where(stats["floor"] > stats["regret_mean"] / 10))
    bench.exhibit(
        "budgeted-arms",
        plots.curve(seen, x="multiplier", y="regret", hue="beta", panel=panel, bounds=("floor",), title=finding),
        tables.frame(stats, ["arms", *COLUMNS, "floor"]).dropna(subset="runs"),
        every,
        "Equation (5) fixes the order only. Left of the minimum the arms missed cost most, right of it the "
        "pulls that distinguish arms; these are many with Hoeffding's radii, so that at such budgets fewer "
        "arms are better.",
        _describe_proof(size),
        *([_describe_move(best, size)] if len(size.runs) > 1 else []),
        finding=finding,
        drawn="Mean regret of RCB on K arms, with 95% intervals; at 1 it is RCB-I. Dashed: B times the expected "
        "distance of the best of K ratios from ρ*, which even who knew the best arm would lose; where it is a "
        "tenth of the regret or more.",
        settings=f"K(B) is B^(β/2) below β = 1, else B^(β/(1+β)) (equation 5): {_list_numbers(size)}. Costs "
        f"uniform on [0.2, 1]; {SEQUENCE}. A run's arms and their rewards are the same at every multiple, only "
        "more of them.",
        alt="Regret against the number of arms as a multiple of K(B), a line per β.",
    )


def _run(bench: Bench, budget: int, beta: float, seeds: int, size: Size) -> xr.Dataset:
    """Run RCB over `multiplier`, with its numbers of `arms`."""
    paper = jb.theory.reservoir_arms(budget, beta)
    tried = {m: round(paper * m) for m in size.multipliers if size.arms[0] <= paper * m <= size.arms[1]}
    problem = jb.reservoir(beta=beta, arms=jb.axis(list(tried.values())))
    ds = bench.sweep(jb.RCBI(budget), problem, seeds, lanes=choose_lanes(seeds))
    ds = ds.rename(arms="multiplier").assign_coords(multiplier=list(tried))
    return ds.assign(arms=("multiplier", np.asarray(list(tried.values()), np.float64)))


def _add_floor(ds: xr.Dataset, budget: int, beta: float) -> xr.Dataset:
    """Add what the best of that many arms misses."""
    missed = budget * np.asarray(jb.theory.expected_shortfall(ds["arms"].values, beta))
    return ds.assign(floor=("multiplier", missed))


def _describe_best(best: xr.DataArray, excess: xr.DataArray, budget: int) -> str:
    """Name the best multiples at one budget, and what K(B) itself costs."""
    multiples = ", ".join(f"1/{round(1 / m)}" if m < 1 else f"{m:g}" for m in best.values)
    ratios = ", ".join(at_least(Ends(ratio, ratio)) or "1" for ratio in excess.values)
    betas = ", ".join(f"{beta:.3g}" for beta in best["beta"].values)
    return (
        f"B = {formatting.count(budget)}: of the numbers tried {multiples} times K(B) has the smallest mean regret "
        f"for β = {betas}; K(B) has at least {ratios} times it"
    )


def _list_numbers(size: Size) -> str:
    return "; ".join(
        f"at B = {formatting.count(budget)} "
        + ", ".join(f"{jb.theory.reservoir_arms(budget, beta)} (β = {beta:.3g})" for beta in size.betas)
        for budget, _ in size.runs
    )


def _describe_move(best: xr.DataArray, size: Size) -> str:
    """Say how the best number of arms grows with the budget, beside K(B)."""
    ends = [size.runs[0][0], size.runs[-1][0]]
    texts = []
    for beta in size.betas:
        paper = np.asarray([jb.theory.reservoir_arms(budget, beta) for budget in ends])
        found = np.rint(best.sel(beta=beta, budget=ends).values * paper)
        own, theirs = (float(fit_slope(ends, arms)) for arms in (found, paper))
        texts.append(f"{found[0]:g} to {found[1]:g} for β = {beta:.3g}, like B^{own:.2f} (K(B): B^{theirs:.2f})")
    between = " to ".join(formatting.count(budget) for budget in ends)
    return f"From B = {between} the best number of arms tried goes from {'; '.join(texts)}."


def _describe_proof(size: Size) -> str:
    """Say where the bound is least that the proof has for any number of arms."""
    texts = []
    for budget, _ in size.runs:
        least = []
        for beta in size.betas:
            paper = jb.theory.reservoir_arms(budget, beta)
            arms = np.arange(2, 4 * paper)
            bound = np.asarray(jb.theory.rcb_i_regret_rate_for_arms(budget, beta, arms))
            least.append(f"{int(arms[bound.argmin()]) / paper:.2g}")
        texts.append(f"{', '.join(least)} at B = {formatting.count(budget)}")
    return (
        "The proof's own two terms (step S3), with 1 for their open constants, are least together at these multiples "
        f"of K(B), in the same order: {'; '.join(texts)}. K(B) leaves their logarithms out."
    )
