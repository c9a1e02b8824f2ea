"""Map RCB-I's regret over the budget and the regularity of the reservoir, under lines of equal rate."""

from typing import NamedTuple

import numpy as np

import jaxbandits as jb
from jaxbandits.papers.bench import Bench
from jaxbandits.papers.budgeted.regret_exponents import label_axes
from jaxbandits.papers.phases.pulls_and_complexity import COLUMNS
from jaxbandits.papers.title_claims import at_most, ends_of, quotient
from jaxbandits.report import plots, summaries, tables


class Size(NamedTuple):
    values: int  #: of each axis
    seeds: int


SIZES = {"quick": Size(values=32, seeds=10), "paper": Size(values=40, seeds=200)}


def show(bench: Bench, size: Size) -> None:
    """Draw mean regret as colour."""
    budget, beta = jb.axis(np.geomspace(100, 5000, size.values)), jb.axis(np.geomspace(0.25, 4, size.values))
    runs = jb.with_theory(bench.sweep(jb.RCBI(budget=budget), jb.reservoir(beta=beta), size.seeds), "rate")
    stats = label_axes(summaries.summary(runs))
    ratio = quotient(ends_of(stats, "regret"), stats["rate"])
    finding = f"RCB-I's mean regret is at most {at_most(ratio)} times the rate of its theorem"
    bench.exhibit(
        "phases-rcb-i",
        plots.phase(stats, x="budget", y="beta", value="regret", contours="rate", title=finding),
        tables.frame(stats, [*COLUMNS, "regret_mean", "regret_low", "regret_high", "rate"]),
        [runs],
        finding=finding,
        drawn="Mean regret of RCB-I as colour, lines of equal rate (Theorem 1, which has no constant) dashed. The "
        "rate does not know β below 1; the regret does.",
        settings=f"A reservoir with ρ* = 1; {size.seeds} runs a cell.",
        alt="Colours of mean regret over budget and regularity, with dashed lines of the rate.",
    )
