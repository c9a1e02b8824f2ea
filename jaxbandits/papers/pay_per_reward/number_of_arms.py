"""Compare costs over the number of arms, with a fixed sum of means."""

import math
from typing import NamedTuple

import numpy as np
import xarray as xr

import jaxbandits as jb
from jaxbandits.papers.bench import Bench
from jaxbandits.papers.pay_per_reward import cost_rivals as rivals
from jaxbandits.papers.title_claims import ends_of, quotient, times
from jaxbandits.report import formatting, plots, summaries, tables


class Size(NamedTuple):
    runs: tuple[tuple[int, int], ...]  #: numbers of arms, and runs of each
    every: bool  #: all rivals, or the four most informative ones


SIZES = {
    "quick": Size(runs=((100, 100), (10_000, 10)), every=False),
    "paper": Size(runs=((100, 1000), (1000, 1000), (10_000, 200), (100_000, 40), (1_000_000, 10)), every=True),
}

_WEIGHT = 2.0


def show(bench: Bench, size: Size) -> None:
    """Draw cost over W against K, a panel per kind of means."""
    kinds = jb.axis(("one-good", "power", "flat"))
    algorithms = rivals.build_algorithms(rivals.EPSILON, every=size.every)
    runs = rivals.run_arms(bench, lambda k: jb.ppr(kinds, k, _WEIGHT), algorithms, size.runs)
    # UGapEc pulls one arm a step: at the smallest K only.
    ugape = bench.sweep(jb.UGapEc(epsilon=rivals.EPSILON, delta=rivals.DELTA), jb.ppr("one-good", 100, _WEIGHT), 100)
    alone = float(summaries.summary(ugape)["cost_mean"])
    stats = rivals.summarise_arms(runs, [k for k, _ in size.runs], lambda _: _WEIGHT)
    stats["weights"].attrs["long_name"] = "means"
    finding = _describe_growth(stats)
    bench.exhibit(
        "pay-per-reward-arms",
        plots.curve(stats, x="k", y="cost", hue="algorithm", panel="weights", title=finding),
        tables.frame(stats, rivals.PAID_COLUMNS),
        [ds for parts in runs.values() for ds in parts],
        _describe_exponents(stats),
        rivals.describe_safety(stats),
        _describe_crossings(),
        f"UGapEc with one good arm of 100: cost / W = {formatting.value(alone / _WEIGHT)}.",
        finding=finding,
        drawn="Mean cost (sum of the expected rewards of all pulls) over W, with 95% intervals.",
        settings=f"ε = δ = {rivals.EPSILON:g}, W = {_WEIGHT:g}: one mean of 1/2 and the others equal; w_i ~ 1/i; all "
        "equal.",
        alt="Cost over W against the number of arms, a panel per kind of means.",
    )


def _describe_growth(stats: xr.Dataset) -> str:
    """Say what more arms cost MAB-PPR and its nearest relative, and what the race saves."""
    first, last = stats["k"].values[[0, -1]]
    cost = ends_of(stats, "cost")
    good = cost.sel(weights="one-good")
    growth = quotient(good.isel(k=-1), good.isel(k=0))
    change = max(abs(float(end.sel(algorithm=rivals.MAB)) - 1) for end in growth)
    return (
        f"One good arm: from K = {formatting.count(first)} to {formatting.count(last)} the cost of MAB-PPR changes by "
        f"at most {math.ceil(1000 * change) / 10:.1f}%, that of median elimination "
        f"{times(growth.sel(algorithm='median elimination'))}-fold; {rivals.describe_race(cost)}"
    )


def _describe_exponents(stats: xr.Dataset) -> str:
    """Say how each cost grows, as an exponent of K."""
    log_k = np.log(stats["k"].values.astype(float))
    texts = []
    for label in stats["algorithm"].values:
        cost = stats["cost_mean"].sel(algorithm=label, weights="one-good").values
        texts.append(f"{label} K^{np.polyfit(log_k, np.log(cost), 1)[0]:.2f}")
    return (
        f"Fitted growth with one good arm: {', '.join(texts)}. A union bound pays for ln K: an exponent near 0 that "
        "falls with K."
    )


def _describe_crossings() -> str:
    """Say from which K on MAB-PPR would pay, by the cost bounds."""
    valid = jb.theory.ppr_constants(rivals.EPSILON, rivals.DELTA)
    sets = {
        "the cheapest valid constants": (valid.constants, valid.proof.phi_l),
        "the practical ones": (jb.theory.PPR_PRACTICAL, jb.theory.PPR_PRACTICAL.theta),
    }
    values = {
        name: jb.theory.ppr_crossing_arms(rivals.EPSILON, rivals.DELTA, 1.0, *pair) for name, pair in sets.items()
    }
    texts = [f"ln K = {float(value):.3g} with {name}" for name, value in values.items()]
    return (
        "MAB-PPR's cost does not grow with K, a union bound's does with ln K; by their bounds they cross at "
        + " and ".join(texts)
        + ". For rewards in [0, 1] no one will meet that many arms; where only variance <= mean is known (heavy tails) "
        "the rival is a union bound by medians of means, and the race does not apply."
    )
