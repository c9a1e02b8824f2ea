"""Pulls with fixed confidence against the accuracy, next to the complexities H^(t,epsilon) and H^(0,epsilon)."""

from pathlib import Path

import numpy as np

import jaxbandits as jb
from jaxbandits.experiments.bench import Bench, runs_of, seconds_of, stacked
from jaxbandits.experiments.runs.top_k_accuracy import ARMS, DELTA, KS, SWEEPS, Size, over_accuracy
from jaxbandits.report import numbers, plots
from jaxbandits.report.gallery import Exhibit
from jaxbandits.report.tables import frame

__all__ = ["SWEEPS", "Size", "show"]


_BOUNDS = ("bound", "h_t", "h_0")


def show(bench: Bench, out: Path, size: Size) -> list[Exhibit]:
    """AdaptiveTopK and the derived ImprovedTopK on UNIFORM, a panel per K."""
    runs = over_accuracy(size, bench.sweep)
    known = stacked("algorithm", runs)
    known["k"].attrs["long_name"] = "K"
    means = np.asarray(jb.uniform_means(ARMS).mean, np.float64)[:, None, None]
    grid = np.asarray(size.epsilons)[:, None], np.asarray(KS)[None, :]
    values = {
        "bound": (jb.theory.adaptive_top_k_pulls_bound(means, grid[0], DELTA, grid[1]), "Theorem 4, for AdaptiveTopK"),
        "h_t": (jb.theory.h_t_epsilon(means, *grid), "H^(t,ε)"),
        "h_0": (jb.theory.h_0_epsilon(means, *grid), "H^(0,ε)"),
    }
    for name, (value, text) in values.items():
        known[name] = (("epsilon", "k"), np.asarray(value), {"long_name": text})
    ratio = known["pulls_mean"].sel(algorithm="AdaptiveTopK") / known["h_t"]
    better = known["pulls_mean"].sel(algorithm="AdaptiveTopK") / known["pulls_mean"].sel(
        algorithm="ImprovedTopK, derived"
    )
    low, high = (numbers.fold(float(x)) for x in (ratio.min(), ratio.max()))
    below = known["bound"] / known["pulls_mean"].sel(algorithm="AdaptiveTopK")
    finding = (
        f"UNIFORM: AdaptiveTopK takes {low} to {high} times H^(t,ε), and its theorem allows "
        f"{numbers.fold(float(below.min()))} to {numbers.fold(float(below.max()))} times more"
    )
    errors = int(known["errors"].sum())
    return [
        bench.exhibit(
            out,
            "top-k-accuracy",
            plots.curve(known, x="epsilon", hue="algorithm", panel="k", bounds=_BOUNDS, title=finding),
            frame(
                known,
                [
                    *("runs", "pulls_mean", "pulls_low", "pulls_high", "failure", "failure_low", "failure_high"),
                    *("aggregate_regret_mean", *_BOUNDS),
                ],
            ),
            finding=finding,
            drawn="Mean pulls until the run ends by itself, with 95% intervals; complexities and the bound dashed.",
            settings=f"UNIFORM, n = {ARMS}, δ = {DELTA:g}, the constants as printed.",
            runs=runs_of(*runs.values()),
            seconds=seconds_of(*runs.values()),
            notes=(
                (
                    f"The aggregate regret exceeded ε in {errors} of {numbers.count(runs_of(*runs.values()))} runs. "
                    "Pulls move in steps: rounds are few, and each takes about four times the pulls of the one before."
                ),
                (
                    "ImprovedTopK is derived here with the bound of Theorem 2 up to ln(n/K): the paper does not print "
                    f"it in full. AdaptiveTopK takes {float(better.min()):.2f} to {float(better.max()):.2f} times its "
                    "pulls."
                ),
            ),
            alt=f"Mean pulls against accuracy between complexities and the theorem's bound, a panel per K. {finding}.",
        )
    ]
