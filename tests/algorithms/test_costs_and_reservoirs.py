"""Rules of users that are told costs, spend a budget of cost, or take ever more arms of a reservoir."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxbandits as jb

PRICED = jb.with_costs(jb.beta([2.0, 1.0, 3.0, 2.0], 2.0), [0.9, 0.35, 0.6, 0.125])
COINS = jb.with_costs(jb.bernoulli([0.8, 0.3, 0.6, 0.4]), [0.9, 0.3, 0.5, 0.7], random=True)
KEY = jax.random.fold_in(jax.random.key(4), 3)


@jb.algorithm
class OwnRCB:
    """RCB (Li and Xia 2017, Algorithm 1)."""

    budget: float
    traits = jb.Traits(spends="budget", criterion="ratio")

    def select(self, arms, key):
        radius = jnp.sqrt(jnp.log(arms.time) / (2 * arms.pulls))
        upper = jnp.maximum(jnp.minimum(arms.mean + radius, 1), 1e-30)
        return jnp.argmax(upper / jnp.maximum(arms.mean_cost - radius, 0))

    def recommend(self, arms):
        return jnp.argmax(arms.pulls)


@jb.algorithm
class CostAware:
    """Knows costs, and no budget of cost."""

    budget: int
    takes_costs = True

    def select(self, arms, key):
        return jnp.argmax((arms.mean + jnp.sqrt(1 / arms.pulls)) / arms.mean_cost)

    def done(self, arms):
        return arms.time >= self.budget

    def recommend(self, arms):
        return jnp.argmax(arms.mean / arms.mean_cost)


@jb.algorithm
class EverMore:
    """Takes ever more arms of a reservoir: t^(1/2) by round t."""

    budget: int
    traits = jb.Traits(criterion="ratio")

    def arms_needed(self, arms):
        return jnp.ceil(jnp.sqrt(arms.time + 1.0)).astype(int)

    def select(self, arms, key):
        return jnp.argmax(arms.mean + jnp.sqrt(jnp.log(arms.time) / 2 / arms.pulls))

    def done(self, arms):
        return arms.time >= self.budget

    def recommend(self, arms):
        return jnp.argmax(arms.pulls)


@pytest.mark.slow
@pytest.mark.bits
def test_a_budget_is_spent_as_by_the_built_in_rule():
    """Rewards without ties: the runs are the same."""
    runs = [jb.simulate(rule, PRICED, 20, root_seed=4) for rule in (OwnRCB(budget=40.0), jb.RCB(budget=40.0))]
    for name in ("pulls", "paid", "reward", "regret", "recommended"):
        np.testing.assert_array_equal(runs[0][name], runs[1][name], err_msg=name)
    wider = jb.simulate(OwnRCB(budget=40.0), PRICED.padded(7), 20, root_seed=4, lanes=7)
    np.testing.assert_array_equal(runs[0].paid, wider.paid)
    state = jb.run(OwnRCB(budget=40.0), PRICED, KEY)
    assert float(state.spent) == float(runs[0].paid[3])
    np.testing.assert_allclose(state.mean_cost * state.pulls, state.total_cost, rtol=1e-6)
    assert state.ended


@pytest.mark.slow
def test_a_budget_too_small_for_all_arms_is_spent_all_the_same():
    runs = jb.simulate(OwnRCB(budget=0.5), PRICED, 50)
    assert (runs.pulls <= 3).all()
    assert (runs.paid > 0.5).all()


def test_a_budget_below_the_smallest_cost_of_a_pull_is_refused():
    with pytest.raises(jb.UsageError, match="below the smallest cost of a pull"):
        jb.simulate(OwnRCB(budget=0.1), PRICED, 5)


@pytest.mark.slow
def test_curves_grids_metrics_and_repeats_follow(tmp_path):
    rule = OwnRCB(budget=jb.axis([10.0, 20.0]))
    metrics = {"most": lambda problem, state, answer: jnp.max(state.mean_cost)}
    runs = jb.sweep(rule, COINS, 8, store=tmp_path / "runs.zarr", metrics=metrics)
    assert (runs.most <= 1).all()
    assert (runs.paid == runs.budget + 1).all()
    again = jb.repeat(runs.sel(budget=20.0).isel(seed=[5]), algorithm=rule, metrics=metrics)
    np.testing.assert_array_equal(again.reward, runs.reward.sel(budget=20.0).isel(seed=[5]))
    curve = jb.simulate(OwnRCB(budget=20.0), COINS, 8, checkpoints=[10.0, 20.0])
    np.testing.assert_array_equal(curve.reward.sel(checkpoint=10.0), runs.reward.sel(budget=10.0))


@pytest.mark.parametrize("rule", [OwnRCB(budget=15.0), CostAware(budget=40)])
def test_a_session_takes_costs(rule):
    state, seen, session = jb.run(rule, COINS, KEY), np.zeros(4, int), jb.AskTell(rule, arms=4, key=KEY)
    while not session.done:
        arm = session.ask()
        reward, cost = COINS.payoff(KEY, arm, int(seen[arm]))
        session.tell(arm, float(reward), float(cost))
        seen[arm] += 1
        if seen.sum() == 9:
            session = jb.AskTell.from_json(session.to_json(), rule)
    np.testing.assert_array_equal(seen, state.pulls)
    np.testing.assert_array_equal(session.recommendation, state.answer)


def test_costs_without_a_budget_end_by_the_rule():
    runs = jb.simulate(CostAware(budget=40), COINS, 30, checkpoints=[20, 40])
    assert (runs.pulls == runs.checkpoint).all()
    states = jb.trajectory(CostAware(budget=40), COINS, KEY, 45)
    assert sorted(np.argmax(np.diff(states.pulls[:5], axis=0), axis=1)) == [0, 1, 2, 3]  # each once, one after another
    assert int(states.time[-1]) == 40
    np.testing.assert_allclose(states.spent[-1], states.total_cost[-1].sum())


MANY = jb.reservoir(beta=1.0, prices="unit", arms=150)


def test_arms_of_a_reservoir_are_taken_one_after_another():
    state = jb.run(EverMore(budget=400), MANY, KEY)
    assert int(state.count) == 20  # of 150
    assert (state.pulls[:20] > 0).all()
    assert not state.pulls[20:].any()
    runs = jb.simulate(EverMore(budget=400), MANY, 12, root_seed=4)
    np.testing.assert_array_equal(runs.recommended[3], state.answer)


@pytest.mark.slow
def test_arms_of_a_reservoir_in_other_lanes_and_where_they_are_too_few():
    runs = jb.simulate(EverMore(budget=400), MANY, 12, root_seed=4)
    few = jb.simulate(EverMore(budget=400), MANY, 12, root_seed=4, lanes=1)
    np.testing.assert_array_equal(runs.recommended, few.recommended)
    short = jb.simulate(EverMore(budget=400), jb.reservoir(beta=1.0, prices="unit", arms=5), 12)
    assert (short.pulls == 25).all()  # round 26 needs the sixth arm
    assert (short.status == 1).all()


@pytest.mark.parametrize(
    "more",
    [
        lambda arms: 2 if len(arms) > 1 else 0,
        lambda arms: max(len(arms) - 2, 0) if len(arms) < 2 else 9,
        lambda arms: jnp.where(len(arms) > 1, 3, 0),
    ],
)
def test_a_number_of_one_arm_is_not_told_from_those_of_more(more):
    methods = {
        "arms_needed": lambda self, arms: 1 + more(arms),
        "select": lambda self, arms, key: jnp.argmax(arms.mean),
    }
    state = jb.run(rule(**methods)(budget=20.0), jb.reservoir(beta=1.0, prices="unit", arms=9), KEY)
    assert int(state.count) == 1


def test_what_is_written_in_another_way_for_one_arm_tells_nothing_of_it():
    """JAX leaves out a sort of one entry."""
    methods = {
        "arms_needed": lambda self, arms: arms.time,
        "select": lambda self, arms, key: jnp.argmin(jnp.abs(arms.mean - jnp.median(arms.mean))),
    }
    state = jb.run(rule(**methods)(budget=20.0), jb.reservoir(beta=1.0, prices="unit", arms=9), KEY)
    assert int(state.count) == 9


class Plain:
    budget: float = 10.0
    traits = jb.Traits(spends="budget")

    def select(self, arms, key):
        return jnp.argmin(arms.pulls)

    def recommend(self, arms):
        return jnp.argmax(arms.mean)


def rule(**changed):
    """Make a rule of `Plain` with other attributes."""
    own = {"__module__": __name__, "__annotations__": Plain.__annotations__}
    return jb.algorithm(type("Rule", (Plain,), own | changed))


SMOOTHED = {
    "arms_needed": lambda self, arms: arms.time,
    "select": lambda self, arms, key: jnp.argmax(jnp.convolve(arms.mean, jnp.ones(3), mode="same")),
}


@pytest.mark.parametrize(
    ("special", "arms", "followed"),
    [pytest.param(10, 40, True, marks=pytest.mark.slow), (10, 45, False), (12, 90, False)],
)
def test_a_number_of_arms_for_which_a_rule_is_special_is_followed_or_refused(special, arms, followed):
    """It takes another arm at each step, until their number is a multiple of one."""
    methods = {"arms_needed": lambda self, arms: len(arms) + (0 if len(arms) % special == 0 else 1)}
    made, problem = rule(**methods)(budget=100.0), jb.reservoir(beta=1.0, prices="unit", arms=arms)
    if followed:
        assert int(jb.run(made, problem, KEY).count) == special
        return
    with pytest.raises(jb.UsageError, match="must work on some of them, and cannot: a number changes"):
        jb.run(made, problem, KEY)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"traits": jb.Traits(spends="money")}, "no field 'money'"),
        ({"traits": jb.Traits()}, "no method 'done'"),
        ({"select": None, "request": lambda self, arms, key: arms.pulls}, "give it select, not request"),
        ({"select": lambda self, arms, key: jnp.arange(2)}, "select must return one arm"),
        ({"arms_needed": lambda self, arms: arms.time * 0.5}, "arms_needed must return a number of arms"),
        (SMOOTHED, "takes ever more arms, so it must work on some of them, and cannot"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(changed, said):
    with pytest.raises(jb.UsageError, match=said) as error:
        jb.simulate(rule(**changed)(), COINS, 4)
    assert "\n" not in str(error.value)


def test_costs_are_told_to_those_who_ask():
    reads = {"traits": jb.Traits(), "done": lambda self, arms: arms.spent > 3}
    with pytest.raises(jb.UsageError, match="takes_costs = True"):
        jb.simulate(rule(**reads)(), COINS, 4)
