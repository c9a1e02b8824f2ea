"""Infinite budgets and numbers of rewards, quotients outside the range of floats, and parameters that are no number."""

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits import theory

MEANS, VARIANCES, TIED = np.asarray([0.7, 0.5, 0.4]), np.full(3, 0.2), np.asarray([0.7, 0.7, 0.4])
#: Error bounds as functions of means and a budget, whose exploration parameter is the best one or a given one.
ERRORS = {
    "ugape-b": lambda means, n, **a: theory.ugape_b_error_bound(means, n, 0.0, **a),
    "ugape-b, variances": lambda means, n, **a: theory.ugape_b_variance_error_bound(means, VARIANCES, n, 0.0, **a),
    "gape": theory.gape_error_bound,
    "gape, variances": lambda means, n, **a: theory.gape_variance_error_bound(means, VARIANCES, n, **a),
    "ucb-e": theory.ucb_e_error_bound,
}
RADII = (
    theory.empirical_mean_radius,
    theory.truncated_mean_radius,
    theory.median_of_means_radius,
    theory.catoni_radius,
)


@pytest.mark.parametrize("bound", ERRORS.values(), ids=ERRORS)
def test_an_infinite_budget_leaves_no_error_where_the_parameter_may_follow(bound):
    """It was NaN, as were its derivatives."""
    assert float(bound(MEANS, np.inf)) == 0
    assert float(bound(MEANS, 1e12)) < 1e-30
    assert float(bound(TIED, np.inf)) == 1  # no parameter is admissible
    assert float(bound(MEANS, np.inf, a=2.0)) == 1  # nor does a fixed one ever end the union over times
    slopes = jax.grad(bound, argnums=(0, 1))(jnp.float32(MEANS), jnp.float32(jnp.inf))
    for slope in slopes:
        np.testing.assert_array_equal(slope, 0)


@pytest.mark.parametrize("bound", ERRORS.values(), ids=ERRORS)
def test_a_parameter_that_is_no_number_is_refused(bound):
    with pytest.raises(jb.UsageError, match="a must be a number, got nan"):
        bound(MEANS, 1e4, a=float("nan"))


@pytest.mark.parametrize("radius", RADII, ids=lambda radius: radius.__name__)
def test_infinitely_many_rewards_have_a_radius_of_0(radius):
    assert float(radius(np.inf, 0.1, 1.5, 2.0)) == 0
    slopes = jax.grad(radius, argnums=(0, 1, 2, 3))(*map(jnp.float32, (jnp.inf, 0.1, 1.5, 2.0)))
    np.testing.assert_array_equal(slopes, 0)
    near = float(radius(1e30, 0.1, 1.5, 2.0))
    assert 0 < near < 1e-8


@pytest.mark.parametrize("budget", [2.0, 3.0, 4.0, 1e4, np.inf])
@pytest.mark.parametrize("p", [1.01, 1.2, 2.0])
def test_an_error_bound_of_0_or_1_has_slopes_of_0(budget, p):
    """The exponent is far outside the range of floats: its slope, infinite, was multiplied by 0."""
    given = tuple(map(jnp.float32, (budget, p, 1e-6, 0.1)))

    def bound(*x):
        return theory.sr_tea_error_bound(jnp.float32(MEANS), *x)

    value = float(bound(*given))
    slopes = jax.grad(bound, argnums=(0, 1, 2, 3))(*given)
    assert np.isfinite(slopes).all()
    if value in (0, 1):
        np.testing.assert_array_equal(slopes, 0)


def poisson(p, q):
    return p * mpmath.log(p / q) + q - p


def exponential(p, q):
    return mpmath.log(q / p) + p / q - 1


@pytest.mark.parametrize(
    ("found", "exact", "p", "q"),
    [
        (theory.kl_poisson, poisson, 10.0, 3e-308),
        (theory.kl_poisson, poisson, 1e300, 1e-300),
        (theory.kl_poisson, poisson, np.float32(10), np.float32(2e-38)),
        (theory.kl_poisson, poisson, 1e-300, 1e300),
        (theory.kl_exponential, exponential, 1e-300, 1e300),
        (theory.kl_exponential, exponential, np.float32(1e-30), np.float32(1e30)),
        (theory.kl_exponential, exponential, 1e200, 1e-100),
        (theory.kl_exponential, exponential, 0.3, 0.3 + 1e-9),
    ],
)
def test_divergences_where_the_quotient_of_the_means_is_no_float(found, exact, p, q):
    """Some were infinite."""
    with mpmath.workdps(700):
        expected = float(exact(mpmath.mpf(float(p)), mpmath.mpf(float(q))))
    single = isinstance(p, np.float32)
    assert float(found(p, q)) == pytest.approx(expected, rel=3e-6 if single else 1e-13)
    assert float(found(np.float32(1), np.float32(2))) == pytest.approx(float(exact(1.0, 2.0)), rel=1e-6)
