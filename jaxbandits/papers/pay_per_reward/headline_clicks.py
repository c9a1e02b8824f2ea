"""Compare costs over the number of arms, with means drawn like the click-through rates of headlines."""

from typing import NamedTuple

import numpy as np

import jaxbandits as jb
from jaxbandits.papers.bench import Bench
from jaxbandits.papers.pay_per_reward import cost_rivals as rivals
from jaxbandits.papers.title_claims import ends_of
from jaxbandits.report import plots, tables


class Size(NamedTuple):
    runs: tuple[tuple[int, int], ...]  #: numbers of arms, and runs of each


SIZES = {
    "quick": Size(runs=((100, 100), (10_000, 10))),
    "paper": Size(runs=((100, 1000), (1000, 1000), (10_000, 200), (100_000, 40), (1_000_000, 10))),
}

#: A Beta law fitted to the click-through rates of 18 176 headlines (Upworthy Research Archive).
_CLICKS = (2.29, 166.4)


def show(bench: Bench, size: Size) -> None:
    """Draw cost over W against K; W grows with K, and so do costs."""
    runs = rivals.run_arms(
        bench, lambda k: _make_headlines(k, 0), rivals.build_algorithms(rivals.CLICK_EPSILON), size.runs
    )
    stats = rivals.summarise_arms(runs, [k for k, _ in size.runs], _compute_weight)
    finding = f"Click-through rates like those of headlines: {rivals.describe_race(ends_of(stats, 'cost'))}"
    bench.exhibit(
        "pay-per-reward-clicks",
        plots.curve(stats, x="k", y="cost", hue="algorithm", title=finding),
        tables.frame(stats, rivals.PAID_COLUMNS),
        [ds for parts in runs.values() for ds in parts],
        rivals.describe_safety(stats),
        finding=finding,
        drawn="Mean cost over W, with 95% intervals.",
        settings=f"Means drawn from Beta{_CLICKS}, fitted to the click-through rates of 18 176 headlines; "
        f"ε = {rivals.CLICK_EPSILON:g}, δ = {rivals.DELTA:g}.",
        alt="Cost over W against the number of headlines for four algorithms.",
    )


@jb.problems.varying
def _make_headlines(k: int, seed: int) -> jb.problems.Bernoulli:
    problem: jb.problems.Bernoulli = jb.with_costs(jb.random_beta(k, seed, *_CLICKS), "reward")
    return problem


def _compute_weight(k: int) -> float:
    """Return the sum of the means of k headlines."""
    return float(np.sum(np.asarray(_make_headlines(k, 0).mean, np.float64)))
