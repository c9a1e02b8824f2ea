"""Reservoirs: the laws of their arms, of rewards and costs, and what they refuse.

Every p-value is of a fixed seed; if the package is right, fresh seeds would fail the whole file with a probability
below 1e-6 (fewer than 50 p-values, each against 1e-8).
"""

import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import jaxbandits as jb
from jaxbandits.engine.binding import accept
from jaxbandits.problems import Bernoulli, Beta
from jaxbandits.sweeps.spec import build, describe, parse_problem

FALSE_ALARM = 1e-8
KEYS = jax.random.split(jax.random.key(3), 400)


def arms_of(problem, keys=KEYS):
    """The arms of many runs at once, as the engine draws them."""
    batched = jax.tree.map(lambda leaf: jnp.repeat(jnp.asarray(leaf)[..., None], len(keys), axis=-1), problem)
    return jax.jit(lambda p, k: p.draw(k))(batched, keys)


@pytest.mark.parametrize("beta", [0.25, 0.5, 1.0, 2.0, 4.0])
def test_the_ratio_is_beta_regular(beta):
    """P(rho > rho* - e) = (e / rho*)^beta."""
    rho = 0.8
    drawn = arms_of(jb.reservoir(beta=beta, rho=rho, arms=100))
    shortfall = np.asarray(drawn.shortfall, np.float64).ravel()
    assert stats.kstest((shortfall / np.float32(rho)) ** beta, "uniform").pvalue > FALSE_ALARM
    ratio = np.asarray(drawn.reward / drawn.cost, np.float64)
    np.testing.assert_allclose(ratio.ravel(), np.float32(rho) - shortfall, atol=3e-7)
    assert ratio.max() <= rho * (1 + 1e-6)
    assert ratio.min() >= 0
    # No arm depends on another.
    codes = stats.spearmanr(np.asarray(drawn.shortfall)[:20].T).statistic
    assert np.abs(codes - np.eye(20)).max() < 6 / np.sqrt(len(KEYS))


def test_a_wrong_exponent_would_be_caught():
    shortfall = np.asarray(arms_of(jb.reservoir(beta=1.05, arms=100)).shortfall, np.float64).ravel()
    assert stats.kstest(shortfall, "uniform").pvalue < FALSE_ALARM


def test_uniform_and_log_normal_costs():
    uniform = np.asarray(arms_of(jb.reservoir(lam=0.3, arms=50)).cost, np.float64).ravel()
    assert stats.kstest(uniform, stats.uniform(0.3, 0.7).cdf).pvalue > FALSE_ALARM
    mu, sigma = -1.0, 0.7
    drawn = arms_of(jb.reservoir(lam=0.1, prices="log-normal", mu=mu, sigma=sigma, arms=50))
    law = stats.norm(mu, sigma)
    low, high = law.cdf(np.log(0.1)), law.cdf(0.0)
    cost = np.asarray(drawn.cost, np.float64).ravel()
    assert stats.kstest(cost, lambda x: (law.cdf(np.log(x)) - low) / (high - low)).pvalue > FALSE_ALARM
    assert cost.min() >= np.float32(0.1)
    assert cost.max() <= 1
    assert abs(stats.spearmanr(cost, np.asarray(drawn.shortfall).ravel()).statistic) < 6 / np.sqrt(cost.size)


def test_unit_costs_make_the_means_beta_distributed():
    drawn = arms_of(jb.reservoir(beta=2.0, prices="unit", arms=50))
    assert drawn.cost is None
    assert stats.kstest(np.asarray(drawn.reward, np.float64).ravel(), stats.beta(1, 2).cdf).pvalue > FALSE_ALARM
    assert jb.reservoir(prices="unit", arms=5).realised(KEYS[0]).costs is None


@pytest.mark.bits
@pytest.mark.parametrize("prices", ["uniform", pytest.param("log-normal", marks=pytest.mark.slow)])
def test_a_run_has_the_same_arms_however_many_are_drawn_and_alone(prices):
    few, many = (jb.reservoir(beta=0.5, prices=prices, arms=arms) for arms in (7, 50))
    together, draw = arms_of(many), jax.jit(lambda p, k: p.draw(k))
    for run in (0, 5):
        alone = draw(few, KEYS[run])
        for one, all_runs in zip(alone, together, strict=True):
            np.testing.assert_array_equal(one, np.asarray(all_runs)[:7, run])
    assert not np.array_equal(*(np.asarray(draw(few, key).reward) for key in KEYS[:2]))


def payoffs(problem, pulls):
    """Rewards and costs of `pulls` pulls of every arm of a problem of one run, `(K, pulls)`."""
    arm, pull = jnp.meshgrid(jnp.arange(problem.arms), jnp.arange(pulls), indexing="ij")
    draw = jax.jit(jax.vmap(jax.vmap(lambda a, n: problem.payoff(jax.random.key(9), a, n))))
    reward, cost = draw(arm.astype(jnp.int32), pull.astype(jnp.int32))
    return np.asarray(reward, np.float64), np.asarray(cost, np.float64)


@pytest.mark.parametrize("coupling", [0.0, 0.4, 1.0])
def test_bernoulli_rewards_and_costs(coupling):
    problem = jb.reservoir(beta=1.0, coupling=coupling, arms=6).realised(KEYS[0])
    assert isinstance(problem, Bernoulli)
    pulls = 20_000
    reward, cost = payoffs(problem, pulls)
    assert set(np.unique(reward)) | set(np.unique(cost)) == {0.0, 1.0}
    p, c = (np.asarray(x, np.float64) for x in (problem.probability, problem.costs.price))
    both = coupling * np.minimum(p, c) + (1 - coupling) * p * c
    for arm in range(6):
        for seen, expected in ((reward[arm], p[arm]), (cost[arm], c[arm]), (reward[arm] * cost[arm], both[arm])):
            assert stats.binomtest(int(seen.sum()), pulls, expected).pvalue > FALSE_ALARM
    drawn = np.asarray(problem.value)
    np.testing.assert_allclose(drawn, p / c, rtol=1e-6)
    assert float(problem.supremum) == 1.0


@pytest.mark.slow
def test_beta_distributed_rewards_and_costs():
    problem = jb.reservoir(beta=1.0, law="beta", concentration=3.0, arms=12).realised(KEYS[0])
    assert isinstance(problem, Beta)
    reward, cost = payoffs(problem, 2000)
    mean, price = np.asarray(problem.mean, np.float64), np.asarray(problem.costs.price, np.float64)
    # Near 0 and 1 most draws round to 0 or 1.
    middle = np.flatnonzero((np.abs(mean - 0.5) < 0.35) & (np.abs(price - 0.5) < 0.35))
    assert middle.size >= 2
    for arm in middle[:3]:
        for seen, expected in ((reward[arm], mean[arm]), (cost[arm], price[arm])):
            law = stats.beta(3 * expected, 3 * (1 - expected))
            assert stats.kstest(seen, law.cdf).pvalue > FALSE_ALARM
        assert abs(np.corrcoef(reward[arm], cost[arm])[0, 1]) < 6 / np.sqrt(2000)


def test_given_arms_pay_their_prices():
    fixed = jb.with_costs(jb.gaussian([0.2, 0.5], 0.1), [0.25, 0.75])
    reward, cost = payoffs(fixed, 5)
    np.testing.assert_array_equal(cost, np.repeat([[0.25], [0.75]], 5, axis=1))
    own = jb.with_costs(jb.bernoulli([0.2, 0.5]), "reward")
    np.testing.assert_array_equal(*payoffs(own, 50))
    assert (payoffs(jb.bernoulli([0.2, 0.5]), 3)[1] == 1).all()
    # A law that uses both random words of a pull has costs from words of their own.
    random = jb.with_costs(jb.gaussian([0.2, 0.5], 0.1), [0.25, 0.75], random=True)
    reward, cost = payoffs(random, 20_000)
    for arm, price in enumerate((0.25, 0.75)):
        assert stats.binomtest(int(cost[arm].sum()), 20_000, price).pvalue > FALSE_ALARM
        assert abs(np.corrcoef(reward[arm], cost[arm])[0, 1]) < 6 / np.sqrt(20_000)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "machines.csv"
    path.write_text("name,reward,cost\na,0.5,0.5\nb,0,0.25\nc,0.3,1\n", encoding="utf-8")
    return path


def test_a_table_gives_its_rows_equally_often(table):
    problem = jb.reservoir_from_csv(str(table), beta=1.0, arms=30)
    assert float(problem.best) == 1.0
    assert problem.smallest_cost == 0.25
    drawn = arms_of(problem)
    counts = [int((np.asarray(drawn.cost) == cost).sum()) for cost in (0.5, 0.25, 1.0)]
    assert stats.chisquare(counts).pvalue > FALSE_ALARM
    pairs = set(zip(np.asarray(drawn.reward).ravel().tolist(), np.asarray(drawn.cost).ravel().tolist(), strict=True))
    assert pairs == {(0.5, 0.5), (0.0, 0.25), (float(np.float32(0.3)), 1.0)}


@pytest.mark.parametrize(
    "spec",
    [
        "reservoir:beta=0.5,rho=0.9,lam=0.1",
        "reservoir:beta=1,prices=log-normal,mu=-1,sigma=0.5",
        "reservoir:prices=unit,arms=12",
        "reservoir:beta=2,law=beta,concentration=2",
        "reservoir:coupling=0.5",
    ],
)
def test_specifications_read_back(spec):
    problem = parse_problem(spec)
    again = parse_problem(problem.name)
    assert jax.tree.structure(again) == jax.tree.structure(problem)
    for one, other in zip(jax.tree.leaves(again), jax.tree.leaves(problem), strict=True):
        np.testing.assert_array_equal(one, other)
    _, built, _ = build(json.dumps(describe(accept(jb.RCBI(budget=10.0)), problem, {})))
    assert built.name == problem.name


def test_axes_of_a_reservoir(table):
    _, family, _ = build(describe(accept(jb.RCBI(budget=10.0)), jb.reservoir(beta=jb.axis([0.5, 1.0])), {}))
    assert family.arguments["beta"].values == (0.5, 1.0)
    assert parse_problem(f"reservoir-table:path={table},beta=1").regularity == 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"beta": 0.0}, "beta must be positive"),
        ({"beta": -1.0}, "beta must be positive"),
        ({"beta": float("nan")}, "beta must be positive"),
        ({"rho": 1.5}, r"rho must lie in \(0, 1\]"),
        ({"lam": 0.0}, "lam must be at least 2.-31 and below 1"),
        ({"lam": 1.0}, "lam must be at least 2.-31 and below 1"),
        ({"coupling": 1.5}, r"coupling must lie in \[0, 1\]"),
        ({"coupling": 0.5, "law": "beta"}, "coupling"),
        ({"coupling": 0.5, "prices": "unit"}, "coupling"),
        ({"concentration": 0.0}, "concentration must be positive"),
        ({"sigma": -1.0}, "sigma must be positive"),
        ({"mu": 5.0, "prices": "log-normal"}, "of the log-normal costs"),
        ({"prices": "free"}, "prices"),
        ({"law": "gauss"}, "law"),
        ({"arms": 1}, "arms must be a whole number from 2 to "),
    ],
)
def test_bad_reservoirs(arguments, message):
    with pytest.raises(jb.UsageError, match=message) as error:
        jb.reservoir(**arguments)
    assert "\n" not in str(error.value)


def test_a_table_whose_costs_are_one_is_for_rules_that_ignore_costs(tmp_path):
    """SiRI refused it, since its pulls "have prices"."""
    file = tmp_path / "unit.csv"
    file.write_text("reward,cost\n0.9,1\n0.2,1.0\n0.5,1\n")
    ds = jb.simulate(jb.SiRI(budget=40), jb.reservoir_from_csv(file, beta=1.0), seeds=5)
    assert ds.cost.values.tolist() == ds.pulls.values.tolist() == [40] * 5
    uniform = jb.simulate(jb.Uniform(budget=40), jb.reservoir_from_csv(file, arms=2), seeds=5)
    assert uniform.cost.values.tolist() == [40] * 5


@pytest.mark.parametrize(
    ("rule", "arms", "message"),
    [
        (jb.RCBI(budget=50), 3, r"^RCBI needs the regularity beta: give reservoir-table:.*,arms=3 beta=…$"),
        (jb.RCBI(budget=50), None, r"^RCBI cannot choose .* without the regularity beta: give .* beta=…$"),
        (jb.SequentialHalving(budget=50), 3, r"^SequentialHalving looks at .* has costs: use a rule .* such as RCB$"),
        (jb.SiRI(budget=50, beta=1.0), 3, r"^SiRI looks at rewards only, .* have prices: use RCBI"),
    ],
)
def test_what_a_table_lacks_is_one_line(tmp_path, rule, arms, message):
    """The messages asked for what was given, or for prices=unit, which a table does not have."""
    path = tmp_path / "arms.csv"
    path.write_text("reward,cost\n0.5,0.5\n0.9,1\n", encoding="utf-8")
    with pytest.raises(jb.UsageError, match=message) as error:
        jb.simulate(rule, jb.reservoir_from_csv(str(path), arms=arms), seeds=2)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("reward,cost\n0.5,0\n0.5,1\n", r"line 2, column 'cost': must lie in \[2.-31, 1\], got '0'"),
        ("reward,cost\n0.5,1\n0.5,-1\n", "line 3, column 'cost'"),
        ("reward,cost\n1.5,1\n0.5,1\n", "line 2, column 'reward'"),
        ("reward,cost\n0.5,1\n", "two rows"),
        ("reward,price\n0.5,1\n0.5,1\n", "columns reward and cost are needed"),
        ("reward,cost\n,1\n0.5,1\n", "is missing"),
        ("reward,cost\nx,1\n0.5,1\n", "must be a finite number, got 'x'"),
    ],
)
def test_bad_tables(tmp_path, text, message):
    path = tmp_path / "bad.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(jb.UsageError, match=message) as error:
        jb.reservoir_from_csv(str(path))
    assert "\n" not in str(error.value)


def test_what_a_reservoir_does_not_know():
    problem = jb.reservoir()
    for name in ("mean", "variance"):
        with pytest.raises(jb.UsageError, match="draws its own arms"):
            getattr(problem, name)


@pytest.mark.parametrize("arms", [None, 3])
@pytest.mark.parametrize("costs", ["reward", 0.5, [0.5, 0.2, 0.1]])
def test_a_reservoir_draws_its_costs_itself(arms, costs):
    """Where the number of its arms was set, or a pull was to cost its reward, the costs were left out of all runs."""
    with pytest.raises(jb.UsageError, match="draws the costs of its arms itself"):
        jb.with_costs(jb.reservoir(prices="unit", arms=arms), costs)
