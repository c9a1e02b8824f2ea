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
    "quick": Size(
        budget=top_k_budget.Size(
            # With the data sets and K at most 64 cells, the smallest size of the engine's tables: programs are shared.
            seeds=60, slow_seeds=0, budgets=(5000, 10_000, 18_000, 30_000, 48_000),
            printed_budgets=(20_000, 100_000, 300_000, 1_000_000, 10_000_000),
            ks=(10, 50, 100, 300, 500, 900),
        ),
        accuracy=top_k_accuracy.Size(seeds=10, epsilons=(0.02, 0.05, 0.1, 0.2)),
        # Not the random means: runs that share no rewards are two more programs of 1000 arms.
        published=top_k_published.Size(
            runs=40, one_by_one=False, sar_runs=100, problems=("0.6/0.5", "RTE workers")
        ),
    ),
    "paper": Size(
        budget=top_k_budget.Size(
            seeds=200, slow_seeds=200,
            budgets=(5000, 7000, 10_000, 14_000, 20_000, 28_000, 39_000, 54_000, 74_000, 100_000),
            printed_budgets=(
                5000, 10_000, 20_000, 50_000, 100_000, 200_000, 300_000, 500_000, 1_000_000, 2_000_000, 5_000_000,
                10_000_000,
            ),
            ks=(10, 25, 50, 100, 150, 200, 250, 300, 400, 500, 600, 700, 800, 900),
        ),
        accuracy=top_k_accuracy.Size(seeds=200, epsilons=(0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2)),
        published=top_k_published.Size(runs=200, one_by_one=True, sar_runs=5000),
    ),
}  # fmt: skip


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
