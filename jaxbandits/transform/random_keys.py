"""Keys and the bits that are drawn with them: those of JAX's threefry generator, word for word.

JAX's own cipher is rolled into a loop on CPU, which is several times slower for a block or two a step.
"""

import math
from collections.abc import Callable

import jax
import jax.numpy as jnp

from jaxbandits.compilers.xla_cpu import barrier
from jaxbandits.random.threefry import threefry2x32
from jaxbandits.transform.operation import Operation

__all__ = ["RULES"]


def unwrap(operation: Operation) -> list[jax.Array]:
    """Show the words of keys."""
    found = operation.bind(operation.full(0))[0]
    return [_runs_last(found, operation)]


def wrap(operation: Operation) -> list[jax.Array]:
    """Make keys of words, which are found once: XLA:CPU would encrypt them again for each use."""
    words = operation.full(0)
    if operation.suffix:
        words = jnp.moveaxis(words, -1, -2)
    return operation.bind(barrier(words))


def bits(operation: Operation) -> list[jax.Array]:
    """Draw bits: the block of the cipher under each element's place."""
    shape, width = operation.params["shape"], operation.params["bit_width"]
    first, second = _blocks(operation, shape)
    dtype = jnp.dtype(f"uint{width}")
    if width == 64:
        return [(first.astype(dtype) << 32) | second.astype(dtype)]
    return [(first ^ second).astype(dtype)]


def split(operation: Operation) -> list[jax.Array]:
    """Split keys: the block under each element's place is a key."""
    return [_keys(*_blocks(operation, operation.params["shape"]))]


def fold_in(operation: Operation) -> list[jax.Array]:
    """Fold a number into keys: the block under that number is a key."""
    high, low = _words(operation)
    number = operation.full(1).astype(jnp.uint32)
    return [_keys(*threefry2x32(high, low, jnp.zeros_like(number), number))]


def cipher(operation: Operation) -> list[jax.Array]:
    """Encrypt each pair of words."""
    return list(threefry2x32(*(operation.like_result(i) for i in range(4))))


def _words(operation: Operation) -> tuple[jax.Array, jax.Array]:
    """Return the two words of the keys, uint32 `(keys…, R)` each."""
    keys = operation.full(0)
    if str(jax.random.key_impl(keys)) != "threefry2x32" or not _by_place():
        raise NotImplementedError
    words = jax.random.key_data(keys)
    return words[..., 0], words[..., 1]


def _by_place() -> bool:
    """Return whether JAX draws element i with the block i, as it does by default."""
    return bool(getattr(jax.config, "jax_threefry_partitionable", True))


def _blocks(operation: Operation, shape: tuple[int, ...]) -> tuple[jax.Array, jax.Array]:
    """Encrypt the places of an array of this shape under each key: uint32 `(keys…, *shape, R)` each."""
    if math.prod(shape) >= 2**31:
        raise NotImplementedError
    high, low = _words(operation)
    keys = operation.aval(0).shape
    place = jnp.arange(math.prod(shape), dtype=jnp.uint32)
    place = place.reshape(*(1 for _ in keys), *shape, *(1 for _ in operation.suffix))
    high, low = (word.reshape(*keys, *(1 for _ in shape), *operation.suffix) for word in (high, low))
    whole = (*keys, *shape, *operation.suffix)
    high, low, place = (jnp.broadcast_to(word, whole) for word in (high, low, place))
    first, second = threefry2x32(high, low, jnp.zeros_like(place), place)
    return first, second


def _keys(first: jax.Array, second: jax.Array) -> jax.Array:
    """Make keys of two words each."""
    return jax.random.wrap_key_data(barrier(jnp.stack([first, second], axis=-1)), impl="threefry2x32")


def _runs_last(array: jax.Array, operation: Operation) -> jax.Array:
    """Move the axis of runs of what was shown of keys behind that of the words."""
    return jnp.moveaxis(array, -2, -1) if operation.suffix else array


RULES: dict[str, Callable[[Operation], list[jax.Array]]] = {
    "random_unwrap": unwrap,
    "random_wrap": wrap,
    "random_bits": bits,
    "random_split": split,
    "random_fold_in": fold_in,
    "threefry2x32": cipher,
}
