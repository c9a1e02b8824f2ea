"""What theory says of each cell, beside what was measured: the formulas at the cells' own values."""

import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits import theory

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
        (jb.RCBAIR(budget=200), jb.reservoir(beta=2.0), lambda: theory.rcb_air_regret_rate(200, 2.0)),
        (
            jb.SuccessiveElimination(delta=0.3, estimator="tea", p=1.5), jb.s1(),
            lambda: theory.se_tea_pulls_bound(jb.s1().mean, 0.3, 1.5, jb.s1().moments(1.5, central=False).max()),
        ),
        (jb.MABPPR(epsilon=0.3, delta=0.2), jb.ppr("flat", k=50, w=2), lambda: theory.ppr_cost_rate(0.3, 0.2, 1, 2)),
    ],
    ids=["rcb-i", "rcb-air", "successive-elimination", "mab-ppr"],
)  # fmt: skip
def test_rates(algorithm, problem, expected):
    ds = jb.simulate(algorithm, problem, seeds=2, max_pulls=200_000)
    found = jb.with_theory(ds, "rate")["rate"]
    assert found == pytest.approx(float(expected()), rel=1e-4)
    assert "20" in found.attrs["long_name"]


@pytest.mark.parametrize(
    ("name", "message"),
    [("h_epsilo", "did you mean 'h_epsilon'"), ("rate", "there is no rate of UGapEc on one-sparse")],
)
def test_what_is_not_there_is_one_line(grid, name, message):
    with pytest.raises(jb.UsageError, match=message):
        jb.with_theory(grid, name)
    with pytest.raises(jb.UsageError, match="no spec attribute"):
        jb.with_theory(grid.drop_attrs(), "h_epsilon")


def test_bernsteins_bound_is_for_rewards_in_an_interval():
    rule = jb.UGapEc(epsilon=0.3, delta=0.1, variance=True)
    coins, normal = (jb.sweep(rule, make([0.9, 0.4]), 2, max_pulls=50) for make in (jb.bernoulli, jb.gaussian))
    assert float(jb.with_theory(coins, "theorem")["theorem"]) > 0
    with pytest.raises(jb.UsageError, match="there is no theorem of UGapEc on gaussian"):
        jb.with_theory(normal, "theorem")


VALUES = np.array([[1.0, 2, 5, 4], [2, 2.5, 3, 3], [1, 1, 2, 4]])


@pytest.mark.parametrize(
    "problem", [jb.empirical(VALUES), jb.categorical([0, 1, 4], [[0.5, 0.25, 0.25], [0.25, 0.25, 0.5]])]
)
def test_rewards_of_an_interval_have_the_theorems_of_sub_gaussian_ones(problem):
    ds = jb.with_theory(jb.sweep(jb.UGapEc(epsilon=1.0, delta=0.1), problem, 2), "theorem")
    means = np.asarray(problem.mean, np.float64)
    assert float(ds["theorem"]) == pytest.approx(float(theory.ugape_c_pulls_bound(means, 1.0, 0.1, b=4.0)), rel=1e-5)


def test_there_is_no_theorem_of_arms_that_share_their_rows():
    ds = jb.sweep(jb.UGapEc(epsilon=1.0, delta=0.1), jb.empirical(VALUES, joint=True), 2)
    with pytest.raises(jb.UsageError, match="there is no theorem of UGapEc on empirical"):
        jb.with_theory(ds, "theorem")
