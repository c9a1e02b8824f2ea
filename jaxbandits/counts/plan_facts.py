"""What a plan from counts consists of: the attributes of `CountPlan`, and what follows from them."""

import dataclasses
import math
from typing import Any

from jaxbandits.counts.anytime_confidence import AnytimeTest
from jaxbandits.counts.further_pulls import FurtherPulls

__all__ = ["ArmNow", "PlanFacts"]


@dataclasses.dataclass(frozen=True)
class ArmNow:
    """What is known of an arm.

    Attributes:
        name: its name.
        pulls: how often it was pulled.
        mean: the mean of its rewards; NaN without pulls.
        interval: of 95% of the posterior of its mean.
        best: posterior probability that it is the best arm.
        near: posterior probability that no arm is better by more than epsilon.
        loss: posterior expectation of the best mean less its own.
    """

    name: str
    pulls: int
    mean: float
    interval: tuple[float, float]
    best: float
    near: float
    loss: float

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON takes it; no mean without pulls."""
        mean = None if math.isnan(self.mean) else self.mean
        return {**dataclasses.asdict(self), "mean": mean, "interval": list(self.interval)}


@dataclasses.dataclass(frozen=True, eq=False)
class PlanFacts:
    """The attributes of `CountPlan`."""

    arms: list[ArmNow]
    best: str
    delta: float
    epsilon: float
    rewards: str
    prior: str
    taken: str
    test: AnytimeTest
    error: float
    rules: list[FurtherPulls]
    left_out: list[str]
    budget: int | None
    value: float | None
    next_arm: str | None
    next_shares: dict[str, float]
    horizon: int

    @property
    def leader(self) -> ArmNow:
        """Return the arm with the largest mean."""
        return next(arm for arm in self.arms if arm.name == self.best)

    @property
    def equivalent(self) -> list[str]:
        """Return the arms that are within epsilon of the best with posterior probability 1 - delta; none if one is."""
        near = [arm.name for arm in self.arms if arm.near >= 1 - self.delta]
        return near if len(near) > 1 and self.epsilon > 0 else []

    @property
    def answer(self) -> str:
        """Return `decided`, `equivalent` or `undecided`.

        It is `decided` if the anytime-valid test would stop now at delta. Otherwise it is `equivalent` if several arms
        are within epsilon of the best with posterior probability 1 - delta.
        """
        if self.test.delta <= self.delta:
            return "decided"
        return "equivalent" if self.equivalent else "undecided"

    @property
    def undecided_by_budget(self) -> float | None:
        """Return the share of the draws that no further pulls up to the budget decide, by the first rule."""
        if self.budget is None or not self.rules:
            return None
        return 1 - self.rules[0].decided_by(self.budget)
