"""The result of `jb.plan`: what counts so far say, and what to do next."""

import dataclasses
from typing import Any

from matplotlib.figure import Figure

from jaxbandits.counts.plan_facts import PlanFacts
from jaxbandits.counts.plan_picture import draw
from jaxbandits.counts.plan_words import written
from jaxbandits.report import style as looks

__all__ = ["CountPlan"]


@dataclasses.dataclass(frozen=True, eq=False)
class CountPlan(PlanFacts):
    """What counts so far say: the best arm now, how sure, how many more pulls, and what to do next.

    Attributes:
        arms: the arms, in the order of the table.
        best: the name of the arm with the largest mean.
        delta: allowed probability of error.
        epsilon: accuracy.
        rewards: `coins`, `bounded` or `normal`.
        prior: the prior of the means, in words.
        taken: which column was taken for what.
        test: the anytime-valid test at these counts; `test.delta` is the smallest delta at which it would stop now,
            not searched below e^-200.
        error: by how much the probabilities of being best may be off, by their quadrature.
        rules: what each suitable rule needs from now on, the one that needs least first; empty without rules.
        left_out: rules that cannot go on from these counts, and why.
        budget: how many more pulls there may be; None where no budget was given.
        value: the worth of one unit of reward; None where it was not given.
        next_arm: the name of the arm to pull next, by the first rule; None where it would stop, or without rules.
        next_shares: the shares of the arms among the next `horizon` pulls of that rule, by name.
        horizon: how many pulls these shares are for.

    Example:
        >>> found = jb.plan({"pulls": [900, 900], "successes": [520, 450]}, delta=0.05, rules=[])
        >>> found.best, round(found.arms[0].best, 3)
        ('arm 1', 1.0)
    """

    def __str__(self) -> str:
        """Return everything as text, in lines of at most 80 characters of prose."""
        return written(self, 80)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as numbers, texts, lists and dictionaries, such as JSON takes.

        Example:
            >>> found = jb.plan({"pulls": [900, 900], "successes": [520, 450]}, delta=0.05, rules=[])
            >>> found.as_dict()["answer"]
            'undecided'
        """
        return {
            "answer": self.answer, "best": self.best, "delta": self.delta, "epsilon": self.epsilon,
            "rewards": self.rewards, "taken": self.taken, "pulls": sum(arm.pulls for arm in self.arms),
            "anytime_delta": self.test.delta, "anytime_confidence": 1 - self.test.delta,
            "anytime_test": self.test.threshold, "probability_best": self.leader.best, "prior": self.prior,
            "probability_error": self.error, "expected_loss": self.leader.loss, "value": self.value,
            "equivalent": self.equivalent, "budget": self.budget, "undecided_by_budget": self.undecided_by_budget,
            "next_arm": self.next_arm, "next_shares": self.next_shares, "horizon": self.horizon,
            "arms": [arm.as_dict() for arm in self.arms], "rules": [rule.as_dict() for rule in self.rules],
            "left_out": list(self.left_out),
        }  # fmt: skip

    def picture(self, *, title: str | None = None, ax: looks.Place = None) -> Figure:
        """Draw the posterior of the means and, if rules were simulated, the share of the draws that each has decided.

        Args:
            title: None for the answer in one sentence, in a new picture.
            ax: two axes to draw into, one without rules, in a figure of your own: a new picture without them.

        Raises:
            UsageError: `ax` does not fit.

        Example:
            >>> found = jb.plan({"pulls": [90, 90], "successes": [60, 20]}, delta=0.1, rules=["lucb-pp"], draws=19)
            >>> found.picture().savefig("picture.png")
        """
        return draw(self, title=title, ax=ax)
