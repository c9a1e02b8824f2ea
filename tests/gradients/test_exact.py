"""Gradients of small problems against what enumerating every sequence of rewards gives."""

import itertools
import math

import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

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
    """The law of the answer of UCB-E; of equal indices and means, arms come in one order in a whole run."""
    arms = range(len(means))
    answers = np.zeros(len(means))
    orders = list(itertools.permutations(arms))
    for order in orders:

        def first(values, order=order):
            return next(arm for arm in order if abs(values[arm] - max(values)) < 1e-6)

        states = {}
        for sums in itertools.product((0, 1), repeat=len(means)):
            chance = math.prod(m if s else 1 - m for m, s in zip(means, sums, strict=True)) / len(orders)
            states[((1,) * len(means), sums)] = chance
        for _ in range(budget - len(means)):
            after = {}
            for (pulls, sums), weight in states.items():
                arm = first([np.float32(s / n + math.sqrt(a / n)) for n, s in zip(pulls, sums, strict=True)])
                more = tuple(n + (i == arm) for i, n in enumerate(pulls))
                for success, p in ((1, means[arm]), (0, 1 - means[arm])):
                    key = (more, tuple(s + success * (i == arm) for i, s in enumerate(sums)))
                    after[key] = after.get(key, 0.0) + weight * p
            states = after
        for (pulls, sums), weight in states.items():
            answers[first([s / n for n, s in zip(pulls, sums, strict=True)])] += weight
    return answers


TWO, THREE = [0.6, 0.45], [0.6, 0.45, 0.3]
CASES = {
    "uniform, 2": (jb.Uniform(budget=8), TWO, lambda means: in_rounds(means, [4], [1])),
    "uniform, 3": (jb.Uniform(budget=9), THREE, lambda means: in_rounds(means, [3], [1])),
    # Phases end after ceil((n - K) / (logbar(K) (K + 1 - k))) pulls of an arm; logbar(3) = 4/3.
    "successive rejects, 3": (jb.SuccessiveRejects(budget=11), THREE, lambda means: in_rounds(means, [2, 1], [2, 1])),
    "sequential halving, 2": (jb.SequentialHalving(budget=8), TWO, lambda means: in_rounds(means, [4], [1])),
    "ucb-e, 2": (jb.UCBE(budget=9, a=0.7), TWO, lambda means: ucb_e(means, 9, 0.7)),
    "successive rejects, 2": (jb.SuccessiveRejects(budget=8), TWO, lambda means: in_rounds(means, [3], [1])),
    # Rounds of floor(n / (|S| ceil(log2 K))) pulls of an arm, of which ceil(|S| / 2) stay.
    "sequential halving, 3": (jb.SequentialHalving(budget=12), THREE, lambda means: in_rounds(means, [2, 3], [2, 1])),
    "ucb-e, 3": (jb.UCBE(budget=9, a=0.7), THREE, lambda means: ucb_e(means, 9, 0.7)),
}
#: Whose pulls hang on all rewards so far: it is always tested.
ADAPTIVE = "ucb-e, 2"


def metrics(answers, means):
    """P(error) and E[simple regret] as functions of the law of the answer."""
    means = np.asarray(means)
    return {"error": 1 - answers[int(np.argmax(means))], "simple_regret": float(answers @ (means.max() - means))}


@pytest.mark.bits  # they run longer than they compile
@pytest.mark.parametrize(
    ("name", "metric"),
    [
        *(pytest.param(name, "error", marks=[pytest.mark.slow] * (name != ADAPTIVE)) for name in CASES),
        pytest.param("uniform, 3", "simple_regret", marks=pytest.mark.slow),
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


@jb.algorithm
class Above:
    """Pulls each of two arms three times, and returns those with means above a level: none in some runs."""

    traits = jb.Traits(answers="any")
    level: float

    def select(self, arms, key):
        return jnp.argmin(arms.pulls)

    def done(self, arms):
        return arms.time >= 6

    def recommend(self, arms):
        return arms.mean > self.level


def regret_where_there_is_one(p, level):
    """E[regret | an arm is returned] of `Above`, by enumeration, and the probability of this."""
    found = share = 0.0
    for sums in itertools.product(range(4), repeat=2):
        returned = [arm for arm in range(2) if sums[arm] / 3 > level]
        if returned:
            mass = np.prod(stats.binom.pmf(sums, 3, p))
            found += mass * (sorted(p, reverse=True)[len(returned) - 1] - min(p[arm] for arm in returned))
            share += mass
    return found / share, share


def root_of_regret(problem, state, recommended):
    """Its derivative is NaN where the regret is 0."""
    return jnp.sqrt(problem.mean.max() - jnp.where(recommended, problem.mean, 0).sum())


def safe_root_of_regret(problem, state, recommended):
    regret = problem.mean.max() - jnp.where(recommended, problem.mean, 0).sum()
    return jnp.where(regret > 0, jnp.sqrt(jnp.where(regret > 0, regret, 1)), 0)


def test_a_metric_whose_own_derivative_is_nan_is_refused():
    """Its derivative was the mean over the runs that err, so that the gradient had the other sign.

    The gradient of the metric without NaN is within 5.5 standard errors (false alarm 4e-8 each).
    """
    p, rule = np.asarray([0.7, 0.4]), jb.Uniform(budget=6)
    with pytest.raises(jb.UsageError, match="derivative in mean is not finite") as error:
        jb.gradients.expected(root_of_regret, rule, jb.bernoulli(p), seeds=200)
    assert "\n" not in str(error.value)
    found = jb.gradients.expected(safe_root_of_regret, rule, jb.bernoulli(p), seeds=5000)

    def exact(p):
        first, second = (stats.binom.pmf(range(4), 3, q) for q in p)
        return sum(first[a] * second[b] * ((b > a) + (a == b) / 2) for a in range(4) for b in range(4)) * (
            (p[0] - p[1]) ** 0.5
        )

    slopes = [(exact(p + step) - exact(p - step)) / 2e-5 for step in 1e-5 * np.eye(2)]
    assert (abs(found.gradient - slopes) < 5.5 * found.gradient_se).all()
    assert (found.gradient_se < 0.05).all()


@pytest.mark.slow
def test_gradients_of_a_regret_that_some_runs_do_not_have():
    """The mean over runs that return an arm is a ratio; 5.5 standard errors (false alarm 4e-8 each)."""
    p, runs = np.asarray([0.5, 0.2]), 20_000
    value, share = regret_where_there_is_one(p, 0.6)
    exact = [
        (regret_where_there_is_one(p + step, 0.6)[0] - regret_where_there_is_one(p - step, 0.6)[0]) / 2e-5
        for step in 1e-5 * np.eye(2)
    ]
    rule, problem = Above(level=0.6), jb.bernoulli(p)
    found = jb.gradients.expected("simple_regret", rule, problem, seeds=runs)
    assert abs(float(found.value) - value) < 5.5 * float(found.value_se)
    assert (abs(found.gradient - exact) < 5.5 * found.gradient_se).all()
    assert (found.gradient_se < 0.01).all()
    ds = jb.simulate(rule, problem, seeds=runs)
    regrets = ds.simple_regret.to_numpy()
    assert np.isnan(regrets).mean() == pytest.approx(1 - share, abs=0.02)
    there = regrets[~np.isnan(regrets)]
    assert float(found.value_se) == pytest.approx(there.std() / len(there) ** 0.5, rel=0.01)
    assert int(found.outcomes) == len(np.unique(there)) + 1
    both = jb.gradients.expected("simple_regret", rule, problem, seeds=runs, refit_algorithm=True)
    assert (abs(both.gradient - exact) < 5.5 * both.gradient_se + 0.01).all()  # differences of 5% on both sides
    level = jb.gradients.expected("simple_regret", Above(level=0.65), problem, wrt="level", seeds=runs)
    quotient = (regret_where_there_is_one(p, 0.65 * 1.05)[0] - regret_where_there_is_one(p, 0.65 * 0.95)[0]) / 0.065
    assert abs(float(level.gradient) - quotient) < 5.5 * float(level.gradient_se)
    assert float(level.gradient_se) < 0.2 * abs(quotient)
