"""Compare RCB-I with a simple baseline on a user's tables of expected rewards and costs."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

import jaxbandits as jb
from jaxbandits.papers.bench import Bench
from jaxbandits.papers.budgeted import baselines
from jaxbandits.papers.budgeted.regret_exponents import COLUMNS, join_summaries, run_each
from jaxbandits.report import formatting, plots
from jaxbandits.report.tables import frame


class Size(NamedTuple):
    seeds: int
    budgets: tuple[float, ...]


SIZES = {scale: Size(size.seeds, size.budgets) for scale, size in baselines.SIZES.items()}

_BETA = 1.0


def read_table(path: str) -> jb.problems.TableReservoir:
    """Read a CSV file with columns reward and cost, a row per arm."""
    problem = jb.reservoir_from_csv(path, beta=_BETA)
    assert isinstance(problem, jb.problems.TableReservoir)
    return problem


def show(bench: Bench, size: Size, tables: Mapping[str, jb.problems.TableReservoir]) -> None:
    """Draw regret against B, a picture for each table."""
    for path, problem in tables.items():
        _draw(bench, size, Path(path).stem, problem)


def _draw(bench: Bench, size: Size, label: str, problem: jb.problems.TableReservoir) -> None:
    ratios = np.asarray(problem.gains, np.float64) / np.asarray(problem.prices, np.float64)
    runs = run_each(bench, baselines.build_algorithms(jb.axis(size.budgets)), problem, size.seeds)
    stats = join_summaries("algorithm", runs)
    last = stats.isel(budget=-1)
    available = float(ratios.max() * last["budget"])
    finding = f"{label}, B = {formatting.value(float(last['budget']))}: missed of ρ* B " + ", ".join(
        f"{100 * float(last['regret_mean'].sel(algorithm=name)) / available:.0f}% ({name})" for name in runs
    )
    bench.exhibit(
        f"budgeted-{label}",
        plots.curve(stats, x="budget", y="regret", hue="algorithm", title=finding),
        frame(stats, COLUMNS),
        runs.values(),
        "A finite table has no regularity: the best ratio is drawn with positive probability.",
        finding=finding,
        drawn="Mean regret, the table's best ratio times B minus the reward collected, with 95% intervals.",
        settings=f"{ratios.size} rows of expected reward and cost; arms are rows drawn with replacement, K(B) = "
        f"B^(1/2) as for β = {_BETA:g}. Ratios: median {np.median(ratios):.3g}, best {ratios.max():.3g}; costs from "
        f"{float(np.min(np.asarray(problem.prices))):.3g}.",
        alt="Regret against the budget for two algorithms.",
    )
