"""Characteristic times against published and closed-form values, and against a certificate of optimality."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import brentq, linprog

import jaxbandits as jb
from jaxbandits import theory
from jaxbandits.theory._m_best_arms import m_best_time

# Track-and-Stop check values: T* and the optimal proportions.
BERNOULLI = [
    ((0.5, 0.45, 0.43, 0.4), 989.792, (0.4165, 0.3903, 0.1362, 0.0570)),
    ((0.3, 0.21, 0.2, 0.19, 0.18), 326.642, (0.3359, 0.2515, 0.1766, 0.1324, 0.1036)),
    ((0.5, 0.1, 0.02), 12.0435, (0.393, 0.420, 0.187)),
    ((0.4, 0.5, 0.6, 0.7, 0.8), 167.932, (0.0163, 0.0288, 0.0667, 0.4305, 0.4576)),
]
GAUSSIAN = [
    ((1, 0.5, 0), 34.285, (0.4691, 0.4643, 0.0666)),
    ((1, 0.85, 0.8, 0.7), 449.870, (0.4125, 0.3793, 0.1521, 0.0561)),
]


def kl(p: float, q: float, family: str) -> float:
    if family == "gaussian":
        return (p - q) ** 2 / 2
    if family == "poisson":
        return p * np.log(p / q) + q - p
    if family == "exponential":
        return np.log(q / p) + p / q - 1
    return sum(a * np.log(a / b) for a, b in ((p, q), (1 - p, 1 - q)) if a > 0)


def slope(mu: float, x: float, family: str) -> float:
    variance = {"gaussian": 1.0, "poisson": x, "exponential": x**2, "bernoulli": x * (1 - x)}
    return (x - mu) / variance[family]


def cheapest_lie(w_i: float, mu_i: float, w_j: float, mu_j: float, epsilon: float, family: str) -> float:
    """The lambda of arm i when arm j overtakes it by epsilon at the smallest cost: a root of the cost's derivative."""
    low, high = mu_j - epsilon, mu_i
    if family == "bernoulli":
        low, high = max(low, 1e-12), min(high, 1 - epsilon - 1e-12)
    elif family != "gaussian":
        low = max(low, 1e-12)
    return brentq(
        lambda x: w_i * slope(mu_i, x, family) + w_j * slope(mu_j, x + epsilon, family), low, high, xtol=1e-15
    )


def brackets_of_time(means, m, epsilon, family, time, weights, sd=1.0) -> tuple[float, float]:
    """Bounds below and above time / T*, from the proportions alone.

    Below: their value. Above: with every lambda kept as it is for them, the best proportions solve a linear programme.
    """
    order, variances = np.argsort(-means), np.square(sd) * np.ones_like(means)
    each = weights / variances
    rows, values = [], []
    for i in order[:m]:
        for j in order[m:]:
            lie = cheapest_lie(each[i], means[i], each[j], means[j], epsilon, family)
            row = np.zeros(means.size + 1)
            row[i], row[j] = time * kl(means[i], lie, family), time * kl(means[j], lie + epsilon, family)
            row[:-1] /= variances
            values.append(row[:-1] @ weights)
            row[-1] = -1.0
            rows.append(-row)
    best = linprog(
        np.append(np.zeros(means.size), -1.0),
        A_ub=np.array(rows),
        b_ub=np.zeros(len(rows)),
        A_eq=np.append(np.ones(means.size), 0.0)[None],
        b_eq=[1.0],
    )
    return min(values), -best.fun


@pytest.mark.parametrize(
    ("family", "means", "time", "proportions"),
    [("bernoulli", *case) for case in BERNOULLI] + [("gaussian", *case) for case in GAUSSIAN],
)
def test_check_values_of_track_and_stop(family, means, time, proportions):
    found, weights = theory.characteristic_time(np.array(means), family=family)
    assert found == pytest.approx(time, rel=2e-5)  # six printed digits
    np.testing.assert_allclose(weights, proportions, atol=6e-5 if len(means) != 3 or means[0] == 1 else 6e-4)
    assert weights.sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(
    ("m", "arms"),
    [
        (1, 2),
        *(pytest.param(*n, marks=pytest.mark.slow) for n in ((2, 4), (1, 4), (5, 20), (1, 10), (3, 7), (10, 50))),
    ],
)
def test_two_levels_of_gaussian_means_have_a_closed_form(m, arms):
    # By symmetry w is x on the best and y on the rest: minimise (1/x + 1/y) subject to m x + (K - m) y = 1.
    means = np.where(np.arange(arms) < m, 0.5, 0.1)
    time, weights = theory.characteristic_time(means, m, 0.3, "gaussian", sd=2.0)
    assert time == pytest.approx(2 * 4 * (np.sqrt(m) + np.sqrt(arms - m)) ** 2 / 0.7**2, rel=1e-7)
    np.testing.assert_allclose(weights[:m], 1 / (np.sqrt(m) * (np.sqrt(m) + np.sqrt(arms - m))), rtol=1e-4)


@pytest.mark.parametrize(
    ("arms", "m", "epsilon", "family"),
    [
        (4, 1, 0.1, "bernoulli"),
        pytest.param(5, 1, 0.1, "bernoulli", marks=pytest.mark.slow),
        pytest.param(6, 3, 0.0, "bernoulli", marks=pytest.mark.slow),
        (50, 1, 0.0, "bernoulli"),
        pytest.param(50, 10, 0.05, "bernoulli", marks=pytest.mark.slow),
        pytest.param(30, 4, 0.3, "bernoulli", marks=pytest.mark.slow),
        pytest.param(50, 25, 0.0, "gaussian", marks=pytest.mark.slow),
        (20, 5, 0.2, "gaussian"),
        (4, 1, 0.0, "poisson"),
        (4, 1, 0.1, "poisson"),
        pytest.param(10, 1, 0.1, "poisson", marks=pytest.mark.slow),
        pytest.param(50, 1, 0.0, "poisson", marks=pytest.mark.slow),
        pytest.param(20, 5, 0.2, "poisson", marks=pytest.mark.slow),
        (4, 1, 0.0, "exponential"),
        (4, 1, 0.1, "exponential"),
        pytest.param(10, 1, 0.1, "exponential", marks=pytest.mark.slow),
        pytest.param(50, 1, 0.0, "exponential", marks=pytest.mark.slow),
        pytest.param(20, 5, 0.05, "exponential", marks=pytest.mark.slow),
    ],
)
def test_the_optimum_is_certified(arms, m, epsilon, family):
    means = np.random.default_rng(arms + m).uniform(size=arms)
    time, weights = theory.characteristic_time(means, m, epsilon, family)
    below, above = brackets_of_time(means, m, epsilon, family, time, weights)
    assert below == pytest.approx(1, abs=1e-9)
    assert above == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize(
    ("arms", "m", "epsilon"),
    [
        (6, 1, 0.0),
        pytest.param(30, 1, 0.001, marks=pytest.mark.slow),
        pytest.param(7, 3, 0.0, marks=pytest.mark.slow),
        pytest.param(20, 5, 0.01, marks=pytest.mark.slow),
    ],
)
def test_the_optimum_is_certified_for_normal_arms_of_different_variances(arms, m, epsilon):
    rng = np.random.default_rng(arms)
    means, sd = rng.normal(size=arms), np.exp(rng.uniform(-2, 2, arms))
    assert np.all(np.abs(np.diff(np.sort(means))) > epsilon)  # so that one answer is right
    time, weights = theory.characteristic_time(means, m, epsilon, "gaussian", sd)
    below, above = brackets_of_time(means, m, epsilon, "gaussian", time, weights, sd)
    assert below == pytest.approx(1, abs=1e-9)
    assert above == pytest.approx(1, abs=1e-6)
    same = theory.characteristic_time(means, m, epsilon, "gaussian", np.full(arms, 0.3))
    np.testing.assert_allclose(same[0], theory.characteristic_time(means, m, epsilon, "gaussian", 0.3)[0], rtol=1e-9)
    # Batches, padded arms and a share of the best arm.
    some = np.stack([means, means + 0.1 * np.arange(arms)], 1)
    mask = np.ones((arms, 2), bool)
    mask[np.argmin(means), 0] = False
    spread = np.stack([np.where(mask[:, 0], sd, 0.0), sd[::-1]], 1)
    times, _ = theory.characteristic_time(some, m, epsilon, "gaussian", spread, mask=mask)
    alone = theory.characteristic_time(means[mask[:, 0]], m, epsilon, "gaussian", sd[mask[:, 0]])
    assert times[0] == pytest.approx(alone[0], rel=1e-8)
    assert times[1] == pytest.approx(theory.characteristic_time(some[:, 1], m, epsilon, "gaussian", sd[::-1])[0])
    if m == 1:
        kept = theory.characteristic_time(means, 1, epsilon, "gaussian", sd, share=weights[means.argmax()])
        assert kept[0] == pytest.approx(time, rel=1e-9)
        half, shared = theory.characteristic_time(means, 1, epsilon, "gaussian", sd, share=0.5)
        assert half > time * 0.999999
        assert shared[means.argmax()] == pytest.approx(0.5)


@pytest.mark.slow
@pytest.mark.parametrize(("arms", "m", "epsilon"), [(4, 1, 0.5), (5, 2, 0.5), (6, 3, 0.4)])
def test_with_epsilon_and_different_variances_the_least_time_of_a_right_answer_is_taken(arms, m, epsilon):
    """Each answer is an instance with epsilon = 0, in which its means are larger by epsilon."""
    rng = np.random.default_rng(arms)
    means = rng.normal(scale=0.02, size=arms).round(3)
    sd = np.exp(rng.uniform(-2, 2, arms))
    sd[np.argsort(-means)[m]] = 0.01  # the best arm left out hardly varies
    found = {}
    for answer in itertools.combinations(range(arms), m):
        inside = np.isin(np.arange(arms), answer)
        if means[inside].min() > means[~inside].max() - epsilon:
            raised = np.where(inside, means + epsilon, means)
            found[answer] = float(theory.characteristic_time(raised, m, 0.0, "gaussian", sd)[0])
    best = tuple(np.sort(np.argsort(-means)[:m]))
    assert len(found) > 1
    assert min(found.values()) < 0.99 * found[best]  # another answer is told sooner
    time, weights = theory.characteristic_time(means, m, epsilon, "gaussian", sd)
    assert float(time) == pytest.approx(min(found.values()), rel=1e-8)
    assert float(weights.sum()) == pytest.approx(1)
    batch = np.stack([means, -means, means], 1)
    allowed = np.asarray([epsilon, epsilon, 0.0])
    times = theory.characteristic_time(batch, m, allowed, "gaussian", sd[:, None])[0]
    alone = [theory.characteristic_time(*one, "gaussian", sd)[0] for one in zip(batch.T, [m] * 3, allowed, strict=True)]
    np.testing.assert_allclose(times, alone, rtol=1e-7)
    traced = jax.jit(lambda mu: theory.characteristic_time(mu, m, epsilon, "gaussian", sd)[0])(jnp.asarray(means))
    assert float(traced) == pytest.approx(float(time), rel=1e-4)


def test_too_many_right_answers_are_refused():
    means, sd = np.linspace(0, 0.1, 40), np.linspace(1, 2, 40)
    with pytest.raises(jb.UsageError, match="answers of m=6 of 40 arms may be right, and 20,000 at most are compared"):
        theory.characteristic_time(means, 6, 0.2, "gaussian", sd)


@pytest.mark.slow
def test_one_right_answer_of_many_arms_is_taken():
    means, sd = np.linspace(0, 0.1, 40), np.linspace(1, 2, 40)
    assert float(theory.characteristic_time(means, 6, 0.001, "gaussian", sd)[0]) > 0


def test_a_share_of_arms_too_different_for_the_floats_has_no_number():
    found = jax.jit(lambda sd: theory.characteristic_time(jnp.array([0.5, 0.2]), family="gaussian", sd=sd, share=0.5))
    assert np.isnan(found(jnp.array([1.0, 200.0]))[0])
    assert np.isfinite(found(jnp.array([1.0, 50.0]))[0])


def test_two_normal_arms_have_a_closed_form():
    """T* = 2 (s + s')^2 / gap^2, in proportions s and s', however different they are."""
    for sd in ([1.0, 1e-4], [1e-3, 1e3], [2.0, 0.5]):
        time, weights = theory.characteristic_time(np.array([0.3, 0.8]), family="gaussian", sd=np.array(sd))
        assert time == pytest.approx(2 * sum(sd) ** 2 / 0.25, rel=1e-9)
        np.testing.assert_allclose(weights, np.array(sd) / sum(sd), rtol=1e-6)


def test_a_near_tie_is_resolved():
    # Two Gaussian arms: T* = 8 / Delta^2; Bernoulli ones near 1/2 have variance 1/4.
    assert theory.characteristic_time(np.array([0.5, 0.5 - 1e-6]))[0] == pytest.approx(2e12, rel=1e-6)


def test_cases_in_which_every_proportion_is_optimal():
    for means, epsilon, time in (((0.5, 0.5, 0.1), 0.0, np.inf), ((0.5, 0.4, 0.1), 1.0, 0.0)):
        found, weights = theory.characteristic_time(np.array(means), epsilon=epsilon)
        assert found == time
        np.testing.assert_allclose(weights, 1 / 3)


def test_means_on_the_border():
    # (1, 0): both move to 1/2 at weights 1/2, d(1, 1/2) = d(0, 1/2) = log 2. (0, 0): only the rival can move.
    assert theory.characteristic_time(np.array([1.0, 0.0]))[0] == pytest.approx(1 / np.log(2), rel=1e-8)
    assert theory.characteristic_time(np.array([0.0, 0.0]), epsilon=0.1)[0] == pytest.approx(-1 / np.log(0.9), rel=1e-8)
    assert theory.characteristic_time(np.array([1.0, 1.0]), epsilon=0.1)[0] == pytest.approx(-1 / np.log(0.9), rel=1e-8)


@pytest.mark.slow
def test_time_falls_with_epsilon_and_is_symmetric():
    means = np.array([0.8, 0.7, 0.55, 0.3])
    for m in (1, 2, 3):
        times = [theory.characteristic_time(means, m, epsilon)[0] for epsilon in (0.0, 0.01, 0.1, 0.4, 0.9)]
        assert np.all(np.diff(times) < 0)
    # Returning the best of 1 - x is rejecting the worst of x; arms keep their names in any order.
    time, weights = theory.characteristic_time(means, 1, 0.1)
    mirrored, flipped = theory.characteristic_time(1 - means, 3, 0.1)
    assert mirrored == pytest.approx(time, rel=1e-7)
    np.testing.assert_allclose(flipped, weights, atol=1e-6)
    shuffled = np.array([2, 0, 3, 1])
    again, permuted = theory.characteristic_time(means[shuffled], 1, 0.1)
    assert again == pytest.approx(time, rel=1e-7)
    np.testing.assert_allclose(permuted, weights[shuffled], atol=1e-6)


@pytest.mark.parametrize(
    ("m", "family"),
    [(1, "bernoulli"), *(pytest.param(*case, marks=pytest.mark.slow) for case in ((1, "gaussian"), (2, "poisson")))],
)
def test_batches_and_padded_arms_are_as_instances_alone(m, family):
    rng = np.random.default_rng(m)
    means, epsilon, sd = rng.uniform(0.1, 0.9, (6, 2, 3)), np.array([0.0, 0.05, 0.1]), np.array([[0.5], [2.0]])
    mask = rng.permuted(np.broadcast_to(np.arange(6)[:, None, None] < 4, means.shape), axis=0)
    time, weights = theory.characteristic_time(means, m, epsilon, family, sd, mask=mask)
    assert time.shape == (2, 3)
    assert weights.shape == means.shape
    np.testing.assert_allclose(weights.sum(0), 1, rtol=1e-12)
    bound = theory.pulls_lower_bound(means, 0.1, m, epsilon, family, sd, mask)
    for run in np.ndindex(2, 3):
        there = mask[:, *run]
        alone, proportions = theory.characteristic_time(means[there, *run], m, epsilon[run[1]], family, sd[run[0], 0])
        assert time[run] == pytest.approx(alone, rel=1e-9)
        np.testing.assert_allclose(weights[there, *run], proportions, rtol=1e-6)
        assert np.all(weights[~there, *run] == 0)
        assert bound[run] == pytest.approx(alone * 0.8 * np.log(9), rel=1e-9)
    together = jax.jit(lambda x: theory.characteristic_time(x, m, epsilon, family, sd, mask=mask))(means)
    np.testing.assert_allclose(together[0], time, rtol=2e-5)


@pytest.mark.slow
def test_batches_of_several_best_arms_with_ties_and_different_numbers_of_arms():
    means = np.array([[0.9, 0.5, 0.8, 0.3], [0.7, 0.5, 0.7, 0.9], [0.4, 0.5, 0.1, 0.7], [0.2, 0.1, 0.5, 0.5]])
    mask = np.array([[1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 0, 0]], bool)
    epsilon = np.array([0.0, 0.0, 0.1, 0.0])
    time, weights = theory.characteristic_time(means, 2, epsilon, mask=mask)
    for run in range(4):
        there = mask[:, run]
        alone, proportions = theory.characteristic_time(means[there, run], 2, epsilon[run])
        assert time[run] == pytest.approx(alone, rel=1e-8)
        np.testing.assert_allclose(weights[there, run], proportions, atol=1e-6)
    assert np.isinf(time[1])
    np.testing.assert_array_equal(weights[:, 1], 0.25)
    assert np.all(theory.characteristic_time(means, 2, 1.0)[0] == 0)


@pytest.mark.slow
@pytest.mark.parametrize("family", ["bernoulli", "gaussian", "poisson", "exponential"])
def test_one_best_arm_is_as_the_solver_of_several_has_it(family, x64):
    rng = np.random.default_rng(3)
    for epsilon in (0.0, 0.1):
        means = rng.uniform(0.05, 0.95, 4)
        time, weights = theory.characteristic_time(means, 1, epsilon, family)
        other, proportions = m_best_time(1, family, jnp.asarray(means), jnp.asarray(epsilon), None, None)
        assert time == pytest.approx(float(other), rel=1e-8)
        np.testing.assert_allclose(weights, proportions, atol=1e-6)


def test_with_a_share_of_the_best_arm():
    means = np.array([0.8, 0.7, 0.55, 0.3])
    time, weights = theory.characteristic_time(means)
    shares = np.array([0.1, 0.5, 0.9])
    top_two, proportions = theory.characteristic_time(np.stack([means] * 3, 1), share=shares)
    np.testing.assert_allclose(proportions[0], shares)
    assert np.all(top_two > time)
    assert top_two[1] < 2 * time  # Russo (2016)
    same, kept = theory.characteristic_time(means, share=weights[0])
    assert same == pytest.approx(time, rel=1e-12)
    np.testing.assert_allclose(kept, weights, rtol=1e-6)
    # Whatever the others' proportions, no instance is told apart sooner.
    rng = np.random.default_rng(0)
    for trial in rng.dirichlet([1, 1, 1], 200) * 0.5:
        values = []
        for j in (1, 2, 3):
            middle = (0.5 * means[0] + trial[j - 1] * means[j]) / (0.5 + trial[j - 1])
            values.append(0.5 * kl(means[0], middle, "bernoulli") + trial[j - 1] * kl(means[j], middle, "bernoulli"))
        assert 1 / min(values) >= top_two[1] * (1 - 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("family", "epsilon", "share"), [("bernoulli", 0.05, False), ("poisson", 0.0, True)])
def test_derivatives_of_time_and_proportions_are_those_of_differences(family, epsilon, share, x64, central_differences):
    def both(x):
        leader = x[4] if share else None
        time, weights = theory.characteristic_time(x[:4], 1, epsilon + x[5] * (epsilon > 0), family, share=leader)
        return jnp.log(time) + weights @ jnp.array([1.0, 3.0, 2.0, 5.0])

    point = np.array([0.8, 0.7, 0.55, 0.3, 0.4, 0.0])
    gradient = jax.jit(jax.grad(both))(jnp.asarray(point))
    np.testing.assert_allclose(gradient, central_differences(both, point), rtol=1e-6, atol=1e-7)


@pytest.mark.slow  # a derivative of the solver's derivative takes a minute to compile
def test_second_derivatives_of_several_best_arms(x64, central_differences):
    means = np.array([0.8, 0.7, 0.55, 0.3])
    slope = jax.jit(jax.grad(lambda x: theory.characteristic_time(x, 2, 0.05)[0]))
    found = jax.jit(jax.jacfwd(slope))(means)
    for place in range(4):
        differences = central_differences(lambda x, place=place: slope(x)[place], means)
        np.testing.assert_allclose(found[place], differences, rtol=1e-4, atol=1e-4 * np.abs(found).max())


@pytest.mark.slow
def test_single_precision_is_right_to_five_digits():
    means = np.random.default_rng(1).uniform(size=(10, 500))
    time, weights = theory.characteristic_time(means.astype(np.float32))
    assert time.dtype == jnp.float32
    exact, proportions = theory.characteristic_time(means.astype(np.float32).astype(np.float64))
    np.testing.assert_allclose(time, exact, rtol=1e-5)
    np.testing.assert_allclose(weights, proportions, atol=1e-5)


def test_pulls_lower_bound():
    means = np.array([0.5, 0.1, 0.02])
    time, _ = theory.characteristic_time(means)
    kl_of_delta = 0.9 * np.log(0.95 / 0.05)
    assert float(theory.pulls_lower_bound(means, 0.05)) == pytest.approx(time * kl_of_delta, rel=1e-5)
    assert float(theory.pulls_lower_bound(means, 0.5)) == 0
    assert float(theory.pulls_lower_bound(means, 0.9)) == 0
    several = jax.jit(lambda delta: theory.pulls_lower_bound(means, delta))(jnp.array([0.3, 0.1, 0.01, 0.7]))
    assert np.all(np.diff(several[:3]) > 0)
    assert float(several[3]) == 0


@pytest.mark.parametrize("m", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_the_lower_bound_stays_below_the_upper_bounds(m):
    means = np.array([0.7, 0.6, 0.4, 0.3])
    lower = float(theory.pulls_lower_bound(means, 0.01, m))
    assert 0 < 5 * lower < float(theory.ugape_c_pulls_bound(means, 0.0, 0.01, m))
    assert 5 * lower < float(theory.lucb_pulls_bound(means, 0.0, 0.01, m))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda means: theory.characteristic_time(means, 2),
            r"^m must be a whole number from 1 to 1, .* got 2$",
        ),
        (lambda means: theory.characteristic_time(means, epsilon=-0.1), r"^epsilon must be .* got -0.1$"),
        (lambda means: theory.characteristic_time(means + 0.6), r"^means must lie in \[0, 1\], got 1.1"),
        (
            lambda means: theory.characteristic_time(means, family="gaussian", sd=-1),
            r"^sd must be positive .* got -1$",
        ),
        (
            lambda means: theory.characteristic_time(means, family="gaussian", sd=[1.0, 2.0, 1.0]),
            r"^arms come first, then runs, and these shapes do not broadcast: means \(2,\), sd \(3,\)$",
        ),
        (
            lambda means: theory.characteristic_time(means, family="gaussian", sd=[1.0, 0.0]),
            r"^sd must be positive .* got 0.0$",
        ),
        (
            lambda means: theory.characteristic_time(means, family="gaussian", sd=[1.0, 200.0], share=0.5),
            r"^a share needs sd of arms within a factor of 100 of each other$",
        ),
        (lambda means: theory.characteristic_time(means, family="weibull"), r"^family must be .* got 'weibull'$"),
        (lambda means: theory.characteristic_time(means[None]), r"^means must have shape .* two arms .* got \(1, 2\)$"),
        (
            lambda means: theory.characteristic_time(means - 0.3, family="poisson"),
            r"^means must be .* least 0, got -0.0",
        ),
        (
            lambda means: theory.characteristic_time(means * [1, 0], family="exponential"),
            r"^means must be pos.* got 0.0$",
        ),
        (lambda means: theory.characteristic_time(means, share=1.0), r"^share must lie strictly .* got 1.0$"),
        (lambda _: theory.characteristic_time([0.5, 0.3, 0.2], 2, share=0.5), r"^m must be 1 with a share .* got m=2$"),
        (
            lambda means: jax.jit(lambda m: theory.characteristic_time(means, m))(1),
            r"^m must be a number, and is being traced by jax.grad, jit or vmap: make it static",
        ),
        (lambda means: theory.pulls_lower_bound(means, 0.0), r"^delta must lie strictly between 0 and 1, got 0.0$"),
    ],
)
def test_bad_input_is_refused_in_one_line(call, message):
    with pytest.raises(ValueError, match=message):
        call(np.array([0.5, 0.2]))


@pytest.mark.parametrize("family", ["gaussian", "exponential", "poisson"])
@pytest.mark.parametrize(("m", "epsilon"), [(1, 0.0), (1, 0.1), pytest.param(2, 0.1, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "scale", [1e-300, *(pytest.param(s, marks=pytest.mark.slow) for s in (1e-150, 1e-81, 1e81, 1e150)), 1e300]
)
def test_units_do_not_matter(family, m, epsilon, scale):
    """T* hangs on means / sd, on ratios of means, or, of Poisson arms, is inverse to the means."""
    means, sds = np.array([1.0, 0.45, 0.3, 0.2]), [1.0]
    if family == "gaussian":
        means, sds = means - 0.25, [1.5, np.array([0.5, 2.0, 1.0, 1.0])]
    for sd in sds:
        time, weights = theory.characteristic_time(means, m, epsilon, family, sd)
        found, proportions = theory.characteristic_time(means * scale, m, epsilon * scale, family, sd * scale)
        unit = scale if family == "poisson" else 1.0
        assert found * unit == pytest.approx(float(time), rel=1e-7)
        np.testing.assert_allclose(proportions, weights, rtol=1e-4, atol=1e-7)


slopes_of_normal_means = jax.jit(jax.grad(lambda x: theory.characteristic_time(x, family="gaussian")[0]))


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e-100, 1e-81, 1e81, 1e100])
def test_the_scale_of_normal_means_alone(scale):
    """Gaps of 1e-100 standard deviations and of 1e100; padded arms, which say nothing, in a batch with others."""
    means = np.array([[1.0, 1.0], [0.5, 0.5], [0.2, 0.5]])
    sizes, mask = np.array([scale, 1.0]), np.array([[True, True], [True, True], [False, True]])
    found, weights = theory.characteristic_time(np.where(mask, means * sizes, 0.3), family="gaussian", mask=mask)
    assert found[0] * scale * scale == pytest.approx(8 / 0.25, rel=1e-8)
    assert found[1] == pytest.approx(float(theory.characteristic_time(means[:, 1], family="gaussian")[0]), rel=1e-12)
    np.testing.assert_allclose(weights[:, 0], [0.5, 0.5, 0], atol=1e-8)
    with jax.enable_x64(True):
        slopes = slopes_of_normal_means(jnp.asarray(means[:2, 0]) * scale)
    np.testing.assert_allclose(np.asarray(slopes) * scale**3, np.array([-128.0, 128.0]), rtol=1e-7)  # of 8 / gap^2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("best", "other", "epsilon", "time"),
    # Found with 45 digits by a search over proportions, and over lambda for each of them.
    [
        (2e-6, 1e-6, 2.9e-4, 3528.93156846),
        (2e-6, 1e-6, 1e-6, 2989193.19113),
        (2e-6, 1e-6, 2e-5, 62481.7155341),
        (2e-6, 1e-6, 7e-5, 15443.0887705),
        (2e-6, 1e-6, 9e-5, 11833.7381934),
        (2e-6, 1e-6, 0.3, 2.80378305466),
        (2e-6, 1.999e-6, 2.9e-4, 3595.91948217),
        (7.1e-6, 1e-6, 2.9e-4, 3528.93156846),
        (1e-5, 2e-6, 2.9e-4, 3595.98384262),
        (1e-9, 1e-12, 2e-8, 50027273.0853),
        (3e-4, 1e-6, 2.9e-4, 3065.75227084),
        (1e-3, 1e-6, 2.9e-4, 1785.24752081),
        (2e-6, 0.0, 2.9e-4, 3447.7758379),
    ],
)
def test_an_epsilon_beside_which_the_means_are_tiny(best, other, epsilon, time):
    means = np.array([other, best])
    found, _ = theory.characteristic_time(means, epsilon=epsilon)
    assert found == pytest.approx(time, rel=1e-10)
    single, _ = theory.characteristic_time(jnp.asarray(means, jnp.float32), epsilon=epsilon)
    assert float(single) == pytest.approx(time, rel=1e-5)
    with jax.enable_x64(True):
        barrier, _ = m_best_time(1, "bernoulli", jnp.asarray(means), jnp.asarray(epsilon), None, None)
    assert float(barrier) == pytest.approx(time, rel=1e-8)
    # Where only the rivals' pulls count, five of them take five times as long, and one of five arms as long as of one.
    if epsilon > 1000 * best:
        five = np.array([best, *[other] * 5])
        assert theory.characteristic_time(five, epsilon=epsilon)[0] == pytest.approx(5 * time, rel=1e-8)
        six = np.array([*[best] * 5, other])
        assert theory.characteristic_time(six, 5, epsilon)[0] == pytest.approx(time, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("m", [5, 995])
def test_many_arms_need_no_matrix_of_all_pairs_of_arms(m):
    means = np.sort(np.random.default_rng(0).uniform(0.1, 0.9, 1000))[::-1]
    time, weights = jb.theory.characteristic_time(means, m=m, family="gaussian")
    own, other = np.asarray(weights[:m, None], float), np.asarray(weights[None, m:], float)
    costs = own * other / (own + other) * (means[:m, None] - means[None, m:]) ** 2 / 2
    assert costs.min() * float(time) == pytest.approx(1, abs=1e-4)
    # Each of the 995 arms has a pair that decides: a share could be moved from one that has none.
    assert costs.min(axis=np.argmax(costs.shape) ^ 1) == pytest.approx(costs.min(), rel=1e-3)
    steps = jax.make_jaxpr(lambda x: jb.theory.characteristic_time(x, m=m)[0])(means)
    assert "[1000,1000]" not in str(steps)


@pytest.mark.parametrize(
    ("family", "means", "m", "epsilon", "time"),
    [
        ("bernoulli", [1.0, 1.0, 0.0, 0.0], 2, 0.0, 2 / np.log(2)),
        ("poisson", [3.0, 0.0, 0.0, 0.0], 2, 0.5, 4.0),
        pytest.param("bernoulli", [1.0, 0.0, 0.0, 0.0], 3, 0.1, -1 / np.log(0.9), marks=pytest.mark.slow),
        pytest.param("bernoulli", [1.0, 1.0, 1.0, 0.0], 2, 0.1, -2 / np.log(0.9), marks=pytest.mark.slow),
        pytest.param("bernoulli", [1.0, 1.0, 1.0, 0.0, 0.0, 0.0], 3, 0.0, 3 / np.log(2), marks=pytest.mark.slow),
        pytest.param("bernoulli", [1.0, 0.0, 0.0], 2, 0.1, -1 / np.log(0.9), marks=pytest.mark.slow),
        pytest.param("poisson", [3.0, 0.0, 0.0], 2, 0.5, 2.0, marks=pytest.mark.slow),
    ],
)
def test_the_mth_mean_may_be_at_an_end_of_the_range(family, means, m, epsilon, time):
    """Equal proportions and two arms that meet halfway; or pulls of the arms alone that must move by epsilon."""
    found, proportions = theory.characteristic_time(means, m=m, epsilon=epsilon, family=family)
    np.testing.assert_allclose(found, time, rtol=1e-8)
    np.testing.assert_allclose(proportions.sum(), 1, rtol=1e-12)
