"""Operations that need not be made: their results follow from the ranges of their operands (`ranges.py`)."""

from jaxbandits.transform.operation import Operation, Value, spread

__all__ = ["answered"]


def answered(operation: Operation) -> Value | None:
    """Return the result of an operation that is one of its operands; None where that is not known.

    So `x[i]` and `x.at[i].set(value)` ask nothing of a place that is known to be inside. Of how the number was made
    nothing more is known than if the operation were made: what is computed with it has the same bits.
    """
    name, values = operation.name, operation.values
    thin = None
    if name == "select_n" and len(values) == 3 and values[0].range is not None and values[0].range[0] in (0, 1):
        if values[0].range[0] != values[0].range[1]:
            return None
        chosen = values[1 + int(values[0].range[0])]
    elif name == "clamp" and all(value.range is not None for value in values):
        (_, least), (lo, hi), (most, _) = (value.range for value in values)  # type: ignore[misc]
        if not (least <= lo and hi <= most):
            return None
        chosen, ends = values[1], (values[0], values[2])
        if all(end.thin is None and not end.shape and (end.fixed or not end.mapped) for end in ends):
            thin = chosen.thin
    else:
        return None
    if chosen.shape != operation.shape:
        return None
    whole = chosen.array if chosen.mapped or not operation.suffix else spread(chosen, operation.shape, operation.suffix)
    return Value(whole, bool(operation.suffix), thin, chosen.written, chosen.range)
