"""Operations without a rule: they are left to `jax.vmap`."""

import jax

from jaxbandits.transform.growing_numbers import UnpaddableError
from jaxbandits.transform.operation import Operation, Value

__all__ = ["by_vmap"]


def by_vmap(operation: Operation) -> list[Value]:
    """Evaluate an operation without a rule, or without one for this form of it.

    Raises:
        UnpaddableError: arms that do not exist cannot be left out.
    """
    drops = operation.name in ("scatter", "scatter-add") and "DROP" in str(operation.params["mode"])
    # What is written beyond the arms that exist is dropped, as it were.
    if operation.starts or (operation.exist is not None and not drops):
        raise UnpaddableError(f"{operation.name} is told nowhere how many arms exist")
    arrays = [value.array for value in operation.values]
    if not operation.suffix:
        return [Value(array, False) for array in operation.bind(*arrays)]
    axes = tuple(-1 if value.mapped else None for value in operation.values)
    found = jax.vmap(lambda *arrays: operation.bind(*arrays), in_axes=axes, out_axes=-1)(*arrays)
    return [Value(array, True) for array in found]
