"""Compare the errors of SR-T with several estimators over budgets, on the paper's instances."""

from typing import NamedTuple

import numpy as np

import jaxbandits as jb
from jaxbandits.papers.bench import Bench, stack_summaries
from jaxbandits.papers.heavy_tailed import mean_estimators as estimators
from jaxbandits.report import formatting, plots, tables


class Size(NamedTuple):
    budgets: tuple[int, ...]
    seeds: int
    tuned_at: int  #: the budget at which b is tuned, one of `budgets`


SIZES = {
    "quick": Size(budgets=(100, 200, 400, 800, 1600, 3200), seeds=4000, tuned_at=800),
    "paper": Size(budgets=(100, 200, 400, 800, 1600, 3200, 6400), seeds=100_000, tuned_at=800),
}

_MOMENT = 7.0  # B of Table 2
_TRIED = (2.5, 3.5, 5.0, 7.0, 10.0, 15.0, 25.0)  # thresholds to tune over


def show(bench: Bench, size: Size) -> None:
    """Draw error against budget, a picture for each instance."""
    for name in estimators.PROBLEMS:
        _draw(bench, name, size)


def _draw(bench: Bench, name: str, size: Size) -> None:
    problem = estimators.PROBLEMS[name]()
    second, best = np.sort(np.asarray(problem.mean, np.float64))[-2:]
    paper = float(jb.theory.sr_tea_threshold(estimators.PAPER_ORDER, _MOMENT, best - second))
    # On separate seeds, so that tuning does not see the runs that are drawn.
    tuning = bench.sweep(estimators.build_truncated(size.tuned_at, jb.axis(_TRIED)), problem, size.seeds, root_seed=1)
    tuned = estimators.find_best_threshold(tuning)
    thresholds = {f"TEA, the paper's b = {paper:.0f}": paper, f"TEA, b = {tuned:g}": tuned}
    runs = bench.sweep_each(estimators.build_rejects(jb.axis(size.budgets), thresholds), problem, size.seeds)
    stats = stack_summaries("estimator", runs)
    rates = [formatting.rate(rate, size.seeds) for rate in stats["failure"].sel(budget=size.tuned_at).values]
    finding = (
        f"{name}, {formatting.count(size.tuned_at)} pulls: error {rates[0]} with empirical means, "
        f"{rates[1]} with the paper's b, {rates[2]} with b = {tuned:g}"
    )
    empirical, truncated, *_ = runs.values()
    same = np.mean(empirical["correct"].values == truncated["correct"].values)
    bench.exhibit(
        f"heavy-tailed-{name.lower()}-budget",
        plots.curve(stats, x="budget", y="failure", hue="estimator", title=finding),
        tables.frame(stats, estimators.COLUMNS),
        [tuning, *runs.values()],
        f"The paper's b = (3 B p / Δ)^(1/(p−1)) = {paper:.0f} almost never cuts a reward: {100 * same:.2f}% "
        "of the runs return the same verdict as with empirical means. What the theorem gains in the exponent "
        "is not seen here; a far smaller b is better than both.",
        finding=finding,
        drawn="Probability of not returning the best arm, with Clopper-Pearson 95% intervals.",
        settings=f"{name} of the paper: ten arms, Student t noise of 3 degrees of freedom. SR-T with Kbar = Σ 1/i, "
        "which leaves about 18% of the budget unused. b was tuned at one budget, on other seeds.",
        alt="Failure rate against budget for four estimators of the mean.",
    )
