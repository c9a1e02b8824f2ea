"""Every public name has an example in its docstring, and the example shows what it says."""

import doctest
import importlib
import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits.comparison import candidates
from tests.few_rules import FEW

FACES = (jb, jb.problems, jb.theory, jb.gradients, jb.plot)
#: What needs a whole page as an example: `docs/extending/reward_family.md`, whose code is tested as well.
ON_A_PAGE = {"register_problem"}
#: The one algorithm whose example runs each time; those of the others, and what takes long beside them, are slow tests.
OFTEN = {"UGapEc"}
LONG = {
    "Comparison", "Question", "adversary", "compare", "difference", "expected", "matrix", "phase", "plan", "profile",
    "ratios", "softened",
}  # fmt: skip
SELDOM = {cls.__name__ for cls in jb.algorithms.REGISTRY.values()} - OFTEN | LONG
#: What is no public name and has an example, by its module.
INSIDE = {
    "count_pending": "engine.pulls_in_flight",
    "least_change": "report.intervals",
    "kl_upper_bound": "statistics.bernoulli_bounds",
    "map_runs": "transform.equations",
    "map_step": "transform.steps",
}
FLAGS = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL


def public():
    """Return what is public and has a docstring of its own, by its name."""
    return {
        name: thing
        for face in FACES
        for name in face.__all__
        if (inspect.isclass(thing := getattr(face, name)) or inspect.isroutine(thing)) and name not in ON_A_PAGE
    }


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n in SELDOM)) for n in public()])
def test_the_example_of_a_public_name(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where it may write
    monkeypatch.setattr(candidates, "REGISTRY", FEW)
    check(name, public()[name], {"jb": jb, "jax": jax, "jnp": jnp, "np": np})


@pytest.mark.parametrize("name", INSIDE)
def test_the_example_of_what_is_inside(name):
    module = importlib.import_module(f"jaxbandits.{INSIDE[name]}")
    check(name, vars(module)[name], {"jb": jb, **vars(module)})


def check(name, thing, names):
    """Run an example with these names."""
    example = doctest.DocTestParser().get_doctest(inspect.getdoc(thing), names, name, None, 0)
    assert example.examples, f"{name} has no example"
    report = []
    failed, _ = doctest.DocTestRunner(optionflags=FLAGS).run(example, out=report.append)
    assert not failed, "".join(report)
