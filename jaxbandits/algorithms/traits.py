"""The facts that an algorithm declares about itself; nothing is guessed from the names of its fields."""

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
from jax.typing import ArrayLike

from jaxbandits.algorithms.set_criteria import SET_CRITERIA
from jaxbandits.checks import NOT_NEGATIVE, number, whole
from jaxbandits.errors import UsageError, renamed, unknown_name

__all__ = [
    "ANY",
    "CRITERIA",
    "Theorem",
    "Traits",
    "answers_of",
    "judge_of",
    "label_of",
    "tolerance_of",
    "traits_of",
    "understates",
]

#: For answers of any number of arms.
ANY = "any"
#: What counts as a correct answer, by name; without a tolerance epsilon is 0.
CRITERIA = {
    "epsilon-m": "every returned mean is at least the m-th best minus epsilon",
    "exact": "no other m arms have a larger mean than the returned ones",
    "aggregate": "the mean of the best K means exceeds that of the returned arms by at most epsilon",
    "ratio": "every returned ratio of expected reward to expected cost is at least the best minus epsilon",
    "above-threshold": "every mean of at least threshold + epsilon is returned, and none below threshold - epsilon",
    "one-above-threshold": "one arm with a mean of at least the threshold is returned, or none where there is none",
    "all-good": "every epsilon-good arm is returned, and none that is not even (epsilon + gamma)-good",
}


@renamed(dearness="relative_cost")
@dataclasses.dataclass(frozen=True)
class Traits:
    """The facts about an algorithm's class: its attribute `traits`. A class without it has these defaults.

    Attributes:
        variants: settings that get their own rows when algorithms are compared.
        criterion: what counts as a correct answer. `epsilon-m`: every returned mean is at least the m-th best minus
            epsilon, where m is the number of arms returned. `exact`: no other m arms have a larger mean. `aggregate`:
            the mean of the best means exceeds that of the returned arms by at most epsilon. `ratio`: as `epsilon-m`
            for ratios of expected reward to expected cost. `above-threshold`: all arms whose mean is at least the
            algorithm's field `threshold`, and no others, up to the tolerance. `one-above-threshold`: one such arm, or
            none if there is none. `all-good`: all arms within the field `epsilon` of the best, and none that is further
            below by more than the tolerance; with `multiplicative`, within the share epsilon of the best mean. These
            three need `answers="any"`. Or a function of the problem, leaves `(K,)`, and the answer,
            bool `(K,)`, to a bool `()`, written with `jax.numpy`. A function that is a method of the class also gets
            the algorithm: `def is_right(self, problem, answer)` in the class, and
            `traits = jb.Traits(criterion=is_right)` below it.
        answers: the number of arms in an answer (of each bandit): a whole number, the name of the field that holds it,
            or "any". An answer with another number of arms is wrong.
        tolerance: name of the field with the epsilon of the criterion, by which an answer may miss; None for 0.
        anytime: whether a run has an answer before it ends, at checkpoints.
        multi_bandit: whether the algorithm works on several bandits at once.
        setting: what the algorithm is for, in the field's terms, for lists.
        source: the paper that it comes from, for lists.
        in_batches: whether a step is long and a run has few steps, so that the engine checks the runs after each step.
            This changes the speed only.
        stops_by: names of fields that only the stopping rule uses. A run must stop the earlier the larger such a field
            is, like the delta of a sampling rule that does not know it. One run then continues from each value in a
            grid to the next smaller one, and the whole grid costs one run. Values in a grid must differ by more than
            rounding. For a user's own algorithm it is checked that only `done` and `recommend` depend on these fields.
            It is not checked that a smaller value never stops a run earlier.
        relative_cost: how long a pull takes, roughly, as a multiple of a pull of UGapEc (measured). It sets the number
            of runs in a comparison, and changes no result of a run.
        proof_range: the largest range b of rewards for which delta is proved; infinite for a rule with a field `b`.
        unit_rewards: whether rewards, and prices that are spent, must lie in [0, 1]: other problems are refused.
        spends: name of the field that holds a budget of cost, spent pull by pull; the engine keeps the account.

    Raises:
        UsageError: an unknown criterion, or `answers` is not a number of arms.

    Example:
        >>> jb.Traits(tolerance="epsilon", answers=2).criterion
        'epsilon-m'
    """

    setting: str = ""
    source: str = ""
    variants: tuple[Mapping[str, bool | str], ...] = ({},)
    criterion: str | Callable[..., ArrayLike] = "epsilon-m"
    answers: int | str = 1
    tolerance: str | None = None
    anytime: bool = True
    multi_bandit: bool = False
    in_batches: bool = False
    stops_by: tuple[str, ...] = ()
    relative_cost: float = 1.0
    spends: str | None = None
    proof_range: float = math.inf
    unit_rewards: bool = False

    def __post_init__(self) -> None:
        if not callable(self.criterion) and self.criterion not in CRITERIA:
            raise unknown_name("criterion", str(self.criterion), CRITERIA)
        if self.criterion in SET_CRITERIA and self.answers != ANY:
            raise UsageError(f"the criterion {self.criterion!r} needs answers={ANY!r}, got {self.answers!r}")
        if not isinstance(self.answers, str):
            whole("answers, the number of arms returned,", self.answers, 1)


class Theorem(NamedTuple):
    """A bound: a formula of `theory`, its arguments, and its source."""

    formula: Callable[..., jax.Array]
    arguments: tuple[Any, ...]
    source: str


def understates(given: float, true: float) -> bool:
    """Return whether a rule takes a number of a problem, such as a range, for smaller than it is; rounding aside."""
    return given < true * (1 - 1e-5)


def label_of(name: str, settings: Mapping[str, bool | str | float]) -> str:
    """Return the label of a variant: the algorithm's name, and the switches, words and numbers that are set."""
    return " ".join([name, *(_setting(key, value) for key, value in settings.items())])


def _setting(key: str, value: bool | str | float) -> str:
    if isinstance(value, bool):
        return key
    return value if isinstance(value, str) else f"{key}={value:g}"


def traits_of(algorithm: object) -> Traits:
    """Return the traits of an algorithm, or of its class; the defaults if it declares none."""
    declared = getattr(algorithm, "traits", None)
    return declared if isinstance(declared, Traits) else Traits()


def tolerance_of(algorithm: object) -> float:
    """Return by how much a correct answer may miss, at least 0.

    Raises:
        UsageError: the declared field is missing, or holds no such number.
    """
    name, field = type(algorithm).__name__, traits_of(algorithm).tolerance
    if field is None:
        return 0.0
    if not hasattr(algorithm, field):
        raise UsageError(f"{name}: the tolerance must be the name of a field, got {field!r}, which it has not")
    return number(f"{name}: the tolerance {field}", getattr(algorithm, field), NOT_NEGATIVE)


def answers_of(algorithm: object) -> int | None:
    """Return the number of arms in an answer of an algorithm, at least 1; None for any number.

    Raises:
        UsageError: the declared field is missing, or holds no such number.
    """
    name, declared = type(algorithm).__name__, traits_of(algorithm).answers
    if declared == ANY:
        return None
    if not isinstance(declared, str):
        return int(declared)
    if not hasattr(algorithm, declared):
        raise UsageError(
            f"{name}: answers must be a number, {ANY!r}, or the name of a field that holds one, got {declared!r}"
        )
    return whole(f"{name}: the number of arms returned, {declared},", getattr(algorithm, declared), 1)


@dataclasses.dataclass(frozen=True)
class _OfProblem:
    """A criterion that ignores the algorithm; two with the same function share one program."""

    function: Callable[..., ArrayLike]

    def __call__(self, algorithm: object, problem: object, answer: jax.Array) -> ArrayLike:
        """Judge an answer."""
        del algorithm
        return self.function(problem, answer)


def judge_of(algorithm: object) -> Callable[..., ArrayLike] | None:
    """Return a criterion as a function of algorithm, problem and answer; None for one that compares means by rank."""
    criterion = traits_of(algorithm).criterion
    if not callable(criterion):
        return SET_CRITERIA.get(criterion)
    own: Callable[..., ArrayLike] = criterion
    if any(own is member for cls in type(algorithm).__mro__ for member in vars(cls).values()):
        return own
    return _OfProblem(own)
