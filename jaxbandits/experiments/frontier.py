"""The frontier: rules with a fixed confidence against the lower bound, rules with a fixed budget against each other."""

from collections.abc import Callable
from pathlib import Path

from jaxbandits.experiments import frontier_budget, frontier_confidence
from jaxbandits.experiments.bench import Bench, Stage
from jaxbandits.report.gallery import Exhibit

__all__ = ["run"]


def run(
    out: Path,
    scale: str = "quick",
    on_progress: Callable[[Stage], None] | None = None,
    confidence: frontier_confidence.Size | None = None,
    budget: frontier_budget.Size | None = None,
) -> list[Exhibit]:
    """Pulls until rules stop over delta; errors over budgets, and beside published ones.

    Args:
        out: folder for the pictures and the numbers.
        scale: `quick` or `paper`.
        on_progress: called now and then.
        confidence: size of the part with a fixed confidence, in place of the scale's.
        budget: size of the part with a fixed budget, in place of the scale's.
    """
    confidence, budget = confidence or frontier_confidence.SIZES[scale], budget or frontier_budget.SIZES[scale]
    bench = Bench("frontier", frontier_confidence.SWEEPS + frontier_budget.sweeps(budget), on_progress)
    return [
        frontier_confidence.show(bench, out, confidence),
        *frontier_budget.exhibits(bench, out, budget),
    ]
