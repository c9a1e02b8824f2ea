"""Named instances hold the papers' numbers."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits import theory
from jaxbandits.problems.specs import parse_problem

# Audibert, Bubeck, Munos (2010), section 6: number of arms, some means (arm: mean).
ABM = {
    1: (20, {1: 0.5, 2: 0.4, 20: 0.4}),
    2: (20, {1: 0.5, 2: 0.42, 6: 0.42, 7: 0.38, 20: 0.38}),
    3: (4, {1: 0.5, 2: 0.5 - 0.37**2, 3: 0.5 - 0.37**3, 4: 0.5 - 0.37**4}),
    4: (6, {1: 0.5, 2: 0.42, 3: 0.4, 4: 0.4, 5: 0.35, 6: 0.35}),
    5: (15, {1: 0.5, 2: 0.45, 3: 0.425, 15: 0.125}),
    6: (20, {1: 0.5, 2: 0.48, 3: 0.37, 20: 0.37}),
    7: (30, {1: 0.5, 2: 0.45, 6: 0.45, 7: 0.43, 20: 0.43, 21: 0.38, 30: 0.38}),
}


@pytest.mark.parametrize("number", ABM)
def test_abm(number):
    problem = jb.abm(number)
    arms, means = ABM[number]
    assert isinstance(problem, jb.problems.Bernoulli)
    assert problem.arms == arms
    assert problem.name == f"abm:{number}"
    for arm, mean in means.items():
        np.testing.assert_allclose(problem.mean[arm - 1], mean, rtol=1e-6)
    assert int(np.argmax(problem.mean)) == 0


def test_abm_group_sizes():
    """H1 adds up all gaps, so that no arm can be missing or have another mean."""
    h1 = [float(theory.h1(jb.abm(number).mean)) for number in ABM]
    expected = [
        20 / 0.1**2,
        (1 + 5) / 0.08**2 + 14 / 0.12**2,
        2 / 0.37**8 + 1 / 0.37**6 + 1 / 0.37**4,
        2 / 0.08**2 + 2 / 0.1**2 + 2 / 0.15**2,
        1 / 0.05**2 + sum((0.025 * i) ** -2 for i in range(2, 16)),
        2 / 0.02**2 + 18 / 0.13**2,
        6 / 0.05**2 + 14 / 0.07**2 + 10 / 0.12**2,
    ]
    np.testing.assert_allclose(h1, expected, rtol=2e-5)


# Budgets of Karnin, Koren, Somekh (2013), the sum of 1/gap^2 over all arms but the best: no arm can have another mean.
KARNIN = {
    1: {20: 7600, 40: 15600, 80: 31600},
    2: {20: 13600, 40: 57600, 80: 258400},
    3: {20: 150177, 40: 340888, 80: 982488},
    4: {20: 14005, 40: 57430, 80: 232579},
    5: {20: 33220, 40: 214888, 80: 1436445},
    6: {20: 41800, 40: 163800, 80: 647800},
}


@pytest.mark.parametrize("number", KARNIN)
def test_karnin(number):
    for n, budget in KARNIN[number].items():
        problem = jb.karnin(number, n=n)
        assert problem.arms == n
        means = np.asarray(problem.mean, np.float64)
        assert means.max() == means[0] == 0.5
        assert float(np.sum((means[0] - means[1:]) ** -2)) == pytest.approx(budget, abs=1.5, rel=5e-6)
    assert jb.karnin(number).arms == 20
    assert [jb.karnin(number, n=2).arms, jb.karnin(number, n=3).arms] == [2, 3]
    with pytest.raises(jb.UsageError, match="karnin has the setups 1 to 6, got 7"):
        jb.karnin(7)


def test_a_setup_has_its_number_of_arms_after_its_own():
    problem = parse_problem("karnin:2,n=40")
    assert problem.name == jb.karnin(2, n=40).name == parse_problem(problem.name).name
    np.testing.assert_array_equal(problem.mean, jb.karnin(2, n=40).mean)
    assert parse_problem("karnin:4").arms == 20
    for spec, message in (("karnin:n=40,2", "n must be a whole number"), ("karnin:x,n=4", "'x' is not a number")):
        with pytest.raises(jb.UsageError, match=message):
            parse_problem(spec)


def rows(problem):
    return np.asarray(problem.mean, np.float64).reshape(-1, problem.bandits).T


def test_gabillon_problem_1():
    problem = jb.gabillon(1)
    np.testing.assert_allclose(rows(problem), [[0.5, 0.45, 0.4, 0.3], [0.5, 0.3, 0.2, 0.1]], rtol=1e-6)
    assert isinstance(problem, jb.problems.Bernoulli)
    np.testing.assert_allclose(theory.gape_h(rows(problem)), [925, 67.4], rtol=1e-3)


def test_gabillon_problem_2():
    problem = jb.gabillon(2)
    # The printed two-point supports, one bandit a row.
    np.testing.assert_allclose(rows(problem), [[0.5, 0.45, 0.45, 0.45], [0.5, 0.45, 0.45, 0.45]], rtol=1e-6)
    sd = np.sqrt(np.asarray(problem.variance, np.float64)).reshape(-1, 2).T
    np.testing.assert_allclose(sd, [[0.5, 0, 0.2, 0.45], [0.1, 0, 0.1, 0.2]], atol=1e-6)
    np.testing.assert_allclose(theory.gape_h_variance(rows(problem), sd**2), [1443, 647], rtol=1e-3)


def test_gabillon_problem_3():
    problem = jb.gabillon(3)
    assert problem.bandits == 4
    expected = [[0.625, 0.575, 0.575, 0.55], [0.5, 0.4, 0.25, 0.35], [0.7, 0.25, 0.3, 0.35], [0.5, 0.4, 0.45, 0.45]]
    np.testing.assert_allclose(rows(problem), expected, rtol=1e-6)
    assert float(problem.reward_range) == 1


def test_the_first_bandit_has_the_first_row():
    """Arm k of bandit b lies at k M + b."""
    problem = jb.gabillon(1)
    np.testing.assert_allclose(problem.mean, [0.5, 0.5, 0.45, 0.3, 0.4, 0.2, 0.3, 0.1], rtol=1e-6)


def test_spreads_of_means():
    np.testing.assert_allclose(jb.one_sparse(n=4, best=0.7, rest=0.1).mean, [0.7, 0.1, 0.1, 0.1], rtol=1e-6)
    np.testing.assert_allclose(jb.linear(n=5, high=0.9, low=0.1).mean, [0.9, 0.7, 0.5, 0.3, 0.1], rtol=1e-6)
    quadratic = jb.polynomial(n=3, power=2.0, high=0.9, low=0.1).mean
    np.testing.assert_allclose(quadratic, [0.9, 0.7, 0.1], rtol=1e-6)
    drawn = np.asarray(jb.random_uniform(n=50, seed=3).mean)
    assert (np.diff(drawn) <= 0).all()
    assert 0 <= drawn.min() < drawn.max() <= 1
    np.testing.assert_array_equal(drawn, jb.random_uniform(n=50, seed=3).mean)
    assert (drawn != np.asarray(jb.random_uniform(n=50, seed=4).mean)).any()


def test_an_instance_is_the_same_after_a_round_trip_through_jit():
    problem = jb.gabillon(3)
    again = jax.jit(lambda p: p)(problem)
    assert again.bandits == problem.bandits
    assert type(again) is type(problem)
    np.testing.assert_array_equal(again.mean, problem.mean)


SIZED = [
    ("n", lambda n: jb.one_sparse(n=n)), ("n", lambda n: jb.linear(n=n)), ("n", lambda n: jb.polynomial(n=n)),
    ("n", lambda n: jb.random_uniform(n=n)), ("n", lambda n: jb.two_group(n=n)), ("n", lambda n: jb.uniform_means(n=n)),
    ("n", lambda n: jb.synthetic(n=n)), ("n", lambda n: jb.random_truncated_normal(n=n)),
    ("n", lambda n: jb.random_beta(n=n)), ("n", lambda n: jb.c_spread(n=n)), ("k", lambda n: jb.ppr(k=n)),
    ("arms", lambda n: jb.reservoir(arms=n)), ("n", lambda n: jb.karnin(1, n=n)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "make"), SIZED)
def test_numbers_of_arms_are_bounded_before_memory_is_asked_for(name, make, monkeypatch):
    with pytest.raises(
        jb.UsageError, match=rf"^the number of arms {name} must be a whole number from 2 to 8,388,608, got 10{{12}}$"
    ):
        make(10**12)
    monkeypatch.setattr("os.sysconf", lambda what: {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 2**14}[what])  # 64 MiB
    with pytest.raises(jb.UsageError, match=r"^a problem of 8,000,000 arms would take 0.24 of 0.062 GiB: a smaller "):
        make(8 * 10**6)


@pytest.mark.slow
def test_a_block_takes_no_more_memory_than_its_arms():
    small, large = (jb.blocks([0.5, 0.25, 0.125], size) for size in (3, 2**31 - 1))
    key, count = jax.random.key(0), jnp.full(3, 100)
    assert small.sums(key, jnp.int32(0), count, count).tolist() == large.sums(key, jnp.int32(0), count, count).tolist()
    with pytest.raises(jb.UsageError, match=r"size of a block must be a whole number from 1 to 2\^31 - 1"):
        jb.blocks([0.5, 0.25], 2**31)
