"""Compare simple regrets of SiRI and its rivals on a reservoir where every pull costs one.

Li and Xia (2017) leave best-arm identification open (their section 6); without costs it is the problem of Carpentier
and Valko (2015).
"""

from typing import Any, NamedTuple

import numpy as np
import xarray as xr

import jaxbandits as jb
from jaxbandits.papers.bench import Bench
from jaxbandits.papers.budgeted.regret_exponents import fit_exponent, fit_slope, join_summaries, run_each
from jaxbandits.papers.title_claims import ends_of, quotient, times
from jaxbandits.report import formatting, plots, tables


class Size(NamedTuple):
    runs: tuple[tuple[float, tuple[int, ...]], ...]  #: regularities, and numbers of pulls n
    seeds: int
    slow_seeds: int  #: of algorithms that pull one arm at a time
    slow_most: int  #: and their largest budget
    every: bool  #: all algorithms, or the most informative ones


SIZES = {
    "quick": Size(runs=((1, (4400, 7000, 11_000)),), seeds=1000, slow_seeds=128, slow_most=11_000, every=False),
    # SiRI takes some 5 K steps with sums for all K arms: few arms where they are many.
    "paper": Size(
        runs=((1, (300, 1000, 3000, 10_000, 30_000, 100_000)), (3, (300, 1000, 3000, 10_000))), seeds=400,
        slow_seeds=100, slow_most=10_000, every=True,
    ),
}  # fmt: skip

_BEST = 0.5  # mu*: arms near a best mean of 1 would hardly vary
_FACTOR = 0.3  # SiRI's A, as its authors have it
_SIRI = "SiRI"
_COLUMNS = ["runs", "simple_regret_mean", "simple_regret_low", "simple_regret_high", "pulls_mean", "rate", "floor"]


def show(bench: Bench, size: Size) -> None:
    """Draw simple regret against the number of pulls, a line per algorithm."""
    every: list[xr.Dataset] = []
    by_beta, texts, settings = {}, [], []
    for beta, budgets in size.runs:
        runs = _run(bench, beta, budgets, size)
        panel = by_beta[beta] = _add_theory(join_summaries("algorithm", runs), beta, budgets)
        fitted = times(ends_of(fit_exponent(runs[_SIRI], "simple_regret"), "exponent"))
        texts.append(_describe(panel, beta, fitted, float(fit_slope(budgets, _compute_rate(budgets, beta)))))
        settings.append(f"{_count_arms(budgets[-1], beta):g} at n = {formatting.count(budgets[-1])} (β = {beta:g})")
        every += runs.values()
    stats, finding = join_summaries("beta", by_beta), "; ".join(texts)
    stats["budget"].attrs["long_name"] = "pulls n"
    bench.exhibit(
        "budgeted-identification",
        plots.curve(
            stats, x="budget", y="simple_regret", hue="algorithm", panel="beta" if len(size.runs) > 1 else None,
            bounds=("rate", "floor"), title=finding,
        ),
        tables.frame(stats, _COLUMNS).dropna(subset="runs"),
        every,
        "UGapEb estimates the a of its Theorem 1 from the empirical gaps, and returns its last choice. RCB-I, where "
        "shown, is made to collect rewards; it returns the arm it pulled most.",
        "A rate's constant is open: another A has the same rate and another regret. SiRI's bounds contain "
        "floor(log2 K), and jump where K passes a power of two.",
        finding=finding,
        drawn="Mean of μ* minus the mean of the returned arm, with 95% intervals. Dashed: the order of Carpentier "
        "and Valko's Theorem 2, n^(−1/2) below β = 2, (n / ln n)^(−1/β) above; what the best of SiRI's K arms "
        "misses.",
        settings=f"Means μ* (1 − U^(1/β)), μ* = {_BEST:g}; every pull costs one. K is SiRI's number of arms, A = "
        f"{_FACTOR:g}, C = 1, δ = 0.01: {', '.join(settings)}. All algorithms see the same K arms.",
        alt=f"Simple regret against the number of pulls for {stats.sizes['algorithm']} algorithms.",
    )  # fmt: skip


def _count_arms(n: float, beta: float, factor: float = _FACTOR) -> int:
    """Return SiRI's number of arms: that of which the best misses the rate of its simple regret."""
    return int(np.ceil(factor * float(jb.theory.siri_simple_regret_rate(n, beta)) ** -beta * (1 - 1e-5)))


@jb.problems.varying
def _make_pool(beta: float, n: int, factor: float) -> jb.problems.RatioReservoir:
    return jb.reservoir(beta=beta, rho=_BEST, prices="unit", arms=_count_arms(n, beta, factor))


def _run(bench: Bench, beta: float, budgets: tuple[int, ...], size: Size) -> dict[str, xr.Dataset]:
    """Run each algorithm over `budget`."""
    budget = jb.axis(budgets, name="budget")
    few = jb.axis([n for n in budgets if n <= size.slow_most], name="budget")
    batches: dict[str, Any] = {
        _SIRI: (jb.SiRI(budget, a=_FACTOR), jb.reservoir(beta=beta, rho=_BEST, prices="unit")),
        "sequential halving": (jb.SequentialHalving(budget), _make_pool(beta, budget, _FACTOR)),
    }
    one_by_one: dict[str, object] = {"UGapEb": jb.UGapEb(few, adaptive=True, last=True)}
    if size.every:
        batches["sequential halving, 2 K arms"] = (jb.SequentialHalving(budget), _make_pool(beta, budget, 2 * _FACTOR))
        one_by_one["RCB-I"] = jb.RCBI(few)
    found = {label: bench.sweep(algorithm, problem, size.seeds) for label, (algorithm, problem) in batches.items()}
    return {**found, **run_each(bench, one_by_one, _make_pool(beta, few, _FACTOR), size.slow_seeds)}


def _compute_rate(budgets: tuple[int, ...], beta: float) -> np.ndarray:
    """Return the rate of SiRI's simple regret."""
    return np.asarray(jb.theory.siri_simple_regret_rate(np.asarray(budgets, np.float64), beta), np.float64)


def _add_theory(stats: xr.Dataset, beta: float, budgets: tuple[int, ...]) -> xr.Dataset:
    """Add SiRI's rate, scaled to its last point, and what the best of its arms misses, along `budget`."""
    rate = _compute_rate(budgets, beta)
    siri = float(stats["simple_regret_mean"].sel(algorithm=_SIRI).isel(budget=-1))
    arms = np.asarray([_count_arms(n, beta) for n in budgets], np.float64)
    floor = np.asarray(jb.theory.expected_shortfall(arms, beta, _BEST))
    return stats.assign(
        rate=("budget", rate / rate[-1] * siri, {"long_name": "SiRI's rate, Theorem 2, through its last point"}),
        floor=("budget", floor, {"long_name": "what the best of K arms misses"}),
    )


def _describe(stats: xr.Dataset, beta: float, fitted: str, theory: float) -> str:
    """Say how SiRI's regret falls at one regularity, and how large the others' are beside it."""
    last = stats["simple_regret_mean"].dropna("budget").isel(budget=-1)
    regret = ends_of(stats, "simple_regret").sel(budget=last["budget"].item())
    against = quotient(regret, regret.sel(algorithm=_SIRI))
    others = ", ".join(f"{times(against.sel(algorithm=a))} ({a})" for a in stats["algorithm"].values if a != _SIRI)
    return (
        f"β = {beta:g}: SiRI's simple regret falls like n to the power {fitted} (theory −{abs(theory):.2f}); in "
        f"units of it, at n = {formatting.count(float(last['budget']))}, {others}"
    )
