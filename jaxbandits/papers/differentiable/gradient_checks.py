"""Compare derivatives of expected pulls and regrets with the differences of sweeps of other runs."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

import jaxbandits as jb
from jaxbandits.papers.bench import Bench
from jaxbandits.report import style


class Size(NamedTuple):
    points: int  #: of each curve
    seeds: int


SIZES = {"quick": Size(points=4, seeds=1000), "paper": Size(points=9, seeds=40_000)}

_Z = 1.96


class _Curve(NamedTuple):
    """A parameter, and what depends on it."""

    label: str
    metric: str
    wrt: str
    apart: float  #: half the distance of the sweep's two values, as a share of the value
    smoothing: float  #: the noise for an algorithm's parameter, whose runs move in jumps, likewise; else 0
    ends: tuple[float, float]
    algorithm: Callable[[float | jb.Axis], object]
    problem: Callable[[float | jb.Axis], jb.Problem]
    about: str
    share: float = 1.0  #: of the seeds, where runs are long and alike


def _make_best(value: float | jb.Axis) -> jb.Problem:
    """Return five arms, the first with this mean; or a family of them."""
    rest = [0.5, 0.45, 0.4, 0.3]
    return jb.bernoulli(jb.axis([[x, *rest] for x in value.values]) if isinstance(value, jb.Axis) else [value, *rest])


_CURVES = (
    _Curve(
        "ε of UGapEc", "pulls", "epsilon", 0.02, 0.02, (0.08, 0.4),
        lambda value: jb.UGapEc(epsilon=value, delta=0.1, b=1.0),
        lambda _: jb.gaussian([0.6, 0.5, 0.4, 0.3, 0.2], 0.3),
        "normal arms with means 0.6, 0.5, …, 0.2 and standard deviation 0.3, δ = 0.1, b = 1",
    ),
    _Curve(
        "β of OptMAI", "aggregate_regret", "beta", 0.087, 0.05, (0.6, 0.84),
        lambda value: jb.OptMAI(k=10, budget=2000, beta=value),
        lambda _: jb.linear(n=100),
        "K = 100 Bernoulli arms with evenly spaced means, k = 10, budget 2000",
    ),
    _Curve(
        "p of SE-TEA", "pulls", "p", 0.01, 0.005, (1.6, 1.9),
        lambda value: jb.SuccessiveElimination(delta=0.1, p=value, moment_b=5.0),
        lambda _: jb.student_t([1.5, 0.0, -0.5], 3.0),
        "Student t arms with 3 degrees of freedom and means 1.5, 0, -0.5; E|X|^p at most 5, δ = 0.1", 0.1,
    ),
    _Curve(
        "best mean, UGapEc", "pulls", "mean", 0.02, 0.0, (0.6, 0.9),
        lambda _: jb.UGapEc(epsilon=0.1, delta=0.1),
        _make_best,
        "Bernoulli arms, the others with means 0.5, 0.45, 0.4, 0.3; ε = δ = 0.1",
    ),
)  # fmt: skip


def show(bench: Bench, size: Size) -> None:
    """Draw derivatives and differences, a panel for each parameter."""
    found = [_follow(bench, curve, size) for curve in _CURVES]
    errors = [np.hypot(ds["gradient_se"], ds["difference_se"]) for ds in found]
    apart = np.concatenate(
        [(ds["gradient"] - ds["difference"]) / error for ds, error in zip(found, errors, strict=True)]
    )
    finding = (
        f"Gradients beside differences of other runs: of {apart.size} slopes the farthest lies "
        f"{np.abs(apart).max():.1f} standard errors away"
    )
    labels = [curve.label for curve in _CURVES]
    bench.exhibit(
        "differentiable-slopes",
        _draw(found, finding),
        xr.concat(found, "parameter").assign_coords(parameter=labels).to_dataframe().reset_index(),
        size.seeds * size.points * len(_CURVES),
        "Where the expectation is convex, its smoothed slope is a little steeper.",
        "OptMAI's numbers of pulls are rounded, so that its expected regret itself moves in jumps with β.",
        finding=finding,
        drawn="Derivatives with 95% intervals: of the smoothed expectation in a parameter of an algorithm (normal "
        "noise of 0.5 to 5% of the value), by the score function in a mean; squares are quotients of two "
        "cells of a sweep, 1 to 9% to either side, from other runs.",
        settings="; ".join(f"{curve.label}: {curve.about}" for curve in _CURVES) + ".",
        alt="Four panels with derivatives and differences along a parameter.",
    )


def _follow(bench: Bench, curve: _Curve, size: Size) -> xr.Dataset:
    """Return `value`, `gradient` and `difference` with standard errors, by `point`, where the parameter is `at`."""
    rows, seeds = [], round(curve.share * size.seeds)
    for at in np.linspace(*curve.ends, size.points):
        own: dict[str, object] = {"smoothing": curve.smoothing * float(at)} if curve.smoothing else {}
        found = bench.call(
            jb.gradients.expected, curve.metric, curve.algorithm(float(at)), curve.problem(float(at)), curve.wrt,
            seeds=seeds, **own,
        )  # fmt: skip
        slopes = found[["value", "value_se", "gradient", "gradient_se"]]
        slopes = slopes.isel(arm=0, missing_dims="ignore").drop_attrs()
        rows.append(slopes.assign(_compute_difference(bench, curve, float(at), seeds)))
    return xr.concat(rows, "point").assign(at=("point", np.linspace(*curve.ends, size.points)))


def _compute_difference(bench: Bench, curve: _Curve, at: float, seeds: int) -> dict[str, object]:
    """Return the quotient of a sweep over two values, of other runs than the gradient's, and its standard error."""
    around = jb.axis([at * (1 - curve.apart), at * (1 + curve.apart)], name="side")
    if curve.smoothing:
        ds = bench.call(jb.sweep, curve.algorithm(around), curve.problem(at), seeds, root_seed=1)
    else:
        ds = bench.call(jb.sweep, curve.algorithm(at), curve.problem(around), seeds, root_seed=1)
    values = ds[curve.metric].astype(float)
    side = next(str(name) for name in values.dims if name != "seed")
    each = (values.isel({side: 1}, drop=True) - values.isel({side: 0}, drop=True)) / (2 * curve.apart * at)
    return {"difference": each.mean("seed"), "difference_se": each.std("seed", ddof=1) / seeds**0.5}


def _draw(found: list[xr.Dataset], finding: str) -> Figure:
    picture, panels = style.new_panels(len(_CURVES), 3.9, shared=False)
    blue, red = style.colours(["gradient", "difference"])
    for axes, curve, ds in zip(panels, _CURVES, found, strict=True):
        at = ds["at"].to_numpy()
        gradient, difference = (ds["gradient"], _Z * ds["gradient_se"]), (ds["difference"], _Z * ds["difference_se"])
        axes.errorbar(at, *gradient, color=blue, marker="o", capsize=3, label="gradient")
        axes.errorbar(
            at, *difference, color=red, marker="s", linestyle="none", fillstyle="none", capsize=3,
            label="difference of a sweep",
        )  # fmt: skip
        axes.set_title(f"d E[{curve.metric.replace('_', ' ')}]", fontsize=10.5, loc="left")
        axes.ticklabel_format(axis="y", scilimits=(-2, 4))
    style.finish(panels[0], finding, _CURVES[0].label, "derivative", others=panels[1:])
    for axes, curve in zip(panels, _CURVES, strict=True):
        axes.set_xlabel(curve.label, fontsize=10.5)
    return picture
