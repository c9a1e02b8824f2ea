"""Rinott's constant against a published table, an independent simulation of its integral, and its refusals."""

import numpy as np
import pytest
from scipy import special

import jaxbandits as jb
from jaxbandits.theory import rinott_constant

# P*, n0, K, h: rows of Table A.12 of Banks, Carson, Nelson, Nicol, "Discrete-event system simulation", 5th edition, as
# public programs quote them.
PUBLISHED = [
    (0.90, 5, 2, 2.291), (0.90, 20, 10, 3.437), (0.95, 5, 10, 5.797), (0.95, 10, 2, 2.614), (0.95, 10, 8, 4.106),
    (0.95, 20, 10, 3.875), (0.95, 50, 2, 2.373), (0.975, 10, 8, 4.635),
]  # fmt: skip


@pytest.mark.parametrize(("probability", "n0", "arms", "h"), PUBLISHED)
def test_is_that_of_the_published_table(probability, n0, arms, h):
    """The table's digits: its 5.797 is 5.7953, by both quadratures."""
    assert rinott_constant(arms, n0, 1 - probability) == pytest.approx(h, abs=2e-3)


@pytest.mark.parametrize(
    ("arms", "n0", "delta"), [(2, 2, 0.4), (10, 5, 0.05), (1000, 20, 1e-3), (3, 300, 1e-4), (10**6, 10, 1e-12)]
)
def test_solves_the_integral(arms, n0, delta):
    """By Gauss's rule in the probabilities of X and Y; its nodes are no part of the grid."""
    node, weight = np.polynomial.legendre.leggauss(300)
    # u = s^4 (35 - 84 s + 70 s^2 - 20 s^3): nodes are dense at both ends of [0, 1].
    u, rest = (s**4 * (35 - 84 * s + 70 * s**2 - 20 * s**3) for s in ((1 + node) / 2, (1 - node) / 2))
    w, half = weight / 2 * 140 * ((1 + node) * (1 - node) / 4) ** 3, (n0 - 1) / 2
    x = 2 * np.where(node < 0, special.gammaincinv(half, u), special.gammainccinv(half, rest))
    h = rinott_constant(arms, n0, delta)
    loses = special.ndtr(-h / np.sqrt((n0 - 1) * (1 / x + 1 / x[:, None]))) @ w
    assert -np.expm1((arms - 1) * np.log1p(-loses)) @ w == pytest.approx(delta, rel=1e-5)


def test_many_arms_and_two_first_pulls_have_a_constant():
    """1/sqrt(X) exceeds s with probability sqrt(2/pi)/s, s large, so an arm wins with probability 1/(pi h)."""
    assert rinott_constant(10**6, 2, 1e-12) == pytest.approx(10**6 / (np.pi * 1e-12), rel=1e-3)


def test_a_value_outside_its_range_is_refused():
    for arms, n0, delta in [(1, 20, 0.1), (10, 1, 0.1), (10, 20, 0.0), (10, 20, 1e-13), (2, 20, 0.5), (10, 20, 0.95)]:
        with pytest.raises(jb.UsageError):
            rinott_constant(arms, n0, delta)
