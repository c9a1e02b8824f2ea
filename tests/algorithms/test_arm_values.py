"""Hyperparameters that have a value of each arm: every run is given them in the order in which it sees its arms."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest

import jaxbandits as jb
from jaxbandits.engine.stacked_algorithms import stack_algorithms
from jaxbandits.sweeps import group_cells, plan_runs

MEANS = [0.1, 0.2, 0.3, 0.9, 0.4]
PROBLEM = jb.bernoulli(MEANS)
PRIOR = np.asarray([0.1, 0.2, 0.3, 3.0, 0.4])


@jb.algorithm
class Prior:
    """Pulls the arm that it was told is the best, and counts pulls of each arm in a state of its own."""

    budget: int
    prior: jax.Array = jb.parameter("positive", per_arm=True)

    def init(self, arms, key):
        return {"added": self.prior + 0.0 * arms.mean}

    def update(self, state, arms, arm, reward):
        return {"added": state["added"].at[arm].add(1.0)}

    def select(self, state, arms, key):
        return jnp.argmax(arms.mean / arms.pulls + 4 * self.prior)

    def done(self, state, arms):
        return arms.time >= self.budget

    def recommend(self, state, arms):
        return jnp.argmax(self.prior + 0.0 * arms.mean)


@jb.algorithm
class PriorSurvives:
    """Drops the arms that it was told are worse, one after another."""

    prior: jax.Array = jb.parameter(per_arm=True)

    def due(self, arms):
        return arms.round >= 2

    def keep(self, arms, key):
        return jnp.arange(len(arms)) != jnp.argmin(jnp.where(arms.active, self.prior, jnp.inf))


@jb.algorithm
class PriorBatches:
    """Asks for batches of the arm that it was told is the best."""

    budget: int
    prior: jax.Array = jb.parameter(per_arm=True)

    def request(self, arms, key):
        return jnp.where(self.prior + 0 * arms.pulls == jnp.max(self.prior), 3, 0)

    def done(self, arms):
        return arms.time >= self.budget

    def recommend(self, arms):
        return arms.pulls > 1


@jb.algorithm
class Schedule:
    """Has an array that is no value of arms, as long as there are arms."""

    counts: jax.Array = jb.parameter(per_arm=False)

    def select(self, arms, key):
        return jnp.argmin(arms.pulls)

    def done(self, arms):
        return arms.time >= self.counts[-1]

    def recommend(self, arms):
        return jnp.argmax(arms.mean)


@jb.algorithm
class Undeclared:
    budget: int
    table: jax.Array

    def select(self, arms, key):
        return jnp.argmin(arms.pulls)

    def done(self, arms):
        return arms.time >= self.budget

    def recommend(self, arms):
        return jnp.argmax(arms.mean + self.table[0])


RULES = [Prior(budget=20, prior=PRIOR), PriorSurvives(prior=PRIOR), PriorBatches(budget=20, prior=PRIOR)]
#: One of them, and all with the slow tests.
ONE_EACH_TIME = [RULES[0], *(pytest.param(rule, marks=pytest.mark.slow) for rule in RULES[1:])]


@pytest.mark.parametrize("rule", ONE_EACH_TIME, ids=lambda rule: type(rule).__name__)
def test_a_value_of_an_arm_stays_with_it(rule):
    """The array is in the problem's order, and every run has an order of its own."""
    runs = jb.simulate(rule, PROBLEM, seeds=50)
    assert runs.correct.all()
    assert set(runs.recommended.argmax("arm").values) == {3}
    one = jb.run(rule, PROBLEM, jax.random.fold_in(jax.random.key(0), 7))
    np.testing.assert_array_equal(one.answer, runs.recommended.isel(seed=7))
    assert one.pulls.sum() == runs.pulls[7]
    session = jb.AskTell(rule, arms=5, key=3)
    for _ in range(200):
        if session.done:
            break
        session.tell(session.ask(), 1.0)
    assert session.recommendation.tolist() == [False, False, False, True, False]


def test_states_are_shown_in_the_problems_order():
    state = jb.run(RULES[0], PROBLEM, jax.random.key(1))
    np.testing.assert_allclose(state.own["added"], PRIOR + np.asarray(state.pulls) - 1, rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("rule", ONE_EACH_TIME, ids=lambda rule: type(rule).__name__)
def test_one_number_is_that_of_every_arm(rule):
    """To the last bit; and with arms that are there to fill up."""
    fields = {name: 20 for name in ("budget",) if hasattr(rule, name)}
    for problem in (PROBLEM, jb.bernoulli(jb.axis([MEANS, [0.5, 0.6, 0.7]]))):
        runs = jb.sweep(type(rule)(**fields, prior=0.5), problem, seeds=20)
        if problem is PROBLEM:
            same = jb.sweep(type(rule)(**fields, prior=np.full(5, 0.5)), problem, seeds=20)
            assert same.equals(runs)
    assert runs.pulls.min() > 0


@pytest.mark.slow
def test_a_list_is_an_array_in_a_built_in_rule():
    rules = [jb.BetaTopTwo(budget=20, prior_a=prior) for prior in ([3.0, 1.0], np.asarray([3.0, 1.0]))]
    first, second = (jb.simulate(rule, jb.bernoulli([0.6, 0.4]), seeds=10).pulls for rule in rules)
    assert (first == second).all()


def test_a_list_has_a_value_of_each_arm():
    first, second = (
        jb.simulate(Prior(budget=20, prior=prior), PROBLEM, seeds=50).pulls for prior in (PRIOR, PRIOR.tolist())
    )
    assert (first == second).all()
    column = Prior(budget=20, prior=pd.Series(PRIOR)).prior
    assert isinstance(column, np.ndarray)
    assert (column == PRIOR).all()
    with pytest.raises(jb.UsageError, match=r"^Prior: prior must be a number, or one for each arm, got None$"):
        Prior(budget=9, prior=None)
    with pytest.raises(jb.UsageError, match="BetaTopTwo: prior_a must be numbers"):
        jb.BetaTopTwo(budget=20, prior_a=["a", "b"])
    with pytest.raises(jb.UsageError, match="prior_a"):
        jb.simulate(jb.BetaTopTwo(budget=20, prior_a=[1.0, -1.0]), jb.bernoulli([0.6, 0.4]), seeds=1)


@pytest.mark.parametrize("rule", ONE_EACH_TIME, ids=lambda rule: type(rule).__name__)
def test_arms_that_fill_up_change_no_run(rule, monkeypatch):
    alone = jb.simulate(rule, PROBLEM, seeds=20)
    widths = []

    def noted(algorithms, problem, *others):
        widths.append(problem.arms)
        return stack_algorithms(algorithms, problem, *others)

    monkeypatch.setattr(plan_runs, "in_powers_of_two", lambda _: True)
    monkeypatch.setattr(group_cells, "stack_algorithms", noted)
    assert jb.simulate(rule, PROBLEM, seeds=20).equals(alone)
    assert widths == [8]


def test_an_array_that_is_of_no_arms_is_as_it_is():
    runs = jb.simulate(Schedule(counts=np.asarray([1, 2, 3, 4, 30])), PROBLEM, seeds=20)
    assert (runs.pulls == 30).all()


def test_what_cannot_be_of_the_arms_is_one_line():
    def refused(rule, text):
        for start in (lambda: jb.simulate(rule, PROBLEM, seeds=2), lambda: jb.AskTell(rule, arms=5)):
            with pytest.raises(jb.UsageError, match=text) as error:
                start()
            assert "\n" not in str(error.value)

    refused(Undeclared(budget=9, table=PRIOR), r"table has shape \(5,\), .* table = jb.parameter\(per_arm=True\)")
    refused(Prior(budget=9, prior=PRIOR[:4]), r"one for each of 5 arms, got shape \(4,\)")
    refused(Prior(budget=9, prior=-PRIOR), r"prior must be positive and finite, got -0.1")
    with pytest.raises(jb.UsageError, match="for values of each arm, list the algorithms"):
        Prior(budget=9, prior=jb.axis([PRIOR.tolist(), PRIOR[::-1].tolist()]))
    with pytest.raises(jb.UsageError, match="draws other arms for each run"):
        jb.simulate(Prior(budget=9, prior=PRIOR), jb.reservoir(beta=1.0, prices="unit", arms=5), seeds=2)
    assert jb.simulate(Undeclared(budget=9, table=PRIOR[:4]), PROBLEM, seeds=2).pulls.min() == 9


@pytest.mark.parametrize("shape", [(3, 1), (3, 3)])
@pytest.mark.parametrize("rule", [jb.BetaTopTwo, jb.BayesElim, jb.SHVar])
def test_rows_in_place_of_numbers_of_arms(rule, shape):
    for field in dataclasses.fields(rule):
        if field.metadata.get("per_arm"):
            one = rule(budget=30, **{field.name: np.ones(shape)})
            with pytest.raises(jb.UsageError, match=f"{field.name} must be one number or have one for each of 3 arms"):
                jb.simulate(one, jb.bernoulli([0.9, 0.5, 0.4]), seeds=2)
