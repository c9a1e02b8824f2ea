"""What a search is judged beside: the start and a user's algorithms, whose errors are of one question."""

from collections.abc import Mapping, Sequence

from jaxbandits.algorithms.protocol import Rule
from jaxbandits.algorithms.traits import answers_of, tolerance_of, traits_of
from jaxbandits.checks import shown
from jaxbandits.engine.binding import accept
from jaxbandits.errors import UsageError
from jaxbandits.tuning.bijectors import check_without_axes

__all__ = ["START", "TUNED", "check_question_stays", "compared_with"]

#: The names of what is judged beside what a user adds.
START, TUNED = "start", "tuned"
#: The fields, beside the tolerance, that say what a set of arms must be.
_OF_SETS = {
    "above-threshold": ("threshold",),
    "one-above-threshold": ("threshold",),
    "all-good": ("epsilon", "multiplicative"),
}


def compared_with(known: Rule, against: Mapping[str, object] | None) -> dict[str, object]:
    """Return the algorithms to judge beside the start and what was found, by their names.

    Raises:
        UsageError: no mapping, a name that is taken, axes, or an algorithm whose errors are of another question.
    """
    if not isinstance(against, Mapping | None):
        raise UsageError(f"against must be algorithms by their names, {{'name': algorithm}}, got {shown(against)}")
    here = _question(known)
    for name, given in (against or {}).items():
        check_without_axes(f"against, {name!r}: ", other := accept(given))
        there = _question(other)
        for what in [*here, *there]:
            if (one := there.get(what)) != (start := here.get(what)):
                raise UsageError(
                    f"against, {name!r}: its errors are judged with {what} {_said(one)}, those of the start with "
                    f"{_said(start)}: ask both the same question"
                )
    if clash := {START, TUNED} & (against or {}).keys():
        raise UsageError(f"against must not use the names 'start' and 'tuned', got {clash.pop()!r}: rename it")
    return {**(against or {})}


def check_question_stays(known: Rule, wrt: Sequence[str]) -> None:
    """Check that what counts as an error is not among the parameters that are tuned.

    Raises:
        UsageError: a tolerance, for example: with a larger one all answers are right.
    """
    fields = (traits_of(known).tolerance, *_of_set(known))
    if asked := [name for name in wrt if name in fields]:
        raise UsageError(
            f"{asked[0]} says what counts as an error of {type(known).__name__}: it cannot be tuned for few errors"
        )


def _question(known: Rule) -> dict[str, object]:
    """Return what errors are judged by, by its name in messages."""
    criterion, tolerance = traits_of(known).criterion, tolerance_of(known)
    if criterion in ("exact", "aggregate") and tolerance == 0:  # then all three ask for the best arms themselves
        criterion = "epsilon-m"
    return {
        "the criterion": criterion,
        "a tolerance of": tolerance,
        "a number of arms of": answers_of(known) or "any",
        **{name: vars(known).get(name, False) for name in _of_set(known)},
    }


def _of_set(known: Rule) -> tuple[str, ...]:
    criterion = traits_of(known).criterion
    return _OF_SETS.get(criterion, ()) if isinstance(criterion, str) else ()


def _said(value: object) -> str:
    return "one of its own" if callable(value) else shown(value)
