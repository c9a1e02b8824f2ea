"""What an algorithm says of itself in so many words: nothing is taken from the names of its fields."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax

from jaxbandits.checks import NOT_NEGATIVE, number, whole
from jaxbandits.errors import UsageError, unknown_name

__all__ = ["ANY", "CRITERIA", "Theorem", "Traits", "answers_of", "judge_of", "tolerance_of", "traits_of"]

#: For answers of any number of arms.
ANY = "any"
#: What counts as a correct answer, by name; without a tolerance epsilon is 0.
CRITERIA = {
    "epsilon-m": "every returned mean is at least the m-th best minus epsilon",
    "exact": "no other m arms have a larger mean than the returned ones",
    "aggregate": "the mean of the best K means exceeds that of the returned arms by at most epsilon",
    "ratio": "every returned ratio of expected reward to expected cost is at least the best minus epsilon",
}


@dataclasses.dataclass(frozen=True)
class Traits:
    """Facts of an algorithm's class: its attribute `traits`, an instance of this; these defaults where it has none.

    Attributes:
        variants: settings that deserve a row each where algorithms are compared.
        criterion: what counts as a correct answer: a key of `CRITERIA`, where m is the number of arms returned, or a
            function of the problem, leaves `(K,)`, and the answer, bool `(K,)`, to a bool `()`, written with
            `jax.numpy`. A function that is a method of the class gets the algorithm, too: `def is_right(self, problem,
            answer)` in the class, and `traits = jb.Traits(criterion=is_right)` below it.
        answers: how many arms an answer has (of each bandit): a whole number, the name of the field that holds it, or
            "any". An answer of another number of arms is wrong.
        tolerance: name of the field by which an answer may miss, the epsilon of the criterion; None for 0.
        anytime: whether a run can be looked at before it ends, at checkpoints.
        multi_bandit: whether the algorithm works on several bandits at once.
        setting: what the algorithm is for, in the field's words, for lists.
        source: where it comes from, for lists.
        in_batches: a step is long and a run has few: the engine looks at the runs after each. Changes speed only.
        stops_by: names of the fields of which only the stopping rule takes notice, and under which runs stop the
            earlier the larger they are, such as the allowed probability of error of a sampling rule that does not know
            it: a run then goes on from one value of one of them to the next smaller one, and a grid over it costs one
            of its runs. Values in a grid must differ by more than rounding. Of a user's own algorithm it is checked
            that nothing but `done` and `recommend` hangs on them; that a smaller one never stops a run earlier is not.
        dearness: how many times as long a pull takes as one of UGapEc, more or less (measured): for the number of runs
            that a comparison makes. Changes no result of a run.
        unit_rewards: whether rewards must lie in [0, 1]: problems with others are refused.
        spends: name of the field that holds a budget of cost, spent pull by pull; the engine keeps the account.

    Raises:
        UsageError: a criterion that there is not, or a number of arms that is none.

    Example:
        >>> jb.Traits(tolerance="epsilon", answers=2).criterion
        'epsilon-m'
    """

    setting: str = ""
    source: str = ""
    variants: tuple[Mapping[str, bool | str], ...] = ({},)
    criterion: str | Callable[..., Any] = "epsilon-m"
    answers: int | str = 1
    tolerance: str | None = None
    anytime: bool = True
    multi_bandit: bool = False
    in_batches: bool = False
    stops_by: tuple[str, ...] = ()
    relative_cost: float = 1.0
    spends: str | None = None
    unit_rewards: bool = False

    def __post_init__(self) -> None:
        if not callable(self.criterion) and self.criterion not in CRITERIA:
            raise unknown_name("criterion", str(self.criterion), CRITERIA)
        if not isinstance(self.answers, str):
            whole("answers, the number of arms returned,", self.answers, 1)


class Theorem(NamedTuple):
    """A bound: a formula of `theory`, its arguments, and where it stands."""

    formula: Callable[..., jax.Array]
    arguments: tuple[Any, ...]
    source: str


def traits_of(algorithm: Any) -> Traits:
    """The facts of an algorithm, or of its class; the defaults where it has no `Traits` of its own."""
    declared = getattr(algorithm, "traits", None)
    return declared if isinstance(declared, Traits) else Traits()


def tolerance_of(algorithm: Any) -> float:
    """By how much an answer may miss and count as correct, at least 0.

    Raises:
        UsageError: the declared field is missing, or holds no such number.
    """
    name, field = type(algorithm).__name__, traits_of(algorithm).tolerance
    if field is None:
        return 0.0
    if not hasattr(algorithm, field):
        raise UsageError(f"{name}: the tolerance is to be in the field {field!r}, which it has not")
    return number(f"{name}: the tolerance {field}", getattr(algorithm, field), NOT_NEGATIVE)


def answers_of(algorithm: Any) -> int | None:
    """Return how many arms an answer of an algorithm has, at least 1; None for any number.

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
    """A criterion that takes no notice of the algorithm; two of the same function are one program."""

    function: Callable[[Any, jax.Array], Any]

    def __call__(self, algorithm: Any, problem: Any, answer: jax.Array) -> Any:
        """Judge an answer."""
        del algorithm
        return self.function(problem, answer)


def judge_of(algorithm: Any) -> Callable[[Any, Any, jax.Array], Any] | None:
    """Return an algorithm's own criterion as a function of algorithm, problem and answer; None for one with a name."""
    criterion = traits_of(algorithm).criterion
    if not callable(criterion):
        return None
    own: Callable[..., Any] = criterion
    if any(own is member for cls in type(algorithm).__mro__ for member in vars(cls).values()):
        return own
    return _OfProblem(own)
