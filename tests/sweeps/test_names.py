"""Names of axes and metrics that results or their summaries have already: one line, with the remedy."""

from typing import Any

import jax.numpy as jnp
import pytest

import jaxbandits as jb

ARMS = jb.bernoulli([0.8, 0.4])


class Turns:
    """Pulls the arms in turn."""

    def select(self, arms, key):
        return jnp.argmin(arms.pulls)

    def done(self, arms):
        return arms.time >= 4

    def recommend(self, arms):
        return 0


def with_field(name):
    return jb.algorithm(type("Own", (Turns,), {"__annotations__": {name: Any}, name: 1.0}))


@pytest.mark.parametrize(
    "name", ["pulls", "status", "steps", "cost", "reward", "joint_pulls", "seed", "arm", "failure", "runs", "quantile",
             "pulls_mean", "cost_q10"],
)  # fmt: skip
def test_an_axis_has_no_name_of_the_results(name):
    for algorithm in (with_field(name)(jb.axis([1.0, 2.0])), with_field("x")(jb.axis([1.0, 2.0], name=name))):
        with pytest.raises(jb.UsageError, match=rf"an axis cannot be called '{name}'.*axis\(…, name=…\)") as error:
            jb.sweep(algorithm, ARMS, seeds=2)
        assert error.value.place[0] == "algorithm"
        assert "\n" not in str(error.value)


@pytest.mark.slow
def test_a_field_of_such_a_name_is_none_of_it():
    ds = jb.sweep(with_field("steps")(jb.axis([1.0, 2.0], name="stride")), ARMS, seeds=2)
    assert ds.sizes["stride"] == 2
    assert jb.simulate(with_field("pulls")(3.0), ARMS, seeds=2).pulls.values.tolist() == [4, 4]


def test_problems_have_such_axes_too():
    with pytest.raises(jb.UsageError, match="cannot be called 'correct'") as error:
        jb.sweep(jb.Uniform(budget=9), jb.one_sparse(n=jb.axis([3, 4], name="correct")), seeds=2)
    assert error.value.place == ("problem", "n")


def test_metrics_and_axes_do_not_meet():
    def first(problem, state, recommended):
        return state.pulls[0]

    grid = with_field("x")(jb.axis([1.0, 2.0]))
    with pytest.raises(jb.UsageError, match="the metric 'x' needs another name: the results have 'x' already"):
        jb.sweep(grid, ARMS, seeds=2, metrics={"x": first})
    with pytest.raises(jb.UsageError, match="cannot be called 'mine_mean', since their summaries have that name"):
        jb.sweep(with_field("mine_mean")(jb.axis([1.0, 2.0])), ARMS, seeds=2, metrics={"mine": first})
    # Its interval would have been taken for that of the failure rate.
    with pytest.raises(jb.UsageError, match="the metric 'failure' needs another name: summaries have 'failure_low'"):
        jb.sweep(grid, ARMS, seeds=2, metrics={"failure": first})


@pytest.mark.parametrize("name", [3, "", b"x", ["x"]])
def test_the_name_of_an_axis_is_a_text(name):
    with pytest.raises(jb.UsageError, match="the name of an axis must be a text"):
        jb.axis([1, 2], name=name)


@pytest.mark.slow
def test_theory_replaces_no_axis():
    """The values of an axis called h_epsilon were replaced by the complexity, without a word."""
    ds = jb.sweep(jb.UGapEc(epsilon=jb.axis([0.3, 0.4], name="h_epsilon"), delta=0.1), ARMS, seeds=2)
    with pytest.raises(jb.UsageError, match="the Dataset has its own 'h_epsilon'"):
        jb.with_theory(ds, "h_epsilon")
    twice = jb.with_theory(jb.with_theory(ds, "lower_bound"), "lower_bound")
    assert twice.lower_bound.dims == ("h_epsilon",)
