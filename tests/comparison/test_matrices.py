"""Comparisons on a score matrix count evaluations, and never advise more than the matrix has."""

import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits.comparison.compared_rows import Row
from jaxbandits.comparison.guarantees import holds_without_replacement
from jaxbandits.comparison.result import Comparison
from jaxbandits.problems import synthetic_scores

SCORES = synthetic_scores(items=30, candidates=4, seed=1)


def row(algorithm, pulls, label="rule"):
    wrong = np.zeros(len(pulls), bool)
    return Row(label, algorithm, np.asarray(pulls), wrong, 0, limit=None, bound=None, theorem="", cells=120)


def comparison(*rows):
    return Comparison(
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
    ],
)
def test_which_proofs_hold_without_replacement(algorithm, holds):
    """Those that are unions over numbers of pulls, and not those by martingales or by empirical variances."""
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
    everything = comparison(row(jb.LUCB(epsilon=0.0, delta=0.2), [120] * 40, "lucb"))
    assert "lucb saves nothing" in " ".join(str(everything).split())


@pytest.mark.slow
def test_no_row_reads_more_than_the_matrix_has():
    found = jb.compare(jb.matrix(SCORES), delta=0.2, seeds=40)
    rows = [*found.fixed_confidence, *found.fixed_budget]
    assert len(rows) > 20
    assert all(one.pulls.max() <= 120 for one in rows)
    assert found.best is not None
    assert found.best.proved
    assert found.budget <= 120
    assert found.lower_bound is None
