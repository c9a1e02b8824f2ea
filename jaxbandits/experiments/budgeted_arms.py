"""How many arms to draw: the regret of RCB on multiples of K(B), the number that the paper takes."""

from pathlib import Path

import numpy as np
import xarray as xr

import jaxbandits as jb
from jaxbandits.experiments.bench import Bench, runs_of, seconds_of
from jaxbandits.experiments.budgeted_common import COLUMNS, SEQUENCE, joined, slope
from jaxbandits.experiments.runs.budgeted_arms import SIZES, Size, over_arms, sweeps
from jaxbandits.report import numbers, plots
from jaxbandits.report.gallery import Exhibit
from jaxbandits.report.tables import frame

__all__ = ["SIZES", "Size", "show", "sweeps"]


def show(bench: Bench, out: Path, size: Size) -> Exhibit:
    """Regret against the multiple, a line per beta, and what the best of so many arms misses."""
    every: list[xr.Dataset] = []
    by_budget = {}
    for budget, seeds in size.runs:
        runs = {beta: over_arms(budget, beta, seeds, size, bench.sweep) for beta in size.betas}
        by_budget[budget] = joined("beta", {beta: _with_floor(ds, budget, beta) for beta, ds in runs.items()})
        every += runs.values()
    known = joined("budget", by_budget)
    known["multiplier"].attrs["long_name"] = "number of arms, in units of K(B)"
    known["floor"].attrs["long_name"] = "what the best of K arms misses"
    best = known["regret_mean"].idxmin("multiplier")
    excess = known["regret_mean"].sel(multiplier=1) / known["regret_mean"].min("multiplier")
    finding = "; ".join(_best(best.sel(budget=b), excess.sel(budget=b), b) for b, _ in size.runs)
    panel = "budget" if len(size.runs) > 1 else None
    seen = known.assign(floor=known["floor"].where(known["floor"] > known["regret_mean"] / 10))
    return bench.exhibit(
        out,
        "budgeted-arms",
        plots.curve(seen, x="multiplier", y="regret", hue="beta", panel=panel, bounds=("floor",), title=finding),
        frame(known, ["arms", *COLUMNS, "floor"]).dropna(subset="runs"),
        finding=finding,
        drawn=(
            "Mean regret of RCB on K arms, with 95% intervals; at 1 it is RCB-I. Dashed: B times the expected distance "
            "of the best of K ratios from ρ*, which even who knew the best arm would lose; where it is a tenth of the "
            "regret or more."
        ),
        settings=(
            f"K(B) is B^(β/2) below β = 1, else B^(β/(1+β)) (equation 5): {_numbers(size)}. Costs uniform on [0.2, 1]; "
            f"{SEQUENCE}. A run's arms and their rewards are the same at every multiple, only more of them."
        ),
        runs=runs_of(*every),
        seconds=seconds_of(*every),
        notes=(
            (
                "Equation (5) fixes the order only. Left of the minimum the arms missed cost most, right of it the "
                "pulls that tell arms apart; these are many with Hoeffding's radii, so that at such budgets fewer "
                "arms are better."
            ),
            _of_proof(size),
            *_moving(best, size),
        ),
        alt=f"Regret against the number of arms as a multiple of K(B), a line per β. {finding}.",
    )


def _with_floor(ds: xr.Dataset, budget: int, beta: float) -> xr.Dataset:
    """With what the best of so many arms misses."""
    missed = budget * np.asarray(jb.theory.expected_shortfall(ds["arms"].values, beta))
    return ds.assign(floor=("multiplier", missed))


def _best(best: xr.DataArray, excess: xr.DataArray, budget: int) -> str:
    multiples = ", ".join(_multiple(m) for m in best.values)
    ratios = ", ".join(f"{ratio:.2f}" for ratio in excess.values)
    betas = ", ".join(f"{beta:.3g}" for beta in best["beta"].values)
    return (
        f"B = {numbers.count(budget)}: of the numbers tried {multiples} times K(B) is best for β = {betas}; K(B) has "
        f"{ratios} times the regret"
    )


def _multiple(m: float) -> str:
    return f"1/{round(1 / m)}" if m < 1 else f"{m:g}"


def _numbers(size: Size) -> str:
    return "; ".join(
        f"at B = {numbers.count(budget)} "
        + ", ".join(f"{jb.theory.reservoir_arms(budget, beta)} (β = {beta:.3g})" for beta in size.betas)
        for budget, _ in size.runs
    )


def _moving(best: xr.DataArray, size: Size) -> tuple[str, ...]:
    """How the best number of arms grows with the budget, beside K(B)."""
    if len(size.runs) < 2:
        return ()
    ends = [size.runs[0][0], size.runs[-1][0]]
    texts = []
    for beta in size.betas:
        paper = np.asarray([jb.theory.reservoir_arms(budget, beta) for budget in ends])
        found = np.rint(best.sel(beta=beta, budget=ends).values * paper)
        own, theirs = (float(slope(ends, arms)) for arms in (found, paper))
        texts.append(f"{found[0]:g} to {found[1]:g} for β = {beta:.3g}, like B^{own:.2f} (K(B): B^{theirs:.2f})")
    between = " to ".join(numbers.count(budget) for budget in ends)
    return (f"From B = {between} the best number of arms tried goes from {'; '.join(texts)}.",)


def _of_proof(size: Size) -> str:
    """Where the bound is least that the proof has for any number of arms."""
    texts = []
    for budget, _ in size.runs:
        least = []
        for beta in size.betas:
            paper = jb.theory.reservoir_arms(budget, beta)
            arms = np.arange(2, 4 * paper)
            least.append(
                int(arms[np.asarray(jb.theory.rcb_i_regret_rate_for_arms(budget, beta, arms)).argmin()]) / paper
            )
        texts.append(f"{', '.join(f'{m:.2g}' for m in least)} at B = {numbers.count(budget)}")
    return (
        "The proof's own two terms (step S3), with 1 for their open constants, are least together at these multiples "
        f"of K(B), in the same order: {'; '.join(texts)}. K(B) leaves their logarithms out."
    )
