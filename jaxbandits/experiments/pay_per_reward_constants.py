"""Where the practical constants of MAB-PPR stop being safe: failure rate as each is made smaller."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np

import jaxbandits as jb
from jaxbandits.experiments.bench import Bench, runs_of, seconds_of, stacked
from jaxbandits.experiments.pay_per_reward_common import DELTA, EPSILON
from jaxbandits.report import plots
from jaxbandits.report.gallery import Exhibit
from jaxbandits.report.tables import frame

__all__ = ["SWEEPS", "Size", "show"]


@dataclasses.dataclass(frozen=True)
class Size:
    """How much to run."""

    seeds: int
    steps: int  #: how often a constant is quartered


#: One best arm and 99 that are just too bad, with large and with small means: the hardest instances found.
_MEANS = {".50 and 99 of .39": [0.5] + [0.39] * 99, ".15 and 99 of .04": [0.15] + [0.04] * 99}
_LABELS = {"cq": "C_q", "c1": "C_1", "c2": "C_2", "c3": "C_3", "factor": "9/2 of q2, q3", "theta": "1 - θ"}
SWEEPS = len(_LABELS)


@jb.problems.varying
def _instance(means: str) -> jb.problems.Bernoulli:
    problem: jb.problems.Bernoulli = jb.with_costs(jb.bernoulli(_MEANS[means]), "reward")
    return problem


def show(bench: Bench, out: Path, size: Size) -> list[Exhibit]:
    """One constant at a time, quartered again and again."""
    shares = 0.25 ** np.arange(size.steps + 1)
    problem = _instance(jb.axis(list(_MEANS)))
    runs = {}
    for name, label in _LABELS.items():
        own = getattr(jb.theory.PPR_PRACTICAL, name)
        values = 1 - (1 - own) * shares if name == "theta" else own * shares
        changed: dict[str, Any] = {name: jb.axis([float(x) for x in values])}
        algorithm = dataclasses.replace(jb.MABPPR(EPSILON, DELTA), **changed)
        ds = bench.sweep(f"{label} smaller", algorithm, problem, size.seeds)
        runs[label] = ds.rename({name: "share"}).assign_coords(share=shares)
    known = stacked("constant", runs)
    known["share"].attrs["long_name"] = "constant, as a share of its practical value"
    known["means"].attrs["long_name"] = "means"
    first = known.isel(share=0)
    unsafe = (known["failure_low"] > DELTA).any("means")
    broken = {label: shares[unsafe.sel(constant=label).values].max(initial=0.0) for label in runs}
    failing = [f"{label} at 1/{round(1 / share)}" for label, share in broken.items() if share]
    never = [label for label, share in broken.items() if not share]
    finding = (
        f"{int(first['errors'].sum())} failures in {int(first['runs'].sum())} runs as they are; failing more often "
        f"than δ: {', '.join(failing) or 'none'}; not even at 1/{round(1 / shares[-1])}: {', '.join(never) or 'none'}"
    )
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
