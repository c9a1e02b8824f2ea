"""How many runs and pulls a row of a comparison gets, so that each takes some seconds."""

import dataclasses
import math

from jaxbandits.algorithms.protocol import Rule
from jaxbandits.comparison.result import Comparison
from jaxbandits.problems import Problem

__all__ = ["FEWEST_SLOW", "RowLimits", "relative_cost"]

#: Work of a row that is truncated, in evaluations of an arm: some five seconds on two cores. A pull evaluates every
#: arm, and costs 12 more evaluations (measured for 10 and 50 arms). Fewer than 100 runs at a time take no less time.
_WORK, _PULL, _FEWEST_RUNS = 3e9, 12, 100
#: For an algorithm with slow pulls: work, fewest runs, and the limit of a run in multiples of the best pulls so far.
#: The rules that need the fewest pulls take longest to decide, so a few runs suffice to rank them.
_WORK_SLOW, FEWEST_SLOW, _TIMES_BEST_SLOW = 1.5e9, 20, 2
#: Largest number of pulls that their cost is estimated with, in lower bounds; proved thresholds take five to eight.
_TIMES_BOUND = 7
#: Each `_SOUGHT` arms sought beside the first cost as much as one more evaluation: they are compared with all others.
_SOUGHT = 5
#: A run may take this many times the pulls of the best algorithm so far, unless that is more than this many times N.
_TIMES_BEST, _TIMES_REACH = 4, 5


@dataclasses.dataclass(frozen=True)
class RowLimits:
    """The limits of the rows of one comparison.

    Attributes:
        problem: the problem of all rows.
        seeds: runs per row.
        max_pulls: where all runs are truncated; None for a limit of each row.
    """

    problem: Problem
    seeds: int
    max_pulls: int | None

    @property
    def reach(self) -> int:
        """Return N, the affordable pulls of a run where all runs take as many; at least ten of every arm."""
        arms = self.problem.arms
        return max(int(_WORK / (max(self.seeds, _FEWEST_RUNS) * (arms + _PULL))), 10 * arms)

    @property
    def most(self) -> int:
        """Return the pulls at which a run of an unknown length is truncated."""
        return self.reach if self.max_pulls is None else self.max_pulls

    def runs(self, found: Comparison, algorithm: Rule) -> int:
        """Return how many runs a row gets: fewer where a pull takes long."""
        return max(self._affordable(found, algorithm), min(FEWEST_SLOW, self.seeds))

    def pulls(self, found: Comparison, algorithm: Rule) -> int | None:
        """Return where the runs of a row are truncated; None for no limit."""
        if self.max_pulls is not None or "budget" in vars(algorithm):
            return self.max_pulls
        if algorithm.relative_cost > 1:
            return max(self.reach, math.ceil(_TIMES_BEST_SLOW * self._fewest_proved(found)))
        return None if _draws_sums(algorithm, self.problem) else self._within_reach(found, _TIMES_BEST)

    def least_limit(self, algorithm: Rule) -> int | None:
        """Return where the runs of a row are truncated at the earliest; None for no limit."""
        if self.max_pulls is not None or "budget" in vars(algorithm) or _draws_sums(algorithm, self.problem):
            return self.max_pulls
        return self.reach

    def too_slow(self, found: Comparison, algorithm: Rule) -> bool:
        """Return whether an algorithm would make too few runs in the time of the others."""
        return self._affordable(found, algorithm) < min(FEWEST_SLOW, self.seeds)

    def budget(self, found: Comparison) -> int:
        """Return the budget of the others: mean pulls of the best row so far, or the affordable pulls."""
        pulls = self._within_reach(found, 1)
        if self.max_pulls is not None:
            pulls = math.ceil(found.fixed_confidence[0].mean_pulls)
        return max(pulls, self.problem.arms)

    def _affordable(self, found: Comparison, algorithm: Rule) -> int:
        """Return the number of runs in a few seconds, all for fast algorithms.

        Each spends its budget, or is assumed to take the pulls of the best one.
        """
        cost = algorithm.relative_cost
        if cost <= 1:
            return self.seeds
        pulls = min(self._fewest_proved(found, self.most), _TIMES_BOUND * (found.lower_bound or math.inf))
        pulls = vars(algorithm).get("budget", pulls)
        looks = pulls * (self.problem.arms + _PULL) * cost * (1 + (found.m - 1) / _SOUGHT)
        return min(self.seeds, int(_WORK_SLOW / looks))

    def _fewest_proved(self, found: Comparison, otherwise: int | None = None) -> float:
        """Return the mean pulls of the best algorithm with a proof that ended all its runs; `reach` without one."""
        ended = [row.mean_pulls for row in found.fixed_confidence if row.proved and not row.stopped_early]
        return min(ended, default=float(self.reach if otherwise is None else otherwise))

    def _within_reach(self, found: Comparison, times: int) -> int:
        """Return `times` the best algorithm's mean pulls, or N where too many; at least N for `times` > 1."""
        ended = [row.mean_pulls for row in found.fixed_confidence if not row.stopped_early]
        if not ended or _TIMES_BEST * min(ended) > _TIMES_REACH * self.reach:
            return self.reach
        return max(math.ceil(times * min(ended)), self.reach if times > 1 else 0)


def relative_cost(algorithm: Rule, problem: Problem) -> float:
    """Return the cost of a pull relative to one of UGapEc; 0 for pulls that take no time."""
    return 0.0 if _draws_sums(algorithm, problem) else algorithm.relative_cost


def _draws_sums(algorithm: Rule, problem: Problem) -> bool:
    """Return whether pulls take no time: the algorithm requests sums of rewards, and their law can be drawn from."""
    return algorithm.traits.in_batches and type(problem).sums is not Problem.sums
