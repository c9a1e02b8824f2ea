"""A user's algorithm, looked at once before it runs: what is wrong with it is one line, not a traceback of JAX."""

import dataclasses
import inspect
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.algorithms.bases.built_in import BuiltIn
from jaxbandits.algorithms.bases.parameters import check_parameter, is_parameter
from jaxbandits.algorithms.bases.traits import answers_of, judge_of, tolerance_of, traits_of
from jaxbandits.algorithms.protocol import Arms, Rule
from jaxbandits.algorithms.registry import REGISTRY
from jaxbandits.arrays.pytrees import classes
from jaxbandits.checks import is_masked, is_number, shown
from jaxbandits.engine.rule_states import arms_of, first_state
from jaxbandits.engine.tracing_errors import traced
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem
from jaxbandits.users_code.cache_key import code_of

__all__ = ["check_algorithm", "check_kind", "check_methods", "check_result"]

#: The methods of an algorithm, and what they take.
_METHODS = {
    "init": ("problem", "key"), "step": ("problem", "key", "state"), "done": ("state",), "recommend": ("state",),
}  # fmt: skip


def methods_of(rule: Rule) -> dict[str, tuple[str, ...]]:
    """Return the methods of a rule, and what they take."""
    own = ("state",) if rule.has_state else ()
    methods = {"done": (*own, "arms"), "recommend": (*own, "arms")}
    methods["request" if rule.in_batches else "select"] = (*own, "arms", "key")
    if own:
        methods["init"] = ("arms", "key")
        methods["update"] = (
            ("state", "arms", "counts", "sums") if rule.in_batches else ("state", "arms", "arm", "reward")
        )
    return methods


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
    if isinstance(algorithm, BuiltIn):
        for field in dataclasses.fields(algorithm):
            value: Any = getattr(algorithm, field.name) if is_parameter(field) else None
            if shape := np.shape(value):
                raise UsageError(f"{name}: {field.name} must be one number, got shape {shape}: for a grid, jb.axis(…)")
            if isinstance(value, np.ndarray | jax.Array) and is_number(value):  # a class takes it as JAX puts it there
                check_parameter(name, field, np.asarray(value)[()])
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
        if not _is_array(leaf) or jnp.issubdtype(jnp.result_type(leaf), jax.dtypes.prng_key):
            raise UsageError(
                f"{name}{jax.tree_util.keystr(path)} must be a number or an array, got {leaf!r}: what is neither is "
                'part of the program, dataclasses.field(metadata={"static": True}) and @jb.pytree'
            )
    if traits_of(algorithm).spends is not None and not isinstance(algorithm, BuiltIn):
        raise UsageError(f"{name}: a budget of cost is spent by classes that derive from IndexWithBudget")
    tolerance_of(algorithm)
    answers_of(algorithm)


def check_methods(algorithm: Any, problem: Problem, key: jax.Array) -> None:
    """Whether a user's own methods return what the protocol says; they are traced, not run.

    Args:
        algorithm: leaves as for one run.
        problem: leaves `(K,)`.
        key: the run's typed key `()`.

    Raises:
        UsageError: which method returns what, in place of what.
    """
    with code_of(algorithm, problem).traced():
        jax.eval_shape(_check_rule if isinstance(algorithm, Rule) else _check, algorithm, problem, key)


def _check_rule(rule: Rule, problem: Problem, key: jax.Array) -> None:
    """Check the methods of a rule."""
    name, count = type(rule).__name__, problem.arms
    state = first_state(rule, problem.realised(key), key)
    arms: Arms = arms_of(state)
    own: tuple[Any, ...] = ()
    begun: dict[str, str] = {}

    def called(method: str, *arguments: Any) -> Any:
        with traced(f"{name}.{method}"):
            return getattr(rule, method)(*arguments)

    if rule.has_state:
        own = (called("init", arms, key),)
        begun = _types(f"{name}.init", own[0])
    if rule.in_batches:
        pulled = called("request", *own, arms, key)
        check_whole(f"{name}.request", pulled, ((count,),), "pulls of each arm")
    else:
        pulled = called("select", *own, arms, key)
        check_whole(
            f"{name}.select", pulled, ((), *(((np.shape(pulled)[0],),) if np.ndim(pulled) == 1 else ())), "an arm"
        )
    if rule.has_state:
        rewards = jnp.zeros(np.shape(pulled), arms.total.dtype)
        after = called("update", own[0], arms, jnp.asarray(pulled).astype(jnp.int32), rewards)
        check_same_state(f"{name}.update", own[0], begun, after, _types(f"{name}.update", after))
    check_result(f"{name}.done", called("done", *own, arms), bool, ())
    answer = called("recommend", *own, arms)
    if _is_array(answer) and np.shape(answer) == () and jnp.issubdtype(jnp.result_type(answer), np.integer):
        answer = jnp.arange(count) == answer
    check_result(f"{name}.recommend: without an arm's number, the answer", answer, bool, (count,))
    if (judge := judge_of(rule)) is not None:
        check_result(f"{name}: the criterion", judge(rule, problem, answer), bool, ())


def check_whole(what: str, found: Any, shapes: tuple[tuple[int, ...], ...], words: str) -> None:
    """Check that something traced is made of whole numbers and has one of some shapes.

    Raises:
        UsageError: it is not.
    """
    whole = _is_array(found) and jnp.issubdtype(jnp.result_type(found), np.integer)
    if not whole or np.shape(found) not in shapes:
        got = _type_of(found) if _is_array(found) else type(found).__name__
        raise UsageError(f"{what} must return {words}, int32 {shapes[0]}, got {got}")


def check_same_state(what: str, first: Any, begun: dict[str, str], after: Any, stepped: dict[str, str]) -> None:
    """Check that a state is built as the first one.

    Raises:
        UsageError: it is not.
    """
    if (jax.tree.structure(first), classes(first)) != (jax.tree.structure(after), classes(after)):
        raise UsageError(
            f"{what} must return a state built as that of init, {type(first).__name__} of {', '.join(begun)}, got "
            f"{type(after).__name__} of {', '.join(stepped)}"
        )
    for path, was in begun.items():
        if stepped[path] != was:
            raise UsageError(f"{what}: the state's `{path}` must stay {was} as in init, got {stepped[path]}")


def _check(algorithm: Any, problem: Problem, key: jax.Array) -> None:
    name = type(algorithm).__name__

    def called(method: str, *arguments: Any) -> Any:
        with traced(f"{name}.{method}"):
            return getattr(algorithm, method)(*arguments)

    problem = problem.realised(key)
    first = called("init", problem, key)
    begun = _types(f"{name}.init", first)
    if not hasattr(first, "pulls"):
        raise UsageError(f"{name}.init: the state must have `pulls`, int32 ({problem.arms},): pulls of each arm")
    check_result(f"{name}.init: the state's `pulls`", first.pulls, jnp.int32, (problem.arms,))
    after = called("step", problem, key, first)
    stepped = _types(f"{name}.step", after)
    check_same_state(f"{name}.step", first, begun, after, stepped)
    check_result(f"{name}.done", called("done", first), bool, ())
    if callable(getattr(algorithm, "exhausted", None)):
        check_result(f"{name}.exhausted", called("exhausted", first), bool, ())
    answer = called("recommend", first)
    check_result(f"{name}.recommend", answer, bool, (problem.arms,))
    if (judge := judge_of(algorithm)) is not None:
        check_result(f"{name}: the criterion", judge(algorithm, problem, answer), bool, ())


def check_result(what: str, found: Any, dtype: Any, shape: tuple[int, ...]) -> None:
    """Whether something traced has a type.

    Raises:
        UsageError: it has another.
    """
    got = _type_of(found) if _is_array(found) else type(found).__name__
    if got != (wanted := _type_of(jax.ShapeDtypeStruct(shape, dtype))):
        raise UsageError(f"{what} must be {wanted}{', a mask of arms' if shape and dtype is bool else ''}, got {got}")


def _types(what: str, state: Any) -> dict[str, str]:
    """The type of every leaf of a state, by its place."""
    leaves = jax.tree_util.tree_leaves_with_path(state)
    for path, leaf in leaves:
        if not _is_array(leaf):
            place = f"the state's `{_place(path)}`" if path else "the state"
            raise UsageError(
                f"{what}: {place} must be an array or a pytree (a NamedTuple, a dataclass with @jb.pytree), got "
                f"{type(leaf).__name__}"
            )
    return {_place(path): _type_of(leaf) for path, leaf in leaves}


def _place(path: Any) -> str:
    return jax.tree_util.keystr(path).lstrip(".")


def _type_of(leaf: Any) -> str:
    dtype = leaf.dtype if hasattr(leaf, "dtype") else jnp.result_type(leaf)
    return f"{dtype} {tuple(np.shape(leaf))}"


def _is_array(leaf: Any) -> bool:
    """Whether JAX takes a leaf: a number, an array of numbers or of keys."""
    if isinstance(leaf, jax.Array | jax.ShapeDtypeStruct):
        return True
    return isinstance(leaf, bool | int | float | np.number | np.bool_) or (
        isinstance(leaf, np.ndarray) and leaf.dtype.kind in "biuf"
    )
