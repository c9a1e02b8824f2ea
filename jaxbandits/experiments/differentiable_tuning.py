"""What tuning gains on instances that it has not seen."""

from pathlib import Path
from typing import Any

import numpy as np

from jaxbandits.experiments.bench import Bench
from jaxbandits.experiments.runs.differentiable_tuning import CASES, SIZES, Case, Size, tuned
from jaxbandits.report import numbers, plots
from jaxbandits.report.gallery import Exhibit

__all__ = ["SIZES", "SWEEPS", "Size", "show"]

SWEEPS = len(CASES)


def show(bench: Bench, out: Path, size: Size) -> list[Exhibit]:
    """A figure for each algorithm."""
    return [_show(bench, out, case, size) for case in CASES]


def _show(bench: Bench, out: Path, case: Case, size: Size) -> Exhibit:
    found = tuned(case, size, bench.call)
    finding = _finding(case, found)
    values = ", ".join(f"{name} = {value:.3g}" for name, value in found.values.items())
    start = ", ".join(f"{name} = {float(found.history['value'][0].sel(parameter=name)):.3g}" for name in found.values)
    return bench.exhibit(
        out,
        f"differentiable-{case.label.lower().replace(' ', '-').replace(',', '')}",
        plots.tuning(found.history, title=finding),
        found.held_out.to_dataframe().reset_index(),
        finding=finding,
        drawn="Left: the parameters; right: what was made small, with 95% intervals of each step's own runs"
        + ("" if case.error_at_most is None else ", and errors as a share of what is allowed")
        + ". The table: both on instances that no step has seen, with 95% intervals.",
        settings=f"{case.about}. From {start} to {values}; {size.steps} steps of 16 instances, {size.seeds} runs each.",
        runs=_runs(case, size),
        seconds=bench.seconds(),
        notes=(f"Judged by {size.held_out_seeds} runs of each of {size.held_out} instances; differences are paired.",),
        alt=f"Parameters and objective along the steps of a search. {finding}.",
    )


def _runs(case: Case, size: Size) -> int:
    """Runs of the steps and of the judgement."""
    steps = size.steps * 16 * size.seeds * 2 * len(case.wrt)
    return steps + size.held_out * size.held_out_seeds * (2 + len(case.against))


def _finding(case: Case, found: Any) -> str:
    """Objective and, under a constraint, error on the held-out instances, tuned beside the others."""

    def said(name: str, what: str = "objective") -> str:
        return numbers.value(float(found.held_out[what].sel(algorithm=name)))

    others = [str(name) for name in found.held_out["algorithm"].values if name != "tuned"]
    against = ", ".join(f"{said(name)} ({name})" for name in others)
    errors = "" if case.error_at_most is None else f", with errors in {said('tuned', 'error')} of the runs"
    unsure = [
        name
        for name in others
        if np.sign(found.held_out["difference_low"].sel(algorithm=name))
        != np.sign(found.held_out["difference_high"].sel(algorithm=name))
    ]
    doubt = f"; the difference to {' and '.join(unsure)} may be chance" if unsure else ""
    return f"{case.label}: {case.objective.replace('_', ' ')} {said('tuned')} tuned, against {against}{errors}{doubt}"
