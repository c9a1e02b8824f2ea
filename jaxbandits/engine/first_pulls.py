"""Checks before a run that `max_pulls` leaves room for the first pulls."""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.algorithms.protocol import Rule
from jaxbandits.bounded_jit import recent_programs
from jaxbandits.engine.mapped_algorithm import MappedAlgorithm
from jaxbandits.engine.stacked_algorithms import stack_algorithms
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem
from jaxbandits.users_code.cache_key import Code, code_of

__all__ = ["check_first_pulls", "check_first_pulls_of_one"]

#: Programs that a process holds.
_MOST = 16


def check_first_pulls(algorithms: Sequence[Rule], problem: Problem, max_pulls: int) -> None:
    """Check that a limit leaves room for the first pulls of each of C runs.

    Args:
        algorithms: C compatible algorithms.
        problem: C compatible problems, stacked, leaves `(K, C)`.
        max_pulls: the limit.

    Raises:
        UsageError: a run has more first pulls than `max_pulls`.
    """
    first, each = algorithms[0], algorithms[0].initial_pulls
    if each:
        exist = np.asarray(problem.arms if problem.mask is None else np.count_nonzero(problem.mask, axis=0))
        most = int(each * np.max(exist))
        what = f"the first pulls of {np.max(exist):,} arms are"
    elif first.traits.in_batches:
        own = stack_algorithms(algorithms, problem)
        most = int(np.max(_first_pulls(own, problem, code=code_of(own, problem))))
        what = "its first batch is"
    else:  # a budget of cost: one pull, if the budget covers it
        return
    if most > max_pulls:
        raise UsageError(f"{type(first).__name__}: {what} {most:,}, more than max_pulls={max_pulls:,}")


def check_first_pulls_of_one(algorithm: Rule, problem: Problem, max_pulls: int) -> None:
    """Check that a limit leaves room for the first pulls of one algorithm on one problem, leaves `(K,)`.

    Raises:
        UsageError: the run has more first pulls than `max_pulls`.
    """
    check_first_pulls([algorithm], jax.tree.map(lambda leaf: np.asarray(leaf)[..., None], problem), max_pulls)


@recent_programs(_MOST, "code")
def _first_pulls(algorithm: MappedAlgorithm, problem: Problem, *, code: Code) -> jax.Array:
    """Return the pulls of the first steps, int32 `(C,)`."""
    cells = jax.tree.leaves(problem)[0].shape[-1]
    key = jnp.broadcast_to(jax.random.key(0, impl="threefry2x32"), (cells,))
    with code.traced():
        arms = problem.realised(key)
        state = algorithm.init(arms, key)
        return jnp.broadcast_to(algorithm.next_pulls(state), (cells,))
