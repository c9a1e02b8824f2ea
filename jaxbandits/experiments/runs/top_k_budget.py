"""AdaptiveTopK, OptMAI and CLUCB with a fixed budget: over data sets, K and the budget."""

import dataclasses
from collections.abc import Callable
from typing import Any

import xarray as xr

import jaxbandits as jb
from jaxbandits.experiments.runs.common import Sweep, at_budgets

__all__ = [
    "ARMS", "CLUCB", "DATASETS", "DELTA", "EPSILON", "FINE", "FORGET", "KS", "PRINTED", "REUSE", "SCALE", "SIZES",
    "Size", "over_budgets", "over_k_and_budgets", "printed_constants", "sweeps",
]  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Size:
    """How much to run."""

    seeds: int  #: runs a point
    slow_seeds: int  #: runs a point of CLUCB-PAC, which pulls one arm a step; 0 to leave it out
    budgets: tuple[int, ...]
    printed_budgets: tuple[int, ...]  #: up to where the literal constants decide something
    ks: tuple[int, ...]  #: K of the phase diagrams


SIZES = {
    "quick": Size(
        # With the data sets and K at most 64 cells, the smallest size of the engine's tables: programs are shared.
        seeds=60, slow_seeds=0, budgets=(5000, 10_000, 18_000, 30_000, 48_000),
        printed_budgets=(20_000, 100_000, 300_000, 1_000_000, 10_000_000),
        ks=(10, 50, 100, 300, 500, 900),
    ),
    "paper": Size(
        seeds=200, slow_seeds=200,
        budgets=(5000, 7000, 10_000, 14_000, 20_000, 28_000, 39_000, 54_000, 74_000, 100_000),
        printed_budgets=(
            5000, 10_000, 20_000, 50_000, 100_000, 200_000, 300_000, 500_000, 1_000_000, 2_000_000, 5_000_000,
            10_000_000,
        ),
        ks=(10, 25, 50, 100, 150, 200, 250, 300, 400, 500, 600, 700, 800, 900),
    ),
}  # fmt: skip

ARMS, EPSILON, DELTA = 1000, 0.01, 0.01  # section 5
KS = (100, 250, 500)
#: The radius of the fine schedule, as a multiple of the guaranteed one, that orders the algorithms as the paper does.
SCALE = 0.2
DATASETS: dict[str, Callable[[int], jb.Problem]] = {
    "TWOGROUP": lambda k: jb.two_group(ARMS, k),
    "SYNTHETIC-.5": lambda k: jb.synthetic(0.5, ARMS, k),
    "UNIFORM": lambda _: jb.uniform_means(ARMS),
    "SYNTHETIC-6": lambda k: jb.synthetic(6.0, ARMS, k),
}
PRINTED, FINE, CLUCB = "AdaptiveTopK as printed", f"AdaptiveTopK, fine, radius × {SCALE:g}", "CLUCB-PAC"
REUSE, FORGET = "OptMAI", "OptMAI, a round's rewards only"


def sweeps(size: Size) -> int:
    """How many sweeps the functions below make."""
    return 7 + bool(size.slow_seeds)


@jb.problems.varying
def _dataset(dataset: str, k: int) -> jb.Problem:
    return DATASETS[dataset](k)


def _judged(ds: xr.Dataset) -> xr.Dataset:
    """The runs with one verdict for all: OptMAI is told of no epsilon."""
    return ds.assign(correct=ds["aggregate_regret"] <= EPSILON + 1e-6)


def _fine(k: Any, budget: Any) -> jb.AdaptiveTopK:
    return jb.AdaptiveTopK(k=k, budget=budget, epsilon=EPSILON, delta=DELTA, schedule="fine", scale=SCALE)


def over_budgets(size: Size, sweep: Sweep = jb.sweep) -> dict[str, xr.Dataset]:
    """Runs by algorithm, over `dataset`, `k` and `budget`."""
    k, budget = jb.axis(KS), jb.axis(size.budgets)
    problem = _dataset(jb.axis(list(DATASETS)), k)
    algorithms: dict[str, Any] = {
        PRINTED: jb.AdaptiveTopK(k=k, budget=budget, epsilon=EPSILON, delta=DELTA),
        FINE: _fine(k, budget),
        REUSE: jb.OptMAI(k=k, budget=budget),
        FORGET: jb.OptMAI(k=k, budget=budget, reuse=False),
    }
    runs = {label: sweep(algorithm, problem, size.seeds) for label, algorithm in algorithms.items()}
    if size.slow_seeds:
        # CLUCB-PAC decides nothing by its budget: one run shows all of them.
        slow = jb.CLUCB(k=k, epsilon=EPSILON, delta=DELTA)
        runs[CLUCB] = at_budgets(sweep, slow, problem, size.slow_seeds, size.budgets)
    return {label: _judged(ds) for label, ds in runs.items()}


def printed_constants(size: Size, sweep: Sweep = jb.sweep) -> xr.Dataset:
    """AdaptiveTopK as printed, over `dataset`, `k` and budgets at which it accepts and rejects."""
    k, budget = jb.axis(KS), jb.axis(size.printed_budgets)
    algorithm = jb.AdaptiveTopK(k=k, budget=budget, epsilon=EPSILON, delta=DELTA)
    return _judged(sweep(algorithm, _dataset(jb.axis(list(DATASETS)), k), size.seeds))


def over_k_and_budgets(label: str, size: Size, sweep: Sweep = jb.sweep) -> xr.Dataset:
    """OptMAI (`REUSE`) or the fine schedule (`FINE`) on UNIFORM, over `k` and `budget`."""
    k, budget = jb.axis(size.ks), jb.axis(size.budgets)
    algorithm: Any = {REUSE: jb.OptMAI(k=k, budget=budget), FINE: _fine(k, budget)}[label]
    return _judged(sweep(algorithm, jb.uniform_means(ARMS), size.seeds))
