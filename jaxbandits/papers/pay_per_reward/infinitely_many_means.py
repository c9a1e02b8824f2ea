"""Show what MAB-PPR pays on infinitely many arms."""

from typing import NamedTuple

import xarray as xr

import jaxbandits as jb
from jaxbandits.papers.bench import Bench, count_runs
from jaxbandits.papers.pay_per_reward.cost_rivals import COLUMNS, COST_OVER_W, DELTA, EPSILON
from jaxbandits.report import formatting, plots, summaries, tables


class Size(NamedTuple):
    seeds: int
    exponents: tuple[float, ...]  #: of Zipf laws
    ratios: tuple[float, ...]  #: of geometric laws


SIZES = {
    "quick": Size(seeds=20, exponents=(6.0,), ratios=(0.9,)),
    "paper": Size(seeds=200, exponents=(3.5, 4.0, 5.0, 6.0, 8.0), ratios=(0.3, 0.5, 0.7, 0.9)),
}


def show(bench: Bench, size: Size) -> None:
    """Draw cost over W, a bar per law of the means."""
    algorithm = jb.MABPPR(EPSILON, DELTA)
    zipf = bench.sweep(algorithm, jb.ppr_unbounded(exponent=jb.axis(size.exponents)), size.seeds)
    geometric = bench.sweep(algorithm, jb.ppr_unbounded("geometric", ratio=jb.axis(size.ratios)), size.seeds)
    rows = []
    for along, text, ds in (("exponent", "i^-{:g}", zipf), ("ratio", "{:g}^i", geometric)):
        row = summaries.summary(ds).drop_attrs()
        labels = [text.format(value) for value in row[along].values]
        rows.append(row.rename({along: "law"}).assign_coords(law=labels))
    stats = xr.concat(rows, "law", join="exact")
    stats["law"].attrs["long_name"] = "means in proportion to"
    stats["cost_mean"].attrs["label"] = COST_OVER_W
    low, high = (formatting.value(float(x)) for x in (stats["cost_mean"].min(), stats["cost_mean"].max()))
    finding = f"Infinitely many arms: cost / W is between {low} and {high}"
    unseen = max(float(ds.attrs["unseen"]) for ds in (zipf, geometric))
    bench.exhibit(
        "pay-per-reward-unbounded",
        plots.bars(stats, x="law", y="cost", title=finding),
        tables.frame(stats, COLUMNS),
        [zipf, geometric],
        f"An arm beyond the simulated head pays in the first round with probability at most {unseen:.1g}; "
        "after that round all of them are gone.",
        f"{int(stats['errors'].sum())} of {count_runs(zipf, geometric)} runs were wrong.",
        finding=finding,
        drawn="Mean cost over W of MAB-PPR with practical constants, with 95% intervals; W = 1.",
        settings=f"ε = δ = {EPSILON:g}; means i^-s and r^i times a constant.",
        alt="Bars of cost over W for laws of infinitely many means.",
    )
