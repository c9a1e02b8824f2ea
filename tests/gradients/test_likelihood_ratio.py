"""Gradients by the score: against differences with common rewards, parts that are direct, and what is refused."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits.gradients.reward_scores import scores
from jaxbandits.problems import register_problem

UGAPE = jb.UGapEc(epsilon=0.3, delta=0.2, b=1.0)
LAWS = {
    "bernoulli": (jb.bernoulli([0.8, 0.5, 0.3]), "probability"),
    "gaussian, mean": (jb.gaussian([0.8, 0.4, 0.2], 0.3), "location"),
    "gaussian, sd": (jb.gaussian([0.8, 0.4, 0.2], 0.3), "sd"),
    "student-t, mean": (jb.student_t([0.8, 0.3, 0.0], 6.0, 0.2), "location"),
    "student-t, dof": (jb.student_t([0.8, 0.3, 0.0], 3.0, 0.3), "dof"),
    "student-t, scale": (jb.student_t([0.8, 0.3, 0.0], 6.0, 0.2), "scale"),
    "beta, a": (jb.beta([4.0, 2.0, 1.0], 2.0), "a"),
    "beta, b": (jb.beta([4.0, 2.0, 1.0], 2.0), "b"),
    "log-normal, mu": (jb.log_normal([-0.3, -1.0, -2.0], 0.3), "mu"),
    "weibull, shape": (jb.weibull([0.8, 0.5, 0.2], 1.5), "shape"),
    "poisson": (jb.poisson([0.8, 0.5, 0.3]), "average"),
    "exponential": (jb.exponential([0.8, 0.5, 0.3]), "average"),
}


def moved(problem, leaf, arm, by):
    """The problem with one parameter of an arm moved."""
    return dataclasses.replace(problem, **{leaf: getattr(problem, leaf).at[arm].add(by)}, recipe=None)


@pytest.mark.slow
@pytest.mark.bits
@pytest.mark.parametrize("name", LAWS)
def test_pulls_move_as_differences_with_common_rewards_say(name):
    """At two arms, within 5.5 standard errors of both and half a per cent for the width: a false alarm in 10^7."""
    problem, leaf = LAWS[name]
    seeds = 4000
    found = jb.gradients.expected("pulls", UGAPE, problem, wrt=f"problem.{leaf}", seeds=seeds)
    for arm in (0, 1):
        width = 0.03 * float(getattr(problem, leaf)[arm])
        up, down = (jb.simulate(UGAPE, moved(problem, leaf, arm, by), seeds).pulls for by in (width, -width))
        each = (up - down) / (2 * width)
        slope, noise = float(each.mean()), float(each.std()) / seeds**0.5
        allowed = 5.5 * np.hypot(noise, float(found.gradient_se[arm])) + 0.02 * abs(slope)
        assert abs(float(found.gradient[arm]) - slope) < allowed


#: Whose rewards are drawn by programs that take long to compile.
LONG = ("beta, a", "beta, b", "poisson")


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n in LONG)) for n in LAWS])
def test_scores_are_those_of_the_pulls_one_by_one(name):
    problem, leaf = LAWS[name]
    counts = np.asarray([[3, 0, 70], [1, 33, 32]])
    found = scores(problem, leaf, counts, root_seed=5)
    argument = 1 + problem.parameters.index(leaf)

    @jax.jit
    def one(run, arm, pull):
        reward = problem.reward(jax.random.fold_in(jax.random.key(5), run), arm, pull).astype(jnp.float32)
        law = [getattr(problem, name)[arm] for name in problem.parameters]
        return jax.grad(problem.log_density, argnums=argument)(reward, *law)

    for run, arm in np.ndindex(2, 3):
        total = sum(float(one(jnp.int32(run), jnp.int32(arm), jnp.int32(t))) for t in range(counts[run, arm]))
        assert found[run, arm] == pytest.approx(total, rel=1e-4, abs=1e-4)


@pytest.mark.slow
def test_the_mean_of_a_score_is_zero():
    """Of runs that end by themselves too; within 5.5 standard errors."""
    ds = jb.simulate(UGAPE, LAWS["bernoulli"][0], 4000, metrics={"each": lambda problem, state, returned: state.pulls})
    found = scores(LAWS["bernoulli"][0], "probability", ds.each.to_numpy(), 0)
    assert (np.abs(found.mean(axis=0)) < 5.5 * found.std(axis=0) / 4000**0.5).all()


PAID = jb.with_costs(jb.bernoulli([0.7, 0.5, 0.2]), "reward")


def test_costs_have_a_direct_part():
    """Where the answer does not hang on the rewards, nothing else is left."""
    found = jb.gradients.expected("cost", jb.Uniform(budget=30), PAID, seeds=50)
    np.testing.assert_allclose(found.gradient, 10, atol=1e-5)
    np.testing.assert_allclose(found.gradient_se, 0, atol=1e-5)


@pytest.mark.slow
def test_regrets_and_metrics_of_ones_own_have_a_direct_part():
    sure = jb.gradients.expected("simple_regret", jb.Uniform(budget=6000), jb.bernoulli([0.9, 0.1]), seeds=50)
    np.testing.assert_allclose(sure.gradient, 0, atol=1e-6)
    own = jb.gradients.expected(
        lambda problem, state, returned: jnp.sum(problem.mean**2), jb.Uniform(budget=30), PAID, seeds=50
    )
    np.testing.assert_allclose(own.gradient, [1.4, 1.0, 0.4], rtol=1e-5)


@pytest.mark.slow
def test_axes_checkpoints_and_bandits_have_their_places():
    axes = jb.Uniform(budget=jb.axis([30, 60]))
    grid = jb.gradients.expected("error", axes, jb.bernoulli([0.6, 0.5]), seeds=300)
    assert grid.gradient.dims == ("budget", "arm")
    alone = jb.gradients.expected("error", jb.Uniform(budget=60), jb.bernoulli([0.6, 0.5]), seeds=300)
    for name in grid.data_vars:
        np.testing.assert_array_equal(grid[name].sel(budget=60), alone[name])
    curve = jb.gradients.expected("error", UGAPE, jb.bernoulli([0.6, 0.5]), seeds=300, checkpoints=[20, 60])
    assert curve.gradient.dims == ("checkpoint", "arm")
    several = jb.gradients.expected("aggregate_regret", jb.GapE(budget=60, a=1.0), jb.gabillon(1), seeds=300)
    assert several.gradient.dims == ("bandit", "arm")
    assert several.gradient.shape == (2, 4)
    assert several.attrs["wrt"] == "mean"


@pytest.mark.slow
def test_runs_that_were_stopped_are_counted():
    found = jb.gradients.expected("pulls", UGAPE, jb.bernoulli([0.8, 0.5]), seeds=40, max_pulls=10)
    assert int(found.stopped_early) == 40
    assert float(found.value) == 10


@register_problem
@dataclasses.dataclass(frozen=True)
class WithoutDensity(jb.Problem):
    """A family of the user's own that promises scores, and has no density."""

    top: jax.Array
    parameters = ("top",)
    scored = ("top",)

    @classmethod
    def sample(cls, words, top):
        return top * words[0].astype(jnp.float32) * jnp.float32(2.0**-32)

    mean = property(lambda self: self.top / 2)
    variance = property(lambda self: self.top**2 / 12)
    reward_range = property(lambda self: jnp.max(self.top))


REFUSED = [
    ({"problem": WithoutDensity(jnp.ones(2)), "wrt": "top"}, "has scored parameters, but no log_density"),
    ({"wrt": "probabilty"}, "did you mean 'probability'"),
    (
        {"wrt": "budget"},
        "unknown parameter of the problem or the algorithm 'budget'; known: .*, delta, epsilon, .*prob",
    ),
    ({"wrt": "mu"}, "algorithm 'mu'; known: "),
    ({"metric": "pull"}, "did you mean 'pulls'"),
    ({"metric": 3}, "a metric is a name or a function"),
    ({"problem": jb.bernoulli([1.0, 0.5])}, "strictly between 0 and 1, got 1.0 at arm 0"),
    ({"problem": jb.pareto([2.0, 1.0], 2.5)}, "has no score in mean"),
    ({"problem": jb.empirical([[0.0, 1.0], [1.0, 2.0]])}, "unknown parameter"),
    ({"problem": jb.beta([1.0, 2.0], 2.0)}, "unknown parameter of the problem or the algorithm 'mean'"),
    ({"problem": jb.bernoulli(jb.axis([[0.5, 0.4], [0.6, 0.4]]))}, "needs a single problem"),
    ({"problem": np.full((9, 9), 0.5)}, "needs a single problem"),
    ({"algorithm": jb.AdaptiveTopK(k=1, epsilon=0.2)}, "draws sums of rewards"),
    ({"seeds": 1}, "at least 2 seeds"),
    ({"metric": lambda problem, state, recommended: state.pulls}, r"one number of a run here, got int32 \(2,\)"),
    ({"metric": jb.Metric(lambda *seen: seen[1].mean), "refit_algorithm": True}, r"here, got float32 \(2,\)"),
]


@pytest.mark.parametrize(("change", "message"), REFUSED)
def test_bad_input_is_one_line(change, message):
    given = {"metric": "pulls", "algorithm": UGAPE, "problem": jb.bernoulli([0.8, 0.5]), "seeds": 20} | change
    with pytest.raises(jb.UsageError, match=message) as error:
        jb.gradients.expected(**given)
    assert "\n" not in str(error.value)


KEY = jax.random.key(0)


def with_means(means):
    return dataclasses.replace(jb.bernoulli([0.8, 0.5]), probability=means)


HARD = {
    "run": lambda means: jnp.sum(jb.run(UGAPE, with_means(means), KEY).mean),
    "run, a constructor": lambda means: jnp.sum(jb.run(UGAPE, jb.bernoulli(means), KEY).mean),
    "run, epsilon": lambda x: jnp.sum(jb.run(dataclasses.replace(UGAPE, epsilon=x[0]), with_means(x), KEY).pulls) * 1.0,
    "trajectory": lambda means: jnp.sum(jb.trajectory(UGAPE, with_means(means), KEY, 5).mean),
    "under jit": jax.jit(lambda means: jnp.sum(jb.run(UGAPE, with_means(means), KEY).mean)),
    "simulate": lambda means: jb.simulate(UGAPE, with_means(means), 5).pulls.mean().item(),
    "sweep": lambda means: jb.sweep(UGAPE, jb.bernoulli(means), 5).pulls.mean().item(),
}


@pytest.mark.parametrize("name", HARD)
def test_no_derivative_through_hard_decisions_is_a_silent_zero(name):
    for derivative in (jax.grad(HARD[name]), lambda x: jax.jvp(HARD[name], (x,), (x,))):
        with pytest.raises(jb.UsageError, match=r"use jb\.gradients\.expected") as error:
            derivative(jnp.asarray([0.8, 0.5]))
        assert "\n" not in str(error.value)


@pytest.mark.slow
def test_runs_under_other_transformations_are_as_before():
    plain = jb.run(UGAPE, jb.bernoulli([0.8, 0.5]), KEY)
    compiled = jax.jit(lambda means: jb.run(UGAPE, with_means(means), KEY))(jnp.asarray([0.8, 0.5]))
    np.testing.assert_array_equal(plain.pulls, compiled.pulls)
