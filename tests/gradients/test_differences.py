"""Gradients in an algorithm's parameters: the runs they are made of, the rule of the smoothing, refusals."""

import numpy as np
import pytest
import xarray as xr

import jaxbandits as jb
from jaxbandits.engine.binding import accept
from jaxbandits.gradients.differences import NUDGE, by_differences, nudged

UGAPE, ARMS, SEEDS = jb.UGapEc(epsilon=0.2, delta=0.1), jb.bernoulli([0.8, 0.5, 0.3]), 400


def test_a_difference_is_that_of_two_simulations():
    found = jb.gradients.expected("pulls", UGAPE, ARMS, wrt="epsilon", seeds=SEEDS)
    assert found.gradient.dims == ()
    assert found.attrs["width"] == pytest.approx(0.01)
    up, down = (jb.simulate(jb.UGapEc(epsilon=e, delta=0.1), ARMS, SEEDS).pulls for e in (0.21, 0.19))
    each = (up - down).to_numpy() / 0.02
    assert float(found.gradient) == pytest.approx(each.mean(), rel=1e-6)
    assert float(found.gradient_se) == pytest.approx(each.std(ddof=1) / SEEDS**0.5, rel=1e-6)
    plain = jb.simulate(UGAPE, ARMS, SEEDS).pulls
    assert float(found.value) == float(plain.mean())
    assert float(found.gradient) < 0


@pytest.mark.parametrize("smoothing", [None, 0.03])
def test_the_rule_is_exact_for_a_cubic(smoothing):
    """d/dx E[(x + h Z)^3] = 3 x^2 + 3 h^2; a difference has 3 x^2 + h^2."""
    nudges, _ = nudged(accept(UGAPE), "epsilon", smoothing)
    at = np.asarray(nudges.values)
    slope = float(by_differences(xr.DataArray(at**3, dims=NUDGE, coords={NUDGE: at}), nudges))
    extra = nudges.width**2 if smoothing is None else 3 * nudges.width**2
    assert slope == pytest.approx(3 * 0.2**2 + extra, rel=1e-9)


def test_smoothing_agrees_with_a_difference_where_the_curve_is_straight():
    """Within 5.5 standard errors of both and the 3% that the curve bends."""
    plain = jb.gradients.expected("pulls", UGAPE, ARMS, wrt="delta", seeds=2000)
    smooth = jb.gradients.expected("pulls", UGAPE, ARMS, wrt="delta", seeds=2000, smoothing=0.005)
    assert smooth.attrs["width"] == 0.005
    assert smooth.attrs["estimator"].startswith("Gaussian smoothing")
    noise = np.hypot(float(plain.gradient_se), float(smooth.gradient_se))
    assert abs(float(plain.gradient - smooth.gradient)) < 5.5 * noise + 0.03 * abs(float(plain.gradient))


def test_other_axes_and_checkpoints_stay():
    axes = jb.UGapEc(epsilon=0.2, delta=jb.axis([0.1, 0.2]))
    grid = jb.gradients.expected("error", axes, ARMS, wrt="epsilon", seeds=50, checkpoints=[10, 100])
    assert grid.gradient.dims == ("delta", "checkpoint")


REFUSED = [
    ({"wrt": "m"}, "no derivative in m, an integer or a choice"),
    ({"wrt": "variance"}, "no derivative in variance"),
    ({"algorithm": jb.UGapEc(epsilon=jb.axis([0.1, 0.2]), delta=0.1)}, "needs one value of epsilon"),
    ({"wrt": "epsilonn"}, "did you mean 'epsilon'"),
    ({"smoothing": 0.0}, "smoothing must be positive"),
    ({"smoothing": 0.5}, "leave the range of epsilon"),
    ({"wrt": "mean", "smoothing": 0.1}, "smoothing applies to a parameter of the algorithm"),
    ({"wrt": "b"}, "takes b from the problem: give it a value"),
    ({"wrt": "b", "problem": jb.beta([2.0, 1.0], 2.0)}, r"use problem\.b or algorithm\.b"),
]


@pytest.mark.parametrize(("change", "message"), REFUSED)
def test_bad_input_is_one_line(change, message):
    given = {"metric": "pulls", "algorithm": UGAPE, "problem": ARMS, "wrt": "epsilon", "seeds": 20} | change
    with pytest.raises(jb.UsageError, match=message) as error:
        jb.gradients.expected(**given)
    assert "\n" not in str(error.value)
