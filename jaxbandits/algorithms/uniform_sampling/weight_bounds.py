"""Check what theorems of pay-per-reward assume about the arms' weights, their expected rewards."""

import numpy as np

from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem

__all__ = ["check_weights"]


def check_weights(owner: str, problem: Problem) -> None:
    """Check Assumption 2.1, 0 <= X and Var(X_i) <= w_i <= 1.

    Raises:
        UsageError: the assumption fails; the message names the arm and by how much.
    """
    if problem.lowest_reward < 0:
        raise UsageError(f"{owner} needs rewards that are not negative; those of {problem.name} can be")
    mean, variance = np.asarray(problem.mean, np.float64), np.asarray(problem.variance, np.float64)
    for what, value, bound in (("mean", mean, np.ones_like(mean)), ("variance", variance, mean)):
        if np.any(value > bound * (1 + 1e-6)):
            arm = int(np.argmax(value / np.maximum(bound, 1e-30)))
            limit = "1" if what == "mean" else f"its mean {bound[arm]:g}"
            raise UsageError(
                f"{owner} needs variance <= mean <= 1 for every arm (Assumption 2.1): arm {arm} has {what} "
                f"{value[arm]:g}, above {limit} by {value[arm] - bound[arm]:.3g}"
            )
