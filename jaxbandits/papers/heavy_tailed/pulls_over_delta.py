"""Compare pulls of SE-delta with Theorem 1 over delta, with several estimators, on the paper's instances."""

from typing import NamedTuple

import numpy as np
import xarray as xr

import jaxbandits as jb
from jaxbandits.papers.bench import Bench, stack_summaries
from jaxbandits.papers.heavy_tailed import mean_estimators as estimators
from jaxbandits.papers.title_claims import at_least, ends_of, quotient
from jaxbandits.report import formatting, plots, tables


class Size(NamedTuple):
    deltas: tuple[float, ...]
    seeds: int  #: runs per cell; a quarter of them for medians of means, which take longest


SIZES = {
    "quick": Size(deltas=(0.01, 0.02, 0.05, 0.1, 0.2), seeds=12),
    "paper": Size(deltas=(0.005, 0.01, 0.02, 0.05, 0.1, 0.2), seeds=2000),
}

_ESTIMATORS = {"S1": ("EA", "TEA", "MoM", "Catoni"), "S2": ("EA", "TEA")}
_NO_END = 10**9
_OTHERS = (
    "Medians of means and Catoni's estimator are not the paper's. Catoni's radius is nearly that of a normal law with "
    "the same variance, and so it wins as soon as C is known."
)


def show(bench: Bench, size: Size) -> None:
    """Draw pulls against delta, a picture for each instance."""
    for name in estimators.PROBLEMS:
        _draw(bench, name, size)


def _draw(bench: Bench, name: str, size: Size) -> None:
    deltas, problem = np.asarray(size.deltas), estimators.PROBLEMS[name]()
    seeds = {label: max(1, size.seeds // 4) if label == "MoM" else size.seeds for label in _ESTIMATORS[name]}
    runs = estimators.run_eliminations(bench, seeds, problem, _NO_END, delta=jb.axis(size.deltas))
    problems, orders = [problem] * len(deltas), [estimators.PAPER_ORDER] * len(deltas)
    stats = estimators.add_theorem(stack_summaries("estimator", runs), "delta", problems, deltas, orders)
    finding = _describe_crossing(stats, name)
    distance = stats["bound"] / stats["pulls_mean"]
    least, most = formatting.fold(float(distance.min())), formatting.fold(float(distance.max()))
    bench.exhibit(
        f"heavy-tailed-{name.lower()}-delta",
        plots.curve(stats, x="delta", y="pulls", hue="estimator", bounds=("bound",), title=finding),
        tables.frame(stats, estimators.PULLS_COLUMNS),
        runs.values(),
        estimators.PROMISE,
        f"The theorem's number is {least} to {most} times what is measured; EA pays 1/δ, the others log(1/δ).",
        *([_OTHERS] if "Catoni" in runs else []),
        finding=finding,
        drawn="Mean pulls until one arm is left, with 95% intervals. Dashed: Theorem 1, exceeded with probability δ.",
        settings=f"{name} of the paper: ten arms, Student t noise of 3 degrees of freedom; p = 2, B = 7, C = 3.",
        alt=f"Mean pulls against delta for {len(runs)} estimators of the mean.",
    )


def _describe_crossing(stats: xr.Dataset, name: str) -> str:
    """Say up to which delta truncated means are surely the better ones; and compare Catoni's estimator."""
    pulls = ends_of(stats, "pulls")
    fewer = (pulls.high.sel(estimator="TEA") < pulls.low.sel(estimator="EA")).values
    deltas = stats["delta"].values
    unsure = deltas[~fewer].min(initial=np.inf)
    sure = deltas[deltas < unsure]
    finding = f"{name}: the intervals do not tell whether truncated means need fewer pulls than empirical means"
    if sure.size:
        upto = f"up to δ = {formatting.value(float(sure.max()))}" if np.isfinite(unsure) else "at every δ"
        finding = f"{name}: truncated means need fewer pulls than empirical means {upto}"
    if "Catoni" in stats["estimator"]:
        gain = quotient(pulls.sel(estimator="TEA"), pulls.sel(estimator="Catoni"))
        if least := at_least(gain):
            finding += f"; Catoni's estimator needs at least {least} times fewer than truncated means"
    return finding
