"""One run, for people who want to look: to its end, or step by step."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from jaxbandits.algorithms.bases.parameters import with_logarithms
from jaxbandits.arrays.numerics import MAX_COUNT
from jaxbandits.arrays.pytrees import classes, is_traced
from jaxbandits.checks import whole
from jaxbandits.engine.admission import Admitted, admitted, check, check_one
from jaxbandits.engine.first_pulls import check_first_pulls_of_one
from jaxbandits.engine.no_derivative import undifferentiated
from jaxbandits.engine.programs_on_disk import kept_programs
from jaxbandits.problems.base import Problem

__all__ = ["prepared", "run", "trajectory"]


def run(algorithm: Any, problem: Problem, key: jax.Array, max_pulls: int | None = None) -> Any:
    """The final state of one run.

    Args:
        algorithm: any algorithm of the protocol.
        problem: the problem, leaves of shape `(K,)`.
        key: the run's typed key, shape `()`. Run `s` of `jb.simulate(…, root_seed=r)` has the key
            `jax.random.fold_in(jax.random.key(r), s)`. A run with the root key itself shares no reward with those, but
            what an algorithm of your own folds into it are their keys.
        max_pulls: most pulls; the step that would pass it is not made. None as in `jb.simulate`: 10^9, or no limit
            where sums are drawn.

    Returns:
        The state; `algorithm.recommend(state)` are the returned arms. `algorithm.done(state)` is false where the run
        was stopped: by `max_pulls`, or after 10 000 steps without a pull, which only a user's own algorithm makes.

    Raises:
        UsageError: an algorithm that does not keep to the protocol; a derivative that is asked for; first pulls that
            pass `max_pulls`.
    """
    known = admitted(algorithm)
    check(known)
    own, problem = prepared(known, problem)
    if max_pulls is not None and not is_traced((own, problem, max_pulls)):
        max_pulls = whole("max_pulls", max_pulls, 1, MAX_COUNT)
        check_first_pulls_of_one(admitted(own), problem, max_pulls)
    most = known.most_pulls if max_pulls is None else max_pulls
    algorithm, problem = undifferentiated((own, problem))
    with kept_programs():
        return _run(algorithm, problem, key, most, classes=classes((algorithm, problem)))


def prepared(known: Admitted, problem: Problem) -> tuple[Any, Problem]:
    """An algorithm with what it takes from the problem, and the problem with as many arms as it wants.

    Both as they are where they are being traced and have no values, and for an algorithm of the user's own.
    """
    if known.base is None or is_traced((known.algorithm, problem)):
        return known.algorithm, problem
    explored = known.base.explored(problem)
    return with_logarithms(known.base.resolved(explored)), explored


@functools.partial(jax.jit, static_argnames="classes")
def _run(algorithm: Any, problem: Problem, key: jax.Array, max_pulls: int, *, classes: tuple[type, ...]) -> Any:
    del classes  # part of the program's key
    known = admitted(algorithm)
    check_one(known, problem, key)
    one, problem = known.alone(), problem.realised(key)

    def unfinished(state: Any) -> jax.Array:
        going = ~jnp.asarray(one.done(state)) & ~one.at_limit(state, max_pulls)
        return going & ~jnp.asarray(one.exhausted(state)) & ~jnp.asarray(one.stalled(state))

    def one_step(state: Any) -> Any:
        return one.step(problem, key, state) if known.several else one.advance(problem, key, state, max_pulls=max_pulls)

    return one.state_of(lax.while_loop(unfinished, one_step, one.init(problem, key)))


def trajectory(algorithm: Any, problem: Problem, key: jax.Array, steps: int) -> Any:
    """The states of one run after 0, 1, …, `steps` steps, on a new first axis; a run keeps its last state when done.

    Args:
        algorithm: any algorithm of the protocol.
        problem: the problem, leaves of shape `(K,)`.
        key: the run's typed key, shape `()`.
        steps: how many steps to look at.

    Raises:
        UsageError: an algorithm that does not keep to the protocol; a derivative that is asked for.
    """
    known = admitted(algorithm)
    check(known)
    algorithm, problem = undifferentiated(prepared(known, problem))
    with kept_programs():
        return _trajectory(algorithm, problem, key, steps, classes=classes((algorithm, problem)))


@functools.partial(jax.jit, static_argnames=("steps", "classes"))
def _trajectory(algorithm: Any, problem: Problem, key: jax.Array, steps: int, *, classes: tuple[type, ...]) -> Any:
    del classes  # part of the program's key
    check_one(admitted(algorithm), problem, key)

    def one_step(state: Any, _: None) -> tuple[Any, Any]:
        new = algorithm.step(problem, key, state)
        done = algorithm.done(state)
        new = jax.tree.map(lambda a, b: jnp.where(done, a, b), state, new)
        return new, new

    problem = problem.realised(key)
    first = algorithm.init(problem, key)
    _, rest = lax.scan(one_step, first, None, length=steps)
    return jax.tree.map(lambda a, b: jnp.concatenate([a[None], b]), first, rest)
