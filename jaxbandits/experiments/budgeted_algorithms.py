"""RCB-I and RCB-AIR against simple baselines, over the smallest cost, and with spot prices."""

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

import jaxbandits as jb
from jaxbandits.experiments.bench import Bench, runs_of, seconds_of
from jaxbandits.experiments.budgeted_common import COLUMNS, SEQUENCE, exponent, joined, labelled, lanes, listed
from jaxbandits.report import numbers, plots
from jaxbandits.report.gallery import Exhibit
from jaxbandits.report.tables import frame

__all__ = ["Size", "read", "show", "sweeps"]


@dataclasses.dataclass(frozen=True)
class Size:
    """How much to run."""

    seeds: int
    budgets: tuple[float, ...]  #: each one that RCB-AIR was looked at with
    betas: tuple[float, ...]
    thompson_most: float  #: largest budget of Thompson sampling, which draws 2 K numbers a pull
    every: bool  #: all algorithms, or those that tell most
    lams: tuple[float, ...]
    lam_budgets: tuple[float, ...]


_RCB, _AIR, _FIRST = "RCB-I", "RCB-AIR", "ε-first (0.1)"
_SPOT = "log-normal"
_TABLE_BETA = 1.0


def _algorithms(budget: jb.Axis, *, every: bool) -> dict[str, Any]:
    """Those that need few seconds."""
    few = {_RCB: jb.RCBI(budget), _FIRST: jb.EpsilonFirst(budget)}
    return {**few, "UCB-V(∞)": jb.UCBVInf(budget), "KUBE": jb.KUBE(budget)} if every else few


def read(tables: Sequence[str]) -> dict[str, jb.problems.TableReservoir]:
    """Reservoirs from CSV files with columns reward and cost, by their names.

    Raises:
        UsageError: a file that cannot be read.
    """
    found = {}
    for table in tables:
        problem = jb.reservoir_from_csv(table, beta=_TABLE_BETA)
        assert isinstance(problem, jb.problems.TableReservoir)
        found[Path(table).stem] = problem
    return found


def sweeps(size: Size, tables: Mapping[str, jb.problems.TableReservoir]) -> int:
    """How many sweeps `show` makes."""
    return 2 * (4 if size.every else 2) + 1 + size.every + 2 + 2 * len(tables)


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
    compared = _compare(bench, size)
    return [
        _compared(bench, out, size, compared, air),
        _lambda(bench, out, size),
        _prices(bench, out, size, compared),
        *(_table(bench, out, size, *table) for table in tables.items()),
    ]


def _compare(bench: Bench, size: Size) -> dict[str, xr.Dataset]:
    budget, problem = jb.axis(size.budgets), jb.reservoir(beta=jb.axis(size.betas))
    algorithms = _algorithms(budget, every=size.every)
    if size.every:
        algorithms["RCB-I, peeling E"] = jb.RCBI(budget, sequence="peeling")
    few = [b for b in size.budgets if b <= size.thompson_most]
    algorithms["Thompson sampling"] = jb.BudgetedThompson(jb.axis(few))
    return {
        label: bench.sweep(f"{label} against B", algorithm, problem, size.seeds, lanes=lanes(size.seeds))
        for label, algorithm in algorithms.items()
    }


def _compared(bench: Bench, out: Path, size: Size, runs: dict[str, xr.Dataset], air: xr.Dataset) -> Exhibit:
    known = joined("algorithm", {_RCB: runs[_RCB], _AIR: air, **{k: v for k, v in runs.items() if k != _RCB}})
    at = known["regret_mean"].sel(beta=1.0)
    common = at.dropna("budget")["budget"].values[-1]  # the largest that all of them have
    ratio = at.sel(budget=common) / at.sel(budget=common, algorithm=_RCB)
    order = ratio.sortby(ratio)
    finding = f"β = 1, B = {numbers.value(float(common))}: regret in units of RCB-I's is " + listed(
        order.values, order["algorithm"].values
    )
    fits = {label: exponent(ds).sel(beta=1.0) for label, ds in runs.items() if ds.sizes["budget"] > 1}
    growth = ", ".join(
        f"{label} B^{float(fit['exponent_mean']):.2f} [{float(fit['exponent_low']):.2f}, "
        f"{float(fit['exponent_high']):.2f}]"
        for label, fit in fits.items()
    )
    ends = " to ".join(numbers.value(float(b)) for b in (size.budgets[0], size.budgets[-1]))
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
            f"Fitted over B from {ends} at β = 1, or as far as it was run: {growth}.",
            (
                "RCB has a bound on rewards and one on costs, both Hoeffding's, and pulls arms of small cost until "
                "their costs' bound is above 0. The others look at mean costs (KUBE, ε-first), at rewards alone "
                "(UCB-V), or draw from posteriors; their proofs are for known costs or finitely many arms."
            ),
            f"Thompson sampling draws two Beta numbers per arm and pull: only up to B = {size.thompson_most:g}.",
        ),
        alt=f"Regret against the budget for {known.sizes['algorithm']} algorithms. {finding}.",
    )


def _lambda(bench: Bench, out: Path, size: Size) -> Exhibit:
    """Sensitivity to the smallest expected cost."""
    problem, budget = jb.reservoir(beta=1.0, lam=jb.axis(size.lams)), jb.axis(size.lam_budgets)
    runs = {
        label: bench.sweep(f"{label} over λ", algorithm, problem, size.seeds, lanes=lanes(size.seeds))
        for label, algorithm in _algorithms(budget, every=size.every).items()
    }
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
    problem = jb.reservoir(beta=1.0, prices=_SPOT)
    spot = {
        label: bench.sweep(f"{label}, spot prices", algorithm, problem, size.seeds, lanes=lanes(size.seeds))
        for label, algorithm in _algorithms(jb.axis(size.budgets), every=False).items()
    }
    uniform = {label: compared[label].sel(beta=1.0, drop=True) for label in spot}
    kinds = {"uniform": uniform, _SPOT: spot}
    known = joined("algorithm", {f"{label}, {kind}": ds[label] for label in spot for kind, ds in kinds.items()})
    known["algorithm"].attrs["long_name"] = "algorithm, costs"
    last = known["regret_mean"].isel(budget=-1)
    finding = f"B = {numbers.value(float(last['budget']))}: with log-normal costs the regret is " + ", ".join(
        f"{float(last.sel(algorithm=f'{label}, {_SPOT}') / last.sel(algorithm=f'{label}, uniform')):.2f} times "
        f"that with uniform ones ({label})"
        for label in spot
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
        runs=runs_of(*spot.values()),
        seconds=seconds_of(*spot.values()),
        notes=(
            "Smaller costs: a budget buys more pulls, and each arm asks for more before its cost is known not to be 0.",
        ),
        alt=f"Regret against the budget for two algorithms and two laws of costs. {finding}.",
    )


def _table(bench: Bench, out: Path, size: Size, label: str, problem: jb.problems.TableReservoir) -> Exhibit:
    """The arms of one table of expected rewards and costs."""
    ratios = np.asarray(problem.gains, np.float64) / np.asarray(problem.prices, np.float64)
    runs = {
        name: bench.sweep(f"{name} on {label}", algorithm, problem, size.seeds, lanes=lanes(size.seeds))
        for name, algorithm in _algorithms(jb.axis(size.budgets), every=False).items()
    }
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
            f"for β = {_TABLE_BETA:g}. Ratios: median {np.median(ratios):.3g}, best {ratios.max():.3g}; costs from "
            f"{float(np.min(np.asarray(problem.prices))):.3g}."
        ),
        runs=runs_of(*runs.values()),
        seconds=seconds_of(*runs.values()),
        notes=("A finite table has no regularity: the best ratio is drawn with positive probability.",),
        alt=f"Regret against the budget for two algorithms. {finding}.",
    )
