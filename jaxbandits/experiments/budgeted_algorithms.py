"""RCB-I and RCB-AIR against simple baselines, over the smallest cost, and with spot prices."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import xarray as xr

import jaxbandits as jb
from jaxbandits.experiments.bench import Bench, runs_of, seconds_of
from jaxbandits.experiments.budgeted_common import COLUMNS, SEQUENCE, exponent, joined, labelled, listed
from jaxbandits.experiments.runs.budgeted_algorithms import (
    RCB,
    SIZES,
    SPOT,
    TABLE_BETA,
    Size,
    against_budget,
    on_table,
    over_smallest_cost,
    read,
    spot,
    spot_problem,
    sweeps,
)
from jaxbandits.report import numbers, plots
from jaxbandits.report.gallery import Exhibit
from jaxbandits.report.tables import frame

__all__ = ["SIZES", "Size", "read", "show", "sweeps"]

_AIR = "RCB-AIR"


def show(
    bench: Bench, out: Path, size: Size, growing: xr.Dataset, tables: Mapping[str, jb.problems.TableReservoir]
) -> list[Exhibit]:
    """Regret against B for all algorithms, against lambda, and with other prices.

    Args:
        bench: runs the sweeps.
        out: the folder.
        size: how much to run.
        growing: summaries of RCB-AIR along `beta` and `budget`.
        tables: what `read` returns.
    """
    air = growing.sel(beta=list(size.betas), budget=list(size.budgets))
    compared = against_budget(size, bench.sweep)
    return [
        _compared(bench, out, size, compared, air),
        _lambda(bench, out, size),
        _prices(bench, out, size, compared),
        *(_table(bench, out, size, *table) for table in tables.items()),
    ]


def _compared(bench: Bench, out: Path, size: Size, runs: dict[str, xr.Dataset], air: xr.Dataset) -> Exhibit:
    known = joined("algorithm", {RCB: runs[RCB], _AIR: air, **{k: v for k, v in runs.items() if k != RCB}})
    finding = _ranking(known)
    return bench.exhibit(
        out,
        "budgeted-algorithms",
        plots.curve(
            known, x="budget", y="regret", hue="algorithm", panel="beta" if len(size.betas) > 1 else None, title=finding
        ),
        frame(known, COLUMNS).dropna(subset="runs"),
        finding=finding,
        drawn="Mean regret, ρ* B minus the reward collected, with 95% intervals.",
        settings=(
            "Ratios 1 − U^(1/β), expected costs uniform on [0.2, 1], rewards and costs 0 or 1. All but RCB-AIR draw "
            "K(B) arms (equation 5); a run has the same ones, with the same rewards, with every algorithm. RCB-AIR's "
            "runs are those of the first figure."
        ),
        runs=runs_of(*runs.values()),
        seconds=seconds_of(*runs.values()),
        notes=(
            _fits(runs, size),
            (
                "RCB has a bound on rewards and one on costs, both Hoeffding's, and pulls arms of small cost until "
                "their costs' bound is above 0. The others look at mean costs (KUBE, ε-first), at rewards alone "
                "(UCB-V), or draw from posteriors; their proofs are for known costs or finitely many arms."
            ),
            f"Thompson sampling draws two Beta numbers per arm and pull: only up to B = {size.thompson_most:g}.",
        ),
        alt=f"Regret against the budget for {known.sizes['algorithm']} algorithms. {finding}.",
    )


def _ranking(known: xr.Dataset) -> str:
    """The algorithms by their regret at β = 1, at the largest budget that all of them have."""
    at = known["regret_mean"].sel(beta=1.0)
    common = at.dropna("budget")["budget"].values[-1]
    ratio = at.sel(budget=common) / at.sel(budget=common, algorithm=RCB)
    order = ratio.sortby(ratio)
    texts = listed(order.values, order["algorithm"].values)
    return f"β = 1, B = {numbers.value(float(common))}: regret in units of RCB-I's is {texts}"


def _fits(runs: dict[str, xr.Dataset], size: Size) -> str:
    """How the regret of each grows at β = 1."""
    fits = {label: exponent(ds).sel(beta=1.0) for label, ds in runs.items() if ds.sizes["budget"] > 1}
    growth = ", ".join(
        f"{label} B^{float(fit['exponent_mean']):.2f} [{float(fit['exponent_low']):.2f}, "
        f"{float(fit['exponent_high']):.2f}]"
        for label, fit in fits.items()
    )
    ends = " to ".join(numbers.value(float(b)) for b in (size.budgets[0], size.budgets[-1]))
    return f"Fitted over B from {ends} at β = 1, or as far as it was run: {growth}."


def _lambda(bench: Bench, out: Path, size: Size) -> Exhibit:
    """Sensitivity to the smallest expected cost."""
    runs = over_smallest_cost(size, bench.sweep)
    known = joined("algorithm", runs)
    at = known.isel(budget=-1)
    ends = at["regret_mean"].isel(lam=[0, -1])
    lams = [f"{lam:g}" for lam in (size.lams[0], size.lams[-1])]
    changes = ", ".join(
        f"{' to '.join(numbers.value(float(x)) for x in ends.sel(algorithm=label).values)} ({label})" for label in runs
    )
    largest = numbers.value(float(at["budget"]))
    finding = f"β = 1, B = {largest}: as λ goes from {lams[0]} to {lams[1]} the regret goes from {changes}"
    theory = float((jb.theory.rcb_accuracy(size.lams[-1]) / jb.theory.rcb_accuracy(size.lams[0])) ** 2)
    return bench.exhibit(
        out,
        "budgeted-lambda",
        plots.curve(at, x="lam", y="regret", hue="algorithm", title=finding),
        frame(known, COLUMNS),
        finding=finding,
        drawn=f"Mean regret at B = {largest}, with 95% intervals; smaller budgets are in the CSV.",
        settings=f"Expected costs uniform on [λ, 1], so that a budget buys more pulls where λ is small; {SEQUENCE}.",
        runs=runs_of(*runs.values()),
        seconds=seconds_of(*runs.values()),
        notes=(
            (
                "Theorem 1's constant contains 1/η(λ)², η = λ²/(3 + 2 λ) (equation 11), which falls "
                f"{numbers.value(theory)}-fold between these λ: the constant tells little about the regret."
            ),
        ),
        alt=f"Regret against λ for {len(runs)} algorithms. {finding}.",
    )


def _prices(bench: Bench, out: Path, size: Size, compared: dict[str, xr.Dataset]) -> Exhibit:
    """Uniform costs beside costs like the prices of machines that a cloud sells for the moment."""
    problem, dear = spot_problem(), spot(size, bench.sweep)
    uniform = {label: compared[label].sel(beta=1.0, drop=True) for label in dear}
    kinds = {"uniform": uniform, SPOT: dear}
    known = joined("algorithm", {f"{label}, {kind}": ds[label] for label in dear for kind, ds in kinds.items()})
    known["algorithm"].attrs["long_name"] = "algorithm, costs"
    last = known["regret_mean"].isel(budget=-1)
    finding = f"B = {numbers.value(float(last['budget']))}: with log-normal costs the regret is " + ", ".join(
        f"{float(last.sel(algorithm=f'{label}, {SPOT}') / last.sel(algorithm=f'{label}, uniform')):.2f} times "
        f"that with uniform ones ({label})"
        for label in dear
    )
    return bench.exhibit(
        out,
        "budgeted-prices",
        plots.curve(known, x="budget", y="regret", hue="algorithm", title=finding),
        frame(known, COLUMNS),
        finding=finding,
        drawn="Mean regret with 95% intervals, with two laws of the expected costs.",
        settings=(
            f"β = 1. Log-normal: ln c has mean {float(problem.mu):.3g} and standard deviation "
            f"{float(problem.sigma):.3g}, kept within [0.2, 1], a fit to 8 576 cloud spot prices per unit of capacity; "
            "uniform: on [0.2, 1]."
        ),
        runs=runs_of(*dear.values()),
        seconds=seconds_of(*dear.values()),
        notes=(
            "Smaller costs: a budget buys more pulls, and each arm asks for more before its cost is known not to be 0.",
        ),
        alt=f"Regret against the budget for two algorithms and two laws of costs. {finding}.",
    )


def _table(bench: Bench, out: Path, size: Size, label: str, problem: jb.problems.TableReservoir) -> Exhibit:
    """The arms of one table of expected rewards and costs."""
    ratios = np.asarray(problem.gains, np.float64) / np.asarray(problem.prices, np.float64)
    runs = on_table(problem, size, bench.sweep)
    known = labelled(joined("algorithm", runs))
    last = known.isel(budget=-1)
    available = float(ratios.max() * last["budget"])
    finding = f"{label}, B = {numbers.value(float(last['budget']))}: missed of ρ* B " + ", ".join(
        f"{100 * float(last['regret_mean'].sel(algorithm=name)) / available:.0f}% ({name})" for name in runs
    )
    return bench.exhibit(
        out,
        f"budgeted-{label}",
        plots.curve(known, x="budget", y="regret", hue="algorithm", title=finding),
        frame(known, COLUMNS),
        finding=finding,
        drawn="Mean regret, the table's best ratio times B minus the reward collected, with 95% intervals.",
        settings=(
            f"{ratios.size} rows of expected reward and cost; arms are rows drawn with replacement, K(B) = B^(1/2) as "
            f"for β = {TABLE_BETA:g}. Ratios: median {np.median(ratios):.3g}, best {ratios.max():.3g}; costs from "
            f"{float(np.min(np.asarray(problem.prices))):.3g}."
        ),
        runs=runs_of(*runs.values()),
        seconds=seconds_of(*runs.values()),
        notes=("A finite table has no regularity: the best ratio is drawn with positive probability.",),
        alt=f"Regret against the budget for two algorithms. {finding}.",
    )
