"""Find instances of one complexity that are harder than the one they started from."""

from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

import jaxbandits as jb
from jaxbandits.papers.bench import Bench
from jaxbandits.report import formatting, style
from jaxbandits.report.intervals import least_change


class Size(NamedTuple):
    steps: int
    seeds: int  #: of a step
    judged: int  #: runs of the judgement


SIZES = {"quick": Size(steps=30, seeds=1000, judged=5000), "paper": Size(steps=300, seeds=40_000, judged=400_000)}

#: Where all of them start: eight evenly spaced means.
_MEANS = (0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6, 0.55)
_BUDGET = 800
_ALGORITHMS = {
    "uniform": jb.Uniform(budget=_BUDGET),
    "Successive Rejects": jb.SuccessiveRejects(budget=_BUDGET),
    "Sequential Halving": jb.SequentialHalving(budget=_BUDGET),
    "UGapEb": jb.UGapEb(budget=_BUDGET, adaptive=True),
}


def show(bench: Bench, size: Size) -> None:
    """Draw the means found for each algorithm, and how often it errs on them."""
    problem = jb.bernoulli(list(_MEANS))
    found = {
        name: bench.call(jb.adversary, algorithm, problem, steps=size.steps, seeds=size.seeds, judged_seeds=size.judged)
        for name, algorithm in _ALGORITHMS.items()
    }
    judged = xr.concat([one.judged for one in found.values()], "algorithm").assign_coords(algorithm=list(found))
    finding = _describe_factor(found)
    bench.exhibit(
        "differentiable-adversary",
        _draw(found, finding),
        judged.to_dataframe().reset_index(),
        len(found) * (size.steps * size.seeds + 2 * size.judged),
        "A local maximum, no worst case.",
        finding=finding,
        drawn="Means of the instances that a climb along the gradient of P(error) reaches with the complexity H as "
        "it is; the legend has P(error) at the start and where it ended, from other runs.",
        settings=f"Eight Bernoulli arms, from means {', '.join(map(str, _MEANS))}; budget {_BUDGET}; means in "
        f"[0.01, 0.99]; {size.steps} steps of {size.seeds} runs, judged by {size.judged}.",
        alt="Means in order, at the start and for four algorithms.",
    )


def _draw(found: dict[str, Any], finding: str) -> Figure:
    picture, axes = style.new_picture()
    order = np.arange(1, len(_MEANS) + 1)
    axes.plot(order, sorted(_MEANS, reverse=True), color="#8a8a8a", linestyle="--", marker="x", label="start, for all")
    for colour, marker, (name, one) in zip(style.colours(list(found)), style.MARKERS, found.items(), strict=False):
        means = np.sort(np.asarray(one.problem.mean))[::-1]
        rate = f"{formatting.value(_get_error(one, 'start'))} to {formatting.value(_get_error(one, 'found'))}"
        axes.plot(order, means, color=colour, marker=marker, label=f"{name}: {rate}")
    axes.set_ylim(0, 1)
    style.finish(axes, finding, "arms in order", "mean", legend="P(error)")
    return picture


def _describe_factor(found: dict[str, Any]) -> str:
    """Say how much more likely errors have become for every algorithm, as far as the intervals tell."""

    def get_ends(instance: str, end: str) -> list[float]:
        return [float(one.judged[f"value_{end}"].sel(instance=instance)) for one in found.values()]

    before, after = ((get_ends(at, "low"), get_ends(at, "high")) for at in ("start", "found"))
    direction, factor = least_change(before, after)
    if direction != "grows":
        return "At the same complexity the intervals do not tell for every algorithm that errors became more likely"
    how = formatting.at_least_fold(factor) or "for every algorithm"
    return (
        f"At the same complexity the error probability grows {how}: "
        "one rival near the best arm is harder than seven at even distances"
    )


def _get_error(found: Any, instance: str) -> float:
    return float(found.judged["value"].sel(instance=instance))
