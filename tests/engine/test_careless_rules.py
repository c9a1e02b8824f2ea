"""Rules written carelessly, with products that are added, logarithms, means and sums: each run has its own bits."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxbandits as jb

PROBLEM = jb.gaussian([0.5, 0.45, 0.3, 0.2, 0.1], 0.7)
ROOT, RUNS = 3, 130


class Base:
    """What the three have in common: a budget, and a score of each arm that is computed as the run goes on."""

    budget: Any

    def init(self, arms, key):
        return arms.mean * 0.1

    def done(self, state, arms):
        return arms.time >= self.budget

    def recommend(self, state, arms):
        return jnp.argmax(arms.total / arms.pulls + 0.1 * state)


@jb.algorithm
class Index(Base):
    """An index of means, logarithms and roots, with a part that forgets."""

    budget: Any

    def index(self, state, arms):
        mean = arms.total / arms.pulls
        return mean + 0.3 * jnp.sqrt(jnp.log(1.0 + arms.time) * 2.0 / arms.pulls) + 0.05 * state

    def select(self, state, arms, key):
        return jnp.argmax(self.index(state, arms))

    def update(self, state, arms, arm, reward):
        return 0.9 * state + 0.1 * self.index(state, arms)


@jb.algorithm
class Weights(Base):
    """Exponential weights: a softmax, a draw, a sum of products."""

    budget: Any

    def share(self, state, arms):
        return 0.8 * jax.nn.softmax(state) + 0.2 / arms.count

    def select(self, state, arms, key):
        return jax.random.choice(key, len(arms), p=self.share(state, arms))

    def update(self, state, arms, arm, reward):
        share = self.share(state, arms)
        value = jnp.sum(share * arms.total / arms.pulls)
        gain = (arms.total[arm] / arms.pulls[arm] - value) / share[arm]
        return state.at[arm].add(0.05 * gain) - 0.01 * jnp.mean(state)


@jb.algorithm
class Spread(Base):
    """A posterior draw with a spread of variances, by powers and normal numbers."""

    budget: Any

    def spread(self, arms):
        mean = arms.total / arms.pulls
        return mean, jnp.std(mean) * arms.pulls**-0.5 + 0.1 * jnp.exp(-0.01 * arms.pulls)

    def select(self, state, arms, key):
        mean, spread = self.spread(arms)
        return jnp.argmax(mean + jax.random.normal(key, mean.shape) * spread)

    def update(self, state, arms, arm, reward):
        mean, spread = self.spread(arms)
        draw = mean - reward * spread
        return state * 0.95 + draw * jnp.var(draw)


def score(problem, state, answer):
    """Show what the rule has computed, bit for bit."""
    del problem, answer
    return state.own


def blend(problem, state, answer):
    """Compute a number that a compiler may round in several ways."""
    return jnp.sum(jax.nn.softmax(state.own) * problem.mean + 0.3 * state.total * answer) - jnp.log(
        1.0 + state.pulls[1]
    )


METRICS = {"score": score, "blend": blend}


@pytest.mark.bits
@pytest.mark.parametrize("rule", [Index, *(pytest.param(rule, marks=pytest.mark.slow) for rule in (Weights, Spread))])
def test_a_run_has_the_same_bits_alone_in_any_batch_and_on_any_number_of_devices(rule):
    algorithm = rule(budget=60)
    whole = jb.simulate(algorithm, PROBLEM, seeds=RUNS, root_seed=ROOT, metrics=METRICS, devices=1)

    def check(part, seeds):
        for name in (*METRICS, "pulls", "recommended"):
            np.testing.assert_array_equal(part[name].values, whole[name].values[seeds], err_msg=name)

    part = jb.simulate(algorithm, PROBLEM, 24, root_seed=ROOT, metrics=METRICS, devices=2, lanes=9, chunk=7)
    check(part, slice(24))
    for seed in range(2):
        state = jb.run(algorithm, PROBLEM, jax.random.fold_in(jax.random.key(ROOT), seed))
        np.testing.assert_array_equal(state.own, whole["score"].values[seed])


@jb.algorithm
class Shares(Base):
    """Constants that hang on the number of arms beside others; the answer tells the bits of the state."""

    budget: Any

    def select(self, state, arms, key):
        return jnp.argmax(state + 1 / jnp.sqrt(arms.pulls))

    def update(self, state, arms, arm, reward):
        return 0.9 * jnp.exp(-(arms.mean / len(arms) * 0.7) * state) + jnp.std(arms.mean) * 0.7 / len(arms)

    def recommend(self, state, arms):
        return (jax.lax.bitcast_convert_type(state, jnp.int32).sum() & 0xFFFF) % arms.count


@pytest.mark.bits
@pytest.mark.slow
def test_constants_beside_the_number_of_arms_have_the_bits_of_the_problem_alone():
    problems = [jb.gaussian(np.linspace(0.8, 0.2, arms), 0.5) for arms in (5, 7)]  # one program for both
    grid = jb.sweep(Shares(budget=60), problems, seeds=200)
    for place, problem in enumerate(problems):
        alone = jb.simulate(Shares(budget=60), problem, seeds=200)
        part = grid.isel(problem=place).transpose("seed", ...)
        for name in ("pulls", "recommended"):
            shape = alone[name].shape
            np.testing.assert_array_equal(part[name].values[tuple(map(slice, shape))], alone[name].values)
