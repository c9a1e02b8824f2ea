"""Instances of one complexity on which algorithms with a budget err more often, found by climbing."""

import dataclasses
from typing import Any

import jaxbandits as jb
from jaxbandits.experiments.runs.common import Call, called

__all__ = ["ALGORITHMS", "BUDGET", "MEANS", "SIZES", "Size", "hard"]


@dataclasses.dataclass(frozen=True)
class Size:
    """How much to run."""

    steps: int
    seeds: int  #: of a step
    judged: int  #: runs of the judgement


SIZES = {"quick": Size(steps=30, seeds=1000, judged=5000), "paper": Size(steps=300, seeds=40_000, judged=400_000)}

#: Where all of them start: eight evenly spaced means.
MEANS = (0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6, 0.55)
BUDGET = 800
ALGORITHMS = {
    "uniform": jb.Uniform(budget=BUDGET),
    "Successive Rejects": jb.SuccessiveRejects(budget=BUDGET),
    "Sequential Halving": jb.SequentialHalving(budget=BUDGET),
    "UGapEb": jb.UGapEb(budget=BUDGET, adaptive=True),
}


def hard(name: str, size: Size, call: Call = called) -> Any:
    """What `jb.adversary` finds for one of them."""
    return call(
        jb.adversary, ALGORITHMS[name], jb.bernoulli(list(MEANS)), steps=size.steps, seeds=size.seeds,
        judged_seeds=size.judged,
    )  # fmt: skip
