"""Rules written carelessly, with products that are added, logarithms, means and sums: each run has its own bits."""

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxbandits as jb

PROBLEM = jb.gaussian([0.5, 0.45, 0.3, 0.2, 0.1], 0.7)
ROOT, RUNS = 3, 130


class State(NamedTuple):
    pulls: jax.Array  # int32 (K,)
    sums: jax.Array  # float32 (K,)
    score: jax.Array  # float32 (K,): what the rule computes as it goes


class Rule:
    """What the three have in common: one pull of each arm first, and a budget."""

    budget: Any

    def init(self, problem, key):
        first = jax.vmap(lambda arm: problem.reward(key, arm, 0))(jnp.arange(problem.arms))
        return State(jnp.ones(problem.arms, jnp.int32), first, first * 0.1)

    def pulled(self, problem, key, state, arm, score):
        reward = problem.reward(key, arm, state.pulls[arm])
        return State(state.pulls.at[arm].add(1), state.sums.at[arm].add(reward), score)

    def done(self, state):
        return jnp.sum(state.pulls) >= self.budget

    def recommend(self, state):
        return jnp.arange(len(state.sums)) == jnp.argmax(state.sums / state.pulls + 0.1 * state.score)


@jb.pytree
@dataclasses.dataclass(frozen=True)
class Index(Rule):
    """An index of means, logarithms and roots, with a part that forgets."""

    budget: Any

    def step(self, problem, key, state):
        time = jnp.sum(state.pulls)
        mean = state.sums / state.pulls
        index = mean + 0.3 * jnp.sqrt(jnp.log(1.0 + time) * 2.0 / state.pulls) + 0.05 * state.score
        return self.pulled(problem, key, state, jnp.argmax(index), 0.9 * state.score + 0.1 * index)


@jb.pytree
@dataclasses.dataclass(frozen=True)
class Weights(Rule):
    """Exponential weights: a softmax, a draw with a key of the step's own, a sum of products."""

    budget: Any

    def step(self, problem, key, state):
        share = 0.8 * jax.nn.softmax(state.score) + 0.2 / len(state.sums)
        arm = jax.random.choice(jax.random.fold_in(key, jnp.sum(state.pulls)), len(state.sums), p=share)
        value = jnp.sum(share * state.sums / state.pulls)
        gain = (state.sums[arm] / state.pulls[arm] - value) / share[arm]
        return self.pulled(
            problem, key, state, arm, state.score.at[arm].add(0.05 * gain) - 0.01 * jnp.mean(state.score)
        )


@jb.pytree
@dataclasses.dataclass(frozen=True)
class Spread(Rule):
    """A posterior draw with a spread of variances, by powers and normal numbers."""

    budget: Any

    def step(self, problem, key, state):
        mean = state.sums / state.pulls
        noise = jax.random.normal(jax.random.fold_in(key, jnp.sum(state.pulls)), mean.shape)
        spread = jnp.std(mean) * state.pulls**-0.5 + 0.1 * jnp.exp(-0.01 * state.pulls)
        draw = mean + noise * spread
        return self.pulled(problem, key, state, jnp.argmax(draw), state.score * 0.95 + draw * jnp.var(draw))


def score(problem, state, answer):
    """Show what the rule has computed, bit for bit."""
    del problem, answer
    return state.score


def blend(problem, state, answer):
    """Compute a number that a compiler may round in several ways."""
    return jnp.sum(jax.nn.softmax(state.score) * problem.mean + 0.3 * state.sums * answer) - jnp.log(
        1.0 + state.pulls[1]
    )


METRICS = {"score": score, "blend": blend}


@pytest.mark.bits
@pytest.mark.parametrize("rule", [Index, Weights, Spread])
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
        np.testing.assert_array_equal(state.score, whole["score"].values[seed])
