"""Opt-BBAI keeps its promise, by the test of stage III and by stage IV alone; Tri-BBAI makes none, and breaks it."""

import numpy as np
import pytest

import jaxbandits as jb
from tests.guarantees.promises import upper_bound

pytestmark = [pytest.mark.slow, pytest.mark.bits]

RUNS = 10_000
COINS = {
    "two arms": [0.6, 0.5],
    "close": [0.5, 0.48, 0.3],
    "one good arm": [0.66] + [0.5] * 9,
    "sparse, low": [0.1] + [0.04] * 4,
    "chain": [0.9, 0.8, 0.7, 0.5, 0.3, 0.1],
    "the paper's": [0.5, *np.linspace(0.2, 0.4, 9)],
}
OTHERS = {
    "gaussian": jb.gaussian([0.5, 0.3, 0.2, 0.2], 0.5),
    "beta": jb.beta([2.0, 1.0, 1.0], [1.0, 1.0, 2.0]),
    "two-point": jb.rademacher([0.2, 0.0, 0.0], [1.0, 0.8, 0.6]),
}


def failures(rule, problem, runs=RUNS):
    ds = jb.simulate(rule, problem, runs, root_seed=29)
    assert (ds.status == 0).all()
    return int((~ds.correct).sum())


@pytest.mark.parametrize("delta", [0.1, 0.4])
@pytest.mark.parametrize("instance", COINS)
@pytest.mark.parametrize("stage", ["test", "elimination"])
def test_opt_bbai_errs_less_often_than_delta(stage, instance, delta):
    """Stage IV alone where a batch of stage II has one pull of each arm, or with pulls that mostly pass the test."""
    given = {"l1": 2, "l2": 1} if stage == "elimination" else {"l1": 20, "l2": 100_000}
    problem = jb.bernoulli(COINS[instance])
    assert upper_bound(failures(jb.OptBBAI(delta=delta, **given), problem), RUNS) < delta


@pytest.mark.parametrize("law", OTHERS)
def test_opt_bbai_with_other_rewards(law):
    assert upper_bound(failures(jb.OptBBAI(delta=0.1), OTHERS[law]), RUNS) < 0.1


def test_the_check_can_fail():
    """With a hundredth of the pulls of stage IV the rule breaks its promise."""
    rule = jb.OptBBAI(delta=0.1, l1=2, l2=1, scale=0.003)
    assert failures(rule, jb.bernoulli(COINS["two arms"])) > 0.1 * RUNS


@pytest.mark.parametrize("delta", [0.1, 0.01])
def test_tri_bbai_errs_more_often_than_delta(delta):
    """So its page says, and it claims no proof."""
    assert failures(jb.TriBBAI(delta=delta), jb.bernoulli(COINS["one good arm"])) > delta * RUNS
