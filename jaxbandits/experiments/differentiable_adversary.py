"""Instances of one complexity that are harder than the one they started from."""

from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from jaxbandits.experiments.bench import Bench
from jaxbandits.experiments.runs.differentiable_adversary import ALGORITHMS, BUDGET, MEANS, SIZES, Size, hard
from jaxbandits.report import numbers, style
from jaxbandits.report.gallery import Exhibit

__all__ = ["SIZES", "SWEEPS", "Size", "show"]

SWEEPS = len(ALGORITHMS)


def show(bench: Bench, out: Path, size: Size) -> list[Exhibit]:
    """The means found for each algorithm, and how often it errs on them."""
    found = {name: hard(name, size, bench.call) for name in ALGORITHMS}
    judged = xr.concat([one.judged for one in found.values()], "algorithm").assign_coords(algorithm=list(found))
    factors = [_value(one, "found") / _value(one, "start") for one in found.values()]
    finding = (
        f"At the same complexity errors are {min(factors):.2g} to {max(factors):.2g} times as likely: "
        "one rival near the best arm is harder than seven at even distances"
    )
    picture, axes = style.new_picture()
    order = np.arange(1, len(MEANS) + 1)
    axes.plot(order, sorted(MEANS, reverse=True), color="#8a8a8a", linestyle="--", marker="x", label="start, for all")
    for colour, marker, (name, one) in zip(
        style.colours(list(found)), style.MARKERS, found.items(), strict=False
    ):  # fmt: skip
        means = np.sort(np.asarray(one.problem.mean))[::-1]
        rate = f"{numbers.value(_value(one, 'start'))} to {numbers.value(_value(one, 'found'))}"
        axes.plot(order, means, color=colour, marker=marker, label=f"{name}: {rate}")
    axes.set_ylim(0, 1)
    style.finish(axes, finding, "arms in order", "mean", legend="P(error)")
    return [
        bench.exhibit(
            out,
            "differentiable-adversary",
            picture,
            judged.to_dataframe().reset_index(),
            finding=finding,
            drawn="Means of the instances that a climb along the gradient of P(error) reaches with the complexity H as "
            "it is; the legend has P(error) at the start and where it ended, from other runs.",
            settings=f"Eight Bernoulli arms, from means {', '.join(map(str, MEANS))}; budget {BUDGET}; means in "
            f"[0.01, 0.99]; {size.steps} steps of {size.seeds} runs, judged by {size.judged}.",
            runs=len(found) * (size.steps * size.seeds + 2 * size.judged),
            seconds=bench.seconds(),
            notes=("A local maximum, no worst case.",),
            alt=f"Means in order, at the start and for four algorithms. {finding}.",
        )
    ]


def _value(found: Any, instance: str) -> float:
    return float(found.judged["value"].sel(instance=instance))
