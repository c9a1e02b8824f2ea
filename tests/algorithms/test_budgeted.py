"""Algorithms that spend a budget of cost: every decision against a reference, the last pull, curves, and SiRI.

Every p-value and z-score is of a fixed seed; if the package is right, fresh seeds would fail the whole file with a
probability below 1e-6.
"""

import functools
import itertools
from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import jaxbandits as jb
from jaxbandits.algorithms.cost_budget.reservoir_arms import FromReservoir, Growing
from jaxbandits.ask_tell.session import AskTell
from jaxbandits.costs.ledger import Ledger
from jaxbandits.engine.compilation import compile_clock
from jaxbandits.engine.lanes import advance

RESERVOIR = jb.reservoir(beta=1.0)
PRICED = jb.with_costs(jb.beta([2.0, 1.0, 3.0, 2.0], 2.0), [0.9, 0.35, 0.6, 0.125])
COINS = jb.with_costs(jb.bernoulli([0.8, 0.3, 0.6, 0.4]), [0.9, 0.3, 0.5, 0.7], random=True)
CASES = {
    "rcb": (jb.RCB(60.0), COINS),
    "rcb, fractions": (jb.RCB(40.0), PRICED),
    "rcb, peeling": (jb.RCB(60.0, sequence="peeling"), COINS),
    "rcb-i": (jb.RCBI(150.0), RESERVOIR),
    "rcb-i, few": (jb.RCBI(150.0, beta=0.4), jb.reservoir(beta=1.0, law="beta")),
    "rcb-air": (jb.RCBAIR(150.0), RESERVOIR),
    "ucb-v-inf": (jb.UCBVInf(150.0), RESERVOIR),
    "ucb-v-inf, log": (jb.UCBVInf(150.0, sequence="log"), jb.reservoir(beta=0.5, rho=0.9)),
    "ucb-air": (jb.UCBAIR(150.0), jb.reservoir(beta=0.5, prices="unit")),
    "epsilon-first": (jb.EpsilonFirst(60.0, share=0.4), COINS),
    "kube": (jb.KUBE(60.0), COINS),
}
#: Of each algorithm one, each time.
OFTEN = ("rcb", "rcb-i", "rcb-air", "ucb-v-inf", "ucb-air", "epsilon-first", "kube")


@pytest.mark.parametrize(
    "rule", [jb.RCB, *(pytest.param(r, marks=pytest.mark.slow) for r in (jb.EpsilonFirst, jb.KUBE))]
)
@pytest.mark.parametrize(("price", "budget", "paid"), [(0.1, 5.0, 50), (0.3, 9.0, 30), (0.7, 4.9, 7), (0.1, 4.99, 49)])
def test_costs_that_add_up_to_the_budget_do_not_exceed_it(rule, price, budget, paid):
    """Float32 rounds 0.1 up, so that 50 pulls for a budget of 5 cost more than it: one was not paid for."""
    problem = jb.with_costs(jb.bernoulli([1.0, 1.0]), price)
    found = jb.simulate(rule(budget), problem, 3, checkpoints=[budget] if rule is not jb.EpsilonFirst else None)
    assert (found.pulls == paid + 1).all()
    assert (found.reward == paid).all()


def wanted_arms(algorithm, problem, rounds):
    """How many arms there must be in round `rounds`, from 1, by exact powers where the exponent is a fraction."""
    if not isinstance(algorithm, Growing):
        return problem.arms
    beta, best = Fraction(algorithm.beta).limit_denominator(100), float(problem.supremum)
    slow = beta < 1 and (best < 1 or not isinstance(algorithm, jb.UCBAIR))
    exponent = beta / 2 if slow else beta / (1 + beta)
    # The smallest k with k >= t^(p/q), k^q >= t^p.
    power, known = rounds**exponent.numerator, 1
    while known**exponent.denominator < power:
        known += 1
    return known


def index(algorithm, rewards, costs, time):
    """The index of an arm from its rewards and costs so far, in double precision."""
    pulls, mean, cost = len(rewards), np.mean(rewards), np.mean(costs)
    log_t = np.log(time)
    sequences = {"log": log_t, "peeling": 2 * np.log(4 * (np.log2(time) + 1))}
    with np.errstate(divide="ignore"):
        sequences["log-log"] = max(np.log(max(10 * log_t, 1.0)), 0.0)
        if isinstance(algorithm, jb.RCB | jb.RCBI | jb.RCBAIR):
            radius = np.sqrt(sequences[algorithm.sequence] / (2 * pulls))
            return np.float64(min(mean + radius, 1.0)) / max(cost - radius, 0.0)
        if isinstance(algorithm, jb.UCBVInf | jb.UCBAIR):
            level = sequences[algorithm.sequence]
            return mean + np.sqrt(2 * np.var(rewards) * level / pulls) + 3 * level / pulls
        if isinstance(algorithm, jb.KUBE):
            return np.float64(mean + np.sqrt(2 * log_t / pulls)) / cost
        return np.float64(mean) / cost if mean else (0.0 if cost else np.inf)


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n not in OFTEN)) for n in CASES])
def test_every_decision_is_that_of_the_reference(name):
    algorithm, problem = CASES[name]
    problem = algorithm.explored(problem)
    algorithm = algorithm.resolved(problem)
    key, steps = jax.random.key(4), 700
    states = jax.tree.map(np.asarray, jb.trajectory(algorithm, problem, key, steps))
    problem = problem.realised(key)
    pulled = np.diff(states.pulls, axis=0)
    ended = int(np.argmax(pulled.sum(1) == 0))
    assert 100 < ended < steps
    draw = jax.jit(problem.payoff)
    rewards, costs = ([[] for _ in range(problem.arms)] for _ in range(2))
    paid, earned, decided = 0.0, 0.0, 0
    # The order of the run: that of the reservoir, or a random one.
    order = list(range(problem.arms))
    if problem.supremum is None:
        order = np.argmax(pulled[: problem.arms], axis=1).tolist()
    assert sorted(order) == list(range(problem.arms))
    for time in range(ended):
        (arm,) = np.flatnonzero(pulled[time])
        known = sum(map(bool, rewards))
        if isinstance(algorithm, jb.EpsilonFirst) and (paid <= np.float32(0.4) * 60 or time < problem.arms):
            assert arm == order[time % problem.arms]
        elif known < wanted_arms(algorithm, problem, time + 1):
            assert arm == order[known]
        else:
            indices = {one: index(algorithm, rewards[one], costs[one], time) for one in order[:known]}
            assert indices[arm] >= max(indices.values()) * (1 - 3e-6), (time, arm, indices)
            decided += 1
        assert paid <= algorithm.budget
        reward, cost = (float(x) for x in draw(key, jnp.int32(arm), jnp.int32(len(rewards[arm]))))
        rewards[arm].append(reward)
        costs[arm].append(cost)
        paid += cost
        earned += reward if paid <= algorithm.budget else 0.0
    assert decided > 50
    assert paid > algorithm.budget
    last = jax.tree.map(lambda x: x[ended], states)
    np.testing.assert_allclose(last.costs.ledger.paid.high, paid, rtol=1e-6)
    np.testing.assert_allclose(jb_collected(last, algorithm.budget), earned, rtol=1e-6)
    most = last.pulls.max()
    (returned,) = np.flatnonzero(last.answer)
    assert last.pulls[returned] == most


def jb_collected(state, budget):
    ledger = jax.tree.map(jnp.asarray, state.costs.ledger)
    return float(ledger.collected(jnp.float32(budget)))


def test_equal_indices_are_taken_at_random_anew_at_every_pull():
    """Rewards and costs of 1 always: all indices are equal whenever all pulls are."""
    problem = jb.with_costs(jb.bernoulli([1.0, 1.0, 1.0]), 1.0)
    states = jb.trajectory(jb.RCB(600.0), problem, jax.random.key(1), 600)
    arm = np.argmax(np.diff(np.asarray(states.pulls), axis=0), axis=1).reshape(-1, 3)[1:]
    assert (np.sort(arm, axis=1) == np.arange(3)).all()
    orders = np.unique(arm @ [9, 3, 1], return_counts=True)[1]
    assert len(orders) == 6
    assert stats.chisquare(orders).pvalue > 1e-8


@pytest.mark.slow
def test_posterior_draws():
    """Thompson's index is a ratio of draws from the two posteriors."""
    algorithm, problem = jb.BudgetedThompson(500.0), COINS
    keys = jax.random.split(jax.random.key(2), 4000)
    state = jb.run(algorithm, problem, jax.random.key(3), 40)
    reward, cost, pulls = (np.asarray(x, np.float64) for x in (state.total, state.total_cost, state.pulls))
    assert pulls.sum() == 40
    draw = jax.jit(jax.vmap(lambda key: algorithm.index(state, key)))
    drawn = np.asarray(draw(keys), np.float64)
    rng = np.random.default_rng(0)
    for arm in range(4):
        r = rng.beta(1 + reward[arm], 1 + pulls[arm] - reward[arm], 40_000)
        c = rng.beta(1 + cost[arm], 1 + pulls[arm] - cost[arm], 40_000)
        assert stats.ks_2samp(drawn[:, arm], r / c).pvalue > 1e-8
    assert np.abs(np.corrcoef(drawn.argsort(0).argsort(0).T) - np.eye(4)).max() < 6 / np.sqrt(len(keys))


def reference(budget, beta, runs, seed):
    """RCB-I pull by pull in NumPy, many runs at once: rewards collected, and pulls."""
    rng = np.random.default_rng(seed)
    k = int(np.ceil(budget ** (beta / 2 if beta < 1 else beta / (1 + beta)) - 1e-9))
    cost = 0.2 + 0.8 * rng.random((runs, k))
    gain = cost * (1 - rng.random((runs, k)) ** (1 / beta))
    pulls, rewards, costs = np.zeros((3, runs, k))
    paid, earned, made = np.zeros((3, runs))
    run, live, t = np.arange(runs), np.ones(runs, bool), 0
    while live.any():
        arm = np.full(runs, t)
        if t >= k:
            radius = np.sqrt(np.log(t) / (2 * pulls))
            with np.errstate(divide="ignore"):
                value = np.minimum(rewards / pulls + radius, 1) / np.maximum(costs / pulls - radius, 0)
            arm = np.where(value == value.max(1, keepdims=True), rng.random(value.shape), -1.0).argmax(1)
        x, c = rng.random(runs) < gain[run, arm], rng.random(runs) < cost[run, arm]
        made += live
        paid += live * c
        live &= paid <= budget
        earned += live * x
        pulls[run, arm] += 1
        rewards[run, arm] += x
        costs[run, arm] += c
        t += 1
    return earned, made


@pytest.mark.slow
@pytest.mark.parametrize(
    ("budget", "beta", "runs"),
    [
        (3e2, 1.0, 1000),
        (1e3, 1.0, 1000),
        (1e3, 0.5, 4000),
        (1e3, 2.0, 2000),
        (1e4, 0.5, 2000),
        (1e4, 1.0, 400),
        (1e4, 2.0, 100),
    ],
)
def test_rewards_are_those_of_a_pull_by_pull_reference(budget, beta, runs):
    earned, made = reference(budget, beta, runs, seed=7)
    ds = jb.simulate(jb.RCBI(budget), jb.reservoir(beta=beta), 4 * runs)
    for theirs, ours in ((earned, ds.reward.values), (budget - earned, ds.regret.values), (made, ds.pulls.values)):
        error = np.hypot(theirs.std() / np.sqrt(runs), ours.std() / np.sqrt(4 * runs))
        assert abs(theirs.mean() - ours.mean()) < 6 * error  # one in 5e8
        assert error < 0.02 * theirs.mean()


@pytest.mark.slow
def test_the_pull_that_overshoots_pays_nothing_and_nothing_else_does():
    """Costs of eighths, in exact arithmetic."""
    prices = [Fraction(5, 8), Fraction(3, 8), Fraction(7, 8)]
    problem = jb.with_costs(jb.bernoulli([0.9, 0.5, 0.7]), [float(p) for p in prices])
    for budget in (10.0, 10.125, 10.3):
        algorithm, key = jb.RCB(budget), jax.random.key(8)
        states = jax.tree.map(np.asarray, jb.trajectory(algorithm, problem, key, 40))
        pulled = np.diff(states.pulls, axis=0)
        spent = list(itertools.accumulate(sum(int(n) * p for n, p in zip(row, prices, strict=True)) for row in pulled))
        ended = int(np.argmax(pulled.sum(1) == 0))
        remaining = [Fraction(np.float32(budget).item()) - s for s in spent[:ended]]
        assert remaining[-1] < 0
        assert all(left >= 0 for left in remaining[:-1])
        np.testing.assert_array_equal(states.costs.ledger.paid.high[1 : ended + 1], [float(s) for s in spent[:ended]])
        run = states_at(states, ended - 1)
        row = jb.simulate(algorithm, problem, 1)
        last = jb.run(algorithm, problem, jax.random.fold_in(jax.random.key(0), 0))
        assert float(row.paid[0]) == float(last.costs.ledger.paid.high)
        assert int(row.pulls[0]) == int(last.time)
        assert jb_collected(run, budget) == float(run.total.sum())
        # The next pull's reward does not count.
        after = states_at(states, ended)
        assert jb_collected(after, budget) == float(run.total.sum())
        assert float(row.regret[0]) == pytest.approx(0.9 / 0.625 * np.float32(budget) - float(row.reward[0]), abs=1e-5)


@pytest.mark.slow
def test_a_budget_exactly_spent_is_not_overshot():
    ds = jb.simulate(jb.RCB(12.0), jb.with_costs(jb.bernoulli([1.0, 1.0]), 0.75), 2)
    assert ds.reward.values.tolist() == [16.0, 16.0]
    assert ds.pulls.values.tolist() == [17, 17]
    assert ds.paid.values.tolist() == [12.75, 12.75]
    assert ds.regret.values.tolist() == [0.0, 0.0]


def test_sums_of_costs_stay_right_for_long():
    """A tenth is not a float32: ten million of them differ from a plain sum by thousands."""
    ledger, cost, count = Ledger.empty(()), np.float32(0.1), 2_000_000
    one = lambda _, ledger: ledger.plus(jnp.float32(0.3), cost, jnp.bool_(True))  # noqa: E731
    ledger = jax.jit(lambda ledger: jax.lax.fori_loop(0, count, one, ledger))(ledger)
    exact = count * float(cost)
    assert float(ledger.paid.high) == np.float32(exact)
    assert not bool(ledger.beyond(np.float32(exact) + np.float32(0.02)))
    below = np.float32(exact - 0.1)  # a pull less
    assert bool(ledger.beyond(below))
    assert float(ledger.collected(np.float32(1e9))) == np.float32(count * float(np.float32(0.3)))


def test_sums_of_whole_costs_are_exact():
    """Beyond 2^24, where float32 has no odd numbers, and with budgets beyond 2^31, the range of the counts."""
    one, live = jnp.int32(1), jnp.bool_(True)
    ledger = Ledger.empty((), whole=True).plus(one, jnp.float32(2**24), live).plus(one, jnp.float32(1), live)
    assert int(ledger.paid.value) == 2**24 + 1
    assert bool(ledger.beyond(jnp.float32(2**24)))
    assert not bool(ledger.beyond(jnp.float32(2**24 + 2)))
    assert not bool(ledger.beyond(jnp.float32(1e12)))
    assert float(ledger.collected(jnp.float32(2**24))) == 1
    assert float(ledger.collected(jnp.float32(2**24 + 2))) == 2
    unchanged = ledger.plus(one, jnp.float32(1), jnp.bool_(False))
    assert jax.tree.all(jax.tree.map(lambda a, b: a == b, ledger, unchanged))
    half = Ledger.empty((), whole=True).plus(one, jnp.float32(1), live)
    assert bool(half.beyond(jnp.float32(0.5)))
    assert not bool(half.beyond(jnp.float32(1.5)))


@pytest.mark.slow
@pytest.mark.bits
@pytest.mark.parametrize(("beta", "law"), [(0.5, "bernoulli"), (0.5, "beta"), (1.0, "beta")])
def test_one_run_serves_every_smaller_budget(beta, law):
    """RCB-AIR need not know the budget: its curve is what runs with those budgets give."""
    budgets, problem = [20.0, 33.25, 100.0], jb.reservoir(beta=beta, law=law)
    curve = jb.simulate(jb.RCBAIR(100.0), problem, 6, checkpoints=budgets)
    assert curve.checkpoint.values.tolist() == budgets
    each = jb.sweep(jb.RCBAIR(jb.axis(budgets)), problem, 6)
    for name in ("reward", "regret", "paid", "pulls"):
        np.testing.assert_array_equal(curve[name].transpose("checkpoint", "seed"), each[name])
    assert (curve.regret.sel(checkpoint=100.0) == 100 - curve.reward.sel(checkpoint=100.0)).all()


@pytest.mark.bits
@pytest.mark.slow
def test_results_do_not_depend_on_lanes_chunk_devices_or_neighbours():
    algorithm, problem = jb.RCBAIR(60.0, beta=jb.axis([0.5, 1.0])), jb.reservoir(beta=jb.axis([0.5, 1.0]))
    options = {"checkpoints": [10.0, 60.0]}
    whole = jb.sweep(algorithm, problem, 20, **options)
    for other in ({"lanes": 16, "chunk": 5}, {"devices": 1, "lanes": 7}):
        again = jb.sweep(algorithm, problem, 20, **options, **other)
        for name in whole.data_vars:
            np.testing.assert_array_equal(whole[name], again[name])
    alone = jb.simulate(jb.RCBAIR(60.0), jb.reservoir(beta=1.0), 20, **options)
    cell = whole.sel(beta=1.0)
    for name in ("reward", "pulls", "simple_regret", "paid"):
        np.testing.assert_array_equal(cell[name], alone[name])


@pytest.mark.slow
def test_a_grid_of_few_arms_compiles_once():
    advance.clear_cache()
    betas, budgets = [0.5, 1.0, 2.0], [30.0, 60.0, 120.0, 240.0]
    with compile_clock() as clock:
        ds = jb.sweep(jb.RCBI(jb.axis(budgets), beta=jb.axis(betas)), jb.reservoir(beta=jb.axis(betas)), 3)
    numbers = {jb.RCBI(b).explored(jb.reservoir(beta=beta)).arms for b in budgets for beta in betas}
    assert len({(k - 1).bit_length() for k in numbers}) == 5
    assert clock.programs == 1  # padding to the most arms costs less than compiling for each
    assert ds.reward.dims == ("budget", "beta", "seed")


@pytest.mark.parametrize(
    ("budget", "beta", "arms"),
    [
        (1e4, 1.0, 100),
        (1e4, 0.5, 10),
        (1e3, 0.5, 6),
        (1e3, 2.0, 100),
        (1e6, 2.0, 10_000),
        (1e6, 2 / 3, 100),
        (1e5, 0.8, 100),
        (1, 1, 2),
    ],
)
def test_number_of_arms(budget, beta, arms):
    assert jb.RCBI(budget).explored(jb.reservoir(beta=beta, lam=0.5)).arms == arms


def test_unit_means_of_one_ask_ucb_for_more_arms():
    """n^(beta/2) arms are enough below beta = 1 only where the best mean is below 1."""
    best, less = (jb.reservoir(beta=0.5, rho=rho, prices="unit") for rho in (1.0, 0.9))
    assert jb.UCBVInf(1e6).explored(best).arms == 100
    assert jb.UCBVInf(1e6).explored(less).arms == 32
    assert jb.RCBI(1e6).explored(best).arms == 32


def siri_reference(algorithm, n, k, draw):
    """SiRI on arms 0, …, k - 1: pulls of each arm at the end; `draw(round, counts)` gives sums."""
    pulls = np.ones(k)
    sums = np.asarray(draw(0, np.ones(k, np.int32), np.zeros(k, np.int32)), float)
    round_number, b = 1, min(algorithm.beta, 2.0)
    halvings = np.floor(np.log2(k))
    while pulls.sum() < n:
        level = np.maximum(np.log(2 ** (2 * halvings / b) / (pulls * algorithm.delta)), 0)
        bound = sums / pulls + 2 * np.sqrt(algorithm.c * level / pulls) + 2 * algorithm.c * level / pulls
        arm, following = np.argsort(-bound)[:2]
        if bound[arm] - bound[following] < 1e-5:
            return None
        counts = np.zeros(k, np.int32)
        counts[arm] = min(pulls[arm], n - pulls.sum())
        sums += np.asarray(draw(round_number, counts, pulls.astype(np.int32)))
        pulls += counts
        round_number += 1
    return pulls


def test_siri_is_that_of_the_reference():
    n, compared = 4000, 0
    problem = jb.reservoir(beta=1.0, law="beta", prices="unit")  # hardly any ties
    algorithm = jb.SiRI(n, a=0.2)
    sized = algorithm.explored(problem)
    assert sized.arms == int(np.ceil(0.2 * np.sqrt(n)))
    algorithm = algorithm.resolved(sized)
    sums = jax.jit(lambda key, *batch: sized.realised(key).sums(key, *batch))
    for seed in range(12):
        key = jax.random.fold_in(jax.random.key(0), seed)
        state = jb.run(algorithm, problem, key)
        expected = siri_reference(algorithm, n, sized.arms, functools.partial(sums, key))
        assert int(state.pulls.sum()) == n
        if expected is None:
            continue
        compared += 1
        np.testing.assert_array_equal(state.pulls, expected)
        (returned,) = np.flatnonzero(state.answer)
        assert expected[returned] == np.max(expected)  # several arms may share the last batch
    assert compared >= 4


@pytest.mark.parametrize(("beta", "expected"), [(0.5, 3), (1.0, 30), (2.0, 36), (3.0, 326)])
def test_siri_number_of_arms(beta, expected):
    """ceil(A(n) n^(b/2)) at n = 10^4 with A = .3; the three cases of A(n)."""
    factor = 0.3 / np.log(1e4) ** {2.0: 2, 3.0: 1}.get(beta, 0)
    assert expected == int(np.ceil(factor * 1e4 ** (min(beta, 2) / 2) - 1e-9))
    assert jb.SiRI(10_000).explored(jb.reservoir(beta=beta, prices="unit")).arms == expected


@pytest.mark.slow
def test_simple_regret_falls_with_the_budget():
    problem = jb.reservoir(beta=1.0, prices="unit")
    ds = jb.sweep(jb.SiRI(jb.axis([100, 10_000])), problem, 400)
    small, large = ds.simple_regret.mean("seed").values
    assert large < small / 3
    assert "that the run drew" in ds.correct.attrs["criterion"]


@pytest.mark.slow
def test_best_arm_identification_from_a_reservoir():
    """Fixed-budget algorithms of given arms take K(B) arms of a reservoir; those without a budget are told how many."""
    problem = jb.reservoir(beta=1.0, prices="unit")
    ds = jb.simulate(jb.SequentialHalving(400), problem, 200)
    assert ds.sizes["arm"] == 20
    assert float(ds.simple_regret.mean()) < 0.15  # a random arm's is 1/2
    found = jb.simulate(jb.UGapEc(epsilon=0.2, delta=0.1), jb.reservoir(prices="unit", arms=5), 20)
    assert found.sizes["arm"] == 5
    for seed in range(20):  # correct: within epsilon of the best arm drawn; regret: to the best there is
        key = jax.random.fold_in(jax.random.key(0), seed)
        value = np.asarray(jb.reservoir(prices="unit", arms=5).realised(key).value)
        returned = value[found.recommended[seed].values].item()
        assert float(found.simple_regret[seed]) == pytest.approx(1 - returned, abs=1e-6)
        assert bool(found.correct[seed]) == (value.max() - returned <= 0.2)
    wanted = r"cannot choose a number of arms without a budget: give reservoir:.* arms="
    with pytest.raises(jb.UsageError, match=wanted):
        jb.simulate(jb.UGapEc(epsilon=0.2, delta=0.1), problem, 2)


@pytest.mark.slow
def test_a_live_session_is_the_simulated_run_and_survives_json():
    algorithm, key = jb.RCB(20.0), jax.random.key(6)
    states = jax.tree.map(np.asarray, jb.trajectory(algorithm, COINS, key, 100))
    draw = jax.jit(COINS.payoff)
    session = AskTell(algorithm, arms=4, key=key)
    pulled = np.diff(states.pulls, axis=0)
    for time in range(100):
        if session.done:
            break
        arm = session.ask()
        assert [arm] == np.flatnonzero(pulled[time]).tolist()
        reward, cost = draw(key, jnp.int32(arm), jnp.int32(states.pulls[time, arm]))
        with pytest.raises(jb.UsageError, match=r"the cost 1\.5 lies outside"):
            session.tell(arm, float(reward), 1.5)
        session.tell(arm, float(reward), float(cost))
        if time % 5 == 0:
            session = AskTell.from_json(session.to_json())
    assert session.done
    assert pulled[time:].sum() == 0
    np.testing.assert_array_equal(session.recommendation, states.answer[time])


def states_at(states, time):
    return jax.tree.map(lambda x: x[time], states)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: jb.RCBI(10.0, beta=0.0), "RCBI: beta must be positive"),
        (lambda: jb.RCB(-1.0), "RCB: budget must be positive"),
        (lambda: jb.RCB(5.0, sequence="logs"), "log"),
        (lambda: jb.simulate(jb.RCBI(0.1), RESERVOIR, 2), "a budget of 0.1 is below the smallest cost of a pull, 0.2"),
        (lambda: jb.simulate(jb.RCB(0.1), PRICED, 2), "below the smallest cost of a pull, 0.125"),
        (lambda: jb.simulate(jb.RCBI(10.0), COINS, 2), "RCBI draws its arms from a reservoir, .* use RCB"),
        (lambda: jb.simulate(jb.UCBAIR(10.0), COINS, 2), "draws its arms from a reservoir"),
        (lambda: jb.simulate(jb.SiRI(10), COINS, 2), "SiRI draws its arms from a reservoir"),
        (lambda: jb.simulate(jb.SiRI(100), RESERVOIR, 2), "prices=unit"),
        (lambda: jb.simulate(jb.SiRI(1), jb.reservoir(beta=2, prices="unit"), 2), "must cover 2 first pulls of 2 arms"),
        (lambda: jb.simulate(jb.SequentialHalving(99), RESERVOIR, 2), "looks at rewards only: .* needs prices=unit"),
        (lambda: jb.simulate(jb.RCB(9.0), jb.gaussian([0.1, 0.2]), 2), "may be negative"),
        (lambda: jb.simulate(jb.RCB(9.0), jb.with_costs(jb.bernoulli([0.1, 0.2]), [0.5, 0.0]), 2), "arm 1 does not"),
        (lambda: jb.simulate(jb.RCB(9.0), jb.bernoulli([[0.1, 0.2], [0.1, 0.2]]), 2), "explores one bandit"),
        (lambda: jb.simulate(jb.RCBI(9.0), RESERVOIR, 2, checkpoints=[3.0]), "must know its budget"),
        (
            lambda: jb.simulate(jb.RCBAIR(9.0), RESERVOIR, 2, checkpoints=[0.0, 3.0]),
            "a checkpoint must be positive and finite",
        ),
        (lambda: jb.simulate(jb.RCBAIR(9.0), RESERVOIR, 2, checkpoints=[3.0, 3.0]), "must be increasing"),
        (lambda: AskTell(jb.RCBI(9.0, beta=1.0), arms=3), "in a live experiment use RCB"),
        (lambda: AskTell(jb.UGapEc(0.1, 0.1), arms=3).tell(0, 1.0, 0.5), "arm"),
    ],
)
def test_bad_input(make, message):
    with pytest.raises(jb.UsageError, match=message) as error:
        make()
    assert "\n" not in str(error.value)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("reward,cost\n0.5,0.5\n0.1,0.25\n", encoding="utf-8")
    return jb.reservoir_from_csv(str(path))


def test_a_table_that_does_not_know_its_regularity(table):
    with pytest.raises(jb.UsageError, match="without the regularity beta"):
        jb.simulate(jb.RCBI(50.0), table, 2)


@pytest.mark.slow
def test_a_table_whose_regularity_is_given(table):
    ds = jb.simulate(jb.RCBI(50.0, beta=1.0), table, 4)
    assert ds.sizes["arm"] == 8
    assert issubclass(jb.RCBI, FromReservoir)
