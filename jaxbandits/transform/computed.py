"""What has been computed, so that the same operation on the same operands is written into the program once."""

from collections.abc import Callable
from typing import Any

import numpy as np

from jaxbandits.transform.operation import Operation, Value

__all__ = ["Computed"]

#: Operations that call programs: what these are made of is looked up.
_PROGRAMS = ("cond", "while", "scan", "jit", "pjit", "custom_jvp_call", "custom_vjp_call")


class Computed:
    """Results by operation and operands, within one program."""

    def __init__(self) -> None:
        self._found: dict[Any, tuple[list[Value], list[Value]]] = {}

    def again(self, operation: Operation, compute: Callable[[], list[Value]]) -> list[Value]:
        """Return the results of an operation, computed now or before."""
        if operation.name in _PROGRAMS:
            return compute()
        params = tuple((name, str(value)) for name, value in sorted(operation.params.items()))
        operands = tuple(map(_identity, operation.values))
        key = (operation.name, params, operands, operation.exposed, operation.suffix, operation.shape)
        if key not in self._found:
            # The operands are held, too: another array must not get the number of one that is gone.
            self._found[key] = compute(), list(operation.values)
        return self._found[key][0]


def _identity(value: Value) -> Any:
    """Return what tells one operand from another: constants by their value."""
    array = value.array
    if not value.mapped and isinstance(array, np.ndarray | np.generic | int | float) and np.ndim(array) == 0:
        return str(np.asarray(array).dtype), np.asarray(array).tobytes(), value.range
    return id(array), value.mapped, value.range
