"""Rules whose traits say that rewards must lie in [0, 1] take no others."""

import jax.numpy as jnp
import numpy as np
import pytest

import jaxbandits as jb


@jb.algorithm
class InUnit:
    traits = jb.Traits(unit_rewards=True)

    def select(self, arms, key):
        return jnp.argmin(arms.pulls)

    def done(self, arms):
        return arms.time >= 30

    def recommend(self, arms):
        return jnp.argmax(arms.mean)


def test_other_rewards_are_refused():
    tables = [jb.empirical(np.asarray([[0.2, 0.9], [0.1, other]])) for other in (1.2, -0.1)]
    for problem in (jb.gaussian([0.5, 0.4], 0.1), jb.poisson([0.5, 0.4]), *tables):
        with pytest.raises(jb.UsageError, match=r"InUnit needs rewards in \[0, 1\]"):
            jb.simulate(InUnit(), problem, seeds=2)
    for given in ({"bounded": False}, {"reward_range": 2.0}):
        with pytest.raises(jb.UsageError, match=r"InUnit needs rewards in \[0, 1\]"):
            jb.AskTell(InUnit(), arms=2, **given)


COINS = jb.bernoulli([0.5, 0.9, 0.6])


@pytest.mark.parametrize("rule", [jb.RCB, jb.BudgetedThompson])
def test_budgets_of_cost_with_bounds_of_a_unit_need_rewards_and_prices_in_it(rule):
    with pytest.raises(jb.UsageError, match=rf"{rule.__name__} needs rewards in \[0, 1\]"):
        jb.simulate(rule(budget=300.0), jb.poisson([3.0, 2.0, 1.0]), seeds=2)
    message = f"{rule.__name__} needs prices of at most 1: divide the prices and the budget by 5"
    with pytest.raises(jb.UsageError, match=message):
        jb.simulate(rule(budget=200.0), jb.with_costs(COINS, [1, 2, 5]), seeds=2)


@pytest.mark.slow
@pytest.mark.parametrize("rule", [jb.RCB, jb.BudgetedThompson])
def test_budgets_of_cost_take_rewards_and_prices_in_the_unit_interval(rule):
    for problem in (
        jb.with_costs(COINS, [0.2, 0.4, 1]),
        jb.with_costs(COINS, "reward"),
        jb.reservoir(beta=1),
        jb.reservoir(beta=1, law="beta"),
    ):
        assert (jb.simulate(rule(budget=40.0), problem, seeds=2).paid > 38).all()


@pytest.mark.parametrize(
    "problem",
    [
        pytest.param(jb.bernoulli([0.5, 0.4]), marks=pytest.mark.slow),
        pytest.param(jb.rademacher([0.2, 0.3], [0.4, 0.9]), marks=pytest.mark.slow),
        jb.empirical(np.asarray([[0.2, 0.9], [0.1, 1.0]])),
    ],
    ids=["bernoulli", "rademacher", "empirical"],
)
def test_rewards_in_the_unit_interval_are_taken(problem):
    assert jb.simulate(InUnit(), problem, seeds=2).pulls.max() == 30
    assert not jb.AskTell(InUnit(), arms=2).done
