"""UGapEb against uniform sampling on Experiment 1 of Audibert et al. (2010): why the theorem's parameter fails."""

import dataclasses
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

import jaxbandits as jb
from jaxbandits.experiments.bench import Bench, runs_of, seconds_of, stacked
from jaxbandits.report import numbers, plots
from jaxbandits.report.gallery import Exhibit
from jaxbandits.report.tables import frame

__all__ = ["SIZES", "SWEEPS", "Size", "show"]


@dataclasses.dataclass(frozen=True)
class Size:
    """How much to run."""

    budgets: tuple[int, ...]
    seeds: int
    watched: int  #: runs whose choice is followed step by step
    at: int = 2000  #: the budget they have, one of `budgets`


SIZES = {
    "quick": Size((500, 1000, 2000, 4000, 8000), seeds=2000, watched=200),
    "paper": Size((500, 1000, 2000, 4000, 8000, 16_000), seeds=20_000, watched=1000),
}
SWEEPS = 4


def show(bench: Bench, out: Path, size: Size) -> Exhibit:
    """Error against budget."""
    problem, budget = jb.abm(1), jb.axis(size.budgets)
    runs = {
        "UGapEb, a of Theorem 1": bench.sweep("UGapEb", jb.UGapEb(budget=budget), problem, size.seeds),
        "UGapEb, last J": bench.sweep("UGapEb, last J", jb.UGapEb(budget=budget, last=True), problem, size.seeds),
        "UGapEb, adaptive a": bench.sweep(
            "UGapEb, adaptive", jb.UGapEb(budget=budget, adaptive=True), problem, size.seeds
        ),
        "uniform": bench.sweep("uniform", jb.Uniform(budget=budget), problem, size.seeds),
    }
    known = stacked("algorithm", runs)
    means = np.asarray(problem.mean, np.float64)
    budgets = np.asarray(size.budgets, np.float64)
    known["bound"] = (
        "budget",
        np.asarray(jb.theory.ugape_b_error_bound(means, budgets, 0.0)),
        {"long_name": "Theorem 1's bound"},
    )
    known["a_of_theorem"] = ("budget", np.asarray(jb.theory.ugape_b_largest_a(means, budgets, 0.0)))
    finding = _finding(known, size.at)
    a = float(known["a_of_theorem"].sel(budget=size.at))
    chosen, pulls, mean = _watch(size)
    return bench.exhibit(
        out,
        "ugape-budget",
        plots.curve(known, x="budget", y="failure", hue="algorithm", bounds=("bound",), title=finding),
        frame(known, ["runs", "errors", "failure", "failure_low", "failure_high", "bound", "a_of_theorem"]),
        finding=finding,
        drawn=(
            "Probability of not returning the best arm, with Clopper-Pearson 95% intervals. Dashed: Theorem 1's bound "
            f"2 K n exp(−2a), which first says something (is below 1) at n ≈ {numbers.value(_informative(means))}."
        ),
        settings=(
            "Experiment 1 of Audibert et al. 2010: 20 Bernoulli arms, one with mean 0.5, the others with mean 0.4; "
            "ε = 0, m = 1. The a of Theorem 1, (n − K) / (4 H_ε), knows the gaps; the adaptive a estimates them before "
            "every pull."
        ),
        runs=runs_of(*runs.values()),
        seconds=seconds_of(*runs.values()),
        notes=(
            (
                f"This is the paper's algorithm as printed. At n = {size.at} the theorem's a is {a:.3f}: intervals are "
                "far too narrow, and the smallest index B_J, whose J is returned, is that of a lucky start. In "
                f"{size.watched} runs followed step by step the returned J was chosen at pull {numbers.count(chosen)} "
                f"(median), when its arm had {numbers.count(pulls)} pulls and a mean of {mean:.2f}."
            ),
            "'last J' returns the J of the last pull; the adaptive a is larger than the theorem's.",
        ),
        alt=f"Failure rate against budget for UGapEb, two variants and uniform sampling. {finding}.",
    )


def _finding(known: xr.Dataset, at: int) -> str:
    """All failure rates at one budget, from the lowest."""
    rates = known["failure"].sel(budget=at)
    ranked = sorted(rates["algorithm"].values.tolist(), key=lambda name: float(rates.sel(algorithm=name)))
    said = ", ".join(f"{numbers.probability(float(rates.sel(algorithm=name)))} ({name})" for name in ranked)
    return f"Failure rate with {numbers.count(at)} pulls: {said}"


def _watch(size: Size) -> tuple[float, float, float]:
    """Of the returned J: the pull at which it was chosen, its arm's pulls and mean then; medians over runs."""
    problem, algorithm = jb.abm(1), jb.UGapEb(budget=size.at)
    steps = size.at - problem.arms

    def one(seed: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
        states = jb.trajectory(algorithm, problem, jax.random.fold_in(jax.random.key(0), seed), steps)
        # After step s the smallest index includes that of the decision before it, so it is s - 1 that decided.
        when = jnp.maximum(jnp.argmin(states.best_index) - 1, 0)
        own = states.best[-1]
        then = jax.tree.map(lambda leaf: leaf[when], states.statistics)
        return problem.arms + when, jnp.sum(then.pulls * own), jnp.sum(then.mean * own)

    chosen, pulls, mean = jax.jit(jax.vmap(one))(jnp.arange(size.watched))
    return float(np.median(chosen)), float(np.median(pulls)), float(np.median(mean))


def _informative(means: np.ndarray) -> float:
    """The budget from which Theorem 1's bound is below 1, to two digits."""
    budgets = np.geomspace(100, 1e8, 1000)
    below = np.asarray(jb.theory.ugape_b_error_bound(means, budgets, 0.0)) < 1
    return float(f"{budgets[int(np.argmax(below))]:.2g}")
