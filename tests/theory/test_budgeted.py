"""Infinitely many arms: exact numbers, the steps of the proofs worked out apart, quadrature, derivatives, bad input."""

import math
from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import integrate

import jaxbandits as jb
from jaxbandits import theory

E = math.e
BETAS = np.array([0.25, 0.5, 0.9, 1.0, 1.1, 2.0, 3.0, 8.0])


@pytest.mark.parametrize(
    ("beta", "root", "power"), [(0.2, 10, 1), (0.4, 5, 1), (0.5, 4, 1), (2 / 3, 3, 1), (1, 2, 1), (2, 3, 2), (3, 4, 3)]
)
def test_numbers_of_arms_are_exact_at_perfect_powers(beta, root, power):
    """B = k^root makes k^power arms, and one more from the next whole B on."""
    k = np.arange(2, min(2000, 2 ** (53 / root) - 1), dtype=object)
    budget = k**root
    np.testing.assert_array_equal(theory.reservoir_arms(budget.astype(float), beta), k**power)
    some = budget < 10**11  # beyond, one unit of cost is less than the 1e-12 of the power that rounding is allowed
    above = theory.reservoir_arms((budget + 1)[some].astype(float), beta)
    np.testing.assert_array_equal(above, (k**power)[some] + 1)


def test_numbers_of_arms_by_hand():
    assert [theory.reservoir_arms(1e4, beta) for beta in (0.5, 0.8, 1, 1.0, 2, 9)] == [10, 40, 100, 100, 465, 3982]
    assert [theory.reservoir_arms(budget, 0.5) for budget in (0.3, 1, 16, 17)] == [2, 2, 2, 3]
    assert type(theory.reservoir_arms(np.float32(1e4), np.float32(0.5))) is int
    found = theory.reservoir_arms([[100.0], [1e4]], np.array([0.5, 1.0, 2.0]))
    assert found.dtype == np.int64
    np.testing.assert_array_equal(found, [[4, 10, 22], [10, 100, 465]])


def test_exponents(x64):
    exact = [Fraction(beta) for beta in BETAS]
    arms = [float(beta / 2 if beta < 1 else beta / (1 + beta)) for beta in exact]
    least = [float(beta / (1 + beta)) for beta in exact]
    np.testing.assert_allclose(theory.reservoir_arms_exponent(BETAS), arms, rtol=1e-15)
    np.testing.assert_allclose(theory.lower_bound_exponent(BETAS), least, rtol=1e-15)
    np.testing.assert_allclose(theory.regret_exponent(BETAS), np.maximum(least, 0.5), rtol=1e-15)


def test_the_exponent_of_an_algorithm_keeps_its_type(x64):
    assert theory.reservoir_arms_exponent(jnp.float32(0.7)).dtype == jnp.float32
    assert theory.reservoir_arms_exponent(3).dtype == jnp.float64


def test_rates_by_hand():
    b, k = E**4, E**2
    for beta, rcb_i, air, least, for_arms in (
        (0.5, 4 * E**2, 16 * E**2, E ** (4 / 3), 4 * E**3 + 2),
        (1.0, 16 * E**2, 16 * E**2, E**2, 18 * E**2),
        (3.0, 4 * E**3, 16 * E**3, E**3, 4 * E**2 + 2 * E ** (10 / 3)),
    ):
        assert float(theory.rcb_i_regret_rate(b, beta)) == pytest.approx(rcb_i, rel=1e-5)
        assert float(theory.rcb_air_regret_rate(b, beta)) == pytest.approx(air, rel=1e-5)
        assert float(theory.budgeted_regret_lower_bound_rate(b, beta)) == pytest.approx(least, rel=1e-5)
        assert float(theory.rcb_i_regret_rate_for_arms(b, beta, k)) == pytest.approx(for_arms, rel=1e-5)
    # Logarithms below 1 count as 1.
    assert float(theory.rcb_i_regret_rate(0.25, 1)) == pytest.approx(0.5)
    assert float(theory.rcb_i_regret_rate_for_arms(2.0, 3, 1)) == pytest.approx(3.0)


def test_rates_with_unit_costs_by_hand():
    n = E**4
    for beta, best, wanted in ((0.5, 0.9, 16 * E**2), (0.5, 1.0, 16 * E ** (4 / 3)), (3, 0.9, 16 * E**3)):
        assert float(theory.ucb_air_regret_rate(n, beta, best)) == pytest.approx(wanted, rel=1e-5)
    assert float(theory.ucb_air_regret_rate(n, 3, 1.0)) == float(theory.ucb_air_regret_rate(n, 3, 0.9))
    for beta, wanted in ((0.5, E**-2), (1.9, E**-2), (2, 4 * E**-2), (4, 4**0.25 / E)):
        assert float(theory.siri_simple_regret_rate(n, beta)) == pytest.approx(wanted, rel=1e-5)


def test_order_of_the_rates(x64):
    """Lower bound, known budget, unknown budget; K(B) arms are as good as Theorem 1 says; all grow with the budget."""
    budget = np.logspace(-2, 12, 200)[:, None]
    least, known, unknown = (
        np.asarray(jax.jit(rate)(budget, BETAS))
        for rate in (theory.budgeted_regret_lower_bound_rate, theory.rcb_i_regret_rate, theory.rcb_air_regret_rate)
    )
    assert (least <= known * (1 + 1e-12))[budget[:, 0] >= 1].all()  # below, the smaller power is the larger number
    assert (known <= unknown * (1 + 1e-12)).all()
    for rate in (least, known, unknown):
        assert (np.diff(rate, axis=0) > 0).all()
    arms = np.maximum(budget, 1) ** np.where(BETAS < 1, BETAS / 2, BETAS / (1 + BETAS))
    sums = np.asarray(jax.jit(theory.rcb_i_regret_rate_for_arms)(budget, BETAS, arms))
    assert (sums >= known * (1 - 1e-12))[budget[:, 0] >= 1].all()
    assert (sums <= 2 * known * (1 + 1e-12))[budget[:, 0] >= 1].all()


def test_theorem_3_as_printed_contradicts_theorem_2():
    """Above beta = 1 the printed rate, which ours is below 1, falls below the lower bound."""
    printed = float(theory.rcb_air_regret_rate(1e12, 0.5))
    assert printed < float(theory.budgeted_regret_lower_bound_rate(1e12, 3.0))
    assert printed == pytest.approx(math.log(1e12) ** 2 * 1e6, rel=1e-5)


def test_jumps(x64):
    """At beta = 1 Theorem 1 has another log B, on both sides the same limit; SiRI jumps by powers of log n at 2."""
    log, near = math.log(1e5), np.array([-1e-9, 0, 1e-9])
    below, at, above = np.asarray(jax.jit(theory.rcb_i_regret_rate)(1e5, 1 + near))
    assert (at / below, at / above) == pytest.approx((log, log), rel=1e-6)
    below, at, above = np.asarray(jax.jit(theory.siri_simple_regret_rate)(1e5, 2 + near))
    assert (at / below, at / above) == pytest.approx((log, log**0.5), rel=1e-6)
    for smooth in (theory.rcb_air_regret_rate, theory.budgeted_regret_lower_bound_rate, theory.expected_shortfall):
        values = np.asarray(jax.jit(smooth)(1e5, 1 + near))
        np.testing.assert_allclose(values, values[1], rtol=1e-6)


def equation_20(budget, beta, arms):
    """Both expectations of equation (20), constants 1, for Delta = U^(1/beta).

    The first is an integral of powers on either side of the bend u0; in the second N is binomial, K - 1 trials of
    probability (Delta / 2)^beta = U / 2^beta.
    """
    tau, s = budget, 1 / beta
    log = math.log(tau)
    u0 = (log / tau) ** (beta / 2)
    above = -math.log(u0) if beta == 1 else (1 - u0 ** (1 - s)) / (1 - s)
    first = tau * u0 ** (1 + s) / (1 + s) + log * above
    # In v = K u; beyond v = 2^(beta+1) 60 nothing is left.
    top = min(arms, 2 ** (beta + 1) * 60)
    inner = integrate.quad(lambda v: v**s * math.exp((arms - 1) * math.log1p(-v / arms / 2 ** (beta + 1))), 0, top)[0]
    return arms * first, tau * inner / arms**s


@pytest.mark.parametrize("beta", [0.3, 0.5, 1.0, 2.0, 4.0])
def test_rates_for_any_number_of_arms_bound_equation_20(beta, x64):
    """Ratios to what is printed do not grow; without the surplus logarithms they tend to constants."""
    ratios = []
    for exponent in (12, 18, 24):
        budget = 10.0**exponent
        arms = budget ** float(theory.reservoir_arms_exponent(beta))
        first, second = equation_20(budget, beta, arms)
        rate = float(theory.rcb_i_regret_rate_for_arms(budget, beta, arms))
        missed = budget * arms ** (-1 / beta)
        told = rate - missed * math.log(arms)
        surplus = math.log(budget) ** (max(1 - beta, 0) / 2)
        ratios.append(((first + second) / rate, first / told * surplus, second / missed))
    printed, exploring, missing = np.array(ratios).T
    assert printed[2] <= printed[1] * 1.02  # at beta = 1 it still rises to its limit, 1/2
    assert exploring[2] == pytest.approx(exploring[1], rel=0.1)
    limit = math.gamma(1 + 1 / beta) * 2 ** ((beta + 1) * (1 + 1 / beta))
    assert missing[2] == pytest.approx(limit, rel=0.01)


def test_the_window_of_exploration_sequences():
    t = np.arange(1, 200_000)
    inside = 2 * np.log(4 * (np.log2(t) + 1)) <= np.log(t)
    start = theory.EXPLORATION_WINDOW_START
    np.testing.assert_array_equal(inside, t >= start)
    # The derivative of 16 (log2 t + 1)^2, which falls from there on, is below that of t.
    assert 32 * (math.log2(start) + 1) / (start * math.log(2)) < 0.25


@pytest.mark.parametrize("wide", [False, True])
def test_pseudo_stopping_times_are_exact(wide):
    """Against fractions, where binary numbers may put the quotient just below a whole one."""
    with jax.enable_x64(wide):
        budget, lam = np.meshgrid(np.arange(1, 400), np.arange(1, 100))
        exact = 2 * budget // lam
        np.testing.assert_array_equal(theory.pseudo_stopping_time(budget / 10, lam / 100), 20 * budget // lam)
        np.testing.assert_array_equal(theory.pseudo_stopping_time(budget / 100, lam / 100), exact)
        assert float(theory.pseudo_stopping_time(0.3, 0.1)) == 6
        assert float(theory.pseudo_stopping_time(1e4, 0.2)) == 1e5


@pytest.mark.parametrize("lam", [0.05, 0.2, 0.7])
def test_accuracy_keeps_a_ratio_within_half_its_gap(lam, x64):
    """Equation (11), for every arm there can be; at one and a half times eta it fails for some."""
    eta = float(theory.rcb_accuracy(lam))
    cost, reward, best = np.meshgrid(np.linspace(lam, 1, 60), np.linspace(0, 1, 61), np.linspace(1e-3, 1 / lam, 62))
    ratio = reward / cost
    possible = ratio < best
    gap = (best - ratio)[possible]
    cost, reward, ratio = cost[possible], reward[possible], ratio[possible]
    assert ((reward + eta * gap) / (cost - eta * gap) <= ratio + gap / 2 + 1e-12).all()
    assert ((reward + 1.5 * eta * gap) / (cost - 1.5 * eta * gap) > ratio + gap / 2).any()


def test_enough_pulls_are_the_fewest_with_a_small_radius(x64):
    """sqrt(log tau / (2 L)) <= eta Delta / 2, with one pull less not."""
    for budget, lam, gap in ((1e4, 0.2, 0.1), (50.0, 0.9, 1.0), (1e6, 0.5, 0.01)):
        pulls = float(theory.rcb_enough_pulls(budget, lam, gap))
        radius = lam**2 / (3 + 2 * lam) * gap / 2
        log = math.log(math.floor(2 * budget / lam * (1 + 1e-12)))
        assert pulls == math.ceil(pulls)
        assert math.sqrt(log / (2 * pulls)) <= radius < math.sqrt(log / (2 * (pulls - 1)))
    assert float(theory.rcb_enough_pulls(0.1, 0.9, 0.5)) == 0  # tau = 0: no round, no pull


def test_what_one_arm_earns_lies_in_the_bracket(x64):
    """Costs of 0 or 1: the budget lasts until floor(B) + 1 of them are 1, after (floor(B) + 1) / u_c pulls on average.

    The last pull's reward does not count. It costs 1, and pays u_r on average if rewards and costs are independent,
    min(1, ratio) if the pulls that cost or pay most often do both.
    """
    for budget in (0.5, 1.0, 7.3, 7.999, 1e3):
        for cost, ratio in ((0.05, 0.01), (0.05, 1.0), (0.2, 4.0), (0.5, 0.4), (1.0, 1.0)):
            low, high = (float(x) for x in theory.best_reward_bracket(budget, ratio))
            assert (low, high) == pytest.approx((ratio * budget - 1, ratio * (budget + 1)))
            earned = ratio * (math.floor(budget) + 1)
            assert low <= earned - min(1, ratio) <= earned - ratio * cost <= high
            if budget == 7.999 and ratio == 1:
                assert earned - 1 == pytest.approx(low, abs=2e-3)
            if budget == 1e3 and ratio == 0.01:
                assert earned - ratio * cost == pytest.approx(high, abs=1e-3)


def test_shortfall_against_quadrature(x64):
    """E of the smallest of K: the integral of P(all K are short by more than x) = (1 - (x / rho)^beta)^K."""
    arms = np.array([1, 2, 5, 30, 400])[:, None]

    def integral(k, beta):
        def density(z):  # x = rho e^-z
            return math.exp(-z) * (1 - math.exp(-beta * z)) ** k

        return integrate.quad(density, 0, 100, epsabs=0, limit=200)[0]

    found = jax.jit(theory.expected_shortfall)(arms, BETAS, 0.8)
    np.testing.assert_allclose(found, 0.8 * np.vectorize(integral)(arms, BETAS), rtol=1e-9)
    np.testing.assert_allclose(found[0], 0.8 * BETAS / (1 + BETAS), rtol=1e-12)
    assert (np.diff(found, axis=0) < 0).all()


def test_shortfall_of_few_arms_is_exact():
    """With 1/beta = n it is n! K! / (K + n)!: on either side of 10 arms, all digits are right."""
    for k in (1, 2, 3, 7, 8, 9, 10, 30, 1000):
        for n in (1, 2, 5, 8):
            exact = math.factorial(n) / math.prod(range(k + 1, k + n + 1))
            assert float(theory.expected_shortfall(k, 1 / n)) == pytest.approx(exact, rel=1e-13)


def test_shortfall_of_many_arms_in_float32():
    """prod j / (j + 1/beta), and its limit; differences of log Gamma would have lost all digits."""
    j = np.arange(1, 10**6 + 1)
    exact = np.exp([-np.log1p(1 / (beta * j)).sum() for beta in BETAS])
    np.testing.assert_allclose(jax.jit(theory.expected_shortfall)(10**6, BETAS), exact, rtol=2e-5)
    limit = [math.gamma(1 + 1 / beta) * 1e6 ** (-1 / beta) for beta in BETAS]
    np.testing.assert_allclose(exact, limit, rtol=1e-4)
    assert float(theory.expected_shortfall(99, 1.0, 0.5)) == pytest.approx(0.005, rel=1e-5)


def test_no_simple_regret_is_below_what_n_arms_miss(x64):
    n = np.logspace(2, 15, 50)[:, None]
    regret, missed = (jax.jit(f)(n, BETAS) for f in (theory.siri_simple_regret_rate, theory.expected_shortfall))
    assert (np.asarray(regret) >= np.asarray(missed)).all()


RATES = {
    "rcb_i": theory.rcb_i_regret_rate,
    "rcb_i_for_arms": lambda b, beta: theory.rcb_i_regret_rate_for_arms(b, beta, 17.0),
    "rcb_i_in_arms": lambda k, beta: theory.rcb_i_regret_rate_for_arms(1e4, beta, k),
    "rcb_air": theory.rcb_air_regret_rate,
    "lower_bound": theory.budgeted_regret_lower_bound_rate,
    "ucb_air": lambda b, beta: theory.ucb_air_regret_rate(b, beta, 0.9),
    "siri": theory.siri_simple_regret_rate,
    "shortfall": lambda k, beta: theory.expected_shortfall(k, beta, 0.7),
    "shortfall_in_rho": lambda rho, beta: theory.expected_shortfall(9.0, beta, rho),
    "exponents": lambda b, beta: b * (theory.reservoir_arms_exponent(beta) + theory.regret_exponent(beta)),
    "bracket": lambda b, rho: sum(theory.best_reward_bracket(b, rho)),
    "accuracy": lambda b, lam: b * theory.rcb_accuracy(lam / 10),
}


def all_rates(x):
    return jnp.stack([rate(x[0], x[1]) for rate in RATES.values()])


def test_derivatives_are_those_of_differences(x64):
    function, jacobian = jax.jit(all_rates), jax.jit(jax.jacrev(all_rates))
    for beta in (0.6, 1.4, 3.3):
        at = np.array([230.0, beta])
        steps = np.diag(1e-5 * at)
        differences = [(function(at + step) - function(at - step)) / (2 * step.sum()) for step in steps]
        np.testing.assert_allclose(jacobian(at), np.stack(differences, axis=1), rtol=1e-6, atol=1e-8)


def test_tracers_and_batches():
    budget = np.array([20.0, 300.0, 4e5])
    beta = np.array([0.5, 1.0, 2.7])

    def everything(budget, beta):
        lam = beta / 4
        times = theory.pseudo_stopping_time(budget, lam), theory.rcb_enough_pulls(budget, lam, beta)
        return jnp.stack([*all_rates((budget, beta)), *times])

    traced = jax.jit(jax.vmap(everything, out_axes=-1))(budget, beta)
    np.testing.assert_allclose(traced, jax.jit(everything)(budget, beta), rtol=1e-5)


BUDGETED = [
    theory.reservoir_arms,
    theory.rcb_i_regret_rate,
    theory.rcb_air_regret_rate,
    theory.budgeted_regret_lower_bound_rate,
    lambda budget, beta: theory.rcb_i_regret_rate_for_arms(budget, beta, 5),
]


@pytest.mark.parametrize("value", [0, -1.0, math.nan, math.inf])
def test_bad_budgets_and_regularities(value):
    for function in BUDGETED:
        with pytest.raises(jb.UsageError, match="the budget must be positive and finite, got"):
            function(value, 1.0)
        with pytest.raises(jb.UsageError, match="beta must be positive and finite, got"):
            function(100.0, np.array([1.0, value]))
    for function in (theory.reservoir_arms_exponent, theory.regret_exponent, theory.lower_bound_exponent):
        with pytest.raises(jb.UsageError, match="beta must be positive"):
            function(value)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        *(
            (lambda lam=lam: theory.rcb_accuracy(lam), r"lam must lie strictly between 0 and 1")
            for lam in (0, 1, -0.2, math.nan)
        ),
        (lambda: theory.pseudo_stopping_time(10, 1.0), "lam must lie"),
        (lambda: theory.pseudo_stopping_time(0, 0.5), "budget must be positive"),
        (lambda: theory.rcb_enough_pulls(10, 1.5, 0.1), "lam must lie"),
        (lambda: theory.rcb_enough_pulls(math.nan, 0.5, 0.1), "budget must be positive"),
        (lambda: theory.rcb_enough_pulls(10, 0.5, 0), "gap must be positive"),
        *((lambda rho=rho: theory.best_reward_bracket(10, rho), "rho must be positive") for rho in (0, -1, math.nan)),
        (lambda: theory.best_reward_bracket(-3, 1), "budget must be positive"),
        (lambda: theory.expected_shortfall(0.5, 1), "number of arms must be finite and at least 1"),
        (lambda: theory.expected_shortfall(5, 0), "beta must be positive"),
        (lambda: theory.expected_shortfall(5, 1, 0), "rho must be positive"),
        (lambda: theory.rcb_i_regret_rate_for_arms(10, 1, 0), "number of arms"),
        (lambda: theory.siri_simple_regret_rate(0.5, 1), "budget n must be finite and at least 1"),
        (lambda: theory.siri_simple_regret_rate(10, math.nan), "beta must be positive"),
        (lambda: theory.ucb_air_regret_rate(10, -1, 0.5), "beta must be positive"),
        (lambda: theory.ucb_air_regret_rate(math.nan, 1, 0.5), "budget n must be finite and at least 1"),
        (lambda: theory.ucb_air_regret_rate(10, 1, 1.1), r"best mean must lie in \[0, 1\]"),
        (lambda: theory.reservoir_arms(1e300, 10), r"fewer than 2\^53"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(jb.UsageError, match=message):
        call()
