"""Make the data sets and algorithms of section 5 of Chen et al. (2017), which several figures share."""

import math
from collections.abc import Callable, Sequence

import xarray as xr

import jaxbandits as jb
from jaxbandits.papers.bench import Bench

__all__ = [
    "ARMS", "COLUMNS", "DATASETS", "DELTA", "EPSILON", "FINE", "KS", "REUSE", "SCALE", "build_fine",
    "describe_rounds", "judge", "label_axes", "make_dataset", "run_at_budgets",
]  # fmt: skip

ARMS, EPSILON, DELTA = 1000, 0.01, 0.01
KS = (100, 250, 500)
#: The radius of the fine schedule, as a multiple of the guaranteed one, that orders the algorithms as the paper does.
SCALE = 0.2
DATASETS: dict[str, Callable[[int], jb.Problem]] = {
    "TWOGROUP": lambda k: jb.two_group(ARMS, k),
    "SYNTHETIC-.5": lambda k: jb.synthetic(0.5, ARMS, k),
    "UNIFORM": lambda _: jb.uniform_means(ARMS),
    "SYNTHETIC-6": lambda k: jb.synthetic(6.0, ARMS, k),
}
FINE, REUSE = f"AdaptiveTopK, fine, radius × {SCALE:g}", "OptMAI"
COLUMNS = ["runs", "failure", "failure_low", "failure_high", "aggregate_regret_mean", "pulls_mean"]


@jb.problems.varying
def make_dataset(dataset: str, k: int) -> jb.Problem:
    """Return one of `DATASETS` for K arms to return."""
    return DATASETS[dataset](k)


def build_fine(k: float | jb.Axis, budget: float | jb.Axis) -> jb.AdaptiveTopK:
    """Return AdaptiveTopK on the fine schedule."""
    return jb.AdaptiveTopK(k=k, budget=budget, epsilon=EPSILON, delta=DELTA, schedule="fine", scale=SCALE)


def judge(ds: xr.Dataset) -> xr.Dataset:
    """Return the runs with one verdict for all: OptMAI has no epsilon."""
    return ds.assign(correct=ds["aggregate_regret"] <= EPSILON + 1e-6)


def run_at_budgets(
    bench: Bench,
    algorithm: object,
    problem: jb.Problem | jb.problems.ProblemFamily,
    seeds: int,
    budgets: Sequence[int],
    **options: object,
) -> xr.Dataset:
    """Run an algorithm that knows no budget once, and take its answers after each of these numbers of pulls."""
    ds = bench.sweep(algorithm, problem, seeds, max_pulls=budgets[-1], checkpoints=budgets, **options)
    ds = ds.rename(checkpoint="budget")
    return ds.assign(status=xr.zeros_like(ds["status"]))  # ended by their budget, not truncated


def label_axes(stats: xr.Dataset) -> xr.Dataset:
    """Add the names of the axes of K and of data sets."""
    stats["k"].attrs["long_name"], stats["dataset"].attrs["long_name"] = "K", "data set"
    return stats


def describe_rounds(stats: xr.Dataset) -> str:
    """Say what the printed constants mean at these budgets."""
    rounds = [math.ceil(4**r * math.log(2 * ARMS * r * r / DELTA)) for r in (1, 2)]  # m_r of Algorithm 1
    return (
        f"With its printed constants AdaptiveTopK is uniform sampling below {rounds[0]} n pulls: round 1 alone takes "
        f"{rounds[0]} of every arm, and would need a difference of means above 1 to distinguish any two. The first arm "
        f"can go after {sum(rounds)} n. No budget drawn here is large enough."
        if float(stats["budget"].max()) < sum(rounds) * ARMS
        else f"Round 1 of AdaptiveTopK takes {rounds[0]} n pulls and decides nothing; the first arm can go after "
        f"{sum(rounds)} n."
    )
