"""The user's code as part of the key of compiled programs: edited code is traced again, unchanged code is not.

A key of the package's own programs would not be enough. JAX also caches its trace of a user's jitted function, or of
the body of a loop, by the function object, which an editor's reload may change in place. So the key is a context of
JAX's as well (`jax.make_user_context`), which is part of the key of all that JAX caches.
"""

import contextlib
import itertools
import types
from collections.abc import Mapping
from typing import NamedTuple

import jax

from jaxbandits.arrays.pytrees import classes
from jaxbandits.errors import warn
from jaxbandits.users_code.bytecode import bytecode_hash, short_hash
from jaxbandits.users_code.walk import Unreadable, parts_of, spoken

__all__ = ["Code", "code_of"]

_context = jax.make_user_context(None)
_never_again = itertools.count()


class Code(NamedTuple):
    """The contents of a compiled program beside the types of its input; a static argument of it.

    Attributes:
        classes: of all nodes of the input, which JAX may not distinguish.
        key: of the user's code that it runs; None where all of it is the package's.
    """

    classes: tuple[type, ...]
    key: str | None

    def traced(self) -> contextlib.AbstractContextManager[object]:
        """Open a `with` block in which this code is traced."""
        return _context(self.key)


def code_of(*trees: object, functions: Mapping[str, object] | None = None) -> Code:
    """Return the code of pytrees and functions, as it is now.

    Code with a value that cannot be read has a new key each time; a warning says which value.
    """
    parts = parts_of(trees, functions)
    words = {}
    for label, part in parts.items():
        words[label] = bytecode_hash(part) if isinstance(part, types.CodeType) else str(part)
        if isinstance(part, Unreadable):
            words[label] += f" {next(_never_again)}"
            _warn(label, part.kind)
    key = short_hash(repr(sorted(words.items()))) if words else None
    return Code(classes(trees)[1:], key)


def _warn(label: str, kind: str) -> None:
    warn(
        f"whether {spoken(label)} has changed is unknown, since the content of a {kind} cannot be read: the program "
        "is compiled again each time"
    )
