"""Bounds for heavy tails against numbers worked out apart, slow formulas, and their own derivatives."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import optimize

import jaxbandits as jb
from jaxbandits import theory
from jaxbandits.statistics.robust_means import Catoni

S1 = np.asarray(jb.s1().mean, np.float64)
S2 = np.asarray(jb.s2().mean, np.float64)


@pytest.mark.parametrize(
    ("delta", "ea", "tea"),
    [(0.005, 3.60e6, 4.35e5), (0.01, 1.80e6, 3.99e5), (0.02, 8.99e5, 3.62e5), (0.05, 3.60e5, 3.14e5)],
)
def test_pulls_of_theorem_1_on_s1(delta, ea, tea):
    assert float(theory.se_ea_pulls_bound(S1, delta, 2, 3)) == pytest.approx(ea, rel=5e-3)
    assert float(theory.se_tea_pulls_bound(S1, delta, 2, 7)) == pytest.approx(tea, rel=5e-3)


def test_pulls_bounds_are_where_twice_the_radius_meets_half_the_gap():
    """The theorems' t solve 2 * 2 c_t = gap with delta / K in the radius; checked for another p."""
    p, delta, moment = 1.6, 0.1, 2.5
    distance = np.concatenate([[S1[0] - np.sort(S1)[-2]], S1[0] - S1[1:]])
    ea = (4 / distance) ** (p / (p - 1)) * (2 * 10 * moment / delta) ** (1 / (p - 1))
    t = float(ea[3])
    assert 4 * float(theory.empirical_mean_radius(t, delta / 10, p, moment)) == pytest.approx(distance[3], rel=1e-5)
    assert float(theory.se_ea_pulls_bound(S1, delta, p, moment)) == pytest.approx(ea.sum(), rel=1e-5)
    tea = (20 * moment ** (1 / p) / distance) ** (p / (p - 1)) * np.log(20 / delta)
    assert 4 * float(theory.truncated_mean_radius(tea[3], delta / 10, p, moment)) == pytest.approx(
        distance[3], rel=1e-5
    )
    assert float(theory.se_tea_pulls_bound(S1, delta, p, moment)) == pytest.approx(tea.sum(), rel=1e-5)


def test_rates_above_order_two():
    assert float(theory.truncated_mean_radius(400.0, 0.1, 3.0, 8.0)) == pytest.approx(10 * (np.log(20) / 400) ** 0.5)
    wanted = 8 * 3 * 2 * (5 / (100**2 * 0.1)) ** 0.25  # p = 4: C_p^(1/p) = 8 * 3 * 2
    assert float(theory.empirical_mean_radius(100.0, 0.1, 4.0, 5.0)) == pytest.approx(wanted, rel=1e-5)


def test_radii_of_medians_of_means_and_of_catoni():
    assert float(theory.median_of_means_radius(800.0, 2 * np.exp(-4), 2, 3)) == pytest.approx((36 / 25) ** 0.5)
    assert float(theory.median_of_means_radius(800.0, 2 * np.exp(-4), 1.5, 3)) == pytest.approx((36 / 5) ** (2 / 3))
    assert float(theory.median_of_means_radius(31.0, 2 * np.exp(-4), 2, 3)) == np.inf
    # Whole batches: 16 of one reward each, where 8 ln(2 / .3) = 15.18, and so up to the 32nd reward.
    for s, size in ((15, 0), (16, 1), (31, 1), (32, 2), (47, 2), (48, 3)):
        expected = np.sqrt(12 / size) if size else np.inf
        assert float(theory.median_of_means_radius(s, 0.3, 2, 1)) == pytest.approx(expected)
        assert float(theory.median_of_means_radius(np.float32(s), 0.3, 2, 1)) == pytest.approx(expected)
    # p = 2: r = least / alpha with u = least + u^2 / 2, that is u = 1 - sqrt(1 - 2 least).
    level, s = 4.0, 100.0
    wanted = (1 - np.sqrt(1 - 4 * level / s)) / np.sqrt(2 * level / (s * 3))
    assert float(theory.catoni_radius(s, 2 * np.exp(-level), 2, 3)) == pytest.approx(wanted, rel=1e-5)
    assert float(theory.catoni_radius(4 * level - 1, 2 * np.exp(-level), 2, 3)) == np.inf
    for p, s in ((1.00001, 1e12), (1.001, 3.7e6), (1.01, 37_635.0), (2.0, 15.0)):  # steps were damped too much near 1
        level = np.log(2 / 0.05)
        least, alpha = level * p / ((p - 1) * s), (p * level / ((p - 1) * s * 2 ** (2 - p))) ** (1 / p)
        wanted = optimize.brentq(lambda u, p=p, least=least: u - least - u**p / p, least, 1.0, xtol=1e-15) / alpha
        assert float(theory.catoni_radius(s, 0.05, p, 1.0)) == pytest.approx(wanted, rel=1e-9)
    level = 4.0
    for p in (1.3, 1.7, 2.0):
        estimator = Catoni(*(jnp.float32(x) for x in (level, np.log(3), p)), jnp.zeros(2))
        assert float(theory.catoni_radius(900.0, 2 * np.exp(-level), p, 3)) == pytest.approx(
            float(estimator.radius(jnp.int32(900))), rel=1e-4
        )


def test_successive_rejects():
    ordered = np.sort(np.concatenate([[0.5], 2.0 - S1[1:]]))
    h = max((k + 1) ** 0.7 * ordered[k] ** -1.7 for k in range(10))
    assert float(theory.h2_p(S1, 1.7)) == pytest.approx(h, rel=1e-5)
    harmonic = sum(1 / i for i in range(1, 11))
    wanted = 2**2.7 * 3 * 90 * h * (harmonic / (1e9 - 10)) ** 0.7
    assert float(theory.sr_ea_error_bound(S1, 1e9, 1.7, 3)) == pytest.approx(wanted, rel=1e-4)
    assert float(theory.sr_tea_threshold(2, 7, 0.5)) == pytest.approx(84, rel=1e-5)  # the paper's b on S1
    rate = 1 / (4 * 4 * 3 * 7 * 4)
    wanted = 180 * np.exp(-(1e6 - 10) * rate * 0.25 / (harmonic * 10))
    assert float(theory.sr_tea_error_bound(S1, 1e6, 2, 7, 0.5)) == pytest.approx(wanted, rel=1e-4)
    assert float(theory.sr_tea_error_bound(S1, 100, 2, 7, 0.5)) == 1
    # Of a gap above the smallest the theorem says nothing, whatever the budget.
    assert float(theory.sr_tea_error_bound(S1, 1e12, 2, 7, 0.6)) == 1
    assert float(theory.sr_tea_error_bound(S1, np.inf, 2, 7, 0.6)) == 1
    assert float(theory.sr_tea_error_bound(S1, np.inf, 2, 7, 0.4)) == 0
    assert float(theory.sr_tea_error_bound([0.5, 0.5, 0.2], 1e12, 2, 7, 1e-3)) == 1
    assert float(theory.sr_ea_error_bound(S1, 10, 2, 3)) == 1


@pytest.mark.parametrize(
    "bound",
    [
        lambda p, moment: jnp.log(theory.se_ea_pulls_bound(S1, 0.05, p, moment)),
        lambda p, moment: jnp.log(theory.se_tea_pulls_bound(S2, 0.05, p, moment)),
        lambda p, moment: jnp.log(theory.sr_ea_error_bound(S1, 1e7, p, moment)),
        lambda p, moment: jnp.log(theory.sr_tea_error_bound(S1, 1e7, p, moment, 0.5)),
        lambda p, moment: theory.empirical_mean_radius(50.0, 0.1, p, moment),
        lambda p, moment: theory.truncated_mean_radius(50.0, 0.1, p, moment),
        lambda p, moment: theory.median_of_means_radius(50.0, 0.1, p, moment),
        lambda p, moment: theory.catoni_radius(50.0, 0.1, p, moment),
    ],
)
def test_derivatives_are_those_of_differences(bound):
    with jax.enable_x64(True):
        at = (jnp.float64(1.8), jnp.float64(3.0))
        found = jax.grad(bound, argnums=(0, 1))(*at)
        for i, step in enumerate((1e-6, 1e-6)):
            up, down = ([x + (sign * step if i == j else 0) for j, x in enumerate(at)] for sign in (1, -1))
            assert float(found[i]) == pytest.approx(float(bound(*up) - bound(*down)) / (2 * step), rel=1e-5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.se_ea_pulls_bound(S1, 0.1, 1.0, 3), r"\(1, 2\]"),
        (lambda: theory.se_tea_pulls_bound(S1, 0.1, 2.5, 3), r"\(1, 2\]"),
        (lambda: theory.se_tea_pulls_bound(S1, 0.0, 2, 3), "delta"),
        (lambda: theory.sr_ea_error_bound(S1, 100, 2, 0), "moment must be positive"),
        (lambda: theory.sr_tea_threshold(2, 7, 0), "gap must be positive"),
        (lambda: theory.truncated_mean_radius(10, 0.1, 0.9, 1), "above 1"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(jb.UsageError, match=message):
        call()


@pytest.mark.parametrize("s", [-5, 0.5, np.nan])
def test_less_than_one_reward_is_refused(s):
    for radius in (
        theory.empirical_mean_radius, theory.truncated_mean_radius, theory.median_of_means_radius, theory.catoni_radius,
    ):  # fmt: skip
        with pytest.raises(jb.UsageError, match="s must be at least 1"):
            radius(s, 0.05, 2.0, 1.0)
