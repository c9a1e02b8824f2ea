"""Derivatives of expected pulls and regrets, beside the differences of sweeps of other runs."""

from pathlib import Path

import numpy as np
import xarray as xr

from jaxbandits.experiments.bench import Bench
from jaxbandits.experiments.runs.differentiable_slopes import CURVES, SIZES, Size, along
from jaxbandits.report import style
from jaxbandits.report.gallery import Exhibit

__all__ = ["SIZES", "Size", "show", "sweeps"]

_Z = 1.96


def sweeps(size: Size) -> int:
    """How many there are."""
    return 2 * size.points * len(CURVES)


def show(bench: Bench, out: Path, size: Size) -> list[Exhibit]:
    """A panel for each parameter."""
    found = {curve: along(curve, size, bench.call) for curve in CURVES}
    apart = np.concatenate([_apart(ds) for ds in found.values()])
    finding = (
        f"Gradients beside differences of other runs: of {apart.size} slopes the farthest lies "
        f"{np.abs(apart).max():.1f} standard errors away"
    )
    names = [curve.label for curve in CURVES]
    picture, panels = style.new_panels(len(CURVES), 3.9, shared=False)
    blue, red = style.colours(["gradient", "difference"])
    for axes, (curve, ds) in zip(panels, found.items(), strict=True):
        at = ds["at"].to_numpy()
        axes.errorbar(
            at, ds["gradient"], _Z * ds["gradient_se"], color=blue, marker="o", capsize=3, label="gradient"
        )  # fmt: skip
        axes.errorbar(
            at, ds["difference"], _Z * ds["difference_se"], color=red, marker="s", linestyle="none", fillstyle="none",
            capsize=3, label="difference of a sweep",
        )  # fmt: skip
        axes.set_title(f"d E[{curve.metric.replace('_', ' ')}]", fontsize=10.5, loc="left")
        axes.ticklabel_format(axis="y", scilimits=(-2, 4))
    style.finish(panels[0], finding, CURVES[0].label, "derivative", others=panels[1:])
    for axes, curve in zip(panels, CURVES, strict=True):
        axes.set_xlabel(curve.label, fontsize=10.5)
    return [
        bench.exhibit(
            out,
            "differentiable-slopes",
            picture,
            xr.concat(found.values(), "parameter").assign_coords(parameter=names).to_dataframe().reset_index(),
            finding=finding,
            drawn="Derivatives with 95% intervals: of the smoothed expectation in a parameter of an algorithm (normal "
            "noise of 0.5 to 5% of the value), by the score function in a mean; squares are quotients of two "
            "cells of a sweep, 1 to 9% to either side, from other runs.",
            settings="; ".join(f"{curve.label}: {curve.about}" for curve in CURVES) + ".",
            runs=size.seeds * size.points * len(CURVES),
            seconds=bench.seconds(),
            notes=(
                "Where the expectation is convex, its smoothed slope is a little steeper.",
                "OptMAI's numbers of pulls are rounded, so that its expected regret itself moves in jumps with β.",
            ),
            alt=f"Four panels with derivatives and differences along a parameter. {finding}.",
        )
    ]


def _apart(ds: xr.Dataset) -> np.ndarray:
    """How far gradients and differences are apart, in standard errors."""
    error = np.hypot(ds["gradient_se"], ds["difference_se"])
    return np.asarray((ds["gradient"] - ds["difference"]) / error)
