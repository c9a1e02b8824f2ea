"""A user's algorithm, looked at once before it runs: what is wrong with it is one line, not a traceback of JAX."""

import dataclasses
import functools
import inspect
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.algorithms.parameters import check_parameter, is_parameter
from jaxbandits.algorithms.protocol import Rule
from jaxbandits.algorithms.registry import REGISTRY
from jaxbandits.algorithms.traits import answers_of, judge_of, tolerance_of, traits_of
from jaxbandits.arrays.pytrees import is_traced
from jaxbandits.checks import is_masked, is_number, shown
from jaxbandits.engine.method_types import check_result, check_same_state, is_array, types
from jaxbandits.engine.rule_border import check_rule, methods_of
from jaxbandits.engine.tracing_errors import traced
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem
from jaxbandits.users_code.cache_key import code_of

__all__ = ["check_algorithm", "check_kind", "check_methods"]

#: The methods of an algorithm, and what they take.
_METHODS = {
    "init": ("problem", "key"), "step": ("problem", "key", "state"), "done": ("state",), "recommend": ("state",),
}  # fmt: skip


def check_kind(algorithm: Any) -> None:
    """Check that something may be an algorithm at all: not a name, a class, a function or a problem.

    Raises:
        UsageError: what it is, and what is needed.
    """
    if isinstance(algorithm, type):
        raise UsageError(f"an algorithm is needed, {algorithm.__name__}(…), not its class")
    if not isinstance(algorithm, Problem) and (
        dataclasses.is_dataclass(algorithm) or any(hasattr(algorithm, method) for method in _METHODS)
    ):
        return
    needed, got = "such as jb.UGapEc(epsilon=0.1, delta=0.05)", shown(algorithm)
    if isinstance(algorithm, Problem):
        got = f"the problem {algorithm.name}: the algorithm comes first"
    elif isinstance(algorithm, str):
        names = {cls: name for name, line in REGISTRY.lines.items() for cls in (name, line.partition(":")[2])}
        name = names.get(algorithm) or names.get(algorithm.lower().replace("_", "-"))
        needed = needed if name is None else f"jb.{_call(REGISTRY[name])}"
        got = f"the text {got}"
    raise UsageError(f"an algorithm is needed, {needed}, got {got}")


def _call(cls: type) -> str:
    """How an algorithm of this class is made."""
    required = [field.name for field in dataclasses.fields(cls) if field.default is dataclasses.MISSING]
    return f"{cls.__name__}({', '.join(f'{name}=…' for name in required)})"


def check_algorithm(algorithm: Any, *, registered: bool) -> None:
    """Whether this is an algorithm for one run (a cell of a grid), as far as can be seen without calling it.

    Args:
        algorithm: what a user gave.
        registered: whether it is one of the package's.

    Raises:
        UsageError: no pytree, a method that is missing or takes other arguments; a parameter that is no number, or
            several; a declared tolerance that is none.
    """
    name = type(algorithm).__name__
    if isinstance(algorithm, Rule):
        for field in dataclasses.fields(algorithm):
            value: Any = getattr(algorithm, field.name) if is_parameter(field) else None
            shape, of_arms = np.shape(value), field.metadata.get("per_arm") is not None
            if shape and not of_arms:
                raise UsageError(f"{name}: {field.name} must be one number, got shape {shape}: for a grid, jb.axis(…)")
            if isinstance(value, np.ndarray | jax.Array) and is_number(value):  # a class takes it as JAX puts it there
                check_parameter(name, field, np.asarray(value)[()])
            if shape and not is_traced(value):
                for one in np.asarray(value).flat:
                    check_parameter(name, field, one)
    if registered:
        return
    for method, taken in (methods_of(algorithm) if isinstance(algorithm, Rule) else _METHODS).items():
        if not callable(function := getattr(algorithm, method, None)):
            raise UsageError(f"{name} has no method {method!r}: an algorithm has {', '.join(_METHODS)}")
        signature = inspect.signature(function)
        try:
            signature.bind(*taken)
        except TypeError:
            raise UsageError(f"{name}.{method} must take ({', '.join(taken)}), and takes {signature}") from None
    leaves = jax.tree_util.tree_leaves_with_path(algorithm)
    if any(leaf is algorithm for _, leaf in leaves):
        raise UsageError(f"{name} is no pytree: put @jb.pytree above its @dataclasses.dataclass(frozen=True)")
    for path, leaf in leaves:
        if is_masked(leaf):
            raise UsageError(f"{name}{jax.tree_util.keystr(path)} has masked values: leave them out or fill them")
        if not is_array(leaf) or jnp.issubdtype(jnp.result_type(leaf), jax.dtypes.prng_key):
            raise UsageError(
                f"{name}{jax.tree_util.keystr(path)} must be a number or an array, got {leaf!r}: what is neither is "
                'part of the program, dataclasses.field(metadata={"static": True}) and @jb.pytree'
            )
    if traits_of(algorithm).spends is not None and not isinstance(algorithm, Rule):
        raise UsageError(f"{name}: a budget of cost is spent by what jb.algorithm makes of a class")
    tolerance_of(algorithm)
    answers_of(algorithm)


def check_methods(algorithm: Any, problem: Problem, key: jax.Array, *, judged: bool = True) -> None:
    """Whether a user's own methods return what the protocol says; they are traced, not run.

    Args:
        algorithm: leaves as for one run.
        problem: leaves `(K,)`.
        key: the run's typed key `()`.
        judged: whether answers are judged by a criterion of the user's own; not those of a live experiment.

    Raises:
        UsageError: which method returns what, in place of what.
    """
    with code_of(algorithm, problem).traced():
        rule = functools.partial(check_rule, judged=judged)
        jax.eval_shape(rule if isinstance(algorithm, Rule) else _check, algorithm, problem, key)


def _check(algorithm: Any, problem: Problem, key: jax.Array) -> None:
    name = type(algorithm).__name__

    def called(method: str, *arguments: Any) -> Any:
        with traced(f"{name}.{method}"):
            return getattr(algorithm, method)(*arguments)

    problem = problem.realised(key)
    first = called("init", problem, key)
    begun = types(f"{name}.init", first)
    if not hasattr(first, "pulls"):
        raise UsageError(f"{name}.init: the state must have `pulls`, int32 ({problem.arms},): pulls of each arm")
    check_result(f"{name}.init: the state's `pulls`", first.pulls, jnp.int32, (problem.arms,))
    after = called("step", problem, key, first)
    stepped = types(f"{name}.step", after)
    check_same_state(f"{name}.step", first, begun, after, stepped)
    check_result(f"{name}.done", called("done", first), bool, ())
    if callable(getattr(algorithm, "exhausted", None)):
        check_result(f"{name}.exhausted", called("exhausted", first), bool, ())
    answer = called("recommend", first)
    check_result(f"{name}.recommend", answer, bool, (problem.arms,))
    if (judge := judge_of(algorithm)) is not None:
        check_result(f"{name}: the criterion", judge(algorithm, problem, answer), bool, ())
