"""Compare uniform costs with costs like the prices of machines that a cloud sells for the moment."""

from typing import NamedTuple

import jaxbandits as jb
from jaxbandits.papers.bench import Bench
from jaxbandits.papers.budgeted import baselines
from jaxbandits.papers.budgeted.regret_exponents import COLUMNS, join_summaries, run_each
from jaxbandits.papers.title_claims import ends_of, quotient, times
from jaxbandits.report import formatting, plots, tables


class Size(NamedTuple):
    seeds: int
    budgets: tuple[float, ...]  #: those of `baselines`


SIZES = {scale: Size(size.seeds, size.budgets) for scale, size in baselines.SIZES.items()}

_SPOT = "log-normal"


def show(bench: Bench, size: Size) -> None:
    """Draw regret against B with two laws of the expected costs; runs with uniform ones are those of `baselines`."""
    problem: jb.problems.RatioReservoir = jb.reservoir(beta=1.0, prices=_SPOT)
    dear = run_each(bench, baselines.build_algorithms(jb.axis(size.budgets)), problem, size.seeds)
    compared = bench.run_once(baselines.run_baselines, baselines.SIZES[bench.scale])
    uniform = {label: compared[label].sel(beta=1.0, drop=True) for label in dear}
    kinds = {"uniform": uniform, _SPOT: dear}
    stats = join_summaries("algorithm", {f"{label}, {kind}": ds[label] for label in dear for kind, ds in kinds.items()})
    stats["algorithm"].attrs["long_name"] = "algorithm, costs"
    last = ends_of(stats, "regret").isel(budget=-1)
    finding = f"B = {formatting.value(float(stats['budget'][-1]))}: with log-normal costs the regret is " + ", ".join(
        f"{times(quotient(*(last.sel(algorithm=f'{label}, {kind}') for kind in (_SPOT, 'uniform'))))} times that "
        f"with uniform ones ({label})"
        for label in dear
    )
    bench.exhibit(
        "budgeted-prices",
        plots.curve(stats, x="budget", y="regret", hue="algorithm", title=finding),
        tables.frame(stats, COLUMNS),
        dear.values(),
        "Smaller costs: a budget buys more pulls, and each arm needs more before its cost is known not to be 0.",
        finding=finding,
        drawn="Mean regret with 95% intervals, with two laws of the expected costs.",
        settings=f"β = 1. Log-normal: ln c has mean {float(problem.mu):.3g} and standard deviation "
        f"{float(problem.sigma):.3g}, kept within [0.2, 1], a fit to 8 576 cloud spot prices per unit of capacity; "
        "uniform: on [0.2, 1].",
        alt="Regret against the budget for two algorithms and two laws of costs.",
    )
