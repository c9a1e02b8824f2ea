"""Hyperparameters that are missing, or are none: one line from every constructor, in Python and on the command line."""

import copy
import dataclasses
import inspect
import pickle

import jax.numpy as jnp
import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits.algorithms import REGISTRY
from jaxbandits.cli import main

UGAPE = jb.UGapEc(epsilon=0.1, delta=0.2)
WRONG = [
    ((), {"epsilon": 0.1}, r"^UGapEc needs delta: UGapEc\(epsilon=…, delta=…\)$"),
    ((), {}, "^UGapEc needs epsilon and delta: "),
    ((0.1,), {}, "^UGapEc needs delta: "),
    (
        (),
        {"epsilon": 0.1, "delta": 0.1, "epsilom": 0.1},
        "unknown parameter of UGapEc 'epsilom'; did you mean 'epsilon'",
    ),
    ((0.1,), {"epsilon": 0.1, "delta": 0.1}, "epsilon is given twice"),
    ((0.1,) * 9, {}, "UGapEc has 7 parameters, epsilon, .*, got 9 values"),
]


@pytest.mark.parametrize(("args", "kwargs", "match"), WRONG)
def test_arguments_that_do_not_fit_are_one_line(args, kwargs, match):
    with pytest.raises(jb.UsageError, match=match) as error:
        jb.UGapEc(*args, **kwargs)
    assert "\n" not in str(error.value)
    assert error.value.__context__ is None  # Python's own words do not stand above it


def test_a_rule_of_a_parameter_that_is_none_is_one_line():
    """Building the algorithm ended in a KeyError."""
    with pytest.raises(jb.UsageError, match=r"^unknown rule of a parameter 'counts'; did you mean 'count'"):
        jb.parameter("counts")


@jb.algorithm
class Shrunk:
    """Three numbers that are called like settings of built-in rules, one of them with a value of each arm."""

    budget: int
    b: float = jb.parameter("positive", default=1.0, per_arm=True)
    variance: float = jb.parameter("positive", default=1.0)
    radius: float = jb.parameter("positive", default=1.0)

    def select(self, arms, key):
        return jnp.argmax(arms.mean + self.radius * jnp.sqrt(self.variance / (self.b + arms.pulls)))

    def done(self, arms):
        return arms.time >= self.budget

    def recommend(self, arms):
        return jnp.argmax(arms.total / (self.b + arms.pulls))


@pytest.mark.parametrize("b", [*(pytest.param(b, marks=pytest.mark.slow) for b in (0.5, 7.0)), [1.0, 2.0, 3.0]])
def test_a_users_number_is_no_setting_that_has_its_name(b):
    """Own `b` was taken for the range of a session's rewards; own `variance` and `radius` ended in tracebacks."""
    rule = Shrunk(budget=9, b=b)
    assert np.all(jb.simulate(rule, jb.bernoulli([0.7, 0.5, 0.2]), seeds=3).pulls == 9)
    session = jb.AskTell(rule, arms=3)
    session.tell(session.ask(), 1.0)
    assert session.intervals().max() == 1.0
    with pytest.raises(jb.UsageError, match=r"outside \[0, 1\]"):
        session.tell(session.ask(), 2.0)
    unbounded = jb.AskTell(rule, arms=3, bounded=False)
    unbounded.tell(unbounded.ask(), 20.0)
    assert np.all(np.isinf(unbounded.intervals()))  # one reward of an unknown variance


@pytest.mark.parametrize("name", REGISTRY)
def test_every_algorithm_says_what_it_needs(name, capsys):
    cls = REGISTRY[name]
    required = [field.name for field in dataclasses.fields(cls) if field.default is dataclasses.MISSING]
    assert required
    with pytest.raises(jb.UsageError, match=f"^{cls.__name__} needs {' and '.join(required)}: "):
        cls()
    assert main(["simulate", name, "--problem", "bernoulli:0.7,0.5"]) == 2
    assert capsys.readouterr().err == f"jaxbandits: {name} needs {', '.join(required)}\n"


def test_a_constructor_stays_what_it_was():
    assert list(inspect.signature(jb.UGapEc).parameters)[:3] == ["epsilon", "delta", "m"]
    assert jb.UGapEc(0.1, 0.2) == UGAPE == pickle.loads(pickle.dumps(UGAPE)) == copy.deepcopy(UGAPE)
    assert dataclasses.replace(UGAPE, delta=0.3).delta == 0.3
