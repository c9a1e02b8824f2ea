"""Garivier and Kaufmann (2016), Table 1: mean pulls of 3000 runs, threshold log((log t + 1) / delta), delta = 0.1."""

import pytest

import jaxbandits as jb

pytestmark = [pytest.mark.slow, pytest.mark.bits]

MEANS = [0.5, 0.45, 0.43, 0.4]
PUBLISHED = {
    "D-tracking": (jb.TrackAndStop(delta=0.1, threshold="heuristic"), 4052),
    "best challenger": (jb.BestChallenger(delta=0.1, threshold="heuristic"), 3968),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_mean_pulls_are_those_of_the_table(name):
    """A standard error is 1%; runs with the published means as their own leave 5% with a probability below 1e-6."""
    algorithm, published = PUBLISHED[name]
    data = jb.simulate(algorithm, jb.bernoulli(MEANS), seeds=12_000, root_seed=5)
    assert (data.status == 0).all()
    assert float(data.pulls.mean()) == pytest.approx(published, rel=0.05)
    assert float(data.correct.mean()) > 0.9
