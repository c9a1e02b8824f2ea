"""Names, and where the objects they name are defined: a module is imported when one of its names is first used."""

import importlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

__all__ = ["Registry", "face"]


class Registry(Mapping[str, Any]):
    """The contents of a folder, by the names of the command line; every line says `module:attribute`.

    Attributes:
        package: the folder, as it is imported.
        lines: the lines by name; a new object needs one more line and nothing else.
    """

    def __init__(self, package: str, lines: dict[str, str]) -> None:
        self.package = package
        self.lines = lines

    def __getitem__(self, name: str) -> Any:
        return _found(self.package, self.lines[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self.lines)

    def __len__(self) -> int:
        return len(self.lines)

    def public(self) -> dict[str, str]:
        """Return the names in Python, and the lines that define them."""
        return {line.partition(":")[2]: line for line in self.lines.values()}

    def name_of(self, thing: Any) -> str | None:
        """Return the name of a class or function, None if it is not here; no module is imported."""
        return self.name_at(f"{thing.__module__}.{thing.__qualname__}")

    def name_at(self, place: str) -> str | None:
        """Return the name of an object by `module.attribute` as it is imported; None if it is not here."""
        lines = self.lines.items()
        return next((name for name, line in lines if f"{self.package}.{line}".replace(":", ".") == place), None)

    def holds(self, thing: object) -> bool:
        """Return whether a class or function is defined in the folder, registered or not."""
        return str(thing.__module__).startswith(f"{self.package}.")


def face(
    package: str, further: dict[str, str], *registries: Registry
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Make `__getattr__`, `__dir__` and `__all__` of a folder that exposes names that its modules define.

    Args:
        package: the folder, as it is imported.
        further: names and their lines, relative to the folder; a line without `:` is a module.
        *registries: all their public names are exposed.
    """

    def line_of(name: str) -> tuple[str, str]:
        if name in further:
            return package, further[name]
        for registry in registries:
            if name in (public := registry.public()):
                return registry.package, public[name]
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    def found(name: str) -> Any:
        return _found(*line_of(name))

    def names() -> list[str]:
        return sorted({*further, *(name for registry in registries for name in registry.public())})

    return found, names, names()


def _found(package: str, line: str) -> Any:
    module, _, attribute = line.partition(":")
    imported = importlib.import_module(f"{package}.{module}")
    return getattr(imported, attribute) if attribute else imported
