"""Infinitely many arms under a budget of cost: RCB-I, RCB-AIR and their baselines.

Li and Xia (2017), "Infinitely many-armed bandits with budget constraints", AAAI. The paper's text has no experiments:
these are ours.
"""

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path

from jaxbandits.experiments import (
    budgeted_algorithms,
    budgeted_arms,
    budgeted_growth,
    budgeted_identification,
)
from jaxbandits.experiments.bench import Bench, Stage
from jaxbandits.report.gallery import Exhibit

__all__ = ["SIZES", "Size", "run"]


@dataclasses.dataclass(frozen=True)
class Size:
    """How much to run."""

    growth: budgeted_growth.Size
    arms: budgeted_arms.Size
    algorithms: budgeted_algorithms.Size
    identification: budgeted_identification.Size


SIZES = {
    # A program serves the numbers of arms of one power of two: few of these, by the choice of budgets.
    "quick": Size(
        growth=budgeted_growth.Size(
            groups=(((0.5, 1, 2), 64),), budgets=(100, 178, 316, 562, 1000, 1778, 3162, 5623, 10_000), further=(),
            shown=(0.5, 1, 2),
        ),
        arms=budgeted_arms.Size(
            runs=((4096, 64),), betas=(2 / 3, 1, 2), multipliers=(1 / 64, 1 / 16, 1 / 4, 1, 4, 16), arms=(4, 256)
        ),
        algorithms=budgeted_algorithms.Size(
            seeds=64, budgets=(316, 562, 1000), betas=(1,), thompson_most=1000, every=False,
            lams=(0.05, 0.1, 0.2, 0.4, 0.8), lam_budgets=(316, 562, 1000),
        ),
        identification=budgeted_identification.Size(
            runs=((1, (4400, 7000, 11_000)),), seeds=1000, slow_seeds=128, slow_most=11_000, every=False
        ),
    ),
    "paper": Size(
        growth=budgeted_growth.Size(
            groups=(((0.25, 0.35, 0.5, 0.7, 0.85, 1), 64), ((1.2, 1.5, 2), 32), ((4,), 8)),
            budgets=(100, 178, 316, 562, 1000, 1778, 3162, 5623, 10_000, 17_783, 31_623, 56_234, 100_000),
            further=(177_828, 316_228, 562_341, 1_000_000), shown=(0.25, 0.5, 1, 2, 4),
        ),
        arms=budgeted_arms.Size(
            runs=((2**12, 64), (2**18, 16)), betas=(2 / 3, 1, 2),
            multipliers=(1 / 128, 1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8, 16), arms=(2, 4096),
        ),
        algorithms=budgeted_algorithms.Size(
            seeds=32, budgets=(100, 316, 1000, 3162, 10_000, 31_623, 100_000), betas=(0.5, 1, 2), thompson_most=1000,
            every=True, lams=(0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 0.9), lam_budgets=(100, 1000, 10_000),
        ),
        identification=budgeted_identification.Size(
            # SiRI takes some 5 K steps with sums for all K arms: few arms where they are many.
            runs=((1, (300, 1000, 3000, 10_000, 30_000, 100_000)), (3, (300, 1000, 3000, 10_000))), seeds=400,
            slow_seeds=100, slow_most=10_000, every=True,
        ),
    ),
}  # fmt: skip


def run(
    out: Path,
    scale: str = "quick",
    on_progress: Callable[[Stage], None] | None = None,
    size: Size | None = None,
    tables: Sequence[str] = (),
) -> list[Exhibit]:
    """Regret against B and its exponents, numbers of arms, rivals, the smallest cost, spot prices, identification.

    Args:
        out: folder for the pictures and the numbers.
        scale: `quick` or `paper`, a key of `SIZES`.
        on_progress: called now and then.
        size: in place of the scale's.
        tables: CSV files of expected rewards and costs, a row per arm.

    Raises:
        UsageError: a table that cannot be read.
    """
    size, offers = size or SIZES[scale], budgeted_algorithms.read(tables)
    sweeps = (
        budgeted_growth.sweeps(size.growth)
        + budgeted_arms.sweeps(size.arms)
        + budgeted_algorithms.sweeps(size.algorithms, len(offers))
        + budgeted_identification.sweeps(size.identification)
    )
    bench = Bench("budgeted", sweeps, on_progress)
    growth = budgeted_growth.run(bench, size.growth)
    return [
        *budgeted_growth.show(bench, growth, out, size.growth),
        budgeted_arms.show(bench, out, size.arms),
        *budgeted_algorithms.show(bench, out, size.algorithms, growth.summary(), offers),
        budgeted_identification.show(bench, out, size.identification),
    ]
