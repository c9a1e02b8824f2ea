"""Several bandits with one budget: the comparison of Gabillon et al. (2011), Problems 1 and 2.

Gabillon, Ghavamzadeh, Lazaric, Bubeck (2011), "Multi-bandit best arm identification", NIPS 24, section 6.
"""

import fractions
from collections.abc import Callable
from pathlib import Path

import numpy as np
import xarray as xr

import jaxbandits as jb
from jaxbandits.experiments.bench import Bench, Stage, runs_of, seconds_of
from jaxbandits.experiments.published import GAPE
from jaxbandits.experiments.runs.gape import LABEL_FACTOR, SIZES, Size, budget_of, runs_of_method
from jaxbandits.report import numbers, plots
from jaxbandits.report.gallery import Exhibit
from jaxbandits.report.summaries import summary
from jaxbandits.report.tables import frame

__all__ = ["SIZES", "Size", "run"]


_KEPT = ["pulls", "correct", "status"]
#: Runs behind a published bar.
_PUBLISHED_RUNS = 100_000


def run(
    out: Path, scale: str = "quick", on_progress: Callable[[Stage], None] | None = None, size: Size | None = None
) -> list[Exhibit]:
    """Failure probabilities of uniform sampling, UCB-E per bandit, GapE and its versions beside the published bars.

    Args:
        out: folder for the pictures and the numbers.
        scale: `quick` or `paper`, a key of `SIZES`.
        on_progress: called now and then.
        size: in place of a scale.
    """
    size = size or SIZES[scale]
    bench = Bench("gape", sum(len(methods) for methods in GAPE.values()), on_progress)
    return [_problem(bench, out, number, size) for number in GAPE]


def _problem(bench: Bench, out: Path, number: int, size: Size) -> Exhibit:
    """One problem's figure."""
    methods, budget = GAPE[number], budget_of(number)
    results = {
        name: runs_of_method(number, name, [eta for eta in values if eta is not None], size, bench.sweep)[_KEPT]
        for name, values in methods.items()
    }
    bars = []
    for name, values in methods.items():
        for eta, printed in values.items():
            bar = results[name] if eta is None else results[name].sel(eta=eta, drop=True)
            bar = bar.assign_coords(bar=_fraction(eta), method=name).drop_attrs()
            bars.append(bar.assign(published=printed, failure_at_twice_eta=_at_twice(results[name], name, eta)))
    ds = xr.concat(bars, "bar", data_vars="all", coords="different", compat="equals", join="exact")
    ds["bar"].attrs["long_name"] = "η as printed in the paper: a = η n / H"
    ds["published"].attrs["long_name"] = "published"
    known = summary(ds)
    known["difference"] = known["failure"] - known["published"]
    picture = plots.bars(known, group="method", reference="published", title=(finding := _finding(known, number)))
    columns = ["method", "runs", "errors", "failure", "failure_low", "failure_high", "published", "difference"]
    table = frame(known, [*columns, "failure_at_twice_eta"]).rename(columns={"bar": "eta"})
    bandits = jb.gabillon(number).bandits
    return bench.exhibit(
        out,
        f"gape-problem-{number}",
        picture,
        table,
        finding=finding,
        drawn=(
            "Probability that the best arm of some bandit is missed, with Clopper-Pearson 95% intervals; diamonds are "
            "the published bars. 'A-' estimates the complexity H, the others know it; 'V' uses variances."
        ),
        settings=(
            f"Problem {number} of Gabillon et al. 2011: {bandits} bandits of 4 arms, {budget} pulls for all of them "
            "(uniform sampling spreads a remainder at random), b = 1, a = η n / H."
        ),
        runs=runs_of(*results.values()),
        seconds=seconds_of(*results.values()),
        notes=_notes(known, number, size.seeds),
        alt=f"Bar chart of failure probabilities on Problem {number}, ours beside the published. {finding}.",
    )


def _at_twice(runs: xr.Dataset, method: str, eta: float | None) -> float:
    """The failure rate of an adaptive version at twice the printed eta."""
    if eta is None or not method.startswith("A-"):
        return float("nan")
    return float(1 - runs["correct"].sel(eta=LABEL_FACTOR * eta).mean())


def _finding(known: xr.Dataset, number: int) -> str:
    """The best eta of every method, from the lowest failure probability."""
    best = {}
    for method in GAPE[number]:
        mine = known.isel(bar=np.flatnonzero(known["method"].values == method))
        low = int(np.argmin(mine["failure"].values))
        eta = str(mine["bar"].values[low])
        best[method if method == "uniform" else f"{method} at η = {eta}"] = float(mine["failure"][low])
    ranked = sorted(best, key=lambda name: best[name])
    return f"Problem {number}: " + ", ".join(f"{name} misses {numbers.probability(best[name])}" for name in ranked)


def _notes(known: xr.Dataset, number: int, seeds: int) -> tuple[str, ...]:
    """How far from the published bars we are, and why where we know."""
    adaptive = np.asarray([str(method).startswith("A-") for method in known["method"].values])
    rate, printed = known["failure"].values, known["published"].values
    distance = np.abs(rate - printed)
    noise = np.sqrt(printed * (1 - printed) * (1 / seeds + 1 / _PUBLISHED_RUNS))
    far = [
        f"{known['method'].values[i]} at η = {known['bar'].values[i]} ({rate[i] - printed[i]:+.4f})"
        for i in np.flatnonzero(~adaptive & (distance > 3 * noise))
    ]
    name = next(method for method in GAPE[number] if method.startswith("A-"))
    at, twice = distance[adaptive].max(), np.abs(known["failure_at_twice_eta"].values - printed)[adaptive].max()
    texts = [
        (
            f"{name} apart, the largest difference from a published bar is {distance[~adaptive].max():.4f}. Beyond "
            f"three standard deviations of both samples: {', '.join(far) + '; we know no cause' if far else 'none'}."
        ),
        (
            f"{name}: at the η as printed we differ by up to {at:.4f}, at twice that η by up to {twice:.4f}"
            f"{': as if the paper had printed half of the η in a = η n / H' if twice < at else ''}. Bars are at the η "
            "as printed; the CSV has both."
        ),
    ]
    if "uniform + UCB-E" in GAPE[number]:
        texts.append(
            "Uniform + UCB-E: an equal share of the budget per bandit, the bandits run by themselves with independent "
            "rewards; a run fails if any of its bandits does."
        )
    return tuple(texts)


def _fraction(eta: float | None) -> str:
    return "–" if eta is None else str(fractions.Fraction(eta).limit_denominator(64))
