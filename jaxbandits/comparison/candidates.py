"""Which algorithm to pick: every one that can answer a question about one problem, side by side with what theory says.

All rows are judged by the same criterion, that every returned mean is at least the m-th best minus epsilon, and see the
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
from jaxbandits.arrays.jax_settings import own_settings
from jaxbandits.arrays.numerics import MAX_COUNT
from jaxbandits.checks import whole
from jaxbandits.comparison.guarantees import guarantee, lower_bound, number, value
from jaxbandits.comparison.rows import Comparison, Row
from jaxbandits.engine.admission import admitted
from jaxbandits.engine.driver import Progress
from jaxbandits.engine.first_pulls import check_first_pulls_of_one
from jaxbandits.errors import UsageError
from jaxbandits.problems import Problem
from jaxbandits.status import stopped_early
from jaxbandits.sweeps.judgement import within
from jaxbandits.sweeps.run import simulate

__all__ = ["Comparison", "Row", "compare", "comparisons"]

#: Work of a row that is stopped, in looks at an arm: some five seconds on two cores. A pull looks at every arm, and
#: costs as much again as 12 looks (measured for 10 and 50 arms); fewer runs than 100 at a time take no less time.
_WORK, _PULL, _FEWEST_RUNS = 3e9, 12, 100
#: Of an algorithm whose pulls take long: work, runs at least, and the limit of a run in pulls of the best so far. It is
#: the rules that need fewest pulls which take longest to decide, so that fewer runs tell where they stand.
_WORK_OF_DEAR, _FEWEST_OF_DEAR, _TIMES_BEST_OF_DEAR = 1.5e9, 20, 2
#: Pulls that they are reckoned with at most, in lower bounds: with proved thresholds they take five to eight of these.
_TIMES_BOUND = 7
#: So many arms sought beside the first are reckoned as as many looks again: each of them is compared with all others.
_SOUGHT = 5
#: A run may take this many times the pulls of the best algorithm so far, unless that is more than this many times N.
_TIMES_BEST, _TIMES_REACH = 4, 5


@own_settings()
def compare(problem: Problem, *, on_row: Callable[[Row], None] | None = None, **options: Any) -> Comparison:
    """Run every registered algorithm that needs nothing but these arguments on one problem.

    Args:
        problem: the problem, no axes.
        on_row: called with each row as it is finished.
        **options: those of `comparisons`, whose errors are these.
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
    """Each row as it is finished, with all that is known by then; the last is what `compare` returns.

    Algorithms that draw sums of rewards at once come first: they take no time, and show how many pulls the others may
    be given. Those whose pulls take long come last, with fewer runs, the first of the others', where the row says so.

    Args:
        problem: the problem, no axes.
        delta: allowed probability of error, in (0, 1); None, with a budget, for the fixed-budget algorithms alone.
        epsilon: accuracy, not negative; 0 asks for the m best arms themselves.
        m: arms to return, 1 <= m < K.
        budget: pulls of the fixed-budget algorithms; None for the mean pulls of the best fixed-confidence one, or for N
            where that is more than 5/4 N.
        seeds: runs per algorithm, at least 1.
        root_seed: as in `sweep`.
        max_pulls: where runs are stopped; None for N = 3 10^9 / (max(seeds, 100) (K + 12)), at least ten pulls of every
            arm, or for 4 times the mean pulls of the best algorithm so far where that is between N and 5 N. Sums that
            are drawn at once have no limit then; rules that take long have twice the mean pulls of the best one with a
            proof, or N where that is more.
        on_progress: called now and then with what is done so far and the number of runs there will be.

    Raises:
        UsageError: a question that cannot be asked or, with epsilon = 0 and a tie for the m-th place, never answered.
    """
    if delta is None and budget is None:
        raise UsageError("compare needs --delta, for algorithms that stop when sure, or --budget, for the others")
    if problem.axes:
        raise UsageError("compare needs one problem, without axes")
    seeds = whole("seeds", seeds, 1, MAX_COUNT)
    budget = None if budget is None else whole("budget", budget, 1, MAX_COUNT)
    means = np.asarray(problem.mean).reshape(-1, problem.bandits)
    # Refuses values outside their ranges, by their names; where no delta is asked for, any will do.
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
    stopping = dict(sorted(stopping.items(), key=lambda item: _dearness(item[1], problem)))
    # The budget decides which algorithms are suitable; where it is not known yet, these are counted only.
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
            # Not `correct`: an algorithm without an epsilon of its own is judged with 0 there.
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
        if algorithm.traits.dearness > 1:
            own = max(_affordable(found, algorithm, most), min(_FEWEST_OF_DEAR, seeds))
            limit = max(reach, math.ceil(_TIMES_BEST_OF_DEAR * _least(found, reach))) if max_pulls is None else limit
        row = run(label, algorithm, limit, own)
        rows = sorted([*found.fixed_confidence, row], key=lambda row: (row.stopped_early > 0, row.mean_pulls))
        found = dataclasses.replace(found, fixed_confidence=rows)
        while waiting and _affordable(found, waiting[0][1], most) < min(_FEWEST_OF_DEAR, seeds):
            few = f"fewer than {_FEWEST_OF_DEAR} runs in the time of others"
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
    """Whether pulls take no time: the algorithm asks for sums of rewards, and their law is drawn from."""
    return algorithm.traits.in_batches and type(problem).sums is not Problem.sums


def _spent(found: Comparison, reach: int, max_pulls: int | None) -> int:
    """The budget of the others: what the best fixed-confidence algorithm took on average, or what is within reach."""
    spent = _within_reach(found, reach, 1)
    if max_pulls is not None:
        spent = math.ceil(found.fixed_confidence[0].mean_pulls)
    return max(spent, found.problem.arms)


def _dearness(algorithm: Rule, problem: Problem) -> float:
    """What a pull takes beside one of UGapEc; 0 for those that take no time."""
    return 0.0 if _draws_sums(algorithm, problem) else algorithm.traits.dearness


def _affordable(found: Comparison, algorithm: Rule, limit: int) -> int:
    """Runs in a few seconds, all for those that are not dear; pulls are reckoned as those of the best one."""
    if algorithm.traits.dearness <= 1:
        return found.seeds
    pulls = min(_least(found, limit), _TIMES_BOUND * (found.lower_bound or math.inf))
    looks = pulls * (found.problem.arms + _PULL) * algorithm.traits.dearness * (1 + (found.m - 1) / _SOUGHT)
    return min(found.seeds, int(_WORK_OF_DEAR / looks))


def _least(found: Comparison, otherwise: float) -> float:
    """The mean pulls of the best algorithm with a proof that ended all its runs."""
    ended = [row.mean_pulls for row in found.fixed_confidence if row.proved and not row.stopped_early]
    return min(ended, default=float(otherwise))


def _within_reach(found: Comparison, reach: int, times: int) -> int:
    """So many times the mean pulls of the best algorithm that ended all its runs; `reach` where these are too many."""
    ended = [row.mean_pulls for row in found.fixed_confidence if not row.stopped_early]
    if not ended or _TIMES_BEST * min(ended) > _TIMES_REACH * reach:
        return reach
    return max(math.ceil(times * min(ended)), reach if times > 1 else 0)


def _candidates(problem: Problem, max_pulls: int | None = None, **known: float) -> tuple[dict[str, Rule], list[str]]:
    """Algorithms of one kind, by label, and why others of that kind are left out; `known` has delta or budget."""
    kind = "delta" if "delta" in known else "budget"
    found: dict[str, Rule] = {}
    left_out = []
    for name, cls in REGISTRY.items():
        fields = {field.name: field for field in dataclasses.fields(cls)}
        if kind not in fields or callable(cls.traits.criterion) or cls.traits.criterion in ("aggregate", "ratio"):
            continue  # or it answers another question
        needed = {key for key, field in fields.items() if field.default is dataclasses.MISSING}
        if not needed <= known.keys():
            left_out.append(f"{name} (needs {', '.join(sorted(needed - known.keys()))})")
            continue
        for settings in cls.variants_on(problem):
            label = " ".join([name, *(word if isinstance(word, str) else key for key, word in settings.items())])
            try:
                algorithm = cls(**{key: value for key, value in known.items() if key in fields}, **settings)
                own = admitted(algorithm.resolved(problem))
                algorithm.check(problem.arms // problem.bandits, problem.bandits)
                algorithm.check_suitable(problem, known["m"])
                if max_pulls is not None:
                    check_first_pulls_of_one(own, problem, max_pulls)
            except UsageError as reason:
                left_out.append(f"{label} ({reason})")
            else:
                found[label] = algorithm
    return found, left_out
