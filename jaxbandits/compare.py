"""Which algorithm to pick: every one that can answer a question about one problem, side by side with what theory says.

All rows are judged by the same criterion, that every returned mean is at least the m-th best minus epsilon, and see the
same rewards (common random numbers), so differences between rows are paired. Algorithms for another criterion, such as
aggregate regret, are not compared.
"""

import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from scipy.stats import binomtest  # type: ignore[import-untyped,unused-ignore]

from jaxbandits import theory
from jaxbandits.algorithms import LUCB, REGISTRY, UCBE, BuiltIn, UGapEb, UGapEc
from jaxbandits.engine.driver import Progress
from jaxbandits.errors import UsageError
from jaxbandits.problems import Bernoulli, Beta, Gaussian, Problem, TwoPoint
from jaxbandits.report.numbers import fold, value
from jaxbandits.report.tables import clopper_pearson
from jaxbandits.sweep import simulate

__all__ = ["Comparison", "Row", "compare"]

#: Settings that are worth a row of their own; an algorithm that is not here has one row, with its defaults.
VARIANTS: dict[str, Sequence[dict[str, bool | str]]] = {
    "ugape-c": ({}, {"variance": True}),
    "ugape-b": ({}, {"last": True}, {"adaptive": True}),
    "gap-e": ({"adaptive": True},),
}
_BOUNDED = (Bernoulli, Beta, TwoPoint)
#: What two rows differ by is called a difference at this level of a two-sided test; its normal quantile.
_LEVEL, _Z = 0.05, 1.96
#: Means are float32: what lies within this of a bound, relative to the largest mean, meets it.
_TOLERANCE = 1e-6


@dataclasses.dataclass(frozen=True)
class Row:
    """One algorithm's runs, and what a theorem promises for it.

    Attributes:
        label: its name on the command line, with the settings that differ from the defaults.
        algorithm: the algorithm.
        pulls: int64 `(runs,)`.
        wrong: bool `(runs,)`.
        capped: runs that were stopped at `max_pulls`; the mean of the pulls is then a lower bound.
        bound: pulls exceeded with probability at most delta, or probability of error at a budget; None without a
            theorem.
        theorem: where the bound comes from; empty without one.
    """

    label: str
    algorithm: BuiltIn
    pulls: np.ndarray
    wrong: np.ndarray
    capped: int
    bound: float | None
    theorem: str

    @property
    def mean_pulls(self) -> float:
        """Mean number of pulls."""
        return float(self.pulls.mean())

    @property
    def failures(self) -> int:
        """Runs with a wrong answer."""
        return int(self.wrong.sum())

    @property
    def failure_interval(self) -> tuple[float, float]:
        """95% interval of the probability of a wrong answer."""
        low, high = clopper_pearson(self.failures, len(self.wrong))
        return float(low), float(high)

    @property
    def oracle(self) -> bool:
        """Whether a parameter is computed from the true gaps, which nobody has before the experiment."""
        adaptive = getattr(self.algorithm, "adaptive", False)
        return getattr(self.algorithm, "a", 0) is None and not adaptive


@dataclasses.dataclass(frozen=True)
class Comparison:
    """What `compare` found.

    Attributes:
        problem: the problem.
        delta: allowed probability of error of the fixed-confidence rows.
        epsilon: accuracy.
        m: arms to return.
        seeds: runs per row.
        max_pulls: where runs are stopped.
        fixed_confidence: rows of algorithms that stop by themselves, fewest pulls first.
        budget: pulls of the fixed-budget rows.
        given_budget: whether the budget was given, and not taken from the fixed-confidence rows.
        fixed_budget: rows of algorithms that spend the budget, fewest failures first.
        lower_bound: pulls that no algorithm with this confidence gets below on average; None for families without one.
        left_out: algorithms that were not run, and why.
    """

    problem: Problem
    delta: float
    epsilon: float
    m: int
    seeds: int
    max_pulls: int
    fixed_confidence: list[Row]
    budget: int
    given_budget: bool
    fixed_budget: list[Row]
    lower_bound: float | None
    left_out: list[str]

    def advice(self) -> str:
        """One line that says which algorithm to use, and on what grounds."""
        return " ".join([*self._advice_confidence(), *self._advice_budget(), "Measured on these means only."])

    def _advice_confidence(self) -> Iterator[str]:
        finished = [row for row in self.fixed_confidence if not row.capped]
        if not finished:
            yield f"No fixed-confidence algorithm ended all its runs within {self.max_pulls:,} pulls."
            return
        best, *others = finished
        equal = [row for row in others if not _differ(best.pulls, row.pulls)]
        low, high = best.failure_interval
        reason = f"{best.mean_pulls:,.0f} pulls on average, the fewest"
        if equal:
            reason += f" (though {_listed(equal)} cannot be told apart from it)"
        elif others:
            reason += f" ({others[0].label} needs {others[0].mean_pulls / best.mean_pulls:.2g} times as many)"
        reason += f", and {best.failures} of {self.seeds:,} wrong (95% interval up to {100 * high:.3g}%)"
        if low > self.delta:
            reason += f", MORE than delta={self.delta:g}"
        elif best.bound is not None and math.isfinite(best.bound):
            reason += (
                f"; that it errs with probability at most {self.delta:g} is a theorem, whose worst case of "
                f"{value(best.bound)} pulls is loose: {fold(best.bound / best.mean_pulls)} times what it took"
            )
        yield f"To stop when sure, use {best.label}: {reason}."

    def _advice_budget(self) -> Iterator[str]:
        honest = [row for row in self.fixed_budget if not row.oracle]
        if not honest:
            return
        best, *others = honest
        equal = [row for row in others if not _differ_in_failures(best.wrong, row.wrong)]
        text = f"With {self.budget:,} pulls to spend, use "
        if equal:
            text += f"any of {_listed([best, *equal])}, which {self.seeds:,} runs cannot tell apart"
            if best.failures == 0 and len(equal) == len(others):
                text += " (a smaller --budget would)"
        else:
            text += f"{best.label}, wrong in {best.failures} of {self.seeds:,} runs"
        if oracles := [row for row in self.fixed_budget if row.oracle]:
            text += (
                f"; {_listed(oracles)} {'uses' if len(oracles) == 1 else 'use'} the true gaps, which you do not have"
            )
        yield text + "."


def compare(
    problem: Problem,
    *,
    delta: float,
    epsilon: float = 0.0,
    m: int = 1,
    budget: int | None = None,
    seeds: int = 1000,
    root_seed: int = 0,
    max_pulls: int = 10**9,
    on_progress: Callable[[Progress, int], None] | None = None,
) -> Comparison:
    """Run every registered algorithm that needs nothing but these arguments on one problem.

    Args:
        problem: the problem, no axes.
        delta: allowed probability of error, in (0, 1).
        epsilon: accuracy, not negative; 0 asks for the m best arms themselves.
        m: arms to return, 1 <= m < K.
        budget: pulls of the fixed-budget algorithms; None for the mean pulls of the best fixed-confidence one.
        seeds: runs per algorithm, at least 1.
        root_seed: as in `sweep`.
        max_pulls: as in `sweep`.
        on_progress: called now and then with what is done so far and the number of runs there will be.

    Raises:
        UsageError: a question that cannot be asked or, with epsilon = 0 and a tie for the m-th place, never answered.
    """
    if not isinstance(problem, Problem):
        raise UsageError("compare needs one problem, without axes")
    means = np.asarray(problem.mean).reshape(-1, problem.bandits)
    theory.ugape_c_pulls_bound(means, epsilon, delta, m)  # refuses values outside their ranges, by their names
    if epsilon == 0 and not np.all(theory.gaps(means, m) > 0):
        raise UsageError(
            f"arms tie for place m={m}: with epsilon 0 no algorithm can ever stop, give an epsilon above 0"
        )
    if budget is not None and budget < problem.arms:
        raise UsageError(f"the budget must cover the first pulls of {problem.arms} arms, got {budget:g}")
    stopping, left_out = _candidates(problem, delta=delta, epsilon=epsilon, m=m)
    spending, also_left_out = _candidates(problem, budget=budget or problem.arms, epsilon=epsilon, m=m)
    runs = seeds * (len(stopping) + len(spending))
    before = Progress(runs=0, pulls=0.0)

    def run(label: str, algorithm: BuiltIn) -> Row:
        nonlocal before
        latest = before

        def report(progress: Progress) -> None:
            nonlocal latest
            latest = Progress(before.runs + progress.runs, before.pulls + progress.pulls)
            if on_progress is not None:
                on_progress(latest, runs)

        dataset = simulate(algorithm, problem, seeds, root_seed=root_seed, max_pulls=max_pulls, on_progress=report)
        before = latest
        bound, theorem = _guarantee(problem, algorithm, delta=delta, epsilon=epsilon, m=m)
        return Row(
            label=label,
            algorithm=algorithm,
            pulls=dataset["pulls"].to_numpy(),
            # Not `correct`: an algorithm without an epsilon of its own is scored with 0 there.
            wrong=~(dataset["simple_regret"].to_numpy() <= epsilon + _TOLERANCE * max(1.0, np.abs(means).max())),
            capped=int(dataset["status"].to_numpy().sum()),
            bound=bound,
            theorem=theorem,
        )

    rows = sorted((run(*item) for item in stopping.items()), key=lambda row: (row.capped > 0, row.mean_pulls))
    spent = max(math.ceil(rows[0].mean_pulls), problem.arms) if budget is None else budget
    spending, _ = _candidates(problem, budget=spent, epsilon=epsilon, m=m)
    return Comparison(
        problem=problem,
        delta=delta,
        epsilon=epsilon,
        m=m,
        seeds=seeds,
        max_pulls=max_pulls,
        fixed_confidence=rows,
        budget=spent,
        given_budget=budget is not None,
        fixed_budget=sorted((run(*item) for item in spending.items()), key=lambda row: (row.failures, row.oracle)),
        lower_bound=_lower_bound(problem, delta, epsilon, m),
        left_out=left_out + also_left_out,
    )


def _candidates(problem: Problem, **known: float) -> tuple[dict[str, BuiltIn], list[str]]:
    """Algorithms of one kind, by label, and why others of that kind are left out; `known` has delta or budget."""
    kind = "delta" if "delta" in known else "budget"
    found: dict[str, BuiltIn] = {}
    left_out = []
    for name, cls in REGISTRY.items():
        if cls.criterion in ("aggregate", "ratio"):
            continue
        fields = {field.name: field for field in dataclasses.fields(cls)}
        needed = {key for key, field in fields.items() if field.default is dataclasses.MISSING}
        if kind not in fields:
            continue
        if not needed <= known.keys():
            left_out.append(f"{name} (needs {', '.join(sorted(needed - known.keys()))})")
            continue
        for settings in VARIANTS.get(name, ({},)):
            label = " ".join([name, *(word if isinstance(word, str) else key for key, word in settings.items())])
            given: dict[str, Any] = {key: value for key, value in known.items() if key in fields}
            try:
                algorithm = cls(**given, **settings)
                algorithm.resolved(problem)
                algorithm.check(problem.arms // problem.bandits, problem.bandits)
                _check_suitable(problem, algorithm, known["m"])
            except UsageError as reason:
                left_out.append(f"{label} ({reason})")
            else:
                found[label] = algorithm
    return found, left_out


def _check_suitable(problem: Problem, algorithm: BuiltIn, m: float) -> None:
    if m > 1 and not hasattr(algorithm, "m"):
        raise UsageError("returns one arm")
    if getattr(algorithm, "variance", False) and not isinstance(problem, _BOUNDED):
        raise UsageError("its radii hold for bounded rewards")
    if isinstance(algorithm, UCBE) and not np.all(theory.gaps(problem.mean) > 0):
        raise UsageError("its parameter is computed from the gaps, and the best arms tie")


def _guarantee(
    problem: Problem, algorithm: BuiltIn, *, delta: float, epsilon: float, m: int
) -> tuple[float | None, str]:
    """The bound that a theorem gives for this algorithm on this problem, and which theorem; None without one."""
    if problem.bandits > 1 or not isinstance(problem, (*_BOUNDED, Gaussian)):
        return None, ""
    means, variances, b = np.asarray(problem.mean), np.asarray(problem.variance), float(problem.reward_range)
    match algorithm:
        case UGapEc(variance=True):
            return float(
                theory.ugape_c_variance_pulls_bound(means, variances, epsilon, delta, m, b)
            ), "derived, empirical Bernstein"
        case UGapEc():
            return float(theory.ugape_c_pulls_bound(means, epsilon, delta, m, b)), "UGapE, Theorem 2"
        case LUCB():  # the theorem's rewards lie in [0, 1]
            return float(theory.lucb_pulls_bound(means / b, epsilon / b, delta, m)), "derived, after the LUCB paper"
        case UGapEb(adaptive=False, last=False):
            return float(theory.ugape_b_error_bound(means, algorithm.budget, epsilon, m, b)), "UGapE, Theorem 1"
        case UCBE():
            return float(theory.ucb_e_error_bound(means / b, algorithm.budget)), "UCB-E, Theorem 1"
    return None, ""


def _lower_bound(problem: Problem, delta: float, epsilon: float, m: int) -> float | None:
    if problem.bandits > 1:
        return None
    means = np.asarray(problem.mean)
    if isinstance(problem, Bernoulli):
        return float(theory.pulls_lower_bound(means, delta, m, epsilon))
    if isinstance(problem, Gaussian) and np.ptp(np.asarray(problem.sd)) == 0:
        return float(theory.pulls_lower_bound(means, delta, m, epsilon, "gaussian", float(problem.sd[0])))
    return None


def _differ(first: np.ndarray, second: np.ndarray) -> bool:
    """Whether the mean of paired differences is away from 0 at 95%."""
    difference = (second - first).astype(np.float64)
    if len(difference) < 2:
        return False
    return bool(abs(difference.mean()) > _Z * difference.std(ddof=1) / math.sqrt(len(difference)))


def _differ_in_failures(first: np.ndarray, second: np.ndarray) -> bool:
    """McNemar's exact test: of the seeds on which just one of the two is wrong, is it equally often either?"""
    only_first, only_second = int((first & ~second).sum()), int((second & ~first).sum())
    if only_first + only_second == 0:
        return False
    return bool(binomtest(only_first, only_first + only_second).pvalue < _LEVEL)


def _listed(rows: Sequence[Row]) -> str:
    *first, last = [row.label for row in rows]
    return f"{', '.join(first)} and {last}" if first else last
