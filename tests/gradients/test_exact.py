"""Gradients of small problems against what enumerating every sequence of rewards gives."""

import itertools
import math

import numpy as np
import pytest

import jaxbandits as jb

SEEDS = 100_000


def binomial(pulls, mean):
    """P(s successes), s = 0 … pulls."""
    return [math.comb(pulls, s) * mean**s * (1 - mean) ** (pulls - s) for s in range(pulls + 1)]


def top(values, number):
    """Which arms are the largest so many, each set that ties allow with its probability."""
    threshold = sorted(values, reverse=True)[number - 1]
    above = [i for i, v in enumerate(values) if v > threshold]
    at = [i for i, v in enumerate(values) if v == threshold]
    sets = list(itertools.combinations(at, number - len(above)))
    return [(set(above) | set(chosen), 1 / len(sets)) for chosen in sets]


def in_rounds(means, rounds, kept):
    """Laws of the answer of an elimination: `rounds` of pulls of each arm left, of which `kept` stay on."""
    answers = np.zeros(len(means))
    states = {(frozenset(range(len(means))), (0,) * len(means)): 1.0}
    total = 0
    for pulls, stay in zip(rounds, kept, strict=True):
        total += pulls
        after = {}
        for (alive, sums), weight in states.items():
            arms = sorted(alive)
            laws = [binomial(pulls, means[arm]) for arm in arms]
            for new in itertools.product(*(range(pulls + 1) for _ in arms)):
                chance = weight * math.prod(law[s] for law, s in zip(laws, new, strict=True))
                added = list(sums)
                for arm, s in zip(arms, new, strict=True):
                    added[arm] += s
                for left, share in top([added[arm] for arm in arms], stay):
                    key = (frozenset(arms[i] for i in left), tuple(added))
                    after[key] = after.get(key, 0.0) + chance * share
        states = after
    for (alive, _), weight in states.items():
        (arm,) = alive
        answers[arm] += weight
    return answers


def ucb_e(means, budget, a):
    """The law of the answer of UCB-E on two arms; of equal indices and means, one arm comes first in a whole run."""
    answers = np.zeros(2)
    for first, (s0, s1) in itertools.product((0, 1), itertools.product((0, 1), repeat=2)):
        chance = 0.5 * math.prod(m if s else 1 - m for m, s in zip(means, (s0, s1), strict=True))
        states = {(1, s0, 1, s1): chance}
        for _ in range(budget - 2):
            after = {}
            for (n0, s0_, n1, s1_), weight in states.items():
                index = [np.float32(s0_ / n0 + math.sqrt(a / n0)), np.float32(s1_ / n1 + math.sqrt(a / n1))]
                arm = first if abs(index[0] - index[1]) < 1e-6 else int(index[1] > index[0])
                for success, p in ((1, means[arm]), (0, 1 - means[arm])):
                    key = (n0 + (arm == 0), s0_ + success * (arm == 0), n1 + (arm == 1), s1_ + success * (arm == 1))
                    after[key] = after.get(key, 0.0) + weight * p
            states = after
        for (n0, s0_, n1, s1_), weight in states.items():
            best = first if s0_ * n1 == s1_ * n0 else int(s1_ / n1 > s0_ / n0)
            answers[best] += weight
    return answers


TWO, THREE = [0.6, 0.45], [0.6, 0.45, 0.3]
CASES = {
    "uniform, 2": (jb.Uniform(budget=8), TWO, lambda means: in_rounds(means, [4], [1])),
    "uniform, 3": (jb.Uniform(budget=9), THREE, lambda means: in_rounds(means, [3], [1])),
    # Phases end after ceil((n - K) / (logbar(K) (K + 1 - k))) pulls of an arm; logbar(3) = 4/3.
    "successive rejects, 3": (jb.SuccessiveRejects(budget=11), THREE, lambda means: in_rounds(means, [2, 1], [2, 1])),
    "sequential halving, 2": (jb.SequentialHalving(budget=8), TWO, lambda means: in_rounds(means, [4], [1])),
    "ucb-e, 2": (jb.UCBE(budget=9, a=0.7), TWO, lambda means: ucb_e(means, 9, 0.7)),
}


def metrics(answers, means):
    """P(error) and E[simple regret] as functions of the law of the answer."""
    means = np.asarray(means)
    return {"error": 1 - answers[int(np.argmax(means))], "simple_regret": float(answers @ (means.max() - means))}


@pytest.mark.bits  # they run longer than they compile
@pytest.mark.parametrize(
    ("name", "metric"),
    [
        *(pytest.param(name, "error", marks=[pytest.mark.slow] * (name == "uniform, 3")) for name in CASES),
        ("uniform, 3", "simple_regret"),
        pytest.param("ucb-e, 2", "simple_regret", marks=pytest.mark.slow),
    ],
)
def test_the_gradient_is_that_of_the_enumerated_law(name, metric):
    """Within 5.5 standard errors, value and each slope: a false alarm in 10^7."""
    algorithm, means, law = CASES[name]
    found = jb.gradients.expected(metric, algorithm, jb.bernoulli(means), seeds=SEEDS)
    exact = metrics(law(means), means)[metric]
    assert abs(float(found.value) - exact) < 5.5 * float(found.value_se)
    for arm in range(len(means)):
        up, down = ([m + h * (i == arm) for i, m in enumerate(means)] for h in (1e-5, -1e-5))
        slope = (metrics(law(up), up)[metric] - metrics(law(down), down)[metric]) / 2e-5
        assert abs(float(found.gradient[arm]) - slope) < 5.5 * float(found.gradient_se[arm])
        assert float(found.gradient_se[arm]) < 0.02


@pytest.mark.bits
@pytest.mark.slow
@pytest.mark.parametrize("name", ["uniform, 2", "ucb-e, 2"])
def test_standard_errors_cover(name):
    """The 95% intervals of 400 repetitions: between 89 and 99%, 5.5 standard deviations away."""
    algorithm, means, law = CASES[name]
    up, down = [means[0] + 1e-5, means[1]], [means[0] - 1e-5, means[1]]
    slope = (metrics(law(up), up)["error"] - metrics(law(down), down)["error"]) / 2e-5
    inside = 0
    for root in range(400):
        found = jb.gradients.expected("error", algorithm, jb.bernoulli(means), seeds=2000, root_seed=root)
        inside += abs(float(found.gradient[0]) - slope) < 1.96 * float(found.gradient_se[0])
    assert 0.89 < inside / 400 < 0.99, inside
