"""Tune parameters over distributions of instances, and show what that gains on instances not seen."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

import jaxbandits as jb
from jaxbandits.papers.bench import Bench
from jaxbandits.report import formatting, plots


class Size(NamedTuple):
    steps: int
    seeds: int  #: of each of 16 instances, at each value of a step
    held_out: int  #: instances
    held_out_seeds: int


SIZES = {
    "quick": Size(steps=30, seeds=10, held_out=150, held_out_seeds=50),
    "paper": Size(steps=200, seeds=100, held_out=1000, held_out_seeds=400),
}


class _Case(NamedTuple):
    """An algorithm to tune, its instances and its objective."""

    label: str
    algorithm: object
    draw: Callable[[np.random.Generator], jb.Problem]
    objective: str
    wrt: tuple[str, ...]
    about: str
    error_at_most: float | None = None
    against: Mapping[str, object] = {}


def _draw_one_good(random: np.random.Generator) -> jb.Problem:
    """Draw one good arm of ten, 0.15 to 0.25 better than the others."""
    good = np.concatenate([[0.5 + random.uniform(0.15, 0.25)], np.full(9, 0.5)])
    return jb.bernoulli(random.permutation(good))


def _draw_any(random: np.random.Generator) -> jb.Problem:
    """Draw ten means between 0.2 and 0.8."""
    return jb.bernoulli(random.uniform(0.2, 0.8, 10))


def _draw_hundred(random: np.random.Generator) -> jb.Problem:
    return jb.bernoulli(random.uniform(0, 1, 100))


def _draw_weights(random: np.random.Generator) -> jb.Problem:
    """Draw a hundred weights, where a pull costs its reward.

    They are powers of uniform numbers, one good arm, or a power law.
    """
    ranks = np.arange(1, 101)
    means = (
        random.uniform(0, 1, 100) ** random.uniform(1, 6),
        np.concatenate([[random.uniform(0.4, 0.9)], np.full(99, random.uniform(0.02, 0.3))]),
        random.uniform(0.3, 0.9) * ranks ** -random.uniform(0.3, 1.5),
    )[random.integers(3)]
    return jb.with_costs(jb.bernoulli(random.permutation(means)), "reward")


_ADAPTIVE = {"adaptive": jb.UGapEb(budget=500, adaptive=True)}
_CASES = (
    _Case(
        "UGapEb, one good arm", jb.UGapEb(budget=500, a=0.5), _draw_one_good, "error", ("a",),
        "Ten Bernoulli arms, one of them 0.15 to 0.25 better than the others; budget 500", against=_ADAPTIVE,
    ),
    _Case(
        "UGapEb, any means", jb.UGapEb(budget=500, a=0.5), _draw_any, "error", ("a",),
        "Ten Bernoulli arms with means uniform on [0.2, 0.8]; budget 500", against=_ADAPTIVE,
    ),
    _Case(
        "OptMAI", jb.OptMAI(k=10, budget=2000, beta=0.75), _draw_hundred, "aggregate_regret", ("beta",),
        "A hundred Bernoulli arms with means uniform on [0, 1], k = 10, budget 2000",
    ),
    _Case(
        "MAB-PPR", jb.MABPPR(0.2, 0.1).prepared(), _draw_weights, "cost",
        ("cq", "c1", "c2", "c3", "factor", "n_final", "rho", "theta"),
        "A hundred Bernoulli arms that cost their rewards, with weights of three kinds; ε = 0.2, at most 10% errors",
        error_at_most=0.1,
    ),
    _Case(
        "Bernstein race", jb.BernsteinRace(epsilon=0.1, delta=0.1), _draw_any, "pulls", ("growth",),
        "Ten Bernoulli arms with means uniform on [0.2, 0.8], ε = 0.1, at most 10% errors", error_at_most=0.1,
    ),
)  # fmt: skip


def show(bench: Bench, size: Size) -> None:
    """Draw parameters and objective along the steps, a picture for each algorithm."""
    for case in _CASES:
        _draw(bench, case, size)


def _draw(bench: Bench, case: _Case, size: Size) -> None:
    found = bench.call(
        jb.tune, case.algorithm, case.draw, case.objective, wrt=case.wrt, error_at_most=case.error_at_most,
        steps=size.steps, seeds=size.seeds, held_out=size.held_out, held_out_seeds=size.held_out_seeds,
        against=case.against,
    )  # fmt: skip
    finding = _describe_gain(case, found)
    values = ", ".join(f"{name} = {value:.3g}" for name, value in found.values.items())
    start = ", ".join(f"{name} = {float(found.history['value'][0].sel(parameter=name)):.3g}" for name in found.values)
    steps = size.steps * 16 * size.seeds * 2 * len(case.wrt)
    bench.exhibit(
        f"differentiable-{case.label.lower().replace(' ', '-').replace(',', '')}",
        plots.tuning(found.history, title=finding),
        found.held_out.to_dataframe().reset_index(),
        steps + size.held_out * size.held_out_seeds * (2 + len(case.against)),
        f"Judged by {size.held_out_seeds} runs of each of {size.held_out} instances; differences are paired.",
        finding=finding,
        drawn="Left: the parameters; right: what was made small, with 95% intervals of each step's own runs"
        + ("" if case.error_at_most is None else ", and errors as a share of what is allowed")
        + ". The table: both on instances that no step has seen, with 95% intervals.",
        settings=f"{case.about}. From {start} to {values}; {size.steps} steps of 16 instances, {size.seeds} runs each.",
        alt="Parameters and objective along the steps of a search.",
    )


def _describe_gain(case: _Case, found: Any) -> str:
    """Name objective and, under a constraint, error on the held-out instances, tuned beside the others."""
    held_out = found.held_out

    def write(name: str, what: str = "objective") -> str:
        return formatting.value(float(held_out[what].sel(algorithm=name)))

    others = [str(name) for name in held_out["algorithm"].values if name != "tuned"]
    against = ", ".join(f"{write(name)} ({name})" for name in others)
    errors = "" if case.error_at_most is None else f", with errors in {write('tuned', 'error')} of the runs"
    low, high = np.sign(held_out["difference_low"]), np.sign(held_out["difference_high"])
    unsure = [name for name in others if low.sel(algorithm=name) != high.sel(algorithm=name)]
    doubt = f"; the difference to {' and '.join(unsure)} may be chance" if unsure else ""
    return f"{case.label}: {case.objective.replace('_', ' ')} {write('tuned')} tuned, against {against}{errors}{doubt}"
