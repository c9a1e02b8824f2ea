"""Compare the errors of SR-T with several estimators at one budget, over degrees of freedom."""

from typing import NamedTuple

import numpy as np
import xarray as xr

import jaxbandits as jb
from jaxbandits.papers.bench import Bench, stack_summaries
from jaxbandits.papers.heavy_tailed.mean_estimators import COLUMNS, build_rejects
from jaxbandits.report import formatting, plots, tables


class Size(NamedTuple):
    dofs: tuple[float, ...]  #: degrees of freedom, increasing
    budget: int
    seeds: int


SIZES = {
    "quick": Size(dofs=(1.1, 1.2, 1.3, 1.4, 1.5, 1.75, 2.0, 2.5, 3.0), budget=800, seeds=4000),
    "paper": Size(
        dofs=(1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2.0, 2.25, 2.5, 2.75, 3.0), budget=800, seeds=100_000
    ),
}

_FAILED = 0.1  # an estimator with a larger error is said to fail


def show(bench: Bench, size: Size) -> None:
    """Draw error against degrees of freedom, with the means of S1."""
    problem = jb.student_t([float(x) for x in np.asarray(jb.s1().mean, np.float64)], jb.axis(size.dofs))
    algorithms = build_rejects(size.budget, {"TEA, b = 10": 10.0, "TEA, b = 4": 4.0})
    runs = bench.sweep_each(algorithms, problem, size.seeds)
    stats = stack_summaries("estimator", runs)
    failing = stats["dof"].values[stats["failure_low"].sel(estimator="EA").values > _FAILED]
    finding = _describe_rates(stats, failing)
    text = "EA: wrong in more than one run in ten"
    region = (float(failing[0]), float(failing[-1]), text) if failing.size else None
    bench.exhibit(
        "heavy-tailed-tails",
        plots.curve(stats, x="dof", y="failure", hue="estimator", shaded=region, title=finding),
        tables.frame(stats, COLUMNS),
        runs.values(),
        "The paper's own b grows without bound as p nears 1, (3 B p / Δ)^(1/(p−1)), and so it cuts nothing there.",
        finding=finding,
        drawn="Probability of not returning the best arm against the degrees of freedom, with 95% intervals. "
        f"Shaded: where that of empirical means lies above {_FAILED:g}.",
        settings=f"The means of S1, Student t noise, {formatting.count(size.budget)} pulls; moments of order p are "
        "finite for p below the degrees of freedom.",
        alt="Failure rate against degrees of freedom for four estimators.",
    )


def _describe_rates(stats: xr.Dataset, failing: np.ndarray) -> str:
    """Say how often means err with the heaviest tails, and up to where empirical ones fail."""
    heaviest = stats["failure"].isel(dof=0)
    empirical, truncated = (
        formatting.probability(float(heaviest.sel(estimator=label))) for label in ("EA", "TEA, b = 4")
    )
    finding = (
        f"With ν = {float(stats['dof'][0]):g} empirical means miss the best arm in {empirical} of the runs, truncated "
        f"ones in {truncated}"
    )
    if failing.size:
        finding += f"; empirical ones in more than one in ten up to ν = {failing[-1]:g}"
    return finding
