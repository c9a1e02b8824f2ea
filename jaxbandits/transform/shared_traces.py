"""Programs for other numbers of arms, traced once within a call: its plan and its programs ask for the same ones.

What a user's code computes can change between two calls, and then its programs do. So nothing is kept after the `with`
block has ended, and no thread sees what another one has traced.
"""

import contextlib
from collections.abc import Callable, Hashable, Iterator
from contextvars import ContextVar
from typing import Any, cast

import jax

from jaxbandits.compilers.jaxpr_types import ClosedJaxpr

__all__ = ["once", "traced", "traced_once"]

_traces: ContextVar[dict[Hashable, Any] | None] = ContextVar("_traces", default=None)


@contextlib.contextmanager
def traced_once() -> Iterator[None]:
    """Keep what `once` has made until the outermost `with` block of this thread ends."""
    if _traces.get() is not None:
        yield
        return
    token = _traces.set({})
    try:
        yield
    finally:
        _traces.reset(token)


def once(key: Hashable, make: Callable[[], Any]) -> Any:
    """Return what `make` returns, or what it returned for an equal key while `traced_once` was entered."""
    found = _traces.get()
    if found is None:
        return make()
    if key not in found:
        found[key] = make()
    return found[key]


def traced(function: Callable[..., object], *arguments: jax.ShapeDtypeStruct) -> tuple[ClosedJaxpr, object]:
    """Return the program of a function of arrays of some shapes, and the shapes of its results.

    Plans are traced on no devices, programs on some: what JAX writes of them into operations would differ.
    """
    with jax.sharding.use_abstract_mesh(jax.sharding.AbstractMesh((), ())):
        closed, shapes = jax.make_jaxpr(function, return_shape=True)(*arguments)
    return cast(ClosedJaxpr, closed), shapes
