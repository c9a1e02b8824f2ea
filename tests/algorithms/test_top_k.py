"""Top-K algorithms against slow references that follow the papers line by line, and against known numbers."""

import dataclasses
import math
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import jaxbandits as jb
from jaxbandits.algorithms import REGISTRY
from jaxbandits.algorithms.protocol import Rule
from jaxbandits.engine.mapped_rule import MappedRule
from tests.algorithms import batches_by_hand

# Distinct means, so that a reference needs no ties: rewards are normal.
PROBLEM = jb.gaussian(np.linspace(0.9, 0.1, 12) ** 1.3, 0.3)
RUNS = 6


def sequential_loop(means, active, left, width):
    """Algorithm 1's inner loop as printed: the arm with the largest gap goes first, pivots are computed anew."""
    active, accepted, rejected = set(active), set(), set()
    while active:
        ranked = sorted(active, key=lambda arm: -means[arm])
        k = left - len(accepted)
        outer = means[ranked[k]] if k < len(ranked) else -np.inf
        inner = means[ranked[k - 1]] if k > 0 else np.inf
        gaps = {arm: max(means[arm] - outer, inner - means[arm]) for arm in active}
        worst = max(active, key=gaps.get)
        if not gaps[worst] > width:
            break
        (accepted if means[worst] > outer else rejected).add(worst)
        active.discard(worst)
    return accepted, rejected


def test_the_one_shot_threshold_is_the_sequential_loop():
    random = np.random.default_rng(0)
    for _ in range(5000):
        count = int(random.integers(2, 12))
        left, width = int(random.integers(1, count)), float(random.random() * 0.5)
        means = random.random(count)
        ranked = np.sort(means)[::-1]
        accepted, rejected = sequential_loop(means, range(count), left, width)
        assert accepted == set(np.flatnonzero(means - ranked[left] > width))
        assert rejected == set(np.flatnonzero(ranked[left - 1] - means > width))


class Run:
    """What a reference knows: sets of arms, counts and sums."""

    def __init__(self, count, order_of):
        self.order_of, self.count = order_of, count
        self.order = order_of(0)  # the two arms at the border are equally far from it
        self.active, self.accepted = set(range(count)), set()
        self.pulls, self.sums = np.zeros(count, int), np.zeros(count)
        self.means = np.zeros(count)
        self.round = self.time = 0
        self.ended = False

    def order_now(self):
        """Of ties among fresh rewards, in the round that has just been made."""
        return self.order_of(self.round)


def adaptive_counts(algorithm, run, n):
    r = run.round + 1
    level = math.log(2 * n * r * r / algorithm.delta)
    wanted = 1 if algorithm.schedule == "fine" else math.ceil(algorithm.scale**2 * 4**r * level - 1e-9)
    if algorithm.budget is not None:
        return min(wanted, (algorithm.budget - run.time) // len(run.active)), wanted
    return wanted, wanted


def adaptive_decide(algorithm, run, n, fresh, whole):
    k, r = algorithm.k, run.round
    level = math.log(2 * n * r * r / algorithm.delta)
    radius = algorithm.scale * math.sqrt(level / r) if algorithm.schedule == "fine" else 2.0**-r
    everything = run.sums / np.maximum(run.pulls, 1)
    run.means = fresh if whole and algorithm.schedule == "paper" and not algorithm.reuse else everything
    if whole:
        accepted, rejected = sequential_loop(run.means, run.active, k - len(run.accepted), 2 * radius)
        run.accepted |= accepted
        run.active -= accepted | rejected
    left = k - len(run.accepted)
    run.ended = left in (0, len(run.active)) or not whole
    if algorithm.budget is None:
        run.ended |= 2 * radius * left <= algorithm.epsilon * k


def improved_slack(algorithm, r):
    return math.floor(algorithm.epsilon * algorithm.k / (16 * r * (r + 1)) + 1e-9)


def improved_counts(algorithm, run, n):
    r = run.round + 1
    eta = (improved_slack(algorithm, r) + 1) * algorithm.delta / (n * r * (r + 1))
    wanted = math.ceil(2 ** (2 * r - 1) * math.log(2 / eta) - 1e-9)
    return wanted, wanted


def improved_decide(algorithm, run, n, fresh, whole):
    r, left = run.round, algorithm.k - len(run.accepted)
    slack, width = improved_slack(algorithm, r), 2 * 2.0**-r
    ranked = sorted(run.active, key=lambda arm: -fresh[arm])
    outer = fresh[ranked[left + slack]] if left + slack < len(ranked) else -np.inf
    inner = fresh[ranked[left - slack - 1]] if left - slack >= 1 else np.inf
    accepted = {arm for arm in ranked[:left] if fresh[arm] > outer + width}
    rejected = {arm for arm in ranked if fresh[arm] < inner - width} - accepted
    run.means, run.accepted, run.active = fresh, run.accepted | accepted, run.active - accepted - rejected
    left = algorithm.k - len(run.accepted)
    run.ended = left in (0, len(run.active)) or 2 * 2.0**-r * left <= algorithm.epsilon * algorithm.k / 2


def mai_counts(algorithm, run, n):
    whole = algorithm.budget / (1 - algorithm.beta ** (math.log(n) / math.log(4 / 3)))
    pulls = round(algorithm.beta**run.round * (1 - algorithm.beta) * whole / len(run.active))
    pulls = min(max(pulls, run.round == 0), (algorithm.budget - sum(run.pulls)) // len(run.active))
    return pulls, pulls


def mai_decide(algorithm, run, n, fresh, whole):
    if algorithm.reuse:
        run.means = run.sums / np.maximum(run.pulls, 1)
    elif fresh.any():  # else the budget is spent, and the last round's rewards decide
        run.means = fresh
    turned = 2 * algorithm.k >= n
    wanted = n - algorithm.k if turned else algorithm.k
    values = -run.means if turned else run.means
    size, order = len(run.active), run.order if algorithm.reuse else run.order_now()
    if size >= 4 * wanted:
        run.active -= set(sorted(run.active, key=lambda arm: values[arm])[: size // 4])
    else:
        ranked = sorted(run.active, key=lambda arm: (-values[arm], order[arm]))
        left = wanted - len(run.accepted)
        inside, inner, outer = ranked[:left], ranked[left - 1], ranked[left] if left < size else None

        def farness(arm):
            """How far from the border, in value and then in the tie order; the order again, where these are equal."""
            if arm not in inside:
                return values[inner] - values[arm], order[arm] - order[inner], -order[arm]
            if outer is None:
                return np.inf, 0, -order[arm]
            return values[arm] - values[outer], order[outer] - order[arm], -order[arm]

        while len(run.accepted) < wanted and len(run.active) > 3 * size / 4:
            arm = max(run.active, key=farness)
            run.active.discard(arm)
            if arm in inside:
                run.accepted.add(arm)
    run.ended = len(run.accepted) >= wanted or not run.active


def answer(algorithm, run, n):
    turned = isinstance(algorithm, jb.OptMAI) and 2 * algorithm.k >= n
    wanted = n - algorithm.k if turned else algorithm.k
    values = -run.means if turned else run.means
    ranked = sorted(run.active, key=lambda arm: -values[arm])
    found = run.accepted | set(ranked[: wanted - len(run.accepted)])
    return set(range(n)) - found if turned else found


REFERENCES = {
    jb.AdaptiveTopK: (adaptive_counts, adaptive_decide),
    jb.ImprovedTopK: (improved_counts, improved_decide),
    jb.OptMAI: (mai_counts, mai_decide),
}
CASES = {
    "adaptive": jb.AdaptiveTopK(k=4, epsilon=0.05, delta=0.1),
    "adaptive, reuse, smaller rounds": jb.AdaptiveTopK(k=7, epsilon=0.02, delta=0.2, reuse=True, scale=0.3),
    "adaptive, budget": jb.AdaptiveTopK(k=4, delta=0.1, budget=3000, scale=0.5),
    "adaptive, small budget": jb.AdaptiveTopK(k=4, delta=0.1, budget=40),
    "fine": jb.AdaptiveTopK(k=4, epsilon=0.3, delta=0.1, schedule="fine", scale=0.3),
    "fine, budget": jb.AdaptiveTopK(k=5, delta=0.1, budget=700, schedule="fine", scale=0.2),
    "improved": jb.ImprovedTopK(k=6, epsilon=0.3, delta=0.1),
    "improved, with slack": jb.ImprovedTopK(k=9, epsilon=3.9, delta=0.1),
    "mai": jb.OptMAI(k=2, budget=600),
    "mai, one arm, quartiles": jb.OptMAI(k=1, budget=500, beta=0.7),
    "mai, forgetting": jb.OptMAI(k=4, budget=900, reuse=False),
    "mai, few pulls": jb.OptMAI(k=2, budget=17),
    "mai, few pulls, forgetting": jb.OptMAI(k=3, budget=19, reuse=False),
    "mai, the worst": jb.OptMAI(k=8, budget=600),
}
#: Of each algorithm one, and what is another way to decide, each time.
OFTEN = ("adaptive", "fine, budget", "improved", "mai")


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n not in OFTEN)) for n in CASES])
def test_every_round_is_that_of_the_reference(name):
    algorithm, n = CASES[name], PROBLEM.arms
    counts, decide = REFERENCES[type(algorithm)]
    mapped = MappedRule(algorithm)
    step = jax.jit(lambda key, state: mapped.step(PROBLEM, key, state))
    done, recommend = jax.jit(mapped.done), jax.jit(mapped.recommend)
    for key in jax.random.split(jax.random.key(5, impl="threefry2x32"), RUNS):
        state, rounds = mapped.init(PROBLEM, key), 0
        run = Run(n, batches_by_hand.order_of(state, ...))
        while not run.ended and rounds < 60:
            assert not done(state)
            each, wanted = counts(algorithm, run, n)
            new = step(key, state)
            pulled = np.asarray(new.pulls - state.pulls)
            assert set(np.flatnonzero(pulled)) == (run.active if each else set())
            np.testing.assert_array_equal(pulled[list(run.active)], each)
            total = np.asarray(new.statistics.moments.total.high, np.float64)
            fresh = (total - run.sums) / np.maximum(pulled, 1)
            run.sums, run.pulls = total, np.asarray(new.pulls)
            run.time, run.round, rounds = run.time + int(pulled.sum()), run.round + 1, rounds + 1
            decide(algorithm, run, n, fresh, each == wanted)
            assert set(np.flatnonzero(new.own.active)) == run.active, (rounds, fresh)
            assert set(np.flatnonzero(new.own.accepted)) == run.accepted
            assert set(np.flatnonzero(recommend(new))) == answer(algorithm, run, n)
            state = new
        assert bool(done(state)) == run.ended
        assert int(state.time) == run.time


@pytest.mark.parametrize(
    ("k", "worth"),
    [
        *(pytest.param(k, x, marks=pytest.mark.slow) for k, x in ((1, [0.9, 0.1]), (1, [0.9, 0.5, 0.1]))),
        pytest.param(2, [0.9, 0.8, 0.3], marks=pytest.mark.slow),
        (2, [1, 0.9, 0.3, 0.2, 0]),
    ],
)
def test_opt_mai_never_errs_where_nothing_is_random(k, worth):
    """The arm below the border has the same gap as the one above it: taken out, it must not be accepted."""
    data = jb.simulate(jb.OptMAI(k=k, budget=60), jb.rademacher(worth, worth, name="constant"), seeds=64)
    assert data.correct.all()


def play_opt_mai(k, budget, beta, random, n):
    """One run on uniform means, in plain Python; ties as the text of the paper has them, in a random order."""
    worth = 1 - np.arange(1, n + 1) / n
    whole = budget / (1 - beta ** (math.log(n) / math.log(4 / 3)))
    active, accepted, sums, spent, number = list(range(n)), [], np.zeros(n), 0, 0
    while len(accepted) < k and active:
        size, left = len(active), k - len(accepted)
        each = round(beta**number * (1 - beta) * whole / size)
        sums[active] += random.binomial(each, worth[active])
        spent, number = spent + each * size, number + 1
        # Distinct values: what is added is smaller than any difference.
        values = dict(zip(active, sums[active] + random.random(size) / 4, strict=True))
        ranked = sorted(active, key=lambda arm: -values[arm])
        if size >= 4 * k:
            active = ranked[: size - size // 4]
            continue
        inner, outer = values[ranked[left - 1]], values[ranked[left]] if left < size else -np.inf
        # The two arms at the border are equally far from it.
        gap = {arm: values[arm] - outer if arm in ranked[:left] else inner - values[arm] for arm in active}
        coin = dict(zip(active, random.random(size), strict=True))
        while len(accepted) < k and len(active) > 3 * size / 4:
            arm = max(active, key=lambda arm: (gap[arm], coin[arm]))
            active.remove(arm)
            accepted += [arm] if arm in ranked[:left] else []
    return worth[:k].mean() - worth[accepted].mean(), spent


@pytest.mark.slow
def test_opt_mai_has_the_regret_and_the_pulls_of_a_plain_program():
    """Welch's test, p > 1e-8 each. With the arm below the border accepted the regret would be .0038, not .0024."""
    random = np.random.default_rng(1)
    plain = np.asarray([play_opt_mai(10, 3000, 0.8, random, 60) for _ in range(1000)])
    data = jb.simulate(jb.OptMAI(k=10, budget=3000, beta=0.8), jb.uniform_means(60), seeds=2000)
    for column, variable in enumerate(("aggregate_regret", "pulls")):
        assert stats.ttest_ind(plain[:, column], data[variable], equal_var=False).pvalue > 1e-8


def play_forgetful_opt_mai(k, budget, beta, random, n):
    """Return the regret of one run on uniform means that ranks each round's rewards alone, ties anew in each."""
    worth = 1 - np.arange(1, n + 1) / n
    whole = budget / (1 - beta ** (math.log(n) / math.log(4 / 3)))
    active, accepted, number = np.arange(n), [], 0
    while len(accepted) < k and len(active):
        size, left = len(active), k - len(accepted)
        sums = random.binomial(round(beta**number * (1 - beta) * whole / size), worth[active])
        number += 1
        place = random.random(size)  # in the order of ties
        ranked = np.lexsort((place, -sums))
        if size >= 4 * k:
            active = active[ranked[: size - size // 4]]
            continue
        inside = np.isin(np.arange(size), ranked[:left])
        inner, outer = ranked[left - 1], ranked[left] if left < size else None
        behind = np.where(inside, -place, place - place[inner])
        gap = np.where(inside, size * budget, sums[inner] - sums)
        if outer is not None:
            behind, gap = behind + inside * place[outer], np.where(inside, sums - sums[outer], gap)
        gone = np.lexsort((place, -behind, -gap))[: math.ceil(size / 4)]
        accepted += active[gone[inside[gone]]].tolist()
        active = np.delete(active, gone)
    return worth[:k].mean() - worth[accepted].mean()


@pytest.mark.slow
def test_opt_mai_breaks_ties_of_fresh_rewards_anew():
    """Welch's test, p > 1e-8. In one order for all rounds the regret is .0211 with K = 100 of 1000, not .0159."""
    random = np.random.default_rng(2)
    plain = [play_forgetful_opt_mai(30, 7000, 0.75, random, 400) for _ in range(400)]
    data = jb.simulate(jb.OptMAI(k=30, budget=7000, beta=0.75, reuse=False), jb.uniform_means(400), seeds=1000)
    assert stats.ttest_ind(plain, data.aggregate_regret, equal_var=False).pvalue > 1e-8


@pytest.mark.slow
def test_opt_mai_ranks_tied_means_at_random():
    """Two pulls an arm in the first rounds: .0085 by three other programs, .0211 with the gaps of long ties equal."""
    data = jb.simulate(jb.OptMAI(k=350, budget=20_000, beta=0.9), jb.uniform_means(1000), seeds=100)
    assert data.aggregate_regret.mean() == pytest.approx(0.0085, rel=0.1)  # one run's sd is .0015


def test_every_batch_based_algorithm_has_a_reference():
    elsewhere = {jb.SiRI, jb.MedianElimination, jb.ExpGapElimination, jb.MABPPR, jb.UnionBound}
    elsewhere |= {jb.KN, jb.KNPlusPlus, jb.Rinott}  # test_indifference_zone
    elsewhere |= {jb.TriBBAI, jb.OptBBAI, jb.BayesElim}  # test_few_rounds
    elsewhere |= {jb.HoeffdingRace, jb.BernsteinRace, jb.KLRace, jb.PairedRace, jb.FAREAST}  # tests of their own
    in_batches = {cls for cls in REGISTRY.values() if issubclass(cls, Rule) and cls.traits.in_batches}
    assert in_batches == set(REFERENCES) | elsewhere


def mean_pulls(algorithm, problem, seeds):
    data = jb.simulate(algorithm, problem, seeds=seeds)
    assert data.correct.all()
    return float(data.pulls.mean())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("algorithm", "problem", "pulls"),
    [
        (jb.AdaptiveTopK(k=100), jb.two_group(1000, 100), 1.19e6),
        (jb.AdaptiveTopK(k=100, epsilon=0.05), jb.uniform_means(1000), 5.7e6),
        (jb.AdaptiveTopK(k=500, epsilon=0.05), jb.uniform_means(1000), 3.1e6),
        (jb.ImprovedTopK(k=100, epsilon=0.05), jb.two_group(1000, 100), 6.09e5),
        (jb.ImprovedTopK(k=100, epsilon=0.05), jb.uniform_means(1000), 7.0e6),
        (jb.ImprovedTopK(k=500, epsilon=0.05), jb.uniform_means(1000), 3.6e6),
    ],
)
def test_known_numbers_of_pulls(algorithm, problem, pulls):
    """Within 2%; one run's sd is below 1%, so 20 runs leave 0.3%."""
    assert mean_pulls(algorithm, problem, 20) == pytest.approx(pulls, rel=0.02)


@pytest.mark.parametrize(
    ("k", "regret"),
    [
        *(
            pytest.param(*known, marks=pytest.mark.slow)
            for known in ((100, 0.00532), (150, 0.00583), (300, 0.00579), (500, 0.00499))
        ),
    ],
)
def test_published_regret_of_opt_mai_on_random_means(k, regret):
    """Figure 1 of the paper, read to some per cent; within 12%: a plain program has .0053 at K = 150."""
    instances = jb.axis(list(range(60)), name="instance")
    data = jb.sweep(jb.OptMAI(k=k, budget=20_000), jb.random_uniform(1000, seed=instances), seeds=4, independent=True)
    assert float(data.aggregate_regret.mean()) == pytest.approx(regret, rel=0.12)


@pytest.mark.slow
@pytest.mark.parametrize(("k", "regret"), [(100, 0.05695), (300, 0.04094)])
def test_published_regret_of_opt_mai_on_two_groups(k, regret):
    data = jb.simulate(jb.OptMAI(k=k, budget=20_000), jb.two_group(1000, k, 0.6, 0.5), seeds=100)
    assert float(data.aggregate_regret.mean()) == pytest.approx(regret, rel=0.1)
    assert float(data.pulls.mean()) == pytest.approx(20_000, rel=0.01)


@pytest.mark.slow
def test_a_large_budget_is_spent_to_the_last_whole_round():
    """Budgets beyond 2^24 are whole numbers: what is left of one is never rounded up."""
    budget = jb.axis([99_999_989, 2**27 - 3, 2**30 + 65, 2**31 - 2])
    problem = jb.bernoulli([0.5, 0.50001, 0.49999, 0.5])
    data = jb.sweep(jb.AdaptiveTopK(k=2, budget=budget), problem, seeds=4, max_pulls=2**31 - 1)
    pulls, budgets = np.asarray(data.pulls).reshape(4, -1), np.asarray(budget.values)[:, None]
    assert (pulls <= budgets).all()
    assert (pulls > budgets - 4).all()


@pytest.mark.slow
def test_small_budgets_of_the_literal_constants_are_uniform_sampling():
    data = jb.simulate(jb.AdaptiveTopK(k=100, budget=48_000), jb.uniform_means(1000), seeds=3)
    assert (data.pulls == 48_000).all()
    state = jb.run(jb.AdaptiveTopK(k=100, budget=48_000), jb.uniform_means(1000), jax.random.key(0))
    assert len(np.unique(state.pulls)) == 1


@pytest.mark.parametrize("family", ["bernoulli", "gaussian", "beta"])
def test_sums_have_the_mean_and_the_variance_of_so_many_rewards(family):
    """Two z-scores and two variance ratios, false alarm below 1e-8."""
    problem = {"bernoulli": jb.bernoulli([0.3, 0.9]), "gaussian": jb.gaussian([0.3, -1.0], [0.5, 2.0]),
               "beta": jb.beta([2.0, 0.5], 1.5)}[family]  # fmt: skip
    runs, count = 5_000, jnp.asarray([[40], [7]])
    key = jax.random.split(jax.random.key(1, impl="threefry2x32"), runs)
    wide = jax.tree.map(lambda x: jnp.broadcast_to(x[:, None], (2, runs)), problem)
    zero = jnp.zeros((2, runs), jnp.int32)
    drawn = jax.jit(wide.sums)
    sums = np.asarray(drawn(key, jnp.zeros(runs, jnp.int32), count + zero, zero), np.float64)
    for arm in range(2):
        n, mean, variance = int(count[arm, 0]), float(problem.mean[arm]), float(problem.variance[arm])
        assert abs(sums[arm].mean() - n * mean) < 6 * np.sqrt(n * variance / runs)
        assert sums[arm].var() == pytest.approx(n * variance, rel=6 * np.sqrt(5 / runs))
    other = np.asarray(drawn(key, jnp.ones(runs, jnp.int32), count + zero, zero + 50), np.float64)
    assert abs(np.corrcoef(sums[0], other[0])[0, 1]) < 6 / np.sqrt(runs)


def test_sums_of_a_family_without_a_law_of_sums_are_those_of_its_table():
    problem, key = jb.beta([2.0, 0.5], 1.5), jax.random.key(1, impl="threefry2x32")
    sums = jax.jit(problem.sums)(key, jnp.int32(0), jnp.asarray([5, 2]), jnp.asarray([3, 0]))
    rewards = jax.jit(lambda pulls: jax.lax.map(lambda pull: problem.rewards(key, pull), pulls))
    table = np.asarray(rewards(jnp.arange(8)), np.float64)
    np.testing.assert_allclose(sums, [table[3:8, 0].sum(), table[:2, 1].sum()], rtol=1e-6)


@pytest.mark.parametrize("before", [2**31 - 3, 2**31 - 1])
def test_sums_do_not_repeat_entries_at_the_end_of_the_table(before):
    """Pulls are counted to 2^31 - 1: entries numbered from there on would come again in every batch."""
    problem, key, count = jb.student_t([1.0, 0.0], 3.0), jax.random.key(1), jnp.asarray([5, 5])
    sums = jax.jit(problem.sums)
    found = np.stack([sums(key, jnp.int32(batch), count, jnp.full(2, before, jnp.int32)) for batch in range(4)])
    assert len(np.unique(found)) == 8


@pytest.mark.slow
def test_regret_exceeds_epsilon_less_often_than_delta():
    """False alarm 1e-8 for each instance."""
    for problem in (jb.uniform_means(50), jb.two_group(50, 10, 0.55, 0.45), jb.synthetic(6, 50, 20)):
        for algorithm in (jb.AdaptiveTopK(k=10, epsilon=0.1, delta=0.2), jb.ImprovedTopK(k=10, epsilon=0.1, delta=0.2)):
            data = jb.simulate(algorithm, problem, seeds=300)
            assert stats.binomtest(int((~data.correct).sum()), 300, 0.2, alternative="greater").pvalue > 1e-8
            assert float(data.aggregate_regret.max()) < 0.15


@pytest.mark.parametrize("cls", [jb.AdaptiveTopK, jb.ImprovedTopK])
@pytest.mark.parametrize(
    ("problem", "said"), [(jb.gaussian([0, 5], 3), "not of 6"), (jb.pareto([2, 3], 2.5), "not without one")]
)
def test_rewards_beyond_the_proof_are_a_warning(cls, problem, said):
    with pytest.warns(UserWarning, match=f"delta is proved for rewards of range 1, {said}$"):
        cls(k=1, epsilon=0.1, delta=0.1).resolved(problem)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cls(k=1, epsilon=0.1, delta=0.1).resolved(jb.gaussian([0, 5], 0.5))
        jb.AdaptiveTopK(k=1, budget=100).resolved(problem)  # which promises no delta


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: jb.AdaptiveTopK(k=0), "k must be a whole number"),
        (lambda: jb.AdaptiveTopK(k=2, epsilon=0), "epsilon must be positive"),
        (lambda: jb.AdaptiveTopK(k=2, schedule="coarse"), "schedule"),
        (lambda: jb.simulate(jb.AdaptiveTopK(k=10), jb.uniform_means(10), seeds=1), "k must be smaller"),
        (lambda: jb.simulate(jb.OptMAI(k=2, budget=9), jb.uniform_means(10), seeds=1), "budget must cover 10"),
        (lambda: jb.OptMAI(k=2, budget=9, beta=1), "beta must lie"),
        (lambda: jb.simulate(jb.CLUCB(k=10), jb.uniform_means(10), seeds=1), "k must be smaller"),
        (lambda: jb.simulate(jb.CLUCB(k=2, budget=9), jb.uniform_means(10), seeds=1), "budget must cover 10"),
        (lambda: jb.simulate(jb.CLUCB(k=2), jb.student_t([0, 1, 2], 3), seeds=1), "heavier tails"),
        (lambda: jb.AskTell(jb.AdaptiveTopK(k=5), arms=5), "k must be smaller"),
    ],
)
def test_bad_input(make, message):
    with pytest.raises(jb.UsageError, match=message):
        make()


def test_switches_are_all_tried():
    fields = {field.name for algorithm in CASES.values() for field in dataclasses.fields(algorithm)}
    assert fields == {"k", "epsilon", "delta", "budget", "schedule", "scale", "reuse", "beta"}
