"""Requirements of a budget of cost on a problem."""

import numpy as np

from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem

__all__ = ["check_budget"]


def check_budget(owner: str, budget: float, problem: Problem) -> None:
    """Check that a budget buys a pull.

    Args:
        owner: the name of the algorithm.
        budget: the budget of cost.
        problem: leaves `(K,)`, or a reservoir.

    Raises:
        UsageError: the budget is below the smallest cost; rewards may be negative; or the pulls of an arm are free.
    """
    if problem.drawn:
        smallest = problem.smallest_cost
    else:
        if problem.lowest_reward < 0:
            raise UsageError(f"{owner}: rewards must lie in [0, 1], those of {problem.name} may be negative")
        expected = np.asarray(1.0 if problem.costs is None else problem.costs.expected(problem.mean))
        if expected.min() <= 0:
            raise UsageError(
                f"{owner}: every pull must cost something on average, arm {int(expected.argmin())} does not"
            )
        smallest = float(expected.min())
    if budget < smallest:
        raise UsageError(f"{owner}: a budget of {budget:g} is below the smallest cost of a pull, {smallest:g}")
