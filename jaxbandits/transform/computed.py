"""Reuse results, so that the same operation on the same operands is written into the program once."""

from collections.abc import Callable, Hashable

import jax
import numpy as np

from jaxbandits.compilers.known_functions import function_called
from jaxbandits.transform import control_flow
from jaxbandits.transform.operation import Operation, Value
from jaxbandits.transform.programs_inside import CALLS

__all__ = ["Computed"]

#: Operations that call programs: what these are made of is looked up.
_PROGRAMS = {*CALLS, *control_flow.RULES}


class Computed:
    """Results by operation and operands, within one program.

    Attributes:
        live: bool `(R,)`, the runs of which its results are read; None for all.
    """

    def __init__(self, live: jax.Array | None = None) -> None:
        self.live = live
        self._found: dict[Hashable, tuple[list[Value], list[Value]]] = {}

    def again(self, operation: Operation, axes: Hashable, compute: Callable[[], list[Value]]) -> list[Value]:
        """Return the results of an operation, computed now or before; `axes` are what tells it from others beside."""
        if function_called(operation.equation) is not None:
            params: tuple[Hashable, ...] = (operation.params["name"],)
        elif operation.name in _PROGRAMS:
            return compute()
        else:
            params = tuple((name, str(value)) for name, value in sorted(operation.params.items()))
        operands = tuple(map(_identity, operation.values))
        key = (operation.name, params, operands, operation.exposed, operation.suffix, operation.shape, axes)
        if key not in self._found:
            # The operands are held, too: another array must not get the number of one that is gone.
            self._found[key] = compute(), list(operation.values)
        return self._found[key][0]


def _identity(value: Value) -> Hashable:
    """Return what tells one operand from another: constants by their value."""
    array, counts = value.array, value.counts
    if not value.mapped and isinstance(array, np.ndarray | np.generic | int | float) and np.ndim(array) == 0:
        return str(np.asarray(array).dtype), np.asarray(array).tobytes(), value.range
    thin = None if value.thin is None else id(value.thin.array)
    counted = None if counts is None else (id(counts.root), id(counts.scale.array), counts.power)
    return id(array), value.mapped, value.range, thin, counted, value.fixed, value.open
