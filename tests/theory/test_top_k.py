"""Hardness and bounds of top-K: the table of reference values, brute force, derivatives, and a run of AdaptiveTopK."""

import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits import theory

MEANS = np.array([0.31, 0.92, 0.5, 0.83, 0.12, 0.61, 0.66])
# One program each in place of one for every operation.
EXCHANGEABLE_ARMS, PSI_T, PSI_T_EPSILON = map(jax.jit, (theory.exchangeable_arms, theory.psi_t, theory.psi_t_epsilon))
H_T_EPSILON, H_0_EPSILON = map(jax.jit, (theory.h_t_epsilon, theory.h_0_epsilon))

MAKE = {
    "two-group": lambda k: jb.two_group(1000, k),
    "synthetic-.5": lambda k: jb.synthetic(0.5, 1000, k),
    "uniform": lambda k: jb.uniform_means(1000),
    "synthetic-6": lambda k: jb.synthetic(6, 1000, k),
}
# n = 1000, epsilon = .01: t, Psi_t to four places, H^(t,epsilon), H^(0,epsilon) to four digits.
TABLE = {
    ("two-group", 100): (2, 0.4, 6250, 6250),
    ("two-group", 250): (6, 0.4, 6250, 6250),
    ("two-group", 500): (12, 0.4, 6250, 6250),
    ("synthetic-.5", 100): (10, 0.0616, 1.948e4, 2.280e4),
    ("synthetic-.5", 250): (19, 0.0963, 1.583e4, 2.180e4),
    ("synthetic-.5", 500): (33, 0.1304, 1.379e4, 2.386e4),
    ("uniform", 100): (31, 0.0320, 1.130e5, 3.793e5),
    ("uniform", 250): (49, 0.0500, 7.428e4, 3.850e5),
    ("uniform", 500): (70, 0.0710, 5.214e4, 3.863e5),
    ("synthetic-6", 100): (71, 0.0, 5.380e6, 5.380e6),
    ("synthetic-6", 250): (157, 0.0001, 5.579e6, 5.579e6),
    ("synthetic-6", 500): (285, 0.0171, 2.114e6, 5.683e6),
}


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize(("dataset", "k"), TABLE)
def test_reference_values_of_chens_data_sets(dataset, k, wide):
    """In float32 as in float64, from the float32 means that a problem has."""
    t, psi, h_t, h_0 = TABLE[dataset, k]
    with jax.enable_x64(wide):
        arguments = (MAKE[dataset](k).mean, 0.01, k)
        assert int(EXCHANGEABLE_ARMS(*arguments)) == t
        assert float(PSI_T(*arguments)) == pytest.approx(psi, abs=5e-5)
        assert float(f"{float(H_T_EPSILON(*arguments)):.4g}") == h_t
        assert float(f"{float(H_0_EPSILON(*arguments)):.4g}") == h_0
        assert float(PSI_T_EPSILON(*arguments)) == pytest.approx(max(psi, 0.01), abs=5e-5)


def brute_force(means, epsilon, k):
    """Equations (2) to (6) as printed, arms from 1; t limited to the arms there are."""
    theta = np.concatenate([[np.nan], np.sort(means)[::-1]])
    n = len(means)
    delta = {i: theta[i] - theta[k + 1] if i <= k else theta[k] - theta[i] for i in range(1, n + 1)}
    t = max(
        t
        for t in range(k)
        if k + t + 1 <= n and delta[k - t] * t <= k * epsilon + 1e-12 and delta[k + t + 1] * t <= k * epsilon + 1e-12
    )
    psi = min(delta[k - t], delta[k + t + 1])
    h_t, h_0 = (sum(max(delta[i], resolution) ** -2 for i in delta) for resolution in (max(epsilon, psi), epsilon))
    return t, psi, h_t, h_0


@pytest.mark.parametrize("epsilon", [1e-3, 0.02, 0.1, 0.35, 2.0])
@pytest.mark.parametrize("k", [1, 2, 5, 9, 16])
def test_brute_force(epsilon, k, x64):
    rng = np.random.default_rng(k)
    for means in (rng.uniform(size=17), rng.integers(0, 5, size=17) / 10, np.full(17, 0.4)):
        t, psi, h_t, h_0 = brute_force(means, epsilon, k)
        assert int(EXCHANGEABLE_ARMS(means, epsilon, k)) == t
        assert float(PSI_T(means, epsilon, k)) == pytest.approx(psi, abs=1e-12)
        assert float(H_T_EPSILON(means, epsilon, k)) == pytest.approx(h_t, rel=1e-9)
        assert float(H_0_EPSILON(means, epsilon, k)) == pytest.approx(h_0, rel=1e-9)


def test_by_hand():
    # Best three .92 .83 .66, next .61 .5 .31 .12. t = 1 costs .83 - .61 = .22 and .66 - .5 = .16, t = 2 costs .62, .7.
    assert [int(theory.exchangeable_arms(MEANS, epsilon, 3)) for epsilon in (0.07, 0.075, 0.23, 0.24)] == [0, 1, 1, 2]
    assert float(theory.psi_t(MEANS, 0.075, 3)) == pytest.approx(0.16, rel=1e-5)
    assert float(theory.psi_t(MEANS, 0.07, 3)) == pytest.approx(0.05, rel=1e-5)
    assert float(theory.psi_t_epsilon(MEANS, 0.07, 3)) == pytest.approx(0.07, rel=1e-5)
    expected = sum(max(gap, 0.16) ** -2 for gap in (0.31, 0.22, 0.05, 0.05, 0.16, 0.35, 0.54))
    assert float(theory.h_t_epsilon(MEANS, 0.075, 3)) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(("high", "low", "k", "epsilon", "t"), [(0.7, 0.3, 5, 0.16, 2), (0.9, 0.1, 40, 0.1, 5)])
def test_equality_counts_in_spite_of_rounding(high, low, k, epsilon, t):
    """(high - low) t = K epsilon exactly, which neither float32 nor float64 has; a little less is too little."""
    for wide in (False, True):
        with jax.enable_x64(wide):
            means = jb.two_group(200, k, high, low).mean if not wide else np.where(np.arange(200) < k, high, low)
            assert int(theory.exchangeable_arms(means, epsilon, k)) == t
            assert int(theory.exchangeable_arms(means, epsilon * (1 - 1e-5), k)) == t - 1


def test_hardness_never_grows_with_t_and_lies_below_its_bound():
    means = np.random.default_rng(3).uniform(size=(60, 25))
    for epsilon in (1e-3, 0.02, 0.2):
        h_t, h_0 = theory.h_t_epsilon(means, epsilon, 20), theory.h_0_epsilon(means, epsilon, 20)
        assert (h_t <= h_0 * (1 + 1e-6)).all()
        assert (h_0 <= 60 / epsilon**2 * (1 + 1e-5)).all()


def test_the_order_of_the_arms_means_nothing():
    shuffled = np.random.default_rng(0).permutation(np.asarray(jb.synthetic(6, 1000, 250).mean))
    assert int(theory.exchangeable_arms(shuffled, 0.01, 250)) == 157
    assert float(theory.h_t_epsilon(shuffled, 0.01, 250)) == pytest.approx(5.579e6, rel=1e-4)


FUNCTIONS = [
    theory.exchangeable_arms,
    theory.psi_t,
    theory.psi_t_epsilon,
    theory.h_t_epsilon,
    theory.h_0_epsilon,
    lambda means, epsilon, k, mask=None: theory.adaptive_top_k_pulls_bound(means, epsilon, 0.1, k, mask),
    lambda means, epsilon, k, mask=None: theory.adaptive_top_k_pulls_rate(means, epsilon, 0.1, k, mask),
    lambda means, epsilon, k, mask=None: theory.improved_top_k_pulls_rate(means, epsilon, 0.1, k, mask),
    lambda means, epsilon, k, mask=None: theory.clucb_pac_pulls_rate(means, epsilon, 0.1, k, mask),
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_padding_batches_and_traced_k(function):
    rng = np.random.default_rng(4)
    means, k, epsilon = rng.uniform(size=(9, 12)), rng.integers(1, 9, size=12), rng.uniform(0.01, 0.3, size=12)
    one = jax.jit(function)
    alone = [float(one(means[:, r], epsilon[r], k[r])) for r in range(12)]
    np.testing.assert_allclose(function(means, epsilon, k), alone, rtol=1e-5)
    np.testing.assert_allclose(jax.jit(jax.vmap(function, in_axes=(1, 0, 0)))(means, epsilon, k), alone, rtol=1e-5)
    # Padded arms have any mean, and stand anywhere.
    mask = np.arange(13) % 3 > 0
    mask[-1] = True
    padded = np.full((13, 12), 0.77)
    padded[mask] = means
    np.testing.assert_allclose(one(padded, epsilon, k, np.repeat(mask[:, None], 12, 1)), alone, rtol=1e-5)


@pytest.mark.parametrize("epsilon", [0.03, 0.075, 0.2])
@pytest.mark.parametrize("function", [*FUNCTIONS[1:5], *FUNCTIONS[6:]])
def test_derivatives_are_those_of_differences(function, epsilon, x64, central_differences):
    found = jax.jit(jax.grad(lambda *at: function(*at, 3), argnums=(0, 1)))(jnp.asarray(MEANS), epsilon)
    by_mean = central_differences(lambda x: function(x, epsilon, 3), MEANS)
    by_epsilon = central_differences(lambda x: function(MEANS, x, 3), np.array(epsilon))
    scale = np.abs(by_mean).max()
    np.testing.assert_allclose(found[0], by_mean, atol=1e-6 * max(scale, 1))
    np.testing.assert_allclose(found[1], by_epsilon, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "function",
    [
        lambda delta: theory.adaptive_top_k_pulls_bound(MEANS, 0.1, delta, 3),
        lambda delta: theory.adaptive_top_k_pulls_rate(MEANS, 0.1, delta, 3),
        lambda delta: theory.improved_top_k_pulls_rate(MEANS, 0.1, delta, 3),
        lambda delta: theory.clucb_pac_pulls_rate(MEANS, 0.1, delta, 3),
        lambda delta: theory.opt_mai_quartile_loss(100, 1e4, delta, 10),
        lambda delta: theory.opt_mai_accept_reject_loss(30, 1e4, delta, 10),
        lambda delta: theory.opt_mai_regret_rate(100, 1e5, delta, 10),
        lambda delta: theory.opt_mai_pulls_rate(100, 0.1, delta, 10),
    ],
)
def test_derivatives_in_delta(function, x64, central_differences):
    found = jax.jit(jax.grad(function))(0.07)
    assert float(found) < 0
    np.testing.assert_allclose(found, central_differences(function, np.array(0.07)), rtol=1e-6)


def test_padded_arms_leave_gradients_finite():
    mask = jnp.arange(9) < 7
    means = jnp.where(mask, jnp.pad(jnp.asarray(MEANS), (0, 2)), 0.85)
    padded = jax.jit(jax.grad(lambda x: theory.h_t_epsilon(x, 0.075, 3, mask)))(means)
    plain = jax.jit(jax.grad(lambda x: theory.h_t_epsilon(x, 0.075, 3)))(means[:7])
    np.testing.assert_allclose(padded, np.pad(plain, (0, 2)), rtol=1e-5)


def adaptive_top_k(theta, epsilon, delta, k, rng):
    """Algorithm 1 of Chen et al. (2017), a plain loop; arms chosen and pulls."""
    n, accepted, left, pulls, r = len(theta), [], np.arange(len(theta)), 0, 0
    while 2 * 2.0**-r * (k - len(accepted)) > epsilon * k:
        r += 1
        m = int(np.ceil(4**r * np.log(2 * n * r * r / delta)))
        pulls += m * len(left)
        mean = rng.binomial(m, theta[left]) / m
        wanted = k - len(accepted)
        ordered = np.concatenate([np.sort(mean)[::-1], [-np.inf]])
        take = mean - ordered[wanted] > 2 * 2.0**-r
        drop = ordered[wanted - 1] - mean > 2 * 2.0**-r
        accepted += list(left[take])
        left, mean = left[~take & ~drop], mean[~take & ~drop]
    return accepted + list(left[np.argsort(-mean)[: k - len(accepted)]]), pulls


@pytest.mark.parametrize(
    ("theta", "epsilon", "k"),
    [
        (np.asarray(jb.two_group(200, 20).mean, float), 0.02, 20),
        (np.asarray(jb.uniform_means(200).mean, float), 0.02, 60),
        (np.asarray(jb.synthetic(6, 200, 40).mean, float), 0.1, 40),
        (np.asarray(jb.synthetic(0.5, 200, 150).mean, float), 0.02, 150),
        (np.array([0.9, 0.8, 0.3, 0.1]), 0.05, 1),
    ],
)
def test_adaptive_top_k_stays_within_its_bound(theta, epsilon, k):
    """delta = 1e-8: a right program goes over the bound, or misses epsilon, with probability below 1e-6 in all."""
    bound = float(theory.adaptive_top_k_pulls_bound(theta, epsilon, 1e-8, k))
    for seed in range(4):
        chosen, pulls = adaptive_top_k(theta, epsilon, 1e-8, k, np.random.default_rng(seed))
        assert pulls <= bound
        assert pulls >= bound / 100  # and the bound says something
        assert len(chosen) == k
        assert np.sort(theta)[-k:].mean() - theta[chosen].mean() <= epsilon


def test_the_bound_of_adaptive_top_k_counts_rounds():
    # Gap .4: 8 2^-r > .4 for r <= 4; epsilon = 1: 4 2^-r > 1 for r = 1 only.
    means = jb.two_group(1000, 100).mean
    costs = [4.0**r * np.log(2 * 1000 * r * r / 0.01) + 1 for r in (1, 2, 3, 4)]
    assert float(theory.adaptive_top_k_pulls_bound(means, 0.01, 0.01, 100)) == pytest.approx(1e3 * sum(costs), rel=1e-5)
    assert float(theory.adaptive_top_k_pulls_bound(means, 1.0, 0.01, 100)) == pytest.approx(1e3 * costs[0], rel=1e-5)
    assert np.isinf(theory.adaptive_top_k_pulls_bound(means, 1e-12, 0.01, 100))


def test_rates_by_hand():
    h = float(theory.h_t_epsilon(MEANS, 0.02, 3))
    known = float(theory.adaptive_top_k_pulls_rate(MEANS, 0.02, 0.1, 3))
    assert known == pytest.approx((np.log(np.log(50)) + np.log(7) + np.log(10)) * h, rel=1e-5)
    known = float(theory.improved_top_k_pulls_rate(MEANS, 0.02, 0.1, 3))
    assert known == pytest.approx((np.log(50) + np.log(10)) * h, rel=1e-5)
    h_0 = float(theory.h_0_epsilon(MEANS, 0.02, 3))
    known = float(theory.clucb_pac_pulls_rate(MEANS, 0.02, 0.1, 3))
    assert known == pytest.approx((np.log(h_0) + np.log(10)) * h_0, rel=1e-5)
    assert float(theory.top_k_lower_bound_rate(200, 0.05)) == pytest.approx(200 * np.log(20), rel=1e-5)
    # Regret of 1 and above is no demand: the terms in epsilon vanish.
    assert float(theory.top_k_lower_bound_rate(200, 1.5)) == 0
    loose = theory.h_t_epsilon(MEANS, 1.5, 3)
    assert float(theory.improved_top_k_pulls_rate(MEANS, 1.5, 0.1, 3) / loose) == pytest.approx(np.log(10), rel=1e-5)
    assert float(theory.adaptive_top_k_pulls_rate(MEANS, 1.5, 0.1, 3) / loose) == pytest.approx(np.log(70), rel=1e-5)


def test_opt_mai_by_hand():
    assert float(theory.opt_mai_quartile_loss(1000, 2e5, 0.02, 50)) == pytest.approx(
        np.sqrt(0.005 * (10 + 4 * np.log(100) / 50)), rel=1e-5
    )
    assert float(theory.opt_mai_accept_reject_loss(150, 3e4, 0.02, 50)) == pytest.approx(
        np.sqrt(0.005 * (4 + np.log(100) / 50)), rel=1e-5
    )
    rate = float(theory.opt_mai_regret_rate(1000, 2e5, 0.01, 50))
    assert rate == pytest.approx(np.sqrt(0.005 * (1 + np.log(100) / 50)), rel=1e-5)
    # Corollary 4.4 is Theorem 4.3 solved for the budget.
    assert float(theory.opt_mai_pulls_rate(1000, rate, 0.01, 50)) == pytest.approx(2e5, rel=1e-5)


@pytest.mark.parametrize("c", [1.0, 2.0, 5.0])
def test_rates_of_lemma_1(c):
    """K = n/4: ratios to the rates stay between constants that depend on c alone while epsilon falls by 1000."""
    means, epsilons = jb.c_spread(c, 10_000).mean, (0.1, 0.01, 1e-3, 1e-4)
    above = [float(theory.h_t_epsilon(means, e, 2500) / theory.c_spread_h_t_rate(10_000, e)) for e in epsilons]
    below = [float(theory.h_0_epsilon(means, e, 2500) / theory.c_spread_h_0_rate(10_000, e)) for e in epsilons[:3]]
    # Psi_t >= sqrt(gamma epsilon / c) / c and, for c-spread arms, H(r) <= 4 c / r at any resolution r.
    assert max(above) <= 4 * c * c * np.sqrt(c / 0.25)
    assert min(below) >= 1 / c
    assert max(above) / min(above) < 4


def test_spread_constant():
    assert float(theory.spread_constant(jb.uniform_means(50).mean)) == pytest.approx(1, abs=1e-4)
    for c in (1.5, 4.0):
        assert float(theory.spread_constant(jb.c_spread(c, 200).mean)) == pytest.approx(c, rel=1e-3)
    assert np.isinf(theory.spread_constant(np.array([0.5, 0.5, 0.1])))
    with jax.enable_x64(True):
        shuffled = np.array([0.3, 0.9, 0.5])  # steps .2 and .4, three arms: .6 and 1.2
        assert float(theory.spread_constant(shuffled)) == pytest.approx(1 / 0.6)


def test_ten_thousand_arms_are_quick():
    means = jb.uniform_means(10_000).mean
    hardness = jax.jit(theory.h_t_epsilon)
    hardness(means, 0.01, 1000).block_until_ready()
    began = time.perf_counter()
    for _ in range(5):
        hardness(means, 0.02, 2000).block_until_ready()
    assert time.perf_counter() - began < 2.5  # 10 ms each on an idle core


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: theory.h_t_epsilon(MEANS, 0.1, 7),
            r"k must be a whole number from 1 to 6, .* got 7",
        ),
        (
            lambda: theory.h_t_epsilon(MEANS, 0.1, 0),
            r"k must be a whole number from 1 to 6, .* got 0",
        ),
        (lambda: theory.h_0_epsilon(MEANS, 0.1, 1.5), r"k must be .* got 1.5"),
        (lambda: theory.exchangeable_arms(MEANS, 0.1, 4, np.arange(7) < 4), r"from 1 to 3, .* got 4"),
        (lambda: theory.exchangeable_arms(MEANS, 0, 3), "epsilon must be positive and finite, got 0"),
        (lambda: theory.h_0_epsilon(MEANS, -0.1, 3), "epsilon must be positive and finite, got -0.1"),
        (lambda: theory.psi_t(MEANS, float("nan"), 3), "epsilon must be positive and finite, got nan"),
        (lambda: theory.psi_t_epsilon([0.5, np.inf], 0.1, 1), "means must be finite"),
        (lambda: theory.adaptive_top_k_pulls_bound(MEANS, 0.1, 1.0, 3), r"delta must lie strictly between 0 and 1"),
        (lambda: theory.adaptive_top_k_pulls_rate(MEANS, 0.1, 0.0, 3), r"delta must lie strictly between 0 and 1"),
        (lambda: theory.improved_top_k_pulls_rate(MEANS, 0.0, 0.1, 3), "epsilon must be positive"),
        (lambda: theory.clucb_pac_pulls_rate(MEANS, 0.1, 2, 3), r"delta must lie strictly between 0 and 1"),
        (lambda: theory.opt_mai_regret_rate(10, 0, 0.1, 3), "must be finite and at least 1"),
        (lambda: theory.opt_mai_pulls_rate(10, 0, 0.1, 3), "epsilon must be positive"),
        (lambda: theory.opt_mai_quartile_loss(10, 100, 0.1, 0), "k must be positive"),
        (lambda: theory.top_k_lower_bound_rate(0, 0.1), "n must be positive"),
        (lambda: theory.c_spread_h_t_rate(10, 0), "epsilon must be positive"),
        (lambda: theory.spread_constant([0.1, np.nan]), "means must be finite"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(jb.UsageError, match=message) as error:
        call()
    assert "\n" not in str(error.value)
