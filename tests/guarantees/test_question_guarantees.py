"""Rules that answer questions are wrong in at most a share delta of the runs; pulls near the lower bound's."""

import numpy as np
import pytest
from scipy import optimize

import jaxbandits as jb
from jaxbandits.arrays.probabilities import log_of
from tests.algorithms.test_questions import AnyBelow
from tests.guarantees.promises import upper_bound

pytestmark = [pytest.mark.slow, pytest.mark.bits]

RUNS, DELTA = 2000, 0.1


def unit_vectors(d, angle):
    """Arms that are hard to tell apart (Soare, Lazaric, Munos 2014): e_1 to e_d, and one at an angle to e_1."""
    last = np.zeros(d)
    last[:2] = np.cos(angle), np.sin(angle)
    return np.vstack([np.eye(d), last])


X, THETA = unit_vectors(3, 0.5), np.asarray([2.0, 0.0, 0.0])
WIDE = np.random.default_rng(1).normal(size=(12, 2))
CASES = {
    "threshold, coins": (jb.ThresholdGame(delta=DELTA, level=0.5), jb.bernoulli([0.65, 0.4, 0.2])),
    "threshold, beta": (jb.ThresholdGame(delta=DELTA, level=0.4), jb.beta([6.0, 3.0], [4.0, 7.0])),
    "threshold, normal": (jb.ThresholdGame(delta=DELTA, level=0.0), jb.gaussian([0.3, -0.3, -0.5], 1.0)),
    "best, coins": (jb.TopMGame(delta=DELTA), jb.bernoulli([0.7, 0.5, 0.5])),
    "two, coins": (jb.TopMGame(delta=DELTA, m=2), jb.bernoulli([0.8, 0.7, 0.4, 0.3])),
    "two, normal": (jb.TopMGame(delta=DELTA, m=2), jb.gaussian([1.0, 0.9, 0.2], 0.5)),
    "best, exponential family": (jb.TopMGame(delta=DELTA, family="poisson"), jb.poisson([2.0, 1.2, 1.0])),
    "pareto, coins": (
        jb.ParetoGame(delta=DELTA, objectives=2),
        jb.bernoulli([0.9, 0.2, 0.4, 0.7, 0.3, 0.4]),
    ),
    "pareto, one design": (
        jb.ParetoGame(delta=DELTA, objectives=3),
        jb.gaussian([1.0, 0.9, 0.8, 0.5, 0.4, 0.5], 0.5),
    ),
    "yes, coins": (AnyBelow(level=0.4, delta=DELTA), jb.bernoulli([0.7, 0.2, 0.5])),
    "no, coins": (AnyBelow(level=0.4, delta=DELTA), jb.bernoulli([0.7, 0.6])),
    "linear": (jb.LinGame(delta=DELTA, features=X), jb.gaussian(X @ THETA, 1.0)),
    "linear, many arms": (jb.LinGame(delta=DELTA, features=WIDE), jb.gaussian(WIDE @ [1.0, 0.5], 1.0)),
    "linear, lin-gap-e": (jb.LinGapE(delta=DELTA, features=X, norm=2.0), jb.gaussian(X @ THETA, 1.0)),
}


@pytest.mark.parametrize("case", CASES)
def test_is_wrong_in_at_most_delta_of_the_runs(case):
    """Clopper and Pearson's bound at level 1 - 1e-8 is below delta."""
    rule, problem = CASES[case]
    ds = jb.simulate(rule, problem, RUNS, root_seed=21)
    assert (ds.status == 0).all()
    assert upper_bound(int((~ds.correct).sum()), RUNS) <= DELTA


def linear_time(x, theta):
    """T* of linear means with variance 1, by minimising the largest y' V^-1 y / gap^2 over proportions."""
    means, K = x @ theta, len(x)
    best = means.argmax()
    ways = [((x[best] - row) / (means[best] - mean)) for row, mean in zip(x, means, strict=True) if mean < means[best]]

    def lengths(w):
        inverse = np.linalg.inv((x * (w[:, None] + 1e-9)).T @ x)
        return np.asarray([2 * way @ inverse @ way for way in ways])

    even = np.full(K, 1 / K)
    scale = lengths(even).max()
    below = {"type": "ineq", "fun": lambda z: z[K] - lengths(z[:K]) / scale}
    sums = {"type": "eq", "fun": lambda z: z[:K].sum() - 1}
    found = optimize.minimize(
        lambda z: z[K], [*even, 1.0], bounds=[(0, 1)] * K + [(0, None)], constraints=[below, sums], method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-12},
    )  # fmt: skip
    return scale * found.x[K]


def kl(p, q):
    return p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q))


BEST, ABOVE = [0.6, 0.4, 0.3], np.asarray([0.8, 0.6, 0.2, 0.25])
TIMES = {
    "best": (jb.TopMGame, {}, jb.bernoulli(BEST), lambda: float(jb.theory.characteristic_time(BEST)[0])),
    "threshold": (
        jb.ThresholdGame,
        {"level": 0.4},
        jb.bernoulli(ABOVE),
        lambda: float((1 / kl(ABOVE, 0.4)).sum()),
    ),
    "yes": (AnyBelow, {"level": 0.4}, jb.bernoulli([0.7, 0.2, 0.5]), lambda: float(1 / kl(0.2, 0.4))),
    "linear": (jb.LinGame, {"features": X}, jb.gaussian(X @ THETA, 1.0), lambda: linear_time(X, THETA)),
}


@pytest.mark.parametrize("case", TIMES)
def test_pulls_come_near_the_lower_bound_as_delta_falls(case):
    """By a threshold of ln(1/delta) and little more; Track-and-Stop's pulls are the same within a third."""
    cls, fields, problem, time = TIMES[case]
    deltas = [1e-2, 1e-6, 1e-15, 1e-40]
    ds = jb.sweep(cls(delta=jb.axis(deltas), threshold="heuristic", **fields), problem, seeds=200)
    ratio = ds.pulls.mean("seed").to_numpy() / (time() * np.log(1 / np.asarray(deltas)))
    assert ds.correct.all() or case != "linear"
    assert (np.diff(ratio) < 0).all()
    assert 1 < ratio[-1] < 1.35
    if case == "best":
        tracked = jb.sweep(jb.TrackAndStop(delta=jb.axis(deltas), threshold="heuristic"), problem, seeds=200)
        assert (ds.pulls.mean("seed") < 1.4 * tracked.pulls.mean("seed")).all()


def test_too_low_a_threshold_does_fail():
    """The check can fail: twelve arms, and a threshold without a union over them."""

    @jb.algorithm
    class Careless(jb.ThresholdGame):
        def boundary(self, arms):
            return -log_of(self.delta) / 4 + 0 * arms.time

    ds = jb.simulate(Careless(delta=DELTA, level=0.5), jb.bernoulli([0.6] * 12), RUNS)
    assert (~ds.correct).mean() > DELTA
