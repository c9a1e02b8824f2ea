"""Follow RCB-AIR's regret over the budget, and its exponent as good arms become rarer."""

from typing import NamedTuple

import jax
import numpy as np
import xarray as xr

import jaxbandits as jb
from jaxbandits.papers.bench import Bench, count_runs
from jaxbandits.papers.budgeted import regret_exponents as exponents
from jaxbandits.papers.title_claims import ends_of, times
from jaxbandits.report import formatting, plots, summaries, tables


class Size(NamedTuple):
    groups: tuple[tuple[tuple[float, ...], int], ...]  #: regularities, and runs of each
    budgets: tuple[float, ...]
    further: tuple[float, ...]  #: budgets beyond these, where there is an accelerator
    shown: tuple[float, ...]  #: regularities that have a separate line against the budget


SIZES = {
    "quick": Size(
        groups=(((0.5, 1, 2), 64),), budgets=(100, 178, 316, 562, 1000, 1778, 3162, 5623, 10_000), further=(),
        shown=(0.5, 1, 2),
    ),
    "paper": Size(
        groups=(((0.25, 0.35, 0.5, 0.7, 0.85, 1), 64), ((1.2, 1.5, 2), 32), ((4,), 8)),
        budgets=(100, 178, 316, 562, 1000, 1778, 3162, 5623, 10_000, 17_783, 31_623, 56_234, 100_000),
        further=(177_828, 316_228, 562_341, 1_000_000), shown=(0.25, 0.5, 1, 2, 4),
    ),
}  # fmt: skip

_BOUNDS = ("promised", "promised_with_logs", "least")


def run_budgets(bench: Bench, size: Size) -> list[xr.Dataset]:
    """Run RCB-AIR over `beta` and `budget`, a Dataset for each group of regularities; one run covers all budgets."""
    budgets = size.budgets if jax.default_backend() == "cpu" else size.budgets + size.further
    groups = []
    for betas, seeds in size.groups:
        problem = jb.reservoir(beta=jb.axis(betas))
        ds = bench.sweep(
            jb.RCBAIR(budgets[-1]), problem, seeds, checkpoints=budgets, lanes=exponents.choose_lanes(seeds)
        )
        groups.append(ds.rename(checkpoint="budget"))
    return groups


def summarise_groups(groups: list[xr.Dataset]) -> xr.Dataset:
    """Return summaries along `beta` and `budget`."""
    parts = [summaries.summary(ds).drop_attrs() for ds in groups]
    return exponents.label_axes(xr.concat(parts, "beta", join="exact").sortby("beta"))


def show(bench: Bench, size: Size) -> None:
    """Draw regret against B, and its exponent against beta."""
    groups = bench.run_once(run_budgets, size)
    each = [ds.isel(budget=0) for ds in groups]  # every run has every budget as a checkpoint
    _draw_regret(bench, groups, each, size)
    _draw_exponents(bench, groups, each, size)


def _draw_regret(bench: Bench, groups: list[xr.Dataset], each: list[xr.Dataset], size: Size) -> None:
    stats = summarise_groups(groups)
    budgets, betas = stats["budget"].values.astype(float), stats["beta"].values
    rate = np.asarray(jb.theory.rcb_air_regret_rate(budgets[None, :], betas[:, None]))
    scaled = rate / rate[:, -1:] * stats["regret_mean"].isel(budget=[-1]).values
    stats["rate"] = (("beta", "budget"), scaled, {"long_name": "Theorem 3's rate, through the last point"})
    lost = stats["regret_mean"].isel(budget=-1) / budgets[-1]
    finding = f"At B = {formatting.value(budgets[-1])} RCB-AIR misses " + ", ".join(
        f"{100 * float(lost.sel(beta=beta)):.0f}%{' of ρ* B' * (i == 0)} at β = {beta:g}"
        for i, beta in enumerate(size.shown)
    )
    stopped = sum(int((ds["status"] == 1).any("budget").sum()) for ds in groups)
    shown = stats.sel(beta=list(size.shown))
    bench.exhibit(
        "budgeted-regret",
        plots.curve(shown, x="budget", y="regret", hue="beta", bounds=("rate",), title=finding),
        tables.frame(stats, [*exponents.COLUMNS, "rate"]),
        each,
        "One run covers all budgets, since the algorithm does not know it; the points of a line share their runs.",
        "Equation (27) prints Theorem 3's two cases the other way round: for β > 1 that would be (ln B)² "
        "B^(1/2), less than the lower bound B^(β/(1+β)) of Theorem 2. Drawn is the order of Theorem 1.",
        f"{stopped} of {formatting.count(count_runs(*each))} runs needed more arms than are simulated.",
        finding=finding,
        drawn="Mean regret, ρ* B minus the reward collected, with 95% intervals. Dashed: (ln B)² B^max(1/2, β/(1+β)), "
        "Theorem 3, whose constant is open: scaled to the last point.",
        settings=f"Ratios 1 − U^(1/β), expected costs uniform on [0.2, 1]; {exponents.SEQUENCE}.",
        alt="Regret against the budget, a line per regularity β.",
    )


def _draw_exponents(bench: Bench, groups: list[xr.Dataset], each: list[xr.Dataset], size: Size) -> None:
    summaries = summarise_groups(groups)
    budgets = summaries["budget"].values
    middle = len(budgets) // 2
    stats = _fit_halves(groups, budgets[: middle + 1], budgets[middle:])
    finding = _describe_growth(stats, size)
    bench.exhibit(
        "budgeted-exponents",
        plots.curve(stats, x="beta", y="exponent", hue="range", bounds=_BOUNDS, title=finding),
        tables.frame(stats, ["runs", "exponent_mean", "exponent_low", "exponent_high", *_BOUNDS]),
        each,
        _compare_theorem(stats),
        _describe_forced(summaries, size),
        _describe_window(summaries),
        finding=finding,
        drawn="Slope of the logarithm of the mean regret on that of B by least squares, over the first and the second "
        "half of the budgets, with 95% intervals by the delta method over runs.",
        settings=f"As in the figure before: the same runs, {_format_range(budgets)}.",
        alt="Exponent of the regret against the regularity β, with three curves of theory.",
    )


def _fit_halves(groups: list[xr.Dataset], first: np.ndarray, last: np.ndarray) -> xr.Dataset:
    """Return exponents along `range` and `beta`, with those of the theorems."""
    parts = [
        xr.concat([exponents.fit_exponent(ds.sel(budget=budgets)) for ds in groups], "beta", join="exact").sortby(
            "beta"
        )
        for budgets in (first, last)
    ]
    ranges = [_format_range(first), _format_range(last)]
    stats = exponents.label_axes(xr.concat(parts, "range", join="exact").assign_coords(range=ranges))
    stats["range"].attrs["long_name"] = "RCB-AIR, fitted to"
    stats["exponent_mean"].attrs["label"] = "exponent of B in the regret"
    betas, late = stats["beta"].values, last.astype(float)
    with_logs = exponents.fit_slope(late, np.asarray(jb.theory.rcb_air_regret_rate(late[:, None], betas[None, :])))
    values = {
        "promised": (jb.theory.regret_exponent(betas), "max(1/2, β/(1+β)), Theorems 1, 3"),
        "promised_with_logs": (with_logs, f"Theorem 3 with its (ln B)², {_format_range(late)}"),
        "least": (jb.theory.lower_bound_exponent(betas), "β/(1+β), Theorem 2: no less"),
    }
    return stats.assign(
        {name: ("beta", np.asarray(value), {"long_name": text}) for name, (value, text) in values.items()}
    )


def _describe_growth(stats: xr.Dataset, size: Size) -> str:
    """Say how the regret grows over the last budgets, beside Theorem 3."""
    at = stats.sel(beta=list(size.shown)).isel(range=-1)
    fitted = ", ".join(
        f"{times(ends_of(at.sel(beta=beta), 'exponent'))} ({'β = ' * (i == 0)}{beta:g})"
        for i, beta in enumerate(size.shown)
    )
    theory = ", ".join(f"{float(value):.2f}" for value in at["promised_with_logs"].values)
    return (
        f"{at['range'].item()}: the regret grows like B to the power {fitted}; Theorem 3 with its logarithms: {theory}"
    )


def _compare_theorem(stats: xr.Dataset) -> str:
    """Say where the regret grows faster than the theorem says it will."""
    above = stats["beta"].where(stats["exponent_low"].isel(range=-1) > stats["promised_with_logs"], drop=True).values
    if above.size == 0:
        return "Nowhere does the interval lie above Theorem 3's growth with logarithms."
    return (
        f"The interval lies above Theorem 3's growth with logarithms at β = {', '.join(f'{b:g}' for b in above)}: "
        "budgets are too small there for the rate to hold yet, which contradicts nothing."
    )


def _format_range(budgets: np.ndarray) -> str:
    return f"B from {formatting.value(float(budgets[0]))} to {formatting.value(float(budgets[-1]))}"


def _describe_forced(stats: xr.Dataset, size: Size) -> str:
    """Say which share of the pulls goes into arms whose bounds are still infinite."""
    lam = float(jb.reservoir(beta=1.0).lam)
    rounds = stats["pulls_mean"].isel(budget=-1).sel(beta=list(size.shown))
    texts = []
    for beta, t in zip(size.shown, rounds.values, strict=True):
        share = 100 * min(1.0, jb.theory.reservoir_arms(t, beta) * np.log(t) / (2 * lam) / t)
        texts.append(f"{f'{share:.0f}' if share >= 1 else 'less than 1'}% at β = {beta:g}")
    return (
        "Why so late: an arm's index is infinite, and the arm is pulled next, until ln t / (2 c²) pulls have shown "
        f"that its cost c is not 0, on average ln t / (2 λ) pulls with costs uniform on [λ, 1]. With λ = {lam:g} that "
        f"alone takes at the last budget {', '.join(texts)} of all pulls."
    )


def _describe_window(stats: xr.Dataset) -> str:
    """Say for which budgets the exploration sequence is one that the theorems allow."""
    early = (stats["pulls_mean"] < jb.theory.EXPLORATION_WINDOW_START).all("beta")
    outside = stats["budget"].where(early, drop=True).values
    text = (
        "Theorems 1 and 3 require E_t ≥ 2 ln(4 (log2 t + 1)); E_t = ln t, the largest they allow and what is run here, "
        f"is less than that before round {formatting.count(jb.theory.EXPLORATION_WINDOW_START)}"
    )
    return text + (f", where no run gets with B ≤ {formatting.value(float(outside.max()))}." if outside.size else ".")
