"""Phase diagrams with a thousand cells each: measured colour under lines of what theory says."""

from collections.abc import Callable
from pathlib import Path

import xarray as xr

from jaxbandits.experiments.bench import Bench, Stage, runs_of, seconds_of
from jaxbandits.experiments.budgeted_common import labelled
from jaxbandits.experiments.runs.phases import (
    BEST,
    DELTA,
    REST,
    SIZES,
    Size,
    over_budget_and_regularity,
    over_epsilon_and_arms,
)
from jaxbandits.report import plots
from jaxbandits.report.gallery import Exhibit
from jaxbandits.report.summaries import summary
from jaxbandits.report.tables import frame

__all__ = ["SIZES", "Size", "run"]

_COLUMNS = ["runs", "pulls_mean", "pulls_low", "pulls_high", "failure", "failure_low", "failure_high"]


def run(
    out: Path, scale: str = "quick", on_progress: Callable[[Stage], None] | None = None, size: Size | None = None
) -> list[Exhibit]:
    """UGapEc's pulls over epsilon and K; RCB-I's regret over the budget and the regularity.

    Args:
        out: folder for the pictures and the numbers.
        scale: `quick` or `paper`, a key of `SIZES`.
        on_progress: called now and then.
        size: in place of the scale's.
    """
    bench, size = Bench("phases", 2, on_progress), size or SIZES[scale]
    return [_pulls(bench, out, size), _regret(bench, out, size)]


def _pulls(bench: Bench, out: Path, size: Size) -> Exhibit:
    ds = over_epsilon_and_arms(size, bench.sweep)
    known = summary(ds)
    low, high = _ends(known["pulls_mean"] / known["h_epsilon"])
    finding = f"UGapEc makes {low:.3g} to {high:.3g} times H_ε pulls, over {known['pulls_mean'].size:,} cells"
    return bench.exhibit(
        out,
        "phases-ugape",
        plots.phase(known, x="epsilon", y="n", contours="h_epsilon", title=finding),
        frame(known, [*_COLUMNS, "h_epsilon"]),
        finding=finding,
        drawn="Mean pulls of UGapEc as colour, lines of equal complexity H_ε dashed: where the colour changes along a "
        "line, the logarithm of the theorem does it.",
        settings=f"One Bernoulli arm with mean {BEST}, the others with mean {REST}; δ = {DELTA}, {size.seeds} runs a "
        "cell.",
        runs=runs_of(ds),
        seconds=seconds_of(ds),
        notes=(f"Largest failure rate: {float(known['failure'].max()):.2g}.",),
        alt=f"Colours of mean pulls over accuracy and number of arms, with dashed lines of H_ε. {finding}.",
    )


def _regret(bench: Bench, out: Path, size: Size) -> Exhibit:
    ds = over_budget_and_regularity(size, bench.sweep)
    known = labelled(summary(ds))
    low, high = _ends(known["regret_mean"] / known["rate"])
    finding = f"RCB-I's regret is {low:.2g} to {high:.2g} times the rate of its theorem"
    return bench.exhibit(
        out,
        "phases-rcb-i",
        plots.phase(known, x="budget", y="beta", value="regret", contours="rate", title=finding),
        frame(known, [*_COLUMNS, "regret_mean", "regret_low", "regret_high", "rate"]),
        finding=finding,
        drawn="Mean regret of RCB-I as colour, lines of equal rate (Theorem 1, which has no constant) dashed. The rate "
        "does not know β below 1; the regret does.",
        settings=f"A reservoir with ρ* = 1; {size.seeds} runs a cell.",
        runs=runs_of(ds),
        seconds=seconds_of(ds),
        notes=(),
        alt=f"Colours of mean regret over budget and regularity, with dashed lines of the rate. {finding}.",
    )


def _ends(ratio: xr.DataArray) -> tuple[float, float]:
    return float(ratio.min()), float(ratio.max())
