"""Complexities against hand-computed cases, the numbers printed in the papers, and an independent enumeration."""

import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits import theory

MEANS = np.array([0.3, 0.9, 0.5, 0.8, 0.1])


def gaps_by_enumeration(means: np.ndarray, m: int) -> np.ndarray:
    """UGapE section 2, second form: the distance to the m-th largest mean among the other arms."""
    return np.array([abs(np.sort(np.delete(means, k))[-m] - means[k]) for k in range(means.size)])


def test_gaps_by_hand():
    np.testing.assert_allclose(theory.gaps(MEANS), [0.6, 0.1, 0.4, 0.1, 0.8], rtol=1e-6)
    np.testing.assert_allclose(theory.gaps(MEANS, 2), [0.5, 0.4, 0.3, 0.3, 0.7], rtol=1e-6)
    np.testing.assert_allclose(theory.gaps(MEANS, 4), [0.2, 0.8, 0.4, 0.7, 0.2], rtol=1e-6)


@pytest.mark.parametrize("m", [1, 2, 5, 11])
def test_gaps_are_distances_to_the_mth_best_other_arm(m):
    means = np.random.default_rng(m).uniform(size=12)
    np.testing.assert_allclose(theory.gaps(means, m), gaps_by_enumeration(means, m), atol=1e-7)


def test_tied_arms_at_the_border_have_no_gap():
    gap = np.asarray(theory.gaps(np.array([0.5, 0.7, 0.5, 0.2]), 2))
    np.testing.assert_allclose(gap, [0.0, 0.2, 0.0, 0.3], atol=1e-7)
    assert np.isinf(theory.h_epsilon(np.array([0.5, 0.7, 0.5, 0.2]), 0.0, 2))


def test_h_epsilon_by_hand():
    # Delta = .4, .4, .6; max((Delta + .2) / 2, .2) = .3, .3, .4.
    means = np.array([0.9, 0.5, 0.3])
    assert float(theory.h_epsilon(means, 0.2)) == pytest.approx(2 / 0.09 + 1 / 0.16, rel=1e-5)
    assert float(theory.h_epsilon(means, 0.2, b=2.0)) == pytest.approx(4 * (2 / 0.09 + 1 / 0.16), rel=1e-5)
    # Below the accuracy the gaps no longer matter; at epsilon = 0 the complexity is four times H1.
    assert float(theory.h_epsilon(means, 0.7)) == pytest.approx(3 / 0.49, rel=1e-5)
    assert float(theory.h_epsilon(means, 0.0)) == pytest.approx(4 * float(theory.h1(means)), rel=1e-6)


def test_h_epsilon_variance_by_hand():
    # D = .3, .3, .4 as above; sigma = 0, .5, .5.
    means, variances = np.array([0.9, 0.5, 0.3]), np.array([0.0, 0.25, 0.25])
    c = 13 / 3
    expected = c / 0.3 + ((0.5 + np.sqrt(0.25 + c * 0.3)) / 0.3) ** 2 + ((0.5 + np.sqrt(0.25 + c * 0.4)) / 0.4) ** 2
    assert float(theory.h_epsilon_variance(means, variances, 0.2)) == pytest.approx(expected, rel=1e-5)


def test_variance_complexity_is_infinite_not_undefined_when_arms_tie():
    assert np.isinf(theory.h_epsilon_variance(np.array([0.5, 0.5, 0.1]), np.zeros(3), 0.0))


def test_h1_and_h2_by_hand():
    # Gaps .1, .1, .4, .6, .8: H2 is the largest of 1/.01, 2/.01, 3/.16, 4/.36, 5/.64.
    assert float(theory.h1(MEANS)) == pytest.approx(200 + 1 / 0.16 + 1 / 0.36 + 1 / 0.64, rel=1e-5)
    assert float(theory.h2(MEANS)) == pytest.approx(200, rel=1e-5)
    # Equal gaps of .3: the last place counts.
    assert float(theory.h2(np.array([0.6, 0.3, 0.3, 0.3]))) == pytest.approx(4 / 0.09, rel=1e-5)


def test_h2_bounds_h1_from_both_sides():
    means = np.random.default_rng(0).uniform(size=(20, 50))
    h1, h2 = np.asarray(theory.h1(means)), np.asarray(theory.h2(means))
    assert np.all(h2 <= h1 * (1 + 1e-5))
    assert np.all(h1 <= np.log(2 * 20) * h2)


def test_gape_problem_1_of_the_paper():
    means = np.array([[0.5, 0.45, 0.4, 0.3], [0.5, 0.3, 0.2, 0.1]])
    np.testing.assert_allclose(theory.gape_h(means), [925, 67.36], rtol=1e-4)


def test_gape_v_problem_2_of_the_paper():
    # Rademacher arms (x, y): mean (x + y) / 2, variance ((y - x) / 2)^2.
    ends = np.array(
        [[(0, 1), (0.45, 0.45), (0.25, 0.65), (0, 0.9)], [(0.4, 0.6), (0.45, 0.45), (0.35, 0.55), (0.25, 0.65)]]
    )
    means, variances = ends.mean(axis=2), ((ends[..., 1] - ends[..., 0]) / 2) ** 2
    np.testing.assert_allclose(theory.gape_h_variance(means, variances), [1443, 647], atol=0.5)


@pytest.mark.parametrize("name", ["h_epsilon", "h_epsilon_variance"])
def test_complexity_falls_with_epsilon_and_grows_with_the_range(name):
    extra = (np.full(5, 0.2),) if name == "h_epsilon_variance" else ()

    def complexity(epsilon, b=1.0):
        return float(getattr(theory, name)(MEANS, *extra, epsilon, 2, b))

    values = [complexity(epsilon) for epsilon in (0.0, 0.05, 0.1, 0.3, 0.8)]
    assert np.all(np.diff(values) < 0)
    assert complexity(0.1, 2.0) > complexity(0.1)


def test_complexity_with_variances_grows_with_them():
    values = [float(theory.h_epsilon_variance(MEANS, np.full(5, v), 0.1)) for v in (0.0, 0.05, 0.25)]
    assert np.all(np.diff(values) > 0)


def test_padded_arms_weigh_nothing():
    mask = np.arange(8) < 5
    means = np.where(mask, np.pad(MEANS, (0, 3)), 0.85)
    variances = np.full(8, 0.2)
    np.testing.assert_array_equal(theory.gaps(means, 2, mask)[:5], theory.gaps(MEANS, 2))
    for m in (1, 3):
        assert float(theory.h_epsilon(means, 0.1, m, mask=mask)) == pytest.approx(
            float(theory.h_epsilon(MEANS, 0.1, m)), rel=1e-6
        )
        assert float(theory.h_epsilon_variance(means, variances, 0.1, m, mask=mask)) == pytest.approx(
            float(theory.h_epsilon_variance(MEANS, variances[:5], 0.1, m)), rel=1e-6
        )
        assert float(theory.h1(means, m, mask)) == pytest.approx(float(theory.h1(MEANS, m)), rel=1e-6)
        assert float(theory.h2(means, m, mask)) == pytest.approx(float(theory.h2(MEANS, m)), rel=1e-6)
    padded = theory.gape_h_variance(means[None], variances[None], mask=mask[None])
    np.testing.assert_allclose(padded, theory.gape_h_variance(MEANS[None], variances[None, :5]), rtol=1e-6)
    np.testing.assert_allclose(theory.gape_h(means[None], mask=mask[None]), theory.gape_h(MEANS[None]), rtol=1e-6)


def test_padded_arms_leave_gradients_finite():
    mask = jnp.arange(8) < 5
    means, variances = jnp.where(mask, jnp.pad(jnp.asarray(MEANS), (0, 3)), 0.85), jnp.full(8, 0.2)

    def gradients(means, variances, mask):
        return jax.jit(jax.grad(lambda *x: theory.h_epsilon_variance(*x, 0.1, 2, mask=mask), argnums=(0, 1)))(
            means, variances
        )

    for padded, plain in zip(gradients(means, variances, mask), gradients(means[:5], variances[:5], None), strict=True):
        np.testing.assert_allclose(padded, np.pad(plain, (0, 3)), rtol=1e-5)


def test_traced_m_and_vmap_equal_the_loop():
    rng = np.random.default_rng(1)
    means, m = jnp.asarray(rng.uniform(size=(7, 10))), jnp.asarray(rng.integers(1, 10, size=7))
    epsilon = jnp.asarray(rng.uniform(0, 0.2, size=7))
    loop = [float(theory.h_epsilon(means[r], epsilon[r], int(m[r]))) for r in range(7)]
    np.testing.assert_allclose(jax.jit(jax.vmap(theory.h_epsilon))(means, epsilon, m), loop, rtol=1e-5)
    # Arms first, runs last: the same numbers from one call.
    np.testing.assert_allclose(theory.h_epsilon(means.T, epsilon, m), loop, rtol=1e-5)


def test_gradients_equal_differences(x64, central_differences):
    variances = np.array([0.21, 0.09, 0.25, 0.16, 0.1])
    cases = [
        (lambda x: theory.h_epsilon(x, 0.15, 2), MEANS),
        (lambda x: theory.h_epsilon(MEANS, x, 2), np.array(0.15)),
        (lambda x: theory.h_epsilon_variance(x, variances, 0.15, 2), MEANS),
        (lambda x: theory.h_epsilon_variance(MEANS, x, 0.15, 2), variances),
        (lambda x: theory.h1(x, 2), MEANS),
        (lambda x: theory.h2(x, 2), np.array([0.3, 0.9, 0.5, 0.82, 0.1])),
        (lambda x: theory.gape_h(x).sum(), MEANS.reshape(1, 5)),
        (lambda x: theory.gape_h_variance(x, variances.reshape(1, 5)).sum(), MEANS.reshape(1, 5)),
    ]
    for function, x in cases:
        gradient = jax.jit(jax.grad(function))(jnp.asarray(x))
        assert gradient.dtype == jnp.float64
        np.testing.assert_allclose(gradient, central_differences(function, x), rtol=1e-5, atol=1e-5)
        assert np.any(np.asarray(gradient) != 0)


def test_gaps_that_single_precision_cannot_see():
    # Gaps of 1e-6 between means near 1/2: float32 is 3% off, and takes gaps of 1e-8 for ties.
    for gap in (1e-6, 1e-8):
        means = [0.5, 0.5 - gap, 0.5 - 2 * gap]
        assert theory.h1(means) == pytest.approx(2.25 / gap**2, rel=1e-7)
        assert theory.h1(np.array(means)) == theory.h1(means)
    assert np.isinf(theory.h1(jnp.asarray(means)))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.h_epsilon(MEANS, -0.1), r"^epsilon must be .* got -0.1$"),
        (lambda: theory.h_epsilon(MEANS, np.nan), r"^epsilon must be .* got nan$"),
        (
            lambda: theory.h_epsilon(MEANS, 0.1, 5),
            r"^m must be a whole number from 1 to 4, .* got 5$",
        ),
        (lambda: theory.h_epsilon(MEANS, 0.1, np.array([1, 0])), r"^m must .* got 0$"),
        (lambda: theory.gaps(MEANS, 1.5), r"^m must .* got 1.5$"),
        (lambda: theory.gaps(MEANS, 3, np.arange(5) < 3), r"^m must .* from 1 to 2, .* got 3$"),
        (lambda: theory.gaps(np.array([0.1, np.nan])), r"^means must be finite, got nan$"),
        (lambda: theory.h_epsilon(MEANS, 0.1, b=0.0), r"^b must be positive and finite, got 0.0$"),
        (lambda: theory.h_epsilon_variance(MEANS, np.full(5, -1.0), 0.1), r"^variances must .* got -1.0$"),
    ],
)
def test_bad_input_is_refused_in_one_line(call, message):
    with pytest.raises(ValueError, match=message):
        call()


OF_MEANS = [f for f in vars(theory).values() if inspect.isfunction(f) and "means" in inspect.signature(f).parameters]
GIVEN = {"p": 1.5, "k": 1, "n": 10.0, "budget": 10.0}


@pytest.mark.parametrize("formula", OF_MEANS, ids=lambda f: f.__name__)
def test_what_is_no_number_of_each_arm_is_refused_in_one_line(formula):
    needed = [name for name, x in inspect.signature(formula).parameters.items() if x.default is x.empty][1:]
    given = {name: GIVEN.get(name, 0.1) for name in needed}
    for means in (0.5, np.zeros(0)):
        with pytest.raises(jb.UsageError, match=r"^means must (have shape|be a list)"):
            formula(means, **given)
    for name in needed:
        for value in (None, "x"):
            with pytest.raises(jb.UsageError):
                formula(MEANS, **given | {name: value})


def test_tracers_pass_through():
    refused = [-0.1, 0.1]
    values = jax.jit(lambda epsilon, m: theory.h_epsilon(jnp.asarray(MEANS), epsilon, m))(refused[0], 9)
    assert values.shape == ()
    assert jax.vmap(lambda epsilon: theory.h_epsilon(MEANS, epsilon))(jnp.asarray(refused)).shape == (2,)
