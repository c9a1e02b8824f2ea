"""Lower bounds for answers of any number of arms, against a search for the nearest instance with another answer."""

import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits import theory

GRID = np.linspace(0.0005, 0.9995, 3997)


def good(means, epsilon, multiplicative):
    best = means.max()
    return tuple(means >= ((1 - epsilon) * best if multiplicative else best - epsilon))


def kl(p, q):
    return p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q))


def nearest(means, answer_of):
    """The sum of 1 / d of the nearest means that change the answer, and of those just before them on the grid."""
    answer, found = answer_of(means), []
    for arm in range(len(means)):
        others = [*np.where(np.arange(len(means)) == arm, GRID[:, None], means)]
        changed = np.asarray([answer_of(other) != answer for other in others])
        costs = kl(means[arm], GRID)
        place = np.flatnonzero(changed)[np.argmin(costs[changed])] if changed.any() else None
        before = place + (1 if place is not None and GRID[place] < means[arm] else -1) if place is not None else None
        found.append((0, 0) if place is None else (1 / costs[place], 1 / costs[before]))
    return np.sum(found, axis=0)


@pytest.mark.parametrize("multiplicative", [False, True])
def test_all_good_arms_is_the_nearest_other_answer_of_each_arm(multiplicative):
    random = np.random.default_rng(3)
    for _ in range(5):
        means, epsilon = random.uniform(0.05, 0.95, random.integers(2, 5)), random.uniform(0.05, 0.4)
        least, most = nearest(means, lambda mu, epsilon=epsilon: good(mu, epsilon, multiplicative))
        bound = theory.all_good_pulls_lower_bound(means, 0.05, epsilon, multiplicative)
        time = float(bound / theory.binary_relative_entropy(0.05))
        assert least * 0.999 <= time <= most * 1.001


def test_above_a_threshold_each_arm_is_told_from_it():
    means = np.asarray([0.8, 0.55, 0.3])
    bound = theory.threshold_pulls_lower_bound(means, 0.05, 0.6)
    times = 1 / kl(means, 0.6)
    assert float(bound) == pytest.approx(float(times.sum() * theory.binary_relative_entropy(0.05)))
    assert float(bound) > times.sum() * np.log(1 / (2.4 * 0.05))
    eased = theory.threshold_pulls_lower_bound(means, 0.05, 0.6, 0.1)
    far = [kl(0.8, 0.5), max(kl(0.55, 0.5), kl(0.55, 0.7)), kl(0.3, 0.7)]
    assert float(eased / theory.binary_relative_entropy(0.05)) == pytest.approx(sum(1 / x for x in far))


def test_one_arm_above_a_threshold_is_the_easiest_one_or_all_bad_ones():
    times = 1 / kl(np.asarray([0.8, 0.55, 0.3]), 0.5)
    level = theory.binary_relative_entropy(0.05)
    assert float(theory.one_above_pulls_lower_bound([0.8, 0.55, 0.3], 0.05, 0.5) / level) == pytest.approx(times[0])
    bad = kl(np.asarray([0.8, 0.55, 0.3]), 0.9)
    none = theory.one_above_pulls_lower_bound([0.8, 0.55, 0.3], 0.05, 0.9)
    assert float(none / level) == pytest.approx(np.sum(1 / bad))
    assert float(none) == float(theory.threshold_pulls_lower_bound([0.8, 0.55, 0.3], 0.05, 0.9))
    several = theory.one_above_pulls_lower_bound(np.asarray([[0.8, 0.2], [0.3, 0.4]]), 0.05, 0.5)
    assert several.shape == (2,)
    assert float(several[0] / level) == pytest.approx(times[0])
    on_it = [theory.one_above_pulls_lower_bound(means, 0.05, 0.5) for means in ([0.5, 0.2], [0.8, 0.5])]
    assert [np.isinf(float(bound)) for bound in on_it] == [True, False]


def test_normal_arms_need_at_least_what_the_gaps_say():
    """At least twice the complexity for variance 1, unless one arm alone is good: to raise it changes no answer."""
    means = np.asarray([1.0, 0.8, 0.3, -0.2])
    for epsilon in (0.1, 0.4, 0.9):
        alone = np.sum(means >= 1 - epsilon) == 1
        ratio = theory.all_good_pulls_lower_bound(means, 0.05, epsilon, family="gaussian") / (
            2 * theory.h_all_good(means, epsilon) * theory.binary_relative_entropy(0.05)
        )
        assert alone or float(ratio) >= 1 - 1e-9


def test_where_no_other_answer_is_near_there_is_no_bound():
    assert float(theory.threshold_pulls_lower_bound([0.7, 0.2], 0.1, 1.5)) == 0
    assert float(theory.threshold_pulls_lower_bound([0.7, 0.2], 0.5, 0.4)) == 0
    assert float(theory.one_above_pulls_lower_bound([0.7, 0.2], 0.1, 1.5)) == 0
    assert float(theory.threshold_pulls_lower_bound([0.7, 0.2], 0.1, 0.2)) == np.inf
    assert float(theory.all_good_pulls_lower_bound([0.75, 0.25], 0.1, 0.5)) == np.inf


def test_a_mean_is_on_the_line_up_to_rounding():
    """0.9 - 0.3 is not 0.6, and the bound was 1e32."""
    for means, epsilon, multiplicative in (([0.9, 0.6, 0.1], 0.3, False), ([0.8, 0.6, 0.3], 0.25, True)):
        assert float(theory.all_good_pulls_lower_bound(means, 0.05, epsilon, multiplicative)) == np.inf
        assert float(theory.h_all_good(means, epsilon, multiplicative)) == np.inf
        beside = [means[0], means[1] + 1e-6, means[2]]
        assert 1e10 < float(theory.h_all_good(beside, epsilon, multiplicative)) < 1e13


def test_at_the_end_of_the_range_no_mean_lies_below():
    """Poisson means are at least 0: an arm at 0 that may be returned needs no pull."""
    assert float(theory.threshold_pulls_lower_bound([0.0, 0.5], 0.05, 0.0, family="poisson")) == 0
    assert float(theory.one_above_pulls_lower_bound([0.0, 0.0], 0.05, 0.0)) == 0
    assert float(theory.threshold_pulls_lower_bound([0.0, 0.5], 0.05, 0.25, epsilon=0.25)) == 0
    assert float(theory.threshold_pulls_lower_bound([1.0, 0.5], 0.05, 1.0)) == np.inf
    assert float(theory.all_good_pulls_lower_bound([0.0, 0.3, 0.9], 0.05, 0.9)) == np.inf  # the best may be 0.9 + x


def test_only_normal_rewards_have_a_standard_deviation():
    for formula, own in (
        (theory.threshold_pulls_lower_bound, (0.6,)),
        (theory.one_above_pulls_lower_bound, (0.6,)),
        (theory.all_good_pulls_lower_bound, (0.1,)),
    ):
        plain, other = (formula([0.7, 0.5], 0.05, *own, sd=sd) for sd in (1.0, 0.5))
        assert float(plain) == float(other)
        assert float(formula([0.7, 0.5], 0.05, *own, family="gaussian", sd=0.5)) != float(plain)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.all_good_pulls_lower_bound([0.5], 0.05, 0.1), "two arms or more"),
        (lambda: theory.h_all_good([0.5], 0.1), "two arms or more"),
        (lambda: theory.threshold_pulls_lower_bound(0.5, 0.1, 0.6), "means must have shape"),
        (
            lambda: theory.h_all_good([-1.0, -2.0], 0.1, multiplicative=True),
            "multiplicative epsilon must be",
        ),
        (lambda: theory.threshold_pulls_lower_bound([0.7], 0.1, np.inf), "threshold must be finite"),
        (lambda: theory.all_good_pulls_lower_bound([0.7, 0.2], 0.1, 1.2, True), "multiplicative epsilon"),
        (lambda: theory.h_all_good([0.7, 0.2], -0.1), "epsilon must be"),
        (lambda: theory.threshold_pulls_lower_bound([1.7], 0.1, 0.5), "means must lie"),
    ],
)
def test_values_outside_their_range_are_refused(call, message):
    with pytest.raises(jb.UsageError, match=message):
        call()
