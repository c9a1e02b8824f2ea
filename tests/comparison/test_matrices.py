"""Comparisons on a score matrix count evaluations, and never advise more than the matrix has."""

import dataclasses
from itertools import permutations

import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits.cli.run_commands import compare
from jaxbandits.comparison.compared_rows import Row
from jaxbandits.comparison.equal_reading import EqualReading, read_equally
from jaxbandits.comparison.guarantees import holds_without_replacement
from jaxbandits.comparison.result import Comparison
from jaxbandits.problems import synthetic_scores

SCORES = synthetic_scores(items=30, candidates=4, seed=1)


def row(algorithm, pulls, label="rule"):
    wrong = np.zeros(len(pulls), bool)
    return Row(label, algorithm, np.asarray(pulls), wrong, 0, limit=None, bound=None, theorem="", cells=120)


def comparison(*rows, equal=None):
    return Comparison(
        equal=equal,
        problem=jb.matrix(SCORES), delta=0.2, epsilon=0.0, m=1, seeds=40, max_pulls=None, fixed_confidence=list(rows),
        budget=None, given_budget=False, fixed_budget=[], lower_bound=None, left_out=[],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("algorithm", "holds"),
    [
        (jb.LUCB(epsilon=0.1, delta=0.1, m=2), True),
        (jb.LUCB(epsilon=0.1, delta=0.1, exploration="kl2013"), False),
        (jb.UGapEc(epsilon=0.1, delta=0.1), True),
        (jb.UGapEc(epsilon=0.1, delta=0.1, variance=True), False),
        (jb.SuccessiveElimination(delta=0.1), True),
        (jb.KLRace(epsilon=0.1, delta=0.1, growth=1.1), True),
        (jb.BernsteinRace(epsilon=0.1, delta=0.1), False),
        (jb.LilUCB(delta=0.1), False),
        (jb.TrackAndStop(delta=0.1), False),
        (jb.LUCB(epsilon=0.1, delta=0.1, radius="serfling"), True),
        (jb.UGapEc(epsilon=0.1, delta=0.1, radius="betting"), True),
        (jb.PairedRace(epsilon=0.1, delta=0.1), True),
        (jb.UniformGLR(delta=0.1, stopping="betting"), True),
    ],
)
def test_which_proofs_hold_without_replacement(algorithm, holds):
    """Those that are unions over numbers of pulls, or know the population; not others by martingales or variances."""
    assert holds_without_replacement(algorithm) == holds
    assert row(algorithm, [100]).proved == holds


def test_the_advice_is_in_evaluations_and_says_what_is_saved():
    proved = row(jb.LUCB(epsilon=0.0, delta=0.2), [90] * 40, "lucb")
    quick = row(jb.LilUCB(delta=0.2), [50] * 40, "lil-ucb")
    found = comparison(quick, proved)
    assert found.best is proved
    text = " ".join(str(found).split())
    assert "use lucb: 90 evaluations on average" in text
    assert "Reading all 120 cells is never wrong; lucb saves 25% of them." in text
    assert "no proof without replacement" in text
    assert "mean evaluations" in text
    assert found.as_dict()["fixed_confidence"][0]["unit"] == "evaluations"
    assert found.as_dict()["fixed_confidence"][0]["cells"] == 120
    large = comparison(dataclasses.replace(proved, cells=30_000))  # 99.7%, and not all
    assert "lucb saves 99.7% of them." in " ".join(str(large).split())
    everything = comparison(row(jb.LUCB(epsilon=0.0, delta=0.2), [120] * 40, "lucb"))
    assert "lucb saves nothing" in " ".join(str(everything).split())


@pytest.mark.parametrize("paired", [True, False])
def test_equal_reading_errs_as_often_as_counting_says(paired):
    """Against the mean over all orders of three items; a tie is wrong in half."""
    problem = jb.matrix([[0.0, 1.0], [1.0, 1.0], [0.5, 0.0]], paired=paired)
    table, best = np.asarray(problem.table), 1
    orders = [(p, p) if paired else (p, q) for p in permutations(range(3)) for q in permutations(range(3))]
    wanted = np.zeros(3)
    for first, second in orders:
        means = np.cumsum([table[0, list(first)], table[1, list(second)]], axis=1)
        wanted += np.where(means[0] == means[1], 0.5, np.argmax(means, axis=0) != best) / len(orders)
    found = read_equally(problem, 20_000)
    np.testing.assert_array_equal(found.evaluations, [2, 4, 6])
    assert found.errors[-1] == wanted[-1] == 0
    assert np.abs(found.errors - wanted).max() < 5.5 * 0.5 / np.sqrt(20_000)
    assert found.evaluations_for(0.0) == 6
    assert found.evaluations_for(1.0) == 2


def test_the_advice_says_what_equal_reading_takes_and_the_picture_shows_it(tmp_path):
    rows = row(jb.LUCB(epsilon=0.0, delta=0.2), [60] * 40, "lucb"), row(jb.Uniform(budget=70), [70] * 40, "uniform")
    equal = EqualReading(np.arange(4, 121, 4), np.r_[np.full(24, 0.1), np.zeros(6)], 40)
    found = comparison(*rows, equal=equal)
    text = " ".join(str(found).split())
    assert "Equal reading of all candidates errs as seldom only from 100 evaluations on, of which it saves 40%." in text
    assert found.as_dict()["equal_reading"] == {"orders": 40, "evaluations": 100}
    (axes,) = found.plot().axes
    assert axes.get_xlabel() == "mean evaluations"
    lines = [line for line in axes.get_lines() if line.get_label() == "equal reading"]
    np.testing.assert_array_equal(lines[0].get_ydata(), 1 - equal.errors)
    with pytest.raises(jb.UsageError, match="nothing to draw"):
        comparison().plot()
    with pytest.raises(jb.UsageError, match="--plot must end in"):
        compare(problem="bernoulli:0.5,0.4", delta=0.1, plot=tmp_path / "picture.txt")


@pytest.mark.slow
def test_no_row_reads_more_than_the_matrix_has():
    found = jb.compare(jb.matrix(SCORES), delta=0.2, seeds=40)
    rows = [*found.fixed_confidence, *found.fixed_budget]
    assert len(rows) > 20
    assert all(one.pulls.max() <= 120 for one in rows)
    assert found.best is not None
    assert found.best.proved
    assert found.best.mean_pulls < 120
    assert found.equal is not None
    assert found.equal.evaluations[-1] == 120
    assert {"lucb serfling", "ugape-c serfling", "paired-race"} <= {one.label for one in found.fixed_confidence}
    assert found.budget <= 120
    assert found.lower_bound is None


def test_arms_that_were_read_in_full_are_known_to_be_good_or_bad():
    table = np.asarray([[1.0, 1.0, 0.0], [1.0, 0.0, 0.0]] * 3)  # an interval of 6 items decides nothing
    runs = jb.simulate(jb.HDoC(delta=0.1, threshold=0.4), jb.matrix(table), 10)
    np.testing.assert_array_equal(runs.recommended, [[True, True, False]] * 10)
    assert runs.correct.all()
