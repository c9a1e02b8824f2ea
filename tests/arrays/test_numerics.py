"""The accuracy and bits of the logarithm and the excess, and products that no compiler contracts."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxbandits.arrays.numerics import exp, expm1, fast_max, fast_min, log, log1pmx, no_fma
from jaxbandits.compilers.xla_cpu import where_sparse

pytestmark = pytest.mark.bits


def numbers():
    random = np.random.default_rng(0)
    wide = np.exp2(random.uniform(-125.9, 127.9, 300_000))
    near_one = 1 + random.uniform(-1e-3, 1e-3, 100_000)
    small = random.uniform(0.3, 3.0, 100_000)
    whole = np.arange(1, 100_001)
    edges = [np.finfo(np.float32).tiny, np.finfo(np.float32).max, 1.0, 0.5**0.5, 2.0**31, 10.0**9]
    return np.concatenate([wide, near_one, small, whole, edges]).astype(np.float32)


def test_log_is_within_two_units_in_the_last_place():
    x = numbers()
    exact = np.log(x.astype(np.float64))
    error = np.abs(np.asarray(log(x), np.float64) - exact) / np.spacing(np.abs(exact).astype(np.float32))
    assert error.max() <= 2
    assert float(log(jnp.float32(1))) == 0


def test_log_has_the_same_bits_in_vectors_of_every_length():
    x = numbers()[::4001][:120]
    expected = np.asarray(jax.jit(log)(x))
    for length in (*range(1, 10), 15, 16, 17, 31, 33, 40):
        np.testing.assert_array_equal(jax.jit(log)(x[:length]), expected[:length], err_msg=str(length))
    one_by_one = jax.jit(lambda x: jax.lax.map(log, x))(x)
    np.testing.assert_array_equal(one_by_one, expected)
    np.testing.assert_array_equal(jax.vmap(log)(x), expected)
    np.testing.assert_array_equal([log(value) for value in x[:5]], expected[:5])  # outside any program of its own
    inside = jax.jit(lambda x: jnp.sqrt(3 * log(1 / (x * 0.5 + 0.25)) ** 2))
    alone = [inside(value) for value in x]
    np.testing.assert_array_equal(inside(x), alone)


def test_log_of_whole_numbers_is_that_of_their_floats():
    whole = np.asarray([1, 2, 1000, 2**24 + 1, 2**31 - 1], np.int32)
    np.testing.assert_array_equal(log(whole), log(whole.astype(np.float32)))


def test_derivative_of_log():
    x = np.asarray([1e-30, 0.3, 1.0, 7.0, 1e30], np.float32)
    np.testing.assert_allclose(jax.vmap(jax.grad(log))(x), 1 / x, rtol=1e-6)
    np.testing.assert_allclose(jax.vmap(jax.grad(jax.grad(log)))(x[1:4]), -1 / x[1:4] ** 2, rtol=1e-6)


def test_expm1_is_exact_to_some_units_in_the_last_place():
    x = np.concatenate([sign * np.geomspace(1e-30, 85, 20_000) for sign in (-1, 1)]).astype(np.float32)
    found = np.asarray(jax.jit(expm1)(x))
    assert np.max(np.abs(found / np.expm1(x.astype(np.float64)) - 1)) < 3 * np.finfo(np.float32).eps
    np.testing.assert_array_equal(expm1(np.float32([0, -100])), [0, -1])
    for length in (1, 7, 40):
        np.testing.assert_array_equal(jax.jit(expm1)(x[:length]), found[:length])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_excess_is_exact_to_some_units_in_the_last_place(dtype):
    random = np.random.default_rng(2)
    x = np.concatenate([10 ** random.uniform(-15, 30, 20_000), random.uniform(-0.999, 3, 50_000)])
    x = np.concatenate([x, random.choice([-1, 1], 20_000) * 10 ** random.uniform(-15, -0.1, 20_000)]).astype(dtype)
    wide = x.astype(np.longdouble)
    series = sum((-1) ** k * wide**k / k for k in range(2, 12))
    exact = np.where(np.abs(wide) < 1e-3, series, wide - np.log1p(wide))
    with jax.enable_x64(dtype is np.float64):
        found = np.asarray(log1pmx(jnp.asarray(x), jnp.asarray(1 + x)))
        assert found.dtype == dtype
        assert np.max(np.abs(found / exact - 1)) < 12 * np.finfo(dtype).eps
        near_minus_one = log1pmx(jnp.asarray(-1, dtype), jnp.asarray(1e-20, dtype))
        assert float(near_minus_one) == pytest.approx(-1 + 20 * np.log(10), rel=1e-6)
        slope = jax.grad(lambda x: log1pmx(x, 1 + x))(jnp.asarray(0.25, dtype))
        assert float(slope) == pytest.approx(0.2, rel=1e-6)


def test_excess_has_the_same_bits_in_vectors_of_every_length():
    x = np.random.default_rng(3).uniform(-0.9, 3, 90).astype(np.float32)
    expected = np.asarray(jax.jit(log1pmx)(x, 1 + x))
    for length in (1, 2, 3, 7, 8, 17, 33):
        np.testing.assert_array_equal(jax.jit(log1pmx)(x[:length], 1 + x[:length]), expected[:length])
    np.testing.assert_array_equal(jax.vmap(log1pmx)(x, 1 + x), expected)


@pytest.mark.parametrize("length", [1, 3, 8, 37, 1000])
def test_a_rounded_product_is_rounded_before_the_sum(length):
    random = np.random.default_rng(length)
    # c cancels most of a * b: a fused multiply-add would keep digits that the product alone does not have.
    a, b = random.uniform(1, 2, (2, length)).astype(np.float32)
    c = -(a * b).astype(np.float32)
    found = jax.jit(lambda a, b, c: no_fma(a * b) + c)(a, b, c)
    np.testing.assert_array_equal(found, np.zeros(length, np.float32))
    fused = a.astype(np.float64) * b + c
    assert (fused != 0).any()
    np.testing.assert_array_equal(no_fma(jnp.asarray([-3e38, -0.0, 2.5], jnp.float32)), np.float32([-3e38, 0, 2.5]))


def test_larger_and_smaller():
    random = np.random.default_rng(2)
    a, b = random.integers(-3, 4, (2, 100)).astype(np.float32)
    whole = a.astype(np.int32)
    a[:3], b[1:4] = [np.inf, -np.inf, 0], [np.inf, -np.inf, 1]
    for x, y in ((a, b), (a, np.float32(0)), (whole, np.int32(1))):
        np.testing.assert_array_equal(fast_max(jnp.asarray(x), jnp.asarray(y)), np.maximum(x, y))
        np.testing.assert_array_equal(fast_min(jnp.asarray(x), jnp.asarray(y)), np.minimum(x, y))


def test_exponential_is_accurate_over_its_range():
    x = np.linspace(-87, 88, 100_001).astype(np.float32)
    found = np.asarray(jax.jit(exp)(x), np.float64)
    np.testing.assert_allclose(found, np.exp(x.astype(np.float64)), rtol=3 * 2.0**-24)
    assert np.asarray(exp(jnp.asarray([-1e4, -88.0, 0.0]))).tolist() == [0, 0, 1]


@pytest.mark.parametrize("share", [0.0, 0.02, 0.3, 1.0])
@pytest.mark.parametrize("runs", [5, 16, 100])
def test_where_few_is_where_any(share, runs):
    random = np.random.default_rng(runs)
    condition = jnp.asarray(random.random(runs) < share)
    state = {"a": jnp.asarray(random.random((3, runs)), jnp.float32), "b": jnp.arange(runs)}
    fixed, shared = jnp.asarray(random.random((2, runs)), jnp.float32), jnp.asarray([[2.0], [3.0], [4.0]])

    def change(state, fixed, shared):
        return {"a": jnp.maximum(state["a"] * shared, fixed[0]), "b": -state["b"] - 1}

    few = jax.jit(lambda state: where_sparse(condition, change, state, fixed, shared))(state)
    expected = change(state, fixed, shared)
    for name in state:
        np.testing.assert_array_equal(few[name], np.where(condition, expected[name], state[name]))
    one = jax.jit(lambda c, state: where_sparse(c, lambda state: state + 1, state))
    assert [int(one(jnp.asarray(c), jnp.int32(4))) for c in (True, False)] == [5, 4]
