"""Checks of what a user gives: each returns the value to use, or raises one line with its name, rule and value.

The same values count as one number everywhere:

* an int or a float, Python's or NumPy's, and an array of shape `()` that holds one, NumPy's or JAX's;
* 3.0 and 1e6 are whole numbers too, and 2.5 is not. The index of an arm and a seed are never floats, since large floats
  are not exact;
* True is no number, nor is the text "3", None, or a list or array of one number;
* nan is never taken, and an infinity only where a rule says so;
* a traced value is refused, since it has no value yet. Formulas that may be traced skip these checks for it.

An array of numbers may have any shape. It is refused for its first entry that breaks the rule. It may hold bools, since
data record so whether something happened, but no texts.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np
from numpy.typing import ArrayLike

from jaxbandits.errors import UsageError

__all__ = [
    "ABOVE_ONE",
    "AT_LEAST_ONE",
    "FINITE",
    "INSIDE_UNIT",
    "NOT_NEGATIVE",
    "POSITIVE",
    "SUMMABLE",
    "UNIT",
    "Rule",
    "as_single",
    "each",
    "index",
    "is_masked",
    "is_number",
    "number",
    "numbers",
    "seed",
    "shown",
    "whole",
    "whole_rule",
]

_INFINITY = float("inf")


class Rule(NamedTuple):
    """A condition on a number: in words that follow its name, and as a function of one number or an array of them."""

    words: str
    holds: Callable[[Any], Any]


FINITE = Rule("must be finite", lambda x: abs(x) < _INFINITY)
POSITIVE = Rule("must be positive and finite", lambda x: (x > 0) & (x < _INFINITY))
NOT_NEGATIVE = Rule("must be finite and at least 0", lambda x: (x >= 0) & (x < _INFINITY))
AT_LEAST_ONE = Rule("must be finite and at least 1", lambda x: (x >= 1) & (x < _INFINITY))
ABOVE_ONE = Rule("must be finite and above 1", lambda x: (x > 1) & (x < _INFINITY))
UNIT = Rule("must lie in [0, 1]", lambda x: (x >= 0) & (x <= 1))
SUMMABLE = Rule(
    "must be finite and at most 1.5e29 in size, for sums of 2^31 of them to be float32 numbers (use other units)",
    lambda x: abs(x) <= 1.5e29,
)
INSIDE_UNIT = Rule("must lie strictly between 0 and 1", lambda x: (x > 0) & (x < 1))


def whole_rule(least: int | None = None, most: int | None = None, bound: str = "") -> Rule:
    """Return the rule of whole numbers from `least` to `most`; `bound` explains the last limit given."""
    if least is None:
        limits = "" if most is None else f", at most {_limit(most)}"
    else:
        limits = f", at least {_limit(least)}" if most is None else f" from {_limit(least)} to {_limit(most)}"
    low, high = -_INFINITY if least is None else least, _INFINITY if most is None else most
    words = f"must be a whole number{limits}{bound and ', ' + bound}"
    return Rule(words, lambda x: (x // 1 == x) & (x >= low) & (x <= high))


def is_masked(value: object) -> bool:
    """Return whether this is a NumPy array with masked values: they count as missing, whatever they hold."""
    return isinstance(value, np.ma.MaskedArray) and bool(np.any(np.ma.getmaskarray(value)))


def is_number(value: object) -> bool:
    """Return whether this is one number, with a value."""
    return _plain(value) is not None


def number(name: str, value: object, rule: Rule = FINITE) -> float:
    """Return one number as a float.

    Args:
        name: what it is, as the subject of a sentence.
        value: what was given.
        rule: what it must be.

    Raises:
        UsageError: anything else.
    """
    plain = _plain(value)
    if plain is None:
        raise UsageError(f"{name} must be a number, got {shown(value)}")
    if not (_fits_float(plain) and rule.holds(plain)):
        raise UsageError(f"{name} {rule.words}, got {shown(value)}")
    return float(plain)


def as_single(name: str, plain: float) -> np.float32:
    """Return a number as float32, with which runs compute.

    Args:
        name: what it is, as the subject of a sentence.
        plain: a finite number, or an infinity.

    Raises:
        UsageError: it lies outside the range of float32, or is so near 0 that devices take it for 0.
    """
    with np.errstate(over="ignore"):
        single = np.float32(plain)
    if plain and (np.isinf(single) != np.isinf(plain) or abs(single) < np.finfo(np.float32).tiny):
        raise UsageError(
            f"{name} must be a float32 number, 0 or between 1.2e-38 and 3.4e38 in size, got {plain:g}: use other units"
        )
    return single


def whole(name: str, value: object, least: int | None = None, most: int | None = None, *, bound: str = "") -> int:
    """Return one whole number, such as a count, as an int.

    Args:
        name: what it is, as the subject of a sentence.
        value: what was given.
        least: the smallest that is taken; None for no limit.
        most: the largest; None for no limit.
        bound: why the last limit is one, where the sentence should say so: "the number of arms".

    Raises:
        UsageError: anything else.
    """
    plain, rule = _plain(value), whole_rule(least, most, bound)
    if plain is None or not rule.holds(plain):
        raise UsageError(f"{name} {rule.words}, got {shown(value)}")
    return int(plain)


def index(name: str, value: object, least: int, most: int) -> int:
    """Return a whole number that is an index; as `whole`, but 3.0 is refused.

    Raises:
        UsageError: anything else.
    """
    if isinstance(_plain(value), float):
        raise UsageError(f"{name} {whole_rule(least, most).words}, written without a point, got {shown(value)}")
    return whole(name, value, least, most)


def seed(name: str, value: object, bits: int = 64) -> int:
    """Return a seed, from 0 to 2^bits - 1.

    Raises:
        UsageError: anything else.
    """
    return index(name, value, 0, 2**bits - 1)


def numbers(name: str, values: ArrayLike) -> np.ndarray:
    """Return numbers of any shape as float64; nan and infinities pass too.

    Raises:
        UsageError: texts, dates, complex or masked values, rows of different lengths, a bool, or what is no float.
    """
    if any(isinstance(value, jax.core.Tracer) for value in jax.tree.leaves(values)):
        raise UsageError(
            f"{name} must be numbers, and are being traced by jax.grad, jit or vmap: make it of values; for the "
            "derivative of an expectation use jb.gradients.expected(metric, algorithm, problem, wrt=…)"
        )
    if is_masked(values):
        first = np.argwhere(np.ma.getmaskarray(np.ma.asarray(values)))[0].tolist()
        raise UsageError(f"{name} must be numbers, got a masked value{(first and f' at {first}') or ''}: leave it out")
    try:
        given = np.asarray(values)
        if given.dtype.kind in "SU" or (given.dtype == object and any(isinstance(x, str | bytes) for x in given.flat)):
            raise TypeError
        if (given.dtype == bool and given.ndim == 0) or given.dtype.kind in "cmM":  # NumPy would drop what they mean
            raise TypeError
        return np.asarray(given, np.float64)
    except (TypeError, ValueError, OverflowError):  # the last of an int above all floats
        raise UsageError(f"{name} must be numbers, got {shown(values)}") from None


def each(name: str, values: ArrayLike, rule: Rule, place: str = "") -> np.ndarray:
    """Return `numbers`, of which each satisfies the rule.

    Args:
        name: what they are, as the subject of a sentence.
        values: what was given.
        rule: what each must be.
        place: what an entry belongs to, such as "arm", where the message should say which one it is.

    Raises:
        UsageError: a number breaks the rule; the message shows the first one.
    """
    found = numbers(name, values)
    with np.errstate(invalid="ignore"):  # an infinity is no whole number
        valid = np.asarray(rule.holds(found))
    if not valid.all():
        first = int(np.argmin(valid))
        where = f" at {place} {first}" if place else ""
        raise UsageError(f"{name} {rule.words}, got {np.asarray(values).flat[first]!s}{where}")
    return found


def shown(value: object) -> str:
    """Return a value as a message shows it: on one line, and not long."""
    text = " ".join((str(value) if is_number(value) else repr(value)).split())
    return text if len(text) <= 60 else f"{text[:59]}…"


def _plain(value: object) -> int | float | None:
    """Return the number that a value is; None if it is none."""
    if isinstance(value, bool | np.bool_):
        return None
    if isinstance(value, int | float):
        return value.item() if isinstance(value, np.generic) else value  # NumPy warns where Python does not
    if getattr(value, "shape", None) != () or is_masked(value):
        return None
    try:
        array = np.asarray(value)
    except TypeError:  # a key, or traced
        return None
    if array.dtype.kind not in "iuf":
        return None
    return int(array) if array.dtype.kind in "iu" else float(array)


def _fits_float(plain: float) -> bool:
    try:
        float(plain)
    except OverflowError:
        return False
    return True


def _limit(value: int) -> str:
    """Return a limit as people know it: 2^31 - 1, or 8,388,608."""
    power = (value + 1).bit_length() - 1
    return f"2^{power} - 1" if power >= 31 and value + 1 == 2**power else f"{value:,}"
