"""A question about the means, and the rule that answers it.

Degenne, Koolen, Ménard (2019), "Non-asymptotic pure exploration by solving games", NeurIPS 32.

The rule follows public programs of this paper, and was not checked against the paper itself.
"""

import dataclasses
from typing import NamedTuple, Self

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.algorithms.likelihood_ratio import glr_families as words
from jaxbandits.algorithms.likelihood_ratio.glr_families import FamilyRule
from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Arms
from jaxbandits.algorithms.registry import REGISTRY
from jaxbandits.algorithms.structured.hedge import Hedge
from jaxbandits.algorithms.structured.named_arms import check_no_arm_is_named
from jaxbandits.algorithms.traits import ANY, Traits
from jaxbandits.arrays.compensated_sums import CompensatedSum
from jaxbandits.arrays.probabilities import log_of
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem
from jaxbandits.statistics.exponential_families import FAMILIES
from jaxbandits.statistics.glr_boundaries import arms_boundary

__all__ = ["Question", "QuestionState"]

# Replaces a mean of 0 in families without one, and the share of an arm that AdaHedge gives none.
_LEAST_MEAN, _LEAST_SHARE = 1e-30, 1e-6


class QuestionState(NamedTuple):
    """The state of a rule that answers a question."""

    hedge: Hedge
    asked: CompensatedSum  # (K,): sums of the shares so far
    evidence: jax.Array  # float32 (): the likelihood ratio of the answer against its closest alternative
    order: jax.Array | None  # int32 (K,): the arms in the order of the game, see `Question.own_order`


@dataclasses.dataclass(frozen=True, kw_only=True)
class Question(FamilyRule):
    """Answers any question about the means with fixed confidence; a class for each question has two methods.

    * `answer(means)` returns an arm, int `()`, a mask of arms, bool `(K,)`, or yes or no, bool `()`.
    * `closest_alternative(means, shares)` returns means with another answer, `(K,)`: those with the least sum of
      `shares * self.divergence(means, alternative)`.

    Means are float32 `(K,)`, in units of rewards, in the run's own order of the arms. So a question that names an arm
    by its number, as `means[0] > means[1]` does, needs `shuffle_arms = False` in its class, and is refused without it.
    Shares are positive, and need not sum to 1: the stopping rule gives the numbers of pulls. "Yes" is returned as the
    mask of all arms, "no" as that of none. A question has one correct answer; where means are at its border, a run ends
    at `max_pulls` only.

    Each step, AdaHedge proposes shares w, and the closest alternative for them responds. There a share counts as at
    least 1e-6, so that the costs of alternatives differ. Each arm gains (sqrt(d) + sqrt(v ln t))^2: d is its divergence
    from the alternative, v = 1/N. AdaHedge's sum of mixability gaps begins with 0.01, as in the public programs. The
    arm furthest behind the sum of all shares is pulled. A run ends when the sum over the arms of N d, against the
    closest alternative for the numbers of pulls N, exceeds the threshold. Then the true means have the same answer with
    probability at least 1 - delta. The pulls are T* ln(1/delta) for small delta, like the lower bound (Degenne, Koolen,
    Ménard 2019).

    For normal rewards the gain is the paper's: its interval of a mean is where d <= (ln t)/N. For other rewards the
    paper inverts d; here roots of divergences are added. On coins of 0.5, 0.4, 0.2, 0.1, 0.1 the two best are then
    found with a third fewer pulls, by a program that does either. The paper keeps an AdaHedge for each answer; here is
    one, as a question may have 2^K answers.

    Three more methods may be replaced:

    * `tests(count)` returns size, number: a wrong answer gives evidence for one of `number` sets of `size` arms. By
      default that is one set, of all arms. Fewer arms need less evidence.
    * `fit(arms)` returns the estimated means, `(K,)`, and v of each, `(K,)`. For normal rewards whose means have a
      structure, that is the least squares estimate in it.
    * `own_order(count, key)` returns an order of the arms, `(K,)`, for a class with `shuffle_arms = False`: the game is
      played in it, so that ties are fair.

    Attributes:
        delta: allowed probability of error, in (0, 1).
        threshold: `kk21-gaussian`, `kk21` or `gk16` (`jaxbandits.theory.glr_threshold`, with the same proofs for any
            number of arms), or `heuristic`, ln((1 + ln t) / delta), without a proof. None takes one that is proved.
        family: the family of the rewards, for d; None takes the problem's.
        b: range of the rewards, or twice their standard deviation; None takes the problem's.

    Raises:
        UsageError: a value outside its range, a threshold that is proved for another family, a method that is missing.

    Example:
        >>> @jb.algorithm
        ... class AnyAbove(jb.Question):
        ...     level: float
        ...
        ...     def answer(self, means):
        ...         return jnp.any(means > self.level)
        ...
        ...     def closest_alternative(self, means, shares):
        ...         above = means > self.level
        ...         nearest = jnp.argmin(shares * self.divergence(means, self.level))
        ...         moved = jnp.where(jnp.any(above), above, jnp.arange(len(means)) == nearest)
        ...         return jnp.where(moved, self.level, means)
        >>> ds = jb.simulate(AnyAbove(level=0.5, delta=0.1), jb.bernoulli([0.9, 0.2]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    delta: Numeric = parameter("error probability")
    threshold: str | None = parameter(default=None, static=True, choices=("kk21-gaussian", "kk21", "gk16", "heuristic"))
    family: str | None = parameter(default=None, static=True, choices=tuple(FAMILIES))
    b: Numeric = parameter("positive", default=None)

    def is_right(self, problem: Problem, answer: jax.Array) -> jax.Array:
        """Judge an answer: it is that of the true means."""
        return jnp.all(answer == self._mask(problem.mean))

    traits = Traits(
        setting="fixed confidence, any question about the means",
        source="Degenne, Koolen, Ménard 2019",
        answers=ANY,
        criterion=is_right,
        stops_by=("delta",),
        relative_cost=5,
    )

    def resolved(self, problem: Problem) -> Self:
        """Fill in what is not given, and check that the question names no arm by its number.

        Raises:
            UsageError: it does; or an error of every rule with a family.
        """
        rule: Self = super().resolved(problem)
        if not problem.drawn:
            rule._check_order(np.asarray(problem.mean, np.float32))
        return rule

    def check(self, arms_per_bandit: int, bandits: int) -> None:
        """Check that the parameters fit a number of arms; in a live experiment, also that no arm is named."""
        super().check(arms_per_bandit, bandits)
        if self.family is not None:
            self._check_order(np.linspace(0.1, 0.9, arms_per_bandit, dtype=np.float32) * np.float32(self.b or 1))

    def _check_order(self, means: np.ndarray) -> None:
        if self.shuffle_arms and REGISTRY.name_of(type(self)) is None:
            check_no_arm_is_named(type(self).__name__, self._mask, means)

    def answer(self, means: jax.Array) -> jax.Array:
        """Return the answer for some means."""
        del means
        raise UsageError(f"{type(self).__name__} has no method answer(means)")

    def closest_alternative(self, means: jax.Array, shares: jax.Array) -> jax.Array:
        """Return the means that have another answer and are closest, float32 `(K,)`."""
        del means, shares
        raise UsageError(f"{type(self).__name__} has no method closest_alternative(means, shares)")

    def own_order(self, count: int, key: jax.Array) -> jax.Array | None:
        """Return an order for the game, int32 `(K,)`, for a rule without `shuffle_arms`; None for the arms as seen."""
        del count, key
        return None

    def fit(self, arms: Arms) -> tuple[jax.Array, jax.Array]:
        """Return estimates of the means, and their variances as multiples of one reward's, float32 `(K,)` each."""
        return arms.mean, 1 / arms.pulls

    def tests(self, count: jax.Array) -> tuple[jax.Array | float, jax.Array | float]:
        """Return how many arms a set has that a wrong answer is evidence for, and the number of these sets."""
        return count, 1.0

    def divergence(self, means: jax.Array, others: jax.Array | float) -> jax.Array:
        """Return d(means, others) of the family of the rewards, float32, at least 0."""
        family = FAMILIES[self.family_word]
        unit = {"gaussian": 2.0, "bernoulli": 1.0}.get(self.family_word)
        x, y = means, others
        if unit is not None and self.b is not None:
            x, y = x * (unit / self.b), y * (unit / self.b)
        x, y = (jnp.clip(value, family.lowest + _LEAST_MEAN, family.highest) for value in (x, y))
        return family.divergence_by(x, y - x)

    def init(self, arms: Arms, key: jax.Array) -> QuestionState:
        """Return the state after one pull of every arm."""
        one, order = jnp.ones_like(arms.mean), self.own_order(len(arms), key)
        return self._played(QuestionState(Hedge.even(len(arms)), CompensatedSum.of(one), one[0], order), arms)

    def update(self, state: QuestionState, arms: Arms, arm: jax.Array, reward: jax.Array) -> QuestionState:
        """Return the state after a pull."""
        del arm, reward
        return self._played(state, arms)

    def select(self, state: QuestionState, arms: Arms, key: jax.Array) -> jax.Array:
        """Return the arm that is furthest behind the sum of its shares (C-tracking)."""
        del key
        place = jnp.argmax((state.asked.high - _in_order(arms, state.order).pulls) + state.asked.low)
        return place if state.order is None else state.order[place]

    def done(self, state: QuestionState, arms: Arms) -> jax.Array:
        """Return whether the evidence exceeds the threshold."""
        return state.evidence > self.boundary(arms)

    def recommend(self, state: QuestionState, arms: Arms) -> jax.Array:
        """Return the answer for the estimated means."""
        del state
        return self._mask(self.fit(arms)[0])

    def boundary(self, arms: Arms) -> jax.Array:
        """Return the threshold, float32 `()`."""
        size, number = self.tests(arms.count.astype(jnp.float32))
        word = words.threshold_for(self.family_word) if self.threshold is None else self.threshold
        return arms_boundary(word, arms.time.astype(jnp.float32), size, number, log_of(self.delta))

    def _played(self, state: QuestionState, arms: Arms) -> QuestionState:
        """Return the state after one round of the game, with the evidence."""
        ranged = self.family_word in ("bernoulli", "gaussian") and self.b is None
        rule, arms = dataclasses.replace(self, b=arms.reward_range) if ranged else self, _in_order(arms, state.order)
        means, variances = rule.fit(arms)
        shares = state.hedge.shares(arms.count)
        response = rule.closest_alternative(means, jnp.maximum(shares, _LEAST_SHARE))
        gains = jnp.sqrt(rule.divergence(means, response)) + jnp.sqrt(variances * jnp.log(arms.time))
        return QuestionState(
            hedge=state.hedge.after(gains * gains, arms.count),
            asked=state.asked.plus(shares),
            evidence=rule.evidence(means, arms.pulls.astype(jnp.float32)),
            order=state.order,
        )

    def evidence(self, means: jax.Array, pulls: jax.Array) -> jax.Array:
        """Return the likelihood ratio of the answer against its closest alternative, float32 `()`."""
        return jnp.sum(pulls * self.divergence(means, self.closest_alternative(means, pulls)))

    def _mask(self, means: jax.Array) -> jax.Array:
        """Return the answer for some means as a mask of arms, bool `(K,)`."""
        found = jnp.asarray(self.answer(means))
        number = jnp.arange(len(means))
        return jnp.broadcast_to(found, number.shape) if found.dtype == bool else number == found


def _in_order(arms: Arms, order: jax.Array | None) -> Arms:
    """Return the means and pulls by the places of an order."""
    return arms if order is None else dataclasses.replace(arms, mean=arms.mean[order], pulls=arms.pulls[order])
