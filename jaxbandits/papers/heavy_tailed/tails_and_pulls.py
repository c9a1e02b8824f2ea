"""Find where each estimator of the mean stops being of use in SE-delta, over degrees of freedom."""

from collections.abc import Sequence
from typing import NamedTuple

import xarray as xr

import jaxbandits as jb
from jaxbandits.papers.bench import Bench, stack_summaries
from jaxbandits.papers.heavy_tailed import mean_estimators as estimators
from jaxbandits.papers.heavy_tailed.mean_estimators import DELTA, ESTIMATORS, PULLS_COLUMNS
from jaxbandits.report import formatting, plots, tables


class Size(NamedTuple):
    dofs: tuple[float, ...]  #: degrees of freedom, increasing, from below 2.25 to above
    max_pulls: int  #: enough for the lightest tails
    seeds: int


SIZES = {
    "quick": Size(dofs=(1.1, 1.2, 1.3, 1.4, 1.5, 1.75, 2.0, 2.5, 3.0), max_pulls=200_000, seeds=8),
    "paper": Size(
        dofs=(1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2.0, 2.25, 2.5, 2.75, 3.0), max_pulls=1_000_000, seeds=100
    ),
}

# One arm above nine by a large gap. Pulls go as gap^(-p/(p-1)): with S1's smallest, 0.5, there would be 8000 times as
# many at p = 1.5. Zero lies in the middle, where the raw moments, which TEA pays for, are least.
_GAP = 10.0
_MEANS = [_GAP / 2, *[-_GAP / 2] * 9]
_SLOPE = 0.8


def choose_order(dof: float) -> float:
    """Return the p to give the algorithm; near `dof` the moments explode, near 1 the exponent 1/(p - 1) does.

    Theorem 1 requires of TEA at most 15% more pulls than with the p best for it. It requires of EA at most 4, 2, 1.5
    and 1.01 times as many at 1.25, 1.5, 2 and 3 degrees of freedom.
    """
    return min(2.0, 1 + _SLOPE * (dof - 1))


def show(bench: Bench, size: Size) -> None:
    """Draw pulls against degrees of freedom, where the p given goes with the tails."""
    heavy, light = _run(bench, size)
    runs = [*heavy.values(), *light.values()]
    stats = _join(heavy, light, size)
    failing = stats["dof"].values[~_stopped(stats).sel(estimator="EA").values]
    limit = formatting.count(size.max_pulls)
    first = stats["dof"].where(_stopped(stats)).min("dof")
    finding = f"Most of {size.seeds} runs stop within {limit} pulls only from ν = " + ", ".join(
        f"{float(first.sel(estimator=label)):g}{' on' * (label == 'EA')} with {label}" for label in ESTIMATORS
    )
    text = f"EA: most runs not done after {limit} pulls"
    region = (float(failing[0]), float(failing[-1]), text) if failing.size else None
    columns = ["p", *PULLS_COLUMNS]
    bench.exhibit(
        "heavy-tailed-tails-pulls",
        plots.curve(
            stats, x="dof", y="pulls", hue="estimator", centre="median", bounds=("bound",), shaded=region,
            title=finding,
        ),
        tables.frame(stats, columns)[["estimator", "dof", *columns]],
        runs,
        _describe_price(stats), _describe_errors(runs), _describe_spread(stats),
        finding=finding,
        drawn="Median pulls of SE-δ until one arm is left, with the middle 80% of the runs, against the degrees of "
        f"freedom ν. {estimators.describe_arrows(size.max_pulls)} Dashed: Theorem 1, also where no run was long "
        "enough; far above the runs it leaves the picture, and its numbers are in the CSV (inf: above 3e38).",
        settings=f"Ten arms, one with mean {_MEANS[0]:g}, nine with mean {_MEANS[1]:g}, Student t noise; "
        f"δ = {DELTA:g}. The algorithm is given p = min(2, 1 + {_SLOPE:g} (ν − 1)), of which moments are finite "
        "and near which Theorem 1 needs the fewest pulls, with B(p) and C(p) from the law.",
        alt="Median pulls against degrees of freedom for four estimators, on a logarithmic axis.",
    )  # fmt: skip


@jb.problems.varying
def _make_problem(p: float) -> jb.Problem:
    """Return the problem whose tails go with a p below 2."""
    problem: jb.Problem = jb.student_t(_MEANS, 1 + (p - 1) / _SLOPE)
    return problem


def _run(bench: Bench, size: Size) -> tuple[dict[str, xr.Dataset], dict[str, xr.Dataset]]:
    """Run each estimator over `dof`: where the p given is below 2 and moves with it, and from where on it is 2."""
    seeds = dict.fromkeys(ESTIMATORS, size.seeds)
    heavy = [dof for dof in size.dofs if choose_order(dof) < 2]
    given = [choose_order(dof) for dof in heavy]
    problem = _make_problem(jb.axis(given, "p"))
    runs = estimators.run_eliminations(bench, seeds, problem, size.max_pulls, delta=DELTA, p=jb.axis(given))
    below = {label: ds.assign_coords(dof=("p", heavy)).swap_dims(p="dof") for label, ds in runs.items()}
    light = jb.student_t(_MEANS, jb.axis([dof for dof in size.dofs if choose_order(dof) == 2]))
    return below, estimators.run_eliminations(bench, seeds, light, size.max_pulls, delta=DELTA)


def _join(heavy: dict[str, xr.Dataset], light: dict[str, xr.Dataset], size: Size) -> xr.Dataset:
    """Return summaries along `estimator` and `dof`, with Theorem 1 and p."""
    stats = xr.concat([stack_summaries("estimator", heavy).drop_vars("p"), stack_summaries("estimator", light)], "dof")
    stats["dof"].attrs["long_name"] = "degrees of freedom ν"
    problems, orders = [jb.student_t(_MEANS, dof) for dof in size.dofs], [choose_order(dof) for dof in size.dofs]
    return estimators.add_theorem(stats, "dof", problems, DELTA, orders).assign(p=("dof", orders))


def _stopped(stats: xr.Dataset) -> xr.DataArray:
    """Return where most runs stop by themselves."""
    return 2 * stats["censored"] < stats["runs"]


def _describe_price(stats: xr.Dataset) -> str:
    """Say what p costs near 1, and what EA costs beside TEA, where most runs of both stop."""
    both = stats["dof"].values[_stopped(stats).sel(estimator=["EA", "TEA"]).all("estimator").values]
    medians = stats["pulls_q50"].sel(dof=both)
    ratio = (medians.sel(estimator="EA") / medians.sel(estimator="TEA")).values
    asked = float(stats["bound"].sel(estimator="TEA")[0])
    dofs = stats["dof"].values
    return (
        "Pulls grow with the exponent 1/(p − 1), so that no budget is enough near ν = 1: at "
        f"ν = {dofs[0]:g} Theorem 1 asks TEA for {formatting.value(asked)} pulls. EA pays "
        "(C K / δ)^(1/(p − 1)) where the others pay ln(K / δ): its median pulls are "
        f"{formatting.fold(ratio[-1])} times TEA's at ν = {dofs[-1]:g} and {formatting.fold(ratio[0])} times at "
        f"ν = {both[0]:g}."
    )


def _describe_errors(runs: Sequence[xr.Dataset]) -> str:
    """Count wrong answers among the runs that end by themselves, and among the truncated ones."""
    number = [sum(int((ds["status"] == status).sum()) for ds in runs) for status in (0, 1)]
    wrong = [sum(int(((ds["status"] == status) & ~ds["correct"]).sum()) for ds in runs) for status in (0, 1)]
    return (
        f"{wrong[0]} of the {number[0]} runs that end by themselves return a wrong arm, and {wrong[1]} of the "
        f"{number[1]} that were truncated would: the guarantee becomes too costly before estimates mislead. How "
        "often these do with few pulls is in the next figure."
    )


def _describe_spread(stats: xr.Dataset) -> str:
    """Say how much the pulls of EA differ from run to run."""
    spread = (stats["pulls_q90"] / stats["pulls_q10"]).where(_stopped(stats)).sel(estimator="EA")
    return (
        "Medians, because a few runs that a huge reward holds up could rule a mean. In fact the 90% quantile "
        f"of EA is at most {formatting.fold(float(spread.max()))} times the 10% one: the radius decides when a "
        "run ends, more than chance. EA would gain a little from a p nearer to ν."
    )
