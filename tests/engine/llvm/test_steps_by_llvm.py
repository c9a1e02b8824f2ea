"""Steps compiled by LLVM have the bits of those compiled by XLA: each operation, each rule, alone and in a grid."""

import dataclasses
import itertools
import warnings
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import jaxbandits as jb
from jaxbandits.algorithms import REGISTRY
from jaxbandits.arrays import arms
from jaxbandits.engine.llvm.ffi_kernel import steps_by_llvm
from jaxbandits.engine.llvm.graph_values import NotSupportedError

pytest.importorskip("llvmlite")

VALUES = {"epsilon": 0.1, "delta": 0.1, "budget": 600, "threshold": 0.47, "level": 0.47, "k": 3}
MEANS = (0.7, 0.55, 0.5, 0.5, 0.45, 0.4, 0.35, 0.3, 0.3, 0.2)
#: The rules whose steps LLVM compiles, and the problem of those that do not take plain arms.
RULES = [
    "uniform", "ugape-c", "ugape-b", "gap-e", "ucb-e", "apt", "lsa",
    "hdoc", "hdoc-first", "lucb-g", "apt-g", "apgai-b", "apgai-c", "st2",
    "lucb", "at-lucb", "kl-lucb", "lucb-pp", "lil-ucb", "fc2fb", "clucb",
    "continuous-rejects", "successive-rejects", "successive-elimination", "sar",
    "sh-var", "sh-ada-var", "doubling-sequential-halving", "ocba", "ocba-m",
    "rcb", "rcb-i", "rcb-air", "ucb-v-inf", "ucb-air", "epsilon-first", "kube",
    "uniform-glr", "best-challenger", "track-and-stop", "t3c", "eb-tci", "ttucb", "threshold-game", "top-m-game",
]  # fmt: skip
PROBLEMS: list[Callable[[], Any]] = [
    lambda: jb.bernoulli(MEANS),
    lambda: jb.reservoir(beta=1, prices="unit", arms=20),
    lambda: jb.reservoir(beta=1, arms=20),
]


def same(one: Any, other: Any) -> None:
    assert set(one.data_vars) == set(other.data_vars)
    for variable in one.data_vars:
        np.testing.assert_array_equal(one[variable], other[variable], err_msg=str(variable))


def both(algorithm: Any, problem: Any, seeds: int = 40, **options: Any) -> tuple[Any, Any]:
    """Runs with their state on the chip, which must not warn, and without."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = jb.simulate(algorithm, problem, seeds, max_pulls=800, on_chip=True, **options)
    return found, jb.simulate(algorithm, problem, seeds, max_pulls=800, **options)


@pytest.mark.slow
@pytest.mark.bits
@pytest.mark.parametrize("name", RULES)
def test_runs_of_a_rule_are_the_same_runs(name: str) -> None:
    cls, refused = REGISTRY[name], None
    needed = {
        field.name: VALUES[field.name] for field in dataclasses.fields(cls) if field.default is dataclasses.MISSING
    }
    for problem, checkpoints in itertools.product(PROBLEMS, ([100, 300], None)):
        try:
            same(*both(cls(**needed), problem(), checkpoints=checkpoints))
        except jb.UsageError as error:
            refused = error
        else:
            return
    raise AssertionError(refused)


@pytest.mark.slow
@pytest.mark.bits
@pytest.mark.parametrize("count", [2, 5, 13, 51])
def test_runs_with_any_number_of_arms_are_the_same(count: int) -> None:
    """Short axes, unrolled loops, and loops that reduce four arms at a time with some left."""
    same(*both(jb.UGapEc(epsilon=0.2, delta=0.2), jb.gaussian(np.linspace(0.2, 0.9, count), sd=1.0), lanes=20))


@pytest.mark.bits
def test_a_grid_over_arms_and_parameters_is_the_same() -> None:
    grid = jb.LUCB(epsilon=jb.axis([0.1, 0.3]), delta=0.1)
    problems = [jb.bernoulli([0.7, 0.5, 0.4]), jb.bernoulli(MEANS)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = jb.sweep(grid, problems, seeds=30, max_pulls=500, on_chip=True)
    same(found, jb.sweep(grid, problems, seeds=30, max_pulls=500))


@pytest.mark.slow
def test_a_rule_that_llvm_does_not_take_runs_without_and_says_so() -> None:
    algorithm, problem = jb.SequentialHalving(budget=100), jb.bernoulli([0.7, 0.5, 0.4])
    with pytest.warns(UserWarning, match="SequentialHalving runs without kernels: .* cpu: NotSupportedError: "):
        found = jb.simulate(algorithm, problem, 20, on_chip=True)
    same(found, jb.simulate(algorithm, problem, 20))


FLOATS = np.float32(
    [0.0, -0.0, 1.0, -1.5, 2.5, 3.5, 0.1, 1e-40, -1e-40, 3e38, -3e38, np.inf, -np.inf, np.nan, 2.0**31, -7.9]
)
WHOLE = np.int32([0, 1, -1, 2, 3, 7, -8, 31, 32, 33, 100, -100, 2**31 - 1, -(2**31), 12345, -54321])
BITS = WHOLE.astype(np.uint32)
TRUTH = np.resize([True, False, False], 16)


def pairs(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Every number with every other, 256 of them."""
    return np.repeat(x, x.size), np.tile(x, x.size)


OPERATIONS: dict[str, tuple[Callable[..., Any], tuple[np.ndarray, ...]]] = {
    **{f"{f.__name__} of floats": (f, pairs(FLOATS)) for f in (lax.add, lax.sub, lax.mul, lax.div, lax.max, lax.min)},
    **{f"{f.__name__} of floats": (f, pairs(FLOATS)) for f in (lax.eq, lax.ne, lax.lt, lax.le, lax.gt, lax.ge)},
    **{
        f"{f.__name__} of int32": (f, pairs(WHOLE))
        for f in (lax.add, lax.sub, lax.mul, lax.div, lax.rem, lax.max, lax.min)
    },
    **{f"{f.__name__} of int32": (f, pairs(WHOLE)) for f in (lax.eq, lax.ne, lax.lt, lax.le, lax.gt, lax.ge)},
    **{
        f"{f.__name__} of uint32": (f, pairs(BITS))
        for f in (lax.add, lax.sub, lax.mul, lax.div, lax.rem, lax.max, lax.min, lax.lt, lax.ge)
    },
    **{f"{f.__name__} of int32": (f, pairs(WHOLE)) for f in (lax.bitwise_and, lax.bitwise_or, lax.bitwise_xor)},
    **{
        f"{f.__name__} of truths": (f, pairs(TRUTH)) for f in (lax.bitwise_and, lax.bitwise_or, lax.bitwise_xor, lax.eq)
    },
    "not of truths": (lax.bitwise_not, (TRUTH,)),
    "not of int32": (lax.bitwise_not, (WHOLE,)),
    "shift left": (lambda x, n: lax.shift_left(x, n & 63), pairs(BITS)),
    "shift right": (lambda x, n: lax.shift_right_logical(x, n & 63), pairs(BITS)),
    "shift right with sign": (lambda x, n: lax.shift_right_arithmetic(x, n & 63), pairs(WHOLE)),
    **{
        f"{f.__name__} of floats": (f, (FLOATS,))
        for f in (lax.neg, lax.abs, lax.sign, lax.sqrt, lax.floor, lax.ceil, lax.square)
    },
    "round": (lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN), (FLOATS,)),
    **{f"{f.__name__} of int32": (f, (WHOLE,)) for f in (lax.neg, lax.abs, lax.sign, lax.clz)},
    "clz of uint32": (lax.clz, (BITS,)),
    "a zero added": (lambda x: jnp.stack([x + 0.0, -0.0 + x, x - 0.0]), (FLOATS,)),
    "is_finite": (lax.is_finite, (FLOATS,)),
    "float to int32": (lambda x: x.astype(jnp.int32), (FLOATS,)),
    "float to uint32": (lambda x: x.astype(jnp.uint32), (FLOATS,)),
    "int32 to float": (lambda x: x.astype(jnp.float32), (WHOLE,)),
    "uint32 to float": (lambda x: x.astype(jnp.float32), (BITS,)),
    "int32 to uint32": (lambda x: x.astype(jnp.uint32), (WHOLE,)),
    "truth to float": (lambda x: x.astype(jnp.float32), (TRUTH,)),
    "truth to int32": (lambda x: x.astype(jnp.int32), (TRUTH,)),
    "float to truth": (lambda x: x.astype(bool), (FLOATS,)),
    "bits of a float": (lambda x: lax.bitcast_convert_type(x, jnp.uint32), (FLOATS,)),
    "float of bits": (lambda x: lax.bitcast_convert_type(x, jnp.float32), (BITS,)),
    "choice": (lambda x, y: jnp.where(x > 0, x, y), pairs(FLOATS)),
}


def padded(x: np.ndarray) -> jax.Array:
    return jnp.asarray(np.resize(x, (-(-x.size // 16) * 16,)))


@pytest.mark.bits
@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_means_what_it_means_to_xla(name: str) -> None:
    function, numbers = OPERATIONS[name]
    operands = [padded(x) for x in numbers]
    check(function, operands)


def check(function: Callable[..., Any], operands: list[jax.Array]) -> None:
    blank = jnp.zeros_like(jax.eval_shape(function, *operands))
    busy = jnp.ones(blank.shape[-1], bool)

    @jax.jit
    def by_llvm(operands: list[jax.Array]) -> jax.Array:
        return steps_by_llvm(lambda fixed, _: function(*fixed), operands, blank, busy, jnp.int32(1))

    found, expected = np.asarray(by_llvm(operands)), np.asarray(jax.jit(function)(*operands))
    if expected.dtype == np.float32:
        kinds = np.isnan(found), np.isnan(expected)
        np.testing.assert_array_equal(*kinds)
        found, expected = (np.where(kinds[0], np.uint32(0), x.view(np.uint32)) for x in (found, expected))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("count", [3, 12, 13, 50])
@pytest.mark.parametrize("reduce", [arms.largest, arms.smallest, arms.largest_or_nan, arms.any_arm, arms.total])
def test_reductions_over_arms(reduce: Callable[[jax.Array], jax.Array], count: int) -> None:
    rng = np.random.default_rng(count)
    numbers: Any = rng.normal(size=(count, 32)).astype(np.float32)
    if reduce is arms.largest_or_nan:
        numbers[rng.random((count, 32)) < 0.02] = np.nan
    if reduce is arms.total:
        numbers = (numbers * 1e6).astype(np.int32)
    if reduce is arms.any_arm:
        numbers = numbers > 2
    check(reduce, [jnp.asarray(numbers)])


@pytest.mark.parametrize("count", [3, 51, *(pytest.param(n, marks=pytest.mark.slow) for n in (12, 13, 50))])
def test_first_arms_of_extremes_and_their_entries(count: int) -> None:
    """Of numbers of which many are equal, all infinite in some runs, with zeros of both signs."""
    rng = np.random.default_rng(count)
    numbers: Any = rng.choice(np.float32([-1, -0.0, 0.0, 2, 2.5]), (count, 32))
    numbers[:, :3], numbers[:, 3], numbers[-1, 4], numbers[:, 5] = -np.inf, 1, 9, np.arange(count)
    others = jnp.asarray(rng.normal(size=(count, 32)), jnp.float32)
    index, every = arms.index(count, (32,)), [jnp.asarray(numbers), jnp.asarray(-numbers)]
    every += [jnp.asarray(np.clip(numbers, -9, 9).astype(np.int32)), jnp.full((count, 32), -(2**31), jnp.int32)]

    def first(x: jax.Array, best: jax.Array) -> jax.Array:
        return arms.smallest(jnp.where(x == best, index, count))

    def at_first(x: jax.Array, others: jax.Array) -> jax.Array:
        one, other = first(x, arms.largest(x)), first(-x, arms.smallest(-x))
        picked = jnp.where(others[0] > 0, one, other)
        shown = jnp.sqrt(jnp.abs(others)) * jnp.where(one > 1, 2.0, -1.0)
        entries = [arms.largest(jnp.where(index == place, shown, -jnp.inf)) for place in (one, picked)]
        return jnp.stack([*entries, arms.smallest(jnp.where(picked == index, others, jnp.inf)), arms.take(shown, one)])

    for x in every:
        check(lambda x: first(x, arms.largest(x)), [x])
        check(lambda x: first(x, arms.smallest(x)), [x])
    for x in every[:2]:
        check(lambda x: jnp.stack([first(x, arms.largest(x)).astype(jnp.float32), arms.largest(x)]), [x])
        check(at_first, [x, others])


@pytest.mark.parametrize("count", [5, 12, 13, 50])
def test_running_sums_and_scatters(count: int) -> None:
    """As `arms.scatter` puts the arms that are left in front of the others."""
    rng = np.random.default_rng(count)
    active = jnp.asarray(rng.random((count, 32)) < 0.6)
    order: Any = jnp.asarray(rng.permuted(np.tile(np.arange(count)[:, None], (1, 32)), axis=0), jnp.int32)

    def moved(active: jax.Array, order: jax.Array) -> jax.Array:
        place = jnp.where(active, jnp.cumsum(active, axis=0) - 1, count)
        return arms.scatter(order, place, jnp.broadcast_to(arms.index(count, (32,)), active.shape))

    check(lambda active, _: jnp.cumsum(active, axis=0), [active, order])
    check(moved, [active, order])


def test_loops_of_a_step() -> None:
    """Loops of which each run needs another number of steps, in each other, with arrays that they change or keep."""
    rng = np.random.default_rng(3)
    fixed = tuple(jnp.asarray(rng.integers(0, most, 32), jnp.int32) for most in (9, 13))
    start, busy = jnp.asarray(rng.random((13, 32)), jnp.float32), jnp.ones(32, bool)

    def step(fixed: tuple[jax.Array, jax.Array], x: jax.Array) -> jax.Array:
        counts, arm = fixed

        def halved(state: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
            left, x = state
            more = left > 0
            x = lax.fori_loop(0, 3, lambda i, x: jnp.where(more & (x > 0.5), x - 0.25, x), x)
            return left - more, arms.put(x, arm, jnp.where(more, arms.take(x, arm) / 2, arms.take(x, arm)))

        x = lax.while_loop(lambda state: jnp.any(state[0] > 0), halved, (counts, x + 1))[1]
        large = arms.largest(x) > 1.5
        return lax.cond(jnp.any(large), lambda x: jnp.where(large, x - arms.largest(x), x), lambda x: x, x)

    found = jax.jit(lambda fixed, x: steps_by_llvm(step, fixed, x, busy, jnp.int32(3)))(fixed, start)
    expected = start
    for _ in range(3):
        expected = step(fixed, expected)
    np.testing.assert_array_equal(found, expected)


TABLE = np.arange(13, dtype=np.float32) * 1.5


def broadcast(x: Any, like: jax.Array) -> jax.Array:
    return jnp.broadcast_to(jnp.asarray(x)[:, None], like.shape)


def two_loops(x: jax.Array) -> jax.Array:
    table = lax.fori_loop(0, 2, lambda _, s: s + 1, jnp.asarray(TABLE))
    return lax.fori_loop(0, 2, lambda _, s: s + x, broadcast(table, x)) * 2


#: Steps of `(13, R)` floats, and of an arm of each run.
CORNERS: dict[str, Callable[[jax.Array, jax.Array], jax.Array]] = {
    "puts into an array that has no runs": lambda x, arm: (
        x + lax.fori_loop(0, 5, lambda k, s: jnp.where(jnp.arange(13) == 2 * k, 7.0, s), jnp.zeros(13))[:, None]
    ),
    "a table that a loop carries": lambda x, arm: lax.fori_loop(
        0, 2, lambda _, s: (s[0] + s[1], lax.optimization_barrier(s[1])), (x, broadcast(TABLE, x))
    )[0],
    "a loop of runs after one without": lambda x, arm: two_loops(x),
    "a put into what a loop has made": lambda x, arm: arms.put(lax.fori_loop(0, 3, lambda _, s: s + 1, x), arm, 0.0),
    "a scatter to one place": lambda x, arm: arms.scatter(x, arm[None], jnp.full((1, *arm.shape), 9.0)),
    "two outputs of one loop, one of them changed": lambda x, arm: (lambda found: found + arms.put(found, arm, 5.0))(
        lax.fori_loop(0, 3, lambda _, s: s + x, x)
    ),
    "an array that is read after its loop": lambda x, arm: lax.fori_loop(0, 3, lambda _, s: s + 1, x) - x,
    "numbers of arms as floats": lambda x, arm: x + lax.iota(jnp.float32, 13)[:, None],
    "a swap of short axes": lambda x, arm: jnp.stack([x, x + 1], 0)[::-1][0],
}


@pytest.mark.parametrize("name", CORNERS)
def test_corners_of_a_step(name: str) -> None:
    """Each was once wrong, or refused without a word."""
    rng, step = np.random.default_rng(6), CORNERS[name]
    arm, start = jnp.asarray(rng.integers(0, 13, 16), jnp.int32), jnp.asarray(rng.normal(size=(13, 16)), jnp.float32)
    try:
        found = jax.jit(
            lambda arm, x: steps_by_llvm(lambda arm, x: step(x, arm), arm, x, jnp.ones(16, bool), jnp.int32(2))
        )(arm, start)
    except NotSupportedError:
        assert name == "a swap of short axes"
        return
    expected = step(step(start, arm), arm)
    np.testing.assert_array_equal(found, expected)


MISREAD: dict[str, Callable[[jax.Array], jax.Array]] = {
    "the number of a run": lambda x: x + jnp.arange(x.shape[1]).astype(jnp.float32),
    "axes in another order": lambda x: x + jnp.stack([x, x + 1], 1).reshape(2, *x.shape)[0],
    "runs and arms as one axis": lambda x: jnp.where(jnp.any((x > 2).reshape(-1)), x + 1, x),
    "running sums of one number": lambda x: x + jnp.cumsum(jnp.ones(x.shape, jnp.int32), 0),
    "a choice that is no place below 0": lambda x: (
        lambda p: x + x.reshape(-1).at[jnp.where(p < 5 * x.shape[1], p + 1, p)].get(mode="clip")
    )(3 * x.shape[1] + jnp.arange(x.shape[1])),
}


def test_a_division_by_one_number_for_all_runs_is_refused() -> None:
    """XLA multiplies by its reciprocal."""
    with pytest.raises(NotSupportedError, match="for many"):
        steps_by_llvm(lambda f, x: x / f, jnp.float32(3), jnp.ones(16), jnp.ones(16, bool), jnp.int32(1))


@pytest.mark.parametrize("name", MISREAD)
def test_what_would_be_misread_is_refused(name: str) -> None:
    x, busy = jnp.ones((13, 16)), jnp.ones(16, bool)
    with pytest.raises(NotSupportedError):
        steps_by_llvm(lambda _, x: MISREAD[name](x), (), x, busy, jnp.int32(1))


REWRITTEN: list[Callable[..., Any]] = [
    lambda x, y: x / y / (y + x),
    lambda x, y: x / (y / (x + 1)),
    lambda x, y: x / jnp.sqrt(y),
    lambda x, y: x / 3 + y,
    lambda x, y: (x + 0.3) + 0.7 + y,
    lambda x, y: x * 0.3 * 0.7 + y,
    lambda x, y: x / (jnp.asarray(1.0) + 2),
    lambda x, y: x / arms.largest(jnp.asarray(TABLE)),
]


@pytest.mark.parametrize("function", REWRITTEN)
def test_what_xla_may_write_in_another_way_is_refused(function: Callable[..., Any]) -> None:
    numbers = jnp.asarray(np.random.default_rng(4).random(16) + 0.5, jnp.float32)
    with pytest.raises(NotSupportedError, match="which XLA rewrites"):
        steps_by_llvm(lambda x, y: function(x, y), numbers, numbers, jnp.ones(16, bool), jnp.int32(1))


@pytest.mark.parametrize("count", [1, 3, 13, 50])
def test_entries_and_puts(count: int) -> None:
    """Two puts of the same array, of which the second one wins, and an entry of what the first has made."""
    rng = np.random.default_rng(count)
    first, second = (jnp.asarray(rng.integers(0, count, 32), jnp.int32) for _ in range(2))
    start = jnp.asarray(rng.normal(size=(count, 32)), jnp.float32)

    def step(fixed: tuple[jax.Array, jax.Array], lanes: jax.Array) -> jax.Array:
        one, other = fixed
        new = arms.put(lanes, one, arms.take(lanes, other) + 1)
        return arms.put(new, other, arms.take(new, one) * 2)

    busy = jnp.arange(32) < 16  # the others are left as they are

    @jax.jit
    def by_llvm(lanes: jax.Array) -> jax.Array:
        return steps_by_llvm(step, (first, second), lanes, busy, jnp.int32(3))

    expected = start
    for _ in range(3):
        expected = step((first, second), expected)
    found = by_llvm(start)
    np.testing.assert_array_equal(found[:, :16], expected[:, :16])
    np.testing.assert_array_equal(found[:, 16:], start[:, 16:])


def test_arrays_with_a_short_axis() -> None:
    start = jnp.asarray(np.random.default_rng(1).normal(size=(2, 13, 16)), jnp.float32)
    busy = jnp.ones(16, bool)

    def step(_: Any, lanes: jax.Array) -> jax.Array:
        return jnp.stack([lanes[1] - 1, lanes[0] + lanes[1]])

    expected = step(None, step(None, start))
    np.testing.assert_array_equal(jax.jit(lambda x: steps_by_llvm(step, (), x, busy, jnp.int32(2)))(start), expected)
    with pytest.raises(NotSupportedError, match="an axis between arms and runs"):
        steps_by_llvm(lambda _, x: x + 1, (), jnp.moveaxis(start, 0, 1), busy, jnp.int32(2))


@pytest.mark.parametrize("count", [3, 13])
def test_a_put_outside_of_the_array_changes_nothing(count: int) -> None:
    """As `where` with an arm that is not there, such as -1 for none."""
    start = jnp.asarray(np.random.default_rng(2).normal(size=(count, 16)), jnp.float32)
    places = jnp.asarray(np.resize([-1, 0, count, count - 1, 2**31 - 1, -(2**31), 1, 2], 16), jnp.int32)
    busy = jnp.ones(16, bool)

    def step(arm: jax.Array, lanes: jax.Array) -> jax.Array:
        return jnp.where(jnp.arange(count)[:, None] == arm, 7.0, lanes)

    found = jax.jit(lambda x: steps_by_llvm(step, places, x, busy, jnp.int32(2)))(start)
    np.testing.assert_array_equal(found, step(places, start))


def test_both_zeros_are_kept_apart() -> None:
    zeros = np.resize(np.float32([0.0, -0.0]), (13, 1))
    check(lambda x: jnp.where(x > 0, jnp.float32(-0.0), jnp.float32(0.0)), [jnp.arange(-8.0, 8)])
    check(lambda x: lax.bitcast_convert_type(jnp.where(x > 0, zeros, x), jnp.uint32), [jnp.ones((13, 16))])


def test_lanes_that_no_vector_divides_are_refused() -> None:
    with pytest.raises(NotSupportedError, match="20 lanes"):
        steps_by_llvm(lambda _, x: x + 1, (), jnp.zeros(20), jnp.ones(20, bool), jnp.int32(1))


def test_an_array_that_becomes_another_is_refused() -> None:
    one, other = jnp.zeros((13, 16)), jnp.ones((13, 16))
    with pytest.raises(NotSupportedError, match="becomes another"):
        steps_by_llvm(lambda _, x: (x[1], x[0]), (), (one, other), jnp.ones(16, bool), jnp.int32(1))


def test_reductions_that_only_look_like_others_are_refused() -> None:
    """One that returns the smaller by asking which is larger, and one that starts with another number."""
    busy, rows = jnp.ones(16, bool), jnp.ones((13, 16))

    def smaller(a: jax.Array, b: jax.Array) -> jax.Array:
        return lax.select(a > b, b, a)

    for start, fold in ((np.float32(np.inf), smaller), (np.float32(5), lambda a, b: lax.select(a > b, a, b))):
        with pytest.raises(NotSupportedError, match="a reduction"):
            steps_by_llvm(lambda _, x, s=start, f=fold: x + lax.reduce(x, s, f, (0,)), (), rows, busy, jnp.int32(1))


NUMBERS: list[Callable[..., Any]] = [
    lambda a, b, x, y, i: a - b,
    lambda a, b, x, y, i: jnp.where(a > b, a / 2, b),
    lambda a, b, x, y, i: arms.largest(x) - arms.smallest(y),
    lambda a, b, x, y, i: arms.take(x, i),
    lambda a, b, x, y, i: jnp.sqrt(jnp.abs(a)) - 1,
]
ARRAYS: list[Callable[..., Any]] = [
    lambda a, b, x, y, i: x - y,
    lambda a, b, x, y, i: jnp.where(x > a, y, x + b),
    lambda a, b, x, y, i: jnp.where(x > y, x / (jnp.abs(y) + 1), y),
    lambda a, b, x, y, i: arms.put(x, i, a),
]
PLACES: list[Callable[..., Any]] = [
    lambda a, b, x, y, i: i + 1,
    lambda a, b, x, y, i: arms.total((x > y).astype(jnp.int32)),
    lambda a, b, x, y, i: jnp.where(arms.any_arm(x > a), i, i + 2),
]


def random_step(seed: int, count: int) -> Callable[[Any, Any], Any]:
    """A step of random operations on numbers, arrays over arms, and an arm."""
    choices = np.random.default_rng(seed).integers(0, 2**31, (40, 3))

    def step(fixed: jax.Array, lanes: tuple[jax.Array, jax.Array, jax.Array]) -> tuple[jax.Array, ...]:
        numbers, arrays, places = [lanes[0]], [lanes[1], fixed], [lanes[2]]
        for kind, first, second in choices:
            of = [numbers[first % len(numbers)], numbers[second % len(numbers)]]
            of += [arrays[first % len(arrays)], arrays[second % len(arrays)], places[second % len(places)]]
            group, functions = ((numbers, NUMBERS), (arrays, ARRAYS), (places, PLACES))[kind % 3]
            new = functions[kind % len(functions)](*of)
            group.append(new % count if group is places else new)
        return numbers[-1], arrays[-1], places[-1]

    return step


@pytest.mark.bits
@pytest.mark.parametrize("count", [2, 13, *(pytest.param(n, marks=pytest.mark.slow) for n in (5, 40))])
@pytest.mark.parametrize("seed", range(6))
def test_random_programs_are_the_same(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    fixed, start = (jnp.asarray(rng.normal(size=(count, 32)), jnp.float32) for _ in range(2))
    lanes = (start[0], start, jnp.asarray(rng.integers(0, count, 32), jnp.int32))
    step, busy = random_step(seed, count), jnp.ones(32, bool)
    try:
        found = jax.jit(lambda fixed, lanes: steps_by_llvm(step, fixed, lanes, busy, jnp.int32(3)))(fixed, lanes)
    except NotSupportedError as error:
        pytest.skip(str(error))  # an array of the state that is another's
    expected: Any = lanes
    for _ in range(3):
        expected = step(fixed, expected)  # one operation after the other: XLA joins a product and a sum in one program
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
