"""Gradients that rest on few runs: no standard error is claimed, and what a gradient rests on is said."""

import json
import warnings

import numpy as np
import pytest
import xarray as xr

import jaxbandits as jb
from jaxbandits.cli import main
from jaxbandits.engine.binding import accept
from jaxbandits.gradients.rare_outcomes import carrying, distinct, varied
from jaxbandits.tuning.bijectors import coordinates
from jaxbandits.tuning.estimates import goal_of, slopes
from jaxbandits.tuning.instance_parameters import family

UGAPE = jb.UGapEc(epsilon=0.3, delta=0.2, b=1.0)


def few(*arguments, **options):
    """A gradient of which a warning says that it rests on too few runs."""
    with pytest.warns(UserWarning, match="the gradient of .* rests on .* runs, too few to know its standard error"):
        return jb.gradients.expected(*arguments, **options)


RARE = {
    "as reported": ("error", jb.Uniform(budget=4), [1e-4, 1e-5]),
    "regret": ("simple_regret", jb.Uniform(budget=4), [1e-4, 1e-5]),
    "five arms": ("error", jb.Uniform(budget=10), [1e-4, 1e-4, 1e-5, 1e-5, 1e-5]),
    "nearly sure": ("error", jb.Uniform(budget=6), [0.9999, 0.99999]),
    "eliminated": ("error", jb.SuccessiveRejects(budget=12), [1e-4, 1e-5, 1e-6]),
    "pulls": ("pulls", jb.UGapEc(epsilon=0.9, delta=0.2, b=1.0), [1e-4, 1e-5, 1e-6]),
    "own": (lambda problem, state, returned: returned[0] * 1.0, jb.Uniform(budget=4), [1e-4, 1e-5]),
    "no error": ("error", jb.Uniform(budget=300), [0.9, 0.1]),
}
#: Wrong answers that were hardly seen, and none at all; the others need programs of their own.
FEWER = ("as reported", "no error")


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n not in FEWER)) for n in RARE])
def test_what_is_too_rare_to_have_been_seen_has_no_standard_error(name):
    metric, algorithm, means = RARE[name]
    found = few(metric, algorithm, jb.bernoulli(means), seeds=2000)
    rare = found.gradient_runs < 30
    assert rare.any()
    np.testing.assert_array_equal(np.isinf(found.gradient_se), rare)
    assert int(found.outcomes) == (1 if name == "no error" else 2 if metric == "error" else int(found.outcomes))


def test_only_the_arm_that_never_paid_is_not_known():
    """The other within 5.5 standard errors of what it is: a false alarm in 10^7."""
    found = few("error", jb.Uniform(budget=4), jb.bernoulli([0.5, 1e-5]), seeds=4000)
    assert np.isinf(found.gradient_se).values.tolist() == [False, True]
    assert abs(float(found.gradient[0]) + 0.5) < 5.5 * float(found.gradient_se[0])  # of (1 - p)^2 / 2
    assert found.gradient_runs[1] <= 1


@pytest.mark.slow
def test_with_enough_runs_the_rare_is_known():
    """d/dp of the error of 2 pulls an arm, within 5.5 standard errors: a false alarm in 10^7."""
    p, q = 0.02, 0.005
    found = jb.gradients.expected("error", jb.Uniform(budget=4), jb.bernoulli([p, q]), seeds=200_000)

    def error(p):
        best, other = ([(1 - x) ** 2, 2 * x * (1 - x), x * x] for x in (p, q))
        return sum(b * o * (1 if j > i else 0.5 * (i == j)) for i, b in enumerate(best) for j, o in enumerate(other))

    slope = (error(p + 1e-5) - error(p - 1e-5)) / 2e-5
    assert abs(float(found.gradient[0]) - slope) < 5.5 * float(found.gradient_se[0]) < 0.2


ORDINARY = [
    ("error", jb.Uniform(budget=50), jb.bernoulli([0.6, 0.5, 0.4, 0.3, 0.2]), "mean"),
    *(pytest.param(*case, marks=pytest.mark.slow) for case in (
        ("pulls", UGAPE, jb.bernoulli([0.8, 0.5, 0.3]), "mean"),
        ("simple_regret", jb.Uniform(budget=50), jb.bernoulli([0.7, 0.5]), "mean"),
        ("pulls", UGAPE, jb.bernoulli([0.8, 0.5, 0.3]), "epsilon"),
        ("pulls", jb.Uniform(budget=50), jb.bernoulli([0.7, 0.5]), "mean"),
        ("cost", jb.Uniform(budget=30), jb.with_costs(jb.bernoulli([0.7, 0.5]), "reward"), "mean"),
        ("error", jb.Uniform(budget=40), jb.student_t([1.0, 0.5], 3.0), "mean"),
        ("error", jb.Uniform(budget=20), jb.gaussian([0.5, 0.0], 1.0), "sd"),
        ("error", jb.gradients.softened(jb.UCBE(budget=40, a=1.0), 0.05), jb.bernoulli([0.7, 0.5]), "a"),
    )),
]  # fmt: skip


@pytest.mark.parametrize(("metric", "algorithm", "problem", "wrt"), ORDINARY)
def test_of_ordinary_ones_nothing_is_said(metric, algorithm, problem, wrt):
    found = jb.gradients.expected(metric, algorithm, problem, wrt, seeds=1500)  # a warning is an error here
    assert np.isfinite(found.gradient_se).all()
    assert (found.gradient_runs >= 30).all()


@pytest.mark.slow
def test_differences_say_it_too():
    found = few("error", jb.UGapEc(epsilon=0.05, delta=0.01), jb.bernoulli([0.9, 0.5]), "delta", seeds=1000)
    assert np.isinf(float(found.gradient_se))
    anew = few("error", jb.Uniform(budget=4), jb.bernoulli([0.01, 0.02]), seeds=1000, refit_algorithm=True)
    assert np.isinf(anew.gradient_se).all()


@pytest.mark.slow
def test_several_parameters_have_their_runs():
    both = jb.gradients.expected("pulls", UGAPE, jb.bernoulli([0.8, 0.5, 0.3]), wrt=["mean", "epsilon"], seeds=1500)
    assert both["gradient_mean_runs"].dims == ("arm",)
    assert both["gradient_epsilon_runs"].attrs["long_name"] == "runs that the gradient rests on"
    assert int(both.outcomes) > 30


@pytest.mark.slow
def test_few_runs_have_no_warning():
    found = jb.gradients.expected("error", jb.Uniform(budget=300), jb.bernoulli([0.9, 0.1]), seeds=50)
    assert np.isinf(found.gradient_se).all()


def test_counts():
    runs = xr.DataArray([[0.0, 0.0, 3.0, -2.0, 0.1], [0.0, 0.0, 0.0, 0.0, 0.0]], dims=("arm", "seed"))
    assert distinct(runs).values.tolist() == [4, 1]
    assert carrying(runs).values.tolist() == [2, 0]
    score = xr.DataArray([[-2.0, -4.0, 98.0, -2.0, 0.0], [1.5, 2.5, 3.5, 4.5, 5.5]], dims=("arm", "seed"))
    pulls = xr.DataArray([[2, 4, 2, 2, 0], [1, 1, 1, 1, 1]], dims=("arm", "seed"))
    assert varied(score, pulls).values.tolist() == [1, 4]


def test_slopes_of_a_search_have_no_error_where_nothing_was_seen():
    algorithm = jb.UGapEc(epsilon=0.1, delta=0.01)
    on = family([jb.bernoulli([0.9, 0.1])] * 4)
    where = coordinates(accept(algorithm), ["delta"])
    _, found, _ = slopes(goal_of("pulls", None), algorithm, where, {"delta": where[0].point(0.01)}, on, 20, 0)
    assert np.isinf(found["error"]["delta"].se)
    assert np.isfinite(found["objective"]["delta"].se)


def test_the_label_is_that_of_the_value():
    found = jb.gradients.expected("error", jb.Uniform(budget=20), jb.bernoulli([0.7, 0.5]), seeds=2000)
    assert found.value.attrs["long_name"] == "answer is wrong"
    assert "long_name" not in found.value_se.attrs
    assert found.value.attrs["criterion"]


def test_the_command_says_it(capsys):
    command = ["gradient", "error", "uniform", "--set", "budget=4", "--problem", "bernoulli:1e-4,1e-5"]
    command += ["--seeds", "2000"]
    assert main(command) == 0
    printed = capsys.readouterr()
    assert "Of 2 of 2 derivatives no interval is known: one rests on 0 of 2,000 runs only" in printed.out
    assert "Warning" not in printed.err
    assert main([*command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["gradient_se"] == [None, None]
    assert max(found["gradient_runs"]) < 30
    assert found["outcomes"] == 2


def test_the_warning_is_about_the_line_of_the_user():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        jb.gradients.expected("error", jb.Uniform(budget=4), jb.bernoulli([1e-4, 1e-5]), seeds=2000)
    assert [one.filename for one in caught] == [__file__]
