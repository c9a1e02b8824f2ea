"""Which precision a formula computes in, and what it hands back."""

import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
import xarray as xr

from jaxbandits import theory
from jaxbandits.theory import complexity

CLOSE = np.asarray([0.5, 0.5 - 1e-8, 0.2])


@pytest.mark.parametrize(
    ("means", "epsilon", "dtype"),
    [
        (CLOSE, 0.1, np.float64),
        (CLOSE.tolist(), 0.1, np.float64),
        (CLOSE, np.float64(0.1), np.float64),
        ([1, 0, 0], 1, np.float64),
        (CLOSE, np.float32(0.1), np.float64),  # as NumPy has it
        (CLOSE.astype(np.float32), 0.1, np.float32),
        (jnp.asarray(CLOSE), 0.1, np.float32),
        (CLOSE, jnp.float32(0.1), np.float32),
        ([0.5, jnp.float32(0.4)], 0.1, np.float32),
    ],
)
def test_the_type_of_an_answer_is_that_of_the_question(means, epsilon, dtype):
    found = theory.h_epsilon(means, epsilon)
    assert found.dtype == dtype
    assert isinstance(found, np.float64 if dtype == np.float64 else jax.Array)
    assert f"{found:.1f}"  # it can be printed as a number


def test_answers_of_several_numbers_and_arrays():
    low, high = theory.best_reward_bracket(30.0, 0.1)
    assert isinstance(low, np.float64)
    assert high - low == pytest.approx(1.1, abs=1e-15)
    gaps = theory.gaps(CLOSE)
    assert type(gaps) is np.ndarray
    np.testing.assert_allclose(gaps, [1e-8, 1e-8, 0.3], rtol=1e-8)
    assert theory.kl_bernoulli(0.3, 0.3 + 1e-9) == pytest.approx(1e-18 / 0.42, rel=1e-6)


def test_inside_a_program_numbers_keep_their_digits_and_tracers_are_traced():
    def both(delta):
        return theory.h1(CLOSE) * delta, theory.h_epsilon(CLOSE, delta)

    exact, traced = jax.jit(both)(0.5)
    assert float(exact) == pytest.approx(0.5 * (2e16 + 1 / 0.09), rel=1e-6)
    assert traced.dtype == jnp.float32
    slope = jax.grad(lambda delta: both(delta)[0])(0.5)
    assert float(slope) == pytest.approx(theory.h1(CLOSE), rel=1e-6)
    assert jax.vmap(lambda delta: theory.h_epsilon(CLOSE, delta))(jnp.asarray([0.1, 0.2])).shape == (2,)


def test_labels_of_arrays_are_left_out():
    sizes = xr.DataArray([1, 2], dims="m", coords={"m": [1, 2]})
    for formula, given in (
        (theory.h_epsilon, (CLOSE, 0.1, [1, 2])),
        (theory.h_0_epsilon, (CLOSE, 0.1, [1, 2])),
        (theory.kl_lucb_pulls_bound, (CLOSE, 0.1, 0.05, [1, 2])),
    ):
        for labelled in (sizes, pd.Series([1, 2])):
            np.testing.assert_array_equal(formula(*given[:-1], labelled), formula(*given))
    there = xr.DataArray([True, True, False], dims="arm")
    assert theory.h1(xr.DataArray(CLOSE, dims="arm"), mask=there) == theory.h1(CLOSE[:2])
    assert theory.h1(xr.DataArray(CLOSE.astype(np.float32))).dtype == np.float32


def test_in_double_precision_nothing_changes(x64):
    found = theory.h1(CLOSE)
    assert isinstance(found, jax.Array)
    assert found.dtype == jnp.float64


def test_what_stands_in_the_modules_is_the_formula_itself():
    assert inspect.unwrap(theory.h1) is complexity.h1
    assert theory.h1.__doc__ == complexity.h1.__doc__
    assert complexity.h1(CLOSE).dtype == jnp.float32
