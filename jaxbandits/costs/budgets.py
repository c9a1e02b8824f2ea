"""Requirements of a budget of cost on a problem."""

import numpy as np

from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem

__all__ = ["check_budget"]


def check_budget(owner: str, budget: float, problem: Problem, unit: bool = False) -> None:
    """Check that a budget buys a pull, and the prices.

    Args:
        owner: the name of the algorithm.
        budget: the budget of cost.
        problem: leaves `(K,)`, or a reservoir, whose prices are at most 1.
        unit: whether prices must be at most 1.

    Raises:
        UsageError: the budget is below the smallest cost; rewards may be negative; the pulls of an arm are free; or
            a price is too large.
    """
    if problem.drawn:
        smallest = problem.smallest_cost
    else:
        if problem.lowest_reward < 0:
            raise UsageError(f"{owner}: rewards must be at least 0, those of {problem.name} may be negative")
        expected = np.asarray(1.0 if problem.costs is None else problem.costs.expected(problem.mean))
        if expected.min() <= 0:
            raise UsageError(
                f"{owner}: every pull must cost something on average, arm {int(expected.argmin())} does not"
            )
        smallest, largest = float(expected.min()), float(expected.max())
        if unit and largest > 1:
            raise UsageError(f"{owner} needs prices of at most 1: divide the prices and the budget by {largest:g}")
    if budget < smallest:
        raise UsageError(f"{owner}: a budget of {budget:g} is below the smallest cost of a pull, {smallest:g}")
