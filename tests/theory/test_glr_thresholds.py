"""Thresholds of likelihood ratio tests: independent minimisations, what their proofs rest on, simulations, and bits."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar
from scipy.special import zeta

from jaxbandits import theory
from jaxbandits.statistics.glr_boundaries import THRESHOLDS
from jaxbandits.transform import map_runs


def g(lam):
    return 2 * lam - 2 * lam * np.log(4 * lam) + np.log(zeta(2 * lam)) - np.log(1 - lam) / 2


def c_g(x):
    return minimize_scalar(
        lambda lam: (g(lam) + x) / lam, bounds=(0.5, 1), method="bounded", options={"xatol": 1e-12}
    ).fun


def t_of(x):
    root = brentq(lambda y: y - np.log(y) - 1 - x, 1, 2 * x + 10) + np.log(2 * zeta(2))
    least = minimize_scalar(
        lambda z: z * (root - 2 * np.log(np.log(z))), bounds=(1, 1.5), method="bounded", options={"xatol": 1e-12}
    )
    return min(least.fun, 1.5 * (root - 2 * np.log(np.log(1.5))))


#: Of t, K, the number of pairs and delta.
FORMULAS = {
    "heuristic": lambda t, arms, pairs, delta: np.log((1 + np.log(t)) / delta),
    "gk16": lambda t, arms, pairs, delta: np.log(2 * t * pairs / delta),
    "kk21-gaussian": lambda t, arms, pairs, delta: 2 * c_g(np.log(pairs / delta) / 2) + 4 * np.log(4 + np.log(t / 2)),
    "kk21": lambda t, arms, pairs, delta: 2 * t_of(np.log(pairs / delta) / 2) + 6 * np.log(1 + np.log(t / 2)),
    "student-mixture": lambda t, arms, pairs, delta: brentq(
        lambda u: u - np.log1p(u) - np.log(pairs / delta), 1e-9, 1e3
    ),
    "lucb1": lambda t, arms, pairs, delta: np.log(5 * arms * t**4 / 4 / delta),
    "ugape": lambda t, arms, pairs, delta: np.log(4 * arms * t**3 / delta),
    "bounded": lambda t, arms, pairs, delta: np.log(pairs / delta) + 2 + 2 * np.log(1 + t / 2),
}


@pytest.mark.parametrize("name", THRESHOLDS)
@pytest.mark.parametrize(
    ("t", "arms", "m", "delta"), [(2, 2, 1, 0.5), (100, 2, 1, 0.1), (1e4, 10, 4, 0.05), (1e9, 1000, 1, 1e-10)]
)
def test_values_in_theory_and_in_runs(name, t, arms, m, delta):
    expected = FORMULAS[name](t, arms, m * (arms - m), delta)
    assert theory.glr_threshold(t, arms, delta, name, m) == pytest.approx(expected, rel=1e-8)
    events = THRESHOLDS[name].events(jnp.float32(arms), jnp.float32(m))
    constant = THRESHOLDS[name].constant(events, jnp.float32(np.log(delta)))
    found = constant + THRESHOLDS[name].growth(jnp.float32(t))
    assert found.dtype == jnp.float32
    assert float(found) == pytest.approx(expected, rel=3e-6)


def test_levels_of_small_and_large_errors():
    for x in (0.01, 0.3, 4.0, 60.0, 300.0):
        delta = np.exp(-2 * x)
        level = theory.glr_threshold(2, 2, delta, "kk21-gaussian") - 4 * np.log(4)
        assert level == pytest.approx(2 * c_g(x), rel=1e-9)
        assert theory.glr_threshold(2, 2, delta, "kk21") == pytest.approx(2 * t_of(x), rel=1e-7)


def test_what_the_proof_of_the_gaussian_level_rests_on():
    lam = np.linspace(0.5, 1, 1001)
    assert np.all(2 * lam - 2 * lam * np.log(lam) >= np.log(1 - lam + lam * np.exp(4)) / 2 - 1e-12)
    assert np.all(np.diff(g(lam[1:-1]), 2) > 0)  # the minimum is found by the sign of a derivative


def test_proved_thresholds_exceed_the_heuristic_one_and_grow():
    t = np.array([10.0, 1e3, 1e6])
    heuristic = theory.glr_threshold(t, 10, 0.05, "heuristic")
    for name in ("gk16", "kk21-gaussian", "kk21", "bounded"):
        values = theory.glr_threshold(t, 10, 0.05, name)
        assert np.all(values > heuristic)
        assert np.all(np.diff(values) > 0)
    # For long runs the mixture bounds are the smaller ones.
    assert theory.glr_threshold(1e9, 2, 1e-3, "kk21-gaussian") < theory.glr_threshold(1e9, 2, 1e-3, "gk16")


@pytest.mark.parametrize(
    ("name", "rewards"),
    [("gk16", "bernoulli"), ("kk21", "bernoulli"), ("kk21-gaussian", "gaussian"), ("bounded", "bernoulli")],
)
def test_two_equal_arms_are_hardly_ever_told_apart(name, rewards):
    # The first arm is declared better with probability at most delta = .2: in more than 490 of 2000 runs with
    # probability below 1e-6.
    rng = np.random.default_rng(5)
    draws = rng.random((1000, 2000, 2)) < 0.5 if rewards == "bernoulli" else rng.normal(size=(1000, 2000, 2))
    pulls = np.arange(1, 1001)[:, None]
    mean = np.cumsum(draws, axis=0) / pulls[..., None]
    middle = mean.mean(axis=2)
    if rewards == "bernoulli":
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = [
                np.nan_to_num(x * np.log(x / y))
                for m in (0, 1)
                for x, y in ((mean[..., m], middle), (1 - mean[..., m], 1 - middle))
            ]
        statistic = pulls * sum(parts)
    else:
        statistic = pulls * (mean[..., 0] - mean[..., 1]) ** 2 / 4
    threshold = theory.glr_threshold(2 * pulls, 2, 0.2, name)
    wrong = ((statistic > threshold) & (mean[..., 0] > mean[..., 1])).any(axis=0)
    assert wrong.sum() <= 490


@pytest.mark.bits
@pytest.mark.parametrize("name", THRESHOLDS)
def test_a_run_has_the_same_bits_alone_and_in_batches(name):
    rng = np.random.default_rng(1)
    events, log_delta = (
        jnp.asarray(rng.integers(1, 50, 70), jnp.float32),
        jnp.asarray(np.log(rng.uniform(0.001, 0.5, 70)), jnp.float32),
    )
    time = jnp.asarray(rng.integers(2, 10**6, 70), jnp.int32)

    @jax.jit
    @map_runs
    def found(events, log_delta, time):
        return THRESHOLDS[name].constant(events, log_delta) + THRESHOLDS[name].growth(time.astype(jnp.float32))

    together = found(events, log_delta, time)
    for run in range(0, 70, 7):
        some = slice(run, run + 1)
        np.testing.assert_array_equal(found(events[some], log_delta[some], time[some]), together[some])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.glr_threshold(1, 2, 0.1), r"^t must be finite and at least 2, got 1$"),
        (lambda: theory.glr_threshold(10, 1, 0.1), r"^the number of arms must be .* got 1$"),
        (lambda: theory.glr_threshold(10, 2, 1.0), r"^delta must lie strictly between 0 and 1, got 1.0$"),
        (lambda: theory.glr_threshold(10, 3, 0.1, m=1.5), r"^m must be a whole number, at least 1, got 1.5$"),
        (lambda: theory.glr_threshold(10, 3, 0.1, m=3), r"^the number of arms left out must be at least 1, got 0$"),
        (lambda: theory.glr_threshold(10, 2, 0.1, "kk22"), r"^unknown threshold 'kk22'; did you mean 'kk21'\?$"),
    ],
)
def test_bad_input_is_refused_in_one_line(call, message):
    with pytest.raises(ValueError, match=message):
        call()
