"""The one exception for input that cannot be used, so that a command line can show it as one line."""

import contextlib
import difflib
import functools
import inspect
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

__all__ = ["UsageError", "about", "bind", "check_text", "named_arguments", "renamed", "unknown_name", "warn"]

C = TypeVar("C")
F = TypeVar("F", bound=Callable[..., Any])

#: Modules through which a call passes on its way to the line that a warning is about.
_WITHIN = {__name__.partition(".")[0], "contextlib"}


class UsageError(ValueError):
    """Input that cannot be used; the message is one clear line that says which value and why.

    Attributes:
        place: keys that lead to the entry of a specification that the error is about; empty for other input.

    Example:
        >>> jb.LUCB(epsilon=0.1, delta=2)
        Traceback (most recent call last):
            ...
        jaxbandits.errors.UsageError: LUCB: delta must lie strictly between 0 and 1, got 2
    """

    place: tuple[str, ...] = ()


@contextlib.contextmanager
def about(*keys: str) -> Iterator[None]:
    """Open a `with` block whose `UsageError`s are about an entry below these keys of a specification."""
    try:
        yield
    except UsageError as error:
        error.place = (*keys, *error.place)
        raise


def unknown_name(kind: str, name: str, known: Iterable[str], likeness: float = 0.5) -> UsageError:
    """Return the error for a name that is not known, with the nearest one that is.

    Args:
        kind: what was searched: "algorithm", "problem".
        name: the name that was given.
        known: the names there are.
        likeness: from 0 to 1, how like the given name the nearest must be to be shown in place of all.
    """
    known = sorted(known)
    near = difflib.get_close_matches(str(name), known, n=1, cutoff=likeness)
    others = f"known: {', '.join(known)}" if known else "there are none"
    hint = f"; did you mean {near[0]!r}?" if near else f"; {others}"
    return UsageError(f"unknown {kind} {name!r}{hint}")


def check_text(what: str, text: object) -> None:
    """Check that what a user gave is a text, such as a name.

    Args:
        what: what it is: "value", "style".
        text: what was given.

    Raises:
        UsageError: it is none.
    """
    if not isinstance(text, str):
        raise UsageError(f"unknown {what} of type {type(text).__name__}: it must be a text")


def warn(message: str) -> None:
    """Warn of something, at the line outside the package that made the call."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _WITHIN:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, stacklevel=level)


def bind(
    name: str, signature: inspect.Signature, args: Sequence[object], kwargs: Mapping[str, object]
) -> inspect.BoundArguments:
    """Bind the arguments of a call of something by its name.

    Raises:
        UsageError: arguments that it does not take, or too few; it lists those it takes.
    """
    try:
        return signature.bind(*args, **kwargs)
    except TypeError as error:
        raise UsageError(f"{name}: {error}; its arguments are {', '.join(signature.parameters)}") from None


def named_arguments(cls: type[C]) -> type[C]:
    """Decorate a class so that arguments which its constructor does not take are an error that lists those it takes."""
    make: Callable[..., None] = cls.__init__
    whole = inspect.signature(make)
    signature = whole.replace(parameters=list(whole.parameters.values())[1:])  # without self

    @functools.wraps(make)
    def init(self: object, *args: object, **kwargs: object) -> None:
        bind(cls.__name__, signature, args, kwargs)
        make(self, *args, **kwargs)

    cls.__init__ = init  # type: ignore[method-assign]
    return cls


def renamed(**names: str) -> Callable[[F], F]:
    """Decorate a function or a class whose arguments have new names, so that an old name is an error with the new one.

    Args:
        names: the new name of each old one.
    """

    def decorate(function: F) -> F:
        call: Any = function.__init__ if isinstance(function, type) else function  # type: ignore[misc]

        @functools.wraps(call)
        def checked(*args: object, **kwargs: object) -> object:
            for old in names.keys() & kwargs.keys():
                raise UsageError(f"{function.__name__}: {old}= is now {names[old]}=")
            return call(*args, **kwargs)

        if isinstance(function, type):
            function.__init__ = checked  # type: ignore[misc]
            return function
        return checked  # type: ignore[return-value]

    return decorate
