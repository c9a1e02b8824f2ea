"""UGapEb against uniform sampling on Experiment 1 of Audibert et al. (2010): why the theorem's parameter fails."""

from pathlib import Path

import numpy as np
import xarray as xr

import jaxbandits as jb
from jaxbandits.experiments.bench import Bench, runs_of, seconds_of, stacked
from jaxbandits.experiments.runs.ugape_budget import SIZES, Size, choices, over_budgets
from jaxbandits.report import numbers, plots
from jaxbandits.report.gallery import Exhibit
from jaxbandits.report.tables import frame

__all__ = ["SIZES", "SWEEPS", "Size", "show"]

SWEEPS = 4


def show(bench: Bench, out: Path, size: Size) -> Exhibit:
    """Error against budget."""
    runs = over_budgets(size, bench.sweep)
    means = np.asarray(jb.abm(1).mean, np.float64)
    known = _with_theorem(stacked("algorithm", runs), means, size)
    finding = _finding(known, size.at)
    return bench.exhibit(
        out,
        "ugape-budget",
        plots.curve(known, x="budget", y="failure", hue="algorithm", bounds=("bound",), title=finding),
        frame(known, ["runs", "errors", "failure", "failure_low", "failure_high", "bound", "a_of_theorem"]),
        finding=finding,
        drawn=(
            "Probability of not returning the best arm, with Clopper-Pearson 95% intervals. Dashed: Theorem 1's bound "
            f"2 K n exp(−2a), which first says something (is below 1) at n ≈ {numbers.value(_informative(means))}."
        ),
        settings=(
            "Experiment 1 of Audibert et al. 2010: 20 Bernoulli arms, one with mean 0.5, the others with mean 0.4; "
            "ε = 0, m = 1. The a of Theorem 1, (n − K) / (4 H_ε), knows the gaps; the adaptive a estimates them before "
            "every pull."
        ),
        runs=runs_of(*runs.values()),
        seconds=seconds_of(*runs.values()),
        notes=_notes(known, choices(size), size.at),
        alt=f"Failure rate against budget for UGapEb, two variants and uniform sampling. {finding}.",
    )


def _with_theorem(known: xr.Dataset, means: np.ndarray, size: Size) -> xr.Dataset:
    """Summaries with Theorem 1's bound and parameter."""
    budgets = np.asarray(size.budgets, np.float64)
    bound = np.asarray(jb.theory.ugape_b_error_bound(means, budgets, 0.0))
    a = np.asarray(jb.theory.ugape_b_largest_a(means, budgets, 0.0))
    return known.assign(bound=("budget", bound, {"long_name": "Theorem 1's bound"}), a_of_theorem=("budget", a))


def _informative(means: np.ndarray) -> float:
    """The budget from which Theorem 1's bound is below 1, to two digits."""
    budgets = np.geomspace(100, 1e8, 1000)
    below = np.asarray(jb.theory.ugape_b_error_bound(means, budgets, 0.0)) < 1
    return float(f"{budgets[int(np.argmax(below))]:.2g}")


def _finding(known: xr.Dataset, at: int) -> str:
    """All failure rates at one budget, from the lowest."""
    rates = known["failure"].sel(budget=at)
    ranked = sorted(rates["algorithm"].values.tolist(), key=lambda name: float(rates.sel(algorithm=name)))
    said = ", ".join(f"{numbers.probability(float(rates.sel(algorithm=name)))} ({name})" for name in ranked)
    return f"Failure rate with {numbers.count(at)} pulls: {said}"


def _notes(known: xr.Dataset, watched: xr.Dataset, at: int) -> tuple[str, ...]:
    """When the returned J was chosen, from runs followed step by step; and what the variants are."""
    a = float(known["a_of_theorem"].sel(budget=at))
    chosen, pulls, mean = (float(watched[name].median()) for name in ("chosen", "arm_pulls", "arm_mean"))
    return (
        (
            f"This is the paper's algorithm as printed. At n = {at} the theorem's a is {a:.3f}: intervals are "
            "far too narrow, and the smallest index B_J, whose J is returned, is that of a lucky start. In "
            f"{watched.sizes['seed']} runs followed step by step the returned J was chosen at pull "
            f"{numbers.count(chosen)} (median), when its arm had {numbers.count(pulls)} pulls and a mean of {mean:.2f}."
        ),
        "'last J' returns the J of the last pull; the adaptive a is larger than the theorem's.",
    )
