"""Baselines on joint batches against slow references that follow the papers line by line, and against known numbers."""

import functools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import optimize, special, stats

import jaxbandits as jb
from jaxbandits.algorithms.protocol import Batches
from jaxbandits.problems import ppr
from tests.algorithms import batches_by_hand

RUNS, ARMS = 40, 7
# Many ties: equal means, and one that never pays.
MEANS = np.asarray([0.62, 0.5, 0.5, 0.4, 0.1, 0.02, 0.0])
KEYS = jax.random.split(jax.random.key(3, impl="threefry2x32"), RUNS)
INTEGERS, FLOATS = jb.bernoulli(MEANS), jb.beta(2 * MEANS + 0.01, 2.01 - 2 * MEANS)


def median_elimination(alive, epsilon, delta, order_at, rankings=0):
    """Each reference yields the arms, how often each, and in how many batches; it is sent their sums and the pulls.

    A ranking of fresh rewards has a tie order of its own, known by a number.
    """
    alive, eps_l, delta_l = set(alive), epsilon / 4, delta / 2
    while len(alive) > 1:
        order = order_at(rankings)
        sums, _ = yield alive, 4 / eps_l**2 * math.log(3 / delta_l), 1
        rankings += 1
        ranked = sorted(alive, key=lambda arm: (-sums[0, arm], order[arm]))
        alive = set(ranked[: math.ceil(len(ranked) / 2)])
        eps_l, delta_l = 3 * eps_l / 4, delta_l / 2
    return alive


def exp_gap_elimination(alive, epsilon, delta, order_at):
    alive, r = set(alive), 1
    while len(alive) > 1:
        eps_r, delta_r = 2**-r / 4, delta / (50 * r**3)
        if eps_r / 2 <= epsilon:
            return (yield from median_elimination(alive, epsilon, delta_r, order_at, 64 * (r - 1)))
        sums, pulls = yield alive, 2 / eps_r**2 * math.log(2 / delta_r), 1
        (named,) = yield from median_elimination(alive, eps_r / 2, delta_r, order_at, 64 * (r - 1))
        alive = {arm for arm in alive if not sums[0, arm] < sums[0, named] - eps_r * pulls}
        r += 1
    return alive


def union_bound(alive, epsilon, delta, order_at, estimator="hoeffding", c3=96.0, factor=4.5):
    alive = set(alive)
    if estimator == "hoeffding":
        sums, _ = yield alive, 2 / epsilon**2 * math.log(2 * len(alive) / delta), 1
    else:
        sums, _ = yield alive, c3 / epsilon**2, math.ceil(factor * math.log(len(alive) / delta) - 1e-5)
    estimates, order = np.median(sums, axis=0), order_at(0)
    return {min(alive, key=lambda arm: (-estimates[arm], order[arm]))}


def kl_end(p, divergence, side):
    """The q furthest below p (-1) or above (1) with kl(p, q) <= divergence."""
    end = (side + 1) / 2
    if p == end:
        return p
    miss = lambda q: special.rel_entr(p, q) + special.rel_entr(1 - p, 1 - q) - divergence  # noqa: E731
    return optimize.brentq(miss, p, end - side * 1e-15) if miss(end - side * 1e-15) > 0 else end


def intervals(kind, mean, n, level):
    if kind == "hoeffding":
        radius = math.sqrt(level / (2 * n))
        return mean - radius, mean + radius
    if kind == "kl":
        ends = [(kl_end(p, level / n, -1), kl_end(p, level / n, 1)) for p in mean]
        return np.asarray(ends).T
    radius = np.sqrt(2 * mean * (1 - mean) * level / n) + 3 * level / n
    return np.maximum(mean - radius, 0), np.minimum(mean + radius, 1)


def race(alive, epsilon, delta, order_at, kind="hoeffding", m=1, growth=1.3):
    """The arm that is surest leaves first, and the rest is looked at anew, as in the paper."""
    alive, accepted, count = set(alive), set(), len(alive)
    order = order_at(None)  # sums are of all rewards
    n, r, total = 0, 0, np.zeros(count)
    while 0 < m - len(accepted) < len(alive):
        r += 1
        level = math.log((3 if kind == "bernstein" else 2) * count * r * (r + 1) / delta)
        sums, pulls = yield alive, level if r == 1 else max((growth - 1) * n, 1), 1
        n, total = n + pulls, total + sums[0]
        lower, upper = intervals(kind, np.clip(total / n, 0, 1), n, level)
        while 0 < (left := m - len(accepted)) < len(alive):
            ranked = sorted(alive, key=lambda arm: (-total[arm], order[arm]))
            best, worst = ranked[0], ranked[-1]
            slack = {
                best: upper[ranked[left:]].max() - lower[best],
                worst: upper[worst] - lower[ranked[:left]].min(),
            }
            arm = min(slack, key=slack.get)
            if not slack[arm] < epsilon:
                break
            alive.discard(arm)
            accepted |= {arm} & {best}
    return accepted | (alive if len(accepted) < m else set())


SPREAD = {"epsilon": np.linspace(0.05, 0.3, RUNS), "delta": np.geomspace(0.01, 0.4, RUNS)}
FINE, EXACT = {"epsilon": np.geomspace(0.01, 0.1, RUNS)}, {"epsilon": np.zeros(RUNS)}
M = {"m": 1 + np.arange(RUNS) % (ARMS - 1)}
CASES = {
    "median elimination": (jb.MedianElimination, median_elimination, SPREAD),
    "exp-gap elimination": (jb.ExpGapElimination, exp_gap_elimination, SPREAD | FINE),
    "exp-gap elimination, the best": (jb.ExpGapElimination, exp_gap_elimination, SPREAD | EXACT),
    "union bound": (jb.UnionBound, union_bound, SPREAD),
    "union bound, medians": (
        jb.UnionBound,
        functools.partial(union_bound, estimator="mom"),
        SPREAD | {"c3": np.linspace(0.1, 2.0, RUNS), "factor": np.linspace(0.5, 9.0, RUNS)},
    ),
    "hoeffding race": (jb.HoeffdingRace, race, SPREAD),
    "hoeffding race of several": (jb.HoeffdingRace, race, SPREAD | M | {"growth": np.geomspace(1.01, 3, RUNS)}),
    "kl race": (jb.KLRace, functools.partial(race, kind="kl"), SPREAD),
    "kl race of several": (
        jb.KLRace,
        functools.partial(race, kind="kl"),
        SPREAD | M | {"growth": np.geomspace(1.05, 3, RUNS)},
    ),
    "bernstein race": (jb.BernsteinRace, functools.partial(race, kind="bernstein"), SPREAD),
    "bernstein race of several": (
        jb.BernsteinRace,
        functools.partial(race, kind="bernstein"),
        SPREAD | M | {"growth": np.geomspace(1.05, 3, RUNS)},
    ),
    "bernstein race, floats": (jb.BernsteinRace, functools.partial(race, kind="bernstein"), SPREAD | M),
}  # fmt: skip


#: Of each algorithm one, and the estimator that is another program, each time.
OFTEN = (
    "median elimination", "exp-gap elimination", "exp-gap elimination, the best", "union bound", "union bound, medians",
    "kl race", "bernstein race",
)  # fmt: skip


def leaves(values):
    return {n: np.asarray(v, np.int32 if v.dtype.kind == "i" else np.float32) for n, v in values.items()}


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n not in OFTEN)) for n in CASES])
def test_every_request_and_decision_is_that_of_the_reference(name):
    cls, reference, values = CASES[name]
    problem = FLOATS if "floats" in name else INTEGERS
    words = {"estimator": "mom"} if "medians" in name else {}
    best = name.endswith("the best")  # the gap of the equal arms would never be found
    algorithm, random = cls(**leaves(values), **words), np.random.default_rng(4)
    means = np.asarray([0.8, 0.5, 0.5, 0.3, 0.1, 0.05, 0.0]) if best else MEANS
    wide = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf[:, None], (ARMS, RUNS)), problem)
    algorithm = jax.tree.map(lambda leaf: np.broadcast_to(leaf, RUNS), algorithm)
    state, asked, _ = batches_by_hand.begin(algorithm, wide, KEYS)
    runs = [
        reference(
            range(ARMS),
            order_at=batches_by_hand.order_of(state, i),
            **{n: v[i].item() for n, v in leaves(values).items()},
        )
        for i in range(RUNS)
    ]
    wanted = {i: next(run) for i, run in enumerate(runs)}
    looks = accepted = 0
    while wanted:
        several = isinstance(asked, Batches)
        counts, number = (np.asarray(x) for x in (asked if several else (asked, np.ones(RUNS))))
        active, each = counts > 0, counts.max(0)
        sums = np.zeros((algorithm.slots, ARMS, RUNS))
        for i, (arms, pulls, batches) in wanted.items():
            assert set(np.flatnonzero(active[:, i])) == arms
            # A ceiling of a float32 formula.
            assert pulls * (1 - 4e-6) <= each[i] <= pulls * (1 + 4e-6) + 1
            assert number[i] == batches
            drawn = random.binomial(each[i], means, (batches, ARMS)) * 1.0
            if problem is FLOATS:  # as many rewards of any law in [0, 1]
                drawn = np.minimum(drawn + random.random(drawn.shape), each[i])
            sums[:batches, :, i] = np.where(active[:, i], drawn, 0)
        sums = sums.astype(np.float32 if problem is FLOATS else np.int32)
        live = np.isin(np.arange(RUNS), list(wanted))
        before = each
        found = batches_by_hand.look(algorithm, state, sums if several else sums[0], live)
        state, asked, done, recommended, exhausted = found
        for i in list(wanted):
            looks += 1
            returned, answer = set(np.flatnonzero(recommended[:, i])), None
            try:
                wanted[i] = runs[i].send((sums[: wanted[i][2], :, i].astype(float), int(before[i])))
            except StopIteration as end:
                del wanted[i]
                answer = end.value
            assert done[i] == (answer is not None)
            assert answer is None or returned == answer
            assert len(returned) == values.get("m", np.ones(RUNS))[i]
            assert done[i] or not exhausted[i]
        accepted += int(getattr(state.own, "accepted", np.zeros(1)).sum())
    assert looks >= (RUNS if cls is jb.UnionBound else 3 * RUNS)
    assert accepted > 0 or "several" not in name


@pytest.mark.slow
@pytest.mark.parametrize(("k", "cost"), [(100, 9.8e5), (1000, 6.3e6), (10_000, 7.9e7)])
def test_known_costs_of_median_elimination(k, cost):
    """Most is paid for the good arm, which lasts, so one run is enough: within 5% of what another program found."""
    problem = ppr("one-good", k=k, w=2.0)
    data = jb.simulate(jb.MedianElimination(epsilon=0.1, delta=0.1), problem, 1, max_pulls=2**31 - 1)
    assert int(jnp.argmax(data.recommended.values[0])) == 0
    assert float(data.cost[0]) / 2 == pytest.approx(cost, rel=0.05)


@pytest.mark.parametrize(("k", "cost"), [(100, 1521), (1000, 1981), (10_000, 2442)])
def test_known_costs_of_the_union_bound(k, cost):
    """Joint pulls, each of which costs W; by hand, 200 ln(20 K)."""
    problem, algorithm = ppr("one-good", k=k, w=2.0), jb.UnionBound(epsilon=0.1, delta=0.1)
    _, asked, beyond = batches_by_hand.begin(algorithm, problem, jax.random.key(0, impl="threefry2x32"))
    assert asked.tolist() == [cost] * k
    assert not beyond


@pytest.mark.slow
@pytest.mark.parametrize(
    ("algorithm", "gap"),
    [
        (jb.MedianElimination(epsilon=0.15, delta=0.1), 0.16),
        (jb.ExpGapElimination(epsilon=0.03, delta=0.1), 0.035),
        (jb.HoeffdingRace(epsilon=0.15, delta=0.1), 0.16),
        (jb.BernsteinRace(epsilon=0.15, delta=0.1), 0.16),
        (jb.KLRace(epsilon=0.15, delta=0.1), 0.16),
    ],
    ids=lambda value: type(value).__name__,
)
def test_wrong_less_often_than_delta(algorithm, gap):
    """The only good arm is just further away than epsilon, variances large or small; false alarm 1e-8 for each."""
    for mean in (0.5, 0.04):
        data = jb.simulate(algorithm, jb.bernoulli([mean + gap] + [mean] * 9), seeds=1000, root_seed=5)
        assert (data.status == 0).all()
        assert stats.binomtest(int((~data.correct).sum()), 1000, 0.1, alternative="greater").pvalue > 1e-8


@pytest.mark.slow
def test_races_return_several_and_stop_where_the_counts_end():
    """With epsilon 0 and equal arms nothing is ever told apart: status 1, and still m arms."""
    for m in (1, 3):
        data = jb.simulate(jb.HoeffdingRace(epsilon=0, delta=0.1, m=m), jb.bernoulli([0.5] * 5), seeds=3)
        assert (data.status == 1).all()
        assert (data.recommended.sum("arm") == m).all()
        assert (data.joint_pulls > 2**29).all()
        assert (data.joint_pulls < 2**30).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    "algorithm",
    [jb.KLLUCB(epsilon=0, delta=0.1), jb.LUCBPlusPlus(epsilon=0, delta=0.1, m=2), jb.LilUCB(delta=0.1)],
    ids=lambda algorithm: type(algorithm).__name__,
)
def test_equal_best_arms_end_where_the_pulls_end(algorithm):
    data = jb.simulate(algorithm, jb.bernoulli([0.5, 0.5, 0.5, 0.1]), seeds=10, max_pulls=3000)
    assert (data.status == 1).all()
    assert (data.pulls >= 3000).all()
    assert (data.pulls < 3002).all()
    assert (data.recommended.sum("arm") == getattr(algorithm, "m", 1)).all()


@pytest.mark.parametrize(
    "algorithm",
    [
        jb.UnionBound(epsilon=1.5, delta=0.3, estimator="mom"),
        pytest.param(jb.BernsteinRace(epsilon=0.9, delta=0.3), marks=pytest.mark.slow),
    ],
    ids=lambda algorithm: type(algorithm).__name__,
)
def test_live_sessions(algorithm):
    """Rewards that tell the third arm from the others, one at a time, through a session that was saved on the way."""
    session, told = jb.AskTell(algorithm, arms=4), 0
    while not session.done:
        arm = session.ask()
        session.tell(arm, float(arm == 2))
        told += 1
        if told == 30:
            session = jb.AskTell.from_json(session.to_json())
    assert told > 60
    assert np.flatnonzero(session.recommendation).tolist() == [2]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: jb.MedianElimination(epsilon=0, delta=0.1), "epsilon must be positive"),
        (lambda: jb.ExpGapElimination(epsilon=-1, delta=0.1), "epsilon must be finite and at least 0"),
        (lambda: jb.UnionBound(epsilon=0.1, delta=1), "delta must lie"),
        (lambda: jb.UnionBound(epsilon=0.1, delta=0.1, estimator="median"), "estimator"),
        (lambda: jb.BernsteinRace(epsilon=0.1, delta=0.1, growth=1), "growth must be finite and above 1"),
        (lambda: jb.simulate(jb.HoeffdingRace(epsilon=0.1, delta=0.1, m=7), INTEGERS, seeds=1), "m must be smaller"),
        (lambda: jb.simulate(jb.BernsteinRace(epsilon=0.1, delta=0.1), jb.gaussian(MEANS, 0.1), seeds=1), "negative"),
        (lambda: jb.simulate(jb.KLRace(epsilon=0.1, delta=0.1), jb.gaussian(MEANS, 0.1), seeds=1), "negative"),
        (lambda: jb.simulate(jb.KLLUCB(epsilon=0.1, delta=0.1), jb.gaussian(MEANS, 0.1), seeds=1), "negative"),
        (lambda: jb.simulate(jb.LilUCB(delta=0.1), jb.student_t(MEANS, 3), seeds=1), "heavier tails"),
        (lambda: jb.KLLUCB(epsilon=0.1, delta=0.1, exploration="kl"), "exploration"),
        (lambda: jb.LUCB(epsilon=0.1, delta=0.1, exploration="kl-2013"), "did you mean 'kl2013'"),
        (lambda: jb.simulate(jb.LUCBPlusPlus(epsilon=0.1, delta=0.1, m=7), INTEGERS, seeds=1), "m must be smaller"),
        (lambda: jb.simulate(jb.MedianElimination(epsilon=0.1, delta=0.1), jb.student_t(MEANS, 3), seeds=1), "heavier"),
        (
            lambda: jb.simulate(jb.UnionBound(epsilon=0.1, delta=0.1, estimator="mom"), jb.gaussian(MEANS), seeds=1),
            "UnionBound needs rewards that are not negative",
        ),
        (
            lambda: jb.simulate(
                jb.UnionBound(epsilon=0.1, delta=0.1, estimator="mom", factor=50), INTEGERS, seeds=1
            ),
            "mom needs 212 batches",
        ),
        (lambda: jb.simulate(jb.UnionBound(epsilon=0.1, delta=0.1), jb.gabillon(1), seeds=1), "one bandit"),
    ],
)  # fmt: skip
def test_bad_input(make, message):
    with pytest.raises(jb.UsageError, match=message):
        make()


@pytest.mark.slow
def test_stages_keep_the_digits_of_rewards_far_from_0():
    """Sums of a stage were differences of sums of 10^8: the first rewards of a stage counted as 8 more or less."""
    for rule, means, sd in (
        (jb.SHAdaVar(budget=30_000), [0.5, 0.4, 0.3, 0.2, 0.0], [0.5, 1.0, 1.5, 2.0, 3.0]),
        (jb.FC2FB(budget=10_000), [0.1, 0.0], 1.0),
    ):
        each = {"each": lambda problem, state, answer: state.pulls}
        near, far = (
            jb.simulate(rule, jb.gaussian(np.asarray(means) + place, sd), seeds=50, metrics=each) for place in (0, 1e5)
        )
        assert near.correct.all()
        assert far.correct.all()
        np.testing.assert_allclose(far.each.mean("seed"), near.each.mean("seed"), rtol=0.01)
