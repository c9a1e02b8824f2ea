"""What float32 cannot hold of a problem is refused by name: it would go on as inf, NaN or 0 in every run."""

import dataclasses
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxbandits as jb

KEY = jax.random.key(0)
UNIFORM = jb.Uniform(budget=60)
BERNOULLI = [0.5, 0.4]


def with_file(make, text):
    """A constructor's call on a file that holds this text."""

    def call(tmp_path):
        path = tmp_path / "table.csv"
        path.write_text(text, encoding="utf-8")
        return make(path)

    return call


def values(make, *arguments, **named):
    return lambda _: make(*arguments, **named)


BEYOND = [
    (values(jb.gaussian, [0.0, 1e39]), r"Gaussian means at arm 1 .*got 1e\+39"),
    (values(jb.gaussian, [-4e38, -4e38]), r"Gaussian means at arm 0 .*got -4e\+38"),
    (values(jb.gaussian, [1e30, 2e30]), r"mean of arm 0 \(means 1e\+30, sd 1\) .*1\.5e29 in size.*got 1e\+30"),
    (values(jb.gaussian, [0.0, 1.0], [1.0, 1e39]), r"Gaussian sd at arm 1 .*got 1e\+39"),
    (values(jb.gaussian, [0.0, 1.0], [1.0, 1e30]), r"variance of arm 1 \(means 1, sd 1e\+30\) .*got 1e\+60"),
    (values(jb.gaussian, [0.0, 1.0], [1e-40, 1.0]), "Gaussian sd at arm 0 .*got 1e-40"),
    (values(jb.gaussian, [0.0, 1.0], [1e-25, 1.0]), r"variance of arm 0 \(means 0, sd 1e-25\) .*got 1e-50"),
    (values(jb.gaussian, [1e-40, 2e-40]), "Gaussian means at arm 0 .*got 1e-40"),
    (values(jb.bernoulli, [0.0, 1e-39]), "Bernoulli means at arm 1 .*got 1e-39"),
    (values(jb.bernoulli, [[0.5, 0.4], [0.3, 1e-45]]), "Bernoulli means at arm 3 .*got 1e-45"),
    (values(jb.one_click, [0.5, 1e-42]), "one-click means at arm 1 .*got 1e-42"),
    (values(jb.beta, [1e39, 1.0], 1.0), r"Beta parameters a at arm 0 .*got 1e\+39"),
    (values(jb.beta, [1.0, 1.0], [1.0, 1e-46]), "Beta parameters b at arm 1 .*got 1e-46"),
    (values(jb.beta, [3e38, 1.0], [3e38, 1.0]), r"mean of arm 0 \(a 3e\+38, b 3e\+38\) .*got 0\.5, and 0 as float32"),
    (values(jb.beta, [1.0, 1e30], [1.0, 1e30]), r"variance of arm 1 .*got 1\.25e-31, and nan as float32"),
    (values(jb.beta, [1.0, 1e15], [1.0, 1e15]), r"variance of arm 1 .*got 1\.25e-16, and 0 as float32"),
    (values(jb.rademacher, [-3e38, 0.0], [3e38, 1.0]), "variance of arm 0 .*low -3e"),
    (values(jb.rademacher, [2e38, 0.0], [2.1e38, 1.0]), r"mean of arm 0 .*got 2\.05e\+38"),
    (values(jb.rademacher, [0.0, 0.0], [1.0, 1e-41]), "high values at arm 1 .*got 1e-41"),
    (values(jb.log_normal, [200, 1], [1, 1]), r"mean of arm 0 \(mu 200, sigma 1\) .*got 1\.19136e\+87"),
    (values(jb.log_normal, [1, 0], [1, 40]), r"mean of arm 1 \(mu 0, sigma 40\) .*got inf"),
    (values(jb.log_normal, [0, -300], 1), r"mean of arm 1 \(mu -300, sigma 1\) .*got 8\.4\d*e-131"),
    (values(jb.weibull, [1.0, 1.5], 0.01), r"mean of arm 0 \(scale 1, shape 0\.01\) .*got 9\.33272e\+157"),
    (values(jb.weibull, [1.0, 1.5], [0.5, 1e-3]), r"mean of arm 1 \(scale 1\.5, shape 0\.001\) .*got inf"),
    (values(jb.poisson, [1e-40, 1.0]), "Poisson means at arm 0 .*got 1e-40"),
    (values(jb.exponential, [1.0, 1e39]), r"Exponential means at arm 1 .*got 1e\+39"),
    (values(jb.exponential, [1.0, 1e30]), r"means must be from 2e-19 to 3e14, .* got 1e\+30 at arm 1"),
    (values(jb.exponential, [1e-30, 1.0]), "means must be from 2e-19 to 3e14, .* got 1e-30 at arm 0"),
    (values(jb.pareto, [1.0, 1e39], 2.0), r"Pareto means at arm 1 .*got 1e\+39"),
    (values(jb.pareto, [1.0, 1e33], 2.0), r"mean of arm 1 \(means 1e\+33, tail 2\) .*got 1e\+33"),
    (values(jb.pareto, [1.0, 2.0], 1e39), r"Pareto tail at arm 0 .*got 1e\+39"),
    (values(jb.student_t, [1.0, 2.0], 3.0, 1e35), r"Student t scale .*got 1e\+35 at arm 0"),
    (values(jb.symmetric_pareto, [1.0, 2.0], 3.0, [1.0, 1e38]), r"Symmetric Pareto scale .*got 1e\+38 at arm 1"),
    (values(jb.empirical, [[1e39, 1.0], [2.0, 3.0]]), r"column 1, row 1, .*got 1e\+39"),
    (values(jb.empirical, [[1.0, 1.0], [2.0, -2e38]]), r"column 2, row 2, .*1\.5e29.*got -2e\+38"),
    (values(jb.empirical, [[1.0, 1e-40], [2.0, 2.0]]), "column 2, row 1, .*got 1e-40"),
    (values(jb.empirical, [[1.0, 1e28], [2.0, 2e28]]), r"column 2 has a variance of 2\.5e\+55"),
    (values(jb.empirical, [[1.0, 1.0], [1 + 1e-9, 2.0]]), "column 1 varies by 5e-10 about 1, and float32 moves"),
    (values(jb.empirical, [[1.0, 1e9], [2.0, 1e9 + 3]]), "column 2 varies by 1.5 about 1e.*move the values towards 0"),
    (with_file(jb.empirical_from_csv, "a,b\n1,2\n3,1e39\n"), r"line 3, column 'b': .*got 1e\+39"),
    (with_file(jb.empirical_from_csv, "a,b\n1,2\n3,1e38\n"), r"column 'b', row 2, .*got 1e\+38"),
    (with_file(jb.click_rates, "impressions,clicks\n100,3\n1e38,10\n4e37,1\n9,1e39\n"), r"line 5, column 'clicks'"),
    (with_file(jb.click_rates, "impressions,clicks\n100,3\n3e38,1\n"), r"line 3: clicks per impression .*got 3\.33"),
    (with_file(jb.click_rates, "impressions,clicks\n100,3\n1e40,1\n"), r"line 3, column 'impressions': .*got 1e\+40"),
    (with_file(jb.workers_from_csv, "accuracy\n0.9\n1e-40\n"), "line 3, column 'accuracy': .*got 1e-40"),
    (with_file(jb.reservoir_from_csv, "reward,cost\n0.5,0.5\n1e-41,1\n"), "line 3, column 'reward': .*got 1e-41"),
    (values(jb.reservoir, beta=1e39), r"reservoir: beta must be a float32 number, .*got 1e\+39"),
    (values(jb.reservoir, law="beta", concentration=1e-44), "reservoir: concentration .*got 1e-44"),
    (values(jb.reservoir, coupling=1e-44), "reservoir: coupling .*got 1e-44"),
    (values(jb.with_costs, jb.bernoulli(BERNOULLI), [1e39, 1.0]), r"costs .*got 1e\+39 at arm 0"),
    (values(jb.with_costs, jb.bernoulli(BERNOULLI), 1e30), r"costs .*1\.5e29 in size.*got 1e\+30 at arm 0"),
    (values(jb.with_costs, jb.bernoulli(BERNOULLI), [1.0, 1e-40]), "costs at arm 1 .*got 1e-40"),
    (values(jb.with_costs, jb.gaussian([1.0, 1e15]), [1.0, 1e-25]), r"reward over cost of arm 1 .*got 1e\+40"),
    (values(jb.with_costs, jb.bernoulli([0.5, 1e-20]), [1.0, 1e25]), r"reward over cost of arm 1 .*got 1e-45"),
    (values(jb.AskTell, jb.Uniform(budget=9), arms=2, reward_range=1e39), r"reward_range .*got 1e\+39"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "match"), BEYOND, ids=[match for _, match in BEYOND])
def test_what_float32_cannot_hold_is_refused_by_name(tmp_path, call, match):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(jb.UsageError, match=match) as error:
            call(tmp_path)
    assert "\n" not in str(error.value)


HELD = [
    jb.gaussian([0.0, 1.0], 1e14), jb.bernoulli([0.0, 1.0]),
    *(pytest.param(p, marks=pytest.mark.slow) for p in (
        jb.student_t([0.0, 1.0], 1.5, 1e20), jb.exponential([2e-19, 3e14]),
        jb.gaussian([1e-37, 1.0]), jb.pareto([1.0, 2.0], 1.0001),
        jb.weibull([1.0, 2.0], 0.1), jb.empirical([[0.0, 1e12], [1e-12, 2e12]]),
        jb.with_costs(jb.bernoulli(BERNOULLI), [0.0, 1e-20]),
        jb.gaussian([0.0, 1e20]), jb.gaussian([0.0, 1.0], 1e-18), jb.beta([1e-30, 2e6], [1.0, 1e6]),
        jb.rademacher([0.0, 0.45], [1.0, 0.45]), jb.log_normal([0.0, 1.0], [6.0, 1.0]), jb.poisson([0.0, 1e7]),
        jb.symmetric_pareto([0.0, 1.0], 2.0), jb.random_beta(n=50, a=0.001),
    )),
]  # fmt: skip


@pytest.mark.parametrize("problem", HELD, ids=lambda problem: problem.name)
def test_what_float32_holds_is_taken(problem):
    mean, variance = np.asarray(problem.mean), np.asarray(problem.variance)
    assert np.isfinite(mean).all()
    assert not np.isnan(variance).any()
    assert np.isfinite(variance).all() or not problem.bounded
    result = jb.simulate(UNIFORM, problem, seeds=2, max_pulls=100)
    assert np.isfinite(result["simple_regret"]).all()


def family(**changes):
    """A family of the user's own: a uniform number times `size`."""
    methods = {
        "parameters": ("size",),
        "mean": property(lambda self: self.size / 2),
        "variance": property(lambda self: self.size * self.size / 12),
        "reward_range": property(lambda self: jnp.max(self.size)),
        "sample": classmethod(lambda cls, words, size: (words[0] >> 8).astype(jnp.float32) * 2.0**-24 * size),
        "__annotations__": {"size": jax.Array},
    }
    made = dataclasses.dataclass(frozen=True)(type("Own", (jb.Problem,), methods | changes))
    return jb.problems.register_problem(made)


INFINITE = {"variance": property(lambda self: jnp.full(self.size.shape, jnp.inf))}
OWN = [
    ({}, np.array([1.0, 1e39]), r"Own\.size at arm 1 .*got 1e\+39"),
    ({}, jnp.asarray([1.0, jnp.inf]), r"Own\.size must be finite, got inf at arm 1"),
    ({}, np.array([1e-40, 1.0]), r"Own\.size at arm 0 .*got 1e-40"),
    ({}, jnp.asarray([1.0, 1e25]), r"Own: the variance of arm 1 \(size 1e\+25\) .*got inf.*bounded = False"),
    ({}, jnp.asarray([1.0, 1e30]), r"Own: the mean of arm 1 \(size 1e\+30\) .*got 5e\+29"),
    ({"mean": property(lambda self: self.size / 0.0)}, jnp.asarray([1.0, 2.0]), r"mean of arm 0 \(size 1\) .*got inf"),
    (INFINITE, jnp.asarray([1.0, 2.0]), r"variance of arm 0 .*got inf.*bounded = False"),
    ({"variance": property(lambda self: self.size * jnp.nan)}, jnp.asarray([1.0, 2.0]), "variance of arm 0 .*got nan"),
]


@pytest.mark.parametrize(("changes", "size", "match"), OWN, ids=[match for *_, match in OWN])
def test_families_of_ones_own_are_looked_at_before_they_run(changes, size, match):
    made = family(**changes)(size)
    for call in (lambda: jb.simulate(UNIFORM, made, seeds=2), lambda: jb.run(UNIFORM, made, KEY)):
        with pytest.raises(jb.UsageError, match=match) as error:
            call()
        assert "\n" not in str(error.value)


@pytest.mark.slow
def test_a_family_of_ones_own_may_have_heavy_tails():
    made = family(bounded=False, **INFINITE)(jnp.asarray([1.0, 2.0]))
    assert jb.simulate(UNIFORM, made, seeds=2).sizes["seed"] == 2


def test_what_is_put_into_a_problem_by_hand_is_looked_at():
    changed = dataclasses.replace(jb.gaussian([0.0, 1.0]), sd=jnp.asarray([1.0, 1e30]))
    with pytest.raises(jb.UsageError, match=r"variance of arm 1 \(means 1, sd 1e\+30\)"):
        jb.simulate(UNIFORM, changed, seeds=2)
    prices = dataclasses.replace(jb.with_costs(jb.bernoulli(BERNOULLI), 2.0).costs, price=jnp.asarray([1.0, jnp.inf]))
    with pytest.raises(jb.UsageError, match=r"Bernoulli\.costs must be finite, got inf at arm 1"):
        jb.simulate(UNIFORM, dataclasses.replace(jb.bernoulli(BERNOULLI), costs=prices), seeds=2)


def test_checkpoints_of_costs_are_float32_numbers():
    problem = jb.with_costs(jb.bernoulli(BERNOULLI), [0.5, 0.25], random=True)
    for points, match in (([1.0, 1e39], "checkpoint .*1e"), ([1.0, 1.0 + 1e-9], "increasing")):
        with pytest.raises(jb.UsageError, match=match):
            jb.simulate(jb.KUBE(budget=100.0), problem, seeds=2, checkpoints=points)


def test_rewards_that_are_told_can_be_added_up():
    session = jb.AskTell(jb.Uniform(budget=9), arms=2, bounded=False)
    arm = session.ask()
    with pytest.raises(jb.UsageError, match=r"a reward must be finite and at most 1\.5e29"):
        session.tell(arm, 2e38)
