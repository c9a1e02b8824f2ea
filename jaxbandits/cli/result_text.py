"""Results as text: the output of `simulate` and `compare`."""

import json
import math
import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import xarray as xr

from jaxbandits.algorithms.parameters import values_of
from jaxbandits.comparison.advice import Comparison, Row
from jaxbandits.engine.binding import accept, bind
from jaxbandits.report.formatting import count, interval, probability, value
from jaxbandits.report.summaries import summary
from jaxbandits.report.text_tables import text_table

__all__ = ["comparison", "finished", "json_of", "moments", "run_statistics", "settled", "statistics"]


def run_statistics(dataset: xr.Dataset) -> dict[str, Any]:
    """Return the numbers of `simulate --json`, for a Dataset without axes; None for what does not apply."""
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
    """Return the same numbers as one JSON object."""
    return json.dumps(run_statistics(dataset), allow_nan=False)


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
    lines["truncated"] = f"{stopped:,} of {runs:,} runs"
    seconds, compiling = dataset.attrs["seconds"], dataset.attrs["compile_seconds"]
    lines["time"] = f"{seconds:.3g} s, and {compiling:.3g} s to compile"
    lines["pulls per second"] = count(float(dataset["pulls"].sum()) / max(seconds, 1e-9))
    text = text_table(list(lines.items()), left=(0, 1)) + "\nIntervals are 95%."
    if stopped:
        text += (
            f"\n{stopped:,} runs were truncated, at max_pulls or where counts would pass 2^31: the "
            "mean of the pulls is a lower bound,\nand they are judged by their recommendation at that time."
        )
    return text


def comparison(found: Comparison, width: int) -> str:
    """Return the advice, both tables, and the omissions; prose in lines of at most `width` characters."""

    def prose(text: str) -> str:
        return textwrap.fill(text, max(width, 40), break_long_words=False, break_on_hyphens=False)

    question = f"the best {found.m} arms" if found.m > 1 else "the best arm"
    aim = f"{question} up to epsilon={found.epsilon:g}" if found.epsilon else f"exactly {question}"
    asked = f"{found.problem.name}: find {aim}. {found.seeds:,} runs each, intervals are 95%."
    parts = [prose(found.advice()), "", prose(asked)]
    if found.delta is not None:
        parts += ["", *_confidence_part(found, prose)]
    if found.fixed_budget:
        parts += ["", prose(_budget_heading(found)), _columns(_budget_rows(found.fixed_budget))]
    if found.left_out or found.missing:
        parts.append("")
    if found.missing:
        parts.append(prose(f"Missing, because the comparison was interrupted: {', '.join(found.missing)}."))
    return "\n".join([*parts, *(prose(f"Left out: {reason}.") for reason in found.left_out)])


def finished(row: Row) -> str:
    """Return the line that reports a finished row."""
    pulls, spread = _pulls(row)
    wrong = probability(row.failures / len(row.wrong))
    return f"{row.label:<22}  {pulls:>13} pulls  {spread:>24}  wrong {wrong}  {_stopped(row)}".rstrip()


def _confidence_part(found: Comparison, prose: Callable[[str], str]) -> Iterator[str]:
    yield prose(f"Fixed confidence, delta={found.delta:g}. Theory: pulls exceeded with probability at most delta.")
    bound = found.lower_bound
    heading, rows = ["", "mean pulls", "10% to 90%"], [[row.label, *_pulls(row)] for row in found.fixed_confidence]
    if bound:
        heading.append("times the bound")
        rows = [
            [*row, f"{known.mean_pulls / bound:.1f}"] for row, known in zip(rows, found.fixed_confidence, strict=True)
        ]
    errors = [_errors(row, value) for row in found.fixed_confidence]
    yield _columns([(*heading, *_ERRORS), *((*row, *more) for row, more in zip(rows, errors, strict=True))])
    if fewer := [row for row in found.fixed_confidence if row.runs < found.seeds]:
        yield prose(f"Fewer runs, as a pull takes long: {', '.join(f'{row.label} {row.runs:,}' for row in fewer)}.")
    if any(row.stopped_early for row in found.fixed_confidence):
        limits = {row.limit for row in found.fixed_confidence if row.stopped_early}
        places = [f"at {limit:,} pulls" for limit in sorted(limit for limit in limits if limit is not None)]
        places += ["where counts would pass 2^31"] * (None in limits)
        how = "--max-pulls sets another limit"
        if found.max_pulls is None and found.seeds > 100:
            how += ", and fewer --seeds raise it"
        yield prose(
            f"Runs that were truncated, {' or '.join(places)} at the latest, are judged by their recommendation at "
            f"that time; means with >= are lower bounds. {how}."
        )
    if found.lower_bound is not None:
        promise = "none with this delta needs fewer on average (Garivier and Kaufmann 2016)"
        if found.epsilon:
            promise = "none needs fewer on average as delta tends to 0 (Degenne and Koolen 2019)"
        yield prose(f"Lower bound: {value(found.lower_bound)} pulls, {promise}.")


def _budget_heading(found: Comparison) -> str:
    origin = ""
    if not found.given_budget and found.fixed_confidence:
        best = found.fixed_confidence[0]
        took = math.ceil(best.mean_pulls) == found.budget
        origin = f", what {best.label} took on average" if took else ", measurable with that many runs"
        origin += " until it was truncated" if took and best.stopped_early else ""
    return f"Fixed budget, {found.budget:,} pulls{origin}. Theory: probability of being wrong."


def _budget_rows(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    return [("", *_ERRORS), *((row.label, *_errors(row, probability)) for row in rows)]


_ERRORS = ("wrong", "interval", "theory", "")


def _pulls(row: Row) -> tuple[str, str]:
    low, high = np.quantile(row.pulls, [0.1, 0.9])
    return f"{'>= ' if row.stopped_early else ''}{count(row.mean_pulls)}", f"{count(low)} to {count(high)}"


def _errors(row: Row, show: Callable[[float], str]) -> tuple[str, str, str, str]:
    heuristic = "" if row.proved else "heuristic: no proof of delta"
    notes = [row.theorem, heuristic, "an oracle: uses the true gaps" if row.oracle else "", _stopped(row)]
    return (
        probability(row.failures / len(row.wrong)),
        interval(*row.failure_interval, of_probability=True),
        "-" if row.bound is None else show(row.bound),
        "; ".join(note for note in notes if note),
    )


def _columns(rows: Sequence[Sequence[str]]) -> str:
    """Align a table: names and remarks to the left, numbers between them to the right."""
    return text_table(rows, left=(0, len(rows[0]) - 1))


def _stopped(row: Row) -> str:
    return f"{row.stopped_early:,} runs truncated" if row.stopped_early else ""
