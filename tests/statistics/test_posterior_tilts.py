"""TTTS's challengers once its resamplings are used up, against the law that endless resampling has, by quadrature."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import special, stats

import jaxbandits as jb
from jaxbandits.statistics.posterior_tilts import _remainder
from jaxbandits.transform import map_runs

SD = 0.7
DRAWS = 2_000
LAWS = {
    "bernoulli": lambda n, s: stats.beta(1 + s, 1 + n - s),
    "gaussian": lambda n, s: stats.norm(s / n, SD / np.sqrt(n)),
    "poisson": lambda n, s: stats.gamma(s + 0.5, scale=1 / n),
    "exponential": lambda n, s: stats.invgamma(n, scale=s),
}
#: Family, pulls, sums; the first arm leads. The event has a probability of 4e-5 to 0.997.
CASES = [
    ("bernoulli", [5000, 4500, 3000, 1000], [2500, 2050, 1350, 430]),
    ("bernoulli", [400, 30, 10, 4], [360, 15, 4, 0]),
    ("bernoulli", [5, 4, 3, 2], [3, 1, 1, 0]),
    ("bernoulli", [500, 450, 300, 100], [200, 205, 135, 48]),
    ("gaussian", [500, 400, 300, 100], [500, 300, 230, 60]),
    ("gaussian", [50, 40, 30, 10], [50, 30, 20, 6]),
    ("poisson", [50, 40, 30, 10], [10, 2, 1, 0]),
    ("poisson", [50, 40, 30, 10], [100, 60, 40, 9]),
    ("exponential", [50, 40, 30, 10], [100, 55, 40, 9]),
    ("exponential", [5, 4, 3, 2], [20, 5, 4, 3]),
]


def best_arms(laws, leader):
    """P(arm j is the best | the leader is not)."""
    ends = min(law.ppf(1e-13) for law in laws), max(law.isf(1e-13) for law in laws)
    x = np.geomspace(*ends, 20_001) if ends[0] > 0 else np.linspace(*ends, 20_001)
    below = np.array([law.cdf(x) for law in laws])
    found = [np.trapezoid(law.pdf(x) * np.delete(below, j, axis=0).prod(0), x) for j, law in enumerate(laws)]
    found[leader] = 0.0
    return np.array(found) / sum(found)


def rare(family, pulls, total, runs):
    """The challengers of runs with these pulls and sums, and keys of their own; the first arm leads."""
    width = {"gaussian": 2 * SD}.get(family, 1.0)
    algorithm = jb.TTTS(delta=0.1, family=family, threshold="heuristic", b=width)
    pulls, total = jnp.asarray(pulls, jnp.int32), jnp.asarray(total, jnp.float32)
    arms = jb.Arms(
        pulls=pulls,
        mean=total / pulls,
        inverse_root=1 / jnp.sqrt(pulls),
        total=total,
        time=pulls.sum(),
        count=jnp.int32(len(pulls)),
        b=jnp.float32(width),
    )
    keys = jax.vmap(jax.random.fold_in, (None, 0))(jax.random.key(5), jnp.arange(runs))
    found = map_runs(lambda arms, key: algorithm.rare(arms, key, jnp.int32(0)))
    return jax.jit(found)(jax.tree.map(lambda x: jnp.repeat(x[..., None], runs, axis=-1), arms), keys)


@pytest.mark.parametrize(
    ("family", "pulls", "total"),
    [pytest.param(*case, marks=[pytest.mark.slow] * (number != 0)) for number, case in enumerate(CASES)],
)
def test_challengers_have_the_law_of_endless_resampling(family, pulls, total):
    """By a chi-square test that errs with probability 1e-7 in each of ten cases."""
    counts = np.bincount(rare(family, pulls, total, DRAWS), minlength=len(pulls))
    assert counts[0] == 0
    laws = [LAWS[family](n, s) for n, s in zip(np.array(pulls, float), np.array(total, float), strict=True)]
    wanted = DRAWS * best_arms(laws, 0)
    assert stats.chi2.sf(np.sum((counts[1:] - wanted[1:]) ** 2 / wanted[1:]), len(pulls) - 2) > 1e-7


def test_the_remainder_of_stirlings_formula():
    z = np.geomspace(1e-3, 1e8, 500)
    exact = special.gammaln(z) - ((z - 0.5) * np.log(z) - z + np.log(2 * np.pi) / 2)
    found = np.asarray(_remainder(jnp.asarray(z, jnp.float32)))
    few = z < 1e4  # beyond, the difference above has no digits left
    np.testing.assert_allclose(found[few], exact[few], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(found[~few], 1 / (12 * z[~few]), atol=1e-6)


@pytest.mark.slow
def test_bits_are_the_same_in_batches_of_every_size():
    whole = np.asarray(rare(*CASES[0], 16))
    for length in (1, 7):
        np.testing.assert_array_equal(rare(*CASES[0], length), whole[:length])
