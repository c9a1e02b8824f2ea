"""One run, for inspection: to its end, or step by step."""

import dataclasses

import jax
import jax.numpy as jnp
from jax import lax

from jaxbandits.algorithms.parameters import axes_of, with_run_types
from jaxbandits.algorithms.protocol import Arms, Rule
from jaxbandits.arrays.numerics import MAX_COUNT
from jaxbandits.arrays.pytrees import is_key, is_traced
from jaxbandits.bounded_jit import recent_programs
from jaxbandits.checks import shown, whole
from jaxbandits.compilers.jax_settings import narrowed, own_settings
from jaxbandits.engine.binding import accept, bind, most_pulls
from jaxbandits.engine.compilation_cache import kept_programs
from jaxbandits.engine.declared_properties import check_declared_properties
from jaxbandits.engine.finite_populations import known_arms, runs_on
from jaxbandits.engine.first_pulls import check_first_pulls_of_one
from jaxbandits.engine.gradient_guard import undifferentiated
from jaxbandits.engine.mapped_algorithm import MappedAlgorithm
from jaxbandits.engine.mapping import map_algorithm
from jaxbandits.engine.problem_checks import check_family, check_problem, check_values
from jaxbandits.engine.protocol_checks import check_algorithm, check_methods
from jaxbandits.engine.rule_states import RunState
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem
from jaxbandits.status import fault_of
from jaxbandits.users_code.cache_key import Code, code_of

__all__ = ["prepared", "run", "trajectory"]

#: Programs that a process holds of each kind.
_MOST = 16


@own_settings("jax_disable_jit", "mesh")
def run(algorithm: object, problem: Problem, key: jax.Array, max_pulls: int | None = None) -> Arms:
    """Return the final state of one run.

    Args:
        algorithm: any algorithm of the protocol.
        problem: the problem, leaves of shape `(K,)`.
        key: the run's typed key, shape `()`. Run `s` of `jb.simulate(…, root_seed=r)` has the key
            `jax.random.fold_in(jax.random.key(r), s)`, for r below 2^32: of a larger one `jax.random.key` forgets bits.
            A run with the root key itself shares no reward with those.
        max_pulls: largest number of pulls; a step that would exceed it is not made, even in part. None as in
            `jb.simulate`: 10^9, or no limit where sums are drawn.

    Returns:
        The state, a `jb.Arms`: `answer` are the returned arms, and `ended` is false where the run was truncated. That
        is at `max_pulls`, or after 10 000 steps without a pull, which only your own algorithm can make.

    Raises:
        UsageError: an algorithm that violates the protocol, a grid, an invalid key, a derivative of the run, or more
            first pulls than `max_pulls`. Your own algorithm may pull no arm that does not exist, nor request a
            negative number of pulls.

    Example:
        >>> state = jb.run(jb.Uniform(budget=20), jb.bernoulli([0.9, 0.4]), jax.random.key(0))
        >>> int(state.time)
        20
    """
    known = _looked_at("jb.run", algorithm, problem, key)
    own, problem = prepared(known, problem)
    if max_pulls is not None and not is_traced((own, problem, max_pulls)):
        max_pulls = whole("max_pulls", max_pulls, 1, MAX_COUNT)
        check_first_pulls_of_one(own, problem, max_pulls)
    most = most_pulls(known) if max_pulls is None else max_pulls
    algorithm, problem = undifferentiated(narrowed((own, problem)))
    with kept_programs():
        state, fault = _run(algorithm, problem, key, most, code=code_of(algorithm, problem))
    return _without_fault(state, fault, known, problem)


def _looked_at(what: str, algorithm: object, problem: Problem, key: object) -> Rule:
    """Return the algorithm, after checking that it can make one run on the problem.

    Raises:
        UsageError: it cannot.
    """
    known = accept(algorithm)
    check_problem(problem)
    for axes, owner in ((axes_of(known), type(known).__name__), (problem.axes, "the problem")):
        for name in axes:
            raise UsageError(
                f"{what} makes one run, and {name} of {owner} is an axis: give it one value, or use jb.sweep"
            )
    check_algorithm(known)
    if not (isinstance(key, jax.Array) and is_key(key) and key.shape == ()):
        raise UsageError(
            f"the key must be one typed key, such as jax.random.key(0), got {shown(key)}; for several runs use "
            "jb.simulate, or jax.vmap"
        )
    check_values(problem, key)
    check_declared_properties(problem)
    return known


def _without_fault(state: Arms, fault: jax.Array, known: Rule, problem: Problem) -> Arms:
    """Return the state of a run, after checking that it has no fault; a traced fault is not checked.

    Raises:
        UsageError: the run has a fault.
    """
    if not isinstance(fault, jax.core.Tracer) and int(fault):
        raise UsageError(fault_of(int(fault), type(known).__name__, problem.arms))
    return state


def prepared(known: Rule, problem: Problem) -> tuple[Rule, Problem]:
    """Return an algorithm with what it takes from the problem, and the problem with the arms that it explores.

    Both are unchanged while they are traced and have no values.

    Raises:
        UsageError: the two do not fit, as in `jb.simulate`.
    """
    if is_traced((known, problem)):
        if known.oracle:
            raise UsageError(
                f"{type(known).__name__} uses {known.oracle_knows}, which have no values while they are traced: give "
                "it what resolved(problem) returns"
            )
        return known, problem
    bound, explored = bind(known, problem)
    return with_run_types(bound), explored


@recent_programs(_MOST, "code")
def _run(algorithm: Rule, problem: Problem, key: jax.Array, max_pulls: int, *, code: Code) -> tuple[Arms, jax.Array]:
    one = map_algorithm(algorithm)

    def unfinished(state: RunState, arms: Problem) -> jax.Array:
        going = ~jnp.asarray(one.done(state)) & ~one.at_limit(state, max_pulls)
        going = going & ~jnp.asarray(one.exhausted(state)) & ~jnp.asarray(one.stalled(state))
        return going & runs_on(one, arms, state) if arms.finite else going

    with code.traced():
        arms = _realised(algorithm, problem, key)
        first = one.init(arms, key)
        state = lax.while_loop(lambda now: unfinished(now, arms), lambda now: one.step(arms, key, now), first)
        return _ended_too(one, arms, state), one.fault(state)


def _ended_too(one: MappedAlgorithm, problem: Problem, state: RunState) -> Arms:
    """Return what users see of a run, which has ended also where nothing is left to be read."""
    shown = one.state_of(state)
    if not problem.finite:
        return shown
    return dataclasses.replace(shown, ended=one.done(state) | known_arms(one, problem, state).everything)


def _realised(algorithm: Rule, problem: Problem, key: jax.Array) -> Problem:
    """Return the problem with the arms of a run, after checking algorithm and problem."""
    check_family(problem, key)
    check_methods(algorithm, problem, key)
    return problem.realised(key)


@own_settings("jax_disable_jit", "mesh")
def trajectory(algorithm: object, problem: Problem, key: jax.Array, steps: int) -> Arms:
    """Return the states of one run after 0, 1, …, `steps` steps, on a new first axis.

    A run that is done keeps its last state.

    Args:
        algorithm: any algorithm of the protocol.
        problem: the problem, leaves of shape `(K,)`.
        key: the run's typed key, shape `()`.
        steps: number of steps. For rules that eliminate arms (`keep`) each is a pull of one arm, while `steps` of a
            Dataset counts the engine's steps of many rounds: `int(ds.pulls[seed])` steps end such a run.

    Raises:
        UsageError: as for `run`.

    Example:
        >>> states = jb.trajectory(jb.Uniform(budget=20), jb.bernoulli([0.9, 0.4]), jax.random.key(0), steps=5)
        >>> states.pulls.shape
        (6, 2)
    """
    known = _looked_at("jb.trajectory", algorithm, problem, key)
    steps = whole("steps", steps, 0, MAX_COUNT)
    algorithm, problem = undifferentiated(narrowed(prepared(known, problem)))
    with kept_programs():
        states, fault = _trajectory(algorithm, problem, key, steps, code=code_of(algorithm, problem))
    return _without_fault(states, fault, known, problem)


@recent_programs(_MOST, "steps", "code")
def _trajectory(algorithm: Rule, problem: Problem, key: jax.Array, steps: int, *, code: Code) -> tuple[Arms, jax.Array]:
    one = map_algorithm(algorithm)

    def one_step(arms: Problem, state: RunState) -> tuple[RunState, Arms]:
        new = one.step(arms, key, state)
        done = one.done(state)
        if arms.finite:
            done = done | known_arms(one, arms, state).everything
        new = jax.tree.map(lambda a, b: jnp.where(done, a, b), state, new)
        return new, _ended_too(one, arms, new)

    with code.traced():
        arms = _realised(algorithm, problem, key)
        first = one.init(arms, key)
        last, rest = lax.scan(lambda state, _: one_step(arms, state), first, None, length=steps)
        states = jax.tree.map(lambda a, b: jnp.concatenate([a[None], b]), _ended_too(one, arms, first), rest)
        return states, one.fault(last)
