"""Runs at confidences that float32 has no number for: rules compute with ln(1/delta)."""

import dataclasses

import jax
import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits.algorithms import REGISTRY
from jaxbandits.engine.binding import accept
from jaxbandits.sweeps.grid import expand, hash_cells

DELTAS = [1e-40, 1e-80, 1e-160, 1e-320]
PROBLEM = jb.bernoulli([0.9, 0.1])
OTHERS = {
    "adaptive-top-k": {"k": 1, "epsilon": 0.2},
    "improved-top-k": {"k": 1, "epsilon": 0.2},
    "clucb": {"k": 1, "epsilon": 0.1},
    "mab-ppr": {"epsilon": 0.3, "n_final": 1.5},
    "threshold-game": {"level": 0.5},
    **{name: {"threshold": 0.5} for name in ("hdoc", "hdoc-first", "lucb-g", "apt-g", "apgai-c")},
}
# Those whose delta changes no pulls, or not in proportion: a fixed budget, a moment to some power of delta. Student's t
# makes h^2 of KN and Rinott a power of 1/delta with few first pulls: (2 delta)^(-2/9) is 1e9 for KN at 1e-40.
NOT = {"siri", "exp-gap-elimination", "kn", "rinott"}
EACH_TIME = {"ugape-c", "lucb", "union-bound"}


def rules():
    for name, cls in REGISTRY.items():
        fields = {field.name: field for field in dataclasses.fields(cls)}
        if "delta" not in fields or name in NOT:
            continue
        marks = [] if name in EACH_TIME else [pytest.mark.slow]
        yield pytest.param(name, OTHERS.get(name, {"epsilon": 0.1} if "epsilon" in fields else {}), marks=marks)


@pytest.mark.parametrize(("name", "given"), [*rules()])
def test_pulls_grow_with_the_logarithm_of_delta(name, given):
    ds = jb.sweep(REGISTRY[name](delta=jb.axis(DELTAS), **given), PROBLEM, seeds=8)
    assert (ds["status"] == 0).all()
    assert ds["correct"].all()
    pulls = ds["pulls"].mean("seed").values
    slopes = np.diff(pulls) / np.diff(-np.log10(DELTAS))
    assert slopes[-1] / slopes[-2] == pytest.approx(1, abs=0.12)
    assert pulls[-1] > 1.7 * pulls[-2]


@pytest.mark.parametrize(
    "rule", [jb.UniformGLR, *(pytest.param(r, marks=pytest.mark.slow) for r in (jb.TrackAndStop, jb.TTUCB))]
)
def test_a_proved_rule_takes_as_many_pulls_as_the_lower_bound_asks_for(rule):
    """At delta = 1e-300 Track-and-Stop took at most 312 pulls, of 1877 that no algorithm gets below on average."""
    ds = jb.sweep(rule(delta=jb.axis([1e-100, 1e-300])), PROBLEM, seeds=64)
    bound = [float(jb.theory.pulls_lower_bound([0.9, 0.1], delta)) for delta in (1e-100, 1e-300)]
    assert (ds["pulls"].mean("seed").values > bound).all()
    assert ds["correct"].all()


@pytest.mark.slow
def test_one_run_and_a_session_compute_with_it_too():
    algorithm = jb.LUCB(epsilon=0.3, delta=1e-300)
    rows = jb.simulate(algorithm, PROBLEM, seeds=1)
    state = jb.run(algorithm, PROBLEM, jax.random.fold_in(jax.random.key(0), 0))
    assert int(state.time) == int(rows["pulls"][0])
    told = {}
    for delta in (1e-30, 1e-300):
        session = jb.AskTell(jb.LUCB(epsilon=0.3, delta=delta), arms=2)
        told[delta] = 0
        while not session.done:
            session.tell(arm := session.ask(), float(arm == 0))
            told[delta] += 1
        assert session.recommendation.tolist() == [True, False]
        assert jb.AskTell.from_json(session.to_json()).done
    assert 7 < told[1e-300] / told[1e-30] < 10


def test_cells_of_different_delta_are_different_cells():
    """Which float32 would make 0, and so one."""
    rule = jb.UGapEc(epsilon=0.1, delta=jb.axis([1e-300, 1e-310, 1e-40, 0.1]))
    words = hash_cells(expand(accept(rule), PROBLEM).cells)
    assert len({tuple(word) for word in words.T.tolist()}) == 4
    one, same = (
        hash_cells(expand(accept(jb.UGapEc(epsilon=0.1, delta=delta)), PROBLEM).cells)
        for delta in (0.1, np.float32(0.1))
    )
    np.testing.assert_array_equal(one, same)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: jb.UGapEc(epsilon=1e-50, delta=0.1), "UGapEc: epsilon must be a float32 number, 0 or between 1.2e-38"),
        (lambda: jb.UnionBound(epsilon=0.1, delta=0.1, b=1e39), "UnionBound: b must be a float32 number"),
        (lambda: jb.RCB(budget=1e40), "RCB: budget must be a float32 number"),
        (lambda: jb.OptMAI(k=1, budget=9, beta=1 - 1e-12), "beta must lie strictly between 0 and 1 as float32"),
    ],
)
def test_other_values_that_float32_does_not_hold_are_refused(make, said):
    with pytest.raises(jb.UsageError, match=said):
        make()
