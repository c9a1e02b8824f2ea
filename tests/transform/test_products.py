"""Products that might be contracted with a sum are shielded once, and numbers stay what they are."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from jaxbandits.arrays.numerics import log1pmx, no_fma
from jaxbandits.transform import map_runs
from jaxbandits.transform.products import exposed_results, shield

EVERY = np.asarray([0.0, -0.0, 1.0, -1.5, 1e-38, -1e-45, 3.4028235e38, -3.4028235e38, np.inf, -np.inf, np.nan])


def test_a_shield_changes_nothing():
    x = EVERY.astype(np.float32)
    found = np.asarray(jax.jit(shield)(jnp.asarray(x)))
    np.testing.assert_array_equal(found, x)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(x))


def products_exposed(function):
    jaxpr = jax.make_jaxpr(function)(jnp.ones(3), jnp.ones(3)).jaxpr
    made = {out for equation in jaxpr.eqns if equation.primitive.name == "mul" for out in equation.outvars}
    return len(made & exposed_results(jaxpr))


def test_a_product_that_is_shielded_already_is_so_once():
    assert products_exposed(lambda x, y: x * y + y) == 1
    assert products_exposed(lambda x, y: no_fma(x * y) + y) == 0
    assert products_exposed(lambda x, y: no_fma(x * y) + x * y) == 1
    assert products_exposed(lambda x, y: jnp.where(x * y > -1.0, x * y, -1.0) + y) == 1  # another number
    assert products_exposed(lambda x, y: jnp.where(x > -3.4028235e38, x * y, -3.4028235e38) + y) == 1  # of another

    x = jnp.asarray(np.random.default_rng(1).uniform(-0.9, 3, (4, 70)).astype(np.float32))
    found = jax.jit(map_runs(lambda x: log1pmx(x, 1 + x)))(x)
    np.testing.assert_array_equal(found, jax.jit(log1pmx)(x, 1 + x))


@pytest.mark.parametrize("constant", [0.0, -0.0, 1.5, -2.0, np.inf, -np.inf])
@pytest.mark.parametrize("function", [jnp.maximum, jnp.minimum])
def test_the_larger_and_the_smaller_of_a_number_and_a_constant_are_those_of_jax(function, constant):
    x = jnp.asarray(EVERY[(np.abs(EVERY) > 2e-38) | (EVERY == 0) | np.isnan(EVERY)].astype(np.float32))[None]
    for given in (lambda x: function(x, constant), lambda x: function(constant, x)):
        found, wanted = jax.jit(map_runs(given))(x), given(x)
        np.testing.assert_array_equal(found, wanted)
        np.testing.assert_array_equal(np.signbit(found)[wanted == 0], np.signbit(wanted)[wanted == 0])


QUOTIENTS = {
    "a quotient divided": lambda np, a, b, c: a / b / c,
    "divided by a quotient": lambda np, a, b, c: a / (b / c),
    "a quotient by a quotient": lambda np, a, b, c: (a / b) / (c / a),
    "divided by a root": lambda np, a, b, c: a / np.sqrt(b),
    "the inverse of a root": lambda np, a, b, c: np.float32(1) / np.sqrt(b),
    "a root by a root": lambda np, a, b, c: np.sqrt(a) / np.sqrt(b * c),
    "an inverse of an inverse": lambda np, a, b, c: a / (np.float32(1) / b),
    "a quotient that a function divides": lambda np, a, b, c: function_of(np, lambda x, y: x / y)(a / b, c),
    "a function's quotient, divided": lambda np, a, b, c: function_of(np, lambda x, y: x / y)(a, b) / c,
    "a function's quotient of a function's": lambda np, a, b, c: (
        function_of(np, lambda x, y: (function_of(np, lambda x, y: x / y)(x, y), x))(a, b)[0] / c
    ),
}


def function_of(np, function):
    """A function of its own in JAX's program, as many of `jax.numpy` are."""
    return jax.jit(function) if np is jnp else function


@pytest.mark.bits
@pytest.mark.parametrize("name", QUOTIENTS)
def test_quotients_are_divided_as_they_are_written(name):
    """XLA writes a quotient of quotients as one of products, and a quotient by a root with `rsqrt`: other roundings."""
    function, rng = QUOTIENTS[name], np.random.default_rng(5)
    numbers = [(rng.random((4, 200)) + 0.5).astype(np.float32) for _ in range(3)]
    found = jax.jit(map_runs(lambda *numbers: function(jnp, *numbers)))(*numbers)
    expected = [function(np, *(x[..., run] for x in numbers)) for run in range(200)]
    np.testing.assert_array_equal(found, np.stack(expected, axis=-1))


@pytest.mark.bits
@pytest.mark.parametrize("function", [lambda x, y: x / y, lambda x, y: y / x])
def test_the_logistic_function_is_a_quotient_too(function):
    rng = np.random.default_rng(6)
    x, y = ((rng.random((4, 200)) + 0.5).astype(np.float32) for _ in range(2))
    found = jax.jit(map_runs(lambda x, y: function(jax.nn.sigmoid(x), y)))(x, y)
    np.testing.assert_array_equal(found, function(np.asarray(jax.jit(map_runs(jax.nn.sigmoid))(x)), y))


@pytest.mark.parametrize("dtype", [jnp.bfloat16, jnp.float16])
def test_short_floats_are_added_and_divided_as_float32(dtype):
    x = jnp.asarray(np.random.default_rng(2).uniform(0.2, 1, (1000, 3)), jnp.float32).astype(dtype)

    def results(x):
        sums = (x @ x, lax.dot(jnp.stack([x, x]), x), jnp.cumsum(x), lax.cumsum(x, reverse=True), jnp.sum(x))
        return (*sums, jnp.cumprod(x[:9]), jnp.prod(x[:9]), x[:2] @ x[2:4], x / 3, x / x[0])

    found = jax.jit(map_runs(results))(x)
    alone = jax.jit(map_runs(results))(x[:, :1])
    wide = jax.jit(jax.vmap(results, -1, -1))(x.astype(jnp.float32))
    for mine, one, theirs in zip(found, alone, wide, strict=True):
        assert mine.dtype == dtype
        np.testing.assert_array_equal(mine[..., :1], one)
        rounding = float(jnp.finfo(dtype).eps)
        np.testing.assert_allclose(mine.astype(jnp.float32), theirs, rtol=1.01 * rounding)
