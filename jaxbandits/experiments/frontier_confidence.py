"""Every rule with a fixed confidence against the allowed probability of error, over the lower bound."""

from pathlib import Path

import numpy as np
import xarray as xr

import jaxbandits as jb
from jaxbandits.experiments.bench import Bench, runs_of, seconds_of, stacked
from jaxbandits.experiments.runs.frontier_confidence import BEST, REST, RULES, SIZES, Size, over_delta_and_arms
from jaxbandits.report import numbers, plots
from jaxbandits.report.gallery import Exhibit
from jaxbandits.report.tables import frame

__all__ = ["SIZES", "SWEEPS", "Size", "show"]

SWEEPS = len(RULES)
#: As many lines as can be told apart.
_DRAWN = ["UGapEc", "LUCB1", "LUCB++", "KL-LUCB", "uniform, GLR", "Track-and-Stop", "TTUCB"]
_COLUMNS = ["runs", "errors", "failure", "failure_low", "failure_high", "pulls_mean", "pulls_low", "pulls_high"]


def show(bench: Bench, out: Path, size: Size) -> Exhibit:
    """Pulls until the rules stop, a panel for each number of arms."""
    runs = over_delta_and_arms(size, bench.sweep)
    known = stacked("algorithm", runs)
    known["lower_bound"] = jb.with_theory(runs["UGapEc"], "lower_bound")["lower_bound"]
    known["ratio"] = known["pulls_mean"] / known["lower_bound"]
    known["delta"].attrs["long_name"] = "allowed probability of error δ"
    known["n"].attrs["long_name"] = "K"
    finding = _finding(known)
    worst = known["failure_low"] - known["delta"]
    shared = [label for label, ds in runs.items() if "one_trajectory" in ds.attrs]
    return bench.exhibit(
        out,
        "frontier-confidence",
        plots.curve(
            known.sel(algorithm=_DRAWN),
            x="delta",
            y="pulls",
            hue="algorithm",
            panel="n",
            bounds=("lower_bound",),
            title=finding,
        ),
        frame(known, [*_COLUMNS, "lower_bound", "ratio"]),
        finding=finding,
        drawn="Mean pulls until the rule stops, with 95% intervals. Dashed: the lower bound T* kl(δ, 1−δ) for every "
        "algorithm that is right with probability 1 − δ (Garivier, Kaufmann 2016). The table has further rules.",
        settings=f"K Bernoulli arms, one with mean {BEST}, the others with mean {REST}; ε = 0, thresholds and "
        f"constants that are proved; {size.seeds} runs a point.",
        runs=runs_of(*runs.values()),
        seconds=seconds_of(*runs.values()),
        notes=(
            f"One run a seed serves all δ of {', '.join(shared)}: their sampling does not know δ.",
            "No failure rate is above δ: the largest lower end of a 95% interval is "
            f"{numbers.probability(float(known['failure_low'].max()))}."
            if float(worst.max()) <= 0
            else f"A failure rate lies above δ: the lower end of its interval by {float(worst.max()):.2g}.",
            "Times the lower bound at the smallest δ, from the least: " + _ranked(known, int(size.arms[-1])) + ".",
        ),
        alt=f"Mean pulls against δ for {len(runs)} rules, above a dashed lower bound. {finding}.",
    )


def _last(known: xr.Dataset, arms: int) -> xr.DataArray:
    return known["ratio"].sel(n=arms).isel(delta=int(np.argmin(known["delta"].values)))


def _finding(known: xr.Dataset) -> str:
    """How near to the bound the nearest rule and UGapEc come at the smallest delta, by the largest number of arms."""
    arms = int(known["n"].max())
    last = _last(known, arms)
    best = str(last["algorithm"].values[int(np.argmin(last.values))])
    delta = numbers.value(float(known["delta"].min()))
    return (
        f"At δ = {delta} and K = {arms} {best} takes {float(last.min()):.2g} times the lower bound, UGapEc "
        f"{float(last.sel(algorithm='UGapEc')):.2g} times"
    )


def _ranked(known: xr.Dataset, arms: int) -> str:
    last = _last(known, arms).sortby(_last(known, arms))
    return ", ".join(f"{name} {float(ratio):.2f}" for name, ratio in zip(last["algorithm"].values, last, strict=True))
