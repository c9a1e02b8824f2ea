"""Intervals of finite populations, read without replacement: independent formulas, and coverage at all times.

Coverage is tested as in `test_betting.py`: Clopper and Pearson's bound at level 1 - 1e-8 is below alpha.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxbandits.algorithms.betting_intervals import OF_POPULATIONS, RADII, bounds_of
from jaxbandits.statistics.betting import HedgedCapital, PlugInBernstein
from jaxbandits.statistics.serfling_radii import BernsteinSerfling, HoeffdingSerfling
from tests.guarantees.promises import upper_bound

SEQUENCES = dict(zip(RADII[1:], (PlugInBernstein, HedgedCapital, HoeffdingSerfling, BernsteinSerfling), strict=True))
ALPHA = 0.1
random = np.random.default_rng(3)
POPULATIONS = {
    "coins": np.arange(40) % 2 * 1.0,
    "clicks": (np.arange(200) < 6) * 1.0,
    "all but one": (np.arange(60) > 0) * 1.0,
    "scores": random.beta(8, 3, 120),
    "small, and one large": np.r_[1.0, random.random(80) / 10],
    "few": np.asarray([0.1, 0.9, 0.4, 0.6, 0.0, 1.0]),
}
POPULATIONS = {name: np.asarray(x, np.float32) for name, x in POPULATIONS.items()}


def orders(name, runs, seed=7):
    """The population in random orders, `(R, N)`."""
    values = POPULATIONS[name]
    return np.random.default_rng(seed).permuted(np.tile(values, (runs, 1)), axis=1)


def level_of(radius, cells, alpha):
    """The level of one population: a union over its items where a bound holds at one number of them."""
    return jnp.float32(np.log(2 * (cells if radius in OF_POPULATIONS else 1) / alpha))


@functools.partial(jax.jit, static_argnames=("radius", "known"))
def intervals(values, level, radius, known=0):
    """The intervals after each item, `(N,)` each; the last `known` values are of pulls after the last item."""
    cells = jnp.int32(len(values) - known)

    def add(carry, x):
        sequence, total, before = carry
        number, value = x
        total = total + value
        sequence = sequence.after(value, number, total, level, cells)
        now = bounds_of(sequence, (number, total, cells), jnp.float32(1), level, before)
        return (sequence.narrowed(*sequence.bounds(level)), total, now), now

    start = (SEQUENCES[radius].start(()), jnp.float32(0), (jnp.float32(0), jnp.float32(1)))
    return jax.lax.scan(add, start, (jnp.arange(1, len(values) + 1), values))[1]


def bets(values, level):
    """The bets without a limit, and the means before each value, by the paper's formulas."""
    total, spread = 0.5, 0.25
    for t, x in enumerate(values, 1):
        yield np.sqrt(2 * level / (spread * np.log(1 + t))), total / t
        total += x
        spread += (x - total / (t + 1)) ** 2


def logical(values, lower, upper):
    """Ends cut by what the items that were not read can be, and to those before; the mean at the end."""
    size, read = len(values), np.cumsum(values)
    lower = np.maximum.accumulate(np.maximum(lower, read / size))
    upper = np.minimum.accumulate(np.minimum(upper, (read + size - np.arange(1, size + 1)) / size))
    lower[-1] = upper[-1] = values.mean()
    return lower, upper


def by_formula(values, level):
    """The ends of the empirical Bernstein intervals of Waudby-Smith and Ramdas (2020, section 3.2), in double."""
    size, lower, upper = len(values), [], []
    weight = won = paid = 0.0
    for t, (x, (bet, before)) in enumerate(zip(values, bets(values, level), strict=True), 1):
        bet = min(bet, 0.5)
        read = values[: t - 1].sum()
        weight += bet * (1 + (t - 1) / (size - t + 1))
        won += bet * (x + read / (size - t + 1))
        paid += (-np.log(1 - bet) - bet) * (x - before) ** 2
        lower.append((won - level - paid) / weight)
        upper.append((won + level + paid) / weight)
    return logical(values, np.asarray(lower), np.asarray(upper))


def by_capital(values, level, grid=4001):
    """The means that hedged capital leaves in, of a fine grid, in double: the ends after each value."""
    size, m = len(values), np.linspace(0, 1, grid)
    up, down, lower, upper = np.zeros(grid), np.zeros(grid), [], []
    for t, (x, (bet, _)) in enumerate(zip(values, bets(values, level), strict=True), 1):
        now = (size * m - values[: t - 1].sum()) / (size - t + 1)
        up += np.log1p(np.minimum(bet, 0.5 / np.maximum(now, 1e-9)) * (x - now))
        down += np.log1p(-np.minimum(bet, 0.5 / np.maximum(1 - now, 1e-9)) * (x - now))
        left = m[np.maximum(up, down) < level]
        lower.append(left.min() if left.size else lower[-1])
        upper.append(left.max() if left.size else upper[-1])
    return logical(values, np.asarray(lower), np.asarray(upper))


@pytest.mark.parametrize(
    "name", ["scores", *(pytest.param(name, marks=pytest.mark.slow) for name in ("coins", "clicks", "few"))]
)
def test_intervals_are_those_of_independent_formulas(name):
    values, level = orders(name, 1, seed=11)[0], float(np.log(2 / ALPHA))
    exact = values.astype(float)
    lower, upper = intervals(values, jnp.float32(level), "empirical-bernstein")
    wanted = by_formula(exact, level)
    np.testing.assert_allclose(lower, wanted[0], atol=2e-6)
    np.testing.assert_allclose(upper, wanted[1], atol=2e-6)
    lower, upper = (np.asarray(x, float) for x in intervals(values, jnp.float32(level), "betting"))
    least, most = by_capital(exact, level)
    near = 0.1 * (most - least) + 1e-3  # the bets of a cell are those of its largest mean
    assert (np.abs(lower - least) <= near).all()
    assert (np.abs(upper - most) <= near).all()


@pytest.mark.parametrize(
    "radius", [pytest.param(radius, marks=[pytest.mark.slow] * (radius in RADII[1::3])) for radius in RADII[1:]]
)
def test_a_full_read_is_exact_and_pulls_of_known_arms_change_nothing(radius):
    values = orders("few", 1)[0]
    mean = values.mean(dtype=np.float64)
    level = level_of(radius, len(values), ALPHA)
    lower, upper = intervals(np.r_[values, np.full(20, mean, np.float32)], level, radius, known=20)
    assert (lower[:5] < upper[:5]).all()
    np.testing.assert_array_equal(lower[5:], upper[5:])
    np.testing.assert_allclose(lower[5:], mean, rtol=1e-6)
    wrong = jnp.float32(0.9), jnp.float32(0.2)
    seen = jnp.int32(6), jnp.float32(values.sum()), jnp.int32(6)
    sequence = SEQUENCES[radius].start(()).after(values[0], jnp.int32(1), values[0], level, jnp.int32(6))
    for end in bounds_of(sequence, seen, jnp.float32(1), level, wrong):
        assert float(end) == pytest.approx(mean, rel=1e-6)  # whatever was left in before


@functools.partial(jax.jit, static_argnames="radius")
def ends(values, level, radius):
    """The intervals before the last item of runs `(R, N)`, `(R,)` each, and whether all are exact after it."""
    lower, upper = jax.vmap(lambda one: intervals(one, level, radius))(values)
    return lower[:, -2], upper[:, -2], jnp.all(lower[:, -1] == upper[:, -1])


def failures(name, radius, runs, part=1.0):
    """How many of the runs ever fail, by more than rounding; the interval of the last item but one is the narrowest."""
    values, mean, failed = orders(name, runs), POPULATIONS[name].mean(dtype=np.float64), 0
    level = part * level_of(radius, values.shape[1], ALPHA)
    for chunk in np.split(values, max(1, runs // 5000)):
        lower, upper, exact = ends(chunk, level, radius)
        assert exact
        failed += int(np.sum((np.asarray(lower) > mean + 1e-6) | (np.asarray(upper) < mean - 1e-6)))
    return failed


@pytest.mark.parametrize("radius", ["betting", "bernstein-serfling"])
def test_the_mean_of_few_scores_is_in_all_intervals_with_the_promised_probability(radius):
    assert upper_bound(failures("few", radius, 5000), 5000) < ALPHA


@pytest.mark.slow
@pytest.mark.parametrize("radius", RADII[1:])
@pytest.mark.parametrize("name", POPULATIONS)
def test_the_mean_is_in_all_intervals_with_the_promised_probability(name, radius):
    assert upper_bound(failures(name, radius, 100_000), 100_000) < ALPHA


@pytest.mark.parametrize("radius", ["betting", "serfling"])
def test_a_hundredth_of_the_level_does_fail(radius):
    """The check can fail."""
    assert failures("few", radius, 5000, 0.01) > ALPHA * 5000
