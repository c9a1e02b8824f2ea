"""Compare costs on the arms of a user's tables of impressions and clicks."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

import jaxbandits as jb
from jaxbandits.papers.bench import Bench, stack_summaries
from jaxbandits.papers.pay_per_reward import cost_rivals as rivals
from jaxbandits.report import formatting, plots
from jaxbandits.report.tables import frame


class Size(NamedTuple):
    seeds: int


SIZES = {"quick": Size(seeds=100), "paper": Size(seeds=1000)}


def read_table(path: str) -> jb.Problem:
    """Read a CSV file of impressions and clicks, a row per arm."""
    problem: jb.Problem = jb.click_rates(path)
    return problem


def show(bench: Bench, size: Size, tables: Mapping[str, jb.Problem]) -> None:
    """Draw cost over W, a picture for each table."""
    for path, problem in tables.items():
        _draw(bench, size, Path(path).stem, problem)


def _draw(bench: Bench, size: Size, label: str, problem: jb.Problem) -> None:
    means = np.asarray(problem.mean, np.float64)
    algorithms = rivals.build_algorithms(rivals.CLICK_EPSILON)
    runs = bench.sweep_each(algorithms, problem, size.seeds)
    stats = stack_summaries("algorithm", {name: rivals.divide_by_weight(ds, means.sum()) for name, ds in runs.items()})
    stats["cost_mean"].attrs["label"] = rivals.COST_OVER_W
    costs = zip(runs, stats["cost_mean"].values, strict=True)
    finding = f"{label}: cost / W is " + ", ".join(f"{formatting.value(float(cost))} ({name})" for name, cost in costs)
    bench.exhibit(
        f"pay-per-reward-{label}",
        plots.bars(stats, x="algorithm", y="cost", title=finding),
        frame(stats, rivals.PAID_COLUMNS),
        runs.values(),
        rivals.describe_safety(stats),
        finding=finding,
        drawn="Mean cost over W, with 95% intervals.",
        settings=f"{means.size} arms with the click-through rates of the table, {means.min():.2g} to "
        f"{means.max():.2g}; ε = {rivals.CLICK_EPSILON:g}, δ = {rivals.DELTA:g}.",
        alt="Bars of cost over W for four algorithms.",
    )
