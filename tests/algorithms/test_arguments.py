"""Hyperparameters that are missing, or are none: one line from every constructor, in Python and on the command line."""

import copy
import dataclasses
import inspect
import pickle

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
