"""Instances for top-K hold the papers' formulas, and go through specifications and grids."""

import numpy as np
import pytest
from scipy import stats

import jaxbandits as jb
from jaxbandits.sweeps.spec import build, build_problem, parse_problem


def means(problem):
    return np.asarray(problem.mean, np.float64)


def test_two_group():
    np.testing.assert_allclose(jb.two_group(n=7, k=3, high=0.8, low=0.2).mean, [0.8] * 3 + [0.2] * 4, rtol=1e-6)
    assert int(np.sum(means(jb.two_group(n=1000, k=250)) > 0.5)) == 250


@pytest.mark.parametrize(("n", "k"), [(2, 1), (9, 1), (20, 2), (105, 10), (1000, 100)])
def test_a_tenth_of_the_arms_is_good_unless_told(n, k):
    np.testing.assert_array_equal(jb.two_group(n=n).mean, jb.two_group(n=n, k=k).mean)
    np.testing.assert_array_equal(jb.synthetic(p=2, n=n).mean, jb.synthetic(p=2, n=n, k=k).mean)


def test_uniform():
    np.testing.assert_allclose(jb.uniform_means(4).mean, [0.75, 0.5, 0.25, 0.0], rtol=1e-6)
    np.testing.assert_allclose(jb.uniform_means(10_000).mean, 1 - np.arange(1, 10_001) / 10_000, atol=1e-7)


def test_synthetic_by_hand():
    # n = 5, k = 2: the border is 3/5; above it 2/5 (1 - i/2)^2, below it 3/5 ((i-2)/3)^2 less.
    expected = [0.6 + 0.4 / 4, 0.6, 0.6 - 0.6 / 9, 0.6 - 0.6 * 4 / 9, 0.0]
    np.testing.assert_allclose(jb.synthetic(p=2, n=5, k=2).mean, expected, atol=1e-7)


@pytest.mark.parametrize("k", [1, 100, 500, 999])
def test_synthetic_of_power_one_is_uniform(k):
    np.testing.assert_allclose(jb.synthetic(p=1, n=1000, k=k).mean, jb.uniform_means(1000).mean, atol=1e-7)


@pytest.mark.parametrize("p", [1e-3, 0.5, 3.7, 6, 50])
def test_synthetic_falls_from_arm_to_arm_and_passes_the_border_at_k(p):
    theta = means(jb.synthetic(p=p, n=1000, k=250))
    assert (np.diff(theta) <= 0).all()
    assert theta[-1] == 0
    assert theta[249] == pytest.approx(0.75)
    assert theta[0] <= 1


def test_powers_move_arms_to_and_from_the_border():
    far, even, near = (np.abs(means(jb.synthetic(p=p, n=1000, k=250)) - 0.75) for p in (0.5, 1, 6))
    assert (far >= even - 1e-7).all()
    assert (even >= near - 1e-7).all()


# Kolmogorov-Smirnov of fixed seeds, against 1e-8.
@pytest.mark.parametrize(
    ("make", "law"),
    [
        (jb.random_truncated_normal, stats.truncnorm(-2.5, 2.5, loc=0.5, scale=0.2)),
        (lambda **at: jb.random_truncated_normal(center=0.9, sd=0.5, **at), stats.truncnorm(-1.8, 0.2, 0.9, 0.5)),
        (jb.random_beta, stats.beta(4, 1)),
        (lambda **at: jb.random_beta(a=0.5, b=2.5, **at), stats.beta(0.5, 2.5)),
    ],
)
def test_random_means_have_their_law_and_depend_on_the_seed_alone(make, law):
    theta = means(make(n=10_000, seed=5))
    assert (np.diff(theta) <= 0).all()
    assert 0 <= theta.min() < theta.max() <= 1
    assert stats.kstest(theta, law.cdf).pvalue > 1e-8
    np.testing.assert_array_equal(theta, means(make(n=10_000, seed=5)))
    assert (theta != means(make(n=10_000, seed=6))).any()


def test_one_seed_draws_the_same_quantiles_of_every_law():
    uniform = means(jb.random_uniform(n=200, seed=7))
    np.testing.assert_allclose(means(jb.random_beta(n=200, seed=7)), uniform**0.25, atol=1e-6)
    wide = means(jb.random_truncated_normal(n=200, seed=7, sd=1e3))
    np.testing.assert_allclose(wide, uniform, atol=1e-5)


@pytest.mark.parametrize("c", [1.0, 1.5, 3.0, 40.0])
@pytest.mark.parametrize("n", [2, 10, 1000])
def test_c_spread_arms_are_c_spread(c, n):
    """Definition 1, over all pairs; and no smaller c would do."""
    theta = means(jb.c_spread(c, n))
    i, j = np.triu_indices(n, 1)
    distance, places = theta[i] - theta[j], (j - i) / n
    slack = 2e-7  # rounding of the float32 means
    assert (distance >= places / c - slack).all()
    assert (distance <= places * c + slack).all()
    assert distance.min() == pytest.approx(1 / (c * n), abs=slack)
    assert 0 <= theta.min() < theta.max() <= 1


def test_c_spread_of_one_is_uniform():
    np.testing.assert_allclose(jb.c_spread(1, 50).mean, jb.uniform_means(50).mean, atol=1e-7)


SPECS = {
    "two-group:n=20,k=3": lambda: jb.two_group(20, 3),
    "two-group:n=20": lambda: jb.two_group(20, 2),
    "two-group:n=20,k=3,high=0.9,low=0.1": lambda: jb.two_group(20, 3, 0.9, 0.1),
    "uniform:n=20": lambda: jb.uniform_means(20),
    "uniform:20": lambda: jb.uniform_means(20),
    "synthetic:p=.5,n=20,k=3": lambda: jb.synthetic(0.5, 20, 3),
    "random-truncated-normal:n=20,seed=4": lambda: jb.random_truncated_normal(20, 4),
    "random-beta:n=20,seed=4,a=2": lambda: jb.random_beta(20, 4, a=2.0),
    "c-spread:c=3,n=20": lambda: jb.c_spread(3, 20),
}


@pytest.mark.parametrize("spec", SPECS)
def test_specs_of_the_command_line(spec):
    wanted, found = SPECS[spec](), parse_problem(spec)
    assert isinstance(found, jb.problems.Bernoulli)
    np.testing.assert_array_equal(found.mean, wanted.mean)
    assert found.name == wanted.name
    np.testing.assert_array_equal(parse_problem(found.name).mean, wanted.mean)


def test_tables_of_a_sweep_specification():
    family = build_problem({"name": "synthetic", "p": {"axis": [0.5, 6]}, "n": 20, "k": 3})
    np.testing.assert_array_equal(family.make(**{**family.arguments, "p": 6}).mean, jb.synthetic(6, 20, 3).mean)
    ranged = build_problem({"name": "two-group", "n": 50, "k": {"axis": {"start": 2, "stop": 9, "num": 3}}})
    assert ranged.arguments["k"].values == (2, 6, 9)


@pytest.mark.parametrize(
    "family",
    [
        lambda: jb.uniform_means(n=jb.axis([4, 6])),
        lambda: jb.two_group(n=jb.axis([4, 6])),
        lambda: jb.two_group(n=jb.axis([4, 6]), k=None),
        lambda: jb.c_spread(c=jb.axis([1.0, 2.5]), n=5),
    ],
)
def test_a_sweep_repeats_from_its_specification(family):
    ds = jb.sweep(jb.Uniform(budget=60), family(), seeds=4)
    again = jb.repeat(ds)
    np.testing.assert_array_equal(ds.recommended, again.recommended)
    _, problem, _ = build(ds.attrs["spec"])
    assert problem.make is family().make


@pytest.mark.slow
@pytest.mark.bits
def test_an_axis_over_n_and_k_pads_and_gives_what_each_cell_gives_alone():
    ds = jb.sweep(jb.Uniform(budget=400, m=3), jb.two_group(n=jb.axis([10, 13, 40]), k=jb.axis([2, 5])), seeds=30)
    assert dict(ds.pulls.sizes) == {"n": 3, "k": 2, "seed": 30}
    for n in (13,):
        for k in (2, 5):
            alone = jb.sweep(jb.Uniform(budget=400, m=3), jb.two_group(n=n, k=k), seeds=30)
            cell = ds.sel(n=n, k=k)
            np.testing.assert_array_equal(cell.correct, alone.correct)
            np.testing.assert_array_equal(cell.recommended[:, :n], alone.recommended)
            assert not cell.recommended[:, n:].any()


def test_k_of_the_problem_and_of_the_algorithm_move_together():
    good = jb.axis([2, 5], name="k")
    ds = jb.sweep(jb.Uniform(budget=4000, m=good), jb.two_group(n=20, k=good), seeds=5)
    assert dict(ds.pulls.sizes) == {"k": 2, "seed": 5}
    np.testing.assert_array_equal(ds.recommended.sum("arm"), [[2] * 5, [5] * 5])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: jb.two_group(n=10, k=10), "smaller than n=10, got 10"),
        (lambda: jb.two_group(n=10, k=0), "from 1 to 9, smaller than n=10, got 0"),
        (lambda: jb.two_group(n=10, k=2.5), "k must be a whole number from 1 to 9, .* got 2.5"),
        (lambda: jb.two_group(n=10, k=float("nan")), "got nan"),
        (lambda: jb.two_group(n=float("nan"), k=1), "n must be a whole number from 2 to 8,388,608, got nan"),
        (lambda: jb.two_group(n=10, k=2, high=1.2), "got 1.2 at arm 0"),
        (lambda: jb.two_group(n=10, high=0.2, low=0.3), "high must not be below low=0.3, got 0.2"),
        (lambda: jb.uniform_means(1), "from 2 to 8,388,608, got 1"),
        (lambda: jb.uniform_means("many"), "from 2 to 8,388,608, got 'many'"),
        (lambda: jb.synthetic(p=0, n=10, k=2), "p must be positive and finite, got 0"),
        (lambda: jb.synthetic(p=-1, n=10, k=2), "p must be positive and finite, got -1"),
        (lambda: jb.synthetic(p=float("inf"), n=10, k=2), "got inf"),
        (lambda: jb.synthetic(p=1, n=10, k=11), "synthetic: k must .* got 11"),
        (lambda: jb.c_spread(0.9, 10), "c must be finite and at least 1, got 0.9"),
        (lambda: jb.random_beta(10, a=0), "a must be positive and finite, got 0"),
        (lambda: jb.random_truncated_normal(10, sd=0), "sd must be positive and finite, got 0"),
        (lambda: jb.random_truncated_normal(10, center=2), r"center must lie in \[0, 1\], got 2"),
        (lambda: parse_problem("two-group:n=10,k=x"), "'x' is not a number"),
        (lambda: parse_problem("two-group:n=10,k=2.5"), "k must be a whole number, got 2.5"),
        (lambda: parse_problem("synthetic:p=1,n=10,q=3"), "unknown argument of synthetic 'q'"),
        (lambda: parse_problem("sinthetic:p=1"), "did you mean 'synthetic'"),
        (lambda: build_problem({"name": "two-group", "n": 10, "k": "two"}), "k must be a whole number, got 'two'"),
    ],
)
def test_bad_input_is_refused_in_one_line(call, message):
    with pytest.raises(jb.UsageError, match=message) as error:
        call()
    assert "\n" not in str(error.value)


def test_a_cell_with_k_not_below_n_is_refused_before_anything_runs():
    with pytest.raises(jb.UsageError, match="smaller than n=4, got 5"):
        jb.sweep(jb.Uniform(budget=100), jb.two_group(n=jb.axis([4, 10]), k=jb.axis([2, 5])), seeds=2)
