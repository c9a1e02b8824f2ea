"""Stacks compatible algorithms, for the cells of a grid that share a program."""

import dataclasses
from collections.abc import Sequence

import jax
import numpy as np
from jax.typing import ArrayLike

from jaxbandits.algorithms.arm_values import by_arm, filled
from jaxbandits.algorithms.parameters import by_logarithm, is_parameter, is_word, values_of, with_run_types
from jaxbandits.algorithms.protocol import Rule
from jaxbandits.arrays.numerics import MAX_COUNT
from jaxbandits.arrays.static_int import StaticInt
from jaxbandits.checks import as_single, each, whole_rule
from jaxbandits.engine.flights import Flight
from jaxbandits.engine.mapped_algorithm import MappedAlgorithm
from jaxbandits.engine.mapping import map_algorithm
from jaxbandits.engine.protocol_checks import check_methods, is_registered
from jaxbandits.engine.value_ranges import Facts, ranges_of_values
from jaxbandits.problems.base import Problem

__all__ = ["as_stacked", "check_like", "stack_algorithms"]


def check_like(algorithms: Sequence[Rule], problem: Problem, key: jax.Array) -> None:
    """Check the methods and the numbers of compatible algorithms, as `check_methods` does of one."""
    if not is_registered(algorithms[0]):
        _stacked(algorithms)  # checks that runs can compute with the type of each number
        check_methods(as_stacked(algorithms[0]), problem, key)


def as_stacked(algorithm: Rule) -> Rule:
    """Return an algorithm of one cell with the types of numbers that runs compute with, leaves `()`."""
    return jax.tree.map(lambda leaf: leaf[..., 0], _stacked([algorithm]))


def stack_algorithms(
    algorithms: Sequence[Rule], problem: Problem | None = None, flight: Flight | None = None
) -> MappedAlgorithm:
    """Return C compatible algorithms as one mapped algorithm, leaves of shape `(C,)`.

    Args:
        algorithms: the algorithms.
        problem: their problems, stacked, leaves `(K, C)`; None for none.
        flight: their pulls in flight, leaves `(C,)`; None for none.
    """
    stacked = _stacked(algorithms, 0 if problem is None else problem.arms)
    known = problem is not None and problem.bounded and not problem.drawn
    reward_range = ranges_of_values(np.asarray(problem.reward_range))[0] if known else None  # type: ignore[union-attr]
    return map_algorithm(stacked, Facts(ranges_of_values(stacked), reward_range), flight)


def _stacked(algorithms: Sequence[Rule], width: int = 0) -> Rule:
    """Return compatible algorithms, stacked; values of arms are filled up to `width`, or to the longest."""
    lengths = [len(leaf) for one in algorithms for leaf in _arm_values(one)]
    if lengths:
        width = max(width, *lengths)
        algorithms = [filled(one, width) for one in algorithms]
    first, name = algorithms[0], type(algorithms[0]).__name__
    changes: dict[str, np.ndarray | StaticInt] = {}
    given = [values_of(algorithm) for algorithm in algorithms]
    for field in dataclasses.fields(first):
        values = [one[field.name] for one in given]
        if not is_parameter(field) or field.metadata["static"] or values[0] is None or is_word(field, values[0]):
            continue
        if by_logarithm(field) or np.ndim(values[0]):
            continue
        common = field.metadata["common"]
        if common is not None and all(value == common for value in values):
            changes[field.name] = StaticInt(common)
        elif field.metadata["rule"] == "count":
            counts = each(f"{name}: {field.name}", values, whole_rule(1, MAX_COUNT))
            changes[field.name] = np.asarray(counts, np.int32)
        else:
            changes[field.name] = np.asarray(values, np.float32)
    alike = [with_run_types(algorithm) for algorithm in algorithms]
    stacked = jax.tree.map(lambda *leaves: _stack(name, leaves), *alike)
    return dataclasses.replace(stacked, **changes) if changes else stacked


def _arm_values(rule: Rule) -> list[np.ndarray]:
    return [leaf for leaf, is_one in zip(jax.tree.leaves(rule), by_arm(rule), strict=True) if is_one]


def _stack(owner: str, leaves: Sequence[ArrayLike]) -> np.ndarray:
    stacked = np.stack([np.asarray(leaf) for leaf in leaves], axis=-1)
    if np.issubdtype(stacked.dtype, np.floating):
        for value in stacked.flat:
            as_single(f"{owner}: a parameter", float(value))
        return stacked.astype(np.float32)
    if np.issubdtype(stacked.dtype, np.integer):
        each(f"{owner}: a parameter", stacked, whole_rule(-MAX_COUNT, MAX_COUNT))
        return stacked.astype(np.int32)
    return stacked
