"""Names, and where what they name is defined: a module is imported when one of its names is asked for."""

import importlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

__all__ = ["Registry", "face"]


class Registry(Mapping[str, Any]):
    """What a folder holds, by the names of the command line; every line says `module:attribute`.

    Attributes:
        package: the folder, as it is imported.
        lines: the lines by name; one more is all that something new needs.
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
        """The names in Python, and the lines that define them."""
        return {line.partition(":")[2]: line for line in self.lines.values()}

    def name_of(self, thing: Any) -> str | None:
        """The name of a class or function, None if it is not here; no module is imported."""
        return self.name_at(f"{thing.__module__}.{thing.__qualname__}")

    def name_at(self, place: str) -> str | None:
        """The name of what a module defines, by `module.attribute` as it is imported."""
        lines = self.lines.items()
        return next((name for name, line in lines if f"{self.package}.{line}".replace(":", ".") == place), None)

    def holds(self, thing: Any) -> bool:
        """Whether a class or function is defined in the folder, registered or not."""
        return str(thing.__module__).startswith(f"{self.package}.")


def face(
    package: str, further: dict[str, str], *registries: Registry
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """What makes a folder hand on names that its modules define: its `__getattr__`, `__dir__` and `__all__`.

    Args:
        package: the folder, as it is imported.
        further: names and their lines, relative to the folder; a line without `:` is a module.
        *registries: hand on all their public names.
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
