"""Map MAB-PPR's cost over the accuracy and V, the correlation that it is given."""

from typing import NamedTuple

import jaxbandits as jb
from jaxbandits.papers.bench import Bench
from jaxbandits.papers.pay_per_reward.cost_rivals import COLUMNS, COST_OVER_W, DELTA, divide_by_weight
from jaxbandits.papers.title_claims import ends_of, exponent, times
from jaxbandits.report import plots, summaries, tables


class Size(NamedTuple):
    seeds: int
    epsilons: tuple[float, ...]
    correlations: tuple[int, ...]


SIZES = {
    "quick": Size(seeds=20, epsilons=(0.03, 0.1, 0.3), correlations=(1, 3, 10, 30, 100, 300)),
    "paper": Size(
        seeds=200, epsilons=(0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3),
        correlations=(1, 2, 5, 10, 20, 50, 100, 200, 500, 1000),
    ),
}  # fmt: skip

_ARMS, _WEIGHT = 100, 2.0


def show(bench: Bench, size: Size) -> None:
    """Draw cost over W as colour, with one good arm."""
    v_axis = jb.axis(size.correlations, name="v")
    algorithm = jb.MABPPR(epsilon=jb.axis(size.epsilons), delta=DELTA, correlation=v_axis)
    runs = bench.sweep(algorithm, jb.ppr("one-good", _ARMS, _WEIGHT), size.seeds)
    stats = summaries.summary(divide_by_weight(runs, _WEIGHT))
    stats["cost_mean"].attrs["label"] = COST_OVER_W
    stats["v"].attrs["long_name"] = "V"
    epsilon, v = stats["epsilon"].values, stats["v"].values.astype(float)
    cost = ends_of(stats, "cost")
    # Slopes where one of the two terms rules: V far below 1/eps, and far above.
    small = exponent(epsilon, cost.isel(v=0))
    large = [exponent(v[-2:], cost.isel(epsilon=end, v=slice(-2, None))) for end in (0, -1)]
    finding = (
        f"Cost grows like ε to the power {times(small)} at V = 1; from V = {v[-2]:g} to {v[-1]:g} it grows like V to "
        f"the power {times(large[1])} at ε = {epsilon[-1]:g}, {times(large[0])} at ε = {epsilon[0]:g}"
    )
    bench.exhibit(
        "pay-per-reward-phase",
        plots.phase(stats, x="epsilon", y="v", value="cost", title=finding),
        tables.frame(stats, COLUMNS),
        [runs],
        "Theorem 3.1: W log(1/δ) max(1/ε², V/ε). Correlation costs nothing while V is at most 1/ε_t. The "
        "rounds' ε_t are twenty times smaller than ε and more, so the corner lies that much higher. Only the "
        "second batches are proportional to V/ε from V = 1 on.",
        finding=finding,
        drawn="Mean cost over W of MAB-PPR with practical constants.",
        settings=f"One good arm, K = {_ARMS}, W = 2, δ = {DELTA:g}; the arms are independent, V is a parameter.",
        alt="Cost as colour over epsilon and V.",
    )
