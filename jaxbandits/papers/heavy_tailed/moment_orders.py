"""Compare pulls of SE-delta over the order p of the moments that it is given."""

from typing import NamedTuple

import jaxbandits as jb
from jaxbandits.papers.bench import Bench, stack_summaries
from jaxbandits.papers.heavy_tailed import mean_estimators as estimators
from jaxbandits.papers.heavy_tailed.mean_estimators import DELTA, ESTIMATORS
from jaxbandits.papers.title_claims import at_least, ends_of, quotient
from jaxbandits.report import plots, tables


class Size(NamedTuple):
    orders: tuple[float, ...]  #: p
    max_pulls: int
    seeds: int


SIZES = {
    "quick": Size(orders=(1.7, 1.8, 1.9, 2.0), max_pulls=300_000, seeds=8),
    "paper": Size(orders=(1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2.0), max_pulls=3_000_000, seeds=100),
}


def show(bench: Bench, size: Size) -> None:
    """Draw pulls on S1 against p."""
    seeds, orders = dict.fromkeys(ESTIMATORS, size.seeds), jb.axis(size.orders)
    runs = estimators.run_eliminations(bench, seeds, jb.s1(), size.max_pulls, delta=DELTA, p=orders)
    stats = stack_summaries("estimator", runs)
    stats = estimators.add_theorem(stats, "p", [jb.s1()] * len(size.orders), DELTA, size.orders)
    tea = ends_of(stats, "pulls").sel(estimator="TEA")
    least = at_least(quotient(tea.isel(p=0), tea.isel(p=-1)))
    finding = f"S1: given only moments of order {size.orders[0]:g}, truncated means need " + (
        f"on average at least {least} times the pulls that they need with p = {size.orders[-1]:g}"
        if least
        else f"as many pulls as with p = {size.orders[-1]:g}, as far as the intervals tell"
    )
    bench.exhibit(
        "heavy-tailed-order",
        plots.curve(stats, x="p", y="pulls", hue="estimator", centre="median", bounds=("bound",), title=finding),
        tables.frame(stats, estimators.PULLS_COLUMNS),
        runs.values(),
        estimators.PROMISE,
        finding=finding,
        drawn="Median pulls until one arm is left, with the middle 80% of the runs, against the order p of the "
        f"moment that the algorithm is given. {estimators.describe_arrows(size.max_pulls)} Dashed: Theorem 1.",
        settings=f"S1, δ = {DELTA:g}; B(p) and C(p) by quadrature from the law. The rewards are the same at every p.",
        alt="Median pulls against p for four estimators of the mean.",
    )
