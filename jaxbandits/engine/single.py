"""One run, for people who want to look: to its end, or step by step."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from jaxbandits.algorithms.bases.joint_batches import JointBatches
from jaxbandits.algorithms.bases.protocol import BuiltIn
from jaxbandits.arrays.pytrees import classes
from jaxbandits.engine.border import check_algorithm, check_methods, in_registry
from jaxbandits.engine.kept_programs import kept_programs
from jaxbandits.engine.stepping import exhausted, idle_after, pull_limit
from jaxbandits.problems.base import Problem
from jaxbandits.status import MOST_IDLE

__all__ = ["prepared", "run", "trajectory"]


def run(algorithm: Any, problem: Problem, key: jax.Array, max_pulls: int | None = None) -> Any:
    """The final state of one run.

    Args:
        algorithm: any algorithm of the protocol.
        problem: the problem, leaves of shape `(K,)`.
        key: the run's typed key, shape `()`. Run `s` of `jb.simulate(…, root_seed=r)` has the key
            `jax.random.fold_in(jax.random.key(r), s)`. A run with the root key itself shares no reward with those, but
            what an algorithm of your own folds into it are their keys.
        max_pulls: stop after this many pulls; None as in `jb.simulate`: 10^9, or no limit where sums are drawn.

    Returns:
        The state; `algorithm.recommend(state)` are the returned arms. `algorithm.done(state)` is false where the run
        was stopped: at `max_pulls`, or after 10 000 steps without a pull, which only a user's own algorithm makes.

    Raises:
        UsageError: an algorithm that does not keep to the protocol.
    """
    check_algorithm(algorithm)
    most = pull_limit(algorithm) if max_pulls is None else max_pulls
    algorithm, problem = prepared(algorithm, problem)
    with kept_programs():
        return _run(algorithm, problem, key, most, classes=classes((algorithm, problem)))


def prepared(algorithm: Any, problem: Problem) -> tuple[Any, Problem]:
    """A built-in algorithm with what it takes from the problem, and the problem with as many arms as it wants.

    Both as they are where they are being traced and have no values, and for an algorithm of the user's own.
    """
    leaves = jax.tree.leaves((algorithm, problem))
    if not isinstance(algorithm, BuiltIn) or any(isinstance(leaf, jax.core.Tracer) for leaf in leaves):
        return algorithm, problem
    explored = algorithm.explored(problem)
    return algorithm.resolved(explored), explored


@functools.partial(jax.jit, static_argnames="classes")
def _run(algorithm: Any, problem: Problem, key: jax.Array, max_pulls: int, *, classes: tuple[type, ...]) -> Any:
    del classes  # part of the program's key
    check_methods(algorithm, problem, key)
    problem = problem.realised(key)
    first = algorithm.init(problem, key)

    def unfinished(state: Any) -> jax.Array:
        time = state.time if isinstance(algorithm, JointBatches) else jnp.sum(state.pulls)  # the sum could pass 2^31
        return ~jnp.asarray(algorithm.done(state)) & (time < max_pulls) & ~exhausted(algorithm, state)

    def one_step(state: Any) -> Any:
        return algorithm.step(problem, key, state)

    if in_registry(algorithm):
        return lax.while_loop(unfinished, one_step, first)

    def not_stalled(run: tuple[Any, jax.Array]) -> jax.Array:
        return unfinished(run[0]) & (run[1] < MOST_IDLE)

    def one_step_counted(run: tuple[Any, jax.Array]) -> tuple[Any, jax.Array]:
        new = one_step(run[0])
        return new, idle_after(run[1], run[0], new)

    return lax.while_loop(not_stalled, one_step_counted, (first, jnp.int32(0)))[0]


def trajectory(algorithm: Any, problem: Problem, key: jax.Array, steps: int) -> Any:
    """The states of one run after 0, 1, …, `steps` steps, on a new first axis; a run keeps its last state when done.

    Args:
        algorithm: any algorithm of the protocol.
        problem: the problem, leaves of shape `(K,)`.
        key: the run's typed key, shape `()`.
        steps: how many steps to look at.

    Raises:
        UsageError: an algorithm that does not keep to the protocol.
    """
    check_algorithm(algorithm)
    algorithm, problem = prepared(algorithm, problem)
    with kept_programs():
        return _trajectory(algorithm, problem, key, steps, classes=classes((algorithm, problem)))


@functools.partial(jax.jit, static_argnames=("steps", "classes"))
def _trajectory(algorithm: Any, problem: Problem, key: jax.Array, steps: int, *, classes: tuple[type, ...]) -> Any:
    del classes  # part of the program's key
    check_methods(algorithm, problem, key)

    def one_step(state: Any, _: None) -> tuple[Any, Any]:
        new = algorithm.step(problem, key, state)
        done = algorithm.done(state)
        new = jax.tree.map(lambda a, b: jnp.where(done, a, b), state, new)
        return new, new

    problem = problem.realised(key)
    first = algorithm.init(problem, key)
    _, rest = lax.scan(one_step, first, None, length=steps)
    return jax.tree.map(lambda a, b: jnp.concatenate([a[None], b]), first, rest)
