"""Checks before a run that `max_pulls` leaves room for the first pulls."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.bounded_jit import recent_programs
from jaxbandits.engine.admission import Admitted
from jaxbandits.engine.batching import batched
from jaxbandits.engine.users_own import UsersOwn
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem
from jaxbandits.users_code.cache_key import Code, code_of

__all__ = ["check_first_pulls", "check_first_pulls_of_one"]

#: Programs that a process holds.
_MOST = 16


def check_first_pulls(algorithms: Sequence[Admitted], problem: Problem, max_pulls: int) -> None:
    """Refuse a limit that does not leave room for the first pulls of one of C runs.

    Args:
        algorithms: C like algorithms.
        problem: C like problems as one, leaves `(K, C)`.
        max_pulls: the limit.

    Raises:
        UsageError: the first pulls are more.
    """
    first = algorithms[0]
    if first.base is not None and first.base.initial_pulls:
        exist = np.asarray(problem.arms if problem.mask is None else np.count_nonzero(problem.mask, axis=0))
        most = int(first.base.initial_pulls * np.max(exist))
        what = f"the first pulls of {np.max(exist):,} arms are"
    elif first.base is None or first.traits.in_batches:
        own = batched(algorithms, problem)
        most = int(np.max(_first_pulls(own, problem, code=code_of(own, problem))))
        what = "its first pulls are" if first.base is None else "its first batch is"
    else:  # a budget of cost: one pull, if it pays for that
        return
    if most > max_pulls:
        raise UsageError(f"{first.name}: {what} {most:,}, more than max_pulls={max_pulls:,}")


def check_first_pulls_of_one(algorithm: Admitted, problem: Problem, max_pulls: int) -> None:
    """Do the same for one algorithm on one problem, leaves `(K,)`.

    Raises:
        UsageError: the first pulls are more.
    """
    check_first_pulls([algorithm], jax.tree.map(lambda leaf: np.asarray(leaf)[..., None], problem), max_pulls)


@recent_programs(_MOST, "code")
def _first_pulls(algorithm: Any, problem: Problem, *, code: Code) -> jax.Array:
    """Return the pulls of the first states or, where these have none, of the first steps; int32 `(C,)`."""
    cells = jax.tree.leaves(problem)[0].shape[-1]
    key = jnp.broadcast_to(jax.random.key(0, impl="threefry2x32"), (cells,))
    with code.traced():
        arms = problem.realised(key)
        state = algorithm.init(arms, key)
        pulls = state.time if isinstance(algorithm, UsersOwn) else algorithm.next_pulls(state)
        return jnp.broadcast_to(pulls, (cells,))
