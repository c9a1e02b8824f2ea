"""How MAB-PPR's cost depends on the accuracy and V, on the sum of all means, and on infinitely many arms."""

from pathlib import Path

import numpy as np
import xarray as xr

from jaxbandits.experiments.bench import Bench, runs_of, seconds_of, stacked
from jaxbandits.experiments.pay_per_reward_common import COLUMNS, COST_OVER_W, over_weight
from jaxbandits.experiments.runs.pay_per_reward_common import DELTA, EPSILON
from jaxbandits.experiments.runs.pay_per_reward_scale import (
    ARMS,
    PHASE_WEIGHT,
    SIZES,
    SWEEPS,
    Size,
    over_accuracy_and_v,
    over_weight_of_arms,
    unbounded,
)
from jaxbandits.report import numbers, plots
from jaxbandits.report.gallery import Exhibit
from jaxbandits.report.summaries import summary
from jaxbandits.report.tables import frame

__all__ = ["SIZES", "SWEEPS", "Size", "show"]


def show(bench: Bench, out: Path, size: Size) -> list[Exhibit]:
    """The phase diagram over epsilon and V, cost against W, and unbounded arms."""
    return [_phase(bench, out, size), _weight(bench, out, size), _unbounded(bench, out, size)]


def _phase(bench: Bench, out: Path, size: Size) -> Exhibit:
    ds = over_accuracy_and_v(size, bench.sweep)
    known = summary(over_weight(ds, PHASE_WEIGHT))
    known["cost_mean"].attrs["label"] = COST_OVER_W
    known["v"].attrs["long_name"] = "V"
    epsilon, v = known["epsilon"].values, known["v"].values.astype(float)
    cost = np.log(known["cost_mean"].transpose("epsilon", "v").values)
    # Slopes where one of the two terms rules: V far below 1/eps, and far above.
    small = np.polyfit(np.log(epsilon), cost[:, 0], 1)[0]
    large = (cost[:, -1] - cost[:, -2]) / np.log(v[-1] / v[-2])
    finding = (
        f"Cost grows like ε^{small:.2f} at V = 1; from V = {v[-2]:g} to {v[-1]:g} it grows like V^{large[-1]:.2f} at "
        f"ε = {epsilon[-1]:g}, V^{large[0]:.2f} at ε = {epsilon[0]:g}"
    )
    return bench.exhibit(
        out,
        "pay-per-reward-phase",
        plots.phase(known, x="epsilon", y="v", value="cost", title=finding),
        frame(known, COLUMNS),
        finding=finding,
        drawn="Mean cost over W of MAB-PPR with practical constants.",
        settings=f"One good arm, K = {ARMS}, W = 2, δ = {DELTA:g}; the arms are independent, V is what it is told.",
        runs=runs_of(ds),
        seconds=seconds_of(ds),
        notes=(
            (
                "Theorem 3.1: W log(1/δ) max(1/ε², V/ε). Correlation costs nothing while V is at most 1/ε_t; since the "
                "rounds' ε_t are twenty times smaller than ε and more, the corner lies that much higher, but for the "
                "second batches, which are proportional to V/ε from V = 1 on."
            ),
        ),
        alt=f"Cost as colour over epsilon and V. {finding}.",
    )


def _weight(bench: Bench, out: Path, size: Size) -> Exhibit:
    runs = over_weight_of_arms(size, bench.sweep)
    known = stacked("algorithm", runs)
    known["w"].attrs["long_name"] = "sum of all means W"
    slopes = {
        label: np.polyfit(np.log(known["w"].values), np.log(known["cost_mean"].sel(algorithm=label).values), 1)[0]
        for label in runs
    }
    finding = "Equal means: cost grows like " + ", ".join(f"W^{slope:.2f} ({name})" for name, slope in slopes.items())
    return bench.exhibit(
        out,
        "pay-per-reward-weight",
        plots.curve(known, x="w", y="cost", hue="algorithm", title=finding),
        frame(known, COLUMNS),
        finding=finding,
        drawn="Mean cost, with 95% intervals.",
        settings=f"{ARMS} arms with mean W/{ARMS}, ε = δ = {EPSILON:g}.",
        runs=runs_of(*runs.values()),
        seconds=seconds_of(*runs.values()),
        notes=("With equal means any answer is right: what is paid is the price of finding that out.",),
        alt=f"Cost against the sum of all means for three algorithms. {finding}.",
    )


def _unbounded(bench: Bench, out: Path, size: Size) -> Exhibit:
    zipf, geometric = unbounded(size, bench.sweep)
    parts = [("exponent", "i^-{:g}", zipf), ("ratio", "{:g}^i", geometric)]
    rows = []
    for along, text, ds in parts:
        known = summary(ds).drop_attrs()
        labels = [text.format(value) for value in known[along].values]
        rows.append(known.rename({along: "law"}).assign_coords(law=labels))
    known = xr.concat(rows, "law", join="exact")
    known["law"].attrs["long_name"] = "means in proportion to"
    known["cost_mean"].attrs["label"] = COST_OVER_W
    low, high = (numbers.value(float(x)) for x in (known["cost_mean"].min(), known["cost_mean"].max()))
    finding = f"Infinitely many arms: cost / W is between {low} and {high}"
    unseen = max(float(ds.attrs["unseen"]) for ds in (zipf, geometric))
    return bench.exhibit(
        out,
        "pay-per-reward-unbounded",
        plots.bars(known, x="law", y="cost", title=finding),
        frame(known, COLUMNS),
        finding=finding,
        drawn="Mean cost over W of MAB-PPR with practical constants, with 95% intervals; W = 1.",
        settings=f"ε = δ = {EPSILON:g}; means i^-s and r^i times a constant.",
        runs=runs_of(zipf, geometric),
        seconds=seconds_of(zipf, geometric),
        notes=(
            (
                f"An arm beyond the simulated head pays in the first round with probability at most {unseen:.1g}; "
                "after that round all of them are gone."
            ),
            f"{int(known['errors'].sum())} of {runs_of(zipf, geometric)} runs were wrong.",
        ),
        alt=f"Bars of cost over W for laws of infinitely many means. {finding}.",
    )
