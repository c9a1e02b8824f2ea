"""Run AdaptiveTopK with its printed constants up to budgets at which they accept and reject."""

from typing import NamedTuple

import numpy as np

import jaxbandits as jb
from jaxbandits.papers.bench import Bench
from jaxbandits.papers.top_k import chen_data_sets as chen
from jaxbandits.report import formatting, plots, summaries, tables


class Size(NamedTuple):
    seeds: int  #: runs a point
    budgets: tuple[int, ...]  #: up to where the literal constants decide something


SIZES = {
    "quick": Size(seeds=60, budgets=(20_000, 100_000, 300_000, 1_000_000, 10_000_000)),
    "paper": Size(
        seeds=200,
        budgets=(
            5000, 10_000, 20_000, 50_000, 100_000, 200_000, 300_000, 500_000, 1_000_000, 2_000_000, 5_000_000,
            10_000_000,
        ),
    ),
}  # fmt: skip


def show(bench: Bench, size: Size) -> None:
    """Draw failures against the budget, a line per data set."""
    k, budget = jb.axis(chen.KS), jb.axis(size.budgets)
    algorithm = jb.AdaptiveTopK(k=k, budget=budget, epsilon=chen.EPSILON, delta=chen.DELTA)
    runs = chen.judge(bench.sweep(algorithm, chen.make_dataset(jb.axis(list(chen.DATASETS)), k), size.seeds))
    stats = chen.label_axes(summaries.summary(runs))
    sure = stats["failure"].max("k") <= 0.01
    budgets = sure["budget"].where(sure).min("budget")
    finding = f"AdaptiveTopK as printed errs in at most 1% of {size.seeds} runs from these pulls on: " + ", ".join(
        f"{name} {formatting.count(b) if np.isfinite(b) else 'none of these'}"
        for name, b in zip(chen.DATASETS, budgets.values.tolist(), strict=True)
    )
    bench.exhibit(
        "top-k-printed-constants",
        plots.curve(stats, x="budget", y="failure", hue="dataset", panel="k", title=finding),
        tables.frame(stats, chen.COLUMNS),
        [runs],
        chen.describe_rounds(stats),
        "Where the error is gone before that, uniform sampling did it.",
        finding=finding,
        drawn="Probability that the aggregate regret exceeds 0.01, with Clopper-Pearson 95% intervals.",
        settings=f"n = {chen.ARMS}, ε = δ = 0.01; a last round that does not fit is spent evenly on the arms still "
        "active.",
        alt="Failure rate against budgets up to ten million pulls for four data sets, a panel per K.",
    )
