"""Numbers that change with the number of arms, as `4 * len(arms)`, `len(arms) // 2` or `math.log(len(arms))`.

One program is for several numbers of arms, so it computes such a number from how many arms exist.
"""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.transform.operation import Value

__all__ = ["UnevenError", "UnpaddableError", "number_by_count"]

#: Up to this number of arms, a number that changes in any way can be looked up: a choice for each change.
_MOST = 64
_UNEVEN = "a number changes with the number of arms, and not by whole steps"


class UnpaddableError(Exception):
    """A program cannot be padded; the message says why."""


class UnevenError(UnpaddableError):
    """A number does not change by whole steps: it must be known for each number of arms."""


def number_by_count(
    values: Sequence[np.ndarray], counts: Sequence[int], exist: jax.Array, checks: int = 0
) -> Value | None:
    """Return a number that changes with the number of arms, for each run; None for one that does not.

    Args:
        values: N arrays `()` of one type, the number for each number of arms.
        counts: N numbers of arms: W, the most that may exist, W + 1, W + 2, and fewer ones.
        exist: int32 `(R,)`, how many exist, from the least of the counts up to W.
        checks: how many of the last of these are only to agree with what the others tell.

    Raises:
        UnevenError: it changes in another way than by whole steps, and a number in between is not among the counts.
        UnpaddableError: it is not a number, there are too many, or one that is to agree does not.
    """
    told, dtype, width = len(values) - checks, values[0].dtype, counts[0]
    if len({value.tobytes() for value in values[:told]}) == 1:
        if all(value.tobytes() == values[0].tobytes() for value in values[told:]):
            return None
        raise UnpaddableError("a number is another for one number of arms")
    step = _whole_step(values[:told], counts[:told])
    if step is not None:
        first = float(values[0])
        if not all(_follows(first, value, step, n - width) for value, n in zip(values, counts, strict=True)):
            raise UnpaddableError(_UNEVEN)
        start = first - step * width
        ends = start + step, start + step * width
        found = exist.astype(dtype) * dtype.type(step) + dtype.type(start)
        return Value(found, True, range=(min(ends), max(ends)), fixed=True)
    if width > _MOST or dtype.kind not in "biuf":
        raise UnpaddableError(_UNEVEN)
    known = dict(zip(counts[:told], values, strict=False))
    least, *more = range(min(counts), width + 1)
    if not known.keys() >= {least, *more}:
        raise UnevenError(_UNEVEN)
    found = jnp.full(exist.shape, known[least])
    for n in more:
        if known[n].tobytes() != known[n - 1].tobytes():
            found = jnp.where(exist >= n, known[n], found)
    of_arms = [float(known[n]) for n in (least, *more)]
    return Value(found, True, range=None if any(map(np.isnan, of_arms)) else (min(of_arms), max(of_arms)), fixed=True)


def _whole_step(values: Sequence[np.ndarray], counts: Sequence[int]) -> float | None:
    """Return the step of a number that changes by whole steps; None for another.

    A float that may be 0 or -0 for a number of arms that is not among the counts is another.
    """
    first, second, *_ = (float(value.real) for value in values)
    width, kind = counts[0], values[0].dtype.kind
    step = (second - first) / (counts[1] - width)
    if step % 1 or first % 1 or abs(first) >= 2**24 or kind not in "if":
        return None
    unknown = (n for n in range(min(counts), width) if n not in counts)
    if kind == "f" and any(first == step * (width - n) for n in unknown):
        return None
    same = all(_follows(first, value, step, n - width) for value, n in zip(values, counts, strict=True))
    return step if same else None


def _follows(first: float, value: np.ndarray, step: float, more: int) -> bool:
    """Return whether a number is another one and some steps more; 0 and not -0."""
    return float(value) - first == step * more and not (value == 0 and np.signbit(value))
