"""Normal arms of unknown variances: slow minimisations, what the threshold's proof rests on, and simulations."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import integrate, optimize, stats

from jaxbandits import theory
from jaxbandits.arrays.static_int import StaticInt
from jaxbandits.statistics.glr_unknown_variance import PRIOR, among_unknown_variances, discounted

jitted, rest_of = jax.jit(among_unknown_variances), jax.jit(discounted)


def random_pairs(count):
    """Means, variances and pulls of pairs: short ways and long ones, like arms and others, of which many have two dips.

    Each `(count,)`.
    """
    rng = np.random.default_rng(3)
    way = 10 ** rng.uniform(-3, 2, count)
    spread = 10 ** rng.uniform(-1, 1, (2, count))
    pulls = np.floor(10 ** rng.uniform(0.31, 5, (2, count)))
    alike = rng.random(count) < 0.3
    spread[1], pulls[1] = np.where(alike, spread[0], spread[1]), np.where(alike, pulls[0], pulls[1])
    way = np.where(alike & (rng.random(count) < 0.5), 2 * spread[0], way)  # the two dips are about to part
    return [np.asarray(x, np.float32) for x in (way, *(spread**2), *pulls)]


def cost(y, way, variance, other_variance, pulls, other_pulls):
    """Of a pair that meets after the fraction y of the way."""
    ours = pulls / 2 * np.log1p((way * y) ** 2 / variance)
    return ours + other_pulls / 2 * np.log1p((way * (1 - y)) ** 2 / other_variance), ours


def least(*pair):
    """The cost and the best arm's share of it, by a fine grid and a search around its best point."""
    grid = np.unique(np.concatenate([10 ** -np.linspace(0, 9, 3000), 1 - 10 ** -np.linspace(0, 9, 3000)]))
    place = np.clip(cost(grid, *pair)[0].argmin(), 1, len(grid) - 2)
    found = optimize.minimize_scalar(
        lambda y: cost(y, *pair)[0], bounds=(grid[place - 1], grid[place + 1]), method="bounded",
        options={"xatol": 1e-12},
    )  # fmt: skip
    whole, ours = cost(found.x, *pair)
    return whole, ours / whole


def test_the_statistic_is_the_least_cost():
    pairs = random_pairs(400)
    way, variance, other_variance, pulls, other_pulls = pairs
    found = jitted(jnp.float32(0), pulls, variance, -way, other_pulls, other_variance, StaticInt(0))
    wanted = np.asarray([least(*(float(x) for x in pair)) for pair in zip(*pairs, strict=True)])
    np.testing.assert_allclose(found.cost, wanted[:, 0], rtol=3e-6)
    alike = (variance == other_variance) & (pulls == other_pulls)  # of two dips as deep, either may be meant
    assert np.quantile(np.abs(np.asarray(found.share) - wanted[:, 1])[~alike], 0.99) < 1e-3


def test_the_statistic_is_a_ratio_of_likelihoods():
    """Of two samples, under any normal laws and under those whose means are in the other order."""
    rng = np.random.default_rng(4)
    one, other = rng.normal(1.0, 0.7, 6), rng.normal(0.2, 2.0, 9)

    def likelihood(samples, mean):
        fitted = optimize.minimize_scalar(lambda log_sd: -stats.norm(mean, np.exp(log_sd)).logpdf(samples).sum())
        return -fitted.fun

    epsilon = 0.15
    least = optimize.minimize_scalar(
        lambda m: -likelihood(one, m) - likelihood(other, m + epsilon),
        bounds=(other.mean() - epsilon, one.mean()), method="bounded",
    ).fun  # fmt: skip
    free = likelihood(one, one.mean()) + likelihood(other, other.mean())
    values = (one.mean(), 6, one.var(), [other.mean()], [9], [other.var()], epsilon)
    found = jitted(*(jnp.asarray(x, jnp.float32) for x in values))
    assert float(found.cost[0]) == pytest.approx(free + least, rel=1e-4)


def test_edges():
    """Another arm that leads, rewards that never differ, an epsilon of 0."""
    mean, pulls = jnp.asarray([0.5, 0.6, 0.2, 0.2]), jnp.full(4, 7.0)
    variance = jnp.asarray([0.1, 0.1, 0.1, 0.0])
    known = jitted(mean[0], pulls[0], variance[0], mean, pulls, variance, StaticInt(0))
    zero = jitted(mean[0], pulls[0], variance[0], mean, pulls, variance, jnp.float32(0))
    for one, other in zip(known, zero, strict=True):
        np.testing.assert_array_equal(one, other)
    assert known.cost[:2].tolist() == [0, 0]
    assert float(known.cost[3]) == pytest.approx(3.5 * np.log1p(0.3**2 / 0.1), rel=1e-5)
    none = jitted(mean[0], pulls[0], jnp.float32(0), mean, pulls, jnp.zeros(4), StaticInt(0))
    assert np.isfinite(none.cost).all()
    assert np.isfinite(discounted(none.cost, pulls[0], pulls)).all()


def heavy(cost, pulls):
    """g of the proof."""
    return pulls / 2 * np.log1p(PRIOR / (pulls + PRIOR) * np.expm1(2 * cost / pulls))


def evidence(cost, pulls):
    """Log M of the proof, of one arm."""
    return cost - heavy(cost, pulls) - np.log1p(pulls / PRIOR) / 2


def test_what_is_taken_off_and_that_two_arms_martingales_exceed_the_rest():
    rng = np.random.default_rng(5)
    pulls = np.floor(10 ** rng.uniform(0.31, 6, (2, 2000)))
    cost = np.minimum(10 ** rng.uniform(-3, 2.5, (2, 2000)), 5 * pulls.min(axis=0))  # a way has an end
    both = cost.sum(axis=0)
    rest = both - heavy(both, pulls.min(axis=0)) - np.log1p(pulls / PRIOR).sum(axis=0) / 2
    found = rest_of(*(jnp.asarray(x, jnp.float32) for x in (both, pulls[0], pulls[1])))
    np.testing.assert_allclose(found, rest, rtol=2e-5, atol=2e-5 * both.max() / 100)
    assert (evidence(cost, pulls).sum(axis=0) >= rest - 1e-9 * both).all()
    assert (np.diff(discounted(jnp.linspace(0, 60, 200), jnp.float32(20), jnp.float32(9))) > -1e-5).all()


def test_the_evidence_of_an_arm_is_a_martingale():
    """By quadrature: given the ratios so far, the next reward is Student's, with the mean and a spread of those."""
    rng = np.random.default_rng(6)
    for count in (1, 2, 5, 40):
        so_far = rng.normal(0.3, 1.0, count)
        size, total = (so_far**2).sum(), so_far.sum()

        def ratio(count, size, total):
            left = size - total**2 / (count + PRIOR)
            return (1 + count / PRIOR) ** -0.5 * (size / left) ** (count / 2)

        for more in (1, None):
            law, n = stats.t(count, scale=np.sqrt(size / count)), count + 1 if more else count

            def integrand(y, law=law, n=n, size=size, total=total):
                return law.pdf(y) * ratio(n, size + y**2, total + y)

            mean = integrate.quad(integrand, -np.inf, np.inf, limit=400, epsabs=1e-10)[0]
            assert (abs(mean / ratio(count, size, total) - 1) < 1e-6) == bool(more)
        if count > 1:
            variance = so_far.var()
            log_likelihood = count / 2 * np.log1p(so_far.mean() ** 2 / variance)
            assert np.exp(evidence(log_likelihood, count)) == pytest.approx(ratio(count, size, total))
    assert ratio(1, 2.0**2, 2.0) == pytest.approx(1)


def test_two_equal_arms_are_hardly_ever_told_apart():
    """With different variances and numbers of pulls, which follow the rewards.

    The first arm is declared better with probability at most delta = .2: in more than 490 of 2000 runs with probability
    below 1e-6. At a level of 1 the statistic itself tells them apart in more.
    """
    runs, most, rng = 2000, 300, np.random.default_rng(7)
    rewards = rng.normal(size=(2, most, runs)) * np.asarray([0.5, 2.0])[:, None, None]
    sums = np.cumsum(rewards, axis=1)
    count = np.arange(1, most + 1)[:, None]
    means = sums / count
    variances = np.maximum(np.cumsum(rewards**2, axis=1) / count - means**2, 1e-12)
    level = float(theory.glr_threshold(10, 2, 0.2, "student-mixture"))
    assert (1 + level) * np.exp(-level) == pytest.approx(0.2)
    pulls = np.full((2, runs), 2)
    wrong, careless = np.zeros(runs, bool), np.zeros(runs, bool)
    for _ in range(200):
        (mean, other), (variance, other_variance) = (
            np.stack([x[arm, pulls[arm] - 1, np.arange(runs)] for arm in (0, 1)]) for x in (means, variances)
        )
        arguments = (mean, pulls[0], variance, other, pulls[1], other_variance)
        found = jitted(*(jnp.asarray(x, jnp.float32) for x in arguments), StaticInt(0)).cost
        rest = rest_of(found, jnp.asarray(pulls[0], jnp.float32), jnp.asarray(pulls[1], jnp.float32))
        ahead = mean > other
        wrong |= ahead & (np.asarray(rest) > level)
        careless |= ahead & (np.asarray(found) > 1)
        behind = (mean < other).astype(int)  # the arm that looks worse is pulled
        pulls[1 - behind, np.arange(runs)] += 1
    assert wrong.sum() <= 490
    assert careless.sum() > 490
