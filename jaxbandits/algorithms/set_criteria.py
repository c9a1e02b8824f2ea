"""Judge answers of any number of arms: the arms above a threshold, one of them, or all within epsilon of the best.

Each criterion is a function of the algorithm, the problem and an answer, bool `(K,)`, to a bool `()`, for one run. It
reads fields of the algorithm by their names, so that an algorithm of one's own may use it, too.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from jaxbandits.arrays.numerics import ROUNDING
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem
from jaxbandits.theory.answer_sets import lower_line

__all__ = ["SET_CRITERIA"]


def _above_threshold(algorithm: Any, problem: Problem, answer: jax.Array) -> jax.Array:
    """Judge by `threshold` and the tolerance: arms within the tolerance of the threshold may be returned or not."""
    threshold, slack = _field(algorithm, "threshold"), _tolerance(algorithm)
    # A mean on the line, such as 0.2 = 0.3 - 0.1, may be off it by rounding; without a tolerance nothing is subtracted.
    size = jnp.maximum(jnp.abs(problem.mean), jnp.abs(threshold) + slack)
    rounding = jnp.where(jnp.asarray(slack) > 0, ROUNDING * size, 0.0)
    wanted, refused = problem.mean >= threshold + slack - rounding, problem.mean < threshold - slack - rounding
    return ~jnp.any((wanted & ~answer) | (refused & answer))


def _one_above_threshold(algorithm: Any, problem: Problem, answer: jax.Array) -> jax.Array:
    """Judge by `threshold`: one arm that is at least as good, or none where no arm is."""
    good = problem.mean >= _field(algorithm, "threshold")
    return jnp.where(jnp.any(answer), jnp.sum(answer) == 1, ~jnp.any(good)) & ~jnp.any(answer & ~good)


def _all_good(algorithm: Any, problem: Problem, answer: jax.Array) -> jax.Array:
    """Judge by `epsilon`, `multiplicative` and the tolerance: arms up to the tolerance below the line may be either."""
    best, epsilon = jnp.max(problem.mean), _field(algorithm, "epsilon")
    multiplicative = getattr(algorithm, "multiplicative", False)
    rounding = ROUNDING * jnp.maximum(jnp.abs(best), jnp.abs(problem.mean))
    wanted = problem.mean >= lower_line(best, epsilon, multiplicative) - rounding
    refused = problem.mean < lower_line(best, epsilon + _tolerance(algorithm), multiplicative) - rounding
    return ~jnp.any((wanted & ~answer) | (refused & answer))


def _field(algorithm: Any, name: str) -> Any:
    """Return a field that a criterion reads.

    Raises:
        UsageError: there is none.
    """
    if not hasattr(algorithm, name):
        raise UsageError(f"{type(algorithm).__name__}: its criterion needs a field {name!r}, which it has not")
    return getattr(algorithm, name)


def _tolerance(algorithm: Any) -> Any:
    """Return the field that its traits declare as the tolerance; 0 without one."""
    name = algorithm.traits.tolerance
    return 0.0 if name is None else _field(algorithm, name)


#: By the names of `jb.Traits`.
SET_CRITERIA: dict[str, Callable[[Any, Problem, jax.Array], jax.Array]] = {
    "above-threshold": _above_threshold,
    "one-above-threshold": _one_above_threshold,
    "all-good": _all_good,
}
