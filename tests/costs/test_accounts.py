"""What runs cost: rewards, prices and coins, in the Dataset, in its spec and on the command line."""

import dataclasses
import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits.arrays.compensated_sums import compensated_total
from jaxbandits.cli.inputs import problem_of
from jaxbandits.costs.accounts import CostCounter

MEANS, PRICES = np.asarray([0.7, 0.5, 0.4, 0.2]), np.asarray([0.1, 0.9, 0.25, 0.0])
PROBLEM = jb.bernoulli(MEANS)
UCBE = jb.UCBE(budget=60, a=2.0)
KINDS = {"reward": ("reward", False), "prices": (PRICES, False), "coins": (PRICES, True)}
SEEDS = 400


@pytest.fixture(scope="module")
def runs():
    """The same runs with each kind of costs, and without."""
    found = {name: jb.simulate(UCBE, jb.with_costs(PROBLEM, c, random=r), SEEDS) for name, (c, r) in KINDS.items()}
    return found | {"none": jb.simulate(UCBE, PROBLEM, SEEDS)}


@pytest.fixture(scope="module")
def pulls():
    """Pulls of every arm in the same runs, int64 `(SEEDS, K)`."""
    keys = jax.vmap(jax.random.fold_in, (None, 0))(jax.random.key(0, impl="threefry2x32"), np.arange(SEEDS))
    algorithm = UCBE.resolved(PROBLEM)
    return np.asarray(jax.jit(jax.vmap(lambda key: jb.run(algorithm, PROBLEM, key).pulls))(keys), np.int64)


@pytest.mark.parametrize("kind", KINDS)
def test_the_cost_is_that_of_the_pulls(kind, runs, pulls):
    """Expected costs exactly; drawn ones within 5.5 standard errors: false alarm 4e-8 for each kind."""
    data, each = runs[kind], {"reward": MEANS}.get(kind, PRICES)
    np.testing.assert_array_equal(data.pulls, pulls.sum(1))
    np.testing.assert_allclose(data.cost, pulls @ each, rtol=3e-7)
    if kind == "prices":
        np.testing.assert_array_equal(data.paid, data.cost)
        return
    # A stopped walk (Wald): the variance of what is drawn, less its mean, is the expected sum of the variances.
    variance = (pulls @ (each * (1 - each))).sum()
    assert abs(float((data.paid - data.cost).sum())) < 5.5 * np.sqrt(variance)
    np.testing.assert_array_equal(data.paid, np.round(data.paid))
    assert (data.paid != data.cost).any()


def test_costs_change_nothing_else(runs):
    plain = runs["none"]
    np.testing.assert_array_equal(plain.cost, plain.pulls)
    assert "paid" not in plain
    assert plain.cost.attrs["units"] == "pulls"
    for name in KINDS:
        assert runs[name].cost.attrs["units"] == ("rewards" if name == "reward" else "prices")
        for variable in set(plain.data_vars) - {"cost"}:
            np.testing.assert_array_equal(runs[name][variable], plain[variable])


@pytest.mark.parametrize("kind", KINDS)
def test_the_spec_repeats_the_costs(kind, runs):
    again = jb.repeat(runs[kind])
    assert set(again.data_vars) == set(runs[kind].data_vars)
    for name in again.data_vars:
        np.testing.assert_array_equal(again[name], runs[kind][name])
    assert again.attrs["spec"] == runs[kind].attrs["spec"]


def test_axes_keep_their_costs(runs):
    family = jb.with_costs(jb.bernoulli(jb.axis([MEANS.tolist(), MEANS[::-1].tolist()])), PRICES.tolist())
    grid = jb.sweep(UCBE, family, SEEDS)
    for name in ("pulls", "cost", "paid"):
        np.testing.assert_array_equal(grid[name][0], runs["prices"][name])
    again = json.loads(jb.repeat(grid, seeds=3).attrs["spec"])["problem"]
    assert again["costs"] == PRICES.tolist()
    assert again["random_costs"] is False


def test_a_padded_arm_costs_nothing():
    problem = jb.with_costs(PROBLEM, PRICES, random=True).padded(7)
    assert problem.costs.price.shape == (7,)
    paid = problem.costs.paid(jax.random.key(0), jnp.where(jnp.arange(7) < 4, 1000, 0), jnp.float32(0))
    alone = jb.with_costs(PROBLEM, PRICES, random=True).costs
    assert float(paid) == float(alone.paid(jax.random.key(0), jnp.full(4, 1000), jnp.float32(0)))


def test_rewards_of_padded_arms_are_not_paid():
    """The first pulls of places without an arm once were, by every rule that pulls one arm a step."""
    few, many = (jb.with_costs(jb.exponential(np.linspace(1, 4, arms)), "reward") for arms in (3, 9))
    alone = jb.simulate(jb.Uniform(budget=50), few, 20)
    beside = jb.sweep(jb.Uniform(budget=50), [many, few], 20)
    np.testing.assert_array_equal(beside.paid.isel(problem=1), alone.paid)


@pytest.mark.slow
def test_random_costs_along_a_run_are_a_path():
    """What is added between two looks is independent of what was paid before: correlation .707 of 1000 with 2000 pulls.

    Within 6 standard errors; one draw for each number of pulls would have .9995.
    """
    problem = jb.with_costs(jb.bernoulli([0.5, 0.4]), [0.5, 0.25], random=True)
    data = jb.simulate(jb.Uniform(budget=2000), problem, 2000, checkpoints=[500, 1000, 2000])
    paid, runs = data.paid.to_numpy(), data.sizes["seed"]
    assert (np.diff(paid) >= 0).all()
    for column, pulls in enumerate((500, 1000, 2000)):
        variance = pulls / 2 * (0.5 * 0.5 + 0.25 * 0.75)
        assert abs(paid[:, column].mean() - pulls * 0.375) < 6 * np.sqrt(variance / runs)
        assert paid[:, column].var() == pytest.approx(variance, rel=6 * np.sqrt(2 / runs))
    first, second, third = paid[:, 0], *np.diff(paid).T
    for one, other in ((first, second), (first, third), (second, third)):
        assert abs(np.corrcoef(one, other)[0, 1]) < 6 / np.sqrt(runs)
    assert np.corrcoef(paid[:, 1], paid[:, 2])[0, 1] == pytest.approx(0.5**0.5, abs=6 * 0.5 / np.sqrt(runs))
    few = jb.simulate(jb.Uniform(budget=2000), problem, 20, checkpoints=[500, 1000, 2000], lanes=3, chunk=7)
    np.testing.assert_array_equal(few.paid, data.paid[:20])


@pytest.mark.parametrize(("price", "hits"), [(2.0**-31, 256), (1.5 * 2.0**-31, 384), (2.25 * 2.0**-31, 576), (0.0, 0)])
def test_rare_prices_are_paid_as_often_as_they_say(price, hits):
    """Of the 2^31 upper parts of a word the first three, each with the bytes that round it; 31 bits made 1 of 1.5."""
    costs = jb.with_costs(jb.bernoulli([0.5, 0.5]), [price, 1.0], random=True).costs
    upper, byte = (x.reshape(-1) for x in np.meshgrid(np.arange(3), np.arange(256), indexing="ij"))
    words = jnp.asarray(upper << 1, jnp.uint32), jnp.asarray(byte | 0xABCDEF00, jnp.uint32)
    zero = jnp.zeros(upper.size, jnp.int32)
    paid = costs.of_pull(jax.random.key(0), zero, zero, zero, words[1], words[0])
    assert float(paid.sum()) == hits


@pytest.mark.slow
def test_a_table_has_costs_of_pulls():
    """A bare NotImplementedError before; each cost is 0 or 1, with the mean of its price within 6 standard errors."""
    table = jb.with_costs(jb.empirical(np.random.default_rng(0).random((50, 2))), [0.3, 0.8], random=True)
    data = jb.simulate(jb.KUBE(budget=20), table, 50)
    np.testing.assert_array_equal(data.paid, 21)
    pulls = jnp.arange(20_000, dtype=jnp.int32)
    for arm, price in enumerate((0.3, 0.8)):
        reward, cost = jax.vmap(lambda t, arm=arm: table.payoff(jax.random.key(1), jnp.int32(arm), t))(pulls)
        assert abs(float(cost.mean()) - price) < 6 * np.sqrt(price * (1 - price) / pulls.size)
        assert abs(np.corrcoef(reward, cost)[0, 1]) < 6 / np.sqrt(pulls.size)


def test_a_million_equal_terms_do_not_drift():
    """A plain sum of these is 2.03."""
    weights = jb.ppr("one-good", k=10**6, w=2.0).mean
    assert float(jax.jit(compensated_total)(weights)) == pytest.approx(2, abs=1e-6)
    rows = np.random.default_rng(0).random((1000, 3)).astype(np.float32)
    np.testing.assert_allclose(compensated_total(jnp.asarray(rows)), rows.astype(np.float64).sum(0), rtol=1e-7)


def test_an_account_of_more_than_2_to_the_31_pulls():
    """Seven batches of 2^30 - 64 joint pulls of three of four arms, then one more of one run only."""
    active, each = jnp.asarray([True, True, False, True])[:, None] * jnp.ones(2, bool), jnp.full(2, 2**30 - 64)
    for random in (False, True):
        priced = jb.with_costs(PROBLEM, PRICES, random=random)
        problem = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf[:, None], (4, 2)), priced)
        spent, joint = CostCounter.nothing(problem, (2,)), np.zeros(2, np.int64)
        for number in ([7, 7], [0, 1]):
            key = jax.random.split(jax.random.key(sum(number)), 2)
            spent = spent.plus(problem, key, jnp.where(active, each, 0), jnp.asarray(number), jnp.zeros(2))
            joint += np.asarray(number) * (2**30 - 64)
        np.testing.assert_array_equal(spent.joint_pulls.to_numpy(), joint)
        np.testing.assert_array_equal(spent.pulls.to_numpy(), 3 * joint)
        np.testing.assert_allclose(spent.cost.high, joint, rtol=3e-7)  # 0.1 + 0.9 + 0 a joint pull
        np.testing.assert_allclose(spent.paid.high, joint, rtol=1e-4 if random else 3e-7)


BAD = [
    (lambda: jb.with_costs(PROBLEM, "rewards"), "'reward' or prices of the arms, got 'rewards'"),
    (lambda: jb.with_costs(PROBLEM, "reward", random=True), "random costs are prices"),
    (lambda: jb.with_costs(PROBLEM, [1.0, 2.0]), "one for each of 4 arms, got 2 of them"),
    (lambda: jb.with_costs(PROBLEM, np.ones((30, 40))), "got 1200 of them"),
    (lambda: jb.with_costs(PROBLEM, [1, -2, 1, 1]), "finite and at least 0, got -2.0 at arm 1"),
    (lambda: jb.with_costs(PROBLEM, [1, 1, np.inf, 1]), "finite and at least 0, got inf at arm 2"),
    (lambda: jb.with_costs(PROBLEM, [1, 1, 1.5, 1], random=True), "probabilities, .*, got 1.5 at arm 2"),
    (lambda: jb.with_costs(PROBLEM, [1, 1, 1e-10, 1], random=True), "none would be drawn, got 1e-10 at arm 2"),
    (lambda: jb.with_costs(jb.gabillon(1), 1.0), "for one bandit"),
    (lambda: jb.with_costs(PROBLEM, jb.axis([1, 2])), "costs must be numbers, got Axis"),
    (lambda: jb.simulate(UCBE, jb.with_costs(jb.linear(n=jb.axis([4, 5])), [1, 1, 1, 1]), 2), "each of 5 arms"),
    (lambda: problem_of("bernoulli:0.5,0.4", "reward,"), "--costs takes reward or prices such as 1,2,0.5, got"),
    (lambda: problem_of("bernoulli:0.5,0.4", "1,2,3"), "2 arms, got 3"),
    (lambda: problem_of("ppr:one-god,k=20"), "did you mean 'one-good'"),
    (lambda: problem_of("ppr:one-good,kk=20"), "did you mean 'k'"),
    (lambda: problem_of("ppr:flat,k=20,pulls=blocks,block=0.5"), "block"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "message"), BAD)
def test_bad_input(make, message):
    with pytest.raises(jb.UsageError, match=message) as error:
        make()
    assert "\n" not in str(error.value)


def test_on_the_command_line():
    assert problem_of("bernoulli:0.5,0.4", "reward").costs.price is None
    np.testing.assert_allclose(problem_of("bernoulli:0.5,0.4", "2,0.5").costs.price, [2, 0.5])
    np.testing.assert_allclose(problem_of("bernoulli:0.5,0.4", "3").costs.price, [3, 3])
    assert problem_of("ppr:flat,k=20").costs == jb.ppr("flat", k=20).costs
    assert dataclasses.replace(problem_of("ppr:flat,k=20", "3"), costs=None).name == "ppr:flat,k=20,w=2"
