"""Divergences against 60-digit arithmetic, near ties and at the borders included, and their derivatives."""

from decimal import Decimal, getcontext

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxbandits import theory

getcontext().prec = 60

# Pairs of float32 numbers: ordinary, close, very close, extreme.
PAIRS = [
    (0.5, 0.5001),
    (0.1, 0.10001),
    (0.5, 0.50000006),
    (0.3, 0.9),
    (0.9, 0.3),
    (0.999, 0.9991),
    (1e-6, 1.1e-6),
    (1e-30, 0.4),
    (0.4, 1e-30),
    (0.2, 0.3),
    (0.2, 0.300001),
    (0.2, 0.1),
    (0.7, 0.99999994),
]


def exact_kl(p: float, q: float | Decimal) -> float:
    p, q = Decimal(float(p)), q if isinstance(q, Decimal) else Decimal(float(q))
    return float(p * (p / q).ln() + (1 - p) * ((1 - p) / (1 - q)).ln())


@pytest.mark.parametrize(("p", "q"), PAIRS)
def test_kl_bernoulli_is_exact_in_float32(p, q):
    p, q = np.float32(p), np.float32(q)
    value = theory.kl_bernoulli(p, q)
    assert value.dtype == jnp.float32
    assert float(value) == pytest.approx(exact_kl(p, q), rel=2e-6)


@pytest.mark.parametrize(("p", "q"), [*PAIRS, (0.5, 0.5 + 1e-12), (0.1, 0.1 - 1e-15)])
def test_kl_bernoulli_is_exact_in_float64(p, q, x64):
    assert float(theory.kl_bernoulli(p, q)) == pytest.approx(exact_kl(p, q), rel=1e-14)


def test_the_textbook_form_fails_where_this_one_does_not():
    p, q = jnp.float32(0.1), jnp.float32(0.10001)
    textbook = p * jnp.log(p / q) + (1 - p) * jnp.log((1 - p) / (1 - q))
    exact = exact_kl(np.float32(p), np.float32(q))
    assert abs(float(textbook) - exact) > 0.2 * exact
    assert abs(float(theory.kl_bernoulli(p, q)) - exact) < 1e-6 * exact


def test_kl_bernoulli_at_the_borders():
    for p, q, value in [
        (0.0, 0.0, 0.0),
        (1.0, 1.0, 0.0),
        (0.0, 0.25, -np.log(0.75)),
        (1.0, 0.25, -np.log(0.25)),
        (0.3, 0.0, np.inf),
        (0.3, 1.0, np.inf),
        (0.0, 1.0, np.inf),
        (1.0, 0.0, np.inf),
    ]:
        assert float(theory.kl_bernoulli(p, q)) == pytest.approx(value, rel=1e-6)


def test_gradients_of_kl_bernoulli_stay_finite_at_the_borders():
    for p, q in [(0.0, 0.0), (1.0, 1.0), (0.0, 0.25), (1.0, 0.25), (0.5, 0.5)]:
        assert np.all(np.isfinite(jax.grad(theory.kl_bernoulli, argnums=(0, 1))(p, q)))
    # d/dq of -log(1 - q), and of -log q.
    assert float(jax.grad(theory.kl_bernoulli, argnums=1)(0.0, 0.25)) == pytest.approx(1 / 0.75)
    assert float(jax.grad(theory.kl_bernoulli, argnums=1)(1.0, 0.25)) == pytest.approx(-4)


def test_gradients_of_kl_bernoulli_equal_differences(x64, central_differences):
    gradient_of = jax.jit(jax.grad(lambda x: theory.kl_bernoulli(x[0], x[1])))
    for p, q in [(0.3, 0.4), (0.3, 0.9), (0.8, 0.05), (0.5, 0.5)]:
        point = np.array([p, q])
        gradient = gradient_of(jnp.asarray(point))
        expected = central_differences(lambda x: theory.kl_bernoulli(x[0], x[1]), point)
        np.testing.assert_allclose(gradient, expected, rtol=1e-7, atol=1e-9)
    # The Fisher information 1 / (p (1 - p)) is the second derivative at p = q.
    assert float(jax.grad(jax.grad(theory.kl_bernoulli))(0.3, 0.3)) == pytest.approx(1 / 0.21)


def test_kl_bernoulli_broadcasts_and_vmaps_like_a_loop():
    p, q = jnp.linspace(0.1, 0.9, 5), jnp.linspace(0.05, 0.95, 7)
    table = theory.kl_bernoulli(p[:, None], q[None, :])
    nested = jax.jit(jax.vmap(lambda x: jax.vmap(lambda y: theory.kl_bernoulli(x, y))(q)))(p)
    np.testing.assert_allclose(nested, table, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(table[2, 4], theory.kl_bernoulli(p[2], q[4]), rtol=1e-6)


def test_pinsker():
    p, q = np.random.default_rng(0).uniform(size=(2, 500))
    assert np.all(np.asarray(theory.kl_bernoulli(p, q)) >= 2 * (p - q) ** 2 * (1 - 1e-5))


def test_kl_gaussian_by_hand():
    assert float(theory.kl_gaussian(1.0, 3.0)) == pytest.approx(2)
    assert float(theory.kl_gaussian(1.0, 3.0, sd=2.0)) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("divergence", "exact"),
    [
        (theory.kl_poisson, lambda p, q: p * (p / q).ln() + q - p),
        (theory.kl_exponential, lambda p, q: (q / p).ln() + p / q - 1),
    ],
)
def test_divergences_of_counts_and_waiting_times(divergence, exact):
    for p, q in [*PAIRS, (3.0, 500.0), (500.0, 3.0), (7.0, 7.000001)]:
        single = divergence(np.float32(p), np.float32(q))
        assert single.dtype == jnp.float32
        wide = Decimal(float(np.float32(p))), Decimal(float(np.float32(q)))
        assert float(single) == pytest.approx(float(exact(*wide)), rel=4e-6)
        assert divergence(p, q) == pytest.approx(float(exact(Decimal(p), Decimal(q))), rel=1e-13)
    gradient = jax.grad(divergence, argnums=(0, 1))(0.3, 0.5)
    ends = [(divergence(0.3 + a, 0.5 + b) - divergence(0.3 - a, 0.5 - b)) / 2e-6 for a, b in ((1e-6, 0), (0, 1e-6))]
    np.testing.assert_allclose(gradient, ends, rtol=1e-5)


def test_poisson_laws_of_mean_0():
    assert theory.kl_poisson(0.0, 0.3) == pytest.approx(0.3, rel=1e-15)
    assert theory.kl_poisson(0.0, 0.0) == 0
    large = np.asarray([3.9, 4.1, 7.0, 1e5, 1e30])
    np.testing.assert_allclose(theory.kl_poisson(0.0, large), large, rtol=1e-15)  # from 4 on NaN, once
    np.testing.assert_allclose(theory.kl_poisson(1e-300, large), large, rtol=1e-15)
    slopes = jax.vmap(jax.grad(theory.kl_poisson, argnums=(0, 1)), (None, 0))(0.0, jnp.asarray(large))
    assert np.isfinite(slopes).all()
    assert theory.kl_poisson(0.3, 0.0) == np.inf


def test_binary_relative_entropy():
    deltas = np.array([1e-30, 1e-6, 0.05, 0.3, 0.499999], np.float32)
    exact = [exact_kl(d, 1 - Decimal(float(d))) for d in deltas]
    np.testing.assert_allclose(theory.binary_relative_entropy(deltas), exact, rtol=2e-6)
    assert float(theory.binary_relative_entropy(0.5)) == 0
    # Garivier and Kaufmann 2016: kl(delta, 1 - delta) >= log(1 / (2.4 delta)).
    grid = np.linspace(1e-4, 0.5, 100)
    assert np.all(np.asarray(theory.binary_relative_entropy(grid)) >= np.log(1 / (2.4 * grid)))


def test_gradient_of_binary_relative_entropy_equals_differences(x64, central_differences):
    for delta in (0.01, 0.3, 0.5):
        gradient = jax.grad(theory.binary_relative_entropy)(delta)
        expected = central_differences(theory.binary_relative_entropy, np.array(delta))
        assert float(gradient) == pytest.approx(float(expected), rel=1e-5, abs=1e-8)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.kl_bernoulli(1.2, 0.5), r"^p must lie in \[0, 1\], got 1.2"),
        (lambda: theory.kl_bernoulli(0.5, np.array([0.1, -0.5])), r"^q must lie in \[0, 1\], got -0.5$"),
        (lambda: theory.kl_gaussian(0.0, 1.0, 0.0), r"^sd must be positive and finite, got 0.0$"),
        (lambda: theory.binary_relative_entropy(0.0), r"^delta must lie strictly between 0 and 1, got 0.0$"),
        (lambda: theory.binary_relative_entropy(1.0), r"^delta must lie strictly between 0 and 1, got 1.0$"),
    ],
)
def test_bad_input_is_refused_in_one_line(call, message):
    with pytest.raises(ValueError, match=message):
        call()
