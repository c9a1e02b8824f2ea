"""Cost against the number of arms: with a fixed sum of means, and with means drawn like click-through rates."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import xarray as xr

import jaxbandits as jb
from jaxbandits.experiments.bench import Bench, runs_of, seconds_of, stacked
from jaxbandits.experiments.pay_per_reward_common import COLUMNS, COST_OVER_W, over_weight
from jaxbandits.experiments.runs.pay_per_reward_arms import (
    CLICK_EPSILON,
    CLICKS,
    SIZES,
    WEIGHT,
    Size,
    click_weight,
    clicks,
    fixed_weight,
    survey,
    sweeps,
    ugape_at_few_arms,
)
from jaxbandits.experiments.runs.pay_per_reward_common import DELTA, EPSILON, MAB, RACE
from jaxbandits.report import numbers, plots
from jaxbandits.report.gallery import Exhibit
from jaxbandits.report.summaries import summary
from jaxbandits.report.tables import frame

__all__ = ["SIZES", "Size", "show", "sweeps"]

_COLUMNS = [*COLUMNS[:4], "paid_mean", *COLUMNS[4:]]


def show(bench: Bench, out: Path, size: Size, tables: Sequence[str]) -> list[Exhibit]:
    """Cost over W against K, and the cost of a survey of headlines: of a fitted law, and of tables of clicks."""
    surveys = [_survey(bench, out, size, table) for table in tables]
    return [_fixed_weight(bench, out, size), _clicks(bench, out, size), *surveys]


def _known(runs: dict[str, list[xr.Dataset]], size: Size, weight: Callable[[int], float]) -> xr.Dataset:
    """Summaries along `algorithm` and `k`, with costs in units of the sum of all means."""
    ks = [k for k, _ in size.runs]
    by_arms = []
    for place, k in enumerate(ks):
        parts = [datasets[place] for datasets in runs.values()]
        unit = [over_weight(ds, weight(k)) for ds in parts]
        by_arms.append(stacked("algorithm", dict(zip(runs, unit, strict=True))))
    known = xr.concat(by_arms, "k", join="exact").assign_coords(k=ks)
    known["k"].attrs["long_name"] = "number of arms K"
    known["cost_mean"].attrs["label"] = COST_OVER_W
    return known


def _fixed_weight(bench: Bench, out: Path, size: Size) -> Exhibit:
    runs, ugape = fixed_weight(size, bench.sweep), ugape_at_few_arms(bench.sweep)
    known = _known(runs, size, lambda _: WEIGHT)
    known["weights"].attrs["long_name"] = "means"
    finding = _finding(known)
    every = [ds for parts in runs.values() for ds in parts]
    return bench.exhibit(
        out,
        "pay-per-reward-arms",
        plots.curve(known, x="k", y="cost", hue="algorithm", panel="weights", title=finding),
        frame(known, _COLUMNS),
        finding=finding,
        drawn="Mean cost (sum of the expected rewards of all pulls) over W, with 95% intervals.",
        settings=f"ε = δ = {EPSILON:g}, W = {WEIGHT:g}: one mean of 1/2 and the others equal; w_i ~ 1/i; all equal.",
        runs=runs_of(*every),
        seconds=seconds_of(*every),
        notes=(_growths(known), _safety(known), _crossings(), _ugape(ugape)),
        alt=f"Cost over W against the number of arms, a panel per kind of means. {finding}.",
    )


def _finding(known: xr.Dataset) -> str:
    """What more arms cost MAB-PPR and its nearest relative, and what the race saves."""
    first, last = known["k"].values[[0, -1]]
    growth = known["cost_mean"].isel(k=-1) / known["cost_mean"].isel(k=0)
    good = growth.sel(weights="one-good")
    race = known["cost_mean"].sel(algorithm=MAB) / known["cost_mean"].sel(algorithm=RACE)
    return (
        f"One good arm: from K = {numbers.count(first)} to {numbers.count(last)} the cost of MAB-PPR changes by "
        f"{100 * abs(float(good.sel(algorithm=MAB)) - 1):.1f}%, of median elimination "
        f"{numbers.fold(float(good.sel(algorithm='median elimination')))}-fold; the Bernstein race pays at "
        f"least {numbers.fold(float(race.min()))} times less than MAB-PPR everywhere"
    )


def _growths(known: xr.Dataset) -> str:
    """How each cost grows, as exponents of K and as an amount per factor of ten."""
    log_k = np.log(known["k"].values.astype(float))
    texts = []
    for label in known["algorithm"].values:
        cost = known["cost_mean"].sel(algorithm=label, weights="one-good").values
        exponent = np.polyfit(log_k, np.log(cost), 1)[0]
        texts.append(f"{label} K^{exponent:.2f}")
    return (
        "Fitted growth with one good arm: "
        + ", ".join(texts)
        + ". A union bound pays for ln K: an exponent near 0 that "
        "falls with K."
    )


def _safety(known: xr.Dataset) -> str:
    errors, runs = int(known["errors"].sum()), int(known["runs"].sum())
    worst = known["failure_high"].max()
    return (
        f"{errors} of {numbers.count(runs)} runs returned an arm more than ε below the best; the largest upper end of "
        f"a 95% interval is {numbers.probability(float(worst))} (δ = {DELTA:g})."
    )


def _crossings() -> str:
    """From which K on MAB-PPR would pay, by the cost bounds."""
    valid = jb.theory.ppr_constants(EPSILON, DELTA)
    sets = {
        "the cheapest valid constants": (valid.constants, valid.proof.phi_l),
        "the practical ones": (jb.theory.PPR_PRACTICAL, jb.theory.PPR_PRACTICAL.theta),
    }
    values = {name: jb.theory.ppr_crossing_arms(EPSILON, DELTA, 1.0, *pair) for name, pair in sets.items()}
    texts = [f"ln K = {float(value):.3g} with {name}" for name, value in values.items()]
    return (
        "MAB-PPR's cost does not grow with K, a union bound's does with ln K; by their bounds they cross at "
        + " and ".join(texts)
        + ". For rewards in [0, 1] no one will meet so many arms; where only variance <= mean is known (heavy tails) "
        "the rival is a union bound by medians of means, and the race does not apply."
    )


def _ugape(runs: xr.Dataset) -> str:
    """UGapEc pulls one arm a step: at the smallest K only."""
    known = summary(runs)
    return f"UGapEc with one good arm of 100: cost / W = {numbers.value(float(known['cost_mean']) / WEIGHT)}."


def _clicks(bench: Bench, out: Path, size: Size) -> Exhibit:
    """A reservoir of headlines: W grows with K, so costs do; who pays less?"""
    runs = clicks(size, bench.sweep)
    known = _known(runs, size, click_weight)
    ratio = known["cost_mean"].sel(algorithm=MAB) / known["cost_mean"].sel(algorithm=RACE)
    finding = (
        f"Click-through rates like those of headlines: the Bernstein race pays {numbers.fold(float(ratio.min()))} to "
        f"{numbers.fold(float(ratio.max()))} times less than MAB-PPR"
    )
    every = [ds for parts in runs.values() for ds in parts]
    return bench.exhibit(
        out,
        "pay-per-reward-clicks",
        plots.curve(known, x="k", y="cost", hue="algorithm", title=finding),
        frame(known, _COLUMNS),
        finding=finding,
        drawn="Mean cost over W, with 95% intervals.",
        settings=(
            f"Means drawn from Beta{CLICKS}, fitted to the click-through rates of 18 176 headlines; ε = "
            f"{CLICK_EPSILON:g}, δ = {DELTA:g}."
        ),
        runs=runs_of(*every),
        seconds=seconds_of(*every),
        notes=(_safety(known),),
        alt=f"Cost over W against the number of headlines for four algorithms. {finding}.",
    )


def _survey(bench: Bench, out: Path, size: Size, table: str) -> Exhibit:
    """The arms of one table of impressions and clicks."""
    problem, label = jb.click_rates(table), Path(table).stem
    means = np.asarray(problem.mean, np.float64)
    runs = survey(problem, size, bench.sweep)
    known = stacked("algorithm", {name: over_weight(ds, means.sum()) for name, ds in runs.items()})
    known["cost_mean"].attrs["label"] = COST_OVER_W
    costs = zip(runs, known["cost_mean"].values, strict=True)
    finding = f"{label}: cost / W is " + ", ".join(f"{numbers.value(float(cost))} ({name})" for name, cost in costs)
    return bench.exhibit(
        out,
        f"pay-per-reward-{label}",
        plots.bars(known, x="algorithm", y="cost", title=finding),
        frame(known, _COLUMNS),
        finding=finding,
        drawn="Mean cost over W, with 95% intervals.",
        settings=(
            f"{means.size} arms with the click-through rates of the table, {means.min():.2g} to {means.max():.2g}; "
            f"ε = {CLICK_EPSILON:g}, δ = {DELTA:g}."
        ),
        runs=runs_of(*runs.values()),
        seconds=seconds_of(*runs.values()),
        notes=(_safety(known),),
        alt=f"Bars of cost over W for four algorithms. {finding}.",
    )
