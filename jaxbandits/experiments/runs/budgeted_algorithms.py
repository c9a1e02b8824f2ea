"""RCB-I and simple baselines against the budget, over the smallest cost, with spot prices and on tables."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import xarray as xr

import jaxbandits as jb
from jaxbandits.experiments.runs.budgeted_common import lanes
from jaxbandits.experiments.runs.common import Sweep

__all__ = [
    "FIRST", "RCB", "SIZES", "SPOT", "TABLE_BETA", "Size", "against_budget", "on_table", "over_smallest_cost", "read",
    "spot", "spot_problem", "sweeps",
]  # fmt: skip


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


SIZES = {
    # A program serves the numbers of arms of one power of two: few of these, by the choice of budgets.
    "quick": Size(
        seeds=64, budgets=(316, 562, 1000), betas=(1,), thompson_most=1000, every=False,
        lams=(0.05, 0.1, 0.2, 0.4, 0.8), lam_budgets=(316, 562, 1000),
    ),
    "paper": Size(
        seeds=32, budgets=(100, 316, 1000, 3162, 10_000, 31_623, 100_000), betas=(0.5, 1, 2), thompson_most=1000,
        every=True, lams=(0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 0.9), lam_budgets=(100, 1000, 10_000),
    ),
}  # fmt: skip

RCB, FIRST = "RCB-I", "ε-first (0.1)"
SPOT = "log-normal"
TABLE_BETA = 1.0


def _algorithms(budget: jb.Axis, *, every: bool) -> dict[str, Any]:
    """Those that need few seconds."""
    few = {RCB: jb.RCBI(budget), FIRST: jb.EpsilonFirst(budget)}
    return {**few, "UCB-V(∞)": jb.UCBVInf(budget), "KUBE": jb.KUBE(budget)} if every else few


def read(tables: Sequence[str]) -> dict[str, jb.problems.TableReservoir]:
    """Reservoirs from CSV files with columns reward and cost, by their names.

    Raises:
        UsageError: a file that cannot be read.
    """
    found = {}
    for table in tables:
        problem = jb.reservoir_from_csv(table, beta=TABLE_BETA)
        assert isinstance(problem, jb.problems.TableReservoir)
        found[Path(table).stem] = problem
    return found


def sweeps(size: Size, tables: int) -> int:
    """How many sweeps the functions below make, with so many tables."""
    return 2 * (4 if size.every else 2) + 1 + size.every + 2 + 2 * tables


def _each(algorithms: dict[str, Any], problem: Any, size: Size, sweep: Sweep) -> dict[str, xr.Dataset]:
    return {
        label: sweep(algorithm, problem, size.seeds, lanes=lanes(size.seeds)) for label, algorithm in algorithms.items()
    }


def against_budget(size: Size, sweep: Sweep = jb.sweep) -> dict[str, xr.Dataset]:
    """Runs by algorithm, over `beta` and `budget`."""
    budget = jb.axis(size.budgets)
    algorithms = _algorithms(budget, every=size.every)
    if size.every:
        algorithms["RCB-I, peeling E"] = jb.RCBI(budget, sequence="peeling")
    few = [b for b in size.budgets if b <= size.thompson_most]
    algorithms["Thompson sampling"] = jb.BudgetedThompson(jb.axis(few))
    return _each(algorithms, jb.reservoir(beta=jb.axis(size.betas)), size, sweep)


def over_smallest_cost(size: Size, sweep: Sweep = jb.sweep) -> dict[str, xr.Dataset]:
    """Runs by algorithm, over `lam` and `budget`, β = 1."""
    problem = jb.reservoir(beta=1.0, lam=jb.axis(size.lams))
    return _each(_algorithms(jb.axis(size.lam_budgets), every=size.every), problem, size, sweep)


def spot_problem() -> jb.problems.RatioReservoir:
    """Costs like the prices of machines that a cloud sells for the moment."""
    problem: jb.problems.RatioReservoir = jb.reservoir(beta=1.0, prices=SPOT)
    return problem


def spot(size: Size, sweep: Sweep = jb.sweep) -> dict[str, xr.Dataset]:
    """Runs by algorithm with spot prices, over `budget`."""
    return _each(_algorithms(jb.axis(size.budgets), every=False), spot_problem(), size, sweep)


def on_table(problem: jb.problems.TableReservoir, size: Size, sweep: Sweep = jb.sweep) -> dict[str, xr.Dataset]:
    """Runs by algorithm on the rows of a table, over `budget`."""
    return _each(_algorithms(jb.axis(size.budgets), every=False), problem, size, sweep)
