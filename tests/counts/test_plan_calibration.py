"""Whether plans are right about what they do not know: histories whose truth is drawn from the prior."""

import sys

import jax.numpy as jnp
import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits.problems.pull_history import History

pytestmark = pytest.mark.slow

HISTORIES, ARMS, DELTA, EPSILON, CAP = 500, 3, 0.05, 0.05, 40_000


@pytest.fixture(scope="module")
def histories():
    """For each history: the probabilities of being best, which arm is, the plan's rule, and a further run from it."""
    random, found = np.random.default_rng(35), []
    for number in range(HISTORIES):
        truth = random.uniform(size=ARMS)
        pulls = random.integers(0, 40, size=ARMS)  # unequal, and sometimes none
        successes = random.binomial(pulls, truth)
        plan = jb.plan(
            np.column_stack([pulls, successes]), delta=DELTA, epsilon=EPSILON, rules=["eb-tci"], draws=199,
            max_pulls=CAP, root_seed=number,
        )  # fmt: skip
        (rule,) = plan.rules
        problem = jb.problems.Bernoulli(jnp.float32(truth), history=History.of_counts(pulls, successes))
        made = int(pulls.sum())
        again = jb.simulate(rule.rule, problem, seeds=1, first_seed=10**6 + number, max_pulls=made + CAP)
        further = float(again.pulls[0]) - made if int(again.status[0]) == 0 else np.inf
        found.append(([arm.best for arm in plan.arms], int(np.argmax(truth)), rule, further))
    return found


def decomposed(said, happened, bins=10):
    """Brier score, and its parts by Murphy (1973): reliability - resolution + uncertainty, and what bins leave."""
    place = np.minimum((said * bins).astype(int), bins - 1)
    weight = np.bincount(place, minlength=bins)
    rate, mean = (np.bincount(place, x, bins) / np.maximum(weight, 1) for x in (happened, said))
    share, overall = weight / len(said), happened.mean()
    return {
        "brier": np.mean((said - happened) ** 2),
        "reliability": np.sum(share * (mean - rate) ** 2),
        "resolution": np.sum(share * (rate - overall) ** 2),
        "uncertainty": overall * (1 - overall),
    }


def test_probabilities_of_being_best_are_calibrated(histories):
    said = np.asarray([probabilities for probabilities, _, _, _ in histories])
    best = np.asarray([arm for _, arm, _, _ in histories])
    happened = np.arange(ARMS) == best[:, None]
    parts = decomposed(said.ravel(), happened.ravel().astype(float))
    sys.stdout.write(f"\nall arms: { {name: round(float(x), 4) for name, x in parts.items()} }\n")
    # Spiegelhalter (1986): under the stated probabilities the score of the likeliest arm is about normal.
    top = np.argmax(said, axis=1)
    p, o = said[np.arange(len(said)), top], top == best
    z = np.sum((o - p) * (1 - 2 * p)) / np.sqrt(np.sum((1 - 2 * p) ** 2 * p * (1 - p)))
    bias = np.sum(o - p) / np.sqrt(np.sum(p * (1 - p)))
    sys.stdout.write(f"likeliest arm: said {p.mean():.3f}, happened {o.mean():.3f}; z = {z:.2f}, {bias:.2f}\n")
    assert abs(z) < 5.3  # a false alarm has a probability of 1e-7
    assert abs(bias) < 5.3
    assert parts["reliability"] < 0.01


def test_intervals_of_further_pulls_cover(histories):
    covered = []
    for _, _, rule, further in histories:
        low, high = rule.interval
        covered.append(low <= further <= high)
    ties = np.mean([rule.interval[0] == rule.interval[1] for _, _, rule, _ in histories])
    truncated = np.mean([np.isinf(further) for _, _, _, further in histories])
    said = f"covered {np.mean(covered):.3f} of {len(covered)}; decided at once {ties:.3f}, truncated {truncated:.3f}"
    sys.stdout.write(f"\n{said}\n")
    assert abs(np.mean(covered) - 0.9) < 5.3 * np.sqrt(0.09 / len(covered))
