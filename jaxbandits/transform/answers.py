"""Operations that can be skipped: their results follow from the ranges of their operands (`ranges.py`)."""

import jax.numpy as jnp
import numpy as np

from jaxbandits.transform.operation import Operation, Value

__all__ = ["answered"]


def answered(operation: Operation) -> Value | None:
    """Return the result of an operation on whole numbers that is one of its operands; None where that is not known.

    So `x[i]` and `x.at[i].set(value)` need no check of a place that is known to be inside. Floats are left alone, and
    so are constants and broadcasts: a compiler divides by these in another way, and the bits would then depend on the
    known ranges.
    """
    name, values = operation.name, operation.values
    if not jnp.issubdtype(operation.out.dtype, np.integer):
        return None
    if name == "select_n" and len(values) == 3 and values[0].range in ((0, 0), (1, 1)):
        chosen = values[1 + int(values[0].range[0])]  # type: ignore[index]
    elif name == "clamp" and all(value.range is not None for value in values):
        (_, least), (lo, hi), (most, _) = (value.range for value in values)  # type: ignore[misc]
        if not (least <= lo and hi <= most):
            return None
        chosen = values[1]
    else:
        return None
    if not chosen.mapped or chosen.thin is not None or chosen.shape != operation.shape:
        return None
    return Value(chosen.array, True, written=chosen.written, range=chosen.range)  # and no more than if it were made
