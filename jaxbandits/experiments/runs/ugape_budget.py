"""UGapEb, two variants and uniform sampling on Experiment 1 of Audibert et al. (2010), over budgets."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

import jaxbandits as jb
from jaxbandits.experiments.runs.common import Sweep

__all__ = ["SIZES", "Size", "choices", "over_budgets"]


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


def over_budgets(size: Size, sweep: Sweep = jb.sweep) -> dict[str, xr.Dataset]:
    """Runs of each algorithm, over `budget`."""
    budget = jb.axis(size.budgets)
    algorithms = {
        "UGapEb, a of Theorem 1": jb.UGapEb(budget=budget),
        "UGapEb, last J": jb.UGapEb(budget=budget, last=True),
        "UGapEb, adaptive a": jb.UGapEb(budget=budget, adaptive=True),
        "uniform": jb.Uniform(budget=budget),
    }
    return {label: sweep(algorithm, jb.abm(1), size.seeds) for label, algorithm in algorithms.items()}


def choices(size: Size) -> xr.Dataset:
    """How UGapEb comes to the J that it returns, in runs followed step by step at one budget.

    The pull at which J was chosen, and its arm's pulls and mean then.
    """
    problem, algorithm = jb.abm(1), jb.UGapEb(budget=size.at)
    steps = size.at - problem.arms

    def one(seed: jax.Array) -> dict[str, jax.Array]:
        states = jb.trajectory(algorithm, problem, jax.random.fold_in(jax.random.key(0), seed), steps)
        # After step s the smallest index includes that of the decision before it, so it is s - 1 that decided.
        when = jnp.maximum(jnp.argmin(states.best_index) - 1, 0)
        own = states.best[-1]
        then = jax.tree.map(lambda leaf: leaf[when], states.statistics)
        return {
            "chosen": problem.arms + when,
            "arm_pulls": jnp.sum(then.pulls * own),
            "arm_mean": jnp.sum(then.mean * own),
        }

    found = jax.jit(jax.vmap(one))(jnp.arange(size.watched))
    return xr.Dataset({name: ("seed", np.asarray(values)) for name, values in found.items()})
