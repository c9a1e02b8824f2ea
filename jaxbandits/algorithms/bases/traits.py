"""What an algorithm says of itself in so many words: nothing is taken from the names of its fields."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax

from jaxbandits.checks import NOT_NEGATIVE, number
from jaxbandits.errors import UsageError, unknown_name

__all__ = ["CRITERIA", "Theorem", "Traits", "tolerance_of", "traits_of"]

#: What counts as a correct answer; without a tolerance epsilon is 0.
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
        criterion: what counts as a correct answer, a key of `CRITERIA`; m is the number of arms returned.
        tolerance: name of the field by which an answer may miss, the epsilon of the criterion; None for 0.
        anytime: whether a run can be looked at before it ends, at checkpoints.
        multi_bandit: whether the algorithm works on several bandits at once.
        setting: what the algorithm is for, in the field's words, for lists.
        source: where it comes from, for lists.
        in_batches: a step is long and a run has few: the engine looks at the runs after each. Changes speed only.
        stops_by: names of the fields of which only the stopping rule takes notice, and under which runs stop the
            earlier the larger they are, such as the allowed probability of error of a sampling rule that does not know
            it: a run then goes on from one value of one of them to the next smaller one (`continued`), and a grid over
            it costs one of its runs. Values in a grid must differ by more than rounding.
        dearness: how many times as long a pull takes as one of UGapEc, more or less (measured): for the number of runs
            that a comparison makes. Changes no result of a run.
        spends: name of the field that holds a budget of cost, spent pull by pull; for classes that derive from
            `IndexWithBudget`, which keeps the account.

    Raises:
        UsageError: a criterion that there is not.
    """

    setting: str = ""
    source: str = ""
    variants: tuple[Mapping[str, bool | str], ...] = ({},)
    criterion: str = "epsilon-m"
    tolerance: str | None = None
    anytime: bool = True
    multi_bandit: bool = False
    in_batches: bool = False
    stops_by: tuple[str, ...] = ()
    dearness: float = 1.0
    spends: str | None = None

    def __post_init__(self) -> None:
        if self.criterion not in CRITERIA:
            raise unknown_name("criterion", str(self.criterion), CRITERIA)


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
