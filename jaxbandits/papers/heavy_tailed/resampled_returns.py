"""Compare the errors of SR-T on a resampled table of returns: real tails, and an error that can be measured."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

import jaxbandits as jb
from jaxbandits.papers.bench import Bench, stack_summaries
from jaxbandits.papers.heavy_tailed import mean_estimators as estimators
from jaxbandits.report import formatting, plots
from jaxbandits.report.tables import frame


class Size(NamedTuple):
    budgets: tuple[int, ...]
    seeds: int


SIZES = {
    "quick": Size(budgets=(1000, 3000, 10_000, 30_000, 100_000), seeds=500),
    "paper": Size(budgets=(1000, 3000, 10_000, 30_000, 100_000, 300_000), seeds=10_000),
}

_BUNDLED = "market-returns"
_TRIED = np.asarray([0.5, 1, 2, 4, 8])  # thresholds to tune over, in standard deviations


def read_table(path: str) -> jb.problems.Empirical:
    """Read a CSV file of returns, a column per arm."""
    problem: jb.problems.Empirical = jb.empirical_from_csv(path)
    return problem


def show(bench: Bench, size: Size, tables: Mapping[str, jb.problems.Empirical]) -> None:
    """Draw error against budget, a picture for each table; of the bundled returns without a table."""
    tables = tables or {f"data:{_BUNDLED}": jb.empirical_from_data(_BUNDLED)}
    for table in tables.items():
        _draw(bench, size, *table)


def _draw(bench: Bench, size: Size, table: str, problem: jb.problems.Empirical) -> None:
    spread = float(np.sqrt(problem.moments(2, central=True).max()))  # the largest standard deviation of an arm
    truncated = estimators.build_truncated(size.budgets[-2], jb.axis(np.round(spread * _TRIED, 3)))
    tuning = bench.sweep(truncated, problem, size.seeds, root_seed=1)  # on separate seeds
    tuned = estimators.find_best_threshold(tuning)
    algorithms = estimators.build_rejects(jb.axis(size.budgets), {f"TEA, b = {tuned:g}": tuned})
    runs = bench.sweep_each(algorithms, problem, size.seeds)
    stats = stack_summaries("estimator", runs)
    label = Path(table.removeprefix("data:")).stem
    last = stats["failure"].isel(budget=-1)
    rates = [formatting.rate(float(rate), size.seeds) for rate in last.values]
    finding = (
        f"{label}, {formatting.count(int(last['budget']))} pulls: error {rates[0]} with empirical means, {rates[1]} "
        "with "
        f"b = {tuned:g}, {rates[2]} with medians of means"
    )
    second, best = np.sort(np.asarray(problem.mean, np.float64))[-2:]
    gap = float(best - second)
    bench.exhibit(
        f"heavy-tailed-{label}",
        plots.curve(stats, x="budget", y="failure", hue="estimator", title=finding),
        frame(stats, estimators.COLUMNS),
        [tuning, *runs.values()],
        f"The gap is {gap / spread:.2g} of a standard deviation, hence the many pulls. Truncation at "
        "a fixed b biases the mean of a skewed law: the error of TEA need not fall to 0.",
        finding=finding,
        drawn="Probability of not returning the column with the largest mean, with Clopper-Pearson 95% intervals.",
        settings=f"{table}: {problem.arms} arms, whose pulls are rows drawn at random with replacement. Moments of the "
        f"table: {_describe_moments(problem)}; gap of the two best means {gap:.3g}.",
        alt="Failure rate against budget on a table of daily returns.",
    )


def _describe_moments(problem: jb.problems.Empirical) -> str:
    """Write the largest raw and central moments of an arm, of two orders."""
    texts = []
    for p in (1.5, 2.0):
        raw, central = (problem.moments(p, central=kind).max() for kind in (False, True))
        texts.append(f"p = {p:g}: B = {raw:.3g}, C = {central:.3g}")
    return "; ".join(texts)
