"""Gradients in an algorithm's parameters: the runs they are made of, the rule of the smoothing, refusals."""

import dataclasses

import numpy as np
import pytest
import xarray as xr
from scipy import stats

import jaxbandits as jb
from jaxbandits.engine.binding import accept
from jaxbandits.gradients.differences import NUDGE, by_differences, nudged, slope_of

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


def quotients(curve, smoothing):
    """What is estimated of a function of the parameter: slope and standard error, or a difference."""
    blocks = nudged(accept(UGAPE), "epsilon", smoothing, seeds=64, root_seed=0)
    parts = []
    for one in blocks:
        values = np.repeat(curve(np.asarray(one.values))[:, None], one.seeds, axis=1)
        parts.append(by_differences(xr.DataArray(values, dims=(NUDGE, "seed")), one))
    return blocks, parts, [one.z for one in blocks]


def test_a_difference_of_a_cubic():
    blocks, parts, _ = quotients(lambda x: x**3, None)
    np.testing.assert_allclose(parts[0], 3 * 0.2**2 + blocks[0].width ** 2, rtol=1e-9)


@pytest.mark.slow
def test_smoothing_of_known_curves():
    """Exact for a line. d/dx E[(x + h Z)^3] = 3 x^2 + 3 h^2, and a jump has the density of the noise.

    Of 300 noises the mean is within 5.5 standard errors; standard errors are not too small, at most 1.5 times too
    large. False alarms have a probability below 1e-7.
    """
    _, parts, z = quotients(lambda x: 2 * x, 0.03)
    slope, se = slope_of(parts, z)
    assert (float(slope), float(se)) == pytest.approx((2, 0), abs=1e-9)
    at, h = 0.213, 0.03
    density = stats.norm.pdf((at - 0.2) / h) / h
    cut = 1 - 2 * 3.5 * stats.norm.pdf(3.5) / (2 * stats.norm.cdf(3.5) - 1)  # E[z^2] of noise that is cut off
    jump = (density - stats.norm.pdf(3.5) / h) / (2 * stats.norm.cdf(3.5) - 1) / cut
    noises = [nudged(accept(UGAPE), "epsilon", h, 64, root_seed=seed) for seed in range(300)]
    z = xr.DataArray([[block.z for block in noise] for noise in noises], dims=("noise", "block"))
    parts = []  # a block of all noises at once
    for number, block in enumerate(noises[0]):
        one = dataclasses.replace(block, z=z[:, number])
        x = xr.concat(xr.broadcast(*map(xr.DataArray, one.values)), NUDGE)
        parts.append(by_differences(xr.concat([x**3, (x > at) * 1.0], "curve").expand_dims(seed=block.seeds), one))
    found = np.asarray([slope_of([part[{"noise": n}] for part in parts], z[n].to_numpy()) for n in range(300)])
    for number, exact in enumerate((3 * 0.2**2 + 3 * h**2, jump)):
        slopes, errors = found[:, :, number].T
        assert abs(slopes.mean() - exact) < 5.5 * slopes.std() / 300**0.5 + 0.004 * exact
        assert 0.85 < np.sqrt((errors**2).mean()) / slopes.std() < 2.5


@pytest.mark.slow
def test_a_rule_of_jumps_has_a_standard_error():
    """Pulls of a rule in whole batches, K ceil(4.5 log(K / delta)) ceil(96 / epsilon^2): its jumps under the noise."""
    delta, h = 0.12, 0.01
    rule = jb.UnionBound(epsilon=0.5, delta=delta, estimator="mom")
    found = jb.gradients.expected("pulls", rule, ARMS, wrt="delta", seeds=100, smoothing=h)
    arms = ARMS.arms
    jumps = arms * np.exp(-np.arange(1, 200) / 4.5)
    exact = -arms * 384 * np.sum(stats.norm.pdf((jumps[jumps < 1] - delta) / h)) / h
    assert 0 < float(found.gradient_se) < 0.2 * abs(exact)
    assert abs(float(found.gradient) - exact) < 6 * float(found.gradient_se)


@pytest.mark.slow
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
