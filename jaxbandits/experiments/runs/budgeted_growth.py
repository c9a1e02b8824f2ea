"""RCB-AIR over the budget and the regularity of the reservoir: one run serves all budgets."""

import dataclasses

import jax
import xarray as xr

import jaxbandits as jb
from jaxbandits.experiments.runs.budgeted_common import lanes
from jaxbandits.experiments.runs.common import Sweep

__all__ = ["SIZES", "Size", "growing", "sweeps"]


@dataclasses.dataclass(frozen=True)
class Size:
    """How much to run."""

    groups: tuple[tuple[tuple[float, ...], int], ...]  #: regularities, and runs of each
    budgets: tuple[float, ...]
    further: tuple[float, ...]  #: budgets beyond these, where there is an accelerator
    shown: tuple[float, ...]  #: regularities with a line of their own against the budget


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


def sweeps(size: Size) -> int:
    """How many sweeps `growing` makes."""
    return len(size.groups)


def growing(size: Size, sweep: Sweep = jb.sweep) -> list[xr.Dataset]:
    """Runs over `beta` and `budget`, a Dataset for each group of regularities."""
    budgets = size.budgets if jax.default_backend() == "cpu" else size.budgets + size.further
    groups = []
    for betas, seeds in size.groups:
        problem = jb.reservoir(beta=jb.axis(betas))
        ds = sweep(jb.RCBAIR(budgets[-1]), problem, seeds, checkpoints=budgets, lanes=lanes(seeds))
        groups.append(ds.rename(checkpoint="budget"))
    return groups
