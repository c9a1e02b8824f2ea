"""The rows of a comparison: each algorithm's runs, and what a theorem promises for it."""

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy  # type: ignore[import-untyped,unused-ignore]

from jaxbandits.algorithms.protocol import Rule
from jaxbandits.comparison.equal_reading import EqualReading
from jaxbandits.comparison.guarantees import holds_without_replacement
from jaxbandits.comparison.questions import Question, question_of
from jaxbandits.problems import Problem
from jaxbandits.report.intervals import clopper_pearson

__all__ = ["ComparedRows", "Row"]


@dataclasses.dataclass(frozen=True, eq=False)
class Row:
    """One algorithm's runs, and what a theorem promises for it.

    Attributes:
        label: its name on the command line, with the settings that differ from the defaults.
        algorithm: the algorithm.
        pulls: int64 `(runs,)`; on a score matrix the cells that were read.
        wrong: bool `(runs,)`.
        stopped_early: truncated runs; the mean of the pulls is then a lower bound.
        limit: pulls at which a run was truncated; None where only the range of the counts is a limit.
        bound: pulls exceeded with probability at most delta, or probability of error at a budget; None without a
            theorem.
        theorem: the source of the bound; empty without one.
        cells: cells of a score matrix; None on other problems.
    """

    label: str
    algorithm: Rule
    pulls: np.ndarray
    wrong: np.ndarray
    stopped_early: int
    limit: int | None
    bound: float | None
    theorem: str
    cells: int | None = None

    @property
    def unit(self) -> str:
        """Return what `pulls` counts."""
        return "pulls" if self.cells is None else "evaluations"

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
        """Return whether a theorem bounds its probability of error by delta: false for a budget, which has no delta."""
        own = "delta" in vars(self.algorithm) and self.algorithm.proved
        return own and (self.cells is None or holds_without_replacement(self.algorithm))

    @property
    def oracle(self) -> bool:
        """Return whether a parameter is taken from what is unknown before the experiment: true gaps or variances."""
        return self.algorithm.oracle

    def as_dict(self) -> dict[str, Any]:
        """Return everything as numbers, texts and lists, such as JSON takes.

        Intervals are of 95%. A bound is None without a theorem, and where it is infinite.
        """
        bound = self.bound if self.bound is not None and math.isfinite(self.bound) else None
        low, high = self.pulls_interval if self.runs > 1 else (None, None)
        return {
            "algorithm": self.label, "runs": self.runs, "mean_pulls": self.mean_pulls,
            "mean_pulls_interval": [low, high], "failures": self.failures,
            "failures_interval": list(self.failure_interval), "truncated": self.stopped_early, "limit": self.limit,
            "bound": bound, "theorem": self.theorem, "proved": self.proved, "oracle": self.oracle,
            **({} if self.cells is None else {"unit": self.unit, "cells": self.cells}),
        }  # fmt: skip


@dataclasses.dataclass(frozen=True)
class ComparedRows:
    """The rows of a comparison, and what was asked: the attributes of `Comparison`."""

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
    equal: EqualReading | None = None
    threshold: float | None = None
    all_within: float | None = None
    multiplicative: bool = False
    one_above: float | None = None

    @property
    def question(self) -> Question:
        """Return what was asked."""
        return question_of(self.epsilon, self.m, self.threshold, self.all_within, self.multiplicative, self.one_above)

    @property
    def unit(self) -> str:
        """Return what the rows of fixed confidence count."""
        return next((row.unit for row in self.fixed_confidence), "pulls")
