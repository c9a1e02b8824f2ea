"""Results as text: what `simulate` and `compare` print."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import xarray as xr

from jaxbandits.cli.display import table
from jaxbandits.compare import Comparison, Row
from jaxbandits.report.numbers import count, interval, probability, value
from jaxbandits.report.tables import summary

__all__ = ["comparison", "json_of", "run_statistics", "statistics"]


def run_statistics(dataset: xr.Dataset) -> dict[str, Any]:
    """The numbers of `simulate --json`, for a Dataset without axes; None for what does not apply."""
    known = summary(dataset)

    def number(name: str) -> float | None:
        found = float(known[name]) if name in known else np.nan
        return found if np.isfinite(found) else None

    seconds = max(dataset.attrs["seconds"], 1e-9)
    return {
        "runs": int(known["runs"]),
        "mean_pulls": number("pulls_mean"),
        "sd_pulls": number("pulls_sd"),
        "quantiles": {
            level: number(f"pulls_{short}") for level, short in (("0.1", "q10"), ("0.5", "q50"), ("0.9", "q90"))
        },
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


def json_of(dataset: xr.Dataset) -> str:
    """The same as one JSON object."""
    return json.dumps(run_statistics(dataset), allow_nan=False)


def moments(algorithm: Any, problem: Any) -> str:
    """A line on the moments of a problem's law, for algorithms that are told of them; empty for others."""
    order = getattr(algorithm, "p", None)
    if not isinstance(order, int | float) or not hasattr(problem, "moments"):
        return ""
    raw, central = (float(problem.moments(order, central=central).max()) for central in (False, True))
    return f"largest moments of order {order:g}: B = {raw:.4g}, about the means C = {central:.4g}\n"


def statistics(dataset: xr.Dataset) -> str:
    """The runs of one cell, a line per quantity; runs that were stopped are never averaged silently."""
    known = summary(dataset)
    runs, stopped = int(known["runs"]), int(known["censored"])

    def mean(name: str) -> str:
        low, middle, high = (float(known[f"{name}_{end}"]) for end in ("low", "mean", "high"))
        at_least = "at least " if stopped and name in ("pulls", "cost", "paid", "reward") else ""
        return f"{at_least}{value(middle)} {interval(low, high)}"

    lines = {"pulls, mean": mean("pulls")}
    lines["pulls, 10% / 50% / 90%"] = " / ".join(value(float(known[f"pulls_{q}"])) for q in ("q10", "q50", "q90"))
    low, rate, high = (float(known[name]) for name in ("failure_low", "failure", "failure_high"))
    errors = int(known["errors"])
    lines["failure rate"] = f"{probability(rate)} {interval(low, high, True)}: {errors:,} of {runs:,} runs"
    for name in ("cost", "paid", "reward", "regret", "simple_regret", "aggregate_regret"):
        if f"{name}_mean" in known:
            lines[f"{name.replace('_', ' ')}, mean"] = mean(name)
    lines["stopped early"] = f"{stopped:,} of {runs:,} runs"
    seconds, compiling = dataset.attrs["seconds"], dataset.attrs["compile_seconds"]
    lines["time"] = f"{seconds:.3g} s, and {compiling:.3g} s to compile"
    lines["pulls per second"] = count(float(dataset["pulls"].sum()) / max(seconds, 1e-9))
    text = "\n".join(f"{name:<24}{line}" for name, line in lines.items()) + "\nIntervals are 95%."
    if stopped:
        text += (
            f"\n{stopped:,} runs were stopped before they were done, at max_pulls or where counts would pass 2^31: the "
            "mean of the pulls is a lower bound,\nand they are judged by what they recommended then."
        )
    return text


def comparison(found: Comparison) -> str:
    """Both tables, what was left out, and the advice."""
    question = f"the best {found.m} arms" if found.m > 1 else "the best arm"
    aim = f"{question} up to epsilon={found.epsilon:g}" if found.epsilon else f"exactly {question}"
    best = found.fixed_confidence[0]
    origin = "" if found.given_budget else f", what {best.label} took on average"
    origin += " until it was stopped" if origin and best.capped else ""
    parts = [
        f"{found.problem.name}: find {aim}. {found.seeds:,} runs each, intervals are 95%.",
        "",
        f"Fixed confidence, delta={found.delta:g}. Theory: pulls exceeded with probability at most delta.",
        table(
            [
                ("", "mean pulls", "10% to 90%", *_ERRORS),
                *((row.label, *_pulls(row), *_errors(row, value)) for row in found.fixed_confidence),
            ]
        ),
    ]
    if found.lower_bound is not None:
        promise = "none with this delta needs fewer on average (Garivier and Kaufmann 2016)"
        if found.epsilon:
            promise = "none needs fewer on average as delta tends to 0 (Degenne and Koolen 2019)"
        parts.append(f"Lower bound: {value(found.lower_bound)} pulls, {promise}.")
    parts += [
        "",
        f"Fixed budget, {found.budget:,} pulls{origin}. Theory: probability of being wrong.",
        table([("", *_ERRORS), *((row.label, *_errors(row, probability)) for row in found.fixed_budget)]),
        "",
    ]
    parts += [f"Left out: {reason}." for reason in found.left_out]
    return "\n".join([*parts, found.advice()])


_ERRORS = ("wrong", "interval", "theory", "")


def _pulls(row: Row) -> tuple[str, str]:
    low, high = np.quantile(row.pulls, [0.1, 0.9])
    return f"{'>= ' if row.capped else ''}{count(row.mean_pulls)}", f"{count(low)} to {count(high)}"


def _errors(row: Row, show: Callable[[float], str]) -> tuple[str, str, str, str]:
    notes = [
        row.theorem,
        "an oracle: uses the true gaps" if row.oracle else "",
        f"{row.capped:,} runs stopped at max_pulls" if row.capped else "",
    ]
    return (
        probability(row.failures / len(row.wrong)),
        interval(*row.failure_interval, of_probability=True),
        "-" if row.bound is None else show(row.bound),
        "; ".join(note for note in notes if note),
    )
