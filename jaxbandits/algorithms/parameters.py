"""The fields of hyperparameters, and the checks of their values."""

import dataclasses
from typing import TYPE_CHECKING, Any, TypeVar

import jax
import numpy as np

from jaxbandits import checks
from jaxbandits.arrays.probabilities import LogProbability
from jaxbandits.axes import Axis
from jaxbandits.errors import UsageError, unknown_name

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = [
    "RULES",
    "Numeric",
    "Word",
    "axes_of",
    "by_logarithm",
    "check_parameter",
    "is_made_float",
    "is_own_number",
    "is_parameter",
    "is_whole",
    "is_word",
    "parameter",
    "reaches",
    "values_of",
    "with_run_types",
]

T = TypeVar("T", bound="DataclassInstance")

#: A hyperparameter: a number, an array of numbers once it is batched, an axis of a grid, or None if that is allowed.
Numeric = Any


@jax.tree_util.register_static
class Word(str):
    """A word in place of a number; it is part of the program, while a number is part of its input."""

    __slots__ = ()


def parameter(
    rule: str = "",
    *,
    default: object = dataclasses.MISSING,
    static: bool = False,
    common: int | None = None,
    choices: tuple[str, ...] = (),
    words: tuple[str, ...] = (),
    per_arm: bool | None = None,
) -> Any:
    """Declare a hyperparameter's field.

    Args:
        rule: the values that are allowed: `probability` or `error probability` (strictly between 0 and 1), `positive`,
            `above one`, `not negative`, `finite`, `at least one` (1 and above), or `count` (whole numbers from 1 on).
        default: the default value.
        static: whether the value is part of the program (a choice of code path), not of its input.
        common: a common whole number: a grid in which all values equal it gets its own, cheaper program.
        choices: the words that are allowed, for a static parameter that is a word; None too if it is the default.
        words: words that are allowed in place of a number: rules by which the algorithm finds it.
        per_arm: whether the value may be an array `(K,)` with a value for each arm, in the problem's order; each run
            gets it in the run's order. False for an array that has nothing to do with arms, but may have length K.

    Raises:
        UsageError: an unknown rule.

    Example:
        >>> @jb.algorithm
        ... class Fixed:
        ...     budget: int = jb.parameter("count")
        ...
        ...     def select(self, arms, key):
        ...         return jnp.argmin(arms.pulls)
        ...
        ...     def done(self, arms):
        ...         return arms.time >= self.budget
        ...
        ...     def recommend(self, arms):
        ...         return jnp.argmax(arms.mean)
        ...
        >>> Fixed(budget=0)
        Traceback (most recent call last):
            ...
        jaxbandits.errors.UsageError: Fixed: budget must be a whole number, at least 1, got 0
    """
    if rule and rule not in RULES:
        raise unknown_name("rule of a parameter", rule, RULES)
    metadata = {
        "rule": rule, "static": static, "common": common, "choices": choices, "words": words, "per_arm": per_arm,
    }  # fmt: skip
    return dataclasses.field(default=default, metadata=metadata)


def is_parameter(field: dataclasses.Field[object]) -> bool:
    """Return whether a field was made with `parameter`; the meaning of other fields is never guessed from a name."""
    return "rule" in field.metadata


def is_made_float(field: dataclasses.Field[object], value: object) -> bool:
    """Return whether values of each arm become float64: a list or a column of a data frame, or whole numbers.

    The last is so in a field for all numbers of a kind. A saved session reads them back as such.
    """
    if isinstance(value, jax.core.Tracer) or not field.metadata.get("per_arm"):
        return False
    if isinstance(value, np.ndarray | jax.Array):
        return value.dtype.kind in "iu" and field.metadata.get("rule") not in (None, "count")
    return isinstance(value, list | tuple) or (hasattr(value, "__array__") and not isinstance(value, np.generic))


def is_own_number(field: dataclasses.Field[object]) -> bool:
    """Return whether a user's parameter is a number of its own, though a setting of built-in rules has its name.

    Of built-in rules `b` is the range of the rewards, by default the problem's, and the others choose a path of code.
    """
    if field.name == "b":
        return field.default is not None
    return field.name in ("adaptive", "radius", "stopping", "variance") and not field.metadata.get("static")


def is_word(field: dataclasses.Field[object], value: object) -> bool:
    """Return whether a value is one of the words that are allowed in place of the field's number."""
    return isinstance(value, str) and value in field.metadata.get("words", ())


#: Rules for values that runs do not use as float32.
_EXACT = ("count", "error probability")


def by_logarithm(field: dataclasses.Field[object]) -> bool:
    """Return whether runs use the logarithm of a field's value, a `LogProbability`."""
    return field.metadata.get("rule") == "error probability"


def reaches(value: Numeric, least: float) -> bool:
    """Return whether a value, or each of several, is at least this; true of an axis, whose value is not known yet."""
    return isinstance(value, Axis) or bool(np.all(np.asarray(value) >= least))


def with_run_types(algorithm: T) -> T:
    """Return the algorithm as runs use it: an error probability is a `LogProbability`, a whole number an int.

    Only single numbers are replaced: 5000.0, which is taken for a count, would make a state of floats.
    """
    found: dict[str, object] = {}
    for field in dataclasses.fields(algorithm):
        value = getattr(algorithm, field.name)
        if by_logarithm(field) and checks.is_number(value):
            found[field.name] = LogProbability.of(value)
        elif field.metadata.get("rule") == "count" and isinstance(value, float | np.floating):
            found[field.name] = int(value)
    return dataclasses.replace(algorithm, **found) if found else algorithm


RULES = {
    "probability": checks.INSIDE_UNIT,
    "error probability": checks.INSIDE_UNIT,  # however small: runs use its logarithm
    "positive": checks.POSITIVE,
    "above one": checks.ABOVE_ONE,
    "not negative": checks.NOT_NEGATIVE,
    "finite": checks.FINITE,
    "at least one": checks.AT_LEAST_ONE,
    "count": checks.whole_rule(1),
}


def is_whole(field: dataclasses.Field[object]) -> bool:
    """Return whether a field is for whole numbers: by its rule, or because it is declared as `int` or `int | None`."""
    declared: Any = field.type
    return field.metadata.get("rule") == "count" or declared in ("int", "int | None", int, int | None)


def check_parameter(owner: str, field: dataclasses.Field[object], value: object) -> None:
    """Check that a field may hold a value; arrays pass, since JAX puts them there.

    A field without a rule may hold anything but nan. If it is declared as `int`, a number must be whole.

    Raises:
        UsageError: it may not.
    """
    choices = field.metadata.get("choices")
    if choices and value not in choices and not (value is None and field.default is None):
        raise unknown_name(f"{owner}: {field.name}", str(value), choices)
    if value is None and field.default is not None and field.metadata.get("per_arm"):
        raise UsageError(f"{owner}: {field.name} must be a number, or one for each arm, got None")
    rule = field.metadata.get("rule")
    if is_word(field, value):
        return
    if not rule and isinstance(value, int | float | np.number):
        if is_whole(field):
            checks.whole(f"{owner}: {field.name}", value)
        elif value != value:
            raise UsageError(f"{owner}: {field.name} must be a number, got nan")
    if not rule or (value is None and field.default is None):
        return
    if isinstance(value, list | tuple):
        of_arms = field.metadata.get("per_arm")  # alone it would be an array by now
        remedy = "for values of each arm, list the algorithms" if of_arms else f"for a grid, jb.axis({value!r})"
        raise UsageError(f"{owner}: {field.name} must be one number, got {value!r}: {remedy}")
    words = field.metadata.get("words", ())
    if words and isinstance(value, str):
        raise UsageError(f"{owner}: {field.name} must be a number or {' or '.join(words)}, got {value!r}")
    if isinstance(value, int | float | str | np.generic | dict) or value is None or checks.is_masked(value):
        name = f"{owner}: {field.name}"
        plain = checks.number(name, value, RULES[rule])
        if rule not in _EXACT and not RULES[rule].holds(checks.as_single(name, plain)):
            raise UsageError(f"{name} {RULES[rule].words} as float32, which runs compute with, got {value!r}")


def values_of(algorithm: "DataclassInstance") -> dict[str, Any]:
    """Return the values of an algorithm's fields, by name."""
    return {field.name: getattr(algorithm, field.name) for field in dataclasses.fields(algorithm)}


def axes_of(algorithm: "DataclassInstance") -> dict[str, Axis]:
    """Return the fields of an algorithm that are axes of a grid, by name."""
    return {name: value for name, value in values_of(algorithm).items() if isinstance(value, Axis)}
