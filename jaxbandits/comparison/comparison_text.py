"""A comparison as text: the advice, a table for each kind of algorithm, and what is missing."""

import math
import textwrap
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from jaxbandits.algorithms.registry import REGISTRY
from jaxbandits.comparison.advice import advise
from jaxbandits.comparison.compared_rows import ComparedRows, Row
from jaxbandits.report.formatting import by_reason, count, interval, probability, runs, value
from jaxbandits.report.text_tables import text_table

__all__ = ["finished", "show"]


def show(found: ComparedRows, width: int) -> str:
    """Return the advice, both tables, and the omissions; prose in lines of at most `width` characters."""

    def prose(text: str) -> str:
        return textwrap.fill(text, max(width, 40), break_long_words=False, break_on_hyphens=False)

    asked = f"{found.problem.name}: find {found.question.aim}. {runs(found.seeds)} each, intervals are 95%."
    if found.problem.costs is not None:
        asked += " Pulls are counted, whatever they cost."
    parts = [prose(advise(found)), "", prose(asked)]
    if found.fixed_confidence:
        parts += ["", *_confidence_part(found, prose)]
    if found.fixed_budget:
        parts += ["", prose(_budget_heading(found)), _columns(_budget_rows(found.fixed_budget))]
        parts += map(prose, _fewer_runs(found, found.fixed_budget))
    if found.left_out or found.missing:
        parts.append("")
    if found.missing:
        parts.append(prose(f"Missing, because the comparison was interrupted: {', '.join(found.missing)}."))
    for why, names in by_reason([_without_class(each) for each in found.left_out]):
        all_of = "each " if len(names) > 1 and why.startswith(("needs ", "has ")) else ""
        parts.append(prose(f"Left out: {', '.join(names)} ({all_of}{why})."))
    return "\n".join(parts)


def _without_class(left_out: str) -> str:
    """Return `name (why)` without the class, with which most reasons begin: the name says which, and reasons repeat."""
    name, _, why = left_out.partition(" (")
    return f"{name} ({why.removeprefix(REGISTRY[name.split()[0]].__name__).removeprefix(':').strip()}"


def finished(row: Row) -> str:
    """Return the line that reports a finished row."""
    pulls, spread = _pulls(row)
    wrong = probability(row.failures / len(row.wrong))
    return f"{row.label:<28}  {pulls:>13} {row.unit}  {spread:>24}  wrong {wrong}  {_stopped(row)}".rstrip()


def _confidence_part(found: ComparedRows, prose: Callable[[str], str]) -> Iterator[str]:
    yield prose(f"Fixed confidence, delta={found.delta:g}. Theory: pulls exceeded with probability at most delta.")
    bound = found.lower_bound
    heading, rows = (
        ["", f"mean {found.unit}", "10% to 90%"],
        [[row.label, *_pulls(row)] for row in found.fixed_confidence],
    )
    if bound:
        heading.append("times the bound")
        rows = [
            [*row, f"{known.mean_pulls / bound:.1f}"] for row, known in zip(rows, found.fixed_confidence, strict=True)
        ]
    errors = [_errors(row, value) for row in found.fixed_confidence]
    yield _columns([(*heading, *_ERRORS), *((*row, *more) for row, more in zip(rows, errors, strict=True))])
    yield from map(prose, _fewer_runs(found, found.fixed_confidence))
    if any(row.stopped_early for row in found.fixed_confidence) and found.problem.finite:
        yield prose(
            "Runs that were truncated, because they pulled candidates on and on that were known already, are judged by "
            "their recommendation at that time."
        )
    elif any(row.stopped_early for row in found.fixed_confidence):
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
        if found.question.is_asymptotic(found.problem):
            several = found.question.of_best_arms and found.m > 1  # the bound is for a stronger criterion then
            whose = f" whose {found.m} arms must be at most epsilon below the best one left out" if several else ""
            promise = f"none{whose} needs fewer on average as delta tends to 0 (Degenne and Koolen 2019)"
        yield prose(f"Lower bound: {value(found.lower_bound)} pulls, {promise}.")


def _fewer_runs(found: ComparedRows, rows: Sequence[Row]) -> Iterator[str]:
    if fewer := [f"{row.label} {row.runs:,}" for row in rows if row.runs < found.seeds]:
        yield f"Fewer runs, as a pull takes long: {', '.join(fewer)}."


def _budget_heading(found: ComparedRows) -> str:
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
    heuristic = "" if row.proved or "delta" not in vars(row.algorithm) else "heuristic: no proof of delta"
    if heuristic and row.algorithm.proved:
        heuristic = "no proof without replacement"
    oracle = f"an oracle: uses {row.algorithm.oracle_knows}" if row.oracle else ""
    notes = [row.theorem, heuristic, oracle, _stopped(row)]
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
    number = row.stopped_early
    return f"{runs(number)} truncated" if number else ""
