"""Gamma and Beta draws against their laws. Each p-value is of a fixed seed and fails a right package with 1e-8."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from jaxbandits.random.gamma import beta, log_gamma

DRAWS = 200_000
LEVEL = 1e-8


def words(seed):
    return tuple(jax.random.bits(jax.random.key(seed), (2, DRAWS)))


@pytest.mark.parametrize("shape", [0.05, 0.4, 1.0, 2.5, 100.0, 1e4])
def test_log_gamma_has_the_gamma_law(shape):
    drawn = np.asarray(jax.jit(log_gamma)(words(1), jnp.float32(shape)), np.float64)
    assert stats.kstest(drawn, lambda x: stats.gamma.cdf(np.exp(x), float(np.float32(shape)))).pvalue > LEVEL


def test_streams_of_the_same_words_are_unrelated():
    first, second = (np.asarray(log_gamma(words(2), jnp.float32(1.5), stream)) for stream in (0, 1))
    assert abs(stats.pearsonr(first, second).statistic) < 6 / np.sqrt(DRAWS)


@pytest.mark.parametrize(("a", "b"), [(0.5, 0.5), (1.0, 3.0), (2.29, 166.4), (30.0, 2.0)])
def test_beta_has_the_beta_law(a, b):
    drawn = np.asarray(jax.jit(beta)(words(3), jnp.float32(a), jnp.float32(b)), np.float64)
    assert stats.kstest(drawn, stats.beta(float(np.float32(a)), float(np.float32(b))).cdf).pvalue > LEVEL


def test_very_small_parameters_are_not_lost():
    """Both Gamma draws underflow as float32 numbers here; their ratio does not."""
    drawn = np.asarray(beta(words(4), jnp.float32(0.01), jnp.float32(0.02)), np.float64)
    assert np.isfinite(drawn).all()
    assert stats.binomtest(int((drawn > 0.5).sum()), DRAWS, stats.beta(0.01, 0.02).sf(0.5)).pvalue > LEVEL
