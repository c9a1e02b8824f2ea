"""Rules of `jb.algorithm` on several bandits: arms stay with their bandit, results are in the order of the problem.

Sampled tests have fixed seeds; each states the probability that a fresh seed would fail it although all is right.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits.random.arm_orders import ArmOrder

MEANS = [[0.9, 0.5, 0.4, 0.3], [0.1, 0.3, 0.8, 0.2], [0.5, 0.95, 0.1, 0.6]]
PROBLEM = jb.bernoulli(MEANS)
ROOT, SEEDS = 4, 30


@jb.algorithm
class OwnGapE:
    """GapE (Gabillon et al. 2011) in plain `jnp`, with a state: pulls of each arm, and by bandit."""

    budget: int
    a: float
    traits = jb.Traits(multi_bandit=True)

    def init(self, arms, key):
        return {"pulls": arms.pulls, "of_bandits": arms.per_bandit(arms.pulls)}

    def update(self, state, arms, arm, reward):
        return {"pulls": state["pulls"].at[arm].add(1), "of_bandits": arms.per_bandit(arms.pulls)}

    def select(self, state, arms, key):
        mean = arms.per_bandit(arms.mean)
        best = jnp.max(mean, axis=0)
        second = jnp.max(jnp.where(jnp.arange(len(mean))[:, None] == jnp.argmax(mean, axis=0), -jnp.inf, mean), axis=0)
        gap = jnp.where(mean == best, best - second, best - mean).reshape(-1)
        return jnp.argmax(jnp.sqrt(self.a / arms.pulls) - gap)

    def done(self, state, arms):
        return arms.time >= self.budget

    def recommend(self, state, arms):
        mean = arms.per_bandit(arms.mean)
        return (jnp.arange(len(mean))[:, None] == jnp.argmax(mean, axis=0)).reshape(-1)


RULE = OwnGapE(budget=150, a=0.5)


def key_of(seed):
    return jax.random.fold_in(jax.random.key(ROOT), seed)


def test_runs_are_those_of_the_problem():
    metrics = {
        "of_each": lambda problem, state, answer: state.pulls,
        "own": lambda problem, state, answer: state.own["pulls"],
        "same": lambda problem, state, answer: jnp.all(state.answer == answer),
    }
    found = jb.simulate(RULE, PROBLEM, SEEDS, root_seed=ROOT, metrics=metrics)
    assert found.correct.mean() > 0.8
    assert found.same.all()
    assert (found.recommended.sum("arm") == 1).all()
    np.testing.assert_array_equal(found.of_each.sum(("bandit", "arm")), found.pulls)
    np.testing.assert_array_equal(found.of_each, found.own)
    for seed in (0, 7):
        state = jb.run(RULE, PROBLEM, key_of(seed))
        np.testing.assert_array_equal(state.pulls.reshape(4, 3).T, found.of_each[seed])
        np.testing.assert_array_equal(state.answer.reshape(4, 3).T, found.recommended[seed])
        assert state.own["of_bandits"].shape == (4, 3)
        for arm in (0, 4, 11):  # the means are those of the problem's table of rewards
            rewards = [int(PROBLEM.reward(key_of(seed), arm, pull)) for pull in range(int(state.pulls[arm]))]
            assert state.mean[arm] == np.float32(sum(rewards)) / np.float32(len(rewards))
    last = jax.tree.map(lambda leaf: leaf[-1], jb.trajectory(RULE, PROBLEM, key_of(7), 150))
    np.testing.assert_array_equal(last.pulls, state.pulls)


@pytest.mark.slow
def test_padding_changes_nothing():
    runs, wider = (jb.simulate(RULE, p, SEEDS, root_seed=ROOT) for p in (PROBLEM, PROBLEM.padded(7)))
    for name in ("pulls", "recommended"):
        np.testing.assert_array_equal(wider[name].values[..., :4], runs[name].values[..., :4])


@pytest.mark.parametrize(("arms", "bandits", "count"), [(12, 3, None), (12, 3, 6), (300, 4, 200), (300, 100, 100)])
def test_orders_keep_the_arms_with_their_bandit(arms, bandits, count):
    keys = jax.random.split(jax.random.key(0, impl="threefry2x32"), 200)
    order = ArmOrder.draw(keys, arms, None if count is None else jnp.full(200, count), bandits)
    found = np.asarray(order.by_place(jnp.broadcast_to(jnp.arange(arms)[:, None], (arms, 200))))
    np.testing.assert_array_equal(np.sort(found, axis=0), np.broadcast_to(np.arange(arms)[:, None], (arms, 200)))
    of_bandit = (found % bandits).reshape(-1, bandits, 200)
    assert (of_bandit == of_bandit[:1]).all()
    assert (found[: count or arms] < (count or arms)).all()
    assert len(np.unique(of_bandit[0], axis=1).T) > 5


@pytest.mark.slow
def test_ties_are_fair_in_each_bandit_and_between_them():
    """Of equal arms each is returned as often, in one bandit whatever in the other; false alarm below 1e-6."""
    runs = 40_000
    found = jb.simulate(OwnGapE(budget=7, a=1.0), jb.bernoulli(np.full((2, 3), 0.5)), runs, root_seed=ROOT)
    both = np.einsum("si,sj->ij", *np.moveaxis(found.recommended.values.astype(float), 1, 0)) / runs
    assert np.all(np.abs(both - 1 / 9) < 5.5 * np.sqrt(1 / 9 * 8 / 9 / runs))


def test_one_arm_is_no_answer_of_several_bandits():
    class OneArm(OwnGapE):
        def recommend(self, state, arms):
            return jnp.argmax(arms.mean)

    with pytest.raises(jb.UsageError, match=r"recommend.*bool"):
        jb.simulate(jb.algorithm(OneArm)(budget=50, a=1.0), PROBLEM, 5)


def test_a_rule_of_one_bandit_is_refused():
    class OneBandit(OwnGapE):
        traits = jb.Traits()

    with pytest.raises(jb.UsageError, match="explores one bandit, the problem has 3"):
        jb.simulate(jb.algorithm(OneBandit)(budget=50, a=1.0), PROBLEM, 5)
