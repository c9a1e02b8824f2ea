"""Rules whose intervals know that a score matrix is a finite population: promise, exactness, evaluations, refusals."""

import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits.algorithms.betting_intervals import OF_POPULATIONS
from jaxbandits.problems import synthetic_scores
from tests.guarantees.promises import upper_bound
from tests.problems.test_score_matrix import near_ties

DELTA = 0.1
RULES = {
    "lucb serfling": jb.LUCB(epsilon=0.0, delta=DELTA, radius="serfling"),
    "lucb empirical-bernstein": jb.LUCB(epsilon=0.0, delta=DELTA, radius="empirical-bernstein"),
    "lucb betting": jb.LUCB(epsilon=0.0, delta=DELTA, radius="betting"),
    "ugape-c serfling": jb.UGapEc(epsilon=0.0, delta=DELTA, radius="serfling"),
    "ugape-c betting": jb.UGapEc(epsilon=0.0, delta=DELTA, radius="betting"),
    "race serfling": jb.BettingRace(epsilon=0.0, delta=DELTA, radius="serfling"),
    "race bernstein-serfling": jb.BettingRace(epsilon=0.0, delta=DELTA, radius="bernstein-serfling"),
    "race betting": jb.BettingRace(epsilon=0.0, delta=DELTA, radius="betting"),
    "uniform betting": jb.UniformGLR(delta=DELTA, stopping="betting"),
}  # fmt: skip


def check_promise(name, tables, seeds):
    """Check that a rule keeps delta, ends by itself, and never errs after a full read."""
    failed = runs = 0
    for paired, table in tables:
        ds = jb.simulate(RULES[name], jb.matrix(table, paired=paired), seeds=seeds)
        failed, runs = failed + int((~ds.correct).sum()), runs + seeds
        assert (ds.status == 0).all()
        assert ds.correct.values[ds.evaluations.values == np.sum(~np.isnan(table))].all()
    assert upper_bound(failed, runs) < DELTA


@pytest.mark.slow
def test_a_rule_keeps_delta_on_near_ties_and_ends_where_candidates_are_equal():
    """The best two columns differ by a cell or less, or are equal; a rule that waits for a difference would not end."""
    tables = list(near_ties(np.random.default_rng(1), 4))[1:]
    check_promise("race serfling", [(True, table) for table in tables], 200)


@pytest.mark.slow
@pytest.mark.parametrize("name", RULES)
def test_rules_keep_delta_on_each_of_thirty_near_ties(name):
    for table in near_ties(np.random.default_rng(1), 30):
        check_promise(name, [(bool(table[0, 0] < 0.5), table)], 1000)


@pytest.mark.slow
def test_fewer_evaluations_than_with_replacement_and_no_pull_in_vain():
    problem = jb.matrix(synthetic_scores(items=100, candidates=4, seed=5))
    known = jb.simulate(jb.UGapEc(epsilon=0.0, delta=DELTA, radius="serfling"), problem, seeds=50)
    assert (known.pulls == known.evaluations).all()
    assert float(known.evaluations.mean()) < 0.9 * 400


@pytest.mark.parametrize("radius", OF_POPULATIONS)
def test_serfling_is_for_score_matrices(radius):
    for rule in (jb.LUCB, jb.UGapEc, jb.BettingRace):
        with pytest.raises(jb.UsageError, match="is for score matrices, whose items are read once each"):
            jb.simulate(rule(epsilon=0.1, delta=0.1, radius=radius), jb.bernoulli([0.6, 0.5]), seeds=2)
        with pytest.raises(jb.UsageError, match="needs the number of items of each arm"):
            jb.AskTell(rule(epsilon=0.1, delta=0.1, radius=radius), arms=3)
