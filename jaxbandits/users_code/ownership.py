"""The owner of a module: the user, Python, this package or an installed library."""

import functools
import importlib.util
import os
import sys
import sysconfig
import types
from pathlib import Path

__all__ = ["Ownership", "top_of"]

#: Packages that may be installed anywhere, as a developer's own copy.
_KNOWN = {"jaxbandits", "jax", "jaxlib", "numpy", "scipy", "optax", "chex"}
_FOLDERS = {"site-packages", "dist-packages"}
_USERS, _LIBRARY, _FIXED = "user's", "library", "fixed"


class Ownership:
    """The user's own code: all that is not installed, and the packages that define what the user gave."""

    def __init__(self) -> None:
        self._own: set[str] = set()

    def claim(self, module: str) -> None:
        """Count the package of a module as the user's own, also where it is an installed library."""
        if _owner(top_of(module)) == _LIBRARY:
            self._own.add(top_of(module))

    def is_installed(self, module: str) -> bool:
        """Return whether nobody edits a module between two runs."""
        top = top_of(module)
        return top not in self._own and _owner(top) != _USERS

    def installed_name(self, value: object) -> str | None:
        """Return an installed module's name of a value, such as `jax.minimum`; None if no module has it.

        Only the package and the name are given: where in the package something is defined may change with its versions.
        """
        if isinstance(value, types.FunctionType) and value.__closure__ is None:
            place = str(value.__globals__.get("__name__"))
            return f"{top_of(place)}.{value.__qualname__}" if self.is_installed(place) else None
        module = getattr(value, "__module__", None)
        name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
        if not (isinstance(module, str) and isinstance(name, str)) or not self.is_installed(module):
            return None
        if isinstance(value, type):
            return f"{top_of(module)}.{name}"
        found: object = sys.modules.get(module)
        for part in name.split("."):
            found = getattr(found, part, None)
        return f"{top_of(module)}.{name}" if found is value else None


def top_of(module: str) -> str:
    """Return the package that a module is in."""
    return module.partition(".")[0]


@functools.cache
def _owner(top: str) -> str:
    if top in _KNOWN or top in sys.builtin_module_names:
        return _FIXED
    if top == "__main__":
        return _USERS
    module = sys.modules.get(top)
    place = getattr(module, "__file__", None) or next(iter(getattr(module, "__path__", [])), None)
    if top and module is None and (spec := importlib.util.find_spec(top)):  # a function imports it later
        place = spec.origin if spec.has_location else next(iter(spec.submodule_search_locations or []), None)
    if place is None:  # made by hand; or a frozen part of Python
        return _FIXED if top in sys.stdlib_module_names else _USERS
    folder = Path(os.path.abspath(place))
    if _FOLDERS & set(folder.parts):
        return _LIBRARY
    return _FIXED if folder.is_relative_to(sysconfig.get_path("stdlib")) else _USERS
