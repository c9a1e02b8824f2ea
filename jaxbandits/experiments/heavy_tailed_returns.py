"""SR-T on a table of returns, resampled: real tails, and an error that can be measured because the means are known."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import xarray as xr

import jaxbandits as jb
from jaxbandits.experiments.bench import Bench, runs_of, seconds_of, stacked
from jaxbandits.experiments.heavy_tailed_common import COLUMNS
from jaxbandits.experiments.runs.heavy_tailed_common import best_threshold
from jaxbandits.experiments.runs.heavy_tailed_returns import over_budgets, over_thresholds, returns, spread
from jaxbandits.report import numbers, plots
from jaxbandits.report.gallery import Exhibit
from jaxbandits.report.tables import frame

__all__ = ["SWEEPS", "show"]

SWEEPS = 4


def show(bench: Bench, out: Path, budgets: Sequence[int], seeds: int, table: str) -> Exhibit:
    """Error against the budget on a table, `data:NAME` or the path of a CSV file."""
    problem = returns(table)
    tuning = over_thresholds(problem, budgets[-2], seeds, bench.sweep)
    tuned = best_threshold(tuning)
    runs = over_budgets(problem, tuned, budgets, seeds, bench.sweep)
    known = stacked("estimator", runs)
    label = Path(table.removeprefix("data:")).stem
    finding = _finding(known, label, tuned)
    gap = _gap(problem)
    return bench.exhibit(
        out,
        f"heavy-tailed-{label}",
        plots.curve(known, x="budget", y="failure", hue="estimator", title=finding),
        frame(known, COLUMNS),
        finding=finding,
        drawn="Probability of not returning the column with the largest mean, with Clopper-Pearson 95% intervals.",
        settings=(
            f"{table}: {problem.arms} arms, whose pulls are rows drawn at random with replacement. Moments of the "
            f"table: {_moments(problem)}; gap of the two best means {gap:.3g}."
        ),
        runs=runs_of(tuning, *runs.values()),
        seconds=seconds_of(tuning, *runs.values()),
        notes=(
            (
                f"The gap is {gap / spread(problem):.2g} of a standard deviation, hence the many pulls. Truncation at "
                "a fixed b biases the mean of a skewed law: the error of TEA need not fall to 0."
            ),
        ),
        alt=f"Failure rate against budget on a table of daily returns. {finding}.",
    )


def _finding(known: xr.Dataset, label: str, tuned: float) -> str:
    """The failure rates at the largest budget."""
    last = known["failure"].isel(budget=-1)
    rates = [numbers.probability(float(rate)) for rate in last.values]
    return (
        f"{label}, {numbers.count(int(last['budget']))} pulls: error {rates[0]} with empirical means, {rates[1]} with "
        f"b = {tuned:g}, {rates[2]} with medians of means"
    )


def _gap(problem: jb.problems.Empirical) -> float:
    """Of the two best means."""
    ordered = np.sort(np.asarray(problem.mean, np.float64))
    return float(ordered[-1] - ordered[-2])


def _moments(problem: jb.problems.Empirical) -> str:
    """The largest raw and central moments of an arm, of two orders."""
    texts = []
    for p in (1.5, 2.0):
        raw, central = (problem.moments(p, central=kind).max() for kind in (False, True))
        texts.append(f"p = {p:g}: B = {raw:.3g}, C = {central:.3g}")
    return "; ".join(texts)
