"""Derivatives of what is expected, and what they are good for: tuning, and hard instances. No paper's figures: ours."""

import dataclasses
from collections.abc import Callable
from pathlib import Path

from jaxbandits.experiments import differentiable_adversary, differentiable_slopes, differentiable_tuning
from jaxbandits.experiments.bench import Bench, Stage
from jaxbandits.report.gallery import Exhibit

__all__ = ["SIZES", "Size", "run"]


@dataclasses.dataclass(frozen=True)
class Size:
    """How much to run."""

    slopes: differentiable_slopes.Size
    tuning: differentiable_tuning.Size
    adversary: differentiable_adversary.Size


SIZES = {
    scale: Size(
        differentiable_slopes.SIZES[scale], differentiable_tuning.SIZES[scale], differentiable_adversary.SIZES[scale]
    )
    for scale in ("quick", "paper")
}


def run(
    out: Path,
    scale: str = "quick",
    on_progress: Callable[[Stage], None] | None = None,
    size: Size | None = None,
) -> list[Exhibit]:
    """Gradients beside differences, tuned algorithms beside their defaults, and instances that an adversary found.

    Args:
        out: folder for the pictures and the numbers.
        scale: `quick` or `paper`, a key of `SIZES`.
        on_progress: called now and then.
        size: in place of the scale's.
    """
    size = size or SIZES[scale]
    sweeps = differentiable_slopes.sweeps(size.slopes) + differentiable_tuning.SWEEPS + differentiable_adversary.SWEEPS
    bench = Bench("differentiable", sweeps, on_progress)
    return [
        *differentiable_slopes.show(bench, out, size.slopes),
        *differentiable_tuning.show(bench, out, size.tuning),
        *differentiable_adversary.show(bench, out, size.adversary),
    ]
