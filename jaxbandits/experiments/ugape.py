"""UGapE with a fixed confidence and with a fixed budget, next to what its theorems promise.

Gabillon, Ghavamzadeh, Lazaric (2012), "Best arm identification: a unified approach to fixed budget and fixed
confidence", NIPS 25.
"""

from collections.abc import Callable
from pathlib import Path

from jaxbandits.experiments import ugape_budget, ugape_confidence
from jaxbandits.experiments.bench import Bench, Stage
from jaxbandits.report.gallery import Exhibit

__all__ = ["run"]


def run(
    out: Path,
    scale: str = "quick",
    on_progress: Callable[[Stage], None] | None = None,
    confidence: ugape_confidence.Size | None = None,
    budget: ugape_budget.Size | None = None,
) -> list[Exhibit]:
    """Sample complexity against epsilon, K and m; a phase diagram; error against budget.

    Args:
        out: folder for the pictures and the numbers.
        scale: `quick` or `paper`.
        on_progress: called now and then.
        confidence: size of the part with a fixed confidence, in place of the scale's.
        budget: size of the part with a fixed budget, in place of the scale's.
    """
    bench = Bench("ugape", ugape_confidence.SWEEPS + ugape_budget.SWEEPS, on_progress)
    return [
        *ugape_confidence.exhibits(bench, out, confidence or ugape_confidence.SIZES[scale]),
        ugape_budget.show(bench, out, budget or ugape_budget.SIZES[scale]),
    ]
