"""The advice that follows from a comparison: which algorithm to use, and on what grounds."""

import math
from collections.abc import Iterator, Sequence

import numpy as np
import scipy  # type: ignore[import-untyped,unused-ignore]

from jaxbandits.comparison.compared_rows import ComparedRows, Row
from jaxbandits.report.formatting import fold, percent, runs, value

__all__ = ["advise", "advised_rows"]

#: Two rows are called different at this level of a two-sided test.
_LEVEL = 0.05


def advise(found: ComparedRows) -> str:
    """Return one line on which algorithm to use, on what grounds, and whether all have been run."""
    confidence = " ".join(_of_confidence(found)).replace("pulls", found.unit)
    advice = [*filter(None, [confidence]), *_saving(found), *_of_budget(found), "Measured on these means only."]
    if found.missing:
        there = len(found.fixed_confidence) + len(found.fixed_budget)
        missing = f"{len(found.missing)} of {there + len(found.missing)} algorithms were not run"
        advice = [f"PRELIMINARY: {missing}, and one of them may do better.", *advice]
    return " ".join(advice)


def advised_rows(found: ComparedRows) -> list[Row]:
    """Return the fixed-confidence rows that may be advised, fewest pulls first: all that their runs or a proof allow.

    A theorem that the runs show comes first, then one that they do not contradict, then the runs alone.
    """
    if (delta := found.delta) is None:
        return []
    finished = [row for row in found.fixed_confidence if not row.stopped_early]
    proved = [row for row in finished if row.proved]
    shown = [row for row in finished if row.failure_interval[1] <= delta]
    return [row for row in proved if row in shown] or [row for row in proved if row.keeps(delta)] or shown


def _of_confidence(found: ComparedRows) -> Iterator[str]:
    finished = [row for row in found.fixed_confidence if not row.stopped_early]
    if not finished or found.delta is None:
        if found.fixed_confidence:
            yield _none_ended("fixed-confidence", found.fixed_confidence)
        elif found.delta is not None and found.fixed_budget:
            yield f"No fixed-confidence algorithm is suitable for {found.problem.name} and this question."
        return
    delta = found.delta
    advised = advised_rows(found)
    if not advised:
        yield _not_known(finished[0], delta)
        return
    best, *others = advised
    equal = [row for row in others if not _differ(best.pulls, row.pulls)]
    high = best.failure_interval[1]
    unknown = [row for row in found.fixed_confidence if row.stopped_early and row.mean_pulls < best.mean_pulls]
    passed = [row for row in finished if row.mean_pulls < best.mean_pulls and row not in advised]
    reason = f"{best.mean_pulls:,.0f} pulls on average, the fewest"
    reason += " of those that ended all their runs" if unknown else ""
    grounds = "have a proof" if best.proved else "are confirmed by their runs"
    if any(row.proved for row in passed):
        grounds += ", which their runs confirm" if high <= delta else ", which their runs do not contradict"
    reason += f" and {grounds}" if unknown and passed else f" of those that {grounds}" if passed else ""
    if 1 < best.runs < found.seeds:
        few, many = best.pulls_interval
        reason += f" (by {best.runs:,} runs only, 95% interval {few:,.0f} to {many:,.0f})"
    if equal:
        reason += f" (though {_listed(equal)} cannot be distinguished from it)"
    elif others:
        times = others[0].mean_pulls / best.mean_pulls
        more = f"{fold(times)} times as many" if times >= 1.1 else f"{percent(times - 1, 1)} more"
        reason += f" ({others[0].label} needs {more})"
    reason += f", and {best.failures} of {best.runs:,} wrong (95% interval up to {100 * high:.3g}%)"
    if not best.proved:
        reason += f"; no theorem says that it errs with probability at most {delta:g}"
    elif high > delta or (best.bound is not None and math.isfinite(best.bound)):
        reason += f"; that it errs with probability at most {delta:g} is a theorem"
        reason += ", which so few runs cannot show" if high > delta else ""
        if best.bound is not None and math.isfinite(best.bound):
            reason += (
                f", whose worst case of {value(best.bound)} pulls is loose: {fold(best.bound / best.mean_pulls)} "
                "times what it took"
            )
    yield f"To stop when sure, use {best.label}: {reason}."
    if high > delta and (shown := [row for row in finished if row.failure_interval[1] <= delta]):
        yield f"Of {shown[0].label}, with {shown[0].mean_pulls:,.0f} pulls, the runs themselves show it."
    if passed:
        yield _passed_over(passed[0], delta)
    if unknown:
        verb = "was" if len(unknown) == 1 else "were"
        yield f"{_listed(unknown)} {verb} truncated before that: whether fewer pulls would suffice is unknown."


def _saving(found: ComparedRows) -> Iterator[str]:
    """Yield what the advised row saves against reading all cells of a score matrix, and all candidates equally."""
    if (advised := advised_rows(found)) and (cells := advised[0].cells) is not None:
        saved = 1 - advised[0].mean_pulls / cells
        share = f"saves {percent(saved)} of them" if saved > 0 else "saves nothing"
        yield f"Reading all {cells:,} cells is never wrong; {advised[0].label} {share}."
        if found.equal is not None:
            row = advised[0]
            needed = found.equal.evaluations_for(row.failures / row.runs)
            less = 1 - row.mean_pulls / needed
            yield f"Equal reading of all candidates errs as seldom only from {needed:,} evaluations on,"
            yield (
                f"of which it saves {percent(less)}."
                if less > 0
                else "which is fewer, but that number is not known beforehand."
            )


def _not_known(best: Row, delta: float) -> str:
    """Return the sentence for a comparison in which no row is known to keep delta."""
    low, high = best.failure_interval
    says = f"MORE than delta={delta:g}" if low > delta else "too uncertain to say, more --seeds would decide"
    return (
        f"No algorithm is known to err with probability at most {delta:g}: {best.label} took the fewest pulls, "
        f"{best.mean_pulls:,.0f} on average, with {best.failures} of {best.runs:,} wrong (95% interval "
        f"{100 * low:.3g}% to {100 * high:.3g}%), {says}."
    )


def _passed_over(quickest: Row, delta: float) -> str:
    """Return the sentence on a row with fewer pulls than the recommended one."""
    low, high = quickest.failure_interval
    text = "" if quickest.proved else "Without a proof "
    text += f"{quickest.label} took {quickest.mean_pulls:,.0f} pulls, and {quickest.failures} of "
    text += f"{quickest.runs:,} were wrong"
    if low > delta:
        return f"{text}, MORE than delta={delta:g}."
    return f"{text}{f' (95% interval up to {100 * high:.3g}%)' if high > delta else ''}."


def _of_budget(found: ComparedRows) -> Iterator[str]:
    honest = [row for row in found.fixed_budget if not row.oracle]
    if not honest or found.budget is None:
        if found.given_budget and not (found.fixed_budget or found.missing):
            yield f"No fixed-budget algorithm is suitable for {found.problem.name} and this question."
        return
    finished = [row for row in honest if not row.stopped_early]
    if not finished:
        yield _none_ended("fixed-budget", honest)
        return
    full = [row for row in finished if row.runs == found.seeds] or finished
    best = next((row for row in finished if _beats(row, full[0])), full[0])
    others = [row for row in finished if row is not best and not (_beats(full[0], row) or _beats(best, row))]
    equal = [row for row in others if row in full]
    text = f"With {found.budget:,} pulls to spend, use "
    if equal:
        fewest = min(row.runs for row in [best, *equal])
        text += f"any of {_listed([best, *equal])}, which {runs(fewest)} cannot distinguish"
        if best.failures == 0 and len(others) == len(finished) - 1:
            text += " (a smaller --budget would, or more --seeds)"
    else:
        low, high = best.failure_interval
        text += f"{best.label}, wrong in {best.failures} of {runs(best.runs)}"
        text += f" (95% interval {100 * low:.3g}% to {100 * high:.3g}%)"
    if few := [row for row in others if row not in full]:
        text += f"; {_listed(few)} made no more than {runs(max(row.runs for row in few))}, too few to tell"
    oracles = [row for row in found.fixed_budget if row.oracle]
    for what in dict.fromkeys(row.algorithm.oracle_knows for row in oracles):
        some = [row for row in oracles if row.algorithm.oracle_knows == what]
        text += f"; {_listed(some)} {'uses' if len(some) == 1 else 'use'} {what}, which you do not have"
    yield text + "."


def _none_ended(kind: str, rows: Sequence[Row]) -> str:
    """Return the sentence for rows of which each has runs that were truncated."""
    longest = max(int(row.pulls.max()) for row in rows)
    return f"No {kind} algorithm ended all its runs: they were truncated, after {longest:,} pulls or fewer."


def _differ(first: np.ndarray, second: np.ndarray) -> bool:
    """Return whether the mean of paired differences differs from 0 at 95%."""
    both = min(len(first), len(second))  # their seeds are the same
    difference = (second[:both] - first[:both]).astype(np.float64)
    if len(difference) < 2:
        return False
    quantile = float(scipy.special.stdtrit(both - 1, 1 - _LEVEL / 2))
    return bool(abs(difference.mean()) > quantile * difference.std(ddof=1) / math.sqrt(both))


def _beats(first: Row, second: Row) -> bool:
    """Return whether the first is wrong less often, by McNemar's exact test on the seeds where just one of them is."""
    both = min(first.runs, second.runs)
    one, other = first.wrong[:both], second.wrong[:both]
    only_first, only_second = int((one & ~other).sum()), int((other & ~one).sum())
    if only_first >= only_second:
        return False
    return bool(2 * scipy.special.bdtr(only_first, only_first + only_second, 0.5) < _LEVEL)


def _listed(rows: Sequence[Row]) -> str:
    *first, last = [row.label for row in rows]
    return f"{', '.join(first)} and {last}" if first else last
