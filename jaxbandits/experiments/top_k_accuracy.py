"""Pulls with fixed confidence against the accuracy, next to the complexities H^(t,epsilon) and H^(0,epsilon)."""

from pathlib import Path

import numpy as np
import xarray as xr

import jaxbandits as jb
from jaxbandits.experiments.bench import Bench, runs_of, seconds_of, stacked
from jaxbandits.experiments.runs.top_k_accuracy import ARMS, DELTA, KS, SIZES, SWEEPS, Size, over_accuracy
from jaxbandits.report import numbers, plots
from jaxbandits.report.gallery import Exhibit
from jaxbandits.report.tables import frame

__all__ = ["SIZES", "SWEEPS", "Size", "show"]

_BOUNDS = ("bound", "h_t", "h_0")


def show(bench: Bench, out: Path, size: Size) -> list[Exhibit]:
    """AdaptiveTopK and the derived ImprovedTopK on UNIFORM, a panel per K."""
    runs = over_accuracy(size, bench.sweep)
    known = _with_theory(stacked("algorithm", runs), size)
    known["k"].attrs["long_name"] = "K"
    finding = _finding(known)
    columns = ["runs", "pulls_mean", "pulls_low", "pulls_high", "failure", "failure_low", "failure_high"]
    return [
        bench.exhibit(
            out,
            "top-k-accuracy",
            plots.curve(known, x="epsilon", hue="algorithm", panel="k", bounds=_BOUNDS, title=finding),
            frame(known, [*columns, "aggregate_regret_mean", *_BOUNDS]),
            finding=finding,
            drawn="Mean pulls until the run ends by itself, with 95% intervals; complexities and the bound dashed.",
            settings=f"UNIFORM, n = {ARMS}, δ = {DELTA:g}, the constants as printed.",
            runs=runs_of(*runs.values()),
            seconds=seconds_of(*runs.values()),
            notes=_notes(known, runs_of(*runs.values())),
            alt=f"Mean pulls against accuracy between complexities and the theorem's bound, a panel per K. {finding}.",
        )
    ]


def _with_theory(known: xr.Dataset, size: Size) -> xr.Dataset:
    """With the complexities and the bound of Theorem 4, along `epsilon` and `k`."""
    means = np.asarray(jb.uniform_means(ARMS).mean, np.float64)[:, None, None]
    epsilon, k = np.asarray(size.epsilons)[:, None], np.asarray(KS)[None, :]
    values = {
        "bound": (jb.theory.adaptive_top_k_pulls_bound(means, epsilon, DELTA, k), "Theorem 4, for AdaptiveTopK"),
        "h_t": (jb.theory.h_t_epsilon(means, epsilon, k), "H^(t,ε)"),
        "h_0": (jb.theory.h_0_epsilon(means, epsilon, k), "H^(0,ε)"),
    }
    return known.assign(
        {name: (("epsilon", "k"), np.asarray(value), {"long_name": text}) for name, (value, text) in values.items()}
    )


def _finding(known: xr.Dataset) -> str:
    """AdaptiveTopK's pulls beside the complexity and beside its bound."""
    pulls = known["pulls_mean"].sel(algorithm="AdaptiveTopK")
    ratio, below = pulls / known["h_t"], known["bound"] / pulls
    return (
        f"UNIFORM: AdaptiveTopK takes {numbers.fold(float(ratio.min()))} to {numbers.fold(float(ratio.max()))} times "
        f"H^(t,ε), and its theorem allows {numbers.fold(float(below.min()))} to {numbers.fold(float(below.max()))} "
        "times more"
    )


def _notes(known: xr.Dataset, runs: int) -> tuple[str, ...]:
    """How often the answer was not as promised, and what the derived algorithm saves."""
    adaptive, improved = (known["pulls_mean"].sel(algorithm=name) for name in known["algorithm"].values)
    better = adaptive / improved
    return (
        (
            f"The aggregate regret exceeded ε in {int(known['errors'].sum())} of {numbers.count(runs)} runs. Pulls "
            "move in steps: rounds are few, and each takes about four times the pulls of the one before."
        ),
        (
            "ImprovedTopK is derived here with the bound of Theorem 2 up to ln(n/K): the paper does not print it in "
            f"full. AdaptiveTopK takes {float(better.min()):.2f} to {float(better.max()):.2f} times its pulls."
        ),
    )
