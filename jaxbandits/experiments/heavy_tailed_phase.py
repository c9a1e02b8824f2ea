"""Where each estimator of the mean stops being of use, as tails grow heavier or less is known of them.

Pulls against the order p of the moment that the algorithm is told of; pulls and errors against degrees of freedom.
"""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

import jaxbandits as jb
from jaxbandits.experiments.bench import Bench, runs_of, seconds_of, stacked
from jaxbandits.experiments.heavy_tailed_common import (
    BATCHES,
    COLUMNS,
    PROMISE,
    PULLS_COLUMNS,
    eliminations,
    with_theorem,
)
from jaxbandits.report import numbers, plots
from jaxbandits.report.gallery import Exhibit
from jaxbandits.report.tables import frame

__all__ = ["SIZES", "SWEEPS", "Size", "exhibits", "order_for"]


@dataclasses.dataclass(frozen=True)
class Size:
    """How much to run."""

    orders: tuple[float, ...]  #: p
    order_pulls: int  #: where runs against p are stopped
    dofs: tuple[float, ...]  #: degrees of freedom, increasing, from below 2.25 to above
    dof_pulls: int  #: where runs of SE-delta against them are stopped; enough for the lightest tails
    seeds: int  #: runs per cell of SE-delta
    budget: int  #: of SR-T
    budget_seeds: int  #: runs per cell of SR-T


SIZES = {
    "quick": Size(
        orders=(1.7, 1.8, 1.9, 2.0), order_pulls=300_000,
        dofs=(1.1, 1.2, 1.3, 1.4, 1.5, 1.75, 2.0, 2.5, 3.0), dof_pulls=200_000, seeds=8, budget=800, budget_seeds=4000,
    ),
    "paper": Size(
        orders=(1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2.0), order_pulls=3_000_000,
        dofs=(1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2.0, 2.25, 2.5, 2.75, 3.0), dof_pulls=1_000_000,
        seeds=100, budget=800, budget_seeds=100_000,
    ),
}  # fmt: skip
SWEEPS = 4 + 8 + 4
_DELTA = 0.05
_ESTIMATORS = ("EA", "TEA", "MoM", "Catoni")
_FAILED = 0.1  # an estimator with a larger error of SR-T is said to fail

# One arm above nine by a large gap. Pulls go as gap^(-p/(p-1)): with S1's smallest, 0.5, there would be 8000 times as
# many at p = 1.5. Zero lies in the middle, where the raw moments, which TEA pays for, are least.
_GAP = 10.0
_MEANS = [_GAP / 2, *[-_GAP / 2] * 9]
_SLOPE = 0.8


def order_for(dof: float) -> float:
    """The p told to the algorithm; near `dof` the moments explode, near 1 the exponent 1/(p - 1) does.

    At 1.25, 1.5, 2 and 3 degrees of freedom Theorem 1 asks TEA for at most 15% more pulls than with the p best for
    it, and EA for at most 4, 2, 1.5 and 1.01 times as many.
    """
    return min(2.0, 1 + _SLOPE * (dof - 1))


@jb.problems.varying
def _told(p: float) -> jb.Problem:
    """The problem whose tails go with a p below 2."""
    problem: jb.Problem = jb.student_t(_MEANS, 1 + (p - 1) / _SLOPE)
    return problem


def exhibits(bench: Bench, out: Path, size: Size) -> list[Exhibit]:
    """Pulls against p; pulls and error against the degrees of freedom."""
    return [
        _pulls_against_order(bench, out, size),
        _pulls_against_tails(bench, out, size),
        _error_against_tails(bench, out, size),
    ]


def _pulls_against_order(bench: Bench, out: Path, size: Size) -> Exhibit:
    problem = jb.s1()
    runs = eliminations(
        bench,
        "over p",
        dict.fromkeys(_ESTIMATORS, size.seeds),
        problem,
        size.order_pulls,
        delta=_DELTA,
        p=jb.axis(size.orders),
    )
    known = with_theorem(stacked("estimator", runs), "p", [problem] * len(size.orders), _DELTA, size.orders)
    tea = known["pulls_q50"].sel(estimator="TEA")
    finding = (
        f"S1: told only of moments of order {size.orders[0]:g}, truncated means need "
        f"{numbers.fold(float(tea[0] / tea[-1]))} times the pulls that they need with p = {size.orders[-1]:g}"
    )
    return bench.exhibit(
        out,
        "heavy-tailed-order",
        plots.curve(known, x="p", y="pulls", hue="estimator", centre="median", bounds=("bound",), title=finding),
        frame(known, PULLS_COLUMNS),
        finding=finding,
        drawn=(
            "Median pulls until one arm is left, with the middle 80% of the runs, against the order p of the moment "
            f"that the algorithm is given. {_arrows(size.order_pulls)} Dashed: Theorem 1."
        ),
        settings=f"S1, δ = {_DELTA:g}; B(p) and C(p) by quadrature from the law. The rewards are the same at every p.",
        runs=runs_of(*runs.values()),
        seconds=seconds_of(*runs.values()),
        notes=(PROMISE,),
        alt=f"Median pulls against p for four estimators of the mean. {finding}.",
    )


def _arrows(max_pulls: int) -> str:
    return f"Arrows: half of the runs or more were stopped at {numbers.count(max_pulls)} pulls, a lower bound."


def _runs_over_tails(bench: Bench, size: Size) -> tuple[xr.Dataset, list[xr.Dataset]]:
    """Summaries along `estimator` and `dof`, with Theorem 1 and p; and the runs.

    Where p is below 2 it moves with the degrees of freedom, an axis of both; from there on it is 2.
    """
    seeds = dict.fromkeys(_ESTIMATORS, size.seeds)
    orders = [order_for(dof) for dof in size.dofs]
    told = [p for p in orders if p < 2]
    heavy, light = size.dofs[: len(told)], size.dofs[len(told) :]
    runs = [
        eliminations(
            bench, "over heavy tails", seeds, _told(jb.axis(told, "p")), size.dof_pulls, delta=_DELTA, p=jb.axis(told)
        ),
        eliminations(
            bench, "over light tails", seeds, jb.student_t(_MEANS, jb.axis(light)), size.dof_pulls, delta=_DELTA
        ),
    ]
    below, above = (stacked("estimator", part) for part in runs)
    below = below.assign_coords(dof=("p", list(heavy))).swap_dims(p="dof").drop_vars("p")
    known = xr.concat([below, above], "dof")
    problems = [jb.student_t(_MEANS, dof) for dof in size.dofs]
    known = with_theorem(known, "dof", problems, _DELTA, orders).assign(p=("dof", orders))
    return known, [ds for part in runs for ds in part.values()]


def _pulls_against_tails(bench: Bench, out: Path, size: Size) -> Exhibit:
    known, every = _runs_over_tails(bench, size)
    stopped = 2 * known["censored"] < known["runs"]
    first = known["dof"].where(stopped).min("dof")
    limit = numbers.count(size.dof_pulls)
    finding = f"Most runs stop within {limit} pulls only from ν = " + ", ".join(
        f"{float(first.sel(estimator=label)):g}{' on' * (label == 'EA')} with {label}" for label in _ESTIMATORS
    )
    failing = np.asarray(size.dofs)[~stopped.sel(estimator="EA").values]
    compared = np.asarray(size.dofs)[stopped.sel(estimator=["EA", "TEA"]).all("estimator").values]
    medians = known["pulls_q50"].sel(dof=compared)
    ratio = (medians.sel(estimator="EA") / medians.sel(estimator="TEA")).values
    asked = float(known["bound"].sel(estimator="TEA")[0])
    spread = (known["pulls_q90"] / known["pulls_q10"]).where(stopped).sel(estimator="EA")
    number = [sum(int((ds["status"] == status).sum()) for ds in every) for status in (0, 1)]
    wrong = [sum(int(((ds["status"] == status) & ~ds["correct"]).sum()) for ds in every) for status in (0, 1)]
    return bench.exhibit(
        out,
        "heavy-tailed-tails-pulls",
        plots.curve(
            known,
            x="dof",
            y="pulls",
            hue="estimator",
            centre="median",
            bounds=("bound",),
            shaded=_region(failing, f"EA: most runs not done after {limit} pulls"),
            title=finding,
        ),
        frame(known, ["p", *PULLS_COLUMNS]),
        finding=finding,
        drawn=(
            "Median pulls of SE-δ until one arm is left, with the middle 80% of the runs, against the degrees of "
            f"freedom ν. {_arrows(size.dof_pulls)} Dashed: Theorem 1, also where no run was long enough; far above "
            "the runs it leaves the picture, and its numbers are in the CSV (inf: above 3e38)."
        ),
        settings=(
            f"Ten arms, one with mean {_MEANS[0]:g}, nine with mean {_MEANS[1]:g}, Student t noise; δ = {_DELTA:g}. "
            f"The algorithm is told of p = min(2, 1 + {_SLOPE:g} (ν − 1)), of which moments are finite and near which "
            "Theorem 1 asks for the fewest pulls, with B(p) and C(p) from the law."
        ),
        runs=runs_of(*every),
        seconds=seconds_of(*every),
        notes=(
            (
                "Pulls grow with the exponent 1/(p − 1), so that no budget is enough near ν = 1: at "
                f"ν = {size.dofs[0]:g} Theorem 1 asks TEA for {numbers.value(asked)} pulls. EA pays "
                "(C K / δ)^(1/(p − 1)) where the others pay ln(K / δ): its median pulls are "
                f"{numbers.fold(ratio[-1])} times TEA's at ν = {size.dofs[-1]:g} and {numbers.fold(ratio[0])} times at "
                f"ν = {compared[0]:g}."
            ),
            (
                f"{wrong[0]} of the {number[0]} runs that end by themselves return a wrong arm, and {wrong[1]} of the "
                f"{number[1]} that were stopped would: the guarantee becomes too dear before estimates mislead. How "
                "often these do with few pulls is in the next figure."
            ),
            (
                "Medians, because a few runs that a huge reward holds up could rule a mean. In fact the 90% quantile "
                f"of EA is at most {numbers.fold(float(spread.max()))} times the 10% one: the radius decides when a "
                "run ends, more than chance. EA would gain a little from a p nearer to ν."
            ),
        ),
        alt=f"Median pulls against degrees of freedom for four estimators, on a logarithmic axis. {finding}.",
    )


def _region(failing: np.ndarray, text: str) -> tuple[float, float, str] | None:
    """From the first to the last place of those where something fails, if it does anywhere."""
    return (float(failing[0]), float(failing[-1]), text) if failing.size else None


def _error_against_tails(bench: Bench, out: Path, size: Size) -> Exhibit:
    means = [float(x) for x in np.asarray(jb.s1().mean, np.float64)]
    problem = jb.student_t(means, jb.axis(size.dofs))
    algorithms: dict[str, Any] = {
        "EA": jb.SuccessiveRejects(budget=size.budget, harmonic="full"),
        "TEA, b = 10": jb.SuccessiveRejects(budget=size.budget, estimator="tea", threshold=10.0, harmonic="full"),
        "TEA, b = 4": jb.SuccessiveRejects(budget=size.budget, estimator="tea", threshold=4.0, harmonic="full"),
        f"MoM, {BATCHES} batches": jb.SuccessiveRejects(
            budget=size.budget, estimator="mom", batches=BATCHES, harmonic="full"
        ),
    }
    runs = {
        label: bench.sweep(f"SR-T ({label}) over tails", algorithm, problem, size.budget_seeds)
        for label, algorithm in algorithms.items()
    }
    known = stacked("estimator", runs)
    empirical, truncated = (known["failure"].sel(estimator=label) for label in ("EA", "TEA, b = 4"))
    failing = np.asarray(size.dofs)[known["failure_low"].sel(estimator="EA").values > _FAILED]
    rates = [numbers.probability(float(rate[0])) for rate in (empirical, truncated)]
    finding = (
        f"With ν = {size.dofs[0]:g} empirical means miss the best arm in {rates[0]} of the runs, truncated ones in "
        f"{rates[1]}"
    )
    if failing.size:
        finding += f"; empirical ones in more than one in ten up to ν = {failing[-1]:g}"
    return bench.exhibit(
        out,
        "heavy-tailed-tails",
        plots.curve(
            known,
            x="dof",
            y="failure",
            hue="estimator",
            shaded=_region(failing, "EA: wrong in more than one run in ten"),
            title=finding,
        ),
        frame(known, COLUMNS),
        finding=finding,
        drawn=(
            "Probability of not returning the best arm against the degrees of freedom, with 95% intervals. Shaded: "
            f"where that of empirical means lies above {_FAILED:g}."
        ),
        settings=(
            f"The means of S1, Student t noise, {numbers.count(size.budget)} pulls; moments of order p are "
            "finite for p below the degrees of freedom."
        ),
        runs=runs_of(*runs.values()),
        seconds=seconds_of(*runs.values()),
        notes=(
            "The paper's own b grows without bound as p nears 1, (3 B p / Δ)^(1/(p−1)), and so it cuts nothing there.",
        ),
        alt=f"Failure rate against degrees of freedom for four estimators. {finding}.",
    )
