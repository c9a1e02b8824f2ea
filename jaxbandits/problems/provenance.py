"""How a problem was made: its constructor and the arguments."""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax

from jaxbandits.io.serialize import NotPlainError, is_hash, plain

__all__ = ["Recipe", "attach_provenance", "propagate_provenance", "qualified", "serializable_arguments"]


@dataclasses.dataclass(frozen=True)
class Recipe:
    """A record of how a problem was made.

    Attributes:
        make: the constructor, as `qualified` writes it.
        arguments: all its arguments but the problem's name, as `plain` writes them; those that are None are left out.
        lacks: why some arguments are missing, in words; empty where none is.
        label: the name that the user gave the problem; None where it has the constructor's.
        sha256: SHA-256 of the file that was read; None where there is none.
        made: the problem itself, to check later whether it has been changed.
        costs: the arguments of a later `with_costs`: costs and whether they are random.
        padded: the argument of a later `Problem.padded`.
    """

    make: str
    arguments: dict[str, object]
    lacks: str
    label: str | None
    sha256: str | None
    made: Any
    costs: tuple[Any, bool] | None = None
    padded: int | None = None

    def describes(self, problem: Any) -> bool:
        """Return whether a problem differs from the one made in its name at most; leaves are compared by identity."""
        was, now = (dataclasses.replace(each, name="") for each in (self.made, problem))
        structures: list[object] = [jax.tree.structure(was), jax.tree.structure(now)]
        if structures[0] != structures[1]:
            return False
        return all(one is other for one, other in zip(jax.tree.leaves(was), jax.tree.leaves(now), strict=True))


def attach_provenance(made: Any, make: Callable[..., object], arguments: dict[str, Any], sha256: str | None) -> Any:
    """Return a problem with a record of how it was made.

    Args:
        made: the problem.
        make: its constructor.
        arguments: all arguments of the constructor, by name.
        sha256: SHA-256 of the file that it read.
    """
    known, lacks = serializable_arguments(arguments)
    recipe = Recipe(
        make=qualified(make),
        arguments=known,
        lacks=lacks,
        label=arguments.get("name") or None,
        sha256=sha256,
        made=dataclasses.replace(made, recipe=None),
    )
    return dataclasses.replace(made, recipe=recipe)


def propagate_provenance(problem: Any, changed: Any, **steps: Any) -> Any:
    """Return `changed` with the recipe of the `problem` that it came from, and with further steps.

    It has no recipe where `problem` had none or an outdated one, or after padding, which comes last.

    """
    recipe = problem.recipe
    if recipe is not None and (recipe.padded is not None or not recipe.describes(problem)):
        recipe = None
    if recipe is not None:
        recipe = dataclasses.replace(recipe, made=dataclasses.replace(changed, recipe=None), **steps)
    return dataclasses.replace(changed, recipe=recipe)


def serializable_arguments(
    arguments: dict[str, object], keep: Callable[[object], object] = plain
) -> tuple[dict[str, object], str]:
    """Return the arguments of a constructor that text can hold, except its `name` and those that are None.

    Args:
        arguments: by name.
        keep: makes a value plain.

    Returns:
        The arguments as plain data, and what they lack, in words; empty where nothing is missing.
    """
    found: dict[str, Any] = {}
    lacks = ""
    for name, value in arguments.items():
        if name == "name" or value is None:
            continue
        try:
            found[name] = keep(value)
        except NotPlainError as error:
            lacks = f"text cannot hold its {name}, a {error}"
            continue
        if is_hash(found[name]):
            shape = " x ".join(f"{size:,}" for size in found[name]["shape"])
            lacks = f"its {name}, {shape} numbers, are too many to keep: only their sha256 is there"
    return found, lacks


def qualified(make: Callable[..., object]) -> str:
    """Return a constructor's module and name as a text, so that problems can be pickled."""
    return f"{make.__module__}.{make.__qualname__}"
