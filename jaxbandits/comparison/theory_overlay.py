"""Theoretical values for each cell of a sweep, to be shown with the measured ones."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from jaxbandits import theory
from jaxbandits.algorithms.inherited_claims import claims
from jaxbandits.algorithms.parameters import values_of
from jaxbandits.algorithms.set_criteria import SET_CRITERIA
from jaxbandits.algorithms.traits import Theorem, tolerance_of
from jaxbandits.comparison.guarantees import number, theorem_on
from jaxbandits.comparison.questions import question_of
from jaxbandits.compilers.jax_settings import own_settings
from jaxbandits.errors import UsageError, check_text, unknown_name
from jaxbandits.sweeps.grid import Cell
from jaxbandits.sweeps.rerun import cells_of

__all__ = ["QUANTITIES", "with_theory"]


class _Quantity(NamedTuple):
    long_name: str
    of: Callable[[Cell], Theorem | None]  # a formula and its arguments; None where there is none
    source: str = ""  # where it is not part of the name


def _number(cell: Cell, name: str, otherwise: float | None = None) -> Any:
    value = values_of(cell.algorithm).get(name, otherwise)
    return otherwise if value is None else value


def _h_epsilon(cell: Cell) -> Theorem | None:
    problem = cell.problem
    of_best_arms = cell.algorithm.traits.criterion in question_of().criteria
    if problem.bandits > 1 or problem.drawn or not (of_best_arms and problem.bounded):
        return None
    b = float(problem.reward_range)
    arguments = (np.asarray(problem.mean), tolerance_of(cell.algorithm), _number(cell, "m", 1), b)
    return Theorem(theory.h_epsilon, arguments, "")


def _h_all_good(cell: Cell) -> Theorem | None:
    if cell.problem.drawn or cell.algorithm.traits.criterion != "all-good":
        return None
    arguments = (np.asarray(cell.problem.mean), _number(cell, "epsilon"), bool(_number(cell, "multiplicative", False)))
    return Theorem(theory.h_all_good, arguments, "")


def _lower_bound(cell: Cell) -> Theorem | None:
    given, criterion = values_of(cell.algorithm), cell.algorithm.traits.criterion
    asked: dict[str, Any] = {"epsilon": tolerance_of(cell.algorithm), "m": int(_number(cell, "m", 1))}
    if criterion == "one-above-threshold":
        asked = {"one_above": given["threshold"]}
    elif criterion in SET_CRITERIA:
        asked = {"epsilon": asked["epsilon"], "threshold": given.get("threshold")}
    if criterion == "all-good":
        asked |= {"all_within": given["epsilon"], "multiplicative": bool(_number(cell, "multiplicative", False))}
    question = question_of(**asked)
    # Rules that know features of the arms may beat the bound of those that do not.
    if cell.problem.drawn or criterion not in question.criteria or given.get("features") is not None:
        return None
    return question.lower_bound(cell.problem, _number(cell, "delta"))


def _theorem(cell: Cell) -> Theorem | None:
    return theorem_on(
        cell.problem, cell.algorithm, delta=_number(cell, "delta", 0.05), epsilon=tolerance_of(cell.algorithm),
        m=int(_number(cell, "m", 1)),
    )  # fmt: skip


def _rate(cell: Cell) -> Theorem | None:
    return cell.algorithm.rate(cell.problem) if claims(cell.algorithm, "rate") else None


#: The quantities of `with_theory`, by the name of the variable.
QUANTITIES = {
    "h_epsilon": _Quantity("complexity H_ε", _h_epsilon),
    "h_all_good": _Quantity("complexity of all ε-good arms", _h_all_good, "Mason et al. 2020, section 2"),
    "lower_bound": _Quantity(
        "lower bound T* kl(δ, 1−δ)",
        _lower_bound,
        "Garivier, Kaufmann 2016, Theorem 1; where several answers are right, as delta tends to 0: Degenne, Koolen "
        "2019",
    ),
    "theorem": _Quantity("what is proved: ", _theorem),
    "rate": _Quantity("", _rate),
}


@own_settings()
def with_theory(ds: xr.Dataset, *names: str, algorithm: Any = None, problem: Any = None) -> xr.Dataset:
    """Return a sweep's Dataset with theoretical values of each of its cells.

    Args:
        ds: runs, their summary or their moments, with the specification that they carry.
        names: `h_epsilon`, UGapE's complexity for the range of the problem's rewards; `h_all_good`, that of all
            epsilon-good arms; `lower_bound`, on the pulls with this delta, for the question that the algorithm answers
            (with m > 1 and epsilon > 0 for the stronger criterion of `jaxbandits.theory.characteristic_time`).
            `theorem` is the proved bound of the algorithm on sub-Gaussian arms, pulls or a probability of error; `rate`
            is a bound or a rate of the algorithm's own paper.
        algorithm: as in `jaxbandits.repeat`.
        problem: as in `jaxbandits.repeat`.

    Returns:
        The Dataset with a variable of each name, float64, over the dimensions of the grid. In a Dataset of several
        algorithms or problems it is NaN where it does not apply.

    Raises:
        UsageError: an unknown name, one that an axis or a metric of the Dataset has, a quantity that does not apply,
            or a specification that cannot be built again.

    Example:
        >>> ds = jb.simulate(jb.UGapEc(epsilon=0.2, delta=0.1), jb.bernoulli([0.9, 0.4]), seeds=20)
        >>> round(float(jb.with_theory(ds, "h_epsilon").h_epsilon), 1)
        16.3
    """
    for name in names:
        check_text("quantity of theory", name)
        if name not in QUANTITIES:
            raise unknown_name("quantity of theory", name, QUANTITIES)
        if name in ds.coords or (name in ds and "seed" in ds[name].dims):
            raise UsageError(f"the Dataset has its own {name!r}, an axis or a metric: run it with another name")
    cells, dimensions = cells_of(ds, algorithm=algorithm, problem=problem)
    shape = tuple(ds.sizes[name] for name in dimensions if name in ds.dims)
    shown = [name for name in dimensions if name in ds.dims]
    found: dict[str, Any] = {}
    for name in names:
        theorems = [None if cell is None else QUANTITIES[name].of(cell) for cell in cells]
        there = [theorem for theorem in theorems if theorem is not None]
        if theorems and len(there) < (1 if {"algorithm", "problem"} & set(dimensions) else len(theorems)):
            lacking = next(cell for cell, one in zip(cells, theorems, strict=True) if cell is not None and one is None)
            raise UsageError(f"there is no {name} of {type(lacking.algorithm).__name__} on {lacking.problem.name}")
        sources = dict.fromkeys(theorem.source for theorem in there)
        values = _values(theorems).reshape(shape)
        about = {"long_name": QUANTITIES[name].long_name + ", ".join(sources)}
        about |= {"source": QUANTITIES[name].source} if QUANTITIES[name].source else {}
        found[name] = (shown, values, about)
    return ds.assign(found)


def _values(theorems: Sequence[Theorem | None]) -> np.ndarray:
    """Return the values of theorems, `(C,)`, NaN where there is none.

    Theorems with equal static values and shapes are evaluated at once, along a last axis of cells.
    """
    values = np.full(len(theorems), np.nan)
    groups: dict[Any, list[int]] = {}
    known = {place: theorem for place, theorem in enumerate(theorems) if theorem is not None}
    for place, theorem in known.items():
        alike = tuple(part if isinstance(part, int | str) else np.shape(part) for part in theorem.arguments)
        groups.setdefault((theorem.formula, alike), []).append(place)
    for (formula, alike), places in groups.items():
        arguments = [
            part if isinstance(part, int | str) else np.stack([known[place].arguments[i] for place in places], -1)
            for i, part in enumerate(alike)
        ]
        values[places] = number(formula, *arguments)
    return values
