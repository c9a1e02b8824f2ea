"""`jb.adversary` climbs where the answer is known, and leaves the complexity as it was."""

import math

import jax.numpy as jnp
import numpy as np
import optax
import pytest

import jaxbandits as jb
from jaxbandits.tuning.optimizers import optimizer_of

BUDGET = 20
UNIFORM = jb.Uniform(budget=BUDGET)
SOFT = jb.gradients.softened(jb.UCBE(budget=9, a=1.0), temperature=0.2)
START = jb.bernoulli([0.6, 0.5])


def error_of(means):
    """P(error) of uniform sampling of two Bernoulli arms, ties in half the cases."""
    pulls = BUDGET // 2
    first, second = (
        [math.comb(pulls, s) * p**s * (1 - p) ** (pulls - s) for s in range(pulls + 1)] for p in sorted(means)[::-1]
    )
    return sum(
        first[a] * second[b] * (1.0 if b > a else 0.5 * (a == b)) for a in range(pulls + 1) for b in range(pulls + 1)
    )


@pytest.fixture(scope="module")
def found():
    return jb.adversary(UNIFORM, jb.bernoulli([0.9, 0.75]), steps=60, judged_seeds=50_000)


@pytest.mark.slow
def test_two_arms_move_to_where_rewards_vary_most(found):
    """With the gap as it is, errors are likeliest where the means lie around 1/2."""
    means = np.asarray(found.problem.mean)
    assert abs(means.mean() - 0.5) < 0.06
    assert abs(means[0] - means[1]) == pytest.approx(0.15, abs=1e-4)
    most = error_of([0.575, 0.425])
    value = found.judged["value"]
    assert float(value.sel(instance="found")) == pytest.approx(most, abs=0.012)  # 5.5 standard errors of 50 000 runs
    assert float(value.sel(instance="start")) == pytest.approx(error_of([0.9, 0.75]), abs=0.012)
    assert float(found.judged.value_low.sel(instance="found")) > float(found.judged.value_high.sel(instance="start"))


@pytest.mark.slow
def test_the_complexity_stays(found):
    np.testing.assert_allclose(found.history.complexity, float(found.history.complexity[0]), rtol=1e-4)
    assert found.history["mean"].dims == ("step", "arm")
    assert found.history.sizes["step"] == 60


def test_a_complexity_and_ends_of_ones_own():
    """Of three arms the sum of gaps is kept, and no mean leaves its ends."""
    seen = []
    hard = jb.adversary(
        jb.UCBE(budget=40, a=1.0), jb.bernoulli([0.7, 0.5, 0.5]), steps=4, seeds=300, judged_seeds=300,
        complexity=lambda means: 1 / (means.max() - means).sum(), within=(0.3, 0.7), optimizer=optax.sgd(1.0),
        on_step=lambda history: seen.append(history.sizes["step"]),
    )  # fmt: skip
    means = hard.history["mean"].to_numpy()
    assert seen == [1, 2, 3, 4]
    assert ((means >= 0.3 - 1e-6) & (means <= 0.7 + 1e-6)).all()
    np.testing.assert_allclose((means.max(1, keepdims=True) - means).sum(1), 0.4, rtol=1e-4)


@pytest.mark.parametrize(("start", "within"), [([0.99, 0.6, 0.01], None), ([0.8, 0.6], (0.6, 0.8))])
def test_a_start_may_lie_on_the_ends(start, within):
    """The ends were float64 numbers, and the means float32 numbers."""
    hard = jb.adversary(UNIFORM, jb.bernoulli(start), within=within, steps=1, seeds=20, judged_seeds=20)
    low, high = np.float32([min(start), max(start)])
    means = np.asarray(hard.problem.mean)
    assert ((means >= low) & (means <= high)).all()


def test_means_that_must_be_positive_stay_so():
    """A step went below 0, and the steps before it were lost."""
    least = lambda problem, state, recommended: -problem.mean.min()  # noqa: E731
    start = [0.5, 0.45, 0.06]
    hard = jb.adversary(UNIFORM, jb.poisson(start), least, steps=3, seeds=20, judged_seeds=20, optimizer=optax.sgd(1.0))
    assert hard.problem.mean.min() == np.float32(0.01 * np.float32(0.06))
    np.testing.assert_allclose(hard.judged.complexity, float(hard.history.complexity[0]), rtol=1e-4)


@pytest.mark.parametrize(
    ("metric", "high"),
    [("error", 1 - 0.025 ** (1 / 50)), pytest.param("simple_regret", np.inf, marks=pytest.mark.slow)],
)
def test_no_error_seen_is_not_none(metric, high):
    hard = jb.adversary(jb.Uniform(budget=200), jb.bernoulli([0.9, 0.1]), metric, steps=1, seeds=20, judged_seeds=50)
    assert (hard.judged["value"] == 0).all()
    assert (hard.judged["value_low"] == (0 if metric == "error" else -np.inf)).all()
    np.testing.assert_allclose(hard.judged["value_high"], high)


def test_truncated_runs_are_counted():
    """Pulls at the limit looked like those of runs that had ended."""
    rule = jb.UGapEc(epsilon=0.02, delta=0.1)
    hard = jb.adversary(rule, START, "pulls", steps=1, seeds=20, judged_seeds=50, max_pulls=30)
    assert hard.history.truncated.values.tolist() == [20]
    assert hard.judged.truncated.values.tolist() == [50, 50]
    assert hard.judged.truncated.dtype == np.int64


def test_what_a_budget_determines_is_known():
    hard = jb.adversary(jb.Uniform(budget=20), jb.bernoulli([0.9, 0.1]), "pulls", steps=1, seeds=20, judged_seeds=50)
    assert hard.judged["value_low"].values.tolist() == hard.judged["value_high"].values.tolist() == [20, 20]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: jb.adversary(UNIFORM, jb.bernoulli([0.5, 0.5])), "positive and finite at the start, got inf"),
        (lambda: jb.adversary(UNIFORM, jb.bernoulli([1.0, 0.5])), r"must lie in \[0.01, 0.99\]"),
        (lambda: jb.adversary(UNIFORM, jb.gabillon(1)), "one bandit whose means are its parameters"),
        (lambda: jb.adversary(UNIFORM, jb.pareto([2.0, 1.0], 1.5)), "an adversary starts at|has no score"),
        (lambda: jb.adversary(jb.Uniform(budget=jb.axis([9, 10])), START), "must be one value"),
        (lambda: jb.adversary(UNIFORM, START, "eror"), "did you mean 'error'"),
        (lambda: jb.adversary(UNIFORM, START, within=(0.9, 0.1)), "a smaller and a larger"),
        (lambda: jb.adversary(UNIFORM, START, within=0.5), "within must be two numbers"),
        (lambda: jb.adversary(UNIFORM, START, within=(-5, 5)), "within: the least mean must lie strictly between 0 "),
        (lambda: jb.adversary(UNIFORM, START, within=(0.1, 1)), "within: the largest mean must lie strictly between"),
        (lambda: jb.adversary(UNIFORM, jb.poisson([2, 1]), within=(0, 3)), "within: the least mean must be positive"),
        (lambda: jb.adversary(UNIFORM, START, steps=0), "steps must be a whole number"),
        (lambda: jb.adversary(UNIFORM, START, complexity=lambda x: x), r"one number of the means \(2,\)"),
        (lambda: jb.adversary(UNIFORM, START, complexity=lambda x: float(x[0])), "float.., item.. or a shape needs"),
        (lambda: jb.adversary(UNIFORM, START, complexity=lambda x: None), "one number of the means"),
        (lambda: jb.adversary(UNIFORM, START, complexity=0), "complexity must be a function"),
        (lambda: jb.adversary(UNIFORM, START, optimizer="adam"), "optimizer must be one of optax, .* got 'adam'"),
        (lambda: jb.tune(jb.UCBE(budget=9, a=1.0), [START] * 4, "error", wrt=["a"], optimizer=0.1), "one of optax"),
        (lambda: jb.tune(SOFT, [START] * 4, "error", wrt=["a"]), r"not tuned: give the algorithm itself, UCBE\("),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(jb.UsageError, match=message) as error:
        call()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("constant", [lambda means: 5.0, lambda means: 0 * means.sum() + 5])
def test_a_complexity_that_does_not_change_with_the_gaps_is_refused(constant):
    """Each step divided the gaps by 148, without a word."""
    with pytest.raises(jb.UsageError, match="must fall as gaps grow, and does not around the means"):
        jb.adversary(UNIFORM, START, complexity=constant, steps=1, seeds=20, judged_seeds=20)


@jb.algorithm
class Two:
    """Returns two arms, and has a parameter called mean."""

    traits = jb.Traits(answers="top")
    budget: int
    top: int = 2
    mean: float = 0.5

    def select(self, arms, key):
        return jnp.argmin(arms.pulls)

    def done(self, arms):
        return arms.time >= self.budget

    def recommend(self, arms):
        return jnp.argsort(jnp.argsort(-arms.mean)) < self.top


def test_the_complexity_is_that_of_as_many_arms_as_the_rule_returns():
    """It was that of the best arm, unless the number of arms was a parameter called m of a built-in rule."""
    start = [0.8, 0.6, 0.4, 0.3]
    hard = jb.adversary(Two(budget=20), jb.bernoulli(start), steps=1, seeds=50, judged_seeds=50)
    two = float(jb.theory.h_epsilon(jnp.asarray(start), 0.0, m=2))
    np.testing.assert_allclose(hard.judged.complexity, two, rtol=1e-4)


def test_a_rule_that_returns_two_arms_has_hard_instances():
    """With all other arms at the least mean, the second best is no better than the third, and nothing was found."""
    rule = jb.LUCB(epsilon=0.1, delta=0.1, m=2)
    hard = jb.adversary(rule, jb.bernoulli([0.8, 0.6, 0.4, 0.3]), "pulls", steps=2, seeds=50, judged_seeds=50)
    np.testing.assert_allclose(hard.judged.complexity, float(hard.history.complexity[0]), rtol=1e-4)
    assert (np.asarray(hard.problem.mean) != np.asarray([0.8, 0.6, 0.4, 0.3], np.float32)).all()


@pytest.mark.parametrize("start", [START, pytest.param(jb.gaussian([0.6, 0.4]), marks=pytest.mark.slow)])
def test_a_complexity_that_grows_with_the_gaps_is_refused(start):
    """With ends it was not kept, and without them the means were infinite."""
    with pytest.raises(jb.UsageError, match="must fall as gaps grow") as error:
        jb.adversary(UNIFORM, start, complexity=jnp.ptp, steps=3, seeds=50, judged_seeds=50)
    assert "\n" not in str(error.value)


def test_an_optimizer_of_several_steps_is_one():
    """Optax has these as a class of their own."""
    moving = optimizer_of(optax.MultiSteps(optax.sgd(1.0), 2), 0.1)
    state, means = moving.init(jnp.zeros(2)), jnp.zeros(2)
    for found in (0.0, -1.5):  # the mean of two slopes
        change, state = moving.update(jnp.full(2, 2.0 + found), state, means)
        means = optax.apply_updates(means, change)
    np.testing.assert_allclose(means, -1.25)
