"""The settings of JAX for the package's own code: always the same, independent of the user's.

A result is a function of the specification and the seeds. Some of JAX's settings would affect it, too: with
`jax_enable_x64` a plain number is 64 bits wide, with `jax_threefry_partitionable` off other random words are drawn.
Others detect mistakes and stop valid code: NaN marks an arm without a reward, and `(R,)` broadcasts with `(K, R)`.

The settings apply to this thread, and only inside a `with` block or a decorated function; then the user's apply again.
JAX's caches depend on its settings, so that no program of one setting is ever run under another.
"""

import contextlib
import threading
import types
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.arrays.pytrees import is_traced
from jaxbandits.errors import UsageError

__all__ = ["narrowed", "own_settings", "run_methods_so"]

_PACKAGE = f"{__name__.partition('.')[0]}."
#: The names of settings, their context managers, and the value of each.
_WANTED: tuple[tuple[str, Callable[..., AbstractContextManager[object]], object], ...] = (
    ("jax_enable_x64", jax.enable_x64, False),
    ("jax_numpy_dtype_promotion", jax.numpy_dtype_promotion, "standard"),
    ("jax_numpy_rank_promotion", jax.numpy_rank_promotion, "allow"),
    ("jax_default_prng_impl", jax.default_prng_impl, "threefry2x32"),
    ("jax_threefry_partitionable", jax.threefry_partitionable, True),
    ("jax_debug_nans", jax.debug_nans, False),
    ("jax_debug_infs", jax.debug_infs, False),
    ("jax_disable_jit", jax.disable_jit, False),
    ("jax_transfer_guard_host_to_device", jax.transfer_guard_host_to_device, "allow"),
    ("jax_transfer_guard_device_to_device", jax.transfer_guard_device_to_device, "allow"),
    ("jax_transfer_guard_device_to_host", jax.transfer_guard_device_to_host, "allow"),
)
#: What is said where values are needed and there are none.
_INSIDE_JIT = "runs need values, and arrays have none inside jax.jit or lax.scan: call this outside of them"
#: What stands for no mesh of devices.
_NO_MESH = jax.sharding.Mesh(np.empty((), object), ())
#: The narrower types that JAX uses where `jax_enable_x64` is off.
_NARROWER = {np.dtype(f"{kind}64"): np.dtype(f"{kind}32") for kind in ("float", "int", "uint")}

T = TypeVar("T")


class _Thread(threading.local):
    inside = False


_thread = _Thread()


@contextlib.contextmanager
def own_settings(*kept: str) -> Iterator[None]:
    """Run a `with` block or a decorated function under the package's settings; some microseconds a call.

    Inside another such block nothing is done.

    Args:
        *kept: settings that stay the user's: `jax_enable_x64` for formulas of theory, which are as precise as their
            arguments; `jax_disable_jit` for single runs, to show the user every step; `mesh`, of `jax.set_mesh`, for
            what a user may trace, with arrays of that mesh.

    Raises:
        UsageError: what needs values, which is all without `mesh`, is called inside `jax.jit`.
    """
    if _thread.inside:
        yield
        return
    with contextlib.ExitStack() as stack:
        for name, setting, value in _WANTED:
            # A setting that is None has its default.
            if name not in kept and getattr(jax.config, name) not in (value, None):
                stack.enter_context(setting(value))
        if "mesh" not in kept and not jax.sharding.get_abstract_mesh().empty:
            stack.enter_context(jax.set_mesh(_NO_MESH))  # sweeps have a mesh of their own
        _thread.inside = True
        try:
            yield
        except (jax.errors.ConcretizationTypeError, jax.errors.TracerArrayConversionError):
            if "mesh" in kept or not is_traced(jnp.zeros(())):
                raise
            raise UsageError(_INSIDE_JIT) from None
        finally:
            _thread.inside = False


def run_methods_so(cls: type, *names: str) -> None:
    """Wrap methods and properties of a class of the package, to run under the package's settings.

    It is called by `__init_subclass__`. Methods of a user's class are unchanged: during a run the package calls them.
    """
    if not cls.__module__.startswith(_PACKAGE):
        return
    for name in names:
        method = vars(cls).get(name)
        if isinstance(method, types.FunctionType):
            setattr(cls, name, own_settings("mesh")(method))
        elif isinstance(method, property) and method.fget is not None:
            setattr(cls, name, property(own_settings("mesh")(method.fget), doc=method.__doc__))


def narrowed(tree: T) -> T:
    """Return a tree with 32-bit arrays of JAX in place of 64-bit ones, which a user may have made; traced ones too."""

    def narrow(leaf: Any) -> Any:
        narrower = _NARROWER.get(leaf.dtype) if isinstance(leaf, jax.Array) else None
        return leaf if narrower is None else leaf.astype(narrower)

    found: T = jax.tree.map(narrow, tree)
    return found
