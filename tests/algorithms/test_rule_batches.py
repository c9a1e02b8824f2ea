"""Rules of `jb.algorithm` that ask for several batches at once, or for more pulls than an int32 holds."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import jaxbandits as jb
from tests.algorithms.one_run_rules import Halving, Medians

PROBLEM = jb.bernoulli([0.9, 0.6, 0.5, 0.1, 0.0])


@jb.algorithm
class Endless:
    """So many pulls of every arm in so many batches, for so many steps; remembers nothing but the largest sum."""

    pulls: int
    steps: int = 3
    batches: int = 4
    initial_pulls = 0
    slots = 4
    fresh_only = True

    def init(self, arms, key):
        return {"step": jnp.int32(0), "largest": jnp.max(arms.total)}

    def request(self, state, arms, key):
        return jb.Batches(jnp.full(len(arms), self.pulls), self.batches)

    def absorb(self, state, arms, counts, sums):
        return {"step": state["step"] + 1, "largest": jnp.maximum(state["largest"], jnp.max(sums))}

    def done(self, state, arms):
        return state["step"] >= self.steps

    def recommend(self, state, arms):
        return jnp.argmax(arms.pulls)


def test_sums_of_batches_are_drawn_apart():
    """Of the same law, and independent: their spread is that of so many batches; false alarm below 1e-8."""

    class Spread(Endless):
        def init(self, arms, key):
            return {"step": jnp.int32(0), "sums": jnp.zeros((self.slots, len(arms)), arms.total.dtype)}

        def absorb(self, state, arms, counts, sums):
            return {"step": state["step"] + 1, "sums": sums}

    rule = jb.algorithm(Spread)(pulls=100, steps=1, batches=3)
    metrics = {f"sums_{i}": lambda problem, state, answer, i=i: state.own["sums"][i] for i in range(4)}
    found = jb.simulate(rule, PROBLEM, 3000, metrics=metrics)
    sums = np.stack([found[name].values for name in metrics], -1)  # run, arm, batch
    assert (sums[..., 3] == 0).all()  # a batch that was not asked for
    for arm, p in enumerate((0.9, 0.6, 0.5, 0.1)):
        batches = sums[:, arm, :3].astype(float)
        error = np.sqrt(100 * p * (1 - p) / 3000)
        assert (abs(batches.mean(0) - 100 * p) < 6 * error).all()
        for one, other in ((0, 1), (0, 2), (1, 2)):
            assert stats.pearsonr(batches[:, one], batches[:, other]).pvalue > 1e-8


def test_no_more_batches_are_drawn_than_any_run_asks_for(monkeypatch):
    """A loop over them, up to the largest number; and what a run has is the same beside runs that ask for more."""
    rule = Endless(pulls=50, batches=jb.axis([1, 2, 4]))
    runs = jb.sweep(rule, PROBLEM, 20)
    for number in (1, 2, 4):
        alone = jb.simulate(Endless(pulls=50, batches=number), PROBLEM, 20)
        np.testing.assert_array_equal(runs.pulls.sel(batches=number), alone.pulls)
        assert (alone.pulls == 5 * 50 * number * 3).all()
        assert (alone.joint_pulls == 50 * number * 3).all()
        assert (alone.steps == 3).all()


def test_counts_beyond_int32_are_exact():
    each = 2**30 - 1
    runs = jb.simulate(Endless(pulls=each), PROBLEM, 3)
    assert (runs.status == 0).all()
    assert (runs.joint_pulls.values == 12 * each).all()
    assert (runs.pulls.values == 60 * each).all()
    state = jb.run(Endless(pulls=each), PROBLEM, jax.random.key(0))
    assert (state.pulls == 2**31 - 1).all()
    assert int(state.time) == 2**31 - 2
    assert state.mean is None
    assert not state.total.any()


@pytest.mark.parametrize("costs", ["reward", [0.1, 0.2, 0.3, 0.4, 0.5]])
@pytest.mark.parametrize("random", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_what_they_cost(costs, random):
    if costs == "reward" and random:
        return
    problem = jb.with_costs(PROBLEM, costs, random=random)
    runs = jb.simulate(Endless(pulls=1000), problem, 400)
    prices = np.asarray(problem.mean) if costs == "reward" else np.asarray(costs)
    expected = 12_000 * prices.sum()
    np.testing.assert_allclose(runs.cost, expected, rtol=1e-6)
    if costs == "reward" or random:
        error = np.sqrt(12_000 * (prices * (1 - prices)).sum() / 400)
        assert abs(runs.paid.mean() - expected) < 6 * error
        assert runs.paid.std() == pytest.approx(error * 20, rel=0.25)
    else:
        np.testing.assert_allclose(runs.paid, expected, rtol=1e-6)


@pytest.mark.parametrize(
    "changes", [{"pulls": 2**30}, {"pulls": 2**31 - 1}, {"batches": 5}], ids=["a batch", "the end of int32", "slots"]
)
def test_what_has_no_room_ends_a_run(changes):
    rule = dataclasses.replace(Endless(pulls=7), **changes)
    runs = jb.simulate(rule, PROBLEM, 3)
    assert (runs.status == 1).all()
    assert (runs.pulls == 0).all()
    assert not jb.run(rule, PROBLEM, jax.random.key(0)).ended
    assert jb.trajectory(rule, PROBLEM, jax.random.key(0), 2).time.tolist() == [0, 0, 0]


@pytest.mark.slow
def test_what_is_remembered_ends_where_its_counts_do():
    class Remembers(Endless):
        fresh_only = False

        def recommend(self, state, arms):
            return jnp.argmax(arms.mean)

    rule = jb.algorithm(Remembers)(pulls=2**25, steps=9)
    runs = jb.simulate(rule, PROBLEM, 3)
    assert (runs.status == 1).all()
    assert (runs.pulls.values == 3 * 5 * 4 * 2**25).all()
    assert runs.recommended.values[:, 0].all()
    state = jb.run(rule, PROBLEM, jax.random.key(0))
    np.testing.assert_allclose(state.mean, PROBLEM.mean, atol=1e-3)


def test_limits_of_pulls_are_kept():
    runs = jb.simulate(Endless(pulls=10, steps=100), PROBLEM, 3, max_pulls=1234)
    assert (runs.pulls == 1200).all()
    assert (runs.status == 1).all()
    with pytest.raises(jb.UsageError, match="its first batch is 200, more than max_pulls=199"):
        jb.simulate(Endless(pulls=10), PROBLEM, 3, max_pulls=199)


def test_a_session_of_several_batches():
    session, told = jb.AskTell(Medians(pulls=3, batches=2), arms=4, key=1), np.zeros(4, int)
    while not session.done:
        arm = session.ask()
        session.tell(arm, float(arm == 2))
        told[arm] += 1
        if told.sum() in (7, 20):
            session = jb.AskTell.from_json(session.to_json(), Medians(pulls=3, batches=2))
    assert session.recommendation.tolist() == [False, False, True, False]
    assert told[2] == 3 * (2 + 3)
    assert told.sum() == 4 * 6 + 2 * 9


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"slots": 1}, "the class must set slots = …"),
        (
            {"request": lambda self, s, arms, key: jb.Batches(arms.pulls * 1.0, 2)},
            "the counts of jb.Batches must return",
        ),
        ({"request": lambda self, s, arms, key: jb.Batches(arms.pulls[:2], 2)}, "the counts of jb.Batches must return"),
        ({"request": lambda self, s, arms, key: jb.Batches(arms.pulls, 2.0)}, "the number of jb.Batches must return"),
        pytest.param(
            {"request": lambda self, s, arms, key: jb.Batches(arms.pulls + 1, -1)},
            "took pulls back",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_wrong_request_is_refused_in_one_line(changes, said):
    rule = jb.algorithm(type("Wrong", (Endless,), {"__module__": __name__, **changes}))(pulls=3)
    with pytest.raises(jb.UsageError, match=said) as refusal:
        jb.simulate(rule, PROBLEM, 3)
    assert "\n" not in str(refusal.value)


@pytest.mark.slow
def test_one_batch_is_a_request_of_one():
    class One(Halving):
        slots = 2

        def request(self, state, arms, key):
            return jb.Batches(super().request(state, arms, key), 1)

        def absorb(self, state, arms, counts, sums):
            return super().absorb(state, arms, counts.counts, sums[0])

    one, other = (jb.simulate(rule(budget=500), PROBLEM, 50) for rule in (jb.algorithm(One), Halving))
    for name in ("pulls", "steps", "recommended"):
        np.testing.assert_array_equal(one[name], other[name])
