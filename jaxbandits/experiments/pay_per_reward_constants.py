"""Where the practical constants of MAB-PPR stop being safe: failure rate as each is made smaller."""

from pathlib import Path

import xarray as xr

import jaxbandits as jb
from jaxbandits.experiments.bench import Bench, runs_of, seconds_of, stacked
from jaxbandits.experiments.runs.pay_per_reward_common import DELTA, EPSILON
from jaxbandits.experiments.runs.pay_per_reward_constants import SIZES, SWEEPS, Size, smaller_constants
from jaxbandits.report import plots
from jaxbandits.report.gallery import Exhibit
from jaxbandits.report.tables import frame

__all__ = ["SIZES", "SWEEPS", "Size", "show"]


def show(bench: Bench, out: Path, size: Size) -> list[Exhibit]:
    """One constant at a time, quartered again and again."""
    runs = smaller_constants(size, bench.sweep)
    known = stacked("constant", runs)
    known["share"].attrs["long_name"] = "constant, as a share of its practical value"
    known["means"].attrs["long_name"] = "means"
    finding = _finding(known)
    checked = jb.theory.ppr_conditions(jb.theory.PPR_PRACTICAL)
    return [
        bench.exhibit(
            out,
            "pay-per-reward-constants",
            plots.curve(known, x="share", y="failure", hue="constant", panel="means", title=finding),
            frame(known, ["runs", "errors", "failure", "failure_low", "failure_high", "cost_mean"]),
            finding=finding,
            drawn="Share of runs whose answer is more than ε below the best, with Clopper-Pearson 95% intervals.",
            settings=f"100 arms, ε = δ = {EPSILON:g}; one constant at a time, the others as they are.",
            runs=runs_of(*runs.values()),
            seconds=seconds_of(*runs.values()),
            notes=(
                (
                    f"The practical set has no proof, it breaks {len(checked.broken)} of the proof's "
                    f"{len(checked.conditions)} conditions; the valid ones cost some 10^8 W log(1/δ)/ε²."
                ),
                "With 1 - θ near 0 one round removes all arms but the last, and with C_q near 0 a round has one batch.",
            ),
            alt=f"Failure rate against the share of each constant that is left. {finding}.",
        )
    ]


def _finding(known: xr.Dataset) -> str:
    """The largest share of each constant at which runs fail more often than δ, if there is one."""
    first, left = known.isel(share=0), known["share"].values
    unsafe = (known["failure_low"] > DELTA).any("means")
    labels = known["constant"].values
    broken = {label: left[unsafe.sel(constant=label).values].max(initial=0.0) for label in labels}
    failing = [f"{label} at 1/{round(1 / share)}" for label, share in broken.items() if share]
    never = [label for label, share in broken.items() if not share]
    return (
        f"{int(first['errors'].sum())} failures in {int(first['runs'].sum())} runs as they are; failing more often "
        f"than δ: {', '.join(failing) or 'none'}; not even at 1/{round(1 / left[-1])}: {', '.join(never) or 'none'}"
    )
