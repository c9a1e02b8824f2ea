"""The names that the variables of a summary, or of moments, may have."""

from collections.abc import Iterable

from jaxbandits.report.summaries import QUANTILES

__all__ = ["ENDINGS", "variables_of"]

#: The endings of the names of a metric's variables.
ENDINGS = tuple(f"_{part}" for part in ("mean", "low", "high", "sd", "variance", "number", *QUANTILES))
#: Variables that belong to no single metric, and the dimension that quantiles have while they are computed.
_OF_ALL = (
    "failure", "failure_low", "failure_high", "errors", "unanswered", "runs", "censored", "stalled", "at_least",
    "stopped_early", "quantile",
)  # fmt: skip


def variables_of(metrics: Iterable[str]) -> list[str]:
    """Return the names that variables may have in a summary, or in moments, of metrics with these names."""
    return [*_OF_ALL, *(metric + ending for metric in metrics for ending in ENDINGS)]
