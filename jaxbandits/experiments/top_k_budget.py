"""Probability of an aggregate regret above epsilon against the budget, and over K and the budget."""

import dataclasses
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

import jaxbandits as jb
from jaxbandits.experiments.bench import Bench, runs_of, seconds_of, stacked
from jaxbandits.report import numbers, plots
from jaxbandits.report.gallery import Exhibit
from jaxbandits.report.tables import frame, summary

__all__ = ["Size", "show", "sweeps"]


@dataclasses.dataclass(frozen=True)
class Size:
    """How much to run."""

    seeds: int  #: runs a point
    slow_seeds: int  #: runs a point of CLUCB-PAC, which pulls one arm a step; 0 to leave it out
    budgets: tuple[int, ...]
    printed_budgets: tuple[int, ...]  #: up to where the literal constants decide something
    ks: tuple[int, ...]  #: K of the phase diagrams


_ARMS, _EPSILON, _DELTA = 1000, 0.01, 0.01  # section 5
_KS = (100, 250, 500)
#: The radius of the fine schedule, as a multiple of the guaranteed one, that orders the algorithms as the paper does.
_SCALE = 0.2
_DATASETS: dict[str, Callable[[int], jb.Problem]] = {
    "TWOGROUP": lambda k: jb.two_group(_ARMS, k),
    "SYNTHETIC-.5": lambda k: jb.synthetic(0.5, _ARMS, k),
    "UNIFORM": lambda _: jb.uniform_means(_ARMS),
    "SYNTHETIC-6": lambda k: jb.synthetic(6.0, _ARMS, k),
}
_PRINTED, _FINE, _CLUCB = "AdaptiveTopK as printed", f"AdaptiveTopK, fine, radius × {_SCALE:g}", "CLUCB-PAC"
_REUSE, _FORGET = "OptMAI", "OptMAI, a round's rewards only"
_COLUMNS = ["runs", "failure", "failure_low", "failure_high", "aggregate_regret_mean", "pulls_mean"]


def sweeps(size: Size) -> int:
    """How many sweeps `show` makes."""
    return 7 + bool(size.slow_seeds)


def show(bench: Bench, out: Path, size: Size) -> list[Exhibit]:
    """Figures 1 to 4, the printed constants where they decide something, and K by budget."""
    runs = _runs(bench, size)
    known = _labelled(stacked("algorithm", runs))
    figures = [_figure(bench, out, number + 1, name, known, runs) for number, name in enumerate(_DATASETS)]
    return [*figures, _printed(bench, out, size), *_phases(bench, out, size)]


@jb.problems.varying
def _dataset(dataset: str, k: int) -> jb.Problem:
    return _DATASETS[dataset](k)


def _labelled(known: xr.Dataset) -> xr.Dataset:
    known["k"].attrs["long_name"], known["dataset"].attrs["long_name"] = "K", "data set"
    return known


def _judged(ds: xr.Dataset) -> xr.Dataset:
    """The runs with one verdict for all: OptMAI is told of no epsilon."""
    return ds.assign(correct=ds["aggregate_regret"] <= _EPSILON + 1e-6)


def _fine(k: Any, budget: Any) -> jb.AdaptiveTopK:
    return jb.AdaptiveTopK(k=k, budget=budget, epsilon=_EPSILON, delta=_DELTA, schedule="fine", scale=_SCALE)


def _runs(bench: Bench, size: Size) -> dict[str, xr.Dataset]:
    """The runs of every algorithm, over data set, K and the budget."""
    k, budget = jb.axis(_KS), jb.axis(size.budgets)
    problem = _dataset(jb.axis(list(_DATASETS)), k)
    algorithms: dict[str, Any] = {
        _PRINTED: jb.AdaptiveTopK(k=k, budget=budget, epsilon=_EPSILON, delta=_DELTA),
        _FINE: _fine(k, budget),
        _REUSE: jb.OptMAI(k=k, budget=budget),
        _FORGET: jb.OptMAI(k=k, budget=budget, reuse=False),
    }
    runs = {label: bench.sweep(label, a, problem, size.seeds) for label, a in algorithms.items()}
    if size.slow_seeds:
        # CLUCB-PAC decides nothing by its budget: one run shows all of them.
        slow = jb.CLUCB(k=k, epsilon=_EPSILON, delta=_DELTA)
        runs[_CLUCB] = bench.at_budgets(_CLUCB, slow, problem, size.slow_seeds, size.budgets)
    return {label: _judged(ds) for label, ds in runs.items()}


def _figure(bench: Bench, out: Path, number: int, name: str, every: xr.Dataset, runs: dict[str, xr.Dataset]) -> Exhibit:
    """One data set's figure: a panel per K, a line per algorithm."""
    known = every.sel(dataset=name, drop=True)
    finding = f"{name}: first to an error of at most .1: {_first(known)}"
    share = 1 / len(_DATASETS)
    slow = [runs[_CLUCB]] if _CLUCB in runs else []
    return bench.exhibit(
        out,
        f"top-k-figure-{number}",
        plots.curve(known, x="budget", y="failure", hue="algorithm", panel="k", title=finding),
        frame(known, _COLUMNS),
        finding=finding,
        drawn="Probability that the aggregate regret exceeds .01, with Clopper-Pearson 95% intervals.",
        settings=(
            f"{name}, n = {_ARMS}, ε = δ = .01, K = {', '.join(map(str, _KS))}; "
            f"{runs[_REUSE].sizes['seed']} runs a point"
            + "".join(f", {ds.sizes['seed']} of CLUCB-PAC" for ds in slow)
            + "."
        ),
        runs=int(share * runs_of(*runs.values())),
        seconds=share * seconds_of(*runs.values()),
        notes=(
            _plain(known),
            *([_order(every)] if number == 1 else []),
            *(
                f"CLUCB-PAC pulls one arm a step, at a cost of some passes over all {_ARMS} arms: "
                f"{share * seconds_of(ds):.0f} s of these."
                for ds in slow
            ),
            *([] if slow else ["CLUCB-PAC is run with `--scale paper`: it pulls one arm a step."]),
        ),
        alt=f"Failure rate against budget for {len(runs)} algorithms, a panel per K. {finding}.",
    )


def _first(known: xr.Dataset) -> str:
    """The algorithm with the smallest budget at which its error is at most a tenth, for every K."""
    texts = []
    error = known["failure"].where(known["runs"] >= 50)  # fewer do not tell a tenth from nothing
    for k in _KS:
        low = error.sel(k=k).where(error.sel(k=k) <= 0.1).dropna("budget", how="all")
        if low.sizes["budget"] == 0:
            texts.append(f"none at K = {k}")
            continue
        best = low.isel(budget=0).fillna(1.0).idxmin("algorithm").item()
        texts.append(f"{best} at K = {k} ({numbers.count(low['budget'][0].item())} pulls)")
    return ", ".join(texts)


def _plain(known: xr.Dataset) -> str:
    """What the printed constants mean at these budgets."""
    rounds = [math.ceil(4**r * math.log(2 * _ARMS * r * r / _DELTA)) for r in (1, 2)]  # m_r of Algorithm 1
    return (
        f"With its printed constants AdaptiveTopK is uniform sampling below {rounds[0]} n pulls: round 1 alone takes "
        f"{rounds[0]} of every arm, and would need a difference of means above 1 to tell any two apart. The first arm "
        f"can go after {sum(rounds)} n. No budget drawn here is large enough."
        if float(known["budget"].max()) < sum(rounds) * _ARMS
        else f"Round 1 of AdaptiveTopK takes {rounds[0]} n pulls and decides nothing; the first arm can go after "
        f"{sum(rounds)} n."
    )


def _order(known: xr.Dataset) -> str:
    """How often each version of AdaptiveTopK errs less than each of OptMAI, beside what the paper says."""
    error = known["failure"].mean("budget")
    panels = {(name, k): error.sel(dataset=name, k=k) for name in _DATASETS for k in _KS}

    def wins(one: str, other: str) -> str:
        better = [place for place, error in panels.items() if error.sel(algorithm=one) < error.sel(algorithm=other)]
        groups = sum(name == "TWOGROUP" for name, _ in better)
        large = sum(k == _KS[-1] for _, k in better)
        return f"{len(better)} ({groups} of TWOGROUP's {len(_KS)}, {large} of {len(_DATASETS)} with K = {_KS[-1]})"

    return (
        "The paper reports AdaptiveTopK ahead of OptMAI on all of TWOGROUP and elsewhere for large K. By the mean "
        f"error over these budgets, of {len(panels)} panels AdaptiveTopK is ahead as printed in "
        f"{wins(_PRINTED, _REUSE)}; on the fine schedule with a radius of {_SCALE:g} times the guaranteed one in "
        f"{wins(_FINE, _REUSE)}; and against OptMAI that forgets earlier rounds in "
        f"{wins(_FINE, _FORGET)}. What the authors ran is not known. A radius so small carries no guarantee."
    )


def _printed(bench: Bench, out: Path, size: Size) -> Exhibit:
    """The printed constants up to budgets at which they accept and reject."""
    k, budget = jb.axis(_KS), jb.axis(size.printed_budgets)
    algorithm = jb.AdaptiveTopK(k=k, budget=budget, epsilon=_EPSILON, delta=_DELTA)
    runs = _judged(bench.sweep("printed constants", algorithm, _dataset(jb.axis(list(_DATASETS)), k), size.seeds))
    known = _labelled(summary(runs))
    sure = known["failure"].max("k") <= 0.01
    budgets = sure["budget"].where(sure).min("budget")
    finding = "AdaptiveTopK as printed errs in at most 1% of the runs from these pulls on: " + ", ".join(
        f"{name} {numbers.count(b) if np.isfinite(b) else 'none of these'}"
        for name, b in zip(_DATASETS, budgets.values.tolist(), strict=True)
    )
    return bench.exhibit(
        out,
        "top-k-printed-constants",
        plots.curve(known, x="budget", y="failure", hue="dataset", panel="k", title=finding),
        frame(known, _COLUMNS),
        finding=finding,
        drawn="Probability that the aggregate regret exceeds .01, with Clopper-Pearson 95% intervals.",
        settings=f"n = {_ARMS}, ε = δ = .01; a last round that does not fit is spent evenly on the arms still active.",
        runs=runs_of(runs),
        seconds=seconds_of(runs),
        notes=(
            _plain(known),
            "Where the error is gone before that, uniform sampling did it.",
        ),
        alt=f"Failure rate against budgets up to ten million pulls for four data sets, a panel per K. {finding}.",
    )


def _phases(bench: Bench, out: Path, size: Size) -> list[Exhibit]:
    """Failure probability over K and the budget, for OptMAI and for the fine schedule."""
    k, budget, problem = jb.axis(size.ks), jb.axis(size.budgets), jb.uniform_means(_ARMS)
    exhibits = []
    for name, label, algorithm in (
        ("opt-mai", _REUSE, jb.OptMAI(k=k, budget=budget)),
        ("adaptive", _FINE, _fine(k, budget)),
    ):
        runs = _judged(bench.sweep(f"{label}, K by budget", algorithm, problem, size.seeds))
        known = summary(runs)
        known = known.assign_coords(k=("k", known["k"].values, {"long_name": "arms to return K"}))
        hardest = known["failure"].mean("budget").idxmax("k").item()
        finding = f"{label} on UNIFORM: the regret is above .01 most often at K = {hardest:g} of {_ARMS} arms"
        exhibits.append(
            bench.exhibit(
                out,
                f"top-k-phase-{name}",
                plots.phase(known, x="budget", y="k", value="failure", title=finding),
                frame(known, _COLUMNS),
                finding=finding,
                drawn="Probability that the aggregate regret exceeds .01, over the budget and the arms to return.",
                settings=f"UNIFORM, n = {_ARMS}; {size.seeds} runs a cell.",
                runs=runs_of(runs),
                seconds=seconds_of(runs),
                notes=("A mean over few arms is noisier. Returning most arms is easy: OptMAI seeks the worst then.",),
                alt=f"Heat map of the failure rate over budget and K. {finding}.",
            )
        )
    return exhibits
