"""An algorithm's own criterion in a sweep over numbers of arms: it is told of the arms that there are."""

import jax.numpy as jnp
import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits.sweeps import plan_runs

MEANS = [[0.9, 0.6, 0.1], [0.8, 0.7, 0.3, 0.2, 0.1]]


@jb.algorithm
class AllBut:
    """Returns all arms but the worst, and is right if no other has a mean above those, on average."""

    budget: int
    bonus: float = jb.parameter(per_arm=True, default=0.0)

    def is_right(self, problem, answer):
        worst = jnp.argmin(problem.mean + self.bonus)
        return (jnp.sum(answer) == len(answer) - 1) & ~answer[worst] & (jnp.mean(problem.mean) > 0.4)

    traits = jb.Traits(answers="any", criterion=is_right)

    def select(self, arms, key):
        return jnp.argmin(arms.pulls)

    def done(self, arms):
        return arms.time >= self.budget

    def recommend(self, arms):
        return jnp.arange(len(arms)) != jnp.argmin(arms.mean)


@jb.algorithm
class Above:
    """Returns the arms above a threshold, and is right if these are all such arms."""

    threshold: float

    def is_right(self, problem, answer):
        return jnp.all(answer == (problem.mean >= self.threshold))

    traits = jb.Traits(answers="any", criterion=is_right)

    def select(self, arms, key):
        return jnp.argmin(arms.pulls)

    def done(self, arms):
        return arms.time >= 60

    def recommend(self, arms):
        return arms.mean >= self.threshold


RULES = [AllBut(budget=60), pytest.param(Above(threshold=0.5), marks=pytest.mark.slow)]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
def test_arms_that_fill_up_are_not_judged(rule):
    alone = [jb.simulate(rule, jb.bernoulli(means), seeds=50, root_seed=3) for means in MEANS]
    together = jb.sweep(rule, jb.bernoulli(jb.axis(MEANS)), seeds=50, root_seed=3)
    for one, cell in zip(alone, together.correct.transpose(..., "seed").values, strict=True):
        np.testing.assert_array_equal(cell, one.correct)
    assert together.correct.mean() > 0.3


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
def test_arms_that_fill_up_to_a_power_of_two_are_not_judged(rule, monkeypatch):
    alone = [jb.simulate(rule, jb.bernoulli(means), seeds=50, root_seed=3) for means in MEANS]
    monkeypatch.setattr(plan_runs, "in_powers_of_two", lambda _: True)
    for one, means in zip(alone, MEANS, strict=True):
        assert jb.simulate(rule, jb.bernoulli(means), seeds=50, root_seed=3).equals(one)
