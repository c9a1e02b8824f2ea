"""Algorithms whose parameters are tuned over a distribution of instances, each beside what it started from."""

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import jaxbandits as jb
from jaxbandits.experiments.runs.common import Call, called

__all__ = ["CASES", "SIZES", "Case", "Size", "tuned"]


@dataclasses.dataclass(frozen=True)
class Size:
    """How much to run."""

    steps: int
    seeds: int  #: of each of 16 instances, at each value of a step
    held_out: int  #: instances
    held_out_seeds: int


SIZES = {
    "quick": Size(steps=30, seeds=10, held_out=150, held_out_seeds=50),
    "paper": Size(steps=200, seeds=100, held_out=1000, held_out_seeds=400),
}


class Case(NamedTuple):
    """What is tuned, for what."""

    label: str
    algorithm: Any
    draw: Callable[[np.random.Generator], jb.Problem]
    objective: str
    wrt: tuple[str, ...]
    about: str
    error_at_most: float | None = None
    against: dict[str, Any] = {}  # noqa: RUF012 - never written to


def _one_good(random: np.random.Generator) -> jb.Problem:
    """One good arm of ten, .15 to .25 better than the others."""
    good = np.concatenate([[0.5 + random.uniform(0.15, 0.25)], np.full(9, 0.5)])
    return jb.bernoulli(random.permutation(good))


def _any(random: np.random.Generator) -> jb.Problem:
    """Ten means between .2 and .8."""
    return jb.bernoulli(random.uniform(0.2, 0.8, 10))


def _hundred(random: np.random.Generator) -> jb.Problem:
    return jb.bernoulli(random.uniform(0, 1, 100))


def _weights(random: np.random.Generator) -> jb.Problem:
    """A hundred weights: powers of uniform numbers, one good arm, or a power law; a pull costs its reward."""
    numbers = np.arange(1, 101)
    means = (
        random.uniform(0, 1, 100) ** random.uniform(1, 6),
        np.concatenate([[random.uniform(0.4, 0.9)], np.full(99, random.uniform(0.02, 0.3))]),
        random.uniform(0.3, 0.9) * numbers ** -random.uniform(0.3, 1.5),
    )[random.integers(3)]
    return jb.with_costs(jb.bernoulli(random.permutation(means)), "reward")


_ADAPTIVE = {"adaptive": jb.UGapEb(budget=500, adaptive=True)}
CASES = (
    Case(
        "UGapEb, one good arm", jb.UGapEb(budget=500, a=0.5), _one_good, "error", ("a",),
        "Ten Bernoulli arms, one of them .15 to .25 better than the others; budget 500", against=_ADAPTIVE,
    ),
    Case(
        "UGapEb, any means", jb.UGapEb(budget=500, a=0.5), _any, "error", ("a",),
        "Ten Bernoulli arms with means uniform on [0.2, 0.8]; budget 500", against=_ADAPTIVE,
    ),
    Case(
        "OptMAI", jb.OptMAI(k=10, budget=2000, beta=0.75), _hundred, "aggregate_regret", ("beta",),
        "A hundred Bernoulli arms with means uniform on [0, 1], k = 10, budget 2000",
    ),
    Case(
        "MAB-PPR", jb.MABPPR(0.2, 0.1).prepared(), _weights, "cost",
        ("cq", "c1", "c2", "c3", "factor", "n_final", "rho", "theta"),
        "A hundred Bernoulli arms that cost their rewards, with weights of three kinds; ε = 0.2, at most 10% errors",
        error_at_most=0.1,
    ),
    Case(
        "Bernstein race", jb.BernsteinRace(epsilon=0.1, delta=0.1), _any, "pulls", ("growth",),
        "Ten Bernoulli arms with means uniform on [0.2, 0.8], ε = 0.1, at most 10% errors", error_at_most=0.1,
    ),
)  # fmt: skip


def tuned(case: Case, size: Size, call: Call = called) -> Any:
    """What `jb.tune` finds."""
    return call(
        jb.tune, case.algorithm, case.draw, case.objective, wrt=case.wrt, error_at_most=case.error_at_most,
        steps=size.steps, seeds=size.seeds, held_out=size.held_out, held_out_seeds=size.held_out_seeds,
        against=case.against,
    )  # fmt: skip
