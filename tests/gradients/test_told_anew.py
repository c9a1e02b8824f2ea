"""What an algorithm takes from the problem stays as it is in a gradient, or moves with it: both are offered."""

import numpy as np
import pytest

import jaxbandits as jb

PROBLEM = jb.gaussian([0.8, 0.4, 0.2], [0.3, 0.2, 0.1])
UGAPE = jb.UGapEc(epsilon=0.3, delta=0.2)


@pytest.mark.slow
def test_both_together_are_the_sum_of_their_parts():
    """d E / d sd with b of the problem is that of the law plus d E / d b x d b / d sd; 5.5 standard errors and 5%."""
    taken = float(PROBLEM.reward_range)
    wider = float(jb.gaussian([0.8, 0.4, 0.2], [0.33, 0.2, 0.1]).reward_range)
    slope = (wider - taken) / 0.03
    assert slope > 0.5  # the widest arm is what the range is of
    total = jb.gradients.expected("pulls", UGAPE, PROBLEM, "sd", seeds=2000, refit_algorithm=True)
    law = jb.gradients.expected("pulls", UGAPE, PROBLEM, "sd", seeds=2000)
    given = jb.UGapEc(epsilon=0.3, delta=0.2, b=taken)
    through = jb.gradients.expected("pulls", given, PROBLEM, "b", seeds=2000)
    parts = law.gradient + np.asarray([slope, 0, 0]) * float(through.gradient)
    error = np.hypot(law.gradient_se, total.gradient_se) + np.asarray([slope, 0, 0]) * float(through.gradient_se)
    assert (np.abs(total.gradient - parts) < 5.5 * error + 0.05 * np.abs(parts)).all()
    assert not total.gradient.attrs
    assert float(total.gradient[0]) > 2 * abs(float(law.gradient[0]))
    assert float(total.value) == float(law.value)
    assert total.attrs["problem"] == PROBLEM.name
    assert "refitted" in total.attrs["estimator"]


def test_laws_without_a_score_have_differences():
    pareto = jb.pareto([2.0, 1.5], 2.5)
    found = jb.gradients.expected(
        "pulls", jb.UGapEc(epsilon=0.5, delta=0.3, b=1.0), pareto, "tail", seeds=200, refit_algorithm=True
    )
    assert np.isfinite(found.gradient).all()
    assert (found.gradient_se > 0).all()


@pytest.mark.parametrize(
    ("problem", "wrt", "message"),
    [
        (jb.bernoulli([0.97, 0.5]), "mean", "5% to either side, must lie strictly between 0 and 1"),
        (PROBLEM, "epsilon", "is one of the algorithm"),
    ],
)
def test_bad_input(problem, wrt, message):
    with pytest.raises(jb.UsageError, match=message):
        jb.gradients.expected("pulls", UGAPE, problem, wrt, seeds=5, refit_algorithm=True)
