"""Compare pulls of UGapEc and LUCB1 over epsilon, K and m with the lower bound and Theorem 2."""

from typing import NamedTuple

import numpy as np
import xarray as xr

import jaxbandits as jb
from jaxbandits.papers.bench import Bench, stack_summaries
from jaxbandits.papers.title_claims import Ends, ends_of, quotient, times
from jaxbandits.report import formatting, plots, tables


class Size(NamedTuple):
    epsilons: tuple[float, ...]
    arms: tuple[int, ...]
    returned: tuple[int, ...]
    seeds: int
    at_epsilon: float = 0.1  #: where the curve against K is drawn, one of `epsilons`
    at_arms: int = 16  #: where the curve against epsilon is drawn, one of `arms`; and K of the problem with m varying


SIZES = {
    # Numbers of arms within two powers of two: they share a program, and compiling takes longest here.
    "quick": Size((0.025, 0.05, 0.1, 0.2, 0.4), (9, 11, 13, 16), (1, 2, 4, 8, 12, 15), seeds=60),
    "paper": Size(
        (0.0125, 0.025, 0.05, 0.1, 0.2, 0.4), (2, 4, 6, 8, 12, 16, 24, 32, 64, 128), tuple(range(1, 16)), seeds=1000
    ),
}

_DELTA = 0.05
#: Means of one Bernoulli arm and of the others, where epsilon and K vary.
_BEST, _REST = 0.7, 0.5
_ALGORITHMS = {"UGapEc": jb.UGapEc, "LUCB1": jb.LUCB}
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


def show(bench: Bench, size: Size) -> None:
    """Draw pulls against epsilon, K and m, and UGapEc's over the whole grid."""
    grid = _run(
        bench, size, jb.one_sparse(n=jb.axis(size.arms), best=_BEST, rest=_REST), epsilon=jb.axis(size.epsilons)
    )
    several = _run(bench, size, jb.linear(n=size.at_arms), epsilon=size.at_epsilon, m=jb.axis(size.returned))
    means = {n: np.where(np.arange(n) == 0, _BEST, _REST) for n in size.arms}
    sparse = _add_bounds(grid, [(means[n], epsilon, 1) for epsilon in size.epsilons for n in size.arms])
    ordered = _add_bounds(several, [(np.linspace(0.9, 0.1, size.at_arms), size.at_epsilon, m) for m in size.returned])
    about = f"one Bernoulli arm with mean {_BEST}, the others with mean {_REST}; δ = {_DELTA}, m = 1"
    spaced = (
        f"K = {size.at_arms} Bernoulli arms with means evenly spaced from 0.9 to 0.1, ε = {size.at_epsilon}, "
        f"δ = {_DELTA}."
    )
    at_arms, at_epsilon = sparse.sel(n=size.at_arms), sparse.sel(epsilon=size.at_epsilon)
    _draw_curve(bench, "ugape-epsilon", at_arms, grid, f"K = {size.at_arms}: {about}.")
    _draw_curve(bench, "ugape-arms", at_epsilon, grid, f"ε = {size.at_epsilon}: {about}.")
    _draw_curve(bench, "ugape-m", ordered, several, spaced, _SEPARATING)
    _draw_phase(bench, sparse.sel(algorithm="UGapEc"), grid["UGapEc"], f"{about[0].upper()}{about[1:]}.")


def _run(
    bench: Bench, size: Size, problem: jb.Problem | jb.problems.ProblemFamily, **fields: float | jb.Axis
) -> dict[str, xr.Dataset]:
    algorithms = {label: kind(delta=_DELTA, **fields) for label, kind in _ALGORITHMS.items()}
    return bench.sweep_each(algorithms, problem, size.seeds)


def _add_bounds(runs: dict[str, xr.Dataset], cells: list[tuple[np.ndarray, float, int]]) -> xr.Dataset:
    """Return summaries with H_eps and both bounds; `cells` are means, epsilon and m in the grid's order."""
    stats = stack_summaries("algorithm", runs)
    along = [d for d in stats["runs"].dims if d != "algorithm"]
    shape = [stats.sizes[d] for d in along]
    upper = [float(jb.theory.ugape_c_pulls_bound(mu, e, _DELTA, m)) for mu, e, m in cells]
    lower = [float(jb.theory.pulls_lower_bound(mu, _DELTA, m, e)) for mu, e, m in cells]
    complexity = [float(jb.theory.h_epsilon(mu, e, m)) for mu, e, m in cells]
    stats["upper_bound"] = (along, np.reshape(upper, shape), {"long_name": "Theorem 2 for UGapEc"})
    stats["lower_bound"] = (along, np.reshape(lower, shape), {"long_name": "lower bound T* kl(δ, 1−δ)"})
    stats["complexity"] = (along, np.reshape(complexity, shape), {"long_name": "H_ε"})
    return stats


def _draw_curve(
    bench: Bench, name: str, stats: xr.Dataset, runs: dict[str, xr.Dataset], settings: str, *notes: str
) -> None:
    every = ends_of(stats, "pulls")
    pulls = every.sel(algorithm="UGapEc")
    against = times(quotient(pulls, every.sel(algorithm="LUCB1")))
    allowed = Ends(stats["upper_bound"], stats["upper_bound"])
    below, above = times(quotient(allowed, pulls)), times(quotient(pulls, stats["lower_bound"]))
    finding = (
        f"UGapEc takes {against} times the pulls of LUCB1: {below} times fewer than Theorem 2 allows, "
        f"{above} times the lower bound"
    )
    bench.exhibit(
        name,
        plots.curve(stats, hue="algorithm", bounds=("upper_bound", "lower_bound"), title=finding),
        tables.frame(stats, _COLUMNS),
        runs.values(),
        _ASYMPTOTIC,
        *notes,
        finding=finding,
        drawn=_DRAWN,
        settings=f"{settings} Pulls of UGapEc are {times(quotient(pulls, stats['complexity']))} H_ε.",
        alt="Mean pulls of UGapEc and LUCB1 between the lower bound and Theorem 2, on logarithmic axes.",
    )


def _draw_phase(bench: Bench, stats: xr.Dataset, runs: xr.Dataset, settings: str) -> None:
    pulls = stats["pulls_mean"]
    finding = (
        f"UGapEc: from {formatting.value(float(pulls.min()))} to {formatting.value(float(pulls.max()))} mean pulls, "
        f"always {times(quotient(ends_of(stats, 'pulls'), stats['complexity']))} times H_ε"
    )
    worst = formatting.probability(float(stats["failure_high"].max()))
    bench.exhibit(
        "ugape-phase",
        plots.phase(stats, x="epsilon", y="n", title=finding),
        tables.frame(stats, _COLUMNS),
        [runs],
        f"Guaranteed failure rate: {_DELTA}; largest upper end of its intervals: {worst}.",
        finding=finding,
        drawn="Mean pulls of UGapEc over accuracy and number of arms; colour is logarithmic.",
        settings=settings,
        alt="Heat map of mean pulls over accuracy and number of arms.",
    )
