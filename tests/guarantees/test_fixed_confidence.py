"""Fixed-confidence algorithms keep their promise: P(an answer that is not (epsilon, m)-optimal) <= delta.

For every instance the exact (Clopper-Pearson) upper confidence bound of the failure probability, at level 1 - 1e-8, is
below delta. The bounds are loose, so the true probabilities are far below delta and a right package passes for
practically every seed; a package that fails with probability delta would pass an instance with probability below 1e-8.
"""

import numpy as np
import pytest
from scipy import stats

import jaxbandits as jb

pytestmark = pytest.mark.bits

RUNS = 3_000
EPSILON, DELTA = 0.15, 0.1
# Where errors are likeliest: means just further apart than epsilon, few arms or many, variances large.
INSTANCES = {
    "two arms": jb.bernoulli([0.6, 0.44]),
    "one good arm": jb.bernoulli([0.66] + [0.5] * 9),
    "sparse, low": jb.bernoulli([0.2] + [0.04] * 4),
    "chain": jb.bernoulli([0.9, 0.74, 0.58, 0.42, 0.26, 0.1]),
    "gaussian": jb.gaussian([0.5, 0.3, 0.2, 0.2], 0.5),
    "beta": jb.beta([2.0, 1.0, 1.0], [1.0, 1.0, 2.0]),
    "two-point": jb.rademacher([0.2, 0.0, 0.0], [1.0, 0.8, 0.6]),
}
ALGORITHMS = {
    "ugape-c": jb.UGapEc(epsilon=EPSILON, delta=DELTA),
    "ugape-c of two": jb.UGapEc(epsilon=EPSILON, delta=DELTA, m=2),
    "ugape-c with variance": jb.UGapEc(epsilon=EPSILON, delta=DELTA, variance=True),
    "lucb": jb.LUCB(epsilon=EPSILON, delta=DELTA),
    "lucb of two": jb.LUCB(epsilon=EPSILON, delta=DELTA, m=2),
}


def upper_bound(failures: int, runs: int) -> float:
    """Clopper and Pearson's bound at level 1 - 1e-8."""
    return float(stats.beta.ppf(1 - 1e-8, failures + 1, runs - failures))


# Beta draws take longest, and differ in the draw only: with one algorithm.
# One algorithm on all instances each time, two others on the hardest; the rest with the slow tests.
PAIRS = [
    pytest.param(
        n, i, marks=[pytest.mark.slow] * (i == "beta" or (n != "ugape-c" and (a.m > 1 or i != "one good arm")))
    )
    for n, a in ALGORITHMS.items()
    for i, p in INSTANCES.items()
    if a.m < p.arms and (i != "beta" or n == "ugape-c")
]


@pytest.mark.parametrize(("name", "instance"), PAIRS)
def test_fails_less_often_than_delta(name: str, instance: str) -> None:
    problem, algorithm = INSTANCES[instance], ALGORITHMS[name]
    data = jb.simulate(algorithm, problem, seeds=RUNS, root_seed=17)
    assert (data.status == 0).all()
    assert upper_bound(int((~data.correct).sum()), RUNS) <= DELTA


def test_means_far_from_resolved_do_fail() -> None:
    """The check can fail: with a hundredth of the exploration the same algorithm breaks its promise."""
    data = jb.simulate(jb.UGapEc(epsilon=EPSILON, delta=DELTA, c=0.005), INSTANCES["two arms"], seeds=RUNS)
    assert np.mean(~data.correct) > DELTA
