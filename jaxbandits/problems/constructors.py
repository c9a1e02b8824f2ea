"""The decorator of problem constructors: they accept axes, and their problems record how they were made."""

import dataclasses
import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from jaxbandits.axes import Axis
from jaxbandits.compilers.jax_settings import own_settings
from jaxbandits.errors import bind
from jaxbandits.io.serialize import File
from jaxbandits.problems.provenance import attach_provenance
from jaxbandits.problems.pull_costs import with_costs
from jaxbandits.problems.value_range import check_moments

__all__ = ["ProblemFamily", "listed", "varying"]


@dataclasses.dataclass(frozen=True)
class ProblemFamily:
    """A problem with axes among its arguments; `varying` makes one.

    Example:
        >>> isinstance(jb.one_sparse(n=jb.axis([5, 10])), jb.problems.ProblemFamily)
        True
    """

    make: Callable[..., object]
    arguments: dict[str, object]
    # costs of pulls and whether they are random; None for the constructor's own
    costs: tuple[object, bool] | None = None

    @property
    def name(self) -> str:
        """Return the name that the user gave it, or the constructor's."""
        given = self.arguments.get("name")
        return given if given and isinstance(given, str) else self.make.__name__

    @property
    def axes(self) -> dict[str, Axis]:
        """Return its arguments that are axes of a grid."""
        return {name: value for name, value in self.arguments.items() if isinstance(value, Axis)}

    def at(self, values: dict[str, object]) -> Any:
        """Return the problem at values of its axes, with the family's costs."""
        made = self.make(**{**self.arguments, **values})
        return made if self.costs is None else with_costs(made, self.costs[0], random=self.costs[1])

    def chosen(self, axes: dict[str, Axis]) -> "ProblemFamily":
        """Return the family with other axes."""
        return dataclasses.replace(self, arguments={**self.arguments, **axes})

    @property
    def sha256(self) -> str | list[str] | None:
        """Return the SHA-256 of the file that the constructor reads; None without one.

        An axis of files has a list, one entry for each value.
        """
        for value in self.arguments.values():
            if isinstance(value, File):
                return value.sha256
            if isinstance(value, Axis) and isinstance(value.values[0], File):
                return [file.sha256 for file in value.values]
        return None


def listed(problems: Sequence[object], name: str) -> ProblemFamily:
    """Return a family of the problems along an axis of their indices."""

    def one_of_a_list(number: int) -> object:
        return problems[number]

    return ProblemFamily(one_of_a_list, {"number": Axis(tuple(range(len(problems))), name)})


def varying(make: Callable[..., Any] | None = None, **readers: Callable[[Any], File]) -> Callable[..., Any]:
    """Let a constructor of problems accept axes, and let its problems record how they were made.

    With an axis among its arguments, the constructor returns a `ProblemFamily`, which `sweep` expands.

    Args:
        make: the constructor.
        readers: for each argument that names a file, the function that reads it, once, before the constructor is
            called.

    Example:
        >>> jb.one_sparse(n=jb.axis([5, 10])).arguments["n"].values
        (5, 10)
    """
    if make is None:
        return functools.partial(varying, **readers)
    signature = inspect.signature(make)

    @functools.wraps(make)
    @own_settings("mesh")
    def build(*args: object, **kwargs: object) -> Any:
        bound = bind(make.__name__, signature, args, kwargs)
        arguments = bound.arguments
        for name in readers.keys() & arguments.keys():
            value = arguments[name]
            arguments[name] = (
                dataclasses.replace(value, values=tuple(map(readers[name], value.values)))
                if isinstance(value, Axis)
                else readers[name](value)
            )
        if any(isinstance(value, Axis) for value in arguments.values()):
            return ProblemFamily(build, dict(arguments))
        bound.apply_defaults()
        sha256 = next((value.sha256 for value in arguments.values() if isinstance(value, File)), None)
        made = make(*bound.args, **bound.kwargs)
        check_moments(made)
        return attach_provenance(made, make, dict(bound.arguments), sha256)

    return build
