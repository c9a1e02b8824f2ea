"""Radii for finite populations: the printed formulas, and their coverage on 0/1 scores, computed exactly."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from jaxbandits.statistics.serfling_radii import (
    bernstein_serfling_radius,
    hoeffding_serfling_radius,
    serfling_factor,
)

CELLS = 40
PULLS = np.arange(1, CELLS + 1)


def test_the_factor_is_as_printed():
    n, size = PULLS.astype(float), float(CELLS)
    wanted = np.where(n <= size / 2, 1 - (n - 1) / size, (1 - n / size) * (1 + 1 / n))
    found = np.asarray(serfling_factor(jnp.asarray(PULLS), jnp.int32(CELLS)))
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-9)
    assert found[0] == 1
    assert found[-1] == 0
    assert (np.diff(found) < 0).all()
    assert (serfling_factor(jnp.asarray([CELLS + 1, 10**9]), jnp.int32(CELLS)) == 0).all()


def test_the_radii_are_as_printed():
    n, size, b, level, variance = PULLS[:-1].astype(float), float(CELLS), 2.0, 3.0, 0.4
    rho = np.where(n <= size / 2, 1 - (n - 1) / size, (1 - n / size) * (1 + 1 / n))
    pulls, cells = jnp.asarray(PULLS), jnp.int32(CELLS)
    hoeffding = np.asarray(hoeffding_serfling_radius(pulls, cells, jnp.float32(b), jnp.float32(level)))
    bernstein = np.asarray(
        bernstein_serfling_radius(pulls, cells, jnp.float32(variance), jnp.float32(b), jnp.float32(level))
    )
    np.testing.assert_allclose(hoeffding[:-1], b * np.sqrt(rho * level / (2 * n)), rtol=1e-6)
    kappa = 7 / 3 + 3 / np.sqrt(2)
    wanted = np.sqrt(2 * variance * rho * level / n) + kappa * b * level / n
    np.testing.assert_allclose(bernstein[:-1], wanted, rtol=1e-6)
    assert hoeffding[-1] == bernstein[-1] == 0


@pytest.mark.parametrize("level", [0.5, 1.5, 3.0, 6.0])
def test_both_cover_on_scores_of_0_and_1(level):
    """The number of ones among n items is hypergeometric."""
    for pulls in (1, 5, 20, 21, 30, 39, 40):
        ones = np.arange(pulls + 1)
        mean = ones / pulls
        given = jnp.int32(pulls), jnp.int32(CELLS)
        hoeffding = np.asarray(hoeffding_serfling_radius(*given, jnp.float32(1), jnp.float32(level)))
        variance = jnp.asarray(mean * (1 - mean), jnp.float32)
        bernstein = np.asarray(bernstein_serfling_radius(*given, variance, jnp.float32(1), jnp.float32(level)))
        for total in range(CELLS + 1):
            law = stats.hypergeom(CELLS, total, pulls).pmf(ones)
            off = mean - total / CELLS
            for side in (off, -off):
                assert law[side > hoeffding + 1e-6].sum() <= np.exp(-level) + 1e-12
                assert law[side > bernstein + 1e-6].sum() <= 5 * np.exp(-level) + 1e-12
