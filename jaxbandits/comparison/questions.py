"""What is asked of a problem, in `compare` and in the theory beside runs: which criteria answer it, what is proved."""

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

from jaxbandits import theory
from jaxbandits.algorithms.set_criteria import SET_CRITERIA
from jaxbandits.algorithms.traits import Theorem, Traits
from jaxbandits.arrays.numerics import ROUNDING
from jaxbandits.checks import FINITE, NOT_NEGATIVE, each
from jaxbandits.comparison.guarantees import number
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem
from jaxbandits.sweeps.success import within
from jaxbandits.theory.several_answers import right_answers

__all__ = ["Question", "question_of"]


class Question(NamedTuple):
    """A question, and what follows from it.

    Attributes:
        criteria: the criteria of `jb.Traits` whose algorithms answer it.
        settings: the hyperparameters that follow from it, by name.
        tolerance: the one by which an answer may miss; None if it may not.
        aim: what is sought, in words.
        formula: the lower bound of the pulls, of means, delta, two more, and the law of rewards.
        own: these two, or the first.
    """

    criteria: tuple[str, ...]
    settings: Mapping[str, Any]
    tolerance: str | None
    aim: str
    formula: Callable[..., jax.Array]
    own: tuple[Any, ...]

    @property
    def of_best_arms(self) -> bool:
        """Whether the m best arms are sought."""
        return self.formula is theory.pulls_lower_bound

    @property
    def of_one_above(self) -> bool:
        """Whether one arm above a threshold is sought, or that there is none."""
        return self.formula is theory.one_above_pulls_lower_bound

    @property
    def slack(self) -> float:
        """By how much an answer may miss."""
        return 0.0 if self.tolerance is None else self.settings[self.tolerance]

    def is_asymptotic(self, problem: Problem) -> bool:
        """Return whether the lower bound holds as delta tends to 0 only: several answers may be right."""
        if self.of_one_above:
            return int(np.sum(np.asarray(problem.mean) >= self.settings["threshold"])) > 1
        return bool(self.slack > 0)

    def right(self, problem: Problem, recommended: xr.DataArray) -> np.ndarray:
        """Return which of N answers, with a dimension `seed`, are right, bool `(N,)`."""
        if (criterion := SET_CRITERIA.get(self.criteria[0])) is None:
            # Not `correct`: it judges an algorithm without an epsilon with 0.
            return within(problem, recommended, self.settings["epsilon"])
        asked = SimpleNamespace(traits=Traits(tolerance=self.tolerance), **self.settings)
        answers = jnp.asarray(recommended.transpose("seed", ...).to_numpy())
        return np.asarray(jax.jit(jax.vmap(lambda answer: criterion(asked, problem, answer)))(answers))

    def lower_bound(self, problem: Problem, delta: float | None) -> Theorem | None:
        """Return the lower bound on the pulls of any algorithm with this confidence; None without one."""
        if delta is None or problem.bandits > 1 or problem.bound_law is None:
            return None
        if self.formula is theory.all_good_pulls_lower_bound and self.is_asymptotic(problem):
            return None
        means = np.asarray(problem.mean)
        if self.of_best_arms and self.slack > 0 and np.ndim(problem.bound_law[1]):  # normal arms, each with its own sd
            try:
                right_answers(self.settings["m"], means, self.slack)
            except UsageError:  # too many
                return None
        return Theorem(self.formula, (means, delta, *self.own, *problem.bound_law), "")

    def check(self, problem: Problem, delta: float | None) -> None:
        """Refuse values outside their ranges, and with a delta a problem on which no run can end."""
        means = np.asarray(problem.mean, np.float64)
        if self.of_best_arms:
            epsilon, m = self.settings["epsilon"], self.settings["m"]
            each_bandit = np.asarray(problem.mean).reshape(-1, problem.bandits)
            some_delta = 0.5 if delta is None else delta  # without a delta any valid one will do
            jax.eval_shape(lambda: theory.ugape_c_pulls_bound(each_bandit, epsilon, some_delta, m))
            if delta is not None and epsilon == 0 and np.any(number(theory.gaps, each_bandit, m) <= 0):
                raise UsageError(
                    f"arms tie for place m={m}: with epsilon 0 no algorithm can ever stop, give one above 0"
                )
            return
        each("epsilon", slack := self.slack, NOT_NEGATIVE)
        if self.of_one_above:
            each("one_above", line := self.settings["threshold"], FINITE)
            means = means.max(keepdims=True)  # no other arm need be told from the threshold
        elif "threshold" in self.settings:
            each("threshold", line := self.settings["threshold"], FINITE)
        else:
            each("all_within", within := self.settings["epsilon"], NOT_NEGATIVE)
            if self.settings["multiplicative"] and within >= 1:
                raise UsageError(f"all_within must be below 1 with multiplicative, got {within:g}")
            line = (1 - within) * means.max() if self.settings["multiplicative"] else means.max() - within
        on_it = np.abs(means - line) <= ROUNDING * np.maximum(np.abs(means), np.abs(line))
        if delta is not None and slack == 0 and np.any(on_it):
            what = "the largest mean" if self.of_one_above else "a mean"
            raise UsageError(f"{what} lies on the line {line:g}: with epsilon 0 no algorithm can ever stop")


def question_of(
    epsilon: float = 0.0,
    m: int = 1,
    threshold: float | None = None,
    all_within: float | None = None,
    multiplicative: bool = False,
    one_above: float | None = None,
) -> Question:
    """Return the question that these arguments of `compare` ask, or refuse several questions."""
    if sum(given is not None for given in (threshold, one_above, all_within)) > 1:
        raise UsageError(
            "give one of threshold, for all arms above it, one_above, for one of them, and all_within, for all arms "
            "near the best"
        )
    if multiplicative and all_within is None:
        raise UsageError("multiplicative says what all_within means: give all_within, too")
    if one_above is not None and epsilon != 0:
        raise UsageError(f"an arm is above the threshold or not: leave out epsilon, got epsilon={epsilon:g}")
    if m != 1 and (threshold, all_within, one_above) != (None, None, None):
        raise UsageError(f"the answer has any number of arms: leave out m, got m={m}")
    near = f" up to epsilon={epsilon:g}" if epsilon else ""
    if threshold is not None:
        return Question(
            ("above-threshold",), {"threshold": threshold, "epsilon": epsilon}, "epsilon",
            f"all arms with a mean of at least {threshold:g}{near}",
            theory.threshold_pulls_lower_bound, (threshold, epsilon),
        )  # fmt: skip
    if one_above is not None:
        return Question(
            ("one-above-threshold",), {"threshold": one_above}, None,
            f"one arm with a mean of at least {one_above:g}, or none where there is none",
            theory.one_above_pulls_lower_bound, (one_above,),
        )  # fmt: skip
    if all_within is not None:
        settings = {"epsilon": all_within, "gamma": epsilon, "multiplicative": multiplicative}
        unit = " times its mean" if multiplicative else ""
        return Question(
            ("all-good",), settings, "gamma", f"all arms within {all_within:g}{unit} of the best{near}",
            theory.all_good_pulls_lower_bound, (all_within, multiplicative),
        )  # fmt: skip
    arms = f"the best {m} arms" if m > 1 else "the best arm"
    return Question(
        ("epsilon-m", "exact"), {"epsilon": epsilon, "m": m}, "epsilon",
        f"{arms}{near}" if near else f"exactly {arms}", theory.pulls_lower_bound, (m, epsilon),
    )  # fmt: skip
