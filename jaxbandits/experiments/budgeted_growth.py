"""Regret of RCB-AIR against the budget, and its exponent as good arms become rarer."""

import dataclasses
from pathlib import Path

import numpy as np
import xarray as xr

import jaxbandits as jb
from jaxbandits.experiments.bench import Bench, runs_of, seconds_of
from jaxbandits.experiments.budgeted_common import COLUMNS, SEQUENCE, exponent, labelled, slope
from jaxbandits.experiments.runs.budgeted_growth import SIZES, Size, growing, sweeps
from jaxbandits.report import numbers, plots
from jaxbandits.report.gallery import Exhibit
from jaxbandits.report.summaries import summary
from jaxbandits.report.tables import frame

__all__ = ["SIZES", "Growth", "Size", "run", "show", "sweeps"]

_BOUNDS = ("promised", "promised_with_logs", "least")


@dataclasses.dataclass(frozen=True)
class Growth:
    """The runs of RCB-AIR, by group, along `beta`, `seed` and `budget`."""

    groups: list[xr.Dataset]

    def summary(self) -> xr.Dataset:
        """Summaries along `beta` and `budget`."""
        parts = [summary(ds).drop_attrs() for ds in self.groups]
        return labelled(xr.concat(parts, "beta", join="exact").sortby("beta"))

    def exponents(self, budgets: np.ndarray) -> xr.Dataset:
        """Exponents of the regret over some of the budgets, along `beta`."""
        parts = [exponent(ds.sel(budget=budgets)) for ds in self.groups]
        return xr.concat(parts, "beta", join="exact").sortby("beta")

    @property
    def runs(self) -> int:
        """Of which each was looked at with every budget."""
        return sum(runs_of(ds.isel(budget=0)) for ds in self.groups)


def run(bench: Bench, size: Size) -> Growth:
    """One run of RCB-AIR serves all budgets."""
    return Growth(growing(size, bench.sweep))


def show(bench: Bench, growth: Growth, out: Path, size: Size) -> list[Exhibit]:
    """Regret against B, and its exponent against beta."""
    return [_regret(bench, growth, out, size), _exponents(bench, growth, out, size)]


def _regret(bench: Bench, growth: Growth, out: Path, size: Size) -> Exhibit:
    known = growth.summary()
    budgets, betas = known["budget"].values.astype(float), known["beta"].values
    rate = np.asarray(jb.theory.rcb_air_regret_rate(budgets[None, :], betas[:, None]))
    scaled = rate / rate[:, -1:] * known["regret_mean"].isel(budget=[-1]).values
    known["rate"] = (("beta", "budget"), scaled, {"long_name": "Theorem 3's rate, through the last point"})
    lost = known["regret_mean"].isel(budget=-1) / budgets[-1]
    finding = f"At B = {numbers.value(budgets[-1])} RCB-AIR misses " + ", ".join(
        f"{100 * float(lost.sel(beta=beta)):.0f}%{' of ρ* B' * (i == 0)} at β = {beta:g}"
        for i, beta in enumerate(size.shown)
    )
    stopped = sum(int((ds["status"] == 1).any("budget").sum()) for ds in growth.groups)
    return bench.exhibit(
        out,
        "budgeted-regret",
        plots.curve(
            known.sel(beta=list(size.shown)), x="budget", y="regret", hue="beta", bounds=("rate",), title=finding
        ),
        frame(known, [*COLUMNS, "rate"]),
        finding=finding,
        drawn=(
            "Mean regret, ρ* B minus the reward collected, with 95% intervals. Dashed: (ln B)² B^max(1/2, β/(1+β)), "
            "Theorem 3, whose constant is open: scaled to the last point."
        ),
        settings=f"Ratios 1 − U^(1/β), expected costs uniform on [0.2, 1]; {SEQUENCE}.",
        runs=growth.runs,
        seconds=seconds_of(*growth.groups),
        notes=(
            "One run serves all budgets, since the algorithm does not know it; the points of a line share their runs.",
            (
                "Equation (27) prints Theorem 3's two cases the other way round: for β > 1 that would be (ln B)² "
                "B^(1/2), less than the lower bound B^(β/(1+β)) of Theorem 2. Drawn is the order of Theorem 1."
            ),
            f"{stopped} of {numbers.count(growth.runs)} runs asked for more arms than are simulated.",
        ),
        alt=f"Regret against the budget, a line per regularity β. {finding}.",
    )


def _exponents(bench: Bench, growth: Growth, out: Path, size: Size) -> Exhibit:
    summaries = growth.summary()
    budgets = summaries["budget"].values
    middle = len(budgets) // 2
    first, last = budgets[: middle + 1], budgets[middle:]
    parts = [growth.exponents(first), growth.exponents(last)]
    known = labelled(xr.concat(parts, "range", join="exact").assign_coords(range=[_range(first), _range(last)]))
    known["range"].attrs["long_name"] = "RCB-AIR, fitted to"
    known["exponent_mean"].attrs["label"] = "exponent of B in the regret"
    known = _with_promises(known, last.astype(float))
    finding = _growths(known, size)
    return bench.exhibit(
        out,
        "budgeted-exponents",
        plots.curve(known, x="beta", y="exponent", hue="range", bounds=_BOUNDS, title=finding),
        frame(known, ["runs", "exponent_mean", "exponent_low", "exponent_high", *_BOUNDS]),
        finding=finding,
        drawn=(
            "Slope of the logarithm of the mean regret on that of B by least squares, over the first and the second "
            "half of the budgets, with 95% intervals by the delta method over runs."
        ),
        settings=f"As in the figure before: the same runs, {_range(budgets)}.",
        runs=growth.runs,
        seconds=seconds_of(*growth.groups),
        notes=(_verdict(known), _forced(summaries, size), _window(summaries)),
        alt=f"Exponent of the regret against the regularity β, with three curves of theory. {finding}.",
    )


def _with_promises(known: xr.Dataset, last: np.ndarray) -> xr.Dataset:
    """With the exponents of the theorems along `beta`, and Theorem 3's growth over the last budgets."""
    betas = known["beta"].values
    with_logs = slope(last, np.asarray(jb.theory.rcb_air_regret_rate(last[:, None], betas[None, :])))
    values = {
        "promised": (jb.theory.regret_exponent(betas), "max(1/2, β/(1+β)), Theorems 1, 3"),
        "promised_with_logs": (with_logs, f"Theorem 3 with its (ln B)², {_range(last)}"),
        "least": (jb.theory.lower_bound_exponent(betas), "β/(1+β), Theorem 2: no less"),
    }
    return known.assign(
        {name: ("beta", np.asarray(value), {"long_name": text}) for name, (value, text) in values.items()}
    )


def _growths(known: xr.Dataset, size: Size) -> str:
    """How the regret grows over the last budgets, beside Theorem 3."""
    at = known.sel(beta=list(size.shown)).isel(range=-1)
    fitted = ", ".join(
        f"B^{float(value):.2f} ({'β = ' * (i == 0)}{beta:g})"
        for i, (beta, value) in enumerate(zip(size.shown, at["exponent_mean"].values, strict=True))
    )
    theory = ", ".join(f"{float(value):.2f}" for value in at["promised_with_logs"].values)
    return f"{at['range'].item()}: the regret grows like {fitted}; Theorem 3 with its logarithms: {theory}"


def _verdict(known: xr.Dataset) -> str:
    """Where the regret grows faster than the theorem says it will."""
    above = known["beta"].where(known["exponent_low"].isel(range=-1) > known["promised_with_logs"], drop=True).values
    if above.size == 0:
        return "Nowhere does the interval lie above Theorem 3's growth with logarithms."
    return (
        f"The interval lies above Theorem 3's growth with logarithms at β = {', '.join(f'{b:g}' for b in above)}: "
        "budgets are too small there for the rate to hold yet, which contradicts nothing."
    )


def _range(budgets: np.ndarray) -> str:
    return f"B from {numbers.value(float(budgets[0]))} to {numbers.value(float(budgets[-1]))}"


def _forced(known: xr.Dataset, size: Size) -> str:
    """Which share of the pulls goes into arms whose bounds are still infinite."""
    lam = float(jb.reservoir(beta=1.0).lam)
    rounds = known["pulls_mean"].isel(budget=-1).sel(beta=list(size.shown))
    texts = []
    for beta, t in zip(size.shown, rounds.values, strict=True):
        share = 100 * min(1.0, jb.theory.reservoir_arms(t, beta) * np.log(t) / (2 * lam) / t)
        texts.append(f"{f'{share:.0f}' if share >= 1 else 'less than 1'}% at β = {beta:g}")
    return (
        "Why so late: an arm's index is infinite, and the arm is pulled next, until ln t / (2 c²) pulls have shown "
        f"that its cost c is not 0, on average ln t / (2 λ) pulls with costs uniform on [λ, 1]. With λ = {lam:g} that "
        f"alone asks at the last budget for {', '.join(texts)} of all pulls."
    )


def _window(known: xr.Dataset) -> str:
    """For which budgets the exploration sequence is one that the theorems allow."""
    outside = (
        known["budget"].where((known["pulls_mean"] < jb.theory.EXPLORATION_WINDOW_START).all("beta"), drop=True).values
    )
    text = (
        "Theorems 1 and 3 ask for E_t ≥ 2 ln(4 (log2 t + 1)); E_t = ln t, the largest they allow and what is run here, "
        f"is less than that before round {numbers.count(jb.theory.EXPLORATION_WINDOW_START)}"
    )
    return text + (f", where no run gets with B ≤ {numbers.value(float(outside.max()))}." if outside.size else ".")
