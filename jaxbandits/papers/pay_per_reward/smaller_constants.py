"""Find where the practical constants of MAB-PPR stop being safe: failure rate as each is made smaller."""

import dataclasses
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

import jaxbandits as jb
from jaxbandits.papers.bench import Bench, stack_summaries
from jaxbandits.papers.pay_per_reward.cost_rivals import DELTA, EPSILON
from jaxbandits.report import plots, tables


class Size(NamedTuple):
    seeds: int
    steps: int  #: how often a constant is quartered


SIZES = {"quick": Size(seeds=400, steps=8), "paper": Size(seeds=10_000, steps=9)}

#: One best arm and 99 that are just too bad, with large and with small means: the hardest instances found.
_MEANS = {"0.50 and 99 of 0.39": [0.5] + [0.39] * 99, "0.15 and 99 of 0.04": [0.15] + [0.04] * 99}
_LABELS = {"cq": "C_q", "c1": "C_1", "c2": "C_2", "c3": "C_3", "factor": "9/2 of q2, q3", "theta": "1 - θ"}


def show(bench: Bench, size: Size) -> None:
    """Draw failures against what is left of one constant at a time."""
    runs = _run_constants(bench, size)
    stats = stack_summaries("constant", runs)
    stats["share"].attrs["long_name"] = "constant, as a share of its practical value"
    stats["means"].attrs["long_name"] = "means"
    finding = _describe_failures(stats)
    checked = jb.theory.ppr_conditions(jb.theory.PPR_PRACTICAL)
    bench.exhibit(
        "pay-per-reward-constants",
        plots.curve(stats, x="share", y="failure", hue="constant", panel="means", title=finding),
        tables.frame(stats, ["runs", "errors", "failure", "failure_low", "failure_high", "cost_mean"]),
        runs.values(),
        f"The practical set has no proof, it breaks {len(checked.broken)} of the proof's "
        f"{len(checked.conditions)} conditions; the valid ones cost some 10^8 W log(1/δ)/ε².",
        "With 1 - θ near 0 one round removes all arms but the last, and with C_q near 0 a round has one batch.",
        finding=finding,
        drawn="Share of runs whose answer is more than ε below the best, with Clopper-Pearson 95% intervals.",
        settings=f"100 arms, ε = δ = {EPSILON:g}; one constant at a time, the others as they are.",
        alt="Failure rate against the share of each constant that is left.",
    )


@jb.problems.varying
def _make_instance(means: str) -> jb.problems.Bernoulli:
    problem: jb.problems.Bernoulli = jb.with_costs(jb.bernoulli(_MEANS[means]), "reward")
    return problem


def _run_constants(bench: Bench, size: Size) -> dict[str, xr.Dataset]:
    """Run MAB-PPR by constant, over `share`, what is left of it, and `means`."""
    problem, runs = _make_instance(jb.axis(list(_MEANS))), {}
    left = 0.25 ** np.arange(size.steps + 1)  # quartered repeatedly
    for name, label in _LABELS.items():
        own = getattr(jb.theory.PPR_PRACTICAL, name)
        values = 1 - (1 - own) * left if name == "theta" else own * left
        changed: dict[str, Any] = {name: jb.axis([float(x) for x in values])}
        ds = bench.sweep(dataclasses.replace(jb.MABPPR(EPSILON, DELTA), **changed), problem, size.seeds)
        runs[label] = ds.rename({name: "share"}).assign_coords(share=left)
    return runs


def _describe_failures(stats: xr.Dataset) -> str:
    """Name the largest share of each constant at which runs fail more often than δ, if there is one."""
    first, left = stats.isel(share=0), stats["share"].values
    unsafe = (stats["failure_low"] > DELTA).any("means")
    labels = stats["constant"].values
    broken = {label: left[unsafe.sel(constant=label).values].max(initial=0.0) for label in labels}
    failing = [f"{label} at 1/{round(1 / share)}" for label, share in broken.items() if share]
    never = [label for label, share in broken.items() if not share]
    return (
        f"{int(first['errors'].sum())} failures in {int(first['runs'].sum())} runs as they are; failing more often "
        f"than δ: {', '.join(failing) or 'none'}; not shown even at "
        f"1/{round(1 / left[-1])}: {', '.join(never) or 'none'}"
    )
