"""UGapEc and LUCB1: pulls until they stop against epsilon, K and m, between the lower bound and Theorem 2."""

import dataclasses
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

import jaxbandits as jb
from jaxbandits.experiments.bench import Bench, runs_of, seconds_of, stacked
from jaxbandits.report import numbers, plots
from jaxbandits.report.gallery import Exhibit
from jaxbandits.report.tables import frame

__all__ = ["SIZES", "SWEEPS", "Size", "exhibits"]


@dataclasses.dataclass(frozen=True)
class Size:
    """How much to run."""

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
SWEEPS = 4

_DELTA = 0.05
_ALGORITHMS = {"UGapEc": jb.UGapEc, "LUCB1": jb.LUCB}
_BEST, _REST = 0.7, 0.5
_BOUNDS = ("upper_bound", "lower_bound")
_ASYMPTOTIC = (
    "The lower bound T* kl(δ, 1−δ) with ε > 0 is proved as δ tends to 0 (Degenne, Koolen 2019); at δ = 0.05 it is an "
    "orientation."
)


def exhibits(bench: Bench, out: Path, size: Size) -> list[Exhibit]:
    """The four figures with a fixed confidence."""
    epsilon, arms = jb.axis(size.epsilons), jb.axis(size.arms)
    grid = {
        name: bench.sweep(f"{name} over ε and K", kind(epsilon=epsilon, delta=_DELTA), _problem(arms), size.seeds)
        for name, kind in _ALGORITHMS.items()
    }
    several = {
        name: bench.sweep(
            f"{name} over m",
            kind(epsilon=size.at_epsilon, delta=_DELTA, m=jb.axis(size.returned)),
            jb.linear(n=size.at_arms),
            size.seeds,
        )
        for name, kind in _ALGORITHMS.items()
    }
    means = {n: np.where(np.arange(n) == 0, _BEST, _REST) for n in size.arms}
    sparse = _with_bounds(grid, [(means[n], e, 1) for e in size.epsilons for n in size.arms])
    spread = np.linspace(0.9, 0.1, size.at_arms)
    ordered = _with_bounds(several, [(spread, size.at_epsilon, m) for m in size.returned])
    about = f"one Bernoulli arm with mean {_BEST}, the others with mean {_REST}; δ = {_DELTA}, m = 1"
    curve = {"drawn": _DRAWN, "notes": (_ASYMPTOTIC,)}
    return [
        _curve(
            bench,
            out,
            "ugape-epsilon",
            sparse.sel(n=size.at_arms),
            grid.values(),
            settings=f"K = {size.at_arms}: {about}.",
            **curve,
        ),
        _curve(
            bench,
            out,
            "ugape-arms",
            sparse.sel(epsilon=size.at_epsilon),
            grid.values(),
            settings=f"ε = {size.at_epsilon}: {about}.",
            **curve,
        ),
        _curve(
            bench,
            out,
            "ugape-m",
            ordered,
            several.values(),
            settings=(
                f"K = {size.at_arms} Bernoulli arms with means evenly spaced from 0.9 to 0.1, ε = {size.at_epsilon}, "
                f"δ = {_DELTA}."
            ),
            drawn=_DRAWN,
            notes=(
                _ASYMPTOTIC,
                "For m > 1 it is one for algorithms that separate returned from other arms up to ε, as these two do.",
            ),
        ),
        _phase(bench, out, sparse.sel(algorithm="UGapEc"), grid["UGapEc"], about),
    ]


_DRAWN = (
    "Mean pulls until the algorithm stops, with 95% intervals (Student's t), often narrower than the line. Dashed: "
    "what Theorem 2 lets UGapEc exceed with probability at most δ, constants included. Dotted: the lower bound for "
    "every algorithm that is right with probability 1 − δ. Numbers of pulls and failure rates are in the CSV."
)


def _problem(n: Any) -> Any:
    return jb.one_sparse(n=n, best=_BEST, rest=_REST)


def _with_bounds(runs: dict[str, xr.Dataset], cells: list[tuple[np.ndarray, float, int]]) -> xr.Dataset:
    """Summaries along `algorithm`, with H_eps and both bounds; `cells` are means, epsilon and m in the grid's order."""
    known = stacked("algorithm", runs)
    along = [d for d in known["runs"].dims if d != "algorithm"]
    shape = [known.sizes[d] for d in along]
    upper = [float(jb.theory.ugape_c_pulls_bound(mu, e, _DELTA, m)) for mu, e, m in cells]
    lower = [float(jb.theory.pulls_lower_bound(mu, _DELTA, m, e)) for mu, e, m in cells]
    complexity = [float(jb.theory.h_epsilon(mu, e, m)) for mu, e, m in cells]
    known["upper_bound"] = (along, np.reshape(upper, shape), {"long_name": "Theorem 2 for UGapEc"})
    known["lower_bound"] = (along, np.reshape(lower, shape), {"long_name": "lower bound T* kl(δ, 1−δ)"})
    known["complexity"] = (along, np.reshape(complexity, shape), {"long_name": "H_ε"})
    return known


def _curve(
    bench: Bench, out: Path, name: str, known: xr.Dataset, runs: Iterable[xr.Dataset], **caption: Any
) -> Exhibit:
    runs = list(runs)
    pulls = known["pulls_mean"]
    below = _range(known["upper_bound"] / pulls.sel(algorithm="UGapEc"))
    against = _range(pulls.sel(algorithm="UGapEc") / pulls.sel(algorithm="LUCB1"))
    above = _range(pulls.sel(algorithm="UGapEc") / known["lower_bound"])
    finding = (
        f"UGapEc takes {against} times the pulls of LUCB1: {below} times fewer than Theorem 2 allows, "
        f"{above} times the lower bound"
    )
    caption["settings"] += f" Pulls of UGapEc are {_range(pulls.sel(algorithm='UGapEc') / known['complexity'])} H_ε."
    return bench.exhibit(
        out,
        name,
        plots.curve(known, hue="algorithm", bounds=_BOUNDS, title=finding),
        frame(known, _COLUMNS),
        finding=finding,
        runs=runs_of(*runs),
        seconds=seconds_of(*runs),
        alt=f"Mean pulls of UGapEc and LUCB1 between the lower bound and Theorem 2, on logarithmic axes. {finding}.",
        **caption,
    )


_COLUMNS = [
    *("runs", "pulls_mean", "pulls_low", "pulls_high", "pulls_q10", "pulls_q50", "pulls_q90"),
    *("failure", "failure_low", "failure_high", "censored", "complexity", "upper_bound", "lower_bound"),
]


def _phase(bench: Bench, out: Path, known: xr.Dataset, runs: xr.Dataset, about: str) -> Exhibit:
    pulls = known["pulls_mean"]
    finding = (
        f"UGapEc: from {numbers.value(float(pulls.min()))} to {numbers.value(float(pulls.max()))} mean pulls, always "
        f"{_range(pulls / known['complexity'])} times H_ε"
    )
    picture = plots.phase(known, x="epsilon", y="n", title=finding)
    worst = float(known["failure_high"].max())
    return bench.exhibit(
        out,
        "ugape-phase",
        picture,
        frame(known, _COLUMNS),
        finding=finding,
        drawn="Mean pulls of UGapEc over accuracy and number of arms; colour is logarithmic.",
        settings=f"{about[0].upper()}{about[1:]}.",
        runs=runs_of(runs),
        seconds=seconds_of(runs),
        notes=(
            f"Guaranteed failure rate: {_DELTA}; largest upper end of its intervals: {numbers.probability(worst)}.",
        ),
        alt=f"Heat map of mean pulls over accuracy and number of arms. {finding}.",
    )


def _range(ratio: xr.DataArray) -> str:
    """The smallest and the largest of ratios."""
    low, high = f"{float(ratio.min()):.2g}", f"{float(ratio.max()):.2g}"
    return low if low == high else f"{low} to {high}"
