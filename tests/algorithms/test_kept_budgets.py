"""No run with a fixed budget makes more pulls, with few pulls an arm and with more."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits.algorithms import REGISTRY

OFTEN = ("sequential-halving",)
NEEDED = {"a": 1.0, "k": 3, "threshold": 0.5, "level": 0.5, "delta": 0.1, "epsilon": 0.1}
FIXED = [
    name
    for name, cls in REGISTRY.items()
    if cls.traits.spends is None and "budget" in cls.__dataclass_fields__ and name != "siri"  # of a reservoir
]


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n not in OFTEN)) for n in FIXED])
def test_no_run_makes_more_pulls_than_its_budget(name):
    cls = REGISTRY[name]
    required = [field.name for field in dataclasses.fields(cls) if field.default is dataclasses.MISSING]
    needed = {name: NEEDED[name] for name in required if name != "budget"}
    for arms in (7, 30):
        found = 0
        for budget in (arms, arms + 3, 2 * arms, 4 * arms + 1, 400 * arms):
            try:
                ds = jb.simulate(cls(budget=budget, **needed), jb.bernoulli(np.linspace(0.1, 0.9, arms)), seeds=20)
            except jb.UsageError:  # too small
                continue
            found += 1
            assert int(ds.pulls.max()) <= budget
            assert (ds.status == 0).all()
        assert found


@pytest.mark.slow
def test_each_arm_is_pulled_with_the_smallest_budget():
    ds = jb.simulate(jb.OptMAI(k=1, budget=10), jb.bernoulli([0.9] + [0.1] * 6), seeds=400)
    assert int(ds.pulls.min()) >= 7
    assert ds.correct.mean() > 0.4  # a random arm is the best with 1/7


@pytest.mark.slow
def test_a_budget_may_be_written_as_a_float():
    """5000.0 is a count: states of whole numbers stay so in one run, in a session and with pulls in flight."""
    for budget in (64, 64.0, np.float64(64)):
        rule, problem = jb.DoublingSequentialHalving(budget=budget), jb.bernoulli([0.7, 0.5, 0.2])
        assert jb.run(rule, problem, jax.random.key(0)).pulls.dtype == jnp.int32
        assert (jb.simulate(rule, problem, seeds=2, delay=2).pulls == 64).all()
        assert jb.AskTell(rule, arms=3).ask() in (0, 1, 2)
