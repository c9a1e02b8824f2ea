"""One run, for people who want to look: to its end, or step by step."""

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from jaxbandits.accounts import exhausted, pull_limit
from jaxbandits.problems.base import Problem

__all__ = ["prepared", "run", "trajectory"]


def run(algorithm: Any, problem: Problem, key: jax.Array, max_pulls: int | None = None) -> Any:
    """The final state of one run.

    Args:
        algorithm: any algorithm of the protocol.
        problem: the problem, leaves of shape `(K,)`.
        key: the run's typed key, shape `()`. Run `s` of `jb.simulate(…, root_seed=r)` has the key
            `jax.random.fold_in(jax.random.key(r), s)`.
        max_pulls: stop after this many pulls; None as in `jb.simulate`: 10^9, or no limit where sums are drawn.

    Returns:
        The state; `algorithm.recommend(state)` are the returned arms.
    """
    most = pull_limit(algorithm) if max_pulls is None else max_pulls
    return _run(*prepared(algorithm, problem), key, most)


def prepared(algorithm: Any, problem: Problem) -> tuple[Any, Problem]:
    """A built-in algorithm with what it takes from the problem, and the problem with as many arms as it wants.

    Both as they are where they are being traced and have no values, and for an algorithm of the user's own.
    """
    leaves = jax.tree.leaves((algorithm, problem))
    if not hasattr(algorithm, "resolved") or any(isinstance(leaf, jax.core.Tracer) for leaf in leaves):
        return algorithm, problem
    explored = algorithm.explored(problem)
    return algorithm.resolved(explored), explored


@jax.jit
def _run(algorithm: Any, problem: Problem, key: jax.Array, max_pulls: int) -> Any:
    def unfinished(state: Any) -> jax.Array:
        time = state.time if hasattr(state, "spent") else jnp.sum(state.pulls)  # the sum could pass 2^31
        return ~algorithm.done(state) & (time < max_pulls) & ~exhausted(algorithm, state)

    problem = problem.realised(key)
    return lax.while_loop(unfinished, lambda state: algorithm.step(problem, key, state), algorithm.init(problem, key))


def trajectory(algorithm: Any, problem: Problem, key: jax.Array, steps: int) -> Any:
    """The states of one run after 0, 1, …, `steps` steps, on a new first axis; a run keeps its last state when done.

    Args:
        algorithm: any algorithm of the protocol.
        problem: the problem, leaves of shape `(K,)`.
        key: the run's typed key, shape `()`.
        steps: how many steps to look at.
    """
    return _trajectory(*prepared(algorithm, problem), key, steps)


def _scan(algorithm: Any, problem: Problem, key: jax.Array, steps: int) -> Any:
    def one_step(state: Any, _: None) -> tuple[Any, Any]:
        new = algorithm.step(problem, key, state)
        done = algorithm.done(state)
        new = jax.tree.map(lambda a, b: jnp.where(done, a, b), state, new)
        return new, new

    problem = problem.realised(key)
    first = algorithm.init(problem, key)
    _, rest = lax.scan(one_step, first, None, length=steps)
    return jax.tree.map(lambda a, b: jnp.concatenate([a[None], b]), first, rest)


_trajectory = jax.jit(_scan, static_argnames="steps")
