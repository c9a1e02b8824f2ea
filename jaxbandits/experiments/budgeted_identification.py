"""The best arm of a reservoir where every pull costs one: simple regret of SiRI and its rivals.

Li and Xia (2017) leave best-arm identification open (their section 6); without costs it is the problem of Carpentier
and Valko (2015).
"""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

import jaxbandits as jb
from jaxbandits.experiments.bench import Bench, runs_of, seconds_of
from jaxbandits.experiments.budgeted_common import exponent, joined, lanes, slope
from jaxbandits.report import numbers, plots
from jaxbandits.report.gallery import Exhibit
from jaxbandits.report.tables import frame

__all__ = ["Size", "show", "sweeps"]


@dataclasses.dataclass(frozen=True)
class Size:
    """How much to run."""

    runs: tuple[tuple[float, tuple[int, ...]], ...]  #: regularities, and numbers of pulls n
    seeds: int
    slow_seeds: int  #: of algorithms that pull one arm at a time
    slow_most: int  #: and their largest budget
    every: bool  #: all algorithms, or those that tell most


_BEST = 0.5  # mu*: arms near a best mean of 1 would hardly vary
_FACTOR = 0.3  # SiRI's A, as its authors have it
_SIRI, _TWICE = "SiRI", "sequential halving, 2 K arms"
_COLUMNS = ["runs", "simple_regret_mean", "simple_regret_low", "simple_regret_high", "pulls_mean", "rate", "floor"]


def sweeps(size: Size) -> int:
    """How many sweeps `show` makes."""
    return (5 if size.every else 3) * len(size.runs)


def _arms(n: float, beta: float, factor: float) -> int:
    """SiRI's number of arms: that of which the best misses the rate of its simple regret."""
    return int(np.ceil(factor * float(jb.theory.siri_simple_regret_rate(n, beta)) ** -beta * (1 - 1e-5)))


@jb.problems.varying
def _pool(beta: float, n: int, factor: float) -> jb.problems.RatioReservoir:
    return jb.reservoir(beta=beta, rho=_BEST, prices="unit", arms=_arms(n, beta, factor))


def show(bench: Bench, out: Path, size: Size) -> Exhibit:
    """Simple regret against the number of pulls, a line per algorithm."""
    every: list[xr.Dataset] = []
    by_beta, texts, settings = {}, [], []
    for beta, budgets in size.runs:
        runs = _runs(bench, size, beta, budgets)
        known, rate, arms = joined("algorithm", runs), *_theory(beta, budgets)
        siri = float(known["simple_regret_mean"].sel(algorithm=_SIRI).isel(budget=-1))
        about = {"long_name": "SiRI's rate, Theorem 2, through its last point"}
        known["rate"] = ("budget", rate / rate[-1] * siri, about)
        about = {"long_name": "what the best of K arms misses"}
        known["floor"] = ("budget", np.asarray(jb.theory.expected_shortfall(arms, beta, _BEST)), about)
        by_beta[beta] = known
        fitted = float(exponent(runs[_SIRI], "simple_regret")["exponent_mean"])
        texts.append(_of_beta(known, beta, fitted, float(slope(budgets, rate))))
        settings.append(f"{arms[-1]:g} at n = {numbers.count(budgets[-1])} (β = {beta:g})")
        every += runs.values()
    known, finding = joined("beta", by_beta), "; ".join(texts)
    known["budget"].attrs["long_name"] = "pulls n"
    return bench.exhibit(
        out,
        "budgeted-identification",
        plots.curve(
            known,
            x="budget",
            y="simple_regret",
            hue="algorithm",
            panel="beta" if len(size.runs) > 1 else None,
            bounds=("rate", "floor"),
            title=finding,
        ),
        frame(known, _COLUMNS).dropna(subset="runs"),
        finding=finding,
        drawn=(
            "Mean of μ* minus the mean of the returned arm, with 95% intervals. Dashed: the order of Carpentier and "
            "Valko's Theorem 2, n^(−1/2) below β = 2, (n / ln n)^(−1/β) above; what the best of SiRI's K arms misses."
        ),
        settings=(
            f"Means μ* (1 − U^(1/β)), μ* = {_BEST:g}; every pull costs one. K is SiRI's number of arms, A = "
            f"{_FACTOR:g}, C = 1, δ = 0.01: {', '.join(settings)}. All algorithms see the same K arms."
        ),
        runs=runs_of(*every),
        seconds=seconds_of(*every),
        notes=(
            (
                "UGapEb has the a of its Theorem 1, from the true gaps, and returns its last choice. RCB-I, where "
                "shown, is made to collect rewards; it returns the arm it pulled most."
            ),
            (
                "A rate's constant is open: another A has the same rate and another regret. SiRI's bounds contain "
                "floor(log2 K), and jump where K passes a power of two."
            ),
        ),
        alt=f"Simple regret against the number of pulls for {known.sizes['algorithm']} algorithms. {finding}.",
    )


def _theory(beta: float, budgets: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """The rate of SiRI's simple regret, and its numbers of arms."""
    rate = np.asarray(jb.theory.siri_simple_regret_rate(np.asarray(budgets, np.float64), beta), np.float64)
    return rate, np.asarray([_arms(n, beta, _FACTOR) for n in budgets], np.float64)


def _runs(bench: Bench, size: Size, beta: float, budgets: tuple[int, ...]) -> dict[str, xr.Dataset]:
    """Runs along `budget`."""
    budget = jb.axis(budgets, name="budget")
    few = jb.axis([n for n in budgets if n <= size.slow_most], name="budget")

    def pool(n: jb.Axis, factor: float = _FACTOR) -> jb.problems.ProblemFamily:
        family = _pool(beta, n, factor)
        assert isinstance(family, jb.problems.ProblemFamily)
        return family

    one_by_one: dict[str, Any] = {"UGapEb": jb.UGapEb(few, last=True)}
    batches: dict[str, Any] = {
        _SIRI: (jb.SiRI(budget, a=_FACTOR), jb.reservoir(beta=beta, rho=_BEST, prices="unit")),
        "sequential halving": (jb.SequentialHalving(budget), pool(budget)),
    }
    if size.every:
        one_by_one["RCB-I"] = jb.RCBI(few)
        batches[_TWICE] = (jb.SequentialHalving(budget), pool(budget, 2 * _FACTOR))
    found = {
        label: bench.sweep(f"{label}, β = {beta:g}", algorithm, problem, size.seeds)
        for label, (algorithm, problem) in batches.items()
    }
    for label, algorithm in one_by_one.items():
        doing = f"{label}, unit costs, β = {beta:g}"
        found[label] = bench.sweep(doing, algorithm, pool(few), size.slow_seeds, lanes=lanes(size.slow_seeds))
    return found


def _of_beta(known: xr.Dataset, beta: float, fitted: float, theory: float) -> str:
    last = known["simple_regret_mean"].dropna("budget").isel(budget=-1)
    against = last / last.sel(algorithm=_SIRI)
    others = ", ".join(f"{float(against.sel(algorithm=a)):.2f} ({a})" for a in known["algorithm"].values if a != _SIRI)
    return (
        f"β = {beta:g}: SiRI's simple regret falls like n^{fitted:.2f} (theory {theory:.2f}); in units of it, at n = "
        f"{numbers.count(float(last['budget']))}, {others}"
    )
