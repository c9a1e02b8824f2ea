"""What an algorithm does when it is not told how: the usual form, and what suits the problem."""

import dataclasses

import numpy as np
import pytest

import jaxbandits as jb

COINS = jb.bernoulli([0.7, 0.6, 0.5])
TABLE = jb.empirical(np.asarray([[0.0, 1.0, 1.0], [0.0, 0.0, 1.0]]).T)


def test_successive_rejects_spends_its_budget_as_audibert_bubeck_and_munos_do():
    problem = jb.abm(1)  # 20 arms
    usual = jb.simulate(jb.SuccessiveRejects(budget=2000), problem, seeds=4)
    by_name = jb.simulate(jb.SuccessiveRejects(budget=2000, harmonic="half"), problem, seeds=4)
    np.testing.assert_array_equal(usual.pulls, by_name.pulls)
    phases = np.arange(1, 20)
    ends = np.ceil((2000 - 20) / ((0.5 + sum(1 / i for i in range(2, 21))) * (21 - phases)))
    assert usual.pulls.values.tolist() == [ends.sum() + ends[-1]] * 4 == [1989] * 4


@pytest.mark.parametrize("unit", [100.0, 1.0, 0.01])
def test_successive_rejects_truncates_in_the_unit_of_the_rewards(unit):
    """With a moment above the second too: it takes the second, or what a given moment says of it (Jensen)."""
    problem = jb.student_t([1.0 * unit, 0.5 * unit], dof=5.0, scale=0.5 * unit)
    usual, higher = (
        jb.SuccessiveRejects(budget=100, estimator="tea", p=p).resolved(problem).threshold for p in (2.0, 3.0)
    )
    assert higher == usual
    given = jb.SuccessiveRejects(budget=100, estimator="tea", p=3.0, moment_b=8 * unit**3).resolved(problem)
    assert given.threshold == pytest.approx(3 * 2 * 4 * unit**2 / (0.5 * unit), rel=1e-6)


@pytest.mark.parametrize(
    ("problem", "estimator"),
    [
        (COINS, "hoeffding"),
        (jb.gaussian([0.5, 0.0], sd=1.0), "hoeffding"),
        (jb.s1(), "tea"),
        (TABLE, "hoeffding"),
        (jb.empirical(np.asarray([[0.0] * 999 + [100.0], [0.0] * 999 + [1.0]]).T), "tea"),
    ],
)
def test_successive_elimination_takes_the_estimator_that_suits_the_problem(problem, estimator):
    chosen = jb.SuccessiveElimination(delta=0.05).resolved(problem)
    assert chosen == jb.SuccessiveElimination(delta=0.05, estimator=estimator).resolved(problem)
    assert chosen.estimator == estimator


def test_what_is_given_decides_first():
    for given, estimator in (({"moment_b": 1.0}, "tea"), ({"p": 1.5}, "tea"), ({"estimator": "ea"}, "ea")):
        assert jb.SuccessiveElimination(delta=0.05, **given).resolved(TABLE).estimator == estimator
    assert jb.SuccessiveElimination(delta=0.05, b=4.0).resolved(jb.s1()).estimator == "hoeffding"
    assert jb.SuccessiveElimination(delta=0.05, moment_b=4.0).prepared().estimator == "tea"
    session = jb.AskTell(jb.SuccessiveElimination(delta=0.05, b=1.0), arms=3)
    for _ in range(3):
        session.tell(session.ask(), 1.0)
    assert jb.AskTell.from_json(session.to_json()).ask() == session.ask()


@pytest.mark.slow
def test_successive_elimination_without_settings_is_not_many_times_slower():
    plain = jb.simulate(jb.SuccessiveElimination(delta=0.05), COINS, seeds=50)
    named = jb.simulate(jb.SuccessiveElimination(delta=0.05, estimator="hoeffding"), COINS, seeds=50)
    np.testing.assert_array_equal(plain.pulls, named.pulls)
    assert plain.pulls.mean() < 15_000  # `tea` needs 75 000
    assert (jb.repeat(plain).pulls == plain.pulls).all()


@pytest.mark.parametrize("cls", [jb.KLLUCB, jb.KLRace, jb.BernsteinRace])
def test_bounds_of_rewards_from_0_to_b_take_the_largest_reward_for_b(cls):
    """Not the length of the interval that holds them, which the bounds would not hold for."""
    table = jb.empirical(np.asarray([[10.0, 40.0], [100.0, 90.0]]))
    assert float(table.reward_range) == 90
    assert cls(epsilon=1, delta=0.1).resolved(table).b == 100
    assert cls(epsilon=1, delta=0.1, b=120.0).resolved(table).b == 120
    assert cls(epsilon=1, delta=0.1).resolved(COINS).b is None


def test_what_is_proved_and_what_is_heuristic():
    assert jb.KLLUCB(epsilon=0.1, delta=0.1).proved
    assert not any(jb.KLLUCB(epsilon=0.1, delta=0.1, exploration=word).proved for word in ("log", "heuristic"))
    assert jb.LilUCB(delta=0.1).proved
    assert not jb.LilUCB(delta=0.1, heuristic=True).proved
    assert jb.LUCBPlusPlus(epsilon=0.1, delta=0.18).proved
    assert not jb.LUCBPlusPlus(epsilon=0.1, delta=0.2).proved
    ugape, union = {"epsilon": 0.1, "delta": 0.1}, {"epsilon": 0.1, "delta": 0.1, "estimator": "mom"}
    assert [jb.UGapEc(**ugape, c=c).proved for c in (0.49, 0.5, 2)] == [False, True, True]
    assert jb.UGapEc(**ugape, c=0.1, variance=True).proved  # whose radius has no c
    assert jb.UnionBound(**union).proved
    assert not any(jb.UnionBound(**union, **less).proved for less in ({"c3": 95}, {"factor": 4}))
    assert jb.UnionBound(**union | {"estimator": "hoeffding"}, c3=1).proved
    assert [jb.AdaptiveTopK(k=1, scale=scale).proved for scale in (0.9, 1)] == [False, True]
    assert not any(cls(k=1, budget=100).proved for cls in (jb.AdaptiveTopK, jb.CLUCB))


def test_pay_per_reward_is_proved_where_its_theorem_covers_the_constants():
    """Constants of one's own were proved beside constants="theory"."""
    given = {"epsilon": 0.1, "delta": 0.1}
    theory = jb.MABPPR(**given, constants="theory")
    full = theory.prepared()
    assert theory.proved
    assert full.proved
    assert dataclasses.replace(full, constants="practical").proved  # the same constants
    assert not jb.MABPPR(**given).proved
    assert not jb.MABPPR(**given, constants="theory", c3=95).proved
    assert jb.MABPPR(**given, constants="theory", c2=1e9).proved
