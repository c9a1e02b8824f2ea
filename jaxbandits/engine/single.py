"""One run, for people who want to look: to its end, or step by step."""

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from jaxbandits.bounded_jit import recent_programs
from jaxbandits.engine.admission import Admitted, admitted, check, check_one
from jaxbandits.engine.no_derivative import undifferentiated
from jaxbandits.engine.programs_on_disk import kept_programs
from jaxbandits.problems.base import Problem
from jaxbandits.users_code.cache_key import Code, code_of

__all__ = ["prepared", "run", "trajectory"]

#: Programs that a process holds of each kind.
_MOST = 16


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
        UsageError: an algorithm that does not keep to the protocol; a derivative that is asked for.
    """
    known = admitted(algorithm)
    check(known)
    most = known.most_pulls if max_pulls is None else max_pulls
    algorithm, problem = undifferentiated(prepared(known, problem))
    with kept_programs():
        return _run(algorithm, problem, key, most, code=code_of(algorithm, problem))


def prepared(known: Admitted, problem: Problem) -> tuple[Any, Problem]:
    """An algorithm with what it takes from the problem, and the problem with as many arms as it wants.

    Both as they are where they are being traced and have no values, and for an algorithm of the user's own.
    """
    leaves = jax.tree.leaves((known.algorithm, problem))
    if known.base is None or any(isinstance(leaf, jax.core.Tracer) for leaf in leaves):
        return known.algorithm, problem
    explored = known.base.explored(problem)
    return known.base.resolved(explored), explored


@recent_programs(_MOST, "code")
def _run(algorithm: Any, problem: Problem, key: jax.Array, max_pulls: int, *, code: Code) -> Any:
    one = admitted(algorithm).alone()

    def unfinished(state: Any) -> jax.Array:
        going = ~jnp.asarray(one.done(state)) & (state.time < max_pulls)
        return going & ~jnp.asarray(one.exhausted(state)) & ~jnp.asarray(one.stalled(state))

    with code.traced():
        check_one(admitted(algorithm), problem, key)
        arms = problem.realised(key)
        last = lax.while_loop(unfinished, lambda state: one.step(arms, key, state), one.init(arms, key))
        return one.state_of(last)


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
        return _trajectory(algorithm, problem, key, steps, code=code_of(algorithm, problem))


@recent_programs(_MOST, "steps", "code")
def _trajectory(algorithm: Any, problem: Problem, key: jax.Array, steps: int, *, code: Code) -> Any:

    def one_step(state: Any, _: None) -> tuple[Any, Any]:
        new = algorithm.step(arms, key, state)
        done = algorithm.done(state)
        new = jax.tree.map(lambda a, b: jnp.where(done, a, b), state, new)
        return new, new

    with code.traced():
        check_one(admitted(algorithm), problem, key)
        arms = problem.realised(key)
        first = algorithm.init(arms, key)
        _, rest = lax.scan(one_step, first, None, length=steps)
    return jax.tree.map(lambda a, b: jnp.concatenate([a[None], b]), first, rest)
