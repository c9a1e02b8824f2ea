"""Expected pulls and regrets with their derivatives, and what a sweep's own differences say of them."""

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

import jaxbandits as jb
from jaxbandits.experiments.runs.common import Call, called

__all__ = ["CURVES", "SIZES", "Curve", "Size", "along"]


@dataclasses.dataclass(frozen=True)
class Size:
    """How much to run."""

    points: int  #: of each curve
    seeds: int


SIZES = {"quick": Size(points=4, seeds=1000), "paper": Size(points=9, seeds=40_000)}


class Curve(NamedTuple):
    """A parameter, and what depends on it."""

    label: str
    metric: str
    wrt: str
    apart: float  #: half the distance of the sweep's two values, as a share of the value
    smoothing: float  #: of an algorithm's, whose runs move in jumps: the noise, likewise; else 0
    ends: tuple[float, float]
    algorithm: Callable[[Any], Any]
    problem: Callable[[Any], Any]
    about: str
    share: float = 1.0  #: of the seeds, where runs are long and alike


def _best(value: Any) -> Any:
    """Five arms, the first with this mean; or a family of such."""
    rest = [0.5, 0.45, 0.4, 0.3]
    return jb.bernoulli(jb.axis([[x, *rest] for x in value.values]) if isinstance(value, jb.Axis) else [value, *rest])


CURVES = (
    Curve(
        "ε of UGapEc", "pulls", "epsilon", 0.02, 0.02, (0.08, 0.4),
        lambda value: jb.UGapEc(epsilon=value, delta=0.1, b=1.0),
        lambda _: jb.gaussian([0.6, 0.5, 0.4, 0.3, 0.2], 0.3),
        "normal arms with means 0.6, 0.5, …, 0.2 and standard deviation 0.3, δ = 0.1, b = 1",
    ),
    Curve(
        "β of OptMAI", "aggregate_regret", "beta", 0.087, 0.05, (0.6, 0.84),
        lambda value: jb.OptMAI(k=10, budget=2000, beta=value),
        lambda _: jb.linear(n=100),
        "K = 100 Bernoulli arms with evenly spaced means, k = 10, budget 2000",
    ),
    Curve(
        "p of SE-TEA", "pulls", "p", 0.01, 0.005, (1.6, 1.9),
        lambda value: jb.SuccessiveElimination(delta=0.1, p=value, moment_b=5.0),
        lambda _: jb.student_t([1.5, 0.0, -0.5], 3.0),
        "Student t arms with 3 degrees of freedom and means 1.5, 0, -0.5; E|X|^p at most 5, δ = 0.1", 0.1,
    ),
    Curve(
        "best mean, UGapEc", "pulls", "mean", 0.02, 0.0, (0.6, 0.9),
        lambda _: jb.UGapEc(epsilon=0.1, delta=0.1),
        _best,
        "Bernoulli arms, the others with means 0.5, 0.45, 0.4, 0.3; ε = δ = 0.1",
    ),
)  # fmt: skip


def along(curve: Curve, size: Size, call: Call = called) -> xr.Dataset:
    """`value`, `gradient` and `difference` with standard errors, of each `point`, where the parameter is `at`."""
    rows, seeds = [], round(curve.share * size.seeds)
    for at in np.linspace(*curve.ends, size.points):
        own: dict[str, Any] = {"smoothing": curve.smoothing * float(at)} if curve.smoothing else {}
        found = call(
            jb.gradients.expected, curve.metric, curve.algorithm(float(at)), curve.problem(float(at)), curve.wrt,
            seeds=seeds, **own,
        )  # fmt: skip
        slopes = found[["value", "value_se", "gradient", "gradient_se"]]
        rows.append(
            slopes.isel(arm=0, missing_dims="ignore").drop_attrs().assign(_difference(curve, float(at), seeds, call))
        )
    return xr.concat(rows, "point").assign(at=("point", np.linspace(*curve.ends, size.points)))


def _difference(curve: Curve, at: float, seeds: int, call: Call) -> dict[str, Any]:
    """The quotient of a sweep over two values, of other runs than the gradient's, and its standard error."""
    around = jb.axis([at * (1 - curve.apart), at * (1 + curve.apart)], name="side")
    if curve.smoothing:
        ds = call(jb.sweep, curve.algorithm(around), curve.problem(at), seeds, root_seed=1)
    else:
        ds = call(jb.sweep, curve.algorithm(at), curve.problem(around), seeds, root_seed=1)
    values = ds[curve.metric].astype(float)
    side = next(str(name) for name in values.dims if name != "seed")
    each = (values.isel({side: 1}, drop=True) - values.isel({side: 0}, drop=True)) / (2 * curve.apart * at)
    return {"difference": each.mean("seed"), "difference_se": each.std("seed", ddof=1) / seeds**0.5}
