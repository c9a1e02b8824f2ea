"""The command `gradient`."""

import warnings
from json import dumps
from typing import Any

import numpy as np
import xarray as xr

import jaxbandits as jb
from jaxbandits.cli import display, inputs
from jaxbandits.cli.inputs import Switch, Whole
from jaxbandits.cli.run_commands import Settings
from jaxbandits.gradients.rare_outcomes import Z, interval_of_value
from jaxbandits.report.formatting import interval, value
from jaxbandits.report.text_tables import text_table

__all__ = ["gradient"]


def gradient(
    metric: str,
    algorithm: str,
    /,
    *,
    problem: str,
    wrt: str = "mean",
    seeds: Whole = 10_000,
    settings: Settings = (),
    smoothing: float | None = None,
    refit_algorithm: Switch = False,
    root_seed: Whole = 0,
    max_pulls: Whole | None = None,
    costs: str | None = None,
    json: Switch = False,
    progress: bool | None = None,
) -> None:
    """Estimate the derivative of an expected metric in a parameter of the problem's law or of the algorithm.

    Args:
        metric: pulls, steps, cost, error, simple_regret or aggregate_regret.
        algorithm: its name, see `jaxbandits list`.
        problem: such as bernoulli:0.7,0.5,0.5.
        wrt: mean, another parameter of the law such as sd, or one of the algorithm such as epsilon.
        seeds: number of runs.
        settings: the algorithm's parameters, name=value, repeatable; one value for each arm: name=3,1,1.
        smoothing: standard deviation of the noise that smooths an algorithm's parameter; by default, the difference of
            runs at 5% on both sides.
        refit_algorithm: let the parameters that the algorithm takes from the problem, such as a range of rewards, move
            with it.
        root_seed: seed of all randomness.
        max_pulls: stop a run before it makes more pulls and count it as truncated.
        costs: what a pull costs, see `simulate`.
        json: print one JSON object instead of a table.
        progress: show a progress bar on stderr; by default, if that is a terminal.
    """
    chosen = inputs.algorithm_of(algorithm, settings)  # before JAX starts, which may take seconds
    inputs.start_jax()
    explored = inputs.problem_of(problem, costs)
    with display.progress_bar(progress) as update, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the gradient of .* rests on")  # the printed answer has it
        found = jb.gradients.expected(
            metric,
            chosen,
            explored,
            wrt,
            seeds=seeds,
            root_seed=root_seed,
            smoothing=smoothing,
            refit_algorithm=refit_algorithm,
            max_pulls=max_pulls,
            on_progress=lambda state: update(state, seeds),
        )
    display.print_result(_json_of(found) if json else _table(found))


def _json_of(found: xr.Dataset) -> str:
    """Return the result as one JSON object; a number that is not known is null."""

    def listed(name: str) -> list[float | None]:
        return [one if np.isfinite(one) else None for one in np.atleast_1d(found[name].to_numpy()).tolist()]

    numbers: dict[str, Any] = {name: listed(name)[0] for name in ("value", "value_se")}
    numbers["outcomes"] = int(found["outcomes"])
    numbers |= {name: listed(name) for name in ("gradient", "gradient_se", "gradient_runs")}
    more = {"stopped_early": int(found["stopped_early"]), "estimator": found.attrs["estimator"]}
    return dumps({**numbers, **more}, allow_nan=False)


def _table(found: xr.Dataset) -> str:
    """Return a line for the value and one for each slope, with 95% intervals."""
    metric, wrt = found.attrs["metric"], found.attrs["wrt"]
    middle, ends = value(float(found["value"])), interval_of_value(metric, found)
    rows = [("", "", "95% interval"), (f"E[{metric}]", middle, interval(*ends))]
    arms = [name for name in ("bandit", "arm") if name in found["gradient"].dims]
    for place in np.ndindex(*(found.sizes[name] for name in arms)):
        at = dict(zip(arms, place, strict=True))
        of = ", ".join(f"{name} {number}" for name, number in at.items())
        label = f"d / d {wrt}{of and ' of ' + of}"
        rows.append(_row(label, found["gradient"].isel(at), found["gradient_se"].isel(at)))
    width = f", width {found.attrs['width']:.3g}" if "width" in found.attrs else ""
    stopped, few = int(found["stopped_early"]), ~np.isfinite(found["gradient_se"].to_numpy())
    lines = [
        text_table(rows, left=(0,)),
        f"Estimator: {found.attrs['estimator']}{width}; {found.attrs['seeds']:,} runs.",
    ]
    if few.any():
        fewest = int(found["gradient_runs"].min())
        lines.append(
            f"Of {few.sum()} of {few.size} derivatives no interval is known: one rests on {fewest:,} of "
            f"{found.attrs['seeds']:,} runs only. What matters there is rare: --seeds makes more runs."
        )
    if stopped:
        lines.append(f"{stopped:,} runs were truncated, and are judged by their recommendation at that time.")
    return "\n".join(lines)


def _row(label: str, middle: xr.DataArray, error: xr.DataArray) -> tuple[str, str, str]:
    low, high = float(middle) - Z * float(error), float(middle) + Z * float(error)
    return label, value(float(middle)), interval(low, high)
