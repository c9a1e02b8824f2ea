"""Compare RCB-I with simple baselines over lambda, the smallest expected cost."""

from typing import NamedTuple

import jaxbandits as jb
from jaxbandits.papers.bench import Bench
from jaxbandits.papers.budgeted.baselines import build_algorithms
from jaxbandits.papers.budgeted.regret_exponents import COLUMNS, SEQUENCE, join_summaries, run_each
from jaxbandits.papers.title_claims import Ends, ends_of
from jaxbandits.report import formatting, plots, tables


class Size(NamedTuple):
    seeds: int
    lams: tuple[float, ...]
    budgets: tuple[float, ...]
    every: bool  #: all algorithms, or the most informative ones


SIZES = {
    "quick": Size(seeds=64, lams=(0.05, 0.1, 0.2, 0.4, 0.8), budgets=(316, 562, 1000), every=False),
    "paper": Size(
        seeds=32, lams=(0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 0.9), budgets=(100, 1000, 10_000), every=True
    ),
}


def show(bench: Bench, size: Size) -> None:
    """Draw regret against lambda at the largest budget, β = 1."""
    problem = jb.reservoir(beta=1.0, lam=jb.axis(size.lams))
    runs = run_each(bench, build_algorithms(jb.axis(size.budgets), every=size.every), problem, size.seeds)
    stats = join_summaries("algorithm", runs)
    at = stats.isel(budget=-1)
    ends = at["regret_mean"].isel(lam=[0, -1])
    lams = [f"{lam:g}" for lam in (size.lams[0], size.lams[-1])]
    sure = ends_of(at, "regret").isel(lam=[0, -1])
    changes = ", ".join(
        f"{' to '.join(formatting.value(float(x)) for x in ends.sel(algorithm=label).values)} ({label}"
        f"{'' if _differ(sure.sel(algorithm=label)) else ', which may be chance'})"
        for label in runs
    )
    largest = formatting.value(float(at["budget"]))
    finding = f"β = 1, B = {largest}: as λ goes from {lams[0]} to {lams[1]} the regret goes from {changes}"
    theory = float((jb.theory.rcb_accuracy(size.lams[-1]) / jb.theory.rcb_accuracy(size.lams[0])) ** 2)
    bench.exhibit(
        "budgeted-lambda",
        plots.curve(at, x="lam", y="regret", hue="algorithm", title=finding),
        tables.frame(stats, COLUMNS),
        runs.values(),
        "Theorem 1's constant contains 1/η(λ)², η = λ²/(3 + 2 λ) (equation 11), which falls "
        f"{formatting.value(theory)}-fold between these λ: the constant tells little about the regret.",
        finding=finding,
        drawn=f"Mean regret at B = {largest}, with 95% intervals; smaller budgets are in the CSV.",
        settings=f"Expected costs uniform on [λ, 1], so that a budget buys more pulls where λ is small; {SEQUENCE}.",
        alt=f"Regret against λ for {len(runs)} algorithms.",
    )


def _differ(ends: Ends) -> bool:
    """Return whether two intervals have no number in common."""
    return float(ends.low.max()) > float(ends.high.min())
