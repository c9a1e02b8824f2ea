"""SAR against a slow reference in exact arithmetic that follows the paper line by line, and its corner cases."""

import math
from fractions import Fraction
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits.algorithms.elimination.rejects_phases import ceil_share, rejects_share
from jaxbandits.bounded_jit import recent_programs
from jaxbandits.engine.mapping import map_algorithm

RUNS = 120


class Found(NamedTuple):
    pulls: list[int]
    returned: set[int]
    ending: str


def lengths(budget, count):
    """n_1, …, n_{K-1}; the first pulls of all arms are made in any case."""
    log_bar = Fraction(1, 2) + sum(Fraction(1, i) for i in range(2, count + 1))
    return [max(1, math.ceil((budget - count) / (log_bar * (count + 1 - k)))) for k in range(1, count)]


def one_bandit(table, order, budget, m):
    """Successive accepts and rejects as printed, with ties of gaps by the run's order."""
    count = table.shape[1]
    active, accepted, pulls = list(range(count)), set(), [0] * count
    ending = "last phase"
    for length in lengths(budget, count):
        left = m - len(accepted)
        if left in (0, len(active)):
            ending = "all rejected" if left == 0 else "all accepted"
            break
        for arm in active:
            pulls[arm] = length
        mean = {arm: Fraction(sum(table[:length, arm].tolist())) / length for arm in active}
        ranked = sorted(active, key=lambda arm: (-mean[arm], order[arm]))
        gap = {
            arm: mean[arm] - mean[ranked[left]] if rank <= left else mean[ranked[left - 1]] - mean[arm]
            for rank, arm in enumerate(ranked, 1)
        }
        chosen = max(active, key=lambda arm: (gap[arm], -order[arm]))
        active.remove(chosen)
        if mean[chosen] > mean[ranked[left]]:
            accepted.add(chosen)
    if len(accepted) < m:
        accepted |= set(active)
    return Found(pulls, accepted, ending)


def several_bandits(table, order, budget, bandits):
    """The version for the best arm of each bandit, as printed; arm a is of bandit a % bandits."""
    count = table.shape[1]
    active, accepted, pulls = list(range(count)), set(), [0] * count
    for length in lengths(budget, count):
        for arm in active:
            pulls[arm] = length
        mean = {arm: Fraction(sum(table[:length, arm].tolist())) / length for arm in active}
        own = {arm: [other for other in active if other % bandits == arm % bandits] for arm in active}
        alone = [arm for arm in active if own[arm] == [arm]]
        assert len(alone) <= 1
        if alone:
            chosen = alone[0]
            accepted.add(chosen)
        else:
            gap = {arm: max(mean[other] for other in own[arm]) - mean[arm] for arm in active}
            chosen = max(active, key=lambda arm: (gap[arm], -order[arm]))
        active.remove(chosen)
    return Found(pulls, accepted | set(active), "last phase")


@recent_programs(100)
def play(problem, keys, algorithm):
    """Pulls and returned arms, `(RUNS, K)`, and tie orders; the algorithm's leaves are `(RUNS,)`."""

    def one(key, algorithm):
        algorithm = map_algorithm(algorithm)
        state = algorithm.init(problem, key)
        unfinished, step = lambda s: ~algorithm.done(s), lambda s: algorithm.step(problem, key, s)
        state = jax.lax.while_loop(unfinished, step, state)
        return state.pulls, algorithm.recommend(state), state.by_arm(jnp.arange(problem.arms))

    return jax.vmap(one)(keys, algorithm)


def two_point(low, high):
    """Fair coins; of one name, so that they share a program."""
    return jb.rademacher(low, high, name="two-point")


PROBLEMS = {
    "two-point": two_point([0.25, 0, 0, 0, 0, 0.5, 0.25], [1, 1, 0.75, 0.75, 0.5, 0.5, 0.75]),
    "constant": two_point([1, 0, 0, 1, 0, 0.5, 1], [1, 0, 0, 1, 0, 0.5, 1]),
    "equal": two_point([0.5] * 7, [0.5] * 7),
    "normal": jb.gaussian(np.linspace(0.9, 0.1, 12) ** 1.3, 0.3),
    "two bandits": jb.gabillon(1),
    "three normal bandits": jb.gaussian([[0.5, 0.4, 0.1], [0.9, 0.2, 0.0], [0.3, 0.25, 0.2]], 0.3),
}
#: Ways to end that the runs must show between them. Only equal gaps decide about several arms at once.
ENDINGS = {
    "two-point": {"all accepted", "all rejected", "last phase"},
    "constant": {"all accepted", "all rejected", "last phase"},
    "equal": {"all accepted", "last phase"},  # nothing is above the border: no arm is accepted before it is needed
}


EACH_TIME = ("constant", "three normal bandits")


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n not in EACH_TIME)) for n in PROBLEMS])
def test_every_run_is_that_of_the_reference(name):
    problem = PROBLEMS[name]
    keys = jax.random.split(jax.random.key(3), RUNS)
    random = np.random.default_rng(5)
    budgets = random.integers(problem.arms, 30 * problem.arms, RUNS).astype(np.int32)
    budgets[:4] = problem.arms, problem.arms, problem.arms + 1, problem.arms + 2
    most = 1 if problem.bandits > 1 else problem.arms - 1
    m = random.integers(1, most + 1, RUNS).astype(np.int32)
    pulls, returned, orders = (np.asarray(x) for x in play(problem, keys, jb.SAR(budget=budgets, m=m)))
    drawn = np.arange(pulls.max(), dtype=np.int32)
    rewards = jax.vmap(lambda key: jax.lax.map(lambda pull: problem.rewards(key, pull), drawn))
    table = np.asarray(jax.jit(rewards)(keys)).astype(float)
    endings = set()
    for run in range(RUNS):
        budget = int(budgets[run])
        if problem.bandits == 1:
            wanted = one_bandit(table[run], orders[run], budget, int(m[run]))
        else:
            wanted = several_bandits(table[run], orders[run], budget, problem.bandits)
        assert pulls[run].tolist() == wanted.pulls
        assert set(np.flatnonzero(returned[run])) == wanted.returned
        assert pulls[run].sum() <= budget
        endings.add(wanted.ending)
    assert endings == ENDINGS.get(name, {"last phase"})


@pytest.mark.parametrize("count", [2, 20, 1000])
def test_all_phases_together_cost_no_more_than_the_budget(count):
    budgets = np.unique(np.geomspace(count, 1e6, 3000).astype(np.int32))
    share = rejects_share(jnp.asarray(budgets), jnp.full(budgets.shape, count), count)
    pulls = np.maximum(np.asarray(ceil_share(share, jnp.arange(count, 1, -1)[:, None]), np.int64), 1)
    assert (np.diff(pulls, axis=0) >= 0).all()
    total = pulls.sum(0) + pulls[-1]  # an arm leaves after each phase; the last one and its loser have n_{K-1} each
    assert (total <= budgets).all()
    assert (total > budgets - count - 1).all()  # the ceilings alone leave something


@pytest.mark.parametrize("half", [True, False])
@pytest.mark.parametrize("count", [2, 3, 4, 6, 20, 24, 333])
def test_phases_are_exact_integers(count, half):
    """By fractions, at budgets up to 2^31 - 1, those about whole phases among them; several numbers of arms at once."""
    harmonic = sum(Fraction(1, i) for i in range(1, count + 1)) - (Fraction(1, 2) if half else 0)
    random = np.random.default_rng(count)
    budgets = {count, count + 1, 99_999_989, 2**31 - 1, *random.integers(count, 2**31, 40).tolist()}
    for left, pulls in zip(random.integers(2, count + 1, 60), random.integers(1, 2**26, 60), strict=True):
        whole = math.ceil(min(int(pulls), int(2**30 / (int(left) * harmonic))) * int(left) * harmonic)
        budgets |= {count + whole - 1, count + whole, count + whole + 1}
    step = harmonic.numerator  # n - K of which every phase's length, but for the ceiling, is a multiple of 1 / left
    budgets |= {count + step * times + d for times in (1, 7, 2**20) for d in (-1, 0, 1) if step * times < 2**31 - 1000}
    budgets = sorted(budgets)
    mixed = np.resize(np.int32([count, 5, count, 2]), len(budgets))
    plan = jax.jit(rejects_share, static_argnames=("width", "half"))
    for counts in (np.full_like(mixed, count), mixed):
        share = np.asarray(plan(np.int32(budgets), counts, max(count, 5) + 2, half=half))
        for run in np.flatnonzero(counts == count):
            spare = budgets[run] - count
            wanted = [math.ceil(spare / (harmonic * (count + 1 - k))) for k in range(1, count)]
            assert [int(ceil_share(share[run], count + 1 - k)) for k in range(1, count)] == wanted


def test_a_run_that_is_stopped_returns_what_it_has():
    """Accepted arms stay, the others by their means, not by sums of unequal numbers of rewards."""
    problem = jb.rademacher([0.9, 0.8, 0.1, 0.0], [0.9, 0.8, 0.1, 0.0])
    states = jb.trajectory(jb.SAR(budget=80, m=2), problem, jax.random.key(0), 80)
    returned = np.asarray(states.answer)
    np.testing.assert_array_equal(returned, np.broadcast_to([True, True, False, False], returned.shape))


@pytest.mark.parametrize(
    ("algorithm", "problem", "message"),
    [
        (jb.SAR(budget=100, m=2), jb.gabillon(1), "one arm of each bandit where there are several, got m=2"),
        (jb.SAR(budget=100, m=jb.axis([1, 2])), jb.gabillon(1), "got m=2"),
        (jb.SAR(budget=7), jb.gabillon(1), "8 first pulls of 8 arms, got 7"),
        (jb.SAR(budget=100, m=20), jb.abm(1), "m must be smaller than the number of arms"),
    ],
)
def test_what_has_no_answer_is_refused_in_one_line(algorithm, problem, message):
    with pytest.raises(jb.UsageError, match=message) as error:
        jb.sweep(algorithm, problem, seeds=2)
    assert "\n" not in str(error.value)
