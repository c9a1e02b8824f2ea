"""What theory says of each cell, beside what was measured: the formulas at the cells' own values."""

import dataclasses

import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits import theory
from jaxbandits.algorithms.traits import tolerance_of
from jaxbandits.comparison.guarantees import theorem_on, value

EPSILON, ARMS = [0.1, 0.2, 0.4], [3, 5]


@pytest.fixture(scope="module")
def grid():
    algorithm = jb.UGapEc(epsilon=jb.axis(EPSILON), delta=jb.axis([0.1, 0.2]))
    return jb.sweep(algorithm, jb.one_sparse(n=jb.axis(ARMS), best=0.9), seeds=6)


def test_every_cell_has_its_own(grid):
    ds = jb.with_theory(grid, "h_epsilon", "lower_bound", "theorem")
    assert ds["h_epsilon"].dims == ("epsilon", "delta", "n")
    for epsilon in EPSILON[1:2]:
        for delta in (0.1, 0.2):
            for n in ARMS:
                means = np.where(np.arange(n) == 0, 0.9, 0.5)
                cell = ds.sel(epsilon=epsilon, delta=delta, n=n)
                assert cell["h_epsilon"] == pytest.approx(float(theory.h_epsilon(means, epsilon)), rel=1e-5)
                bound = float(theory.pulls_lower_bound(means, delta, epsilon=epsilon))
                assert cell["lower_bound"] == pytest.approx(bound, rel=1e-5)
                promised = float(theory.ugape_c_pulls_bound(means, epsilon, delta))
                assert cell["theorem"] == pytest.approx(promised, rel=1e-5)
    assert ds["theorem"].attrs["long_name"] == "what is proved: UGapE, Theorem 2"
    assert (ds["pulls"] == grid["pulls"]).all()


def test_selections_summaries_and_transposed_ones_too(grid):
    whole = jb.with_theory(grid, "h_epsilon")["h_epsilon"]
    part = jb.with_theory(grid.isel(delta=1, epsilon=[2, 0]), "h_epsilon")["h_epsilon"]
    np.testing.assert_array_equal(part, whole.isel(delta=1, epsilon=[2, 0]))
    summary = jb.with_theory(jb.summary(grid).transpose("n", ...), "h_epsilon")
    assert (summary["h_epsilon"] == whole).all()
    jb.plot.phase(summary.isel(delta=0), x="epsilon", y="n", contours="h_epsilon")


@pytest.mark.parametrize(
    ("algorithm", "problem", "expected"),
    [
        (jb.RCBI(budget=200), jb.reservoir(beta=0.5), lambda: theory.rcb_i_regret_rate(200, 0.5)),
        *(pytest.param(*case, marks=pytest.mark.slow) for case in (
            (
                jb.RCBI(budget=400), jb.reservoir(beta=1.0, arms=7),
                lambda: theory.rcb_i_regret_rate_for_arms(400, 1.0, 7),
            ),
            (jb.RCBAIR(budget=200), jb.reservoir(beta=2.0), lambda: theory.rcb_air_regret_rate(200, 2.0)),
            (
                jb.SuccessiveElimination(delta=0.3, estimator="tea", p=1.5), jb.s1(),
                lambda: theory.se_tea_pulls_bound(jb.s1().mean, 0.3, 1.5, jb.s1().moments(1.5, central=False).max()),
            ),
            (
                jb.MABPPR(epsilon=0.3, delta=0.2), jb.ppr("flat", k=50, w=2),
                lambda: theory.ppr_cost_rate(0.3, 0.2, 1, 2),
            ),
        )),
    ],
    ids=["rcb-i", "rcb-i-seven-arms", "rcb-air", "successive-elimination", "mab-ppr"],
)  # fmt: skip
def test_rates(algorithm, problem, expected):
    ds = jb.simulate(algorithm, problem, seeds=2, max_pulls=200_000)
    found = jb.with_theory(ds, "rate")["rate"]
    assert found == pytest.approx(float(expected()), rel=1e-4)
    assert "20" in found.attrs["long_name"]


LARGEST = {central: jb.s1().moments(2, central=central).max() for central in (True, False)}


@pytest.mark.parametrize(
    ("field", "algorithm", "problem"),
    [
        ("b", jb.LilUCB(delta=0.1, b=0.5), jb.bernoulli([0.8, 0.4])),
        ("moment_c", jb.SuccessiveElimination(delta=0.1, estimator="ea", moment_c=0.9 * LARGEST[True]), jb.s1()),
        ("moment_b", jb.SuccessiveElimination(delta=0.1, estimator="tea", moment_b=0.9 * LARGEST[False]), jb.s1()),
        ("beta", jb.RCBI(budget=50, beta=2.0), jb.reservoir(beta=1)),
        ("beta", jb.RCBAIR(budget=50, beta=0.5), jb.reservoir(beta=1)),
        ("correlation", jb.MABPPR(epsilon=0.3, delta=0.2, correlation=1.0), jb.blocks([0.5, 0.2], 3)),
    ],
    ids=["lil-ucb", "empirical means", "truncated means", "rcb-i", "rcb-air", "mab-ppr"],
)
def test_there_is_no_rate_where_a_rule_takes_the_problem_for_an_easier_one(field, algorithm, problem):
    assert algorithm.rate(problem) is None
    of_problem = dataclasses.replace(algorithm, **{field: None}).resolved(problem)
    assert of_problem.rate(problem) is not None


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("h_epsilo", "did you mean 'h_epsilon'"),
        ("rate", "there is no rate of UGapEc on one-sparse"),
        (["rate"], "unknown quantity of theory of type list: it must be a text"),
    ],
)
def test_what_is_not_there_is_one_line(grid, name, message):
    with pytest.raises(jb.UsageError, match=message):
        jb.with_theory(grid, name)
    with pytest.raises(jb.UsageError, match="no spec attribute"):
        jb.with_theory(grid.drop_attrs(), "h_epsilon")


@pytest.mark.slow
def test_bernsteins_bound_is_for_rewards_in_an_interval():
    rule = jb.UGapEc(epsilon=0.3, delta=0.1, variance=True)
    coins, normal = (jb.sweep(rule, make([0.9, 0.4]), 2, max_pulls=50) for make in (jb.bernoulli, jb.gaussian))
    assert float(jb.with_theory(coins, "theorem")["theorem"]) > 0
    with pytest.raises(jb.UsageError, match="there is no theorem of UGapEc on gaussian"):
        jb.with_theory(normal, "theorem")


VALUES = np.array([[1.0, 2, 5, 4], [2, 2.5, 3, 3], [1, 1, 2, 4]])


@pytest.mark.slow
@pytest.mark.parametrize(
    "problem", [jb.empirical(VALUES), jb.categorical([0, 1, 4], [[0.5, 0.25, 0.25], [0.25, 0.25, 0.5]])]
)
def test_rewards_of_an_interval_have_the_theorems_of_sub_gaussian_ones(problem):
    ds = jb.with_theory(jb.sweep(jb.UGapEc(epsilon=1.0, delta=0.1), problem, 2), "theorem")
    means = np.asarray(problem.mean, np.float64)
    assert float(ds["theorem"]) == pytest.approx(float(theory.ugape_c_pulls_bound(means, 1.0, 0.1, b=4.0)), rel=1e-5)


@pytest.mark.slow
def test_the_complexity_is_that_of_the_range():
    """Eq. 6 of UGapE has b^2."""
    plain = np.sum(np.maximum((np.array([0.5, 0.5, 1.0]) + 0.4) / 2, 0.4) ** -2.0)
    normal = jb.gaussian([1.5, 1.0, 0.5], 3.0)
    found = jb.with_theory(jb.sweep(jb.UGapEc(epsilon=0.4, delta=0.1), normal, 2, max_pulls=100), "h_epsilon")
    assert float(found["h_epsilon"]) == pytest.approx(6**2 * plain, rel=1e-4)
    lil = jb.LilUCB(delta=0.1)
    assert value(lil.rate(normal)) == pytest.approx(value(lil.rate(jb.gaussian([0.25, 1 / 6, 1 / 12], 0.5))), rel=1e-4)
    ds = jb.sweep(jb.Uniform(budget=30), jb.s1(), 2)
    with pytest.raises(jb.UsageError, match="there is no h_epsilon of Uniform on s1"):
        jb.with_theory(ds, "h_epsilon")


@pytest.mark.slow
def test_there_is_no_theorem_of_arms_that_share_their_rows():
    ds = jb.sweep(jb.UGapEc(epsilon=1.0, delta=0.1), jb.empirical(VALUES, joint=True), 2)
    with pytest.raises(jb.UsageError, match="there is no theorem of UGapEc on empirical"):
        jb.with_theory(ds, "theorem")


MEANS = np.array([0.85, 0.55, 0.4, 0.15])
COINS = jb.bernoulli(MEANS)
GAPS = np.array([0.3, 0.3, 0.45, 0.7])


def theorem(rule, problem=COINS):
    """What is proved of a rule on a problem, and its source; None without a theorem."""
    values = vars(rule)
    found = theorem_on(
        problem, rule, delta=values.get("delta", 0.5), epsilon=tolerance_of(rule), m=int(values.get("m", 1))
    )
    return None if found is None else (value(found), found.source)


@pytest.mark.parametrize(
    ("a", "expected"), [(1.5, 2 * 4 * 2500 * np.exp(-3)), (7.0, 2 * 4 * 2500 * np.exp(-14)), (60, 1)]
)
def test_the_theorem_of_ugape_b_is_that_of_its_own_parameter(a, expected):
    largest = (2500 - 4) / (4 * np.sum(np.maximum((GAPS + 0.05) / 2, 0.05) ** -2.0))
    assert 7 < largest < 60
    assert theorem(jb.UGapEb(budget=2500, epsilon=0.05, a=a))[0] == pytest.approx(min(1, expected), rel=1e-4)
    found = theorem(jb.UGapEb(budget=2500, epsilon=0.05))[0]
    assert found == pytest.approx(2 * 4 * 2500 * np.exp(-2 * largest), rel=1e-3)


def test_the_theorem_of_ucb_e_is_that_of_its_own_parameter():
    n, h1 = 9000, np.sum(GAPS**-2.0)
    largest = 25 / 36 * (n - 4) / h1
    bound = lambda a: 2 * n * 4 * np.exp(-2 * a / 25)  # noqa: E731
    assert 170 < largest < 500
    assert theorem(jb.UCBE(budget=n, a=170.0))[0] == pytest.approx(bound(170), rel=1e-4)
    assert theorem(jb.UCBE(budget=n, eta=0.6))[0] == pytest.approx(bound(0.6 * n / h1), rel=1e-3)
    assert theorem(jb.UCBE(budget=n, a=500.0))[0] == 1
    assert theorem(jb.UCBE(budget=n, adaptive=True)) is None


def test_the_theorem_with_empirical_variances_is_another():
    bound = theory.ugape_b_variance_error_bound(MEANS, MEANS * (1 - MEANS), 9000, 0.05)
    assert 0 < bound < 1
    assert theorem(jb.UGapEb(budget=9000, epsilon=0.05, variance=True))[0] == pytest.approx(float(bound), rel=1e-3)


@pytest.mark.parametrize(
    "rule", [jb.UGapEc, jb.LUCB, jb.HoeffdingRace, pytest.param(jb.KLLUCB, marks=pytest.mark.slow), jb.BernsteinRace]
)
def test_a_wider_range_of_the_rule_takes_longer_and_a_smaller_one_has_no_theorem(rule):
    of_problem, wider = (theorem(rule(epsilon=0.2, delta=0.1, b=b))[0] for b in (None, 2.0))
    twice = theorem(rule(epsilon=0.4, delta=0.1), jb.categorical([0, 2], np.stack([1 - MEANS, MEANS], axis=1)))[0]
    if rule in (jb.UGapEc, jb.LUCB, jb.HoeffdingRace):  # they know nothing of rewards but their range
        half = theorem(rule(epsilon=0.1, delta=0.1), jb.bernoulli(MEANS / 2))[0]
        assert wider == pytest.approx(half, rel=1e-4)
    assert wider > 2.5 * of_problem
    assert of_problem == pytest.approx(twice, rel=1e-4)
    assert theorem(rule(epsilon=0.2, delta=0.1, b=0.6)) is None


def test_there_is_no_theorem_of_another_exploration_parameter():
    ds = jb.sweep(jb.UGapEc(epsilon=0.2, delta=0.1, c=0.1), COINS, 2)
    with pytest.raises(jb.UsageError, match="there is no theorem of UGapEc on bernoulli"):
        jb.with_theory(ds, "theorem")


@pytest.mark.slow
def test_rewards_that_begin_above_0():
    """KL-LUCB takes them for rewards in [0, 3], as its theorem must."""
    problem = jb.categorical([2, 3], [[0.2, 0.8], [0.6, 0.4]])
    bound = theory.kl_lucb_pulls_bound(np.array([2.8, 2.4]) / 3, 0.1 / 3, 0.1)
    assert theorem(jb.KLLUCB(epsilon=0.1, delta=0.1), problem)[0] == pytest.approx(float(bound), rel=1e-4)


HALF = 0.5 + 1 / 2 + 1 / 3 + 1 / 4  # logbar(4)


def test_a_class_of_ones_own_has_no_theorem_of_the_rule_that_it_is_made_from():
    """Its methods may be others."""

    @jb.algorithm
    class Hasty(jb.UGapEc):
        def done(self, state, arms):
            return arms.time >= 20

    @jb.algorithm
    class Known(Hasty):
        theorem = jb.UGapEc.theorem

    problem, about = jb.bernoulli([0.9, 0.5]), {"delta": 0.1, "epsilon": 0.1, "m": 1}
    usual = theorem_on(problem, jb.UGapEc(epsilon=0.1, delta=0.1), **about)
    assert theorem_on(problem, Hasty(epsilon=0.1, delta=0.1), **about) is None
    assert value(theorem_on(problem, Known(epsilon=0.1, delta=0.1), **about)) == value(usual)


def test_elimination_with_a_budget():
    gaps, n = np.sort(GAPS), 400
    h2 = max(i * gaps[i - 1] ** -2.0 for i in range(2, 5))
    bound, source = theorem(jb.SuccessiveRejects(budget=n))
    assert bound == pytest.approx(6 * np.exp(-(n - 4) / (HALF * h2)), rel=1e-4)
    assert source == "Audibert et al. 2010, Theorem 2"
    assert theorem(jb.SuccessiveRejects(budget=2 * n), jb.gaussian(MEANS, 1.0))[0] == pytest.approx(
        min(1, 6 * np.exp(-(2 * n - 4) / (HALF * 4 * h2))), rel=1e-4
    )
    of_two = np.sort([0.45, 0.15, 0.15, 0.4])  # of the means with m = 2
    hardness = max(i * of_two[i - 1] ** -2.0 for i in range(1, 5))
    bound, source = theorem(jb.SAR(budget=20_000, m=2))
    assert bound == pytest.approx(2 * 16 * np.exp(-(20_000 - 4) / (8 * HALF * hardness)), rel=1e-3)
    assert source == "Bubeck et al. 2013, Theorem 1"


@pytest.mark.parametrize("harmonic", ["half", "full"])
def test_successive_rejects_on_heavy_tails(harmonic):
    problem, n = jb.s1(), 4_000_000
    means, b = np.sort(np.asarray(problem.mean, np.float64))[::-1], problem.moments(2, central=False).max()
    c, k = problem.moments(2, central=True).max(), len(means)
    gaps, kbar = np.r_[means[0] - means[1], means[0] - means[1:]], sum(1 / i for i in range(1, k + 1))
    h2 = max((i + 1) * gap**-2 for i, gap in enumerate(gaps))
    bound, source = theorem(jb.SuccessiveRejects(budget=n, harmonic=harmonic), problem)
    assert bound == pytest.approx(min(1, 8 * c * k * (k - 1) * h2 * kbar / (n - k)), rel=1e-3)
    assert source == "Yu et al. 2018, Theorem 2"
    rate = gaps[0] ** 2 / (4 * 4 * 3 * b * 4)  # (p-1) gap^2 / (4 2^p 3 B p^p)
    cut = jb.SuccessiveRejects(budget=n, harmonic=harmonic, estimator="tea")
    assert theorem(cut, problem)[0] == pytest.approx(2 * k * (k - 1) * np.exp(-(n - k) * rate / (kbar * k)), rel=1e-2)
    for other in ({"threshold": 10.0}, {"moment_b": 0.5 * b}, {"estimator": "mom"}):
        rule = jb.SuccessiveRejects(**{"budget": n, "harmonic": harmonic, "estimator": "tea", **other})
        assert theorem(rule, problem) is None


@pytest.mark.slow
def test_pulls_that_are_known_or_bounded():
    ds = jb.sweep(jb.MedianElimination(epsilon=0.3, delta=0.2), COINS, 20)
    assert (ds["pulls"] == theorem(jb.MedianElimination(epsilon=0.3, delta=0.2))[0]).all()
    rule = jb.AdaptiveTopK(k=2, epsilon=0.1, delta=0.1)
    bound, source = theorem(rule)
    assert source == "Chen et al. 2017, Theorem 4"
    assert int(jb.sweep(rule, COINS, 200)["pulls"].max()) <= bound
    for other in (jb.AdaptiveTopK(k=2, epsilon=0.1, delta=0.1, scale=0.5), jb.AdaptiveTopK(k=2, budget=500)):
        assert theorem(other) is None


def test_an_empty_selection(grid):
    assert jb.with_theory(grid.isel(n=[]), "lower_bound", "theorem")["theorem"].sizes == {
        "epsilon": 3,
        "delta": 2,
        "n": 0,
    }
