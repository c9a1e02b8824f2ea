"""SR-T on a table of returns, resampled: real tails, and an error that can be measured because the means are known."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

import jaxbandits as jb
from jaxbandits.experiments.bench import Bench, runs_of, seconds_of, stacked
from jaxbandits.experiments.heavy_tailed_common import BATCHES, COLUMNS
from jaxbandits.report import numbers, plots
from jaxbandits.report.gallery import Exhibit
from jaxbandits.report.tables import frame
from jaxbandits.sweeps.spec import parse_problem

__all__ = ["SWEEPS", "show"]

SWEEPS = 4
_TRIED = np.asarray([0.5, 1, 2, 4, 8])  # thresholds to tune over, in standard deviations


def show(bench: Bench, out: Path, budgets: Sequence[int], seeds: int, table: str) -> Exhibit:
    """Error against the budget on a table, `data:NAME` or the path of a CSV file."""
    problem = parse_problem(table)
    assert isinstance(problem, jb.problems.Empirical)
    label = Path(table.removeprefix("data:")).stem
    budget = jb.axis(budgets)
    spread = float(np.sqrt(problem.moments(2, central=True).max()))
    tuning = bench.sweep(
        f"tuning b on {label}",
        jb.SuccessiveRejects(
            budget=budgets[-2], estimator="tea", threshold=jb.axis(np.round(spread * _TRIED, 3)), harmonic="full"
        ),
        problem,
        seeds,
        root_seed=1,
    )
    tuned = float(tuning["correct"].mean("seed").idxmax("threshold"))
    algorithms = {
        "EA": jb.SuccessiveRejects(budget=budget, harmonic="full"),
        f"TEA, b = {tuned:g}": jb.SuccessiveRejects(budget=budget, estimator="tea", threshold=tuned, harmonic="full"),
        f"MoM, {BATCHES} batches": jb.SuccessiveRejects(
            budget=budget, estimator="mom", batches=BATCHES, harmonic="full"
        ),
    }
    runs = {
        name: bench.sweep(f"SR-T ({name}) on {label}", algorithm, problem, seeds)
        for name, algorithm in algorithms.items()
    }
    known = stacked("estimator", runs)
    rates = [numbers.probability(float(rate)) for rate in known["failure"].isel(budget=-1).values]
    finding = (
        f"{label}, {numbers.count(budgets[-1])} pulls: error {rates[0]} with empirical means, {rates[1]} with "
        f"b = {tuned:g}, {rates[2]} with medians of means"
    )
    ordered = np.sort(np.asarray(problem.mean, np.float64))
    gap = float(ordered[-1] - ordered[-2])
    moments = "; ".join(
        f"p = {p:g}: B = {raw.max():.3g}, C = {central.max():.3g}"
        for p in (1.5, 2.0)
        for raw, central in [[problem.moments(p, central=central) for central in (False, True)]]
    )
    return bench.exhibit(
        out,
        f"heavy-tailed-{label}",
        plots.curve(known, x="budget", y="failure", hue="estimator", title=finding),
        frame(known, COLUMNS),
        finding=finding,
        drawn="Probability of not returning the column with the largest mean, with Clopper-Pearson 95% intervals.",
        settings=(
            f"{table}: {problem.arms} arms, whose pulls are rows drawn at random with replacement. Moments of the "
            f"table: {moments}; gap of the two best means {gap:.3g}."
        ),
        runs=runs_of(tuning, *runs.values()),
        seconds=seconds_of(tuning, *runs.values()),
        notes=(
            (
                f"The gap is {gap / spread:.2g} of a standard deviation, hence the many pulls. Truncation at a fixed b "
                "biases the mean of a skewed law: the error of TEA need not fall to 0."
            ),
        ),
        alt=f"Failure rate against budget on a table of daily returns. {finding}.",
    )
