"""Questions: closest alternatives against a search, thresholds for any number of arms, features, and a user's own."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy import optimize

import jaxbandits as jb
from jaxbandits.algorithms.arm_values import filled
from jaxbandits.algorithms.structured.linear_means import inverse, on_own_axes
from jaxbandits.statistics.glr_boundaries import arms_boundary
from tests.algorithms.question_game import divergence

MEANS, SHARES = np.asarray([0.62, 0.55, 0.35, 0.2]), np.asarray([0.4, 0.1, 0.2, 0.3])
FEATURES = np.asarray([[1.0, 0.0], [0.0, 1.0], [0.9, 0.5], [-0.4, 0.3]])


@jb.algorithm
class AnyBelow(jb.Question):
    level: float

    def answer(self, means):
        return jnp.any(means < self.level)

    def closest_alternative(self, means, shares):
        below = means < self.level
        easiest = jnp.argmin(shares * self.divergence(means, self.level))
        moved = jnp.where(jnp.any(below), below, jnp.arange(len(means)) == easiest)
        return jnp.where(moved, self.level, means)


def cost_of(rule, means, shares, family="bernoulli", b=1.0):
    moved = rule.closest_alternative(jnp.asarray(means, jnp.float32), jnp.asarray(shares, jnp.float32))
    return float(shares @ divergence(family, b, means, np.asarray(moved, float)))


def test_a_users_question_is_answered():
    """Yes is the mask of all arms; the rule stops by itself, and is right."""
    for means, found in (([0.7, 0.1], True), ([0.7, 0.6], False)):
        ds = jb.simulate(AnyBelow(level=0.3, delta=0.1), jb.bernoulli(means), seeds=100)
        assert (ds.status == 0).all()
        assert ds.correct.mean() > 0.9
        assert (ds.recommended == found).all("arm").mean() > 0.9


@jb.algorithm
class FirstBeatsSecond(jb.Question):
    def answer(self, means):
        return means[0] > means[1]

    def closest_alternative(self, means, shares):
        weight = shares[:2] / jnp.sum(shares[:2])
        return means.at[:2].set(jnp.sum(weight * means[:2]))


@jb.algorithm
class FirstBeatsSecondByNumber(FirstBeatsSecond):
    shuffle_arms = False


def test_a_question_that_names_arms_by_number_needs_their_order():
    """Half of the answers were wrong with delta = 0.05, without a word: each run numbers its arms anew."""
    problem = jb.gaussian([0.9, 0.1, 0.0])
    for start in (lambda rule: jb.simulate(rule, problem, seeds=50), lambda rule: jb.AskTell(rule, 3)):
        with pytest.raises(jb.UsageError, match="set shuffle_arms = False in the class if the question names arms"):
            start(FirstBeatsSecond(delta=0.05))
        start(FirstBeatsSecondByNumber(delta=0.05))
    assert jb.simulate(FirstBeatsSecondByNumber(delta=0.05), problem, seeds=50).correct.mean() >= 0.9


@pytest.mark.parametrize("m", [1, 2, 3])
def test_the_alternative_of_the_m_best_is_the_closest(m):
    """By a search over where each pair of means meets."""
    pairs = [(i, j) for i in range(m) for j in range(m, 4)]

    def least(i, j):
        def both(x):
            return sum(SHARES[k] * divergence("bernoulli", 1.0, MEANS[k], x) for k in (i, j))

        return optimize.minimize_scalar(both, bounds=(MEANS[j], MEANS[i]), method="bounded").fun

    rule = jb.TopMGame(delta=0.1, m=m, family="bernoulli", b=1.0)
    assert cost_of(rule, MEANS, SHARES) == pytest.approx(min(least(i, j) for i, j in pairs), rel=1e-4)


def test_the_alternative_of_a_threshold_is_the_closest():
    rule = jb.ThresholdGame(delta=0.1, level=0.5, family="bernoulli", b=1.0)
    costs = SHARES * divergence("bernoulli", 1.0, MEANS, np.full(4, 0.5))
    assert cost_of(rule, MEANS, SHARES) == pytest.approx(costs.min(), rel=1e-4)


PARETO = np.asarray([[0.8, 0.2], [0.55, 0.6], [0.3, 0.75], [0.4, 0.5]])


@pytest.mark.parametrize(
    "designs",
    [PARETO, *(pytest.param(x, marks=pytest.mark.slow) for x in (PARETO[:, ::-1], PARETO[:3], PARETO[[0, 3]]))],
)
def test_the_alternative_of_a_pareto_set_is_the_closest(designs):
    """By a search over means with another set; at most one design dominates another here."""
    rule = jb.ParetoGame(delta=0.1, objectives=2, family="gaussian", b=1.0)
    means, shares = designs.ravel(), np.random.default_rng(0).dirichlet(np.full(designs.size, 5.0))
    answer = np.asarray(rule.answer(jnp.asarray(means)))
    steps, best = np.random.default_rng(1).normal(size=(200_000, means.size)), np.inf
    found = means
    for scale in (0.3, 0.1, 0.03, 0.01, 0.003, 0.001):
        tried = (found + scale * steps).reshape(-1, *designs.shape)
        worse = (tried[:, :, None] <= tried[:, None]).all(axis=3) & (tried[:, :, None] < tried[:, None]).any(axis=3)
        other = (~worse.any(axis=2) != answer[::2]).any(axis=1)
        costs = np.where(other, 2 * (tried.reshape(-1, means.size) - means) ** 2 @ shares, np.inf)
        if costs.min() < best:
            best, found = costs.min(), tried.reshape(-1, means.size)[costs.argmin()]
    assert cost_of(rule, means, shares, "gaussian") == pytest.approx(best, rel=0.05)
    assert cost_of(rule, means, shares, "gaussian") <= best


@pytest.mark.slow
@pytest.mark.bits
def test_the_law_of_a_pareto_game_does_not_depend_on_the_order_of_designs_and_objectives():
    """Nine z-scores of a fixed seed, each at most 6: of fresh seeds fewer than 2e-8 would fail."""
    designs = np.asarray([[0.9, 0.0], [0.3, 0.8], [0.0, 0.3], [-0.1, -0.5]])
    rows, columns = np.asarray([3, 1, 2, 0]), np.asarray([1, 0])
    found = []
    for seed, table in enumerate((designs, designs[rows][:, columns])):
        rule = jb.ParetoGame(delta=0.3, objectives=2, threshold="heuristic")
        each = {"each": lambda problem, state, answer: state.pulls}
        ds = jb.simulate(rule, jb.gaussian(table.ravel(), 0.25), 4000, metrics=each, root_seed=seed)
        pulls = ds.each.values.reshape(-1, 4, 2)
        if seed:
            pulls = pulls[:, np.argsort(rows)][:, :, np.argsort(columns)]
        pulls = pulls.reshape(-1, 8).astype(float)
        found.append(np.column_stack([pulls, pulls.sum(axis=1)]))
    apart = found[0].mean(axis=0) - found[1].mean(axis=0)
    error = np.sqrt((found[0].var(axis=0) + found[1].var(axis=0)) / 4000)
    assert (np.abs(apart) <= 6 * error).all(), (apart / error).tolist()


def test_a_pareto_set_needs_whole_designs():
    with pytest.raises(jb.UsageError, match="ParetoGame: 5 arms are not 2 objectives of two designs or more"):
        jb.simulate(jb.ParetoGame(delta=0.1, objectives=2), jb.bernoulli(np.linspace(0.1, 0.9, 5)), seeds=1)
    with pytest.raises(
        jb.UsageError, match=r"one bandit, the problem has 3: give the objectives .* in one list.*ravel"
    ):
        jb.simulate(jb.ParetoGame(delta=0.1, objectives=2), jb.bernoulli([[0.1, 0.2], [0.3, 0.1], [0.2, 0.2]]), seeds=1)


def linear(features):
    problem = jb.gaussian(np.zeros(len(features)), 0.5)
    return jb.LinGame(delta=0.1, features=features).resolved(problem)


@pytest.mark.parametrize("change", [np.eye(2), np.asarray([[2.0, 0.3, 2.3], [0.1, -1.0, -0.9]])])
def test_the_alternative_of_linear_means_is_the_closest(change):
    """By a search over theta; also with features of the same means that are redundant."""
    theta, x = np.asarray([0.9, -0.2]), FEATURES
    means = x @ theta
    best = means.argmax()

    def least(j):
        ties = {"type": "eq", "fun": lambda other: (x[best] - x[j]) @ other}
        far = optimize.minimize(lambda other: SHARES @ (2 * (means - x @ other) ** 2), theta, constraints=ties)
        return far.fun

    rule = linear(x @ change)
    assert rule.features.shape == (4, 2)
    found = cost_of(rule, means, SHARES, "gaussian")
    assert found == pytest.approx(min(least(j) for j in range(4) if j != best), rel=1e-3)


COPIES = [[0, 1, 2, 2, 3], [0, 1, 2, 3, 0]]


@pytest.mark.parametrize("rows", COPIES)
def test_arms_with_equal_features_are_no_rivals(rows):
    """The closest alternative is that without the copy, whose share the first has."""
    x = FEATURES[rows]
    means, shares = x @ [0.9, -0.2], SHARES[rows] / np.bincount(rows)[rows]
    expected = cost_of(linear(FEATURES), FEATURES @ [0.9, -0.2], SHARES, "gaussian")
    assert cost_of(linear(x), means, shares, "gaussian") == pytest.approx(expected, rel=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("rows", COPIES)
def test_a_run_stops_by_itself_where_arms_have_equal_features(rows):
    x = FEATURES[rows]
    means = x @ [0.9, -0.2]
    ds = jb.simulate(jb.LinGame(delta=0.1, features=x), jb.gaussian(means, 1.5), seeds=20, max_pulls=10_000)
    assert (ds.status == 0).all()


def test_an_inverse_and_its_determinant():
    table = np.random.default_rng(0).normal(size=(7, 7))
    matrix = table @ table.T + 0.1 * np.eye(7)
    found, logarithm = inverse(jnp.asarray(matrix, jnp.float32))
    np.testing.assert_allclose(found, np.linalg.inv(matrix), rtol=1e-3, atol=1e-3)
    assert float(logarithm) == pytest.approx(np.linalg.slogdet(matrix)[1], rel=1e-4)


@pytest.mark.parametrize("name", ["gk16", "kk21-gaussian", "kk21", "heuristic"])
def test_thresholds_for_two_arms_are_those_of_pairs(name):
    for t, pairs in ((10.0, 3), (1e5, 9)):
        found = arms_boundary(name, jnp.float32(t), 2.0, float(pairs), jnp.log(jnp.float32(0.05)))
        assert float(found) == pytest.approx(float(jb.theory.glr_threshold(t, pairs + 1, 0.05, name)), rel=1e-5)


def test_features_are_checked_in_one_line():
    problem = jb.gaussian([0.3, 0.2, 0.1], 0.5)
    for rule in (jb.LinGame, jb.LinGapE):
        for features, text in (
            (FEATURES, "one for each of 3 arms"),
            (np.ones(3), "features must be finite, with a row for each arm"),
            (np.full((3, 2), np.inf), "features"),
            ([[1.0, 2.0], [1.0], [2.0]], "features must be numbers"),
            (np.zeros((3, 2)), "features must not all be 0"),
        ):
            with pytest.raises(jb.UsageError, match=text) as error:
                jb.simulate(rule(delta=0.1, features=features), problem, seeds=1)
            assert "\n" not in str(error.value)


@pytest.mark.parametrize("rule", [pytest.param(jb.LinGame, marks=pytest.mark.slow), jb.LinGapE])
def test_a_simulation_warns_where_its_means_contradict_a_linear_rule(rule):
    features, allowed = FEATURES[:3], {"seeds": 1, "max_pulls": 20}
    with pytest.warns(UserWarning, match=f"^{rule.__name__}: the means are not linear .* miss one by 0.17"):
        jb.simulate(rule(delta=0.1, features=features), jb.gaussian([0.5, 0.2, 0.9], 0.5), **allowed)
    jb.simulate(rule(delta=0.1, features=features), jb.gaussian(features @ [0.6, 0.8], 0.5), **allowed)


@pytest.mark.slow
def test_a_simulation_warns_where_theta_is_longer_than_its_norm():
    """LinGapE with norm = 1 errs in more than half of the runs where theta has the length 50."""
    features, allowed = FEATURES[:3], {"seeds": 1, "max_pulls": 20}
    for norm in (1.9, jb.axis([3.0, 1.9])):
        with pytest.warns(UserWarning, match="^LinGapE: norm=1.9 must be at least the length of theta, 2"):
            jb.sweep(
                jb.LinGapE(delta=0.1, features=features, norm=norm), jb.gaussian(features @ [1.2, 1.6], 0.5), **allowed
            )
    with pytest.warns(UserWarning, match="length of theta, 50.0625"):
        jb.simulate(jb.LinGapE(delta=0.1), jb.gaussian([30.5, 30.0, 26.0], 0.5), **allowed)


@pytest.mark.slow
def test_columns_that_nearly_depend_on_each_other_cost_no_digits():
    """Each run errs with a probability of at most 0.1: half of 40 do with one below 1e-9. Unturned, nine of ten did."""
    features = FEATURES + 300.0
    problem = jb.gaussian(features @ [1.0, 0.4], 1.0)
    ds = jb.simulate(jb.LinGapE(delta=0.1, features=features, norm=1.1), problem, seeds=40, max_pulls=20_000)
    assert ds.correct.mean() > 0.5
    assert ds.pulls.mean() > 200


@pytest.mark.parametrize(("count", "size"), [(4, 2), (3, 7), (6, 4)])
def test_turned_features_have_the_same_products_and_stay(count, size):
    features = np.random.default_rng(0).normal(size=(count, size)) + 1000.0
    turned = on_own_axes(features)
    assert turned.shape == (count, min(count, size))
    np.testing.assert_allclose(turned @ turned.T, features @ features.T, rtol=1e-12)
    assert on_own_axes(turned) is turned
    assert on_own_axes(FEATURES) is FEATURES


def test_rows_fill_up_whole():
    rule = filled(jb.LinGapE(delta=0.1, features=FEATURES), 6)
    np.testing.assert_array_equal(rule.features, FEATURES[[0, 1, 2, 3, 3, 3]])


@pytest.mark.slow
@pytest.mark.parametrize("rule", [jb.LinGame, jb.LinGapE])
def test_features_stay_with_their_arms(rule):
    """In a grid whose problems have other numbers of arms, each with its rows; and in a live session."""
    theta = np.asarray([0.7, -0.2])
    for count in (3, 4):
        problem = jb.gaussian(FEATURES[:count] @ theta, 0.5)
        ds = jb.simulate(rule(delta=0.05, features=FEATURES[:count]), problem, seeds=200)
        assert ds.correct.mean() > 0.95
        assert ds.pulls.mean() < jb.simulate(rule(delta=0.05), problem, seeds=50).pulls.mean()
        session = jb.AskTell(rule(delta=0.05, features=FEATURES[:count], b=1.0), arms=count, key=3, bounded=False)
        while not session.done:
            arm = session.ask()
            session.tell(arm, float(FEATURES[arm] @ theta))
        assert (
            session.recommendation.tolist() == (FEATURES[:count] @ theta == (FEATURES[:count] @ theta).max()).tolist()
        )


def test_a_missing_method_is_one_line():
    @jb.algorithm
    class Silent(jb.Question):
        def answer(self, means):
            return jnp.argmax(means)

    with pytest.raises(jb.UsageError, match=r"Silent has no method closest_alternative\(means, shares\)"):
        jb.simulate(Silent(delta=0.1), jb.bernoulli([0.6, 0.2]), seeds=1)


def test_values_that_do_not_fit_are_one_line():
    with pytest.raises(jb.UsageError, match="kk21-gaussian is proved for family=gaussian"):
        jb.TopMGame(delta=0.1, family="bernoulli", threshold="kk21-gaussian")
    with pytest.raises(jb.UsageError, match="family=bernoulli needs rewards of at least 0"):
        jb.simulate(jb.TopMGame(delta=0.1, family="bernoulli"), jb.gaussian([0.2, 0.1], 1.0), seeds=1)
