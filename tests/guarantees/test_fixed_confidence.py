"""Fixed-confidence algorithms keep their promise: P(an answer that is not (epsilon, m)-optimal) <= delta.

For every instance the exact (Clopper-Pearson) upper confidence bound of the failure probability, at level 1 - 1e-8, is
below delta. The bounds are loose, so the true probabilities are far below delta and a right package passes for
practically every seed; a package that fails with probability delta would pass an instance with probability below 1e-8.
"""

import dataclasses

import numpy as np
import pytest

import jaxbandits as jb
from tests.guarantees.promises import upper_bound

pytestmark = pytest.mark.bits

RUNS = 3_000
EPSILON, DELTA = 0.15, 0.1
# Where errors are likeliest: means just further apart than epsilon, few arms or many, variances large.
COINS = {
    "two arms": [0.6, 0.44],
    "one good arm": [0.66] + [0.5] * 9,
    "sparse, low": [0.2] + [0.04] * 4,
    "chain": [0.9, 0.74, 0.58, 0.42, 0.26, 0.1],
}
OTHERS = {
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
    "lucb, kl2013": jb.LUCB(epsilon=EPSILON, delta=DELTA, exploration="kl2013"),
    "kl-lucb": jb.KLLUCB(epsilon=EPSILON, delta=DELTA),
    "kl-lucb of two": jb.KLLUCB(epsilon=EPSILON, delta=DELTA, m=2),
    "lucb-pp": jb.LUCBPlusPlus(epsilon=EPSILON, delta=DELTA),
    "lucb-pp of two": jb.LUCBPlusPlus(epsilon=EPSILON, delta=DELTA, m=2),
    "kl-race": jb.KLRace(epsilon=EPSILON, delta=DELTA),
    "kl-race of two": jb.KLRace(epsilon=EPSILON, delta=DELTA, m=2),
    "ttucb": jb.TTUCB(epsilon=EPSILON, delta=DELTA),
    "ttucb, gk16": jb.TTUCB(delta=DELTA, family="bernoulli", threshold="gk16"),
    "ttucb, bounded": jb.TTUCB(epsilon=EPSILON, delta=DELTA, family="bernoulli", threshold="bounded"),
    "uniform-glr, gk16": jb.UniformGLR(epsilon=EPSILON, delta=DELTA, family="bernoulli", threshold="gk16"),
    "uniform-glr, lucb-gap": jb.UniformGLR(epsilon=EPSILON, delta=DELTA, stopping="lucb-gap"),
    "uniform-glr, elimination": jb.UniformGLR(epsilon=EPSILON, delta=DELTA, stopping="elimination"),
    "uniform-glr of two": jb.UniformGLR(epsilon=EPSILON, delta=DELTA, m=2),
    "uniform-glr of two, lucb-gap": jb.UniformGLR(epsilon=EPSILON, delta=DELTA, stopping="lucb-gap", m=2),
    "uniform-glr of two, elimination": jb.UniformGLR(epsilon=EPSILON, delta=DELTA, stopping="elimination", m=2),
    "eb-tc, ugape-index": jb.EBTC(epsilon=EPSILON, delta=DELTA, stopping="ugape-index"),
    "track-and-stop": jb.TrackAndStop(epsilon=EPSILON, delta=DELTA),
    "best-challenger": jb.BestChallenger(epsilon=EPSILON, delta=DELTA),
    "eb-tc": jb.EBTC(epsilon=EPSILON, delta=DELTA),
    "eb-tci": jb.EBTCI(epsilon=EPSILON, delta=DELTA, share="ids"),
    "eb-tci of two": jb.EBTCI(epsilon=EPSILON, delta=DELTA, share="ids", m=2),
    "t3c": jb.T3C(epsilon=EPSILON, delta=DELTA),
    "ttts": jb.TTTS(epsilon=EPSILON, delta=DELTA),
}


def check_promise(data) -> None:
    assert (data.status == 0).all()
    assert upper_bound(int((~data.correct).sum()), RUNS) <= DELTA


OFTEN = ("lucb",)


# One of them each time; the others with the slow tests.
@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n not in OFTEN)) for n in ALGORITHMS])
def test_fails_less_often_than_delta(name: str) -> None:
    algorithm = ALGORITHMS[name]
    means = {instance: means for instance, means in COINS.items() if len(means) > getattr(algorithm, "m", 1)}
    family = jb.bernoulli(jb.axis(list(means.values()), name="instance"))
    data = jb.sweep(algorithm, family, seeds=RUNS, root_seed=17)
    for place in range(len(means)):
        check_promise(data.isel(instance=place))


@pytest.mark.slow
@pytest.mark.parametrize("law", OTHERS)
@pytest.mark.parametrize("name", ALGORITHMS)
def test_fails_less_often_than_delta_with_rewards_between(name: str, law: str) -> None:
    if name.startswith("kl") and OTHERS[law].lowest_reward < 0:
        return
    if "gk16" in name or "bounded" in name:
        return  # of rewards in [0, 1]
    if name == "ugape-c" or law != "beta":
        check_promise(jb.simulate(ALGORITHMS[name], OTHERS[law], seeds=RUNS, root_seed=17))


@pytest.mark.slow
def test_a_likelihood_ratio_test_fails_less_often_than_delta() -> None:
    rule = jb.UniformGLR(delta=DELTA, threshold="gk16")
    check_promise(jb.simulate(rule, jb.bernoulli(COINS["two arms"]), seeds=RUNS, root_seed=18))


@pytest.mark.slow
@pytest.mark.parametrize("heuristic", [False, True])
def test_lil_ucb_returns_the_best_arm(heuristic: bool) -> None:
    """It has no epsilon: gaps are larger. The heuristic has no theorem, and keeps the promise all the same."""
    family = jb.bernoulli(jb.axis([[0.6, 0.4], [0.7] + [0.5] * 9, [0.3] + [0.04] * 4], name="instance"))
    data = jb.sweep(jb.LilUCB(delta=DELTA, heuristic=heuristic), family, seeds=RUNS, root_seed=17)
    for place in range(data.sizes["instance"]):
        check_promise(data.isel(instance=place))


@pytest.mark.slow
def test_means_far_from_resolved_do_fail() -> None:
    """The check can fail: with a hundredth of the exploration the same algorithm breaks its promise."""
    data = jb.simulate(jb.UGapEc(epsilon=EPSILON, delta=DELTA, c=0.005), jb.bernoulli(COINS["two arms"]), seeds=RUNS)
    assert np.mean(~data.correct) > DELTA


@pytest.mark.slow
def test_without_a_union_bound_over_pairs_three_arms_of_six_do_fail() -> None:
    """The instance is hard enough to tell: nine pairs, just further apart than epsilon."""
    problem = jb.bernoulli([0.6] * 3 + [0.44] * 3)
    rule = jb.EBTCI(epsilon=EPSILON, delta=DELTA, share="ids", m=3)
    check_promise(jb.simulate(rule, problem, seeds=RUNS, root_seed=5))
    heuristic = dataclasses.replace(rule, threshold="heuristic")
    assert np.mean(~jb.simulate(heuristic, problem, seeds=RUNS, root_seed=5).correct) > DELTA


# Small samples have the heaviest tails; the best arm may vary most or least.
NORMAL = {
    "two arms": jb.gaussian([0.2, 0.0], [1.0, 0.3]),
    "far apart": jb.gaussian([3.0, 0.0, 0.0], [0.5, 2.0, 1.0]),
    "many": jb.gaussian([1.0] + [0.5] * 7, [0.5, 2.0] * 4),
}


@pytest.mark.slow
@pytest.mark.parametrize("instance", NORMAL)
@pytest.mark.parametrize("rule", [jb.UniformGLR, jb.EBTC, jb.EBTCI, jb.TTUCB, jb.T3C])
def test_normal_arms_of_unknown_variances(rule, instance) -> None:
    algorithm = rule(epsilon=EPSILON, delta=DELTA, family="gaussian-unknown-variance")
    check_promise(jb.simulate(algorithm, NORMAL[instance], seeds=RUNS, root_seed=19, max_pulls=10**6))
