"""Confidences that float32, or even double precision, has no normal number for: what counts is ln(1/delta)."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxbandits import theory
from jaxbandits.arrays.probabilities import LogProbability, log_of, value_of

MEANS = [0.8, 0.55, 0.3]
CONSTANTS = theory.PPR_PRACTICAL
#: Each about proportional to ln(1/delta) where delta is small.
FORMULAS = {
    "adaptive_top_k_pulls_bound": lambda m, d: theory.adaptive_top_k_pulls_bound(m, 0.1, d, 1),
    "adaptive_top_k_pulls_rate": lambda m, d: theory.adaptive_top_k_pulls_rate(m, 0.1, d, 1),
    "bernstein_race_pulls_bound": lambda m, d: theory.bernstein_race_pulls_bound(m, 0.05, d),
    "binary_relative_entropy": lambda m, d: theory.binary_relative_entropy(d),
    "clucb_pac_pulls_rate": lambda m, d: theory.clucb_pac_pulls_rate(m, 0.1, d, 1),
    "exp_gap_elimination_pulls_rate": theory.exp_gap_elimination_pulls_rate,
    "glr_threshold": lambda m, d: theory.glr_threshold(100.0, 3, d),
    "hoeffding_race_pulls_bound": lambda m, d: theory.hoeffding_race_pulls_bound(m, 0.05, d),
    "improved_top_k_pulls_rate": lambda m, d: theory.improved_top_k_pulls_rate(m, 0.1, d, 1),
    "kl_lucb_pulls_bound": lambda m, d: theory.kl_lucb_pulls_bound(m, 0.05, d),
    "lil_ucb_pulls_rate": theory.lil_ucb_pulls_rate,
    "lucb_pulls_bound": lambda m, d: theory.lucb_pulls_bound(m, 0.05, d),
    "median_elimination_pulls": lambda m, d: theory.median_elimination_pulls(3, 0.3, d),
    "ppr_bernstein_cost": lambda m, d: theory.ppr_bernstein_cost(0.1, d, 3, 1.0, 0.3),
    "ppr_constants": lambda m, d: theory.ppr_cost_bound(0.1, d, 1.0, theory.ppr_constants(0.1, d).constants, 0.5),
    "ppr_cost_bound": lambda m, d: theory.ppr_cost_bound(0.1, d, 1.0, CONSTANTS, 0.5),
    "ppr_cost_rate": lambda m, d: theory.ppr_cost_rate(0.1, d, 1.0, 1.0),
    "ppr_hoeffding_cost": lambda m, d: theory.ppr_hoeffding_cost(0.1, d, 3, 1.0),
    "ppr_median_elimination_cost_bound": lambda m, d: theory.ppr_median_elimination_cost_bound(0.1, d, 3, 1.0),
    "ppr_median_of_means_cost": lambda m, d: theory.ppr_median_of_means_cost(0.1, d, 3, 1.0),
    "ppr_round": lambda m, d: theory.ppr_round(1, 0.1, d, 1.0, CONSTANTS).q1,
    "pulls_lower_bound": theory.pulls_lower_bound,
    "pulls_lower_bound of two": lambda m, d: theory.pulls_lower_bound(m, d, 2),
    "se_tea_pulls_bound": lambda m, d: theory.se_tea_pulls_bound(m, d, 2.0, 1.0),
    "truncated_mean_radius": lambda m, d: theory.truncated_mean_radius(50, d, 2.0, 1.0) ** 2,
    "ugape_c_pulls_bound": lambda m, d: theory.ugape_c_pulls_bound(m, 0.05, d),
    "ugape_c_variance_pulls_bound": lambda m, d: theory.ugape_c_variance_pulls_bound(m, np.full(3, 0.2), 0.05, d),
}  # fmt: skip


#: Formulas that take long to compile.
LONG = (
    ("kl_lucb_pulls_bound", np.float32),
    *(("pulls_lower_bound of two", dtype) for dtype in (np.float32, np.float64)),
)


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        pytest.param(name, dtype, marks=[pytest.mark.slow] * ((name, dtype) in LONG))
        for name in FORMULAS
        for dtype in (np.float64, np.float32)
    ],
)
def test_formulas_grow_with_the_logarithm(name, dtype):
    means = np.asarray(MEANS, dtype)
    at = [float(FORMULAS[name](means, delta)) for delta in (1e-40, 1e-80, 1e-160, 1e-320)]
    assert np.isfinite(at).all()
    # What is left beside a ln(1/delta) is a constant and iterated logarithms.
    slopes = np.diff(at) / np.diff([40, 80, 160, 320])
    assert (slopes > 0).all()
    assert slopes[-1] / slopes[-2] == pytest.approx(1, abs=0.03)


def test_the_lower_bound_is_that_of_exact_arithmetic():
    time = float(theory.characteristic_time([0.9, 0.1])[0])
    for delta in (1e-45, 1e-300, 5e-324):
        expected = -time * math.log(delta)
        assert float(theory.pulls_lower_bound([0.9, 0.1], delta)) == pytest.approx(expected, rel=1e-12)
        assert float(theory.pulls_lower_bound(np.float32([0.9, 0.1]), delta)) == pytest.approx(expected, rel=1e-6)


def test_binary_relative_entropy_has_all_its_digits():
    """And a derivative, where delta is traced."""
    for delta in (1e-300, 1e-20, 0.0999, 0.1001, 0.3, 0.4999999):
        odds = math.log1p(-delta) - math.log(delta) if delta < 0.4 else math.log1p((1 - 2 * delta) / delta)
        assert float(theory.binary_relative_entropy(delta)) == pytest.approx((1 - 2 * delta) * odds, rel=1e-13)
    slope = jax.grad(lambda d: theory.binary_relative_entropy(d))
    for delta in (0.05, 0.2):
        h = 1e-6
        about = theory.binary_relative_entropy(delta + h) - theory.binary_relative_entropy(delta - h)
        assert float(slope(delta)) == pytest.approx(float(about) / (2 * h), rel=1e-5)


@pytest.mark.parametrize("delta", [0.05, np.float32(0.05), 1e-30, 1e-45, 1e-300, 5e-324, 1 - 1e-9])
def test_a_logarithm_is_that_of_the_number(delta):
    single = np.float64(np.float32(delta))
    number = single if np.finfo(np.float32).tiny <= single < 1 else float(delta)
    assert LogProbability.of(delta).log == np.float32(math.log(number))
    assert log_of(delta) == np.float32(math.log(number))
    assert float(value_of(LogProbability.of(delta))) == pytest.approx(number, rel=1e-5, abs=1.2e-38)
    traced = jax.jit(log_of)(jnp.float32(0.05))
    assert float(traced) == pytest.approx(math.log(0.05), rel=1e-6)
