"""Ties never depend on the arms' order: relabelling the arms leaves every algorithm's distribution unchanged.

Budgets and gaps are small, so that most runs meet exact ties. Every p-value below is of a fixed seed; if the package is
right, fresh seeds would fail the whole file with a probability below 1e-6 (100 p-values, each against 1e-8).
"""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import jaxbandits as jb
from jaxbandits.algorithms import REGISTRY
from jaxbandits.algorithms.top_k import opt_mai
from jaxbandits.arrays import arms
from jaxbandits.engine.lanes import advance
from jaxbandits.random import arm_orders
from tests.algorithms import references

RUNS = 20_000
FALSE_ALARM = 1e-8
MEANS = np.asarray([0.7, 0.5, 0.5, 0.4, 0.2])
# A cycle with the best arm last: it moves every arm, and the first becomes the last.
RELABELLED = np.roll(np.arange(MEANS.size), -1)

#: A likelihood ratio test that ends soon.
SHORT = {"delta": 0.8, "epsilon": 0.4, "family": "gaussian", "threshold": "heuristic"}

CASES = {
    "uniform": [jb.Uniform(budget=13), jb.Uniform(budget=14, m=2)],
    "ugape-c": [
        jb.UGapEc(epsilon=0.3, delta=0.3, c=0.05),
        jb.UGapEc(epsilon=0.3, delta=0.3, m=2, c=0.05),
        jb.UGapEc(epsilon=0.6, delta=0.4, variance=True),
    ],
    "successive-elimination": [
        jb.SuccessiveElimination(delta=0.3, estimator="ea", moment_c=0.02),
        jb.SuccessiveElimination(delta=0.3, estimator="tea", moment_b=0.02),
        jb.SuccessiveElimination(delta=0.3, estimator="hoeffding", b=0.3),
        jb.SuccessiveElimination(delta=0.9, estimator="mom", moment_c=2e-3),
        jb.SuccessiveElimination(delta=0.3, estimator="catoni", moment_c=0.05),
    ],
    "successive-rejects": [
        jb.SuccessiveRejects(budget=30),
        jb.SuccessiveRejects(budget=30, estimator="mom"),
        jb.SuccessiveRejects(budget=30, harmonic="full"),
    ],
    "sequential-halving": [jb.SequentialHalving(budget=30), jb.SequentialHalving(budget=30, reuse=False)],
    "sar": [jb.SAR(budget=30), jb.SAR(budget=30, m=2)],
    "ugape-b": [jb.UGapEb(budget=20, a=1.0), jb.UGapEb(budget=20, a=1.0, last=True, m=2)],
    "gap-e": [jb.GapE(budget=16, a=1.0), jb.GapE(budget=16, adaptive=True)],
    "ucb-e": [jb.UCBE(budget=16, a=1.0), jb.UCBE(budget=21, adaptive=True)],
    "adaptive-top-k": [
        jb.AdaptiveTopK(k=2, budget=12),
        jb.AdaptiveTopK(k=2, epsilon=0.4, delta=0.5, schedule="fine", scale=0.3),
    ],
    "improved-top-k": [jb.ImprovedTopK(k=2, epsilon=2.0, delta=0.9)],
    "opt-mai": [jb.OptMAI(k=2, budget=30), jb.OptMAI(k=1, budget=20, reuse=False)],
    "clucb": [jb.CLUCB(k=2, epsilon=0.5, delta=0.5, b=0.5), jb.CLUCB(k=1, budget=12)],
    "mab-ppr": [jb.MABPPR(epsilon=0.9, delta=0.8, c1=1e-3, c2=0.5, c3=0.5, n_final=1.5, theta=0.45)],
    "median-elimination": [jb.MedianElimination(epsilon=12.0, delta=0.9)],
    "exp-gap-elimination": [jb.ExpGapElimination(epsilon=12.0, delta=0.9)],
    "union-bound": [
        jb.UnionBound(epsilon=1.5, delta=0.5),
        jb.UnionBound(epsilon=4.0, delta=0.5, estimator="mom", c3=48.0, factor=1.0),
    ],
    "hoeffding-race": [jb.HoeffdingRace(epsilon=0.9, delta=0.9), jb.HoeffdingRace(epsilon=1.2, delta=0.9, m=2)],
    "bernstein-race": [jb.BernsteinRace(epsilon=0.9, delta=0.9, b=1.2)],
    "rcb": [jb.RCB(budget=16.0)],
    "epsilon-first": [jb.EpsilonFirst(budget=16.0, share=0.5)],
    "kube": [jb.KUBE(budget=16.0)],
    "budgeted-thompson": [jb.BudgetedThompson(budget=16.0)],
    "uniform-glr": [jb.UniformGLR(**SHORT), jb.UniformGLR(**SHORT, m=2)],
    "best-challenger": [jb.BestChallenger(**SHORT)],
    "track-and-stop": [jb.TrackAndStop(**SHORT), jb.TrackAndStop(**SHORT, tracking="c")],
    "ttts": [jb.TTTS(**SHORT, resamplings=4)],
    "t3c": [jb.T3C(**SHORT)],
    "eb-tc": [jb.EBTC(**SHORT, share="ids")],
    "eb-tci": [jb.EBTCI(**SHORT), jb.EBTCI(**SHORT, m=2)],
    "ttucb": [jb.TTUCB(**SHORT)],
    "lin-game": [jb.LinGame(delta=0.8, threshold="heuristic", b=0.4)],
    "lucb": [jb.LUCB(epsilon=2.5, delta=0.4), jb.LUCB(epsilon=2.5, delta=0.4, m=2)],
    "kl-lucb": [jb.KLLUCB(epsilon=0.9, delta=0.4, m=2), jb.KLLUCB(epsilon=0.8, delta=0.4, exploration="heuristic")],
    "lucb-pp": [jb.LUCBPlusPlus(epsilon=1.2, delta=0.4), jb.LUCBPlusPlus(epsilon=1.2, delta=0.4, m=2)],
    "lil-ucb": [jb.LilUCB(delta=0.4, b=0.2), jb.LilUCB(delta=0.4, heuristic=True, b=0.2)],
    "kl-race": [jb.KLRace(epsilon=0.9, delta=0.9)],
    "kn": [jb.KN(epsilon=0.8, delta=0.6, n0=3)],
    "kn-pp": [jb.KNPlusPlus(epsilon=0.8, delta=0.6, n0=3)],
    "rinott": [jb.Rinott(epsilon=0.8, delta=0.7, n0=4)],
    "tri-bbai": [jb.TriBBAI(delta=0.5, threshold="heuristic", l1=2, l2=4, l3=6)],
    "opt-bbai": [jb.OptBBAI(delta=0.5, threshold="heuristic", l1=2, l2=4, scale=0.003)],
    "bayes-elim": [jb.BayesElim(budget=30), jb.BayesElim(budget=17, prior_sd=0.1, variances=0.3)],
    "paired-race": [jb.PairedRace(epsilon=0.9, delta=0.9)],
    "fareast": [jb.FAREAST(epsilon=0.45, delta=0.9, b=0.2)],
}
CASES |= {REGISTRY.name_of(rule): module.TIES for rule, module in references.MODULES.items()}
# One rule every time, the others with the slow tests: a case is a program of several seconds.
EACH_TIME = {"ugape-c"}
EVERY = [
    pytest.param(algorithm, id=f"{name}-{i}", marks=[pytest.mark.slow] * (i > 0 or name not in EACH_TIME))
    for name, cases in CASES.items()
    for i, algorithm in enumerate(cases)
]


def outcomes(algorithm, means, seed):
    """Returned arms, bool `(RUNS, K)`, and pulls of `RUNS` runs."""
    data = jb.simulate(algorithm, jb.bernoulli(means), seeds=RUNS, root_seed=seed, max_pulls=400)
    return data.recommended.transpose("seed", "arm").values, data.pulls.values


def homogeneity(first, second):
    """The p-value of two samples of small whole numbers coming from one law; rare values are put together."""
    values, codes = np.unique(np.concatenate([first, second]), return_inverse=True)
    table = np.stack([np.bincount(x, minlength=len(values)) for x in np.split(codes, [len(first)])])
    common = table.sum(0) >= 50
    table = np.concatenate([table[:, common], table[:, ~common].sum(1, keepdims=True)], axis=1)
    table = table[:, table.sum(0) > 0]
    return 1.0 if table.shape[1] < 2 else float(stats.chi2_contingency(table).pvalue)


def relabelling(algorithm):
    """p-values of the returned arms and of the pulls, before and after relabelling."""
    returned, pulls = outcomes(algorithm, MEANS, seed=1)
    relabelled, pulls_after = outcomes(algorithm, MEANS[RELABELLED], seed=2)
    weights = 2 ** np.arange(MEANS.size)
    return homogeneity(returned @ weights, relabelled @ weights[RELABELLED]), homogeneity(pulls, pulls_after)


@pytest.mark.parametrize("algorithm", EVERY)
def test_relabelling_the_arms_leaves_the_law_of_the_run_unchanged(algorithm):
    assert min(relabelling(algorithm)) > FALSE_ALARM


@pytest.mark.parametrize("budget", [5, 7])
def test_equal_arms_are_returned_equally_often(budget):
    returned, _ = outcomes(jb.Uniform(budget=budget), np.full(5, 0.5), seed=3)
    assert stats.chisquare(returned.sum(0)).pvalue > FALSE_ALARM


@pytest.mark.slow
def test_a_tie_order_that_prefers_the_first_arm_would_be_caught(monkeypatch):
    def first_arm_first(words, count):
        return jnp.broadcast_to(arms.index(count, words.shape[1:]), (count, *words.shape[1:]))

    monkeypatch.setattr(arm_orders, "tie_order", first_arm_first)
    monkeypatch.setattr(opt_mai, "tie_numbers", lambda seed, number, count: jnp.arange(count)[::-1])
    advance.clear_cache()
    few = [CASES[name] for name in ("uniform", "opt-mai")]
    try:
        caught = [any(min(relabelling(one)) < FALSE_ALARM for one in cases) for cases in few]
    finally:
        advance.clear_cache()
    assert all(caught)


def test_every_algorithm_is_here():
    drawn = {"rcb-i", "rcb-air", "ucb-v-inf", "ucb-air", "siri"}  # arms of a reservoir: they have no labels
    assert set(CASES) | drawn == set(REGISTRY)
