"""Scores average 0, also of rewards that float32 rounds to 0 or 1; a density of another law is noticed."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import integrate, stats

import jaxbandits as jb
from jaxbandits.gradients.reward_scores import scores
from jaxbandits.problems import register_problem

PULLS = 100_000
#: Laws whose rewards are often rounded to 0 or 1, or so large that terms of the score cancel.
EXTREME = {
    "beta, often 1": jb.beta([1.0, 0.2], [0.05, 0.1]),
    "beta, often 0": jb.beta([0.03, 0.01], [1.0, 2.0]),
    "beta, both": jb.beta([0.05, 1e-3], [0.05, 1e-3]),
    "weibull": jb.weibull([2.0, 0.5], [0.05, 0.04]),
    "log-normal": jb.log_normal([-86.0, -80.0], [2.0, 4.0]),
    "negative binomial": jb.negative_binomial([1e7, 1e6], [2.0, 1e-3]),
}


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n != "weibull")) for n in EXTREME])
def test_scores_average_0(name):
    """Within 5.5 standard errors, of two arms and two parameters: a false alarm in 10^6."""
    problem = EXTREME[name]
    for parameter in problem.scored:
        found = scores(problem, parameter, np.ones((PULLS, 2), np.int64), root_seed=7)
        assert (np.abs(found.mean(axis=0)) < 5.5 * found.std(axis=0) / PULLS**0.5).all()


@pytest.mark.slow
def test_gradients_of_rewards_near_1_are_exact():
    """Of P(error) = b1 / (b1 + b2) after a pull of each arm, where a is 1; in a, of a2 / (a1 + a2), where b is 1.

    Within 5.5 standard errors and what ties of float32 cost, half a percent: a false alarm in 10^7.
    """
    rule, small = jb.Uniform(budget=2), {"seeds": 50_000, "root_seed": 9}
    for near_1, (x, y) in ((True, (0.2, 0.3)), (True, (0.15, 0.3)), (False, (0.03, 0.02))):
        problem = jb.beta([1.0, 1.0], [x, y]) if near_1 else jb.beta([x, y], [1.0, 1.0])
        found = jb.gradients.expected("error", rule, problem, wrt="b" if near_1 else "a", **small)
        exact = np.asarray([y, -x] if near_1 else [-y, x]) / (x + y) ** 2
        assert (np.abs(found.gradient - exact) < 5.5 * found.gradient_se + 0.005 * np.abs(exact)).all()


@pytest.mark.slow
def test_gradients_in_a_small_shape_are_exact():
    """Of P(error) after a pull of each arm, by an integral; within 5.5 standard errors: a false alarm in 10^7."""
    shape, step = 0.05, 1e-5
    found = jb.gradients.expected(
        "error", jb.Uniform(budget=2), jb.weibull([2.0, 1.0], shape), wrt="shape", seeds=20_000, root_seed=1
    )

    def error(one, other):
        passed = lambda u: np.exp(-((2 * (-np.log(u)) ** (1 / one)) ** other))  # noqa: E731
        return integrate.quad(passed, 0, 1, limit=500)[0]

    exact = [
        (error(shape + step, shape) - error(shape - step, shape)) / (2 * step),
        (error(shape, shape + step) - error(shape, shape - step)) / (2 * step),
    ]
    assert (np.abs(found.gradient - exact) < 5.5 * found.gradient_se).all()


@pytest.mark.slow
def test_gradients_in_large_means_of_counts_are_exact():
    """Such counts are Gamma numbers, and P(error) a ratio's law; within 5.5 standard errors: a false alarm in 10^7."""
    one, other, size, step = 1e7, 5e6, 2.0, 1e-4
    problem = jb.negative_binomial([one, other], size)
    found = jb.gradients.expected("error", jb.Uniform(budget=2), problem, wrt="mean", seeds=50_000, root_seed=3)
    error = lambda ratio: stats.betaprime.sf(ratio, size, size)  # noqa: E731
    slope = (error(one / other * (1 + step)) - error(one / other * (1 - step))) / (2 * step)
    assert (np.abs(found.gradient - np.asarray([slope / one, -slope / other])) < 5.5 * found.gradient_se).all()


def family(density):
    """Exponential rewards with this log density."""

    @register_problem
    @dataclasses.dataclass(frozen=True)
    class Own(jb.problems.Exponential):
        log_density = classmethod(lambda cls, reward, average: density(reward, average))

    return Own(jnp.asarray([0.5, 1.0]), name="own")


def test_a_density_of_another_law_is_noticed():
    """Its score does not average 0; that of the law itself is taken."""
    given = {"wrt": "mean", "seeds": 1000}
    wrong = family(lambda reward, average: -jnp.log(average) - 2 * reward / average)
    with pytest.warns(UserWarning, match="gradient in mean is biased: the derivative of the log_density of own"):
        jb.gradients.expected("simple_regret", jb.Uniform(budget=4), wrong, **given)
    jb.gradients.expected("simple_regret", jb.Uniform(budget=4), family(jb.problems.Exponential.log_density), **given)


def test_a_slope_that_is_not_finite_is_refused():
    """Runs without one were left out, and the gradient was that of the others."""
    lost = family(lambda reward, average: jnp.where(reward > 2, jnp.nan, -1) * (jnp.log(average) + reward / average))
    with pytest.raises(jb.UsageError, match=r"^the derivative of the log_density of own in mean is not finite in \d"):
        jb.gradients.expected("error", jb.Uniform(budget=4), lost, wrt="mean", seeds=200)


@pytest.mark.parametrize("law", [jb.beta([2.0, 1.0], [1.0, 2.0]), jb.weibull([1.0, 2.0], [1.5, 0.7])])
def test_densities_are_those_of_scipy(law):
    """Up to a constant, in each parameter."""
    x = np.asarray([0.1, 0.4, 0.9])
    found = jax.vmap(lambda *leaves: law.log_density(x, *leaves))(*(getattr(law, name) for name in law.parameters))
    for arm in (0, 1):
        first, second = (float(getattr(law, name)[arm]) for name in law.parameters)
        scipy_law = stats.beta(first, second) if "a" in law.parameters else stats.weibull_min(second, scale=first)
        np.testing.assert_allclose(found[arm], scipy_law.logpdf(x), rtol=1e-5, atol=1e-5)
