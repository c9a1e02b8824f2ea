"""Runs every algorithm that answers a question about one problem, to show which to pick, with bounds of theory.

All rows are judged by the same criterion: every returned mean is at least the m-th best minus epsilon. They see the
same rewards (common random numbers), so differences between rows are paired. Algorithms for another criterion, such as
aggregate regret, are not compared.
"""

import dataclasses
import math
from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np

from jaxbandits import theory
from jaxbandits.algorithms.protocol import Rule
from jaxbandits.algorithms.registry import REGISTRY
from jaxbandits.arrays.numerics import MAX_COUNT
from jaxbandits.checks import whole
from jaxbandits.comparison.advice import Comparison, Row
from jaxbandits.comparison.guarantees import guarantee, lower_bound, number, value
from jaxbandits.compilers.jax_settings import own_settings
from jaxbandits.engine.driver import Progress
from jaxbandits.engine.first_pulls import check_first_pulls_of_one
from jaxbandits.errors import UsageError
from jaxbandits.problems import Problem
from jaxbandits.status import stopped_early
from jaxbandits.sweeps.run import simulate
from jaxbandits.sweeps.success import within

__all__ = ["Comparison", "Row", "compare", "comparisons"]

#: Work of a row that is truncated, in evaluations of an arm: some five seconds on two cores. A pull evaluates every
#: arm, and costs 12 more evaluations (measured for 10 and 50 arms). Fewer than 100 runs at a time take no less time.
_WORK, _PULL, _FEWEST_RUNS = 3e9, 12, 100
#: For an algorithm with slow pulls: work, fewest runs, and the limit of a run in multiples of the best pulls so far.
#: The rules that need the fewest pulls take longest to decide, so a few runs suffice to rank them.
_WORK_EXPENSIVE, _FEWEST_EXPENSIVE, _TIMES_BEST_EXPENSIVE = 1.5e9, 20, 2
#: Largest number of pulls that their cost is estimated with, in lower bounds; proved thresholds take five to eight.
_TIMES_BOUND = 7
#: Each `_SOUGHT` arms sought beside the first cost as much as one more evaluation: they are compared with all others.
_SOUGHT = 5
#: A run may take this many times the pulls of the best algorithm so far, unless that is more than this many times N.
_TIMES_BEST, _TIMES_REACH = 4, 5


@own_settings()
def compare(problem: Problem, *, on_row: Callable[[Row], None] | None = None, **options: Any) -> Comparison:
    """Run every registered algorithm that needs nothing but these arguments on one problem.

    Args:
        problem: the problem, no axes.
        on_row: called with each finished row.
        **options: those of `comparisons`, with the same errors.
    """
    for row, found in comparisons(problem, **options):  # noqa: B007 - the last is returned
        if on_row is not None:
            on_row(row)
    return found


def comparisons(
    problem: Problem,
    *,
    delta: float | None = None,
    epsilon: float = 0.0,
    m: int = 1,
    budget: int | None = None,
    seeds: int = 1000,
    root_seed: int = 0,
    max_pulls: int | None = None,
    on_progress: Callable[[Progress, int], None] | None = None,
) -> Iterator[tuple[Row, Comparison]]:
    """Yield each finished row with the comparison so far; the last one is the result of `compare`.

    Algorithms that draw sums of rewards at once come first: they take no time, and show how many pulls the others may
    have. Those with slow pulls come last and get fewer runs, the first of those of the others; the row reports it.

    Args:
        problem: the problem, no axes.
        delta: allowed probability of error, in (0, 1); None, with a budget, for the fixed-budget algorithms alone.
        epsilon: accuracy, not negative; 0 requires the m best arms themselves.
        m: arms to return, 1 <= m < K.
        budget: pulls of the fixed-budget algorithms; None for the mean pulls of the best fixed-confidence one, or for
            N where that is more than 5/4 N.
        seeds: runs per algorithm, at least 1.
        root_seed: as in `sweep`.
        max_pulls: where runs are truncated. None for N = 3 10^9 / (max(seeds, 100) (K + 12)), at least ten pulls of
            every arm. It is 4 times the mean pulls of the best algorithm so far where that is between N and 5 N. Sums
            that are drawn at once have no limit then. Slow rules have twice the mean pulls of the best one with a
            proof, or N where that is more.
        on_progress: called now and then with the progress so far and the number of runs in total.

    Raises:
        UsageError: a question that is invalid or, with epsilon = 0 and a tie for the m-th place, has no answer.
    """
    if delta is None and budget is None:
        raise UsageError("compare needs --delta, for algorithms that stop when sure, or --budget, for the others")
    if problem.axes:
        raise UsageError("compare needs one problem, without axes")
    seeds = whole("seeds", seeds, 1, MAX_COUNT)
    budget = None if budget is None else whole("budget", budget, 1, MAX_COUNT)
    means = np.asarray(problem.mean).reshape(-1, problem.bandits)
    # Refuses values outside their ranges, by their names; without a delta any valid one will do.
    some_delta = 0.5 if delta is None else delta
    jax.eval_shape(lambda: theory.ugape_c_pulls_bound(means, epsilon, some_delta, m))
    if delta is not None and epsilon == 0 and np.any(number(theory.gaps, means, m) <= 0):
        raise UsageError(f"arms tie for place m={m}: with epsilon 0 no algorithm can ever stop, give one above 0")
    if budget is not None and budget < problem.arms:
        raise UsageError(f"the budget must cover the first pulls of {problem.arms} arms, got {budget}")
    reach = max(int(_WORK / (max(seeds, _FEWEST_RUNS) * (problem.arms + _PULL))), 10 * problem.arms)
    most = reach if max_pulls is None else max_pulls
    asked = {"epsilon": epsilon, "m": m}
    stopping, left_out = ({}, []) if delta is None else _candidates(problem, max_pulls, delta=delta, **asked)
    stopping = dict(sorted(stopping.items(), key=lambda item: _relative_cost(item[1], problem)))
    # The budget decides which algorithms are suitable; while it is unknown, these are only counted.
    spending, also_left_out = _candidates(problem, max_pulls, budget=budget or most, **asked)
    if not stopping and not spending:
        raise UsageError(f"no algorithm is suitable: {'; '.join([*left_out, *also_left_out])}")
    known = budget if stopping else budget or most
    found = Comparison(
        problem=problem, delta=delta, epsilon=epsilon, m=m, seeds=seeds, max_pulls=max_pulls, fixed_confidence=[],
        budget=known, given_budget=budget is not None, fixed_budget=[],
        lower_bound=value(lower_bound(problem, delta, epsilon, m)), missing=[*stopping, *spending],
        left_out=left_out if known is None else [*dict.fromkeys([*left_out, *also_left_out])],
    )  # fmt: skip
    runs = seeds * len(found.missing)
    before = Progress(runs=0, pulls=0.0)

    def run(label: str, algorithm: Rule, limit: int | None, seeds: int) -> Row:
        nonlocal before
        latest = before

        def report(progress: Progress) -> None:
            nonlocal latest
            latest = progress.after(before)
            if on_progress is not None:
                on_progress(latest, runs)

        dataset = simulate(algorithm, problem, seeds, root_seed=root_seed, max_pulls=limit, on_progress=report)
        before = latest
        bound, theorem = guarantee(problem, algorithm, delta=some_delta, epsilon=epsilon, m=m)
        return Row(
            # Not `correct`: it judges an algorithm without an epsilon with 0.
            label=label, algorithm=algorithm, pulls=dataset["pulls"].to_numpy(),
            wrong=~within(problem, dataset["recommended"], epsilon),
            stopped_early=int(stopped_early(dataset["status"].to_numpy()).sum()),
            limit=limit, bound=bound, theorem=theorem,
        )  # fmt: skip

    waiting = [*stopping.items()]
    while waiting:
        label, algorithm = waiting.pop(0)
        limit, own = max_pulls, seeds
        if max_pulls is None and not _draws_sums(algorithm, problem):
            limit = _within_reach(found, reach, _TIMES_BEST)
        if algorithm.traits.relative_cost > 1:
            own = max(_affordable(found, algorithm, most), min(_FEWEST_EXPENSIVE, seeds))
            limit = max(reach, math.ceil(_TIMES_BEST_EXPENSIVE * _least(found, reach))) if max_pulls is None else limit
        row = run(label, algorithm, limit, own)
        rows = sorted([*found.fixed_confidence, row], key=lambda row: (row.stopped_early > 0, row.mean_pulls))
        found = dataclasses.replace(found, fixed_confidence=rows)
        while waiting and _affordable(found, waiting[0][1], most) < min(_FEWEST_EXPENSIVE, seeds):
            few = f"fewer than {_FEWEST_EXPENSIVE} runs in the time of others"
            left_out.append(f"{waiting.pop(0)[0]} (takes long to decide: {few})")
        if not waiting and budget is None:
            spent = _spent(found, reach, max_pulls)
            spending, also_left_out = _candidates(problem, max_pulls, budget=spent, **asked)
            found = dataclasses.replace(found, budget=spent)
        told = left_out if found.budget is None else [*left_out, *also_left_out]
        missing = [*(label for label, _ in waiting), *spending]
        found = dataclasses.replace(found, missing=missing, left_out=[*dict.fromkeys(told)])
        yield row, found
    for label, algorithm in spending.items():
        row = run(label, algorithm, max_pulls, seeds)
        rows = sorted([*found.fixed_budget, row], key=lambda row: (row.failures, row.oracle))
        found = dataclasses.replace(found, fixed_budget=rows, missing=found.missing[1:])
        yield row, found


def _draws_sums(algorithm: Rule, problem: Problem) -> bool:
    """Return whether pulls take no time: the algorithm requests sums of rewards, and their law can be drawn from."""
    return algorithm.traits.in_batches and type(problem).sums is not Problem.sums


def _spent(found: Comparison, reach: int, max_pulls: int | None) -> int:
    """Return the budget of the others: mean pulls of the best fixed-confidence algorithm, or the affordable pulls."""
    spent = _within_reach(found, reach, 1)
    if max_pulls is not None:
        spent = math.ceil(found.fixed_confidence[0].mean_pulls)
    return max(spent, found.problem.arms)


def _relative_cost(algorithm: Rule, problem: Problem) -> float:
    """Return the cost of a pull relative to one of UGapEc; 0 for pulls that take no time."""
    return 0.0 if _draws_sums(algorithm, problem) else algorithm.traits.relative_cost


def _affordable(found: Comparison, algorithm: Rule, limit: int) -> int:
    """Return the number of runs in a few seconds, all for fast algorithms; the best one's pulls are assumed."""
    if algorithm.traits.relative_cost <= 1:
        return found.seeds
    pulls = min(_least(found, limit), _TIMES_BOUND * (found.lower_bound or math.inf))
    looks = pulls * (found.problem.arms + _PULL) * algorithm.traits.relative_cost * (1 + (found.m - 1) / _SOUGHT)
    return min(found.seeds, int(_WORK_EXPENSIVE / looks))


def _least(found: Comparison, otherwise: float) -> float:
    """Return the mean pulls of the best algorithm with a proof that ended all its runs."""
    ended = [row.mean_pulls for row in found.fixed_confidence if row.proved and not row.stopped_early]
    return min(ended, default=float(otherwise))


def _within_reach(found: Comparison, reach: int, times: int) -> int:
    """Return `times` the best algorithm's mean pulls, `reach` where too many; at least `reach` for `times` > 1."""
    ended = [row.mean_pulls for row in found.fixed_confidence if not row.stopped_early]
    if not ended or _TIMES_BEST * min(ended) > _TIMES_REACH * reach:
        return reach
    return max(math.ceil(times * min(ended)), reach if times > 1 else 0)


def _candidates(problem: Problem, max_pulls: int | None = None, **known: float) -> tuple[dict[str, Rule], list[str]]:
    """Return algorithms of one kind, by label, and why others are left out; `known` has delta or budget."""
    kind = "delta" if "delta" in known else "budget"
    found: dict[str, Rule] = {}
    left_out = []
    for name, cls in REGISTRY.items():
        fields = {field.name: field for field in dataclasses.fields(cls)}
        if kind not in fields or callable(cls.traits.criterion) or cls.traits.criterion in ("aggregate", "ratio"):
            continue  # of the other kind, or for another question
        needed = {key for key, field in fields.items() if field.default is dataclasses.MISSING}
        if not needed <= known.keys():
            left_out.append(f"{name} (needs {', '.join(sorted(needed - known.keys()))})")
            continue
        for settings in cls.variants_on(problem):
            label = " ".join([name, *(word if isinstance(word, str) else key for key, word in settings.items())])
            try:
                algorithm = cls(**{key: value for key, value in known.items() if key in fields}, **settings)
                own = algorithm.resolved(problem)
                algorithm.check(problem.arms // problem.bandits, problem.bandits)
                algorithm.check_suitable(problem, known["m"])
                if max_pulls is not None:
                    check_first_pulls_of_one(own, problem, max_pulls)
            except UsageError as reason:
                left_out.append(f"{label} ({reason})")
            else:
                found[label] = algorithm
    return found, left_out
