"""Judges answers by an algorithm's own criterion, which is written for one run."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike

from jaxbandits.algorithms.arm_values import by_arm
from jaxbandits.algorithms.protocol import Rule
from jaxbandits.arrays import arms
from jaxbandits.problems.base import Problem
from jaxbandits.transform import Padded, map_runs, results_of

__all__ = ["judged"]


def judged(judge: Callable[..., ArrayLike], algorithm: Rule, problem: Problem, answer: jax.Array) -> jax.Array:
    """Return which of R answers are correct, bool `(R,)`; the criterion does not see arms that are padding.

    Args:
        judge: the criterion, from algorithm, problem and answer of one run to a truth value.
        algorithm: leaves `(R,)`.
        problem: leaves `(K, R)`.
        answer: bool `(K, R)`.

    Raises:
        UnpaddableError: the padding cannot be left out.
    """
    if problem.mask is None:
        return jnp.asarray(map_runs(judge)(algorithm, problem, answer))
    exist = arms.total(jnp.broadcast_to(problem.mask, answer.shape).astype(jnp.int32))
    axes = [(0,) if is_one else () for is_one in by_arm(algorithm, 1)]
    axes += [(0,) if leaf.ndim > 1 else () for leaf in jax.tree.leaves((problem, answer))]
    padded = Padded(exist, problem.arms, axes, problem.bandits)
    (value,), _ = results_of(lambda *told: jnp.asarray(judge(*told)), (algorithm, problem, answer), padded=padded)
    return value.array
