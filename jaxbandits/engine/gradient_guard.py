"""Refuses derivatives through hard decisions, instead of a silent zero, and names the function to use."""

from typing import TypeVar

import jax

from jaxbandits.errors import UsageError

__all__ = ["INSTEAD", "undifferentiated"]

#: The remedy in messages.
INSTEAD = "for the derivative of an expectation use jb.gradients.expected(metric, algorithm, problem, wrt=…)"

T = TypeVar("T")


@jax.custom_jvp
def _refused(leaf: jax.Array) -> jax.Array:
    return leaf


@_refused.defjvp
def _refused_jvp(primals: tuple[jax.Array], tangents: tuple[jax.Array]) -> tuple[jax.Array, jax.Array]:
    del primals, tangents
    raise UsageError(f"a run makes hard decisions, through which its derivative would be 0 or wrong: {INSTEAD}")


def undifferentiated(tree: T) -> T:
    """Return the tree with traced leaves that raise a `UsageError` when they are differentiated."""

    def leaf(x: object) -> object:
        return _refused(x) if isinstance(x, jax.core.Tracer) and jax.numpy.issubdtype(x.dtype, jax.numpy.inexact) else x

    found: T = jax.tree.map(leaf, tree)
    return found
