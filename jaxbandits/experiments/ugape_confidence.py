"""UGapEc and LUCB1: pulls until they stop against epsilon, K and m, between the lower bound and Theorem 2."""

from pathlib import Path

import numpy as np
import xarray as xr

import jaxbandits as jb
from jaxbandits.experiments.bench import Bench, runs_of, seconds_of, stacked
from jaxbandits.experiments.runs.ugape_confidence import (
    BEST,
    DELTA,
    REST,
    SIZES,
    Size,
    over_epsilon_and_arms,
    over_returned,
)
from jaxbandits.report import numbers, plots
from jaxbandits.report.gallery import Exhibit
from jaxbandits.report.tables import frame

__all__ = ["SIZES", "SWEEPS", "Size", "exhibits"]

SWEEPS = 4

_BOUNDS = ("upper_bound", "lower_bound")
_COLUMNS = [
    *("runs", "pulls_mean", "pulls_low", "pulls_high", "pulls_q10", "pulls_q50", "pulls_q90"),
    *("failure", "failure_low", "failure_high", "censored", "complexity", "upper_bound", "lower_bound"),
]
_DRAWN = (
    "Mean pulls until the algorithm stops, with 95% intervals (Student's t), often narrower than the line. Dashed: "
    "what Theorem 2 lets UGapEc exceed with probability at most δ, constants included. Dotted: the lower bound for "
    "every algorithm that is right with probability 1 − δ. Numbers of pulls and failure rates are in the CSV."
)
_ASYMPTOTIC = (
    "The lower bound T* kl(δ, 1−δ) with ε > 0 is proved as δ tends to 0 (Degenne, Koolen 2019); at δ = 0.05 it is an "
    "orientation."
)
_SEPARATING = "For m > 1 it is one for algorithms that separate returned from other arms up to ε, as these two do."


def exhibits(bench: Bench, out: Path, size: Size) -> list[Exhibit]:
    """The four figures with a fixed confidence."""
    grid, several = over_epsilon_and_arms(size, bench.sweep), over_returned(size, bench.sweep)
    means = {n: np.where(np.arange(n) == 0, BEST, REST) for n in size.arms}
    sparse = _with_bounds(grid, [(means[n], epsilon, 1) for epsilon in size.epsilons for n in size.arms])
    spread = np.linspace(0.9, 0.1, size.at_arms)
    ordered = _with_bounds(several, [(spread, size.at_epsilon, m) for m in size.returned])
    about = f"one Bernoulli arm with mean {BEST}, the others with mean {REST}; δ = {DELTA}, m = 1"
    spaced = (
        f"K = {size.at_arms} Bernoulli arms with means evenly spaced from 0.9 to 0.1, ε = {size.at_epsilon}, "
        f"δ = {DELTA}."
    )
    at_arms, at_epsilon = sparse.sel(n=size.at_arms), sparse.sel(epsilon=size.at_epsilon)
    return [
        _curve(bench, out, "ugape-epsilon", at_arms, grid, f"K = {size.at_arms}: {about}."),
        _curve(bench, out, "ugape-arms", at_epsilon, grid, f"ε = {size.at_epsilon}: {about}."),
        _curve(bench, out, "ugape-m", ordered, several, spaced, _SEPARATING),
        _phase(bench, out, sparse.sel(algorithm="UGapEc"), grid["UGapEc"], f"{about[0].upper()}{about[1:]}."),
    ]


def _with_bounds(runs: dict[str, xr.Dataset], cells: list[tuple[np.ndarray, float, int]]) -> xr.Dataset:
    """Summaries along `algorithm`, with H_eps and both bounds; `cells` are means, epsilon and m in the grid's order."""
    known = stacked("algorithm", runs)
    along = [d for d in known["runs"].dims if d != "algorithm"]
    shape = [known.sizes[d] for d in along]
    upper = [float(jb.theory.ugape_c_pulls_bound(mu, e, DELTA, m)) for mu, e, m in cells]
    lower = [float(jb.theory.pulls_lower_bound(mu, DELTA, m, e)) for mu, e, m in cells]
    complexity = [float(jb.theory.h_epsilon(mu, e, m)) for mu, e, m in cells]
    known["upper_bound"] = (along, np.reshape(upper, shape), {"long_name": "Theorem 2 for UGapEc"})
    known["lower_bound"] = (along, np.reshape(lower, shape), {"long_name": "lower bound T* kl(δ, 1−δ)"})
    known["complexity"] = (along, np.reshape(complexity, shape), {"long_name": "H_ε"})
    return known


def _curve(
    bench: Bench, out: Path, name: str, known: xr.Dataset, runs: dict[str, xr.Dataset], settings: str, *notes: str
) -> Exhibit:
    """Mean pulls of both algorithms against what is left of the grid."""
    finding = _finding(known)
    ratio = known["pulls_mean"].sel(algorithm="UGapEc") / known["complexity"]
    return bench.exhibit(
        out,
        name,
        plots.curve(known, hue="algorithm", bounds=_BOUNDS, title=finding),
        frame(known, _COLUMNS),
        finding=finding,
        drawn=_DRAWN,
        settings=f"{settings} Pulls of UGapEc are {_range(ratio)} H_ε.",
        runs=runs_of(*runs.values()),
        seconds=seconds_of(*runs.values()),
        notes=(_ASYMPTOTIC, *notes),
        alt=f"Mean pulls of UGapEc and LUCB1 between the lower bound and Theorem 2, on logarithmic axes. {finding}.",
    )


def _finding(known: xr.Dataset) -> str:
    """UGapEc's pulls beside LUCB1's and beside both bounds."""
    pulls = known["pulls_mean"].sel(algorithm="UGapEc")
    against = _range(pulls / known["pulls_mean"].sel(algorithm="LUCB1"))
    below, above = _range(known["upper_bound"] / pulls), _range(pulls / known["lower_bound"])
    return (
        f"UGapEc takes {against} times the pulls of LUCB1: {below} times fewer than Theorem 2 allows, "
        f"{above} times the lower bound"
    )


def _phase(bench: Bench, out: Path, known: xr.Dataset, runs: xr.Dataset, settings: str) -> Exhibit:
    """Mean pulls of UGapEc over the whole grid."""
    pulls = known["pulls_mean"]
    finding = (
        f"UGapEc: from {numbers.value(float(pulls.min()))} to {numbers.value(float(pulls.max()))} mean pulls, always "
        f"{_range(pulls / known['complexity'])} times H_ε"
    )
    worst = numbers.probability(float(known["failure_high"].max()))
    return bench.exhibit(
        out,
        "ugape-phase",
        plots.phase(known, x="epsilon", y="n", title=finding),
        frame(known, _COLUMNS),
        finding=finding,
        drawn="Mean pulls of UGapEc over accuracy and number of arms; colour is logarithmic.",
        settings=settings,
        runs=runs_of(runs),
        seconds=seconds_of(runs),
        notes=(f"Guaranteed failure rate: {DELTA}; largest upper end of its intervals: {worst}.",),
        alt=f"Heat map of mean pulls over accuracy and number of arms. {finding}.",
    )


def _range(ratio: xr.DataArray) -> str:
    """The smallest and the largest of ratios."""
    low, high = f"{float(ratio.min()):.2g}", f"{float(ratio.max()):.2g}"
    return low if low == high else f"{low} to {high}"
