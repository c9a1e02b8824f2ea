"""The results of a comparison of algorithms: a row for each, and the advice that follows from them."""

import dataclasses
import math
from collections.abc import Iterator, Sequence

import numpy as np
import scipy  # type: ignore[import-untyped,unused-ignore]

from jaxbandits.algorithms.protocol import Rule
from jaxbandits.problems import Problem
from jaxbandits.report.formatting import fold, value
from jaxbandits.report.intervals import clopper_pearson

__all__ = ["Comparison", "Row"]

#: Two rows are called different at this level of a two-sided test; its normal quantile.
_LEVEL, _Z = 0.05, 1.96


@dataclasses.dataclass(frozen=True)
class Row:
    """One algorithm's runs, and what a theorem promises for it.

    Attributes:
        label: its name on the command line, with the settings that differ from the defaults.
        algorithm: the algorithm.
        pulls: int64 `(runs,)`.
        wrong: bool `(runs,)`.
        stopped_early: truncated runs; the mean of the pulls is then a lower bound.
        limit: pulls at which a run was truncated; None where only the range of the counts is a limit.
        bound: pulls exceeded with probability at most delta, or probability of error at a budget; None without a
            theorem.
        theorem: the source of the bound; empty without one.
    """

    label: str
    algorithm: Rule
    pulls: np.ndarray
    wrong: np.ndarray
    stopped_early: int
    limit: int | None
    bound: float | None
    theorem: str

    @property
    def runs(self) -> int:
        """Return the number of runs: fewer than requested where a pull takes long."""
        return len(self.pulls)

    @property
    def mean_pulls(self) -> float:
        """Return the mean number of pulls."""
        return float(self.pulls.mean())

    @property
    def failures(self) -> int:
        """Return the number of runs with a wrong answer."""
        return int(self.wrong.sum())

    @property
    def failure_interval(self) -> tuple[float, float]:
        """Return the 95% interval of the probability of a wrong answer."""
        low, high = clopper_pearson(self.failures, len(self.wrong))
        return float(low), float(high)

    @property
    def pulls_interval(self) -> tuple[float, float]:
        """Return the 95% interval of the mean number of pulls, Student's t; of two runs or more."""
        half = scipy.special.stdtrit(self.runs - 1, 0.975) * self.pulls.std(ddof=1) / math.sqrt(self.runs)
        return self.mean_pulls - float(half), self.mean_pulls + float(half)

    def keeps(self, delta: float) -> bool:
        """Return whether it errs with probability at most delta.

        Its runs decide, or a theorem that they do not contradict.
        """
        low, high = self.failure_interval
        return low <= delta if self.proved else high <= delta

    @property
    def proved(self) -> bool:
        """Return whether a theorem bounds its probability of error by delta."""
        return self.algorithm.proved

    @property
    def oracle(self) -> bool:
        """Return whether a parameter is computed from the true gaps, which are unknown before the experiment."""
        return self.algorithm.oracle


@dataclasses.dataclass(frozen=True)
class Comparison:
    """The result of `compare`, preliminary while algorithms are `missing`.

    Attributes:
        problem: the problem.
        delta: allowed probability of error of the fixed-confidence rows; None where there are none.
        epsilon: accuracy.
        m: arms to return.
        seeds: runs per row.
        max_pulls: where runs were to be truncated; None for the limit that `compare` chose for each row.
        fixed_confidence: rows of algorithms that stop by themselves, fewest pulls first, then truncated ones.
        budget: pulls of the fixed-budget rows; None while it is unknown.
        given_budget: whether the budget was given, and not taken from the fixed-confidence rows.
        fixed_budget: rows of algorithms that spend the budget, fewest failures first.
        lower_bound: fewest mean pulls of any algorithm with this confidence; None for families without such a bound.
        left_out: algorithms that are not suitable, and why.
        missing: labels of algorithms that have not been run yet.
    """

    problem: Problem
    delta: float | None
    epsilon: float
    m: int
    seeds: int
    max_pulls: int | None
    fixed_confidence: list[Row]
    budget: int | None
    given_budget: bool
    fixed_budget: list[Row]
    lower_bound: float | None
    left_out: list[str]
    missing: Sequence[str] = ()

    def advice(self) -> str:
        """Return one line on which algorithm to use, on what grounds, and whether all have been run."""
        advice = [*self._advice_confidence(), *self._advice_budget(), "Measured on these means only."]
        if self.missing:
            there = len(self.fixed_confidence) + len(self.fixed_budget)
            missing = f"{len(self.missing)} of {there + len(self.missing)} algorithms were not run"
            advice = [f"PRELIMINARY: {missing}, and one of them may do better.", *advice]
        return " ".join(advice)

    def _advice_confidence(self) -> Iterator[str]:
        finished = [row for row in self.fixed_confidence if not row.stopped_early]
        if not finished or self.delta is None:
            if self.fixed_confidence:
                longest = max(float(row.pulls.max()) for row in self.fixed_confidence)
                yield f"No fixed-confidence algorithm ended all its runs: they were truncated, after {longest:,.0f} "
                yield "pulls or fewer."
            return
        known = [row for row in finished if row.keeps(self.delta)]
        if not known:
            yield self._not_known(finished[0], self.delta)
            return
        best, *others = [row for row in known if row.proved] or known
        equal = [row for row in others if not _differ(best.pulls, row.pulls)]
        high = best.failure_interval[1]
        unknown = [row for row in self.fixed_confidence if row.stopped_early and row.mean_pulls < best.mean_pulls]
        passed = [row for row in finished if row.mean_pulls < best.mean_pulls and not (row.proved and row in known)]
        reason = f"{best.mean_pulls:,.0f} pulls on average, the fewest"
        reason += " of those that ended all their runs" if unknown else ""
        grounds = "have a proof" if best.proved else "are confirmed by their runs"
        reason += f" and {grounds}" if unknown and passed else f" of those that {grounds}" if passed else ""
        if 1 < best.runs < self.seeds:
            few, many = best.pulls_interval
            reason += f" (by {best.runs:,} runs only, 95% interval {few:,.0f} to {many:,.0f})"
        if equal:
            reason += f" (though {_listed(equal)} cannot be distinguished from it)"
        elif others:
            times = others[0].mean_pulls / best.mean_pulls
            more = f"{times:.2g} times as many" if times >= 1.1 else f"{100 * (times - 1):.1g}% more"
            reason += f" ({others[0].label} needs {more})"
        reason += f", and {best.failures} of {best.runs:,} wrong (95% interval up to {100 * high:.3g}%)"
        if not best.proved:
            reason += f"; no theorem says that it errs with probability at most {self.delta:g}"
        elif high > self.delta or (best.bound is not None and math.isfinite(best.bound)):
            reason += f"; that it errs with probability at most {self.delta:g} is a theorem"
            reason += ", which so few runs cannot show" if high > self.delta else ""
            if best.bound is not None and math.isfinite(best.bound):
                reason += (
                    f", whose worst case of {value(best.bound)} pulls is loose: {fold(best.bound / best.mean_pulls)} "
                    "times what it took"
                )
        yield f"To stop when sure, use {best.label}: {reason}."
        if high > self.delta and (shown := [row for row in finished if row.failure_interval[1] <= self.delta]):
            yield f"Of {shown[0].label}, with {shown[0].mean_pulls:,.0f} pulls, the runs themselves show it."
        if passed:
            yield self._passed_over(passed[0], self.delta)
        if unknown:
            verb = "was" if len(unknown) == 1 else "were"
            yield f"{_listed(unknown)} {verb} truncated before that: whether fewer pulls would suffice is unknown."

    @staticmethod
    def _not_known(best: Row, delta: float) -> str:
        """Return the sentence for a comparison in which no row is known to keep delta."""
        low, high = best.failure_interval
        says = f"MORE than delta={delta:g}" if low > delta else "too uncertain to say, more --seeds would decide"
        return (
            f"No algorithm is known to err with probability at most {delta:g}: {best.label} took the fewest pulls, "
            f"{best.mean_pulls:,.0f} on average, with {best.failures} of {best.runs:,} wrong (95% interval "
            f"{100 * low:.3g}% to {100 * high:.3g}%), {says}."
        )

    @staticmethod
    def _passed_over(quickest: Row, delta: float) -> str:
        """Return the sentence on a row with fewer pulls than the recommended one."""
        low, high = quickest.failure_interval
        text = "" if quickest.proved else "Without a proof "
        text += f"{quickest.label} took {quickest.mean_pulls:,.0f} pulls, and {quickest.failures} of "
        text += f"{quickest.runs:,} were wrong"
        if low > delta:
            return f"{text}, MORE than delta={delta:g}."
        return f"{text}{f' (95% interval up to {100 * high:.3g}%)' if high > delta else ''}."

    def _advice_budget(self) -> Iterator[str]:
        honest = [row for row in self.fixed_budget if not row.oracle]
        if not honest or self.budget is None:
            return
        best, *others = honest
        equal = [row for row in others if not _differ_in_failures(best.wrong, row.wrong)]
        text = f"With {self.budget:,} pulls to spend, use "
        if equal:
            text += f"any of {_listed([best, *equal])}, which {self.seeds:,} runs cannot distinguish"
            if best.failures == 0 and len(equal) == len(others):
                text += " (a smaller --budget would)"
        else:
            low, high = best.failure_interval
            text += f"{best.label}, wrong in {best.failures} of {best.runs:,} runs"
            text += f" (95% interval {100 * low:.3g}% to {100 * high:.3g}%)"
        if oracles := [row for row in self.fixed_budget if row.oracle]:
            text += (
                f"; {_listed(oracles)} {'uses' if len(oracles) == 1 else 'use'} the true gaps, which you do not have"
            )
        yield text + "."


def _differ(first: np.ndarray, second: np.ndarray) -> bool:
    """Return whether the mean of paired differences differs from 0 at 95%."""
    both = min(len(first), len(second))  # their seeds are the same
    difference = (second[:both] - first[:both]).astype(np.float64)
    if len(difference) < 2:
        return False
    return bool(abs(difference.mean()) > _Z * difference.std(ddof=1) / math.sqrt(len(difference)))


def _differ_in_failures(first: np.ndarray, second: np.ndarray) -> bool:
    """Return whether failures differ, by McNemar's exact test on the seeds where just one of the two is wrong."""
    only_first, only_second = int((first & ~second).sum()), int((second & ~first).sum())
    if only_first + only_second == 0:
        return False
    return bool(2 * scipy.special.bdtr(min(only_first, only_second), only_first + only_second, 0.5) < _LEVEL)


def _listed(rows: Sequence[Row]) -> str:
    *first, last = [row.label for row in rows]
    return f"{', '.join(first)} and {last}" if first else last
