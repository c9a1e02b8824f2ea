"""MAB-PPR against a slow reference that follows Algorithm 1 of Sabato (2019) line by line."""

import dataclasses
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import jaxbandits as jb
from jaxbandits import theory
from jaxbandits.algorithms.uniform_sampling.batch_medians import twice_median
from jaxbandits.algorithms.uniform_sampling.mab_ppr import MABPPR
from jaxbandits.transform import map_runs
from tests.algorithms.batches_by_hand import begin, look, order_of

RUNS, ARMS, SLOTS = 48, 12, 32
KEYS = jax.random.split(jax.random.key(8, impl="threefry2x32"), RUNS)
# Many ties, and arms that never pay.
MEANS = np.asarray([0.7, 0.5, 0.5, 0.4, 0.4, 0.2, 0.2, 0.1, 0.1, 0.1, 0.0, 0.0])
INTEGERS, FLOATS = jb.bernoulli(MEANS), jb.beta(MEANS + 0.01, 1.01 - MEANS)
#: What differs from run to run; borders such as one half of the weight are met exactly.
VALUES = {
    "epsilon": np.linspace(0.2, 0.9, RUNS),
    "delta": np.geomspace(0.01, 0.9, RUNS),
    "correlation": 1 + np.arange(RUNS) % 5,
    "cq": np.tile([0.3, 1.0, 1.5], RUNS // 3),
    "cq_prime": np.linspace(2, 8, RUNS),
    "c1": np.linspace(0.01, 0.2, RUNS),
    "c2": np.linspace(1, 9, RUNS),
    "c3": np.linspace(1, 8, RUNS),
    "n_final": np.tile([1, 1.5, 2, 3, 5, 8], RUNS // 6),
    "rho": np.tile([0.6, 0.8, 0.9, 0.95], RUNS // 4),
    "theta": np.tile([0.5, 0.25, 0.75, 0.4], RUNS // 4),
    "factor": np.geomspace(0.3, 2, RUNS),
}
LEAVES = {name: np.asarray(values, np.float32) for name, values in VALUES.items()}
ROUNDING = 1e-6  # of float32, which decides neither a size nor a border here


def algorithm_1(order_at, epsilon, delta, correlation, cq, cq_prime, c1, c2, c3, n_final, rho, theta, factor):
    """Yields S_t, q and l; is sent the sums of every batch, `(q, K)`; returns the arms one of which is returned.

    Estimates are of fresh rewards: the order of ties is another one in every round.
    """
    t, alive, eps_t, delta_t = 0, set(range(ARMS)), (1 - rho) * epsilon / 2, delta / 2  # line 1
    while len(alive) > n_final:  # line 2
        l_t = c1 * max(1 / eps_t**2, correlation / eps_t)
        sums = yield alive, cq * math.log(cq_prime / delta_t), l_t  # line 4
        estimate, order = np.median(sums, axis=0), order_at(t)  # line 5
        ordered = sorted(alive, key=lambda arm: (estimate[arm], order[arm]))  # line 6
        pulls = c2 * correlation / epsilon
        sums = yield alive, factor * math.log(12 / delta_t), pulls  # line 8
        prefixes = [np.median(sums[:, ordered[: n + 1]].sum(axis=1)) for n in range(len(ordered))]  # lines 10 to 13
        if prefixes[-1] <= math.ceil(pulls - 1e-5) * epsilon / 4 * (1 + ROUNDING):  # line 15
            return alive
        removed = max((n + 1 for n, w in enumerate(prefixes) if w <= theta * prefixes[-1] * (1 + ROUNDING)), default=0)
        alive = alive - set(ordered[:removed])  # lines 16 and 17
        t, eps_t, delta_t = t + 1, rho * eps_t, delta_t / 2
    sums = yield alive, factor * math.log(n_final / delta_t), c3 / epsilon**2  # line 20
    estimate, order = np.median(sums, axis=0), order_at(t)  # line 21
    return {min(alive, key=lambda arm: (-estimate[arm], order[arm]))}  # line 22


def wide(problem):
    """The problem with leaves `(K, R)`."""
    return jax.tree.map(lambda leaf: jnp.broadcast_to(leaf[:, None], (ARMS, RUNS)), problem)


def ceiling(number, found):
    """Whether `found` is the ceiling of a number, at least 1, up to the rounding of float32."""
    return max(1, math.ceil(number * (1 - 3 * ROUNDING))) <= found <= max(1, math.ceil(number))


@pytest.mark.parametrize(
    "problem", [INTEGERS, pytest.param(FLOATS, marks=pytest.mark.slow)], ids=["integers", "floats"]
)
def test_every_request_and_decision_is_that_of_the_paper(problem):
    algorithm, random = MABPPR(**LEAVES, slots=SLOTS), np.random.default_rng(5)
    state, asked, exhausted = begin(algorithm, wide(problem), KEYS)
    dtype = np.int32 if problem is INTEGERS else np.float32
    runs = [algorithm_1(order_of(state, i), **{n: float(v[i]) for n, v in LEAVES.items()}) for i in range(RUNS)]
    wanted = {i: next(run) for i, run in enumerate(runs)}
    ends = {"argmax": 0, "light": 0, "exhausted": 0}
    removed_by_tie = 0
    for turn in range(60):
        active, each, number = np.asarray(asked.counts > 0), np.asarray(asked.counts.max(0)), np.asarray(asked.number)
        # Sums of a few rewards tie often; those of a quarter each are exact in float32, in any order.
        scale = random.integers(1, 40) if turn % 2 else random.integers(1, 9)
        unit = 1 if problem is INTEGERS else 0.25
        sums = random.binomial(scale, MEANS[:, None], (SLOTS, ARMS, RUNS)) * unit * active
        sums[:, :, (np.arange(RUNS) + turn) % 16 == 0] *= 0  # now and then nothing pays
        sums = np.where(np.arange(SLOTS)[:, None, None] < number, sums, 0).astype(dtype)
        for i, (alive, q, pulls) in list(wanted.items()):
            if exhausted[i]:
                assert q > SLOTS or pulls >= 2**30
                ends["exhausted"] += 1
                del wanted[i]
                continue
            assert set(np.flatnonzero(active[:, i])) == alive
            assert ceiling(q, number[i])
            assert ceiling(pulls, each[i])
        if not wanted:
            break
        before, live = state, np.isin(np.arange(RUNS), list(wanted))
        state, asked, done, recommended, exhausted = look(algorithm, state, sums, live)
        for i in list(wanted):
            drawn, answers = sums[: number[i], :, i].astype(float), None
            try:
                wanted[i] = runs[i].send(drawn)
            except StopIteration as end:
                del wanted[i]
                answers = end.value
            assert done[i] == (answers is not None)
            if answers is None:
                gone = set(np.flatnonzero(np.asarray(before.own.active)[:, i])) - wanted[i][0]
                level = {float(np.asarray(before.own.estimates)[arm, i]) for arm in gone}
                kept = {float(np.asarray(before.own.estimates)[arm, i]) for arm in wanted[i][0]}
                removed_by_tie += bool(gone) and bool(level & kept)
            else:
                (answer,) = np.flatnonzero(recommended[:, i])
                assert answer in answers
                ends["argmax" if len(answers) == 1 else "light"] += 1
    assert not wanted
    assert ends["argmax"] >= 10
    assert ends["light"] >= 5
    assert removed_by_tie >= 10


def test_a_light_rest_gives_each_of_its_arms_equally_often():
    """Line 15, "some r": 4 800 runs, 12 arms; false alarm 1e-8."""
    algorithm = MABPPR(**LEAVES | {"n_final": np.full(RUNS, 8, np.float32)}, slots=SLOTS)
    nothing, returned = np.zeros((SLOTS, ARMS, RUNS), np.int32), np.zeros(ARMS)
    for seed in range(100):
        keys = jax.random.split(jax.random.key(seed, impl="threefry2x32"), RUNS)
        state, *_ = begin(algorithm, wide(INTEGERS), keys)
        state, *_ = look(algorithm, state, nothing, np.ones(RUNS, bool))
        state, _, done, recommended, _ = look(algorithm, state, nothing, np.ones(RUNS, bool))
        assert bool(done.all())
        assert bool((recommended.sum(0) == 1).all())
        returned += np.asarray(recommended).sum(1)
    assert stats.chisquare(returned).pvalue > 1e-8


def test_sizes_of_the_practical_constants():
    """By hand: eps_1 = 0.005, l = 1/8 / eps_1^2, q1 = ceil(log(8 2/0.1)), and so on."""
    algorithm = MABPPR(epsilon=0.1, delta=0.1).prepared()
    arms = jb.run(dataclasses.replace(algorithm, epsilon=1e-6), INTEGERS, jax.random.key(0))  # no room for a batch
    steps = [(0, False, ARMS), (0, True, ARMS), (1, False, ARMS), (2, True, ARMS), (0, False, 8), (3, False, 2)]
    found = []
    for number, ordered, count in steps:
        at = arms.own._replace(round=jnp.int32(number), ordered=jnp.asarray(ordered), active=jnp.arange(ARMS) < count)
        asked = algorithm.request(at, arms, jax.random.key(0))
        found.append((int(asked.number), int(asked.counts.max())))
    assert found == [(6, 5000), (6, 80), (6, 6173), (7, 80), (6, 800), (8, 800)]


@pytest.mark.parametrize("kind", ["integers", "floats", "large"])
def test_twice_the_median_of_as_many_batches_as_each_run_has(kind):
    random = np.random.default_rng(2)
    shape, number = (17, 5, 34), 1 + np.arange(34) % 17
    sums = {
        "integers": random.integers(0, 5, shape).astype(np.int32),
        "floats": random.exponential(size=shape).astype(np.float32),
        "large": random.integers(2**30 - 40, 2**30, shape).astype(np.int32),
    }[kind]
    found = np.asarray(jax.jit(map_runs(twice_median))(sums, number.astype(np.int32)))
    exact = sums if kind == "floats" else sums.astype(np.int64)
    assert found.dtype == sums.dtype
    for run, count in enumerate(number):
        low, high = (np.sort(exact[:count, :, run], axis=0)[place] for place in ((count - 1) // 2, count // 2))
        np.testing.assert_array_equal(found[:, run], low + high)
        if kind != "floats":
            np.testing.assert_array_equal(found[:, run], 2 * np.median(exact[:count, :, run], axis=0))
    alone = twice_median(jnp.asarray(sums[:, :, 3]), jnp.int32(4))
    np.testing.assert_array_equal(alone, found[:, 3])


@pytest.mark.parametrize("floats", [False, True])
def test_medians_of_prefix_sums_grow_with_the_prefix(floats):
    """What lets the longest prefix be found by halving; also for sums that are rounded."""
    random, number = np.random.default_rng(4), 1 + np.arange(34) % 17
    rewards = random.exponential(size=(17, 5, 34)) ** 4 if floats else random.integers(0, 3, (17, 5, 34))
    prefixes = np.cumsum(rewards.astype(np.float32 if floats else np.int32), axis=1).astype(np.float32)
    medians = np.asarray(jax.jit(map_runs(twice_median))(prefixes, number.astype(np.int32)))
    assert (np.diff(medians, axis=0) >= 0).all()


@pytest.mark.slow
def test_pull_by_pull_and_in_sums_the_same_law():
    """Bernoulli arms as tables, whose sums are those of single rewards; false alarm 1e-8 for each of three tests."""
    means = np.asarray([10, 8, 8, 6, 5, 4, 3, 3, 2, 2, 1, 1]) / 20
    table = (np.arange(20)[:, None] < (20 * means)[None]).astype(float)
    algorithm = MABPPR(epsilon=0.5, delta=0.5, c1=0.01, c2=1, c3=1, n_final=2, slots=SLOTS)
    one, other = (
        jb.simulate(algorithm, jb.with_costs(problem, "reward"), seeds=600, root_seed=seed)
        for seed, problem in enumerate((jb.bernoulli(means), jb.empirical(table)))
    )
    assert stats.ks_2samp(one.cost, other.cost).pvalue > 1e-8
    assert stats.ks_2samp(one.paid, other.paid).pvalue > 1e-8
    answers = np.stack([data.recommended.sum("seed") for data in (one, other)])
    assert stats.chi2_contingency(answers[:, answers.sum(0) > 0]).pvalue > 1e-8
    assert len(np.unique(one.cost)) > 20
    assert answers[0].max() < 500


@pytest.mark.bits
@pytest.mark.slow
def test_lanes_chunks_and_devices_change_no_bit():
    algorithm = MABPPR(epsilon=0.5, delta=0.5, c1=0.01, c2=1, c3=1, n_final=2, slots=SLOTS)
    problem = jb.with_costs(jb.bernoulli(MEANS), "reward")
    many = jb.simulate(algorithm, problem, seeds=40)
    few = jb.simulate(algorithm, problem, seeds=40, lanes=3, devices=1, chunk=2)
    for name in many.data_vars:
        np.testing.assert_array_equal(many[name], few[name])
    assert len(np.unique(many.steps)) > 2


@pytest.mark.slow
def test_nothing_removed_and_no_slots_end_in_status_1():
    """theta so small that no arm goes: rounds grow until a count or a slot is missing, not for ever."""
    problem = jb.ppr("flat", k=ARMS, w=2.0)
    # Rounding up takes a share of the weight away only where an arm never pays.
    stuck = jb.simulate(MABPPR(epsilon=0.5, delta=0.1, theta=1e-6, slots=SLOTS), problem, seeds=5)
    assert (stuck.status == 1).all()
    assert (stuck.steps < 100).all()
    assert (stuck.recommended.sum("arm") == 1).all()
    short = jb.simulate(MABPPR(epsilon=0.5, delta=0.1, factor=20, slots=SLOTS), problem, seeds=5)
    assert (short.status == 1).all()
    assert (short.steps == 1).all()
    fine = jb.simulate(MABPPR(epsilon=1e-6, delta=0.1, slots=SLOTS), problem, seeds=5)
    assert (fine.status == 1).all()
    assert (fine.pulls == 0).all()
    with pytest.raises(jb.UsageError, match="its first batch is"):
        jb.simulate(MABPPR(epsilon=0.5, delta=0.1, slots=SLOTS), problem, seeds=5, max_pulls=100)


@pytest.mark.slow
def test_counts_beyond_2_to_the_31_are_exact():
    """Never more than the first batches of three rounds; the reference counts in Python."""
    algorithm = MABPPR(epsilon=2e-3, delta=0.1, theta=1e-6, slots=SLOTS)
    data = jb.simulate(algorithm, jb.ppr("flat", k=ARMS, w=6.0), seeds=2)
    joint, prepared = 0, algorithm.prepared()
    rule = jax.tree.map(lambda value: jnp.full(1, value, jnp.float32), prepared)
    state, *_ = begin(rule, jax.tree.map(lambda leaf: leaf[:, :1], wide(INTEGERS)), KEYS[:1])
    for step in range(int(data.steps[0])):
        own = state.own._replace(round=jnp.full(1, step // 2), ordered=jnp.full(1, step % 2 == 1))
        asked, *_ = look(
            rule, dataclasses.replace(state, own=own), jnp.zeros((SLOTS, ARMS, 1), jnp.int32), jnp.ones(1) < 0
        )[1:]
        joint += int(asked.counts.max()) * int(asked.number[0])
    assert joint > 2**36
    np.testing.assert_array_equal(data.joint_pulls, joint)
    np.testing.assert_array_equal(data.pulls, joint * ARMS)
    np.testing.assert_allclose(data.cost, joint * 6.0, rtol=1e-6)
    np.testing.assert_allclose(data.paid, joint * 6.0, rtol=1e-4)


@pytest.mark.slow
def test_few_arms_go_to_the_final_round_at_once():
    problem = jb.with_costs(jb.bernoulli(MEANS), "reward")
    data = jb.simulate(MABPPR(epsilon=0.3, delta=0.1, n_final=ARMS, slots=SLOTS), problem, seeds=50)
    assert (data.steps == 1).all()
    np.testing.assert_array_equal(data.pulls, ARMS * 89 * 6)  # ceil(8 / 0.09), ceil(log(12 2/0.1))
    assert (data.recommended.sum("seed") > 0)[0]


@pytest.mark.bits
@pytest.mark.slow
def test_a_cell_of_a_grid_is_what_it_is_alone():
    """Numbers of arms by a mask too, and an axis over V."""
    algorithm = MABPPR(epsilon=jb.axis([0.5, 0.6]), delta=0.2, correlation=jb.axis([1, 3]), slots=SLOTS)
    problem = lambda k: jb.ppr("one-good", k=k, w=2.0)  # noqa: E731
    grid = jb.sweep(algorithm, problem(jb.axis([9, ARMS])), seeds=20)
    assert grid.sizes == {"epsilon": 2, "correlation": 2, "k": 2, "seed": 20, "arm": ARMS}
    alone = jb.simulate(dataclasses.replace(algorithm, epsilon=0.6, correlation=3), problem(ARMS), seeds=20)
    for name in alone.data_vars:
        np.testing.assert_array_equal(grid[name].sel(epsilon=0.6, correlation=3, k=ARMS), alone[name])
    assert not grid.recommended.sel(k=9)[..., 9:].any()
    assert (grid.cost.sel(correlation=3) > grid.cost.sel(correlation=1)).any()


def test_valid_constants_are_those_of_the_cell():
    cells = [(e, v) for e in (0.5, 0.6) for v in (1.0, 3.0)]
    for epsilon, correlation in cells:
        found = MABPPR(
            epsilon=epsilon, delta=0.2, correlation=correlation, constants="theory", n_final=20, cq=99
        ).prepared()
        known = theory.ppr_constants(epsilon, 0.2, correlation, 20).constants
        assert (found.cq, found.n_final) == (99, 20)  # what is given stays
        for name in ("cq_prime", "c1", "c2", "c3", "rho", "theta", "factor"):
            assert getattr(found, name) == float(getattr(known, name))
        largest = 99 * math.log(found.cq_prime * 2**30 / 0.2)
        assert found.slots >= largest
        assert found.slots & (found.slots - 1) == 0
    assert MABPPR(epsilon=0.1, delta=0.1).prepared().slots == 32


BAD = [
    (lambda: MABPPR(epsilon=0.1, delta=0.1, correlation=0.5), "correlation must be finite and at least 1, got 0.5"),
    (lambda: MABPPR(epsilon=0.1, delta=0.1, rho=1), "rho must lie strictly between 0 and 1"),
    (lambda: MABPPR(epsilon=0.1, delta=0.1, constants="theroy"), "did you mean 'theory'"),
    (lambda: MABPPR(epsilon=0.1, delta=0.1, slots=0), "slots must be a whole number"),
    (lambda: run(jb.gaussian([0.5, 0.4], 0.1)), "not negative"),
    (lambda: run(jb.pareto([2.0, 0.5], 3.5)), "Assumption 2.1.: arm 0 has mean 2, above 1 by 1"),
    (lambda: run(jb.pareto([0.5, 0.4], 1.5)), "arm 0 has variance inf, above its mean 0.5"),
    (lambda: run(jb.empirical([[0.0, 0.0], [4.0, 0.1]])), "arm 0 has mean 2, above 1 by 1"),
    (lambda: run(jb.empirical([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [4.0, 0.1]])), "variance 3, above its mean 1 by 2"),
    (lambda: run(jb.empirical([[-0.1, 0.0], [0.5, 0.1]], joint=True)), "rewards that are not negative"),
    (lambda: run(jb.bernoulli([0.5] * 10), c2=1e9), "would pay 1e\\+10 rewards"),
    (lambda: run(jb.bernoulli([0.5] * 10), checkpoints=[10]), "pulls in large batches"),
    (lambda: run(jb.gabillon(1)), "one bandit"),
    (lambda: run(jb.ppr_unbounded(first_pulls=10)), "longer head, first_pulls=1.3e\\+03 or more"),
    (lambda: run(jb.ppr_unbounded("geometric", ratio=0.01)), "n_final=8.*longer head"),
    (lambda: jax.eval_shape(traced, 0.1), "before tracing"),
]  # fmt: skip


def run(problem, checkpoints=None, **constants):
    return jb.simulate(MABPPR(epsilon=0.5, delta=0.1, **constants), problem, seeds=1, checkpoints=checkpoints)


def traced(epsilon):
    return jb.run(MABPPR(epsilon=epsilon, delta=0.1), INTEGERS, KEYS[0]).time


@pytest.mark.parametrize(("make", "message"), BAD)
def test_bad_input(make, message):
    with pytest.raises(jb.UsageError, match=message) as error:
        make()
    assert "\n" not in str(error.value)
