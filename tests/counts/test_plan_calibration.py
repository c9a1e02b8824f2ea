"""Whether plans are right about what they do not know: histories whose truth is drawn from the prior."""

import sys
from typing import NamedTuple

import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits.counts.anytime_confidence import family_settings
from jaxbandits.counts.count_tables import Columns, read_counts
from jaxbandits.counts.further_pulls import FurtherPulls
from jaxbandits.counts.marginals import chances
from jaxbandits.counts.posterior_laws import posterior_of

pytestmark = pytest.mark.slow

HISTORIES, ARMS, DRAWS, CAP = 2000, 3, 99, 10_000
RULE = jb.EBTCI(delta=0.05, epsilon=0.1, **family_settings("coins"))


class Histories(NamedTuple):
    """For each history, `(2000, …)`: what was said of it, and what happened."""

    best: np.ndarray  # probabilities of being the best arm
    truth: np.ndarray  # the arm that is
    plans: list[FurtherPulls]
    further: np.ndarray  # further pulls of one more run, with the true means


@pytest.fixture(scope="module")
def histories():
    """All histories are cells of one sweep, which makes the runs of their plans; and those of a further run of each."""
    random = np.random.default_rng(35)
    means = random.uniform(size=(HISTORIES, ARMS)).astype(np.float32)  # the prior
    pulls = random.integers(0, 40, size=means.shape)  # unequal, and sometimes none
    successes = random.binomial(pulls, means)
    tables = [
        read_counts(np.column_stack(pair), Columns(), None, 1.0, "") for pair in zip(pulls, successes, strict=True)
    ]
    posteriors = [posterior_of(table, None, 1.0) for table in tables]
    truths = [jb.problems.Bernoulli(p, history=one.problem.history) for p, one in zip(means, posteriors, strict=True)]

    def more(problems, **options):
        named = {str(number): problem for number, problem in enumerate(problems)}
        ds = jb.sweep(RULE, named, max_pulls=CAP, **options)
        return np.where(ds.status == 0, ds.pulls - pulls.sum(axis=1)[:, None], np.inf)

    drawn = np.sort(more([one.problem for one in posteriors], seeds=DRAWS), axis=1)
    best = np.asarray([chances(one.marginals, 0.1).best for one in posteriors])  # its quadrature follows the epsilon
    plans = [FurtherPulls("eb-tci", RULE, each, CAP, 0.0) for each in drawn]
    further = more(truths, seeds=1, first_seed=10**6)[:, 0]
    return tables, Histories(best, np.argmax(means, axis=1), plans, further)


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


def test_the_sweep_makes_the_runs_of_plans(histories):
    tables, said = histories
    counts = np.column_stack([tables[7].pulls, tables[7].total])
    plan = jb.plan(counts, epsilon=0.1, rules=["eb-tci"], draws=DRAWS, max_pulls=CAP - int(tables[7].pulls.sum()))
    assert np.array_equal(plan.rules[0].more, said.plans[7].more)
    assert [arm.best for arm in plan.arms] == pytest.approx(said.best[7], abs=1e-9)


def test_probabilities_of_being_best_are_calibrated(histories):
    _, said = histories
    happened = np.arange(ARMS) == said.truth[:, None]
    parts = {name: round(float(x), 4) for name, x in decomposed(said.best.ravel(), happened.ravel()).items()}
    # Spiegelhalter (1986): under the stated probabilities the score of the likeliest arm is about normal.
    top = np.argmax(said.best, axis=1)
    p, o = said.best.max(axis=1), top == said.truth
    z = np.sum((o - p) * (1 - 2 * p)) / np.sqrt(np.sum((1 - 2 * p) ** 2 * p * (1 - p)))
    bias = np.sum(o - p) / np.sqrt(np.sum(p * (1 - p)))
    sys.stdout.write(f"\n{parts}; likeliest arm: said {p.mean():.3f}, happened {o.mean():.3f}; z {z:.2f}, {bias:.2f}\n")
    assert abs(z) < 5.3  # a false alarm has a probability of 1e-7
    assert abs(bias) < 5.3
    assert parts["reliability"] < 0.005
    assert parts["resolution"] > parts["uncertainty"] / 3


def test_intervals_of_further_pulls_cover(histories):
    _, said = histories
    low, high = np.transpose([plan.interval for plan in said.plans])
    share, first = np.mean((low <= said.further) & (said.further <= high)), np.mean(said.further == 0)
    truncated = np.mean(np.isinf(said.further))
    sys.stdout.write(f"\ncovered {share:.4f} of {HISTORIES}; decided at once {first:.3f}, truncated {truncated:.4f}\n")
    assert abs(share - 0.9) < 5.3 * np.sqrt(0.09 / HISTORIES)
