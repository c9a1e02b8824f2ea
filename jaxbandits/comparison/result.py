"""The result of a comparison of algorithms: a row for each, and the advice that follows from them."""

import dataclasses
from typing import TYPE_CHECKING, Any

from jaxbandits.comparison.advice import advise, advised_rows
from jaxbandits.comparison.compared_rows import ComparedRows, Row
from jaxbandits.comparison.comparison_text import show
from jaxbandits.comparison.equal_reading import EqualReading

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Comparison"]


@dataclasses.dataclass(frozen=True, eq=False)
class Comparison(ComparedRows):
    """The result of `compare`, preliminary while algorithms are `missing`.

    Attributes:
        problem: the problem.
        delta: allowed probability of error of the fixed-confidence rows; None where there are none.
        epsilon: accuracy.
        threshold: the level of the arms to return; None where that was not asked.
        all_within: how far below the best arm the arms to return may be; None where that was not asked.
        multiplicative: whether `all_within` is a share of the best mean.
        one_above: the level of the one arm to return; None where that was not asked.
        question: what was asked, a `Question`.
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
        equal: what equal reading of all candidates of a score matrix achieves; None on other problems.

    Example:
        >>> found = jb.compare(jb.bernoulli([0.9, 0.2]), budget=20, seeds=50)
        >>> found.fixed_budget[0].label in found.advice()
        True
    """

    def advice(self) -> str:
        """Return one line on which algorithm to use, on what grounds, and whether all have been run."""
        return advise(self)

    @property
    def best(self) -> Row | None:
        """Return the row that the advice names to stop when sure; None without one."""
        return next(iter(advised_rows(self)), None)

    def plot(self, **options: Any) -> "Figure":
        """Draw how often each row is right against what it takes; options as of the other pictures (`jb.plot`)."""
        from jaxbandits.comparison.comparison_picture import draw_comparison

        return draw_comparison(self, **options)

    def __str__(self) -> str:
        """Return the advice, both tables and the omissions, in lines of at most 80 characters of prose."""
        return show(self, 80)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as numbers, texts, lists and dictionaries, such as JSON takes.

        Example:
            >>> found = jb.compare(jb.bernoulli([0.9, 0.2]), budget=20, seeds=50)
            >>> sorted(found.as_dict()["fixed_budget"][0])[:4]
            ['algorithm', 'bound', 'failures', 'failures_interval']
        """
        return {
            "problem": self.problem.name, "delta": self.delta, "epsilon": self.epsilon, "m": self.m,
            "seeds": self.seeds, "max_pulls": self.max_pulls, "budget": self.budget,
            "given_budget": self.given_budget, "lower_bound": self.lower_bound, "left_out": list(self.left_out),
            "missing": list(self.missing), "advice": self.advice(), "best": self.best.label if self.best else None,
            "fixed_confidence": [row.as_dict() for row in self.fixed_confidence],
            "fixed_budget": [row.as_dict() for row in self.fixed_budget],
            **({} if self.threshold is None else {"threshold": self.threshold}),
            **({} if self.all_within is None else
               {"all_within": self.all_within, "multiplicative": self.multiplicative}),
            **({} if self.one_above is None else {"one_above": self.one_above}),
            **({} if self.equal is None else {"equal_reading": self._equal_reading(self.equal)}),
        }  # fmt: skip

    def _equal_reading(self, equal: EqualReading) -> dict[str, Any]:
        """Return what equal reading takes to err as seldom as the advised row; None without one."""
        rate = None if self.best is None else self.best.failures / self.best.runs
        return {"orders": equal.orders, "evaluations": None if rate is None else equal.evaluations_for(rate)}
