"""Map the failures of OptMAI and of AdaptiveTopK's fine schedule over K and the budget."""

from typing import NamedTuple

import jaxbandits as jb
from jaxbandits.papers.bench import Bench
from jaxbandits.papers.top_k import chen_data_sets as chen
from jaxbandits.report import plots, summaries, tables


class Size(NamedTuple):
    seeds: int  #: runs a cell
    budgets: tuple[int, ...]
    ks: tuple[int, ...]


SIZES = {
    "quick": Size(seeds=60, budgets=(5000, 10_000, 18_000, 30_000, 48_000), ks=(10, 50, 100, 300, 500, 900)),
    "paper": Size(
        seeds=200, budgets=(5000, 7000, 10_000, 14_000, 20_000, 28_000, 39_000, 54_000, 74_000, 100_000),
        ks=(10, 25, 50, 100, 150, 200, 250, 300, 400, 500, 600, 700, 800, 900),
    ),
}  # fmt: skip


def show(bench: Bench, size: Size) -> None:
    """Draw failures on UNIFORM over K and the budget, a picture for each algorithm."""
    k, budget = jb.axis(size.ks), jb.axis(size.budgets)
    _draw(bench, "opt-mai", chen.REUSE, jb.OptMAI(k=k, budget=budget), size)
    _draw(bench, "adaptive", chen.FINE, chen.build_fine(k, budget), size)


def _draw(bench: Bench, name: str, label: str, algorithm: object, size: Size) -> None:
    runs = chen.judge(bench.sweep(algorithm, jb.uniform_means(chen.ARMS), size.seeds))
    stats = summaries.summary(runs)
    stats = stats.assign_coords(k=("k", stats["k"].values, {"long_name": "arms to return K"}))
    hardest = stats["failure"].mean("budget").idxmax("k").item()
    finding = (
        f"{label} on UNIFORM: in these runs the regret is above 0.01 most often at K = {hardest:g} of {chen.ARMS} arms"
    )
    bench.exhibit(
        f"top-k-phase-{name}",
        plots.phase(stats, x="budget", y="k", value="failure", title=finding),
        tables.frame(stats, chen.COLUMNS),
        [runs],
        "A mean over few arms is noisier. Returning most arms is easy: OptMAI seeks the worst then.",
        finding=finding,
        drawn="Probability that the aggregate regret exceeds 0.01, over the budget and the arms to return.",
        settings=f"UNIFORM, n = {chen.ARMS}; {size.seeds} runs a cell.",
        alt="Heat map of the failure rate over budget and K.",
    )
