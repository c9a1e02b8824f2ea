"""The best arm of a reservoir where every pull costs one: simple regret of SiRI and its rivals.

Li and Xia (2017) leave best-arm identification open (their section 6); without costs it is the problem of Carpentier
and Valko (2015).
"""

from pathlib import Path

import numpy as np
import xarray as xr

import jaxbandits as jb
from jaxbandits.experiments.bench import Bench, runs_of, seconds_of
from jaxbandits.experiments.budgeted_common import exponent, joined, slope
from jaxbandits.experiments.runs.budgeted_identification import (
    BEST,
    FACTOR,
    SIRI,
    SIZES,
    Size,
    of_regularity,
    siri_arms,
    sweeps,
)
from jaxbandits.report import numbers, plots
from jaxbandits.report.gallery import Exhibit
from jaxbandits.report.tables import frame

__all__ = ["SIZES", "Size", "show", "sweeps"]

_COLUMNS = ["runs", "simple_regret_mean", "simple_regret_low", "simple_regret_high", "pulls_mean", "rate", "floor"]


def show(bench: Bench, out: Path, size: Size) -> Exhibit:
    """Simple regret against the number of pulls, a line per algorithm."""
    every: list[xr.Dataset] = []
    by_beta, texts, settings = {}, [], []
    for beta, budgets in size.runs:
        runs = of_regularity(beta, budgets, size, bench.sweep)
        known = by_beta[beta] = _with_theory(joined("algorithm", runs), beta, budgets)
        fitted = float(exponent(runs[SIRI], "simple_regret")["exponent_mean"])
        texts.append(_of_beta(known, beta, fitted, float(slope(budgets, _rate(budgets, beta)))))
        settings.append(f"{siri_arms(budgets[-1], beta):g} at n = {numbers.count(budgets[-1])} (β = {beta:g})")
        every += runs.values()
    known, finding = joined("beta", by_beta), "; ".join(texts)
    known["budget"].attrs["long_name"] = "pulls n"
    panel = "beta" if len(size.runs) > 1 else None
    return bench.exhibit(
        out,
        "budgeted-identification",
        plots.curve(
            known, x="budget", y="simple_regret", hue="algorithm", panel=panel, bounds=("rate", "floor"), title=finding
        ),
        frame(known, _COLUMNS).dropna(subset="runs"),
        finding=finding,
        drawn=(
            "Mean of μ* minus the mean of the returned arm, with 95% intervals. Dashed: the order of Carpentier and "
            "Valko's Theorem 2, n^(−1/2) below β = 2, (n / ln n)^(−1/β) above; what the best of SiRI's K arms misses."
        ),
        settings=(
            f"Means μ* (1 − U^(1/β)), μ* = {BEST:g}; every pull costs one. K is SiRI's number of arms, A = "
            f"{FACTOR:g}, C = 1, δ = 0.01: {', '.join(settings)}. All algorithms see the same K arms."
        ),
        runs=runs_of(*every),
        seconds=seconds_of(*every),
        notes=(
            (
                "UGapEb has the a of its Theorem 1, from the true gaps, and returns its last choice. RCB-I, where "
                "shown, is made to collect rewards; it returns the arm it pulled most."
            ),
            (
                "A rate's constant is open: another A has the same rate and another regret. SiRI's bounds contain "
                "floor(log2 K), and jump where K passes a power of two."
            ),
        ),
        alt=f"Simple regret against the number of pulls for {known.sizes['algorithm']} algorithms. {finding}.",
    )


def _rate(budgets: tuple[int, ...], beta: float) -> np.ndarray:
    """The rate of SiRI's simple regret."""
    return np.asarray(jb.theory.siri_simple_regret_rate(np.asarray(budgets, np.float64), beta), np.float64)


def _with_theory(known: xr.Dataset, beta: float, budgets: tuple[int, ...]) -> xr.Dataset:
    """With SiRI's rate, scaled to its last point, and what the best of its arms misses, along `budget`."""
    rate = _rate(budgets, beta)
    siri = float(known["simple_regret_mean"].sel(algorithm=SIRI).isel(budget=-1))
    arms = np.asarray([siri_arms(n, beta) for n in budgets], np.float64)
    floor = np.asarray(jb.theory.expected_shortfall(arms, beta, BEST))
    return known.assign(
        rate=("budget", rate / rate[-1] * siri, {"long_name": "SiRI's rate, Theorem 2, through its last point"}),
        floor=("budget", floor, {"long_name": "what the best of K arms misses"}),
    )


def _of_beta(known: xr.Dataset, beta: float, fitted: float, theory: float) -> str:
    last = known["simple_regret_mean"].dropna("budget").isel(budget=-1)
    against = last / last.sel(algorithm=SIRI)
    others = ", ".join(f"{float(against.sel(algorithm=a)):.2f} ({a})" for a in known["algorithm"].values if a != SIRI)
    return (
        f"β = {beta:g}: SiRI's simple regret falls like n^{fitted:.2f} (theory {theory:.2f}); in units of it, at n = "
        f"{numbers.count(float(last['budget']))}, {others}"
    )
