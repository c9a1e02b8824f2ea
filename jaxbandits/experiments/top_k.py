"""Top-K arms by aggregate regret: AdaptiveTopK, OptMAI and CLUCB, against budget, K and accuracy.

Chen, Chen, Zhang, Zhou (2017), "Adaptive multiple-arm identification", ICML, Figures 1 to 4; Zhou, Chen, Li (2014),
"Optimal PAC multiple arm identification with applications to crowdsourcing", ICML, Figures 1 and 2.
"""

import dataclasses
from collections.abc import Callable
from pathlib import Path

from jaxbandits.experiments import top_k_accuracy, top_k_budget, top_k_published
from jaxbandits.experiments.bench import Bench, Stage
from jaxbandits.report.gallery import Exhibit

__all__ = ["SIZES", "Size", "run"]


@dataclasses.dataclass(frozen=True)
class Size:
    """How much to run."""

    budget: top_k_budget.Size
    accuracy: top_k_accuracy.Size
    published: top_k_published.Size


SIZES = {
    scale: Size(top_k_budget.SIZES[scale], top_k_accuracy.SIZES[scale], top_k_published.SIZES[scale])
    for scale in ("quick", "paper")
}


def run(
    out: Path, scale: str = "quick", on_progress: Callable[[Stage], None] | None = None, size: Size | None = None
) -> list[Exhibit]:
    """Failure probability against the budget and over K, pulls against the accuracy, regrets beside published ones.

    Args:
        out: folder for the pictures and the numbers.
        scale: `quick` or `paper`, a key of `SIZES`.
        on_progress: called now and then.
        size: in place of the scale's.
    """
    size = size or SIZES[scale]
    sweeps = top_k_budget.sweeps(size.budget) + top_k_accuracy.SWEEPS + top_k_published.sweeps(size.published)
    bench = Bench("top-k", sweeps, on_progress)
    return [
        *top_k_budget.show(bench, out, size.budget),
        *top_k_accuracy.show(bench, out, size.accuracy),
        *top_k_published.show(bench, out, size.published),
    ]
