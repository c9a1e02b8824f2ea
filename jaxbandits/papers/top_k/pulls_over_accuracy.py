"""Compare pulls with fixed confidence over the accuracy with the complexities H^(t,epsilon) and H^(0,epsilon)."""

from typing import NamedTuple

import numpy as np
import xarray as xr

import jaxbandits as jb
from jaxbandits.papers.bench import Bench, count_runs, stack_summaries
from jaxbandits.papers.title_claims import Ends, ends_of, quotient, times
from jaxbandits.report import formatting, plots, tables


class Size(NamedTuple):
    seeds: int
    epsilons: tuple[float, ...]
    arms: int = 1000
    ks: tuple[int, ...] = (100, 500)


SIZES = {
    "quick": Size(seeds=10, epsilons=(0.02, 0.05, 0.1, 0.2)),
    "paper": Size(seeds=200, epsilons=(0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2)),
}

_DELTA = 0.01
_COLUMNS = ["runs", "pulls_mean", "pulls_low", "pulls_high", "failure", "failure_low", "failure_high"]
_BOUNDS = ("bound", "h_t", "h_0")


def show(bench: Bench, size: Size) -> None:
    """Draw pulls of AdaptiveTopK and the derived ImprovedTopK on UNIFORM, a panel per K."""
    problem, k, epsilon = jb.uniform_means(size.arms), jb.axis(size.ks), jb.axis(size.epsilons)
    algorithms = {
        "AdaptiveTopK": jb.AdaptiveTopK(k=k, epsilon=epsilon, delta=_DELTA),
        "ImprovedTopK, derived": jb.ImprovedTopK(k=k, epsilon=epsilon, delta=_DELTA),
    }
    runs = bench.sweep_each(algorithms, problem, size.seeds)
    stats = _add_theory(stack_summaries("algorithm", runs), size)
    stats["k"].attrs["long_name"] = "K"
    finding = _describe_pulls(stats)
    adaptive, improved = (stats["pulls_mean"].sel(algorithm=name) for name in stats["algorithm"].values)
    better = adaptive / improved
    bench.exhibit(
        "top-k-accuracy",
        plots.curve(stats, x="epsilon", hue="algorithm", panel="k", bounds=_BOUNDS, title=finding),
        tables.frame(stats, [*_COLUMNS, "aggregate_regret_mean", *_BOUNDS]),
        runs.values(),
        f"The aggregate regret exceeded ε in {int(stats['errors'].sum())} of "
        f"{formatting.count(count_runs(*runs.values()))} runs. Pulls move in steps: rounds are few, and each takes "
        "about "
        "four times the pulls of the one before.",
        "ImprovedTopK is derived here with the bound of Theorem 2 up to ln(n/K): the paper does not print it in "
        f"full. AdaptiveTopK takes {float(better.min()):.2f} to {float(better.max()):.2f} times its pulls.",
        finding=finding,
        drawn="Mean pulls until the run ends by itself, with 95% intervals; complexities and the bound dashed.",
        settings=f"UNIFORM, n = {size.arms}, δ = {_DELTA:g}, the constants as printed.",
        alt="Mean pulls against accuracy between complexities and the theorem's bound, a panel per K.",
    )


def _add_theory(stats: xr.Dataset, size: Size) -> xr.Dataset:
    """Add the complexities and the bound of Theorem 4, along `epsilon` and `k`."""
    means = np.asarray(jb.uniform_means(size.arms).mean, np.float64)[:, None, None]
    epsilon, k = np.asarray(size.epsilons)[:, None], np.asarray(size.ks)[None, :]
    values = {
        "bound": (jb.theory.adaptive_top_k_pulls_bound(means, epsilon, _DELTA, k), "Theorem 4, for AdaptiveTopK"),
        "h_t": (jb.theory.h_t_epsilon(means, epsilon, k), "H^(t,ε)"),
        "h_0": (jb.theory.h_0_epsilon(means, epsilon, k), "H^(0,ε)"),
    }
    return stats.assign(
        {name: (("epsilon", "k"), np.asarray(value), {"long_name": text}) for name, (value, text) in values.items()}
    )


def _describe_pulls(stats: xr.Dataset) -> str:
    """Compare AdaptiveTopK's pulls with the complexity and with its bound."""
    pulls = ends_of(stats, "pulls").sel(algorithm="AdaptiveTopK")
    below = quotient(Ends(stats["bound"], stats["bound"]), pulls)
    return (
        f"UNIFORM: AdaptiveTopK takes {times(quotient(pulls, stats['h_t']))} times H^(t,ε), and its theorem allows "
        f"{times(below)} times more"
    )
