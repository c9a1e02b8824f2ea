"""Compare the errors of every rule with a fixed budget on the experiments of Audibert et al. (2010)."""

from typing import NamedTuple

import xarray as xr

import jaxbandits as jb
from jaxbandits.papers.bench import Bench, stack_summaries
from jaxbandits.report import formatting, plots, tables


class Size(NamedTuple):
    seeds: int
    budgets: tuple[int, ...] = (500, 1000, 2000, 4000, 8000)


SIZES = {"quick": Size(seeds=1000), "paper": Size(seeds=20_000)}

#: Experiments in one picture.
_TOGETHER = ((1, 2, 6, 7), (3, 4, 5))
_NUMBERS = (1, 2, 3, 4, 5, 6, 7)


def show(bench: Bench, size: Size) -> None:
    """Draw error against budget in two pictures, a panel per experiment."""
    budget, problem = jb.axis(size.budgets), jb.abm(jb.axis(_NUMBERS))
    algorithms = {
        "uniform": jb.Uniform(budget=budget),
        "Successive Rejects": jb.SuccessiveRejects(budget=budget),
        "Sequential Halving": jb.SequentialHalving(budget=budget),
        "UCB-E, a = 2n/H₁": jb.UCBE(budget=budget, eta=2.0),
        "adaptive UCB-E": jb.UCBE(budget=budget, adaptive=True),
        "UGapEb, adaptive a": jb.UGapEb(budget=budget, adaptive=True),
    }
    runs = bench.sweep_each(algorithms, problem, size.seeds)
    stats = stack_summaries("algorithm", runs)
    stats["number"].attrs["long_name"] = "experiment"
    for some in _TOGETHER:
        _draw(bench, stats.sel(number=list(some)), runs, size)


def _draw(bench: Bench, stats: xr.Dataset, runs: dict[str, xr.Dataset], size: Size) -> None:
    shown = [str(number) for number in stats["number"].values]
    finding = f"Fewest errors with {formatting.count(size.budgets[-1])} pulls: {_describe_best(stats.isel(budget=-1))}"
    bench.exhibit(
        f"frontier-budget-{'-'.join(shown)}",
        plots.curve(stats, x="budget", y="failure", hue="algorithm", panel="number", title=finding),
        tables.frame(stats, ["runs", "errors", "failure", "failure_low", "failure_high"]),
        runs.values(),
        share=len(shown) / len(_NUMBERS),
        finding=finding,
        drawn="Probability of not returning the best arm, with Clopper-Pearson 95% intervals.",
        settings=f"Experiments {', '.join(shown)} of Audibert et al. 2010, Bernoulli arms; "
        f"{formatting.count(size.seeds)} runs a point. UCB-E knows H₁; the adaptive ones estimate it.",
        alt=f"Failure rate against budget for {len(runs)} algorithms, a panel per experiment.",
    )


def _describe_best(stats: xr.Dataset) -> str:
    """Name the algorithm whose interval lies below all others, for every experiment; say where there is none."""
    won: list[str] = []
    unknown: list[str] = []
    for number in stats["number"].values:
        low, high = (stats[name].sel(number=number) for name in ("failure_low", "failure_high"))
        best = high.idxmin("algorithm").item()
        below = float(high.min()) < float(low.drop_sel(algorithm=best).min())
        (won if below else unknown).append(f"{best} on {number}" if below else str(number))
    return ", ".join([*won, *([f"the intervals do not tell on {', '.join(unknown)}"] if unknown else [])])
