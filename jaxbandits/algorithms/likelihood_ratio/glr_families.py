"""The names of the statistics and thresholds of likelihood ratio tests, and which pairs have a proof."""

import dataclasses
from typing import Any, Self, TypeVar

from jaxbandits.algorithms.hyperparameters import Hyperparameters
from jaxbandits.algorithms.parameters import Numeric
from jaxbandits.algorithms.protocol import Rule
from jaxbandits.algorithms.reward_range import with_range_from_zero
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem
from jaxbandits.statistics.exponential_families import FAMILIES
from jaxbandits.statistics.glr_boundaries import THRESHOLDS

__all__ = [
    "BETTING",
    "FAMILY_WORDS",
    "HEURISTIC",
    "STOPPING_WORDS",
    "STUDENT",
    "THRESHOLD_WORDS",
    "UNKNOWN_VARIANCE",
    "FamilyRule",
    "family_for",
    "family_of",
    "for_rewards",
    "rate_for",
    "threshold_for",
    "threshold_on",
]

A = TypeVar("A", bound=Any)

#: Normal rewards with unknown variances, one for each arm, and the threshold for them.
UNKNOWN_VARIANCE, STUDENT = "gaussian-unknown-variance", "student-mixture"
FAMILY_WORDS = (*FAMILIES, UNKNOWN_VARIANCE)
#: The thresholds of likelihood ratios; the others are rates of intervals.
THRESHOLD_WORDS = tuple(word for word in THRESHOLDS if word not in ("lucb1", "ugape"))
#: Ways of stopping, and the exploration rates of those by intervals (`glr_statistic.py`).
_RATES = {"lucb-gap": "lucb1", "ugape-index": "ugape", "elimination": "lucb1"}
#: Stopping by betting on bounded rewards.
BETTING = "betting"
STOPPING_WORDS = ("glr", *_RATES, BETTING)
#: The threshold without a proof.
HEURISTIC = "heuristic"
#: The families that a threshold is for (`jaxbandits.theory.glr_threshold`).
_PROVED = {
    "gk16": ("bernoulli",), "bounded": ("bernoulli",), "kk21-gaussian": ("gaussian",), STUDENT: (UNKNOWN_VARIANCE,),
    "kk21": tuple(FAMILIES), HEURISTIC: FAMILY_WORDS,
}  # fmt: skip


def rate_for(stopping: str) -> str | None:
    """Return the name of a stopping rule's exploration rate; None for the likelihood ratio test."""
    return _RATES.get(stopping)


def threshold_for(family: str) -> str:
    """Return the default threshold of a family, which is proved: a mixture bound."""
    return {"gaussian": "kk21-gaussian", UNKNOWN_VARIANCE: STUDENT}.get(family, "kk21")


def threshold_on(problem: Problem, family: str) -> str:
    """Return the default threshold on a problem, which is proved; on Bernoulli arms Garivier and Kaufmann's (2016).

    That one is the lowest of those that hold there. With 3 arms and delta = 0.05 it is 13 after 6000 pulls, and the
    mixture bound is 34. It stays below the mixture bound for more pulls than can be made.
    """
    return "gk16" if family == "bernoulli" == family_of(problem) else threshold_for(family)


def family_for(threshold: str | None) -> str:
    """Return the default family without a problem: a threshold's only family, or the sub-Gaussian statistic."""
    proved = _PROVED.get(threshold or "", ())
    return proved[0] if len(proved) == 1 else "gaussian"


def family_of(problem: Problem) -> str:
    """Return the family of a problem's rewards: the law that it names, or else the sub-Gaussian statistic.

    Raises:
        UsageError: a user's problem names an unknown law.
    """
    law = problem.bound_law
    if law is not None and law[0] not in FAMILIES:
        raise UsageError(f"{problem.name}: bound_law must name one of {', '.join(FAMILIES)}, got {law[0]!r}")
    return "gaussian" if law is None else law[0]


def for_rewards(rule: A, problem: Problem) -> A:
    """Return a rule with the range of a problem's rewards, where its family needs one.

    Args:
        rule: a rule with the fields `family`, not None, and `b`, None for the problem's range.
        problem: the problem.

    Raises:
        UsageError: the family does not allow the problem's rewards.
    """
    name, family = type(rule).__name__, rule.family
    if family != "gaussian" and problem.lowest_reward < 0:
        raise UsageError(f"{name}: family={family} needs rewards of at least 0, and {problem.name} has others")
    if family not in ("bernoulli", "gaussian"):
        return rule
    Hyperparameters.resolved(rule, problem)
    if family == "bernoulli" and rule.b is None and not problem.in_interval:
        raise UsageError(f"{name}: family=bernoulli needs rewards in an interval [0, b]: give b, or no family")
    return with_range_from_zero(rule, problem) if family == "bernoulli" else rule


class FamilyRule(Rule):
    """A rule with a family of rewards and a threshold: their check, and their defaults without a problem and with one.

    Raises:
        UsageError: a threshold that is proved for another family.
    """

    family: str | None
    threshold: str | None
    b: Numeric

    def __post_init__(self) -> None:
        super().__post_init__()
        name, family, threshold = type(self).__name__, self.family, self.threshold
        proved = _PROVED.get(threshold or "")
        if family is not None and proved is not None and family not in proved:
            raise UsageError(
                f"{name}: threshold={threshold} is proved for family={' or '.join(proved)}, not for family={family}"
            )

    @property
    def proved(self) -> bool:
        """Whether the threshold is proved."""
        return self.threshold != HEURISTIC

    @property
    def family_word(self) -> str:
        """The family; if none is given, the default without a problem."""
        return family_for(self.threshold) if self.family is None else self.family

    @property
    def uses_range(self) -> bool:
        """Whether it counts on the range b of the rewards: in the families that need one."""
        return self.family_word in ("bernoulli", "gaussian")

    def prepared(self) -> Self:
        """Fill in the family: without a problem, the one for any rewards in an interval."""
        rule: Any = self
        filled: Self = dataclasses.replace(rule, family=self.family_word)
        return filled

    def resolved(self, problem: Problem) -> Self:
        """Fill in the problem's family, the threshold and the range, where they are not given.

        Raises:
            UsageError: the family does not allow the problem's rewards.
        """
        rule: Any = self
        family = family_of(problem) if self.family is None else self.family
        threshold = threshold_on(problem, family) if self.threshold is None else self.threshold
        filled: Self = for_rewards(dataclasses.replace(rule, family=family, threshold=threshold), problem)
        return filled
