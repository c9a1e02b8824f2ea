"""Where each estimator of the mean stops being of use, as tails grow heavier or less is known of them.

Pulls against the order p of the moment that the algorithm is told of; pulls and errors against degrees of freedom.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import xarray as xr

import jaxbandits as jb
from jaxbandits.experiments.bench import Bench, runs_of, seconds_of, stacked
from jaxbandits.experiments.heavy_tailed_common import COLUMNS, PROMISE, PULLS_COLUMNS, with_theorem
from jaxbandits.experiments.runs.heavy_tailed_phase import (
    DELTA,
    ESTIMATORS,
    MEANS,
    SIZES,
    SLOPE,
    Size,
    eliminations_over_heavy_tails,
    eliminations_over_light_tails,
    eliminations_over_orders,
    order_for,
    rejects_over_tails,
)
from jaxbandits.report import numbers, plots
from jaxbandits.report.gallery import Exhibit
from jaxbandits.report.tables import frame

__all__ = ["SIZES", "SWEEPS", "Size", "exhibits", "order_for"]

SWEEPS = 4 + 8 + 4
_FAILED = 0.1  # an estimator with a larger error of SR-T is said to fail


def exhibits(bench: Bench, out: Path, size: Size) -> list[Exhibit]:
    """Pulls against p; pulls and error against the degrees of freedom."""
    return [
        _pulls_against_order(bench, out, size),
        _pulls_against_tails(bench, out, size),
        _error_against_tails(bench, out, size),
    ]


def _pulls_against_order(bench: Bench, out: Path, size: Size) -> Exhibit:
    """Pulls of SE-delta on S1, told of moments of lower and lower order."""
    runs = eliminations_over_orders(size, bench.sweep)
    known = with_theorem(stacked("estimator", runs), "p", [jb.s1()] * len(size.orders), DELTA, size.orders)
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
        settings=f"S1, δ = {DELTA:g}; B(p) and C(p) by quadrature from the law. The rewards are the same at every p.",
        runs=runs_of(*runs.values()),
        seconds=seconds_of(*runs.values()),
        notes=(PROMISE,),
        alt=f"Median pulls against p for four estimators of the mean. {finding}.",
    )


def _arrows(max_pulls: int) -> str:
    return f"Arrows: half of the runs or more were stopped at {numbers.count(max_pulls)} pulls, a lower bound."


def _region(failing: np.ndarray, text: str) -> tuple[float, float, str] | None:
    """From the first to the last place of those where something fails, if it does anywhere."""
    return (float(failing[0]), float(failing[-1]), text) if failing.size else None


def _pulls_against_tails(bench: Bench, out: Path, size: Size) -> Exhibit:
    """Pulls of SE-delta, told of the p that goes with the tails."""
    heavy = eliminations_over_heavy_tails(size, bench.sweep)
    light = eliminations_over_light_tails(size, bench.sweep)
    runs = [*heavy.values(), *light.values()]
    known = _over_tails(heavy, light, size)
    failing = known["dof"].values[~_stopped(known).sel(estimator="EA").values]
    limit = numbers.count(size.dof_pulls)
    finding = _tails_finding(known, limit)
    region = _region(failing, f"EA: most runs not done after {limit} pulls")
    columns = ["p", *PULLS_COLUMNS]
    return bench.exhibit(
        out,
        "heavy-tailed-tails-pulls",
        plots.curve(
            known, x="dof", y="pulls", hue="estimator", centre="median", bounds=("bound",), shaded=region, title=finding
        ),
        frame(known, columns)[["estimator", "dof", *columns]],
        finding=finding,
        drawn=(
            "Median pulls of SE-δ until one arm is left, with the middle 80% of the runs, against the degrees of "
            f"freedom ν. {_arrows(size.dof_pulls)} Dashed: Theorem 1, also where no run was long enough; far above "
            "the runs it leaves the picture, and its numbers are in the CSV (inf: above 3e38)."
        ),
        settings=(
            f"Ten arms, one with mean {MEANS[0]:g}, nine with mean {MEANS[1]:g}, Student t noise; δ = {DELTA:g}. "
            f"The algorithm is told of p = min(2, 1 + {SLOPE:g} (ν − 1)), of which moments are finite and near which "
            "Theorem 1 asks for the fewest pulls, with B(p) and C(p) from the law."
        ),
        runs=runs_of(*runs),
        seconds=seconds_of(*runs),
        notes=(_price_note(known), _wrong_note(runs), _spread_note(known)),
        alt=f"Median pulls against degrees of freedom for four estimators, on a logarithmic axis. {finding}.",
    )


def _over_tails(heavy: dict[str, xr.Dataset], light: dict[str, xr.Dataset], size: Size) -> xr.Dataset:
    """Summaries along `estimator` and `dof`, with Theorem 1 and p."""
    known = xr.concat([stacked("estimator", heavy).drop_vars("p"), stacked("estimator", light)], "dof")
    problems, orders = [jb.student_t(MEANS, dof) for dof in size.dofs], [order_for(dof) for dof in size.dofs]
    return with_theorem(known, "dof", problems, DELTA, orders).assign(p=("dof", orders))


def _stopped(known: xr.Dataset) -> xr.DataArray:
    """Where most runs stop by themselves."""
    return 2 * known["censored"] < known["runs"]


def _tails_finding(known: xr.Dataset, limit: str) -> str:
    """From which degrees of freedom on each estimator is done in time."""
    first = known["dof"].where(_stopped(known)).min("dof")
    return f"Most runs stop within {limit} pulls only from ν = " + ", ".join(
        f"{float(first.sel(estimator=label)):g}{' on' * (label == 'EA')} with {label}" for label in ESTIMATORS
    )


def _price_note(known: xr.Dataset) -> str:
    """What p costs near 1, and what EA costs beside TEA, where most runs of both stop."""
    both = known["dof"].values[_stopped(known).sel(estimator=["EA", "TEA"]).all("estimator").values]
    medians = known["pulls_q50"].sel(dof=both)
    ratio = (medians.sel(estimator="EA") / medians.sel(estimator="TEA")).values
    asked = float(known["bound"].sel(estimator="TEA")[0])
    dofs = known["dof"].values
    return (
        "Pulls grow with the exponent 1/(p − 1), so that no budget is enough near ν = 1: at "
        f"ν = {dofs[0]:g} Theorem 1 asks TEA for {numbers.value(asked)} pulls. EA pays "
        "(C K / δ)^(1/(p − 1)) where the others pay ln(K / δ): its median pulls are "
        f"{numbers.fold(ratio[-1])} times TEA's at ν = {dofs[-1]:g} and {numbers.fold(ratio[0])} times at "
        f"ν = {both[0]:g}."
    )


def _wrong_note(runs: Sequence[xr.Dataset]) -> str:
    """Wrong answers among the runs that end by themselves, and among those that are stopped."""
    number = [sum(int((ds["status"] == status).sum()) for ds in runs) for status in (0, 1)]
    wrong = [sum(int(((ds["status"] == status) & ~ds["correct"]).sum()) for ds in runs) for status in (0, 1)]
    return (
        f"{wrong[0]} of the {number[0]} runs that end by themselves return a wrong arm, and {wrong[1]} of the "
        f"{number[1]} that were stopped would: the guarantee becomes too dear before estimates mislead. How "
        "often these do with few pulls is in the next figure."
    )


def _spread_note(known: xr.Dataset) -> str:
    """How much the pulls of EA differ from run to run."""
    spread = (known["pulls_q90"] / known["pulls_q10"]).where(_stopped(known)).sel(estimator="EA")
    return (
        "Medians, because a few runs that a huge reward holds up could rule a mean. In fact the 90% quantile "
        f"of EA is at most {numbers.fold(float(spread.max()))} times the 10% one: the radius decides when a "
        "run ends, more than chance. EA would gain a little from a p nearer to ν."
    )


def _error_against_tails(bench: Bench, out: Path, size: Size) -> Exhibit:
    """Error of SR-T at one budget."""
    runs = rejects_over_tails(size, bench.sweep)
    known = stacked("estimator", runs)
    failing = known["dof"].values[known["failure_low"].sel(estimator="EA").values > _FAILED]
    finding = _error_finding(known, failing)
    region = _region(failing, "EA: wrong in more than one run in ten")
    return bench.exhibit(
        out,
        "heavy-tailed-tails",
        plots.curve(known, x="dof", y="failure", hue="estimator", shaded=region, title=finding),
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


def _error_finding(known: xr.Dataset, failing: np.ndarray) -> str:
    """How often empirical and truncated means err with the heaviest tails; and up to where empirical ones fail."""
    heaviest = known["failure"].isel(dof=0)
    empirical, truncated = (numbers.probability(float(heaviest.sel(estimator=label))) for label in ("EA", "TEA, b = 4"))
    finding = (
        f"With ν = {float(known['dof'][0]):g} empirical means miss the best arm in {empirical} of the runs, truncated "
        f"ones in {truncated}"
    )
    if failing.size:
        finding += f"; empirical ones in more than one in ten up to ν = {failing[-1]:g}"
    return finding
