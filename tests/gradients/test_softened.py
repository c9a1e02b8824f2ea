"""Softened index policies: their gradients are those of the enumerated law; at temperature 0 they are the policy."""

import math

import jax
import numpy as np
import pytest

import jaxbandits as jb

MEANS, BUDGET, TEMPERATURE = [0.6, 0.45], 7, 0.2
SEEDS = 20_000


def error(a, b):
    """P(error) of softened UCB-E on two Bernoulli arms, by all states; equal means are answered by a fair coin."""
    states = {
        (1, s0, 1, s1): math.prod(m if s else 1 - m for s, m in zip((s0, s1), MEANS, strict=True))
        for s0 in (0, 1)
        for s1 in (0, 1)
    }
    for _ in range(BUDGET - 2):
        after = {}
        for (n0, s0, n1, s1), weight in states.items():
            index = [s / n + b * math.sqrt(a / n) for s, n in ((s0, n0), (s1, n1))]
            first = 1 / (1 + math.exp((index[1] - index[0]) / TEMPERATURE))
            for arm, chosen in ((0, first), (1, 1 - first)):
                for success, p in ((1, MEANS[arm]), (0, 1 - MEANS[arm])):
                    key = (n0 + (arm == 0), s0 + success * (arm == 0), n1 + (arm == 1), s1 + success * (arm == 1))
                    after[key] = after.get(key, 0.0) + weight * chosen * p
        states = after
    return sum(
        weight * (0.5 if s0 * n1 == s1 * n0 else float(s1 * n0 > s0 * n1))
        for (n0, s0, n1, s1), weight in states.items()
    )


@pytest.mark.parametrize("wrt", ["a", pytest.param("b", marks=pytest.mark.slow)])
def test_the_gradient_is_that_of_the_enumerated_law(wrt):
    """Within 5.5 standard errors: a false alarm in 10^7."""
    at = {"a": 0.7, "b": 0.8}
    policy = jb.gradients.softened(jb.UCBE(budget=BUDGET, **at), TEMPERATURE)
    found = jb.gradients.expected("error", policy, jb.bernoulli(MEANS), wrt, seeds=SEEDS)
    up, down = (error(**{**at, wrt: at[wrt] + h}) for h in (1e-5, -1e-5))
    assert abs(float(found.value) - error(**at)) < 5.5 * float(found.value_se)
    assert abs(float(found.gradient) - (up - down) / 2e-5) < 5.5 * float(found.gradient_se)
    assert float(found.gradient_se) < 0.01
    assert "softened" in found.attrs["estimator"]


@pytest.mark.slow
def test_means_have_their_score_too():
    policy = jb.gradients.softened(jb.UCBE(budget=BUDGET, a=0.7, b=0.8), TEMPERATURE)
    found = jb.gradients.expected("error", policy, jb.bernoulli(MEANS), "mean", seeds=SEEDS)
    own = MEANS.copy()
    try:
        MEANS[0] = own[0] + 1e-5
        up = error(0.7, 0.8)
        MEANS[0] = own[0] - 1e-5
        down = error(0.7, 0.8)
    finally:
        MEANS[:] = own
    assert abs(float(found.gradient[0]) - (up - down) / 2e-5) < 5.5 * float(found.gradient_se[0])


@pytest.mark.slow
@pytest.mark.parametrize("policy", [jb.UCBE(budget=60, a=2.0), jb.UCBE(budget=60, eta=2.0)])
def test_at_temperature_0_it_is_the_policy(policy):
    """Indices of normal arms do not tie: not one pull of one run is another."""
    problem = jb.gaussian([0.6, 0.4, 0.2], 0.5)
    pulls = {"of_each": lambda problem, state, recommended: state.pulls}
    own = jb.simulate(policy, problem, seeds=30, metrics=pulls)
    soft = jb.simulate(jb.gradients.softened(policy.resolved(problem), 1e-7), problem, seeds=30, metrics=pulls)
    np.testing.assert_array_equal(own.of_each, soft.of_each)
    np.testing.assert_array_equal(own.recommended, soft.recommended)
    assert len(np.unique(own.of_each)) > 5


@pytest.mark.slow
def test_at_a_high_temperature_it_is_a_fair_die():
    """4 000 pulls of two arms, after the first two: a false alarm in 10^8."""
    policy = jb.gradients.softened(jb.UCBE(budget=42, a=1.0), 1e6)
    pulls = {"of_each": lambda problem, state, recommended: state.pulls}
    runs = jb.simulate(policy, jb.bernoulli([0.9, 0.1]), seeds=100, metrics=pulls)
    assert abs(float(runs.of_each.sel(arm=0).sum()) - 100 - 2000) < 6 * math.sqrt(4000 / 4)


@jb.algorithm
class Greedy(jb.UCBE):
    """Another policy than that of its indices, which was softened in its place."""

    def select(self, arms, key):
        return arms.mean.argmax()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: jb.gradients.softened(jb.LUCB(epsilon=0.1, delta=0.1), 0.1), "UCBE and GapE, not LUCB"),
        (lambda: jb.gradients.softened(Greedy(budget=9, a=1.0), 0.1), "UCBE and GapE, not Greedy"),
        (lambda: jb.gradients.softened(jb.UCBE(budget=9, adaptive=True), 0.1), "estimates its exploration"),
        (lambda: jb.gradients.softened(jb.UCBE(budget=9, a=1.0), 0), "temperature must be positive"),
        (lambda: expected("budget"), "did you mean|budget"),
        (lambda: expected("eta"), "eta"),
        (lambda: expected("a", smoothing=0.1), "whose derivative is exact"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(jb.UsageError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


def expected(wrt, **options):
    policy = jb.gradients.softened(jb.UCBE(budget=9, a=1.0), 0.1)
    return jb.gradients.expected("error", policy, jb.bernoulli(MEANS), wrt, seeds=5, **options)


@pytest.mark.slow
def test_runs_are_those_of_their_keys():
    """Alone as in the engine."""
    policy = jb.gradients.softened(jb.UCBE(budget=20, a=1.0), 0.3)
    rows = jb.simulate(policy, jb.bernoulli(MEANS), seeds=3, root_seed=4)
    for seed in range(3):
        state = jb.run(policy, jb.bernoulli(MEANS), jax.random.fold_in(jax.random.key(4), seed))
        np.testing.assert_array_equal(state.answer, rows.recommended[seed])
