"""Errors of a user's functions while they are traced: one line that names the function and the line of its file."""

import contextlib
import dataclasses
import linecache
import traceback
from collections.abc import Iterator

import jax

from jaxbandits.errors import UsageError

__all__ = ["traced"]

#: Errors of JAX, subclasses first, and their causes in words.
_CAUSES: tuple[tuple[type[Exception], str], ...] = (
    (jax.errors.TracerArrayConversionError, "NumPy needs a value"),
    (jax.errors.TracerIntegerConversionError, "range() or the index of a list needs a value"),
    (jax.errors.TracerBoolConversionError, "a Python if (or while, and, or, not) needs a value"),
    (jax.errors.ConcretizationTypeError, "int(), float(), item() or a shape needs a value"),
    (jax.errors.NonConcreteBooleanIndexError, "the shape of x[mask] depends on a value"),
)
_REMEDY = (
    "that is only known during runs: use jnp instead of np, jnp.where or jax.lax.cond instead of if, and "
    "jax.lax.fori_loop or while_loop instead of a loop"
)
_OF_SEVERAL = (
    "a Python if (or while, and, or, not) needs one value, and there are several: use jnp.where, or jnp.any, jnp.all "
    "and jax.lax.cond"
)
_FROZEN = (
    "since a method changes nothing that it is given, nor the rule itself: what a rule remembers is a state, which "
    "init(arms, key) returns first, and then update, or absorb, a new one each time"
)
_OF_COUNT = "in a shape, len(arms) in place of arms.count"
_SHAPE = (
    f"a shape or a slice needs a value that is only known during runs: use jnp.where in place of a slice; {_OF_COUNT}"
)
#: Parts of the messages of the errors that JAX has for them, which have no class of their own.
_OF_SHAPES = ("concrete values of integer type", "was not hashable", "must be static integers")
#: Packages whose lines are not the user's.
_OTHERS = frozenset({"jax", "jaxlib", "jaxbandits", "numpy", "contextlib", "functools"})


@contextlib.contextmanager
def traced(what: str) -> Iterator[None]:
    """Turn JAX's errors on values that are not known yet into one line, in a `with` block around a call.

    Args:
        what: the function, as the message names it.

    Raises:
        UsageError: with the line of the user's file, and what to use instead.
    """
    try:
        yield
    except tuple(kind for kind, _ in _CAUSES) as error:
        cause = next(text for kind, text in _CAUSES if isinstance(error, kind))
        shape = f"; {_OF_COUNT}" if "a shape" in cause else ""
        raise UsageError(f"{what}{_place(error)}: {cause} {_REMEDY}{shape}") from None
    except dataclasses.FrozenInstanceError as error:
        raise UsageError(f"{what}{_place(error)}: {error}, {_FROZEN}") from None
    except (TypeError, IndexError) as error:
        if "Tracer(" not in str(error) or not any(part in str(error) for part in _OF_SHAPES):
            raise
        raise UsageError(f"{what}{_place(error)}: {_SHAPE}") from None
    except ValueError as error:  # JAX refuses an array of several values before it reads them
        if "truth value of an array" not in str(error):
            raise
        raise UsageError(f"{what}{_place(error)}: {_OF_SEVERAL}") from None


def _place(error: Exception) -> str:
    """Return the user's line that was reached last, as text of a message; empty where there is none."""
    for frame, line in reversed(list(traceback.walk_tb(error.__traceback__))):
        name, file = str(frame.f_globals.get("__name__", "")), frame.f_code.co_filename
        if name.partition(".")[0] not in _OTHERS and frame.f_code.co_name != "__setattr__":  # of a frozen dataclass
            text = " ".join(linecache.getline(file, line, frame.f_globals).split())
            shown = text if len(text) <= 60 else f"{text[:59]}…"
            return f", line {line} of {file}{shown and f' ({shown})'}"
    return ""
