"""Confidence sequences by betting: 40-digit references, the paper's exact interval, and coverage at all times.

Coverage is tested where failures are likeliest: of a right sequence the bound of the failure probability, Clopper and
Pearson's at level 1 - 1e-8, is below alpha. The true probabilities are far below it.
"""

import functools

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from scipy import optimize, stats

from jaxbandits.statistics.betting import CELLS, PlugInBernstein
from tests.betting_bounds import bounds
from tests.bounded_laws import LAWS

SIZE = 2000
ALPHA = 0.05
LEVEL = float(np.float32(np.log(2 / ALPHA)))
rng = np.random.default_rng(5)
#: Fixed sequences: what rules meet, and the borders.
SEQUENCES = {
    "coin": (rng.random(SIZE) < 0.5) * 1.0,
    "clicks": (rng.random(SIZE) < 0.03) * 1.0,
    "scores": rng.beta(50, 30, SIZE),
    "uniform": rng.random(SIZE),
    "zeros": np.zeros(SIZE),
    "ones": np.ones(SIZE),
    "halves": np.full(SIZE, 0.5),
    "alternating": np.arange(SIZE) % 2 * 1.0,
    "a change": np.r_[np.zeros(SIZE // 2), np.ones(SIZE // 2)],
}
SEQUENCES = {name: np.asarray(x, np.float32) for name, x in SEQUENCES.items()}
every_sequence = pytest.mark.parametrize("name", SEQUENCES)


def bets(rewards, level):
    """The bets without a limit, and the means before each reward, by the paper's formulas with 40 digits."""
    one, found = mpmath.mpf(1), []
    total, spread = one / 2, one / 4
    for t, x in enumerate(rewards, 1):
        found.append((mpmath.sqrt(2 * level / (spread / t * t * mpmath.log(1 + t))), total / t))
        total += x
        spread += (x - total / (t + 1)) ** 2
    return found


@every_sequence
def test_empirical_bernstein_has_the_bounds_of_the_formula(name):
    """Against 40 digits, after every reward."""
    mpmath.mp.dps = 40
    rewards, level = [mpmath.mpf(float(x)) for x in SEQUENCES[name]], mpmath.mpf(LEVEL)
    weight = won = paid = mpmath.mpf(0)
    lower, upper, wanted = mpmath.mpf(0), mpmath.mpf(1), []
    for x, (bet, before) in zip(rewards, bets(rewards, level), strict=True):
        bet = min(bet, mpmath.mpf(1) / 2)
        weight, won = weight + bet, won + bet * x
        v, psi = 4 * (x - before) ** 2, (-mpmath.log(1 - bet) - bet) / 4
        paid += v * psi
        lower = max(lower, (won - level - paid) / weight)
        upper = min(upper, (won + level + paid) / weight)
        wanted.append((float(lower), float(upper)))
    found = np.stack(bounds(SEQUENCES[name], jnp.float32(LEVEL)), axis=-1)
    np.testing.assert_allclose(found, wanted, atol=1e-6, rtol=0)


def hedged(rewards, level, cells):
    """The capitals of the cells of a window with 40 digits, as the module's text says: the intervals."""
    m, c = mpmath, mpmath.mpf(1) / 2
    left, length, first, last, found = m.mpf(0), m.mpf(1), m.mpf(0), m.mpf(1), []
    capital = [[[m.mpf(0)] * cells for _ in range(2)] for _ in range(2)]
    for x, (bet, _) in zip(rewards, bets(rewards, level), strict=True):
        ends = [(left + length * g / cells, left + length * (g + 1) / cells) for g in range(cells)]
        lower, upper = ends[-1][1], ends[0][0]
        for g, pair in enumerate(ends):
            up, down = min(bet, c / pair[1]), min(bet, c / (1 - pair[0]))
            for end in range(2):
                capital[0][end][g] += m.log(1 + up * (x - pair[end]))
                capital[1][end][g] += m.log(1 - down * (x - pair[end]))
            high, low = capital[0][0][g], capital[0][1][g]
            if low < level:
                part = (high - level) / (high - low) if high >= level else 0
                lower = min(lower, pair[0] + part * (pair[1] - pair[0]))
            high, low = capital[1][1][g], capital[1][0][g]
            if low < level:
                part = (high - level) / (high - low) if high >= level else 0
                upper = max(upper, pair[1] - part * (pair[1] - pair[0]))
        first, last = max(first, lower), min(last, upper)
        found.append((float(first), float(last)))
        while length > 2**-16:
            half = sum(lower >= left + length * i / 4 for i in (1, 2))
            if upper > left + length * (half + 2) / 4:
                break
            part = slice(half * cells // 4, (half + 2) * cells // 4)
            for side in capital:
                pairs = list(zip(side[0][part], side[1][part], strict=True))
                middles = [(a + b) / 2 for a, b in pairs]
                side[0] = [y for (a, _), middle in zip(pairs, middles, strict=True) for y in (a, middle)]
                side[1] = [y for (_, b), middle in zip(pairs, middles, strict=True) for y in (middle, b)]
            left, length = left + length * half / 4, length / 2
    return found


@every_sequence
def test_hedged_capital_has_the_bounds_of_the_formula(name):
    """Against 40 digits, after every reward of a shorter sequence."""
    mpmath.mp.dps = 40
    rewards = SEQUENCES[name][:: SIZE // 250]
    wanted = hedged([mpmath.mpf(float(x)) for x in rewards], mpmath.mpf(LEVEL), CELLS)
    found = np.stack(bounds(rewards, jnp.float32(LEVEL), CELLS), axis=-1)
    np.testing.assert_allclose(found, wanted, atol=2e-6, rtol=0)


def exact(rewards, level):
    """The interval of the paper's hedged capital, at all means, by root finding in double precision; at the end."""
    found = np.asarray([float(bet) for bet, _ in bets([mpmath.mpf(float(x)) for x in rewards], level)])
    x = rewards.astype(float)

    def above(m):
        return np.log1p(np.minimum(found, 0.5 / m) * (x - m)).sum() - level

    def below(m):
        return np.log1p(-np.minimum(found, 0.5 / (1 - m)) * (x - m)).sum() - level

    least, most = 1e-9, 1 - 1e-9
    lower = optimize.brentq(above, least, most, xtol=1e-12) if above(least) > 0 else 0.0
    upper = optimize.brentq(below, least, most, xtol=1e-12) if below(most) > 0 else 1.0
    return lower, upper


@pytest.mark.parametrize("name", ["coin", "clicks", "scores", "uniform", "zeros"])
@pytest.mark.parametrize(("cells", "price"), [(16, 0.05), (32, 0.03)])
def test_the_grid_is_wider_than_the_exact_interval_by_little(name, cells, price):
    lower, upper = bounds(SEQUENCES[name], jnp.float32(LEVEL), cells)
    for size in (50, 200, SIZE):
        least, most = exact(SEQUENCES[name][:size], LEVEL)
        assert upper[size - 1] - lower[size - 1] <= (1 + price) * (most - least) + 1e-6


@pytest.mark.parametrize(("cells", "price"), [(16, 0.12), (32, 0.06)])
def test_the_grid_costs_more_where_rewards_hardly_vary(cells, price):
    """At single times, at a level as of alpha = 1e-12."""
    level = float(np.float32(np.log(2 / 1e-12)))
    rewards = np.full(500, 0.3, np.float32)
    lower, upper = bounds(rewards, jnp.float32(level), cells)
    ratios = []
    for size in range(20, 501, 8):
        least, most = exact(rewards[:size], level)
        ratios.append((upper[size - 1] - lower[size - 1]) / (most - least))
    assert price / 3 < max(ratios) - 1 <= price


@functools.partial(jax.jit, static_argnames="cells")
def ever_failed(rewards, mean, level, cells):
    """Whether the mean is ever outside the interval, for runs `(R, T)`, by more than rounding."""
    lower, upper = jax.vmap(lambda one: bounds(one, level, cells))(rewards)
    return (lower[:, -1] > mean + 1e-6) | (upper[:, -1] < mean - 1e-6)


def failures(law, cells, runs, size, alpha=0.1):
    """How many of the runs ever fail."""
    rng, chunk = np.random.default_rng(7), 5000
    level = jnp.float32(np.log(2 / alpha))
    found = [ever_failed(law.draw(rng, (chunk, size)), law.mean, level, cells) for _ in range(runs // chunk)]
    return int(sum(np.asarray(x).sum() for x in found))


def upper_bound(failed, runs):
    return stats.beta.ppf(1 - 1e-8, failed + 1, runs - failed)


# Some each time; all of 10^5 runs with the slow tests.
@pytest.mark.slow
@pytest.mark.parametrize("cells", [0, CELLS], ids=["empirical-bernstein", "betting"])
@pytest.mark.parametrize("name", LAWS)
def test_the_mean_is_in_all_intervals_with_the_promised_probability(name, cells):
    size = 250 if cells else 1000  # a grid takes long
    assert upper_bound(failures(LAWS[name], cells, 100_000, size), 100_000) < 0.1


@pytest.mark.bits  # runs for long
@pytest.mark.parametrize(
    "cells", [0, pytest.param(CELLS, marks=pytest.mark.slow)], ids=["empirical-bernstein", "betting"]
)
def test_the_mean_of_clicks_is_in_all_intervals_with_the_promised_probability(cells):
    assert upper_bound(failures(LAWS["clicks"], cells, 5000, 300), 5000) < 0.1


@pytest.mark.bits  # runs for long
@pytest.mark.parametrize(
    "cells", [0, pytest.param(CELLS, marks=pytest.mark.slow)], ids=["empirical-bernstein", "betting"]
)
def test_a_hundredth_of_the_level_does_fail(cells):
    """The check can fail."""
    rewards = LAWS["coin"].draw(np.random.default_rng(7), (2000, 300))
    assert np.mean(ever_failed(rewards, 0.5, jnp.float32(LEVEL / 100), cells)) > 0.1


def test_bets_of_another_level_keep_the_guarantee_of_the_bounds():
    """The level of `bounds` decides the probability, whatever the bets are for."""
    sequence = PlugInBernstein.start((2,))
    for number, reward in enumerate(np.asarray([[0.2, 0.9], [0.4, 1.0], [0.1, 0.8]], np.float32), 1):
        sequence = sequence.after(reward, jnp.int32(number), reward * number, jnp.asarray([3.0, 6.0]))
    narrow, wide = sequence.bounds(jnp.float32(3)), sequence.bounds(jnp.float32(6))
    assert (np.asarray(wide[0]) <= narrow[0]).all()
    assert (np.asarray(wide[1]) >= narrow[1]).all()


def test_hedged_capital_is_far_narrower_for_few_rewards_and_little_spread_and_little_wider_for_coins():
    def width(name, cells, size):
        lower, upper = bounds(SEQUENCES[name], jnp.float32(LEVEL), cells)
        return float(upper[size - 1] - lower[size - 1])

    assert width("coin", CELLS, SIZE) < 1.1 * width("coin", 0, SIZE)
    assert width("clicks", CELLS, 200) < 0.95 * width("clicks", 0, 200)
    assert width("scores", CELLS, 200) < 0.6 * width("scores", 0, 200)
