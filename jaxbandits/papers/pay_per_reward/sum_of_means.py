"""Compare costs over W, the sum of all means, where all are equal."""

from typing import NamedTuple

import jaxbandits as jb
from jaxbandits.papers.bench import Bench, stack_summaries
from jaxbandits.papers.pay_per_reward.cost_rivals import COLUMNS, DELTA, EPSILON, MAB, RACE, UNION
from jaxbandits.papers.title_claims import ends_of, exponent, times
from jaxbandits.report import plots, tables


class Size(NamedTuple):
    seeds: int
    weights: tuple[float, ...]


SIZES = {
    "quick": Size(seeds=20, weights=(0.5, 1, 2, 5, 10, 20)),
    "paper": Size(seeds=200, weights=(0.5, 1, 2, 5, 10, 20, 50, 100)),
}

_ARMS = 100


def show(bench: Bench, size: Size) -> None:
    """Draw cost against W, a line per algorithm."""
    problem = jb.ppr("flat", _ARMS, jb.axis(size.weights))
    algorithms = {
        MAB: jb.MABPPR(EPSILON, DELTA),
        UNION: jb.UnionBound(EPSILON, DELTA),
        RACE: jb.BernsteinRace(EPSILON, DELTA),
    }
    runs = bench.sweep_each(algorithms, problem, size.seeds)
    stats = stack_summaries("algorithm", runs)
    stats["w"].attrs["long_name"] = "sum of all means W"
    cost = ends_of(stats, "cost")
    slopes = {label: exponent(stats["w"].values, cost.sel(algorithm=label)) for label in runs}
    finding = "Equal means: cost grows like a power of W, " + ", ".join(
        f"{times(slope)} ({name})" for name, slope in slopes.items()
    )
    bench.exhibit(
        "pay-per-reward-weight",
        plots.curve(stats, x="w", y="cost", hue="algorithm", title=finding),
        tables.frame(stats, COLUMNS),
        runs.values(),
        "With equal means any answer is right: what is paid is the price of finding that out.",
        finding=finding,
        drawn="Mean cost, with 95% intervals.",
        settings=f"{_ARMS} arms with mean W/{_ARMS}, ε = δ = {EPSILON:g}.",
        alt="Cost against the sum of all means for three algorithms.",
    )
