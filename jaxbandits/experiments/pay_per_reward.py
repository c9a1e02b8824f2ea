"""Best arm where a pull costs its reward: what MAB-PPR and its rivals pay, and where its constants stop being safe.

Sabato (2019), "Epsilon-best-arm identification in pay-per-reward multi-armed bandits", NeurIPS. The paper has no
experiments: these are ours.
"""

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path

from jaxbandits.experiments import pay_per_reward_arms, pay_per_reward_constants, pay_per_reward_scale
from jaxbandits.experiments.bench import Bench, Stage
from jaxbandits.report.gallery import Exhibit

__all__ = ["SIZES", "Size", "run"]


@dataclasses.dataclass(frozen=True)
class Size:
    """How much to run."""

    arms: pay_per_reward_arms.Size
    scale: pay_per_reward_scale.Size
    constants: pay_per_reward_constants.Size


SIZES = {
    scale: Size(
        pay_per_reward_arms.SIZES[scale], pay_per_reward_scale.SIZES[scale], pay_per_reward_constants.SIZES[scale]
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
    """Cost against the number of arms, the accuracy, V and W, unbounded arms, and how safe the constants are.

    Args:
        out: folder for the pictures and the numbers.
        scale: `quick` or `paper`, a key of `SIZES`.
        on_progress: called now and then.
        size: in place of the scale's.
        tables: CSV files of impressions and clicks, a row per arm.
    """
    size = size or SIZES[scale]
    sweeps = pay_per_reward_arms.sweeps(size.arms, len(tables))
    sweeps += pay_per_reward_scale.SWEEPS + pay_per_reward_constants.SWEEPS
    bench = Bench("pay-per-reward", sweeps, on_progress)
    return [
        *pay_per_reward_arms.show(bench, out, size.arms, tables),
        *pay_per_reward_scale.show(bench, out, size.scale),
        *pay_per_reward_constants.show(bench, out, size.constants),
    ]
