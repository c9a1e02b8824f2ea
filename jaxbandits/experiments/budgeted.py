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
    scale: Size(
        budgeted_growth.SIZES[scale],
        budgeted_arms.SIZES[scale],
        budgeted_algorithms.SIZES[scale],
        budgeted_identification.SIZES[scale],
    )
    for scale in ("quick", "paper")
}


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
