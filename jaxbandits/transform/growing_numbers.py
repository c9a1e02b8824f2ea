"""Numbers that change with the number of arms, as `4 * len(arms)`, `len(arms) // 2` or `math.log(len(arms))`.

One program is for several numbers of arms, so it computes such a number from how many arms exist.
"""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.transform.operation import Value

__all__ = ["MOST_NUMBERS", "UnevenError", "UnpaddableError", "number_by_count"]

#: Up to this number of arms, a number that changes in any way can be looked up: a choice for each change.
MOST_NUMBERS = 64


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
    told = len(values) - checks
    if len({value.tobytes() for value in values[:told]}) == 1:
        if all(value.tobytes() == values[0].tobytes() for value in values[told:]):
            return None
        raise UnpaddableError("a number is another for one number of arms")
    dtype, width = values[0].dtype, counts[0]
    first, second, *_ = (float(value.real) for value in values)
    step = (second - first) / (counts[1] - width)
    start = first - step * width
    whole = not step % 1 and not start % 1 and abs(first) < 2**24 and dtype.kind in "if"
    exact = [np.float64(start + step * n).tobytes() for n in counts]  # 0, not -0
    follows = [whole and np.float64(value.real).tobytes() == x for value, x in zip(values, exact, strict=True)]
    zeros = {n for n in range(min(counts), width) if start + step * n == 0}
    signed = dtype.kind != "f" or zeros <= set(counts)  # whether it is known if they are 0 or -0
    if all(follows) and signed:
        ends = start + step, start + step * width
        found = exist.astype(dtype) * dtype.type(step) + dtype.type(start)
        return Value(found, True, range=(min(ends), max(ends)), fixed=True)
    if (all(follows[:told]) and signed) or width > MOST_NUMBERS or dtype.kind not in "biuf":
        raise UnpaddableError("a number changes with the number of arms, and not by whole steps")
    known = dict(zip(counts[:told], values, strict=False))
    least, *more = range(min(counts), width + 1)
    if not known.keys() >= {least, *more}:
        raise UnevenError("a number changes with the number of arms, and not by whole steps")
    found = jnp.full(exist.shape, known[least])
    for n in more:
        if known[n].tobytes() != known[n - 1].tobytes():
            found = jnp.where(exist >= n, known[n], found)
    of_arms = [float(known[n]) for n in (least, *more)]
    return Value(found, True, range=None if any(map(np.isnan, of_arms)) else (min(of_arms), max(of_arms)), fixed=True)
