"""Decisions written out arm by arm: the same numbers, and what has no such form as it stands."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxbandits.arrays import arms, ranking
from jaxbandits.arrays.numerics import log
from jaxbandits.arrays.platform_lowering import override_lowering
from jaxbandits.arrays.static_int import StaticInt
from jaxbandits.compilers.unroll_arms import fuse_outputs, unroll_over_arms
from jaxbandits.random import tie_breaking

RUNS = 7


def given(count, seed=0):
    random = np.random.default_rng(seed)
    words = tie_breaking.tie_words(jax.random.split(jax.random.key(seed), RUNS))
    x = jnp.asarray(random.integers(0, 4, (count, RUNS)) / 4, jnp.float32)  # many are equal
    return x, tie_breaking.tie_order(words, count), jnp.asarray(random.integers(1, 9, RUNS), jnp.int32)


def decision(x, order, time):
    """With what decisions are made of: a number of each run, maxima, masks, a look at one arm."""
    index = x * jnp.sqrt(log(time) + 1.5)
    value, following, top = ranking.kth_and_next_largest(index, StaticInt(1), order)
    _, low = ranking.arg_smallest(jnp.where(top, following, value) - x, order)
    arm = tie_breaking.arm_at(low, x.shape[0], jnp.zeros((2, RUNS), jnp.uint32))
    found = arms.take(x, arm) > 0.5
    return jnp.where(found & arms.any_arm(index > 1), arm, ~arm)


def lines_of(function, *operands):
    return str(jax.make_jaxpr(lambda *x: unroll_over_arms(function, *x))(*operands))


@pytest.mark.bits
@pytest.mark.parametrize("count", [2, 3, 10, 17, pytest.param(119, marks=pytest.mark.slow)])
def test_the_same_numbers(count):
    operands = given(count)
    with override_lowering("cpu"):
        assert "reduce" not in lines_of(decision, *operands)
        assert "gather" not in lines_of(decision, *operands)
        found = jax.jit(lambda *x: unroll_over_arms(decision, *x))(*operands)
        np.testing.assert_array_equal(found, jax.jit(decision)(*operands))


@pytest.mark.parametrize("platform", ["gpu", "tpu"])
def test_on_accelerators_as_it_stands(platform):
    with override_lowering(platform):
        assert "reduce" in lines_of(decision, *given(10))


def test_with_many_arms_as_it_stands():
    """The limit is of the rows that are read, here two of each arm and one, whatever else is at hand."""

    def with_more(x, order, time, more):
        del more
        return decision(x, order, time)

    with override_lowering("cpu"):
        assert "reduce" in lines_of(decision, *given(120))
        assert "reduce" not in lines_of(with_more, *given(119), given(119)[0])


def test_a_loop_that_llvm_does_not_compile_in_seconds_as_it_stands():
    """UGapEc computes 5,624 rows with 80 arms; LLVM took minutes with 100."""

    def long(x):
        for turn in range(100):
            x = x * x + turn
        return jnp.max(x, axis=0).astype(int)

    with override_lowering("cpu"):
        by_rows, whole = (lines_of(long, jnp.ones((count, 4))) for count in (28, 29))
    assert "reduce" not in by_rows
    assert "reduce" in whole


@pytest.mark.parametrize(("count", "shared"), [(45, True), (46, True), (46, False)])
def test_with_many_quotients_that_several_read_as_it_stands(count, shared):
    """XLA:CPU stores them: 90 at most."""

    @jax.jit
    def one(x):
        part = 1 / (x + 1)
        return part * part if shared else part

    def function(x, order, time):
        del order
        root = jnp.sqrt(x)
        near = jnp.abs(root - root * root) if shared else root
        return (arms.largest(one(x) - near) > 0.5).astype(jnp.int32) + time

    operands = given(count)
    with override_lowering("cpu"):
        assert ("reduce" in lines_of(function, *operands)) == (shared and count > 45)
        np.testing.assert_array_equal(unroll_over_arms(function, *operands), function(*operands))


@pytest.mark.parametrize(("platform", "count"), [("gpu", 5), ("tpu", 5), ("cpu", 5), ("cpu", 241)])
def test_several_numbers_are_packed_in_one(platform, count):
    def found(x):
        return (x[0] > 0.5).astype(jnp.int32), arms.largest(x).astype(jnp.int32)

    x = given(count)[0]
    with override_lowering(platform):
        lines = str(jax.make_jaxpr(lambda x: fuse_outputs(found, count, x))(x))
    assert "shift" in lines


def test_of_one_run_as_it_stands():
    x, order, _ = given(10)
    with override_lowering("cpu"):
        assert "reduce" in lines_of(lambda x, o: ranking.arg_largest(x, o)[1], x[:, 0], order[:, 0])


@pytest.mark.parametrize(
    "function",
    [
        lambda x, order, time: ranking.top_mask(x, time % 2 + 1, order).argmax(0) + time,  # a loop
        lambda x, order, time: (arms.total(x) > 2).astype(jnp.int32),  # a sum of floats, whose order is fixed
        lambda x, order, time: (jax.lax.reduce(x, 0.0, jax.lax.add, (0,)) > 2).astype(jnp.int32),
        lambda x, order, time: (x.reshape(2, 5, RUNS).max(0)[0] > 0.5).astype(jnp.int32),  # three axes
        lambda x, order, time: jnp.max(x * jnp.eye(10, RUNS), axis=0).astype(jnp.int32),  # a table of constants
    ],
)
def test_what_has_no_rows_as_it_stands(function):
    operands = given(10)
    with override_lowering("cpu"):
        np.testing.assert_array_equal(unroll_over_arms(function, *operands), function(*operands))


def test_a_reduction_keeps_its_start():
    x, order, _ = given(10)

    def function(x):
        return jax.lax.reduce(order, jnp.int32(2**31 - 2), jax.lax.max, (0,)) + (x[0] > 9)

    with override_lowering("cpu"):
        np.testing.assert_array_equal(unroll_over_arms(function, x), function(x))


@pytest.mark.parametrize("count", [3, 64, 40_000])
def test_several_numbers_of_one_loop(count):
    """Of so many arms that they do not fit into one word, too."""
    words = tie_breaking.tie_words(jax.random.split(jax.random.key(0), RUNS))

    def found(x, order):
        places = ranking.arg_largest(x, order)[1], ranking.arg_smallest(x, order)[1]
        return (x[0] > 0.5).astype(jnp.int32), *(tie_breaking.arm_at(place, count, words) for place in places)

    x, order, _ = given(count)
    with override_lowering("cpu"):
        one = jax.jit(lambda *x: fuse_outputs(found, count, *x))(x, order)
    for packed, plain in zip(one, found(x, order), strict=True):
        np.testing.assert_array_equal(packed, plain)
