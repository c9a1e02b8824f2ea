"""Arrays as short texts: type, shape and a hash of the numbers; and what follows when one is edited in place."""

import weakref

import jax
import numpy as np

from jaxbandits.arrays.pytrees import is_key
from jaxbandits.users_code.bytecode import short_hash

__all__ = ["array_text"]

#: The texts of live arrays, by identity.
_known: dict[int, tuple[weakref.ref[object], str]] = {}


def array_text(array: object) -> str:
    """Return the text of an array of NumPy's or JAX's, or of a NumPy scalar.

    While a program has the numbers of a NumPy array, JAX gives every new program the same numbers, whatever the array
    now holds (also in `jnp.ones(3) * array`). So once an array is found edited in place, all programs are forgotten.
    """
    if isinstance(array, np.generic):
        return _text(array)
    key, before = id(array), None
    if key in _known and _known[key][0]() is array:
        before = _known[key][1]
        if isinstance(array, jax.Array):  # never changes
            return before
    found = _text(array)
    if found != before:
        _known[key] = weakref.ref(array, lambda _: _known.pop(key, None)), found
        if before is not None:
            jax.clear_caches()
    return found


def _text(array: object) -> str:
    if isinstance(array, jax.Array) and is_key(array):
        return f"{array.dtype} {_text(jax.random.key_data(array))}"
    if isinstance(array, np.ma.MaskedArray):
        return f"{_text(array.data)} {_text(np.ma.getmaskarray(array))} {array.fill_value!r}"
    numbers = np.asarray(array)
    if numbers.size == 1 and numbers.dtype.kind in "biuf":
        return f"{numbers.dtype}{numbers.shape} {numbers.item()!r}"
    return f"{numbers.dtype}{numbers.shape} {short_hash(numbers.tobytes())}"
