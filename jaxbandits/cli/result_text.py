"""Results as text: the output of `simulate`."""

from typing import Any

import numpy as np
import xarray as xr

from jaxbandits.algorithms.parameters import values_of
from jaxbandits.engine.binding import accept, bind
from jaxbandits.report.dimensions import lower_bounds
from jaxbandits.report.formatting import count, interval, probability, value
from jaxbandits.report.summaries import GROWING, summary
from jaxbandits.report.text_tables import text_table

__all__ = ["moments", "run_statistics", "settled", "statistics"]

#: Quantiles of the pulls that are shown, by the ending of their variable's name.
_QUANTILES = {"q10": "0.1", "q50": "0.5", "q90": "0.9"}
#: Counts that are shown beside the pulls, where there are any.
_BESIDE_PULLS = ("told", "elapsed", "waits", "evaluations")


def run_statistics(dataset: xr.Dataset) -> dict[str, Any]:
    """Return the numbers of `simulate --json`, for a Dataset without axes; None for what does not apply."""
    known = summary(dataset)

    def number(name: str) -> float | None:
        found = float(known[name]) if name in known else np.nan
        return found if np.isfinite(found) else None

    seconds = max(dataset.attrs["seconds"], 1e-9)
    in_flight = {f"mean_{name}": number(f"{name}_mean") for name in _BESIDE_PULLS[:3] if name in dataset}
    return in_flight | {
        "runs": int(known["runs"]),
        "mean_pulls": number("pulls_mean"),
        "sd_pulls": number("pulls_sd"),
        "quantiles": {level: number(f"pulls_{short}") for short, level in _QUANTILES.items()},
        "quantiles_at_least": [level for short, level in _QUANTILES.items() if lower_bounds(known, f"pulls_{short}")],
        "failure_rate": number("failure"),
        "failure_ci": [number("failure_low"), number("failure_high")],
        "mean_cost": number("cost_mean"),
        "mean_reward": number("reward_mean"),
        "mean_simple_regret": number("simple_regret_mean"),
        "mean_aggregate_regret": number("aggregate_regret_mean"),
        "stopped_early": int(known["censored"]),
        "compile_seconds": dataset.attrs["compile_seconds"],
        "seconds": dataset.attrs["seconds"],
        "pulls_per_second": float(dataset["pulls"].sum()) / seconds,
    }


def moments(algorithm: Any, problem: Any) -> str:
    """Return a line on the moments of a problem's law, for algorithms that use them; empty for others."""
    order = values_of(algorithm).get("p")
    if order is None or not problem.has_moments:
        return ""
    raw, central = (float(problem.moments(order, central=central).max()) for central in (False, True))
    return f"largest moments of order {order:g}: B = {raw:.4g}, about the means C = {central:.4g}\n"


def settled(algorithm: Any, problem: Any) -> str:
    """Return a line on the parameters that an algorithm took from the problem; empty without any."""
    known = accept(algorithm)
    used = values_of(bind(known, problem)[0])
    missing = [name for name, value in values_of(known).items() if value is None]
    found = {name: used[name] for name in missing if isinstance(used[name], str | int | float)}
    if not any(isinstance(setting, str) for setting in found.values()):
        return ""
    told = " ".join(f"{name}={v if isinstance(v, str) else f'{v:.4g}'}" for name, v in found.items())
    return f"chosen for this problem: {told}\n"


def statistics(dataset: xr.Dataset) -> str:
    """Return the results of one cell, a line per quantity; truncated runs are never averaged silently."""
    known = summary(dataset)
    runs, stopped = int(known["runs"]), int(known["censored"])

    def mean(name: str) -> str:
        low, middle, high = (float(known[f"{name}_{end}"]) for end in ("low", "mean", "high"))
        at_least = "at least " if stopped and name in GROWING else ""
        return f"{at_least}{value(middle)} {interval(low, high)}"

    lines = {"pulls, mean": mean("pulls")}
    lines["pulls, 10% / 50% / 90%"] = " / ".join(
        ("≥ " if lower_bounds(known, name) else "") + value(float(known[name]))
        for name in (f"pulls_{short}" for short in _QUANTILES)
    )
    low, rate, high = (float(known[name]) for name in ("failure_low", "failure", "failure_high"))
    errors = int(known["errors"])
    lines["failure rate"] = f"{probability(rate)} {interval(low, high, True)}: {errors:,} of {runs:,} runs"
    for name in (*_BESIDE_PULLS, "cost", "paid", "reward", "regret", "simple_regret", "aggregate_regret"):
        if f"{name}_mean" in known:
            lines[f"{name.replace('_', ' ')}, mean"] = mean(name)
    lines["truncated"] = f"{stopped:,} of {runs:,} runs"
    seconds, compiling = dataset.attrs["seconds"], dataset.attrs["compile_seconds"]
    lines["time"] = f"{seconds:.3g} s, and {compiling:.3g} s to compile"
    lines["pulls per second"] = count(float(dataset["pulls"].sum()) / max(seconds, 1e-9))
    text = text_table(list(lines.items()), left=(0, 1)) + "\nIntervals are 95%."
    if stopped:
        text += (
            f"\n{stopped:,} runs were truncated, at max_pulls or where counts would pass 2^31: the mean of the pulls, "
            "and quantiles with ≥,\nare lower bounds, and the runs are judged by their recommendation at that time."
        )
    return text
