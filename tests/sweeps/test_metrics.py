"""What is measured of a run stands in one table, to which a user adds metrics."""

import random

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits.engine.lanes import advance
from jaxbandits.sweeps.metrics import METRICS

ARMS = jb.bernoulli([0.5, 0.7, 0.4])
LUCB = jb.LUCB(delta=0.1, epsilon=0.1)


def pulls_of_best(problem, state, recommended):
    return state.pulls[jnp.argmax(problem.mean)]


def worst_mean(problem, state, recommended):
    return jnp.min(jnp.where(recommended, problem.mean, jnp.inf))


OWN = {"pulls_of_best": pulls_of_best, "worst_mean": worst_mean}


@pytest.mark.parametrize(
    ("algorithm", "problem"),
    [(LUCB, ARMS), (jb.RCB(budget=20), jb.with_costs(ARMS, [0.5, 0.5, 1], random=True)),
     pytest.param(jb.MedianElimination(epsilon=0.4, delta=0.3), ARMS, marks=pytest.mark.slow)],
)  # fmt: skip
def test_every_variable_is_a_line_of_the_table(algorithm, problem):
    ds = jb.simulate(algorithm, problem, seeds=10)
    assert list(ds.data_vars) == [name for name in METRICS if name in ds]
    for name, variable in ds.data_vars.items():
        assert variable.dtype == METRICS[name].dtype, name
        assert variable.attrs["long_name"] == METRICS[name].long_name
        assert variable.attrs.get("units", "") == METRICS[name].unit.format(cost=problem.cost_unit)


def test_a_users_metric_is_that_of_the_run_looked_at_alone():
    ds = jb.simulate(LUCB, ARMS, seeds=6, root_seed=4, metrics=OWN)
    for seed in range(6):
        state = jb.run(LUCB, ARMS, jax.random.fold_in(jax.random.key(4), seed))
        assert int(ds.pulls_of_best[seed]) == int(state.pulls[1])
        assert float(ds.worst_mean[seed]) == float(worst_mean(ARMS, state, state.answer))
    assert ds.pulls_of_best.dtype == np.int64
    assert ds.worst_mean.dtype == np.float32
    assert ds.pulls_of_best.attrs["long_name"] == "pulls of best"
    plain = jb.simulate(LUCB, ARMS, seeds=6, root_seed=4)
    assert plain.equals(ds.drop_vars(list(OWN)))
    assert float(jb.summary(ds).pulls_of_best_mean) == float(ds.pulls_of_best.mean())


def test_a_metric_has_a_unit_and_is_compiled_once(monkeypatch):
    half = jb.Metric(lambda problem, state, recommended: state.time / 2, unit="pairs", long_name="pairs of pulls")
    rule = jb.Uniform(budget=jb.axis([20, 30]))
    ds = jb.sweep(rule, ARMS, seeds=5, metrics={"pairs": half})
    assert ds.pairs.attrs == {"long_name": "pairs of pulls", "units": "pairs"}
    assert (ds.pairs == ds.pulls / 2).all()
    size = advance._cache_size()
    jb.sweep(rule, ARMS, seeds=5, root_seed=1, metrics={"pairs": half})
    assert advance._cache_size() == size
    third = jb.Metric(lambda problem, state, recommended: state.time / 3)
    other = jb.sweep(rule, ARMS, seeds=5, metrics={"pairs": third})
    np.testing.assert_allclose(other.pairs, ds.pulls / 3, rtol=1e-6)


@pytest.mark.slow
def test_a_metric_may_be_a_number_of_each_arm():
    own = {"each": lambda problem, state, recommended: state.pulls, "mean": lambda p, s, r: jnp.where(r, p.mean, -1.0)}
    ds = jb.simulate(LUCB, ARMS, seeds=5, metrics=own)
    assert ds.each.dims == ds["mean"].dims == ("seed", "arm")
    assert ds.each.dtype == np.int64
    np.testing.assert_array_equal(ds.each.sum("arm"), ds.pulls)
    np.testing.assert_array_equal(ds["mean"] > 0, ds.recommended)
    several = jb.simulate(jb.Uniform(budget=80), jb.gabillon(1), 4, checkpoints=[40, 80], metrics=own)
    assert several.each.dims == ("seed", "checkpoint", "bandit", "arm")
    np.testing.assert_array_equal(several.each.sum(("bandit", "arm")), several.pulls)
    np.testing.assert_array_equal(several["mean"] > 0, several.recommended)


@pytest.mark.slow
def test_metrics_are_taken_at_checkpoints():
    curve = jb.simulate(jb.Uniform(budget=60), ARMS, seeds=8, checkpoints=[9, 30], metrics={"best": pulls_of_best})
    assert curve.best.dims == ("seed", "checkpoint")
    assert (curve.best == [3, 10]).all()


def test_metrics_are_taken_over_numbers_of_arms():
    def number_of_arms(problem, state, recommended):
        return jnp.int32(problem.arms)

    ds = jb.sweep(jb.Uniform(budget=60), jb.linear(n=jb.axis([3, 4])), seeds=4, metrics={"k": number_of_arms})
    assert (ds.k == ds.n).all()  # not that of a padded table


@pytest.mark.slow
def test_metrics_see_the_arms_that_a_run_has_drawn():
    drawn = jb.simulate(
        jb.RCBI(budget=30), jb.reservoir(beta=1, arms=4), seeds=6, metrics={"top": lambda p, s, r: jnp.max(p.value)}
    )
    assert (drawn.top <= 1).all()
    assert len(np.unique(drawn.top)) == 6  # every run has arms of its own


@jb.algorithm
class Own:
    """Pulls arm after arm, and keeps how often it thought."""

    rounds: int = 4

    def init(self, arms, key):
        return {"thoughts": jnp.int32(7)}

    def update(self, state, arms, arm, reward):
        return {"thoughts": state["thoughts"] + 2}

    def select(self, state, arms, key):
        return jnp.argmin(arms.pulls)

    def done(self, state, arms):
        return arms.time >= self.rounds + arms.count

    def recommend(self, state, arms):
        return 0


def test_a_users_algorithm_shows_its_own_state():
    own = {"thoughts": lambda problem, state, recommended: state.own["thoughts"]}
    assert (jb.simulate(Own(), ARMS, seeds=3, metrics=own).thoughts == 15).all()


@pytest.mark.parametrize(
    ("metrics", "line"),
    [
        ({"pulls": pulls_of_best}, "the metric 'pulls' needs another name"),
        ({"seed": pulls_of_best}, "the metric 'seed' needs another name"),
        ({"delta": pulls_of_best}, "the metric 'delta' needs another name"),
        ({"my metric": pulls_of_best}, "a metric's name must be a Python identifier, got 'my metric'"),
        ({"own": 3}, "the metric 'own' must be a function of problem, state and returned arms, got 3"),
        (pulls_of_best, "metrics must be functions by name"),
        ({"own": lambda problem, state, recommended: state.pulls[:2]}, r"of a run or of each arm, got int32 \(2,\)"),
        ({"own": lambda problem, state, recommended: jax.random.key(0)}, r"or of each arm, got key<fry> \(\)"),
        ({"own": lambda problem, state, recommended: state.wins}, "the metric 'own' fails: AttributeError: .*'wins'"),
        ({"own": lambda problem, state, recommended: float(state.pulls[0])}, r"the metric 'own', line .* jnp\.where"),
        ({"own": lambda problem: 1}, "the metric 'own' fails: TypeError"),
        ({"own": lambda problem, state, recommended: random.random()}, "the metric 'own' draws from random once"),
        ({"own": lambda problem, state, recommended: jnp.uint32(3_000_000_000)}, "the metric 'own' is uint32"),
        ({"own": lambda problem, state, recommended: np.int64(2**40)}, "fails: OverflowError: 1099.* is too large"),
        ({"own": lambda problem, state, recommended: np.asarray([2**33 + 5, 3, 0])}, "8589934597 .* is too large"),
    ],
)
def test_a_metric_that_cannot_be_is_one_line(metrics, line):
    with pytest.raises(jb.UsageError, match=line) as caught:
        jb.sweep(jb.LUCB(delta=jb.axis([0.1, 0.2]), epsilon=0.1), ARMS, seeds=5, metrics=metrics)
    assert "\n" not in str(caught.value)


def test_numbers_of_any_type_are_metrics():
    """Whole numbers of NumPy were wrapped around, and bfloat16 was refused as no number."""
    own = {
        "whole": lambda problem, state, recommended: np.int64(2**31 - 1),
        "short": lambda problem, state, recommended: jnp.bfloat16(1.5),
        "float": lambda problem, state, recommended: np.float64(0.25),
    }
    found = jb.simulate(LUCB, ARMS, seeds=3, metrics=own)
    assert [found[name].dtype for name in own] == [np.int64, np.float32, np.float32]
    assert [float(found[name][0]) for name in own] == [2**31 - 1, 1.5, 0.25]


def test_a_dataset_with_metrics_is_repeated_with_them():
    ds = jb.simulate(LUCB, ARMS, seeds=6, metrics=OWN)
    with pytest.raises(jb.UsageError, match="metrics of your own: give them again"):
        jb.repeat(ds)
    again = jb.repeat(ds, metrics=OWN)
    assert again.equals(ds)
