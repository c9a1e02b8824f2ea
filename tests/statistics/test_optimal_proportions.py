"""Optimal proportions against published values, a certificate of optimality, edges; bits and derivatives."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxbandits.statistics.closest_alternative import Pairs, alternative
from jaxbandits.statistics.exponential_families import FAMILIES
from jaxbandits.statistics.optimal_proportions import proportions
from jaxbandits.transform import map_runs

# T* and w*, as in Garivier and Kaufmann (2016), section 6, and others worked out by nested bisection.
KNOWN = [
    ("bernoulli", (0.5, 0.45, 0.43, 0.4), 989.792, (0.4165, 0.3903, 0.1362, 0.0570)),
    ("bernoulli", (0.3, 0.21, 0.2, 0.19, 0.18), 326.642, (0.3359, 0.2515, 0.1766, 0.1324, 0.1036)),
    ("bernoulli", (0.5, 0.1, 0.02), 12.0435, (0.3930, 0.4200, 0.1870)),
    ("bernoulli", (0.4, 0.5, 0.6, 0.7, 0.8), 167.932, (0.0163, 0.0288, 0.0667, 0.4305, 0.4576)),
    ("gaussian", (1, 0.5, 0), 34.285, (0.4691, 0.4643, 0.0666)),
    ("gaussian", (1, 0.85, 0.8, 0.7), 449.870, (0.4125, 0.3793, 0.1521, 0.0561)),
]


@functools.partial(jax.jit, static_argnames=("name", "rounds"))
def solved(name, means, epsilon=None, share=None, rounds=None):
    return proportions(FAMILIES[name], means, epsilon=epsilon, share=share, rounds=rounds)


def instances(name, arms, runs, seed=0, closest=1.0):
    random = np.random.default_rng(seed)
    means = random.uniform(size=(arms, runs)) if name == "bernoulli" else random.gamma(1, size=(arms, runs))
    return means[0] + (means - means[0]) * closest ** random.uniform(size=(arms, runs))


@pytest.mark.parametrize(("name", "means", "time", "weights"), KNOWN)
def test_known_values(name, means, time, weights):
    found = solved(name, jnp.asarray(means, jnp.float32))
    assert float(found.time) == pytest.approx(time, rel=3e-5)
    np.testing.assert_allclose(found.weights, weights, atol=6e-5)
    # Far from the start, and from an instance near by.
    again = proportions(FAMILIES[name], jnp.asarray(means, jnp.float32), start=found.split * 1.3, rounds=2)
    np.testing.assert_allclose(again.weights, found.weights, rtol=1e-4)


def bounds_of_time(name, means, found, epsilon):
    """T* lies between: what the proportions attain, and the linear programme with the alternatives where they are."""
    family, best = FAMILIES[name], np.argmax(means, axis=0)
    top = np.take_along_axis(means, best[None], 0)[0]
    rivals = np.arange(len(means))[:, None] != best
    other = np.where(rivals, means, means.min(0))
    lead = None if epsilon is None else jnp.full(top.shape, epsilon)
    at = alternative(family, Pairs(jnp.asarray(top), jnp.asarray(other), lead), found.split)
    of_best, of_other = np.asarray(at.of_best), np.asarray(at.of_other)
    weights = np.asarray(found.weights)
    first = np.take_along_axis(weights, best[None], 0)[0]
    attained = np.where(rivals, first * of_best + weights * of_other, np.inf).min(0)
    # min over w of w + sum of max(0, 1 - w d_1a) / d_a is at one of its kinks.
    kinks = np.concatenate([1 / of_best, np.zeros((1, len(top)))])[:, None]
    values = kinks[:, 0] + (np.where(rivals, np.maximum(1 - kinks * of_best, 0) / of_other, 0)).sum(1)
    return values.min(0), 1 / attained


@pytest.mark.parametrize(
    ("name", "arms", "epsilon", "closest"),
    [
        pytest.param("bernoulli", 10, None, 1, marks=pytest.mark.slow),
        ("bernoulli", 40, None, 1e-5),
        ("bernoulli", 7, 0.05, 1),
        pytest.param("bernoulli", 7, 0.3, 1e-3, marks=pytest.mark.slow),
        pytest.param("gaussian", 10, 0.05, 1, marks=pytest.mark.slow),
        ("poisson", 2, None, 1),
        pytest.param("poisson", 7, 0.3, 1e-3, marks=pytest.mark.slow),
        ("exponential", 40, None, 1e-5),
        pytest.param("exponential", 7, 0.05, 1, marks=pytest.mark.slow),
    ],
)
def test_the_optimum_is_certified_in_double_precision(name, arms, epsilon, closest):
    with jax.enable_x64(True):
        means = instances(name, arms, 300, arms, closest)
        lead = None if epsilon is None else jnp.float64(epsilon)
        found = solved(name, jnp.asarray(means), lead, rounds=8 if epsilon is None else 16)
        below, above = bounds_of_time(name, means, found, epsilon)
        assert found.time.dtype == jnp.float64
        np.testing.assert_allclose(found.weights.sum(0), 1, rtol=1e-13)
        inside = np.asarray(found.weights).max(0) < 1  # at edges the alternatives are not those of the split
        assert inside.mean() > 0.9
        np.testing.assert_allclose(found.time[inside], above[inside], rtol=1e-9)
        np.testing.assert_allclose(below[inside], above[inside], rtol=1e-9 if epsilon is None else 1e-6)


@pytest.mark.parametrize(
    ("name", "epsilon", "rtol"),
    [
        pytest.param("bernoulli", None, 2e-5, marks=pytest.mark.slow),
        ("bernoulli", 0.05, 1e-4),
        pytest.param("gaussian", None, 2e-6, marks=pytest.mark.slow),
        pytest.param("poisson", 0.05, 1e-5, marks=pytest.mark.slow),
        pytest.param("exponential", None, 1e-5, marks=pytest.mark.slow),
    ],
)
def test_single_precision_and_few_rounds_are_close_to_it(name, epsilon, rtol):
    means = instances(name, 10, 2000).astype(np.float32)
    few = solved(name, jnp.asarray(means), None if epsilon is None else jnp.float32(epsilon))
    with jax.enable_x64(True):
        lead = None if epsilon is None else jnp.float64(np.float32(epsilon))
        many = solved(name, jnp.asarray(means, jnp.float64), lead, rounds=16)
        times, weights = (np.asarray(x) for x in (many.time, many.weights))
    assert few.weights.dtype == jnp.float32
    usual = np.abs(np.asarray(few.time) / times - 1)
    assert np.quantile(usual, 0.99) < rtol
    assert usual.max() < 1e-2
    assert np.quantile(np.abs(few.weights - weights).max(0), 0.99) < rtol


def test_a_given_share_is_kept_and_the_best_one_is_the_optimum():
    means = jnp.asarray([0.7, 0.6, 0.5, 0.2])
    best = solved("bernoulli", means)
    for share in (0.1, 0.5, 0.9):
        found = solved("bernoulli", means, share=jnp.float32(share))
        assert float(found.weights[0]) == pytest.approx(share, rel=1e-6)
        assert float(found.weights.sum()) == pytest.approx(1, rel=1e-6)
        assert float(found.time) > float(best.time)
    same = solved("bernoulli", means, share=best.weights[0])
    np.testing.assert_allclose(same.weights, best.weights, rtol=1e-4)
    assert float(same.time) == pytest.approx(float(best.time), rel=1e-5)
    # Two normal arms: 1/T = beta (1 - beta) gap^2 / 2.
    two = solved("gaussian", jnp.asarray([0.5, 0.1]), share=jnp.float32(0.3))
    assert float(two.time) == pytest.approx(2 / (0.3 * 0.7 * 0.16), rel=1e-6)


def test_padded_arms_and_a_best_arm_that_is_given():
    means, real = jnp.asarray([0.5, 0.9, 0.45, 0.43, 0.4, 0.99]), jnp.asarray([1, 0, 1, 1, 1, 0], bool)
    plain = solved("bernoulli", means[real])
    padded = proportions(FAMILIES["bernoulli"], means, mask=real)
    np.testing.assert_allclose(padded.weights[real], plain.weights, rtol=2e-6)
    np.testing.assert_array_equal(padded.weights[~real], 0)
    np.testing.assert_allclose(padded.time, plain.time, rtol=2e-6)
    given = proportions(FAMILIES["bernoulli"], means, mask=real, best=jnp.arange(6) == 0)
    np.testing.assert_array_equal(given.weights, padded.weights)


@pytest.mark.parametrize(
    ("means", "epsilon", "time", "weights"),
    [
        ((0.5, 0.2, 0.5, 0.5), None, np.inf, (1 / 3, 0, 1 / 3, 1 / 3)),  # ties: uniform over them
        pytest.param((0.0, 0.0), 0.0, np.inf, (0.5, 0.5), marks=pytest.mark.slow),
        pytest.param((0.5, 0.4, 0.1), 1.0, 0, (1 / 3, 1 / 3, 1 / 3), marks=pytest.mark.slow),  # no alternative exists
        pytest.param((1.0, 0.0), None, 1 / np.log(2), (0.5, 0.5), marks=pytest.mark.slow),
        # The best arm cannot go down.
        pytest.param((0.0, 0.0, 0.0), 0.1, -2 / np.log(0.9), (0, 0.5, 0.5), marks=pytest.mark.slow),
        pytest.param((1.0, 1.0, 0.3), 0.1, -1 / np.log(0.9), (1, 0, 0), marks=pytest.mark.slow),  # another cannot go up
        pytest.param((1 - 2.0**-24, 1 - 2.0**-23, 0.3), 0.1, 9.49130, (1, 0, 0), marks=pytest.mark.slow),  # nor much
        pytest.param((1e-30, 1e-31), 0.1, -1 / np.log(0.9), (0, 1), marks=pytest.mark.slow),
    ],
)
def test_edges(means, epsilon, time, weights):
    lead = None if epsilon is None else jnp.float32(epsilon)
    found = solved("bernoulli", jnp.asarray(means, jnp.float32), lead)
    assert float(found.time) == pytest.approx(time, rel=2e-6)
    np.testing.assert_allclose(found.weights, weights, atol=2e-6)
    assert np.isfinite(found.split).all()
    for output in ("time", "weights"):
        slope = jax.grad(lambda x: jnp.sum(getattr(solved("bernoulli", x, lead), output) ** 2))  # noqa: B023
        assert np.isfinite(slope(jnp.asarray(means, jnp.float32))).all()


def test_gaps_that_differ_by_a_factor_of_a_million():
    with jax.enable_x64(True):
        found = solved("gaussian", jnp.asarray([1.0, 1 - 1e-6, 0.0]), rounds=5)
        # x / (1 + x) = y / (gap^2 / 2): the far arm has a share of some 1e-12, and the near ones nearly all.
        assert float(found.time) == pytest.approx(8e12, rel=1e-9)
        assert float(found.weights[2]) == pytest.approx(0.25e-12, rel=1e-6)
    single = solved("gaussian", jnp.asarray([1.0, 0.999, -999.0], jnp.float32))
    assert float(single.weights[2]) == pytest.approx(0.25e-12, rel=1e-3)


@pytest.mark.slow
@pytest.mark.bits
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("bernoulli", {}),
        ("bernoulli", {"epsilon": 0.05}),
        ("gaussian", {"share": 0.4}),
        ("exponential", {"epsilon": 0.05, "share": 0.4}),
    ],
    ids=str,
)
def test_a_run_has_the_same_bits_alone_and_in_batches(name, options):
    means = jnp.asarray(instances(name, 7, 130), jnp.float32)
    options = {key: jnp.float32(value) for key, value in options.items()}

    def found(means):
        return proportions(FAMILIES[name], means, **options)

    mapped = jax.jit(map_runs(found))
    together = mapped(means)
    for runs in (3, 64):
        some = mapped(means[:, :runs])
        jax.tree.map(lambda a, b, runs=runs: np.testing.assert_array_equal(a, b[..., :runs]), some, together)
    for run in range(0, 130, 13):
        one = mapped(means[:, run : run + 1])
        jax.tree.map(lambda a, b, run=run: np.testing.assert_array_equal(a, b[..., run : run + 1]), one, together)


@pytest.mark.parametrize(
    ("name", "free"),
    [
        pytest.param("bernoulli", True, marks=pytest.mark.slow),
        pytest.param("exponential", False, marks=pytest.mark.slow),
    ],
)
def test_first_and_second_derivatives_are_those_of_differences(name, free):
    means = np.asarray([0.8, 0.62, 0.7, 0.2])
    with jax.enable_x64(True):

        def outputs(x):
            share = None if free else x[-2]
            found = proportions(FAMILIES[name], x[:4], epsilon=x[-1], share=share, rounds=14)
            return jnp.log(found.time) + jnp.sum(found.weights * jnp.asarray([1.0, 2, 3, 5]))

        at = jnp.asarray([*means, 0.45, 0.06])
        slope = jax.jit(jax.grad(outputs))
        bend, value = jax.jit(jax.hessian(outputs))(at), jax.jit(outputs)
        for i, unit in enumerate(np.eye(6)):
            by_differences = (value(at + 1e-6 * unit) - value(at - 1e-6 * unit)) / 2e-6
            assert float(slope(at)[i]) == pytest.approx(float(by_differences), rel=1e-6, abs=1e-7)
            by_differences = (slope(at + 1e-5 * unit) - slope(at - 1e-5 * unit)) / 2e-5
            np.testing.assert_allclose(bend[i], by_differences, rtol=1e-5, atol=1e-4)
        forward = jax.jit(jax.jacfwd(outputs))(at)
        np.testing.assert_allclose(forward, slope(at), rtol=1e-10)
