"""Problems as plain data: how they were made, or why text cannot describe them."""

import inspect

import jax
import numpy as np

from jaxbandits.io.axis_values import written
from jaxbandits.io.serialize import NotPlainError, array_hash, is_hash
from jaxbandits.problems.base import Problem
from jaxbandits.problems.constructors import ProblemFamily
from jaxbandits.problems.provenance import qualified, serializable_arguments
from jaxbandits.problems.pull_costs import Costs
from jaxbandits.problems.registry import REGISTRY
from jaxbandits.users_code.records import recorded

__all__ = ["MARK", "describe_problem"]

#: The entry of a table that cannot be built again; its value is the reason.
MARK = "cannot_be_repeated"


def describe_problem(problem: Problem | ProblemFamily) -> dict[str, object]:
    """Return the [problem] table of a specification: exact, or with an entry that says why it cannot be built again."""
    if isinstance(problem, ProblemFamily):
        return _of_family(problem)
    return _of_problem(problem) | recorded([problem.kind()])


def _of_problem(problem: Problem) -> dict[str, object]:
    recipe = problem.recipe
    name = None if recipe is None else REGISTRY.name_at(recipe.make)
    if recipe is None or name is None or not recipe.describes(problem):
        return _by_parameters(problem)
    label = recipe.label if problem.name == recipe.made.name else problem.name
    return _table(
        {"name": name, **recipe.arguments},
        recipe.lacks,
        {"label": label, "sha256": recipe.sha256, "padded": recipe.padded},
        recipe.costs,
    )


def _of_family(family: ProblemFamily) -> dict[str, object]:
    maker = qualified(family.make)
    signature = inspect.signature(family.make).bind(**family.arguments)
    signature.apply_defaults()
    arguments, lacks = serializable_arguments(dict(signature.arguments), written)
    name = REGISTRY.name_at(maker)
    if name is None:
        lacks = f"{family.make.__name__} is not one of the package's problems"
    further: dict[str, object] = {"sha256": family.sha256}
    if not family.make.__module__.startswith("jaxbandits."):
        further |= recorded(functions={family.make.__name__: family.make})
    if label := family.arguments.get("name"):
        further["label"] = written(label)
    return _table({"name": name or maker, **arguments}, lacks, further, family.costs)


def _table(
    made: dict[str, object], lacks: str, further: dict[str, object], costs: tuple[object, bool] | None
) -> dict[str, object]:
    table = {**made, **{key: value for key, value in further.items() if value is not None}}
    if costs is not None:
        try:
            table |= {"costs": written(costs[0]), "random_costs": costs[1]}
        except NotPlainError as error:
            lacks = f"text cannot hold its costs, a {error}"
        if is_hash(table.get("costs")):
            lacks = "its costs are too many to keep: only their sha256 is there"
    return {**table, MARK: lacks} if lacks else table


def _by_parameters(problem: Problem) -> dict[str, object]:
    """Return a problem without a recipe by the parameters of its law, where these determine it completely."""
    costs = problem.costs
    simple = costs is None or (costs.concentration is None and costs.coupling is None)
    kind = type(problem)
    own = "written" in vars(kind) and REGISTRY.holds(kind)
    changed = any(one is not None for one in (problem.mask, problem.supremum, problem.history))
    choices: dict[str, object] = {name: getattr(problem, name) for name in problem.choices}
    if not own or changed or not simple:
        found = {"name": kind.__name__, "sha256": array_hash(jax.tree.leaves(problem)), "label": problem.name}
        table = {**found, **_kind_of_costs(costs)}
        if not REGISTRY.holds(kind):  # the record of its code has its static fields
            return {**table, MARK: "it is not one of the package's problems"}
        static, _ = serializable_arguments({"bandits": problem.bandits if problem.bandits > 1 else None, **choices})
        return {**table, **static, MARK: "it was changed after it was made, or made by hand"}
    family, *names = problem.written
    values = dict(choices)
    for name, parameter in zip(names, problem.parameters, strict=True):
        flat = _decimals(getattr(problem, parameter))
        values[name] = flat.reshape(-1, problem.bandits).T if problem.bandits > 1 else flat
    arguments, lacks = serializable_arguments(values)
    price = None
    if costs is not None:
        price = ("reward" if costs.price is None else _decimals(costs.price), costs.random)
    return _table({"name": family, **arguments}, lacks, {"label": problem.name or None}, price)


def _kind_of_costs(costs: Costs | None) -> dict[str, object]:
    """Return what a hash of the prices leaves out: that a pull costs its reward, or that prices are paid at random."""
    if costs is None:
        return {}
    return {**({"costs": "reward"} if costs.price is None else {}), **({"random_costs": True} if costs.random else {})}


def _decimals(values: object) -> np.ndarray:
    """Return the shortest decimals that give the same float32 back."""
    array = np.asarray(values, np.float32)
    return np.asarray([float(str(x)) for x in array.ravel()]).reshape(array.shape)
