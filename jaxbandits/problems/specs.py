"""Problems from text: the SPEC of a command line, and the [problem] table of a specification."""

import dataclasses
import inspect
from typing import Any

import numpy as np

from jaxbandits.axes import Axis
from jaxbandits.checks import number, shown, whole
from jaxbandits.errors import UsageError, about, unknown_name
from jaxbandits.io.axis_values import is_text, number_type, required, value_of
from jaxbandits.problems.base import Problem
from jaxbandits.problems.constructors import ProblemFamily
from jaxbandits.problems.pull_costs import with_costs
from jaxbandits.problems.registry import REGISTRY
from jaxbandits.problems.spec_arguments import arguments_of
from jaxbandits.problems.to_spec import MARK

__all__ = ["build_problem", "parse_problem"]

# Entries of a [problem] table that are not arguments of the constructor.
_FURTHER = ("label", "sha256", "costs", "random_costs", "padded")


def build_problem(table: dict[str, Any]) -> Problem | ProblemFamily:
    """Return a problem built from a `spec`, or from its name and arguments.

    Raises:
        UsageError: an unknown name or argument, a value outside its range, a file that has changed, or a problem that
            text cannot describe.
    """
    if MARK in table:
        raise UsageError(f"the problem {table.get('label') or table.get('name')} cannot be made again: {table[MARK]}")
    further = {key: table[key] for key in _FURTHER if key in table}
    bare = {key: value for key, value in table.items() if key not in further}
    if "random_costs" in further:
        with about("random_costs"):
            if "costs" not in further:
                raise UsageError("random_costs needs costs, one price or one per arm")
            if not isinstance(further["random_costs"], bool):
                raise UsageError(f"random_costs is true or false, got {shown(further['random_costs'])}")
    if "spec" in table:
        if others := sorted(bare.keys() - {"spec"}):
            raise UsageError(f"the [problem] table has a spec, so it must not have {', '.join(others)}")
        with about("spec"):
            if not isinstance(table["spec"], str):
                raise UsageError(f'spec must be a text such as "bernoulli:0.7,0.5", got {shown(table["spec"])}')
            made = parse_problem(table["spec"])
    else:
        made = _by_name(bare, further.get("label"))
    if "sha256" in further:
        _check_content(made, further["sha256"])
    if "costs" in further:
        with about("costs"):
            made = with_costs(made, further["costs"], random=further.get("random_costs", False))
    if isinstance(made, ProblemFamily):
        for key in ("padded", "label"):
            if key in further and not (key == "label" and "name" in made.arguments):
                raise UsageError(f"the problem {made.name} has axes, so it must not have {key}")
        return made
    if "padded" in further:
        arms = made.arms // made.bandits
        made = made.padded(whole("padded", further["padded"], arms, bound="the number of arms"))
    return dataclasses.replace(made, name=str(further["label"])) if "label" in further else made


def _by_name(table: dict[str, object], label: object) -> Problem | ProblemFamily:
    name = str(required(table, "name", "problem"))
    make = REGISTRY.get(_normal(name))
    known = inspect.signature(make).parameters if make else {}
    whole = {key for key, argument in known.items() if number_type(argument.annotation) is int}
    arguments = {}
    for key in [key for key in table if key != "name"]:
        with about(key):
            arguments[key] = value_of(table[key], whole=key in whole)
    if label is not None and "name" in known:
        arguments["name"] = value_of(label)
    return _construct(name, [], arguments)


def _check_content(made: Problem | ProblemFamily, wanted: object) -> None:
    """Check that a file still has the content that it had when the specification was written."""
    found = made.sha256 if isinstance(made, ProblemFamily) else made.recipe.sha256 if made.recipe else None
    if found is None:
        raise UsageError(f"the problem {made.name} reads no file, so it must not have a sha256")
    if found != wanted:
        raise UsageError(
            f"{made.name}: the file no longer holds what the specification was written for (sha256 {str(wanted)[:12]}… "
            f"there, {str(found)[:12]}… here)"
        )


def parse_problem(spec: str) -> Problem | ProblemFamily:
    """Return a problem from a command-line SPEC.

    Examples are `bernoulli:0.7,0.5`, `gaussian:0.5,0.4;1`, `abm:1` and `two-group:n=1000,k=100`. A list is written
    `0.7,0.5`, with its name or without: `gaussian:means=0.7,0.5,sd=2`, `gaussian:0.7,0.5,sd=1,2`. Several bandits are
    separated by `/`: `bernoulli:0.5,0.4/0.6,0.3`.

    `FILE.csv`, `FILE.csv.gz` and `data:market-returns` resample a table with a column per arm.
    `csv:path=FILE.csv,joint=true` resamples whole rows. `workers:FILE.csv` and `workers:path=FILE.csv,dataset=rte`
    read crowd workers.

    Raises:
        UsageError: an unknown name, or arguments that cannot be read.
    """
    name, _, rest = spec.strip().partition(":")
    make = REGISTRY.get(_normal(name))
    arguments = inspect.signature(make).parameters if make else {}
    takes_path = bool(arguments) and is_text(next(iter(arguments.values())).annotation)
    if spec.strip().lower().endswith((".csv", ".csv.gz")) and not takes_path:
        return REGISTRY["csv"](spec.strip())
    return _construct(name, *arguments_of(rest, spec, arguments))


def _construct(name: str, positional: list[Any], named: dict[str, object]) -> Problem | ProblemFamily:
    normal = _normal(name)
    if normal not in REGISTRY:
        raise unknown_name("problem", name, REGISTRY)
    make = REGISTRY[normal]
    known = inspect.signature(make).parameters
    for key, value in named.items():
        with about(key):
            if key not in known:
                raise unknown_name(f"argument of {normal}", key, [p for p in known if p != "name"])
            _check_argument(normal, known[key], value)
    if len(positional) == 1 and np.ndim(positional[0]) == 1 and len(positional[0]) == 1 and "means" not in known:
        positional = [positional[0][0]]  # abm:1
    elif len(positional) == 2 and len(np.ravel(positional[1])) == 1:
        positional[1] = float(np.ravel(positional[1])[0])  # gaussian:0.5,0.4;1
    try:
        return make(*positional, **named)
    except TypeError as error:
        raise UsageError(f"problem {normal}: {error}") from None


def _normal(name: str) -> str:
    return name.strip().lower().replace("_", "-")


def _check_argument(owner: str, argument: inspect.Parameter, value: object) -> None:
    kind_of = number_type(argument.annotation)
    for one in value.values if isinstance(value, Axis) else [value]:
        if argument.annotation is bool and not isinstance(one, bool):
            raise UsageError(f"problem {owner}: {argument.name} is true or false, got {one!r}")
        if isinstance(one, str) and kind_of is None and not is_text(argument.annotation):
            raise UsageError(
                f"problem {owner}: {argument.name} must be numbers, got the text {one!r}: a list is written "
                f"{argument.name} = [0.7, 0.5]"
            )
        if kind_of is None or (one is None and argument.default is None):
            continue
        (whole if kind_of is int else number)(f"problem {owner}: {argument.name}", one)
