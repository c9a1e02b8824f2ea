"""Runs every algorithm that answers a question about one problem, to show which to pick, with bounds of theory.

All rows answer the same question and are judged alike: the m best arms, all arms above a threshold, one of them, or
all arms near the best. They see the same rewards (common random numbers), so differences between rows are paired.
Algorithms for another criterion, such as aggregate regret, are not compared.
"""

import dataclasses
from collections.abc import Callable
from pathlib import Path

from jaxbandits.algorithms.protocol import Rule
from jaxbandits.arrays.numerics import MAX_COUNT
from jaxbandits.checks import NOT_NEGATIVE, number, whole
from jaxbandits.comparison.candidates import find_candidates
from jaxbandits.comparison.compared_rows import Row
from jaxbandits.comparison.compile_ahead import compiling
from jaxbandits.comparison.equal_reading import read_equally
from jaxbandits.comparison.guarantees import theorem_on, value
from jaxbandits.comparison.questions import question_of
from jaxbandits.comparison.result import Comparison
from jaxbandits.comparison.row_limits import FEWEST_SLOW, RowLimits, relative_cost
from jaxbandits.compilers.jax_settings import own_settings
from jaxbandits.engine.driver import Progress
from jaxbandits.engine.problem_checks import check_problem
from jaxbandits.errors import UsageError
from jaxbandits.problems import Problem
from jaxbandits.status import stopped_early
from jaxbandits.storage.store_files import path_of
from jaxbandits.sweeps.run import sweep

__all__ = ["compare"]

_TOO_SLOW = f"takes long to decide: fewer than {FEWEST_SLOW} runs in the time of others"


@own_settings()
def compare(
    problem: Problem,
    *,
    delta: float | None = None,
    epsilon: float = 0.0,
    m: int = 1,
    threshold: float | None = None,
    all_within: float | None = None,
    multiplicative: bool = False,
    one_above: float | None = None,
    budget: int | None = None,
    seeds: int = 1000,
    root_seed: int = 0,
    max_pulls: int | None = None,
    store: str | Path | None = None,
    on_row: Callable[[Row, Comparison], None] | None = None,
    on_progress: Callable[[Progress, int], None] | None = None,
) -> Comparison:
    """Run every suitable algorithm on one problem, and return a table with advice; `jaxbandits compare` in Python.

    On a score matrix rows count the cells that were read. Only proofs that hold without replacement count there.

    Algorithms that draw sums of rewards at once come first: they take no time, and show how many pulls the others may
    have. Those with slow pulls come last and get fewer runs, the first of those of the others; the row reports it.

    Args:
        problem: the problem, no axes.
        delta: allowed probability of error, in (0, 1); None, with a budget, for the fixed-budget algorithms alone.
        epsilon: accuracy, not negative; 0 requires the m best arms themselves. Arms within epsilon of a threshold may
            be returned or not, and so may arms that are up to epsilon further from the best than `all_within`.
        m: arms to return, 1 <= m < K.
        threshold: asks for all arms whose mean is at least this, in place of the m best.
        all_within: asks for all arms whose mean is at most this far below the best, not negative.
        multiplicative: `all_within` is a share of the best mean, below 1.
        one_above: asks for one arm whose mean is at least this, or the answer that there is none; epsilon must be 0.
        budget: pulls of the fixed-budget algorithms; None for the mean pulls of the best fixed-confidence one, or for
            N where that is more than 5/4 N.
        seeds: runs per algorithm, at least 1.
        root_seed: as in `sweep`.
        max_pulls: where runs are truncated, at least K. None for N = 3 10^9 / (max(seeds, 100) (K + 12)), at least ten
            pulls of every arm. It is 4 times the mean pulls of the best algorithm so far where that is between N and
            5 N. Sums that are drawn at once have no limit then. Slow rules have twice the mean pulls of the best one
            with a proof, or N where that is more.
        store: a folder. Each row's runs are stored there as they end, so that an interrupted comparison, asked again,
            makes the other runs only. Another question needs another folder.
        on_row: called with each finished row and the comparison so far.
        on_progress: called now and then with the progress so far and the number of runs in total.

    Returns:
        Rows, bounds and advice. `print` shows it as the command does; `as_dict` has it in plain Python.

    Raises:
        UsageError: several questions; one that is invalid; or a folder with runs of another question. With epsilon = 0,
            a tie for the m-th place or a mean on the line: there is no answer.

    Example:
        >>> found = jb.compare(jb.bernoulli([0.9, 0.2]), budget=20, seeds=50)
        >>> len(found.fixed_budget) > 1 and not found.fixed_confidence
        True
    """
    if delta is None and budget is None:
        raise UsageError("compare needs --delta, for algorithms that stop when sure, or --budget, for the others")
    check_problem(problem)
    if problem.axes:
        raise UsageError("compare needs one problem, without axes")
    seeds = whole("seeds", seeds, 1, MAX_COUNT)
    budget = None if budget is None else whole("budget", budget, 1, MAX_COUNT)
    if max_pulls is not None:
        max_pulls = whole("max_pulls", max_pulls, problem.arms, bound="the number of arms")
    number("epsilon", epsilon, NOT_NEGATIVE)
    for name, given in {"threshold": threshold, "all_within": all_within, "one_above": one_above}.items():
        if given is not None:
            number(name, given)
    question = question_of(epsilon, m, threshold, all_within, multiplicative, one_above)
    question.check(problem, delta)
    if budget is not None and budget < problem.arms:
        raise UsageError(f"the budget must cover the first pulls of {problem.arms} arms, got {budget}")
    limits = RowLimits(problem, seeds, max_pulls)
    stopping, left_out = ({}, []) if delta is None else find_candidates(problem, limits, question, delta=delta)
    stopping = dict(sorted(stopping.items(), key=lambda item: relative_cost(item[1], problem)))
    # The budget decides which algorithms are suitable; while it is unknown, these are only counted.
    spending, also_left_out = find_candidates(problem, limits, question, budget=budget or limits.most)
    if not stopping and not spending:
        reasons = "; ".join([*left_out, *also_left_out]) or "none has a budget for this question, give a delta"
        raise UsageError(f"no algorithm is suitable: {reasons}")
    known = budget if stopping else budget or limits.most
    found = Comparison(
        problem=problem, delta=delta, epsilon=epsilon, m=m, seeds=seeds, max_pulls=max_pulls, fixed_confidence=[],
        budget=known, given_budget=budget is not None, fixed_budget=[],
        lower_bound=value(question.lower_bound(problem, delta)), missing=[*stopping, *spending],
        left_out=left_out if known is None else [*dict.fromkeys([*left_out, *also_left_out])],
        equal=read_equally(problem, seeds, epsilon=epsilon, m=m) if problem.finite and question.of_best_arms else None,
        threshold=threshold, all_within=all_within, multiplicative=multiplicative, one_above=one_above,
    )  # fmt: skip
    run = _Runner(found, root_seed, None if store is None else path_of(store), on_progress)
    with compiling(problem) as wait:
        waiting = [*stopping.items()]
        while waiting:
            label, algorithm = waiting.pop(0)
            wait(label, waiting, lambda other: limits.runs(found, other))  # noqa: B023 - called at once
            row = run(label, algorithm, limits.pulls(found, algorithm), limits.runs(found, algorithm))
            rows = sorted([*found.fixed_confidence, row], key=lambda row: (row.stopped_early > 0, row.mean_pulls))
            found = dataclasses.replace(found, fixed_confidence=rows)
            while waiting and limits.too_slow(found, waiting[0][1]):
                left_out.append(f"{waiting.pop(0)[0]} ({_TOO_SLOW})")
            if not waiting and budget is None:
                spent = limits.budget(found)
                spending, also_left_out = find_candidates(problem, limits, question, budget=spent)
                found = dataclasses.replace(found, budget=spent)
            told = left_out if found.budget is None else [*left_out, *also_left_out]
            missing = [*(label for label, _ in waiting), *spending]
            found = dataclasses.replace(found, missing=missing, left_out=[*dict.fromkeys(told)])
            if on_row is not None:
                on_row(row, found)
        for label, algorithm in [*spending.items()]:
            if limits.too_slow(found, algorithm):
                spending.pop(label)
                left_out.append(f"{label} ({_TOO_SLOW})")
        told = [*dict.fromkeys([*left_out, *also_left_out])]
        found = dataclasses.replace(found, missing=[*spending], left_out=told)
        waiting = [*spending.items()]  # not compiled before: programs depend on the size of the budget
        while waiting:
            label, algorithm = waiting.pop(0)
            wait(label, waiting, lambda other: limits.runs(found, other))  # noqa: B023 - called at once
            row = run(label, algorithm, max_pulls, limits.runs(found, algorithm))
            rows = sorted([*found.fixed_budget, row], key=lambda row: (row.failures / row.runs, row.oracle))
            found = dataclasses.replace(found, fixed_budget=rows, missing=found.missing[1:])
            if on_row is not None:
                on_row(row, found)
    return found


class _Runner:
    """Makes the runs of one row after another, and adds up their progress."""

    def __init__(
        self, found: Comparison, root_seed: int, store: Path | None,
        on_progress: Callable[[Progress, int], None] | None,
    ) -> None:  # fmt: skip
        self._question, self._root_seed, self._store, self._on_progress = found, root_seed, store, on_progress
        self._runs = found.seeds * len(found.missing)
        self._done = Progress(runs=0, pulls=0.0)

    def __call__(self, label: str, algorithm: Rule, limit: int | None, seeds: int) -> Row:
        before, asked = self._done, self._question

        def report(progress: Progress) -> None:
            self._done = progress.after(before)
            if self._on_progress is not None:
                self._on_progress(self._done, self._runs)

        store = None if self._store is None else self._store / f"{label.replace(' ', '-')}.zarr"
        dataset = sweep(
            algorithm, asked.problem, seeds, root_seed=self._root_seed, max_pulls=limit, on_progress=report, store=store
        )
        delta, finite = 0.5 if asked.delta is None else asked.delta, asked.problem.finite
        theorem = theorem_on(asked.problem, algorithm, delta=delta, epsilon=asked.epsilon, m=asked.m)
        return Row(
            label=label, algorithm=algorithm, pulls=dataset["evaluations" if finite else "pulls"].to_numpy(),
            wrong=~asked.question.right(asked.problem, dataset["recommended"]),
            stopped_early=int(stopped_early(dataset["status"].to_numpy()).sum()),
            limit=limit, bound=value(theorem), theorem="" if theorem is None else theorem.source,
            cells=int(asked.problem.all_cells) if finite else None,
        )  # fmt: skip
