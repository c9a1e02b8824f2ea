"""Ratios and exponents in titles of papers' figures: never more than the intervals allow."""

import math

import numpy as np
import pytest
import xarray as xr

import jaxbandits as jb
from jaxbandits.papers.heavy_tailed.pulls_over_delta import _describe_crossing
from jaxbandits.papers.title_claims import Ends, at_least, at_most, ends_of, exponent, quotient, times


def test_quotients_use_the_ends_that_are_nearest():
    found = quotient(Ends(np.asarray([10.0, 20.0]), np.asarray([12.0, 24.0])), Ends(np.asarray(4.0), np.asarray(5.0)))
    np.testing.assert_allclose(found.low, [2, 4])
    np.testing.assert_allclose(found.high, [3, 6])
    assert times(found) == "2 to 6"
    assert at_least(found) == "2"
    assert times(quotient(Ends(3.0, 6.0), 3.0)) == "1 to 2"


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [(0.973, 1.09, "0.97 to 1.1"), (0.9948, 1.0031, "0.99 to 1.01"), (26.9, 27.1, "26 to 28"), (1.0, 1.0, "1"),
     (-0.512, -0.381, "−0.52 to −0.38"), (2.0, math.inf, "2 to ∞"), (math.nan, math.nan, "–"),
     (1234.5, 1234.5, "1,234 to 1,235")],
)  # fmt: skip
def test_numbers_are_rounded_outwards(low, high, text):
    assert times(Ends(low, high)) == text


def test_at_least_is_empty_where_the_intervals_do_not_tell():
    assert [at_least(Ends(low, 9.0)) for low in (0.9, 1.0, 1.04, math.nan)] == [""] * 4
    assert at_most(Ends(np.asarray([-0.07, 1.0]), np.asarray([0.2, 2.91]))) == "3"
    assert at_least(Ends(np.asarray([27.9, 405.2]), np.asarray([30.0, 500.0]))) == "27"


def test_exponents_hold_the_slope_of_every_line_between_the_ends():
    x, middle = np.asarray([1.0, 2, 5, 10]), np.asarray([1.0, 2.1, 4.8, 10.5])
    rng = np.random.default_rng(0)
    found = exponent(x, Ends(0.9 * middle, 1.1 * middle))
    slopes = [np.polyfit(np.log(x), np.log(middle * rng.uniform(0.9, 1.1, 4)), 1)[0] for _ in range(100)]
    assert found.low <= min(slopes) <= max(slopes) <= found.high
    exact = exponent(x, Ends(x**1.5, x**1.5))
    assert exact.low == pytest.approx(1.5) == exact.high


def test_truncated_runs_leave_no_upper_end():
    ds = jb.sweep(jb.LUCB(epsilon=0.0, delta=jb.axis([0.1, 0.01])), jb.bernoulli([0.5, 0.5]), seeds=5, max_pulls=50)
    assert np.isinf(ends_of(jb.summary(ds), "pulls").high).all()


def test_a_ratio_of_means_is_no_finding_without_its_interval():
    """The title said "27 times fewer" and "fewer … for δ below 0.03", from means alone."""
    names = ["EA", "TEA", "Catoni"]
    mean = xr.DataArray([[900.0, 300], [270, 280], [10, 10]], {"estimator": names, "delta": [0.01, 0.1]})
    wide = xr.Dataset({"pulls_low": 0.9 * mean, "pulls_high": 1.1 * mean, "at_least": mean < 0})
    text = _describe_crossing(wide, "S1")
    assert text.startswith("S1: truncated means need fewer pulls than empirical means up to δ = 0.01; ")
    assert text.endswith("needs at least 22 times fewer than truncated means")
    unknown = xr.Dataset({"pulls_low": 0.1 * mean, "pulls_high": 40 * mean, "at_least": mean < 0})
    assert _describe_crossing(unknown, "S1").endswith(
        "do not tell whether truncated means need fewer pulls than empirical means"
    )
