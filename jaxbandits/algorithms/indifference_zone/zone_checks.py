"""What rules with an indifference zone have in common: their checks."""

import dataclasses

import numpy as np

from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Rule
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem

__all__ = ["ZoneRule"]


@dataclasses.dataclass(frozen=True)
class ZoneRule(Rule):
    """A rule that finds the best arm if it leads by epsilon, for normal rewards."""

    epsilon: Numeric = parameter("positive")
    delta: Numeric = parameter("error probability")

    def check(self, arms_per_bandit: int, bandits: int) -> None:
        """Check also that delta promises more than a guess, and that n0 pulls have a variance.

        Raises:
            UsageError: delta is 1 - 1/K or more, n0 is 1, or an error of every rule.
        """
        super().check(arms_per_bandit, bandits)
        name, count = type(self).__name__, arms_per_bandit
        if (largest := float(np.max(np.asarray(self.delta)))) >= 1 - 1 / count:
            raise UsageError(f"{name}: delta must be below 1 - 1/K = {1 - 1 / count:g}, got {largest:g}")
        if (least := int(np.min(np.asarray(self.n0)))) < 2:  # type: ignore[attr-defined]
            raise UsageError(f"{name}: n0 must be at least 2 for an empirical variance, got {least}")

    def check_suitable(self, problem: Problem, m: float) -> None:
        """Check also that rewards are normal, and that the best arm leads by epsilon.

        Raises:
            UsageError: it does not, rewards are not normal, or m is not 1.
        """
        super().check_suitable(problem, m)
        if not problem.normal:
            raise UsageError("its guarantee is for normal rewards")
        second, first = np.sort(np.asarray(problem.mean, np.float64))[-2:]
        if first - second < self.epsilon * (1 - 1e-6):  # float32 means
            raise UsageError(
                f"its guarantee is for a best arm that leads by epsilon, and the lead is {first - second:g}"
            )
