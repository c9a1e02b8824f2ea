"""The binomial sampler against the binomial law: its own rule integrated, and its draws tested.

Every sampled test has a fixed seed. If the sampler is right, the probability that a fresh seed would fail any of them
is below 1e-6 in all (`FALSE_ALARM` is shared out among the chi-square cases; the others state theirs).
"""

import importlib
from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import special, stats

from jaxbandits.random.binomial_draws import SWITCH_MEAN, binomial

pytestmark = pytest.mark.bits

# The function of the same name hides the module from `from … import`.
module = importlib.import_module("jaxbandits.random.binomial_draws")

FALSE_ALARM = 5e-7
DRAWS = 400_000
TOLERANCE = 1e-5

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def exactly(p: float) -> float:
    return float(np.float32(p))


def support(n: int, p: float, z_range: float = 8.0) -> Integers:
    """The integers within `z_range` standard deviations, and those that a heavy upper tail adds."""
    mean, sd = n * p, np.sqrt(n * p * (1 - p))
    return np.arange(max(0, int(mean - z_range * sd)), min(n, int(mean + (z_range + 2) * sd + 20)) + 1)


def expansion_thresholds(n: int, p: float, k: Integers) -> Floats:
    """z(k) such that the module's expansion draws at most k exactly when the normal is below z(k), by bisection."""
    low, high = np.full(k.shape, -9.0), np.full(k.shape, 9.0)
    sd = np.sqrt(n * p * (1 - p))
    for _ in range(60):
        middle = (low + high) / 2
        exceeds = np.floor(n * p + module.expansion_offset(middle, p, sd)) > k  # type: ignore[arg-type]
        low, high = np.where(exceeds, low, middle), np.where(exceeds, middle, high)
    return low


def expansion_variation(n: int, p: float) -> float:
    """Total variation, in float64, between Binomial(n, p) and floor(n p + expansion_offset(normal))."""
    k = support(n, p)
    z = expansion_thresholds(n, p, k)
    # Differences of the nearer tail: no cancellation on either side.
    below, above = special.ndtr(z), special.ndtr(-z)
    law = np.where(z < 0, np.diff(below, prepend=0.0), -np.diff(above, prepend=1.0))
    outside = stats.binom.cdf(k[0] - 1, n, p) + stats.binom.sf(k[-1], n, p)
    return float(0.5 * (np.abs(law - stats.binom.pmf(k, n, p)).sum() + below[0] * (k[0] > 0) + above[-1] + outside))


search_quantile = jax.jit(module.search_quantile)


def search_variation(n: int, p: float) -> float:
    """Total variation, in float32 itself, between Binomial(n, p) and the module's search, by bisection on the level."""
    # Levels below the floor may go anywhere; all of their probability is counted as wrong.
    floor = np.float32(1e-6)
    k = np.arange(128)
    low, high = np.full(k.shape, floor), np.ones(k.shape, np.float32)
    counts, probabilities = np.full(k.shape, n, np.int32), np.full(k.shape, p, np.float32)
    for _ in range(32):
        middle = ((low + high) / 2).astype(np.float32)
        exceeds = np.asarray(search_quantile(middle, counts, probabilities, np.ones(k.shape, bool))) > k
        low, high = np.where(exceeds, middle, low), np.where(exceeds, high, middle)
    survival = np.where(low > floor, low.astype(np.float64), 0.0)
    law = -np.diff(survival, prepend=1.0)
    return float(0.5 * (np.abs(law - stats.binom.pmf(k, n, p)).sum() + survival[-1]) + floor)


RARE = (1e-9, 1e-8, 1e-6, 3e-5, 1e-3, 0.01, 0.1, 0.2, 0.3, 0.4, 0.5)


@pytest.mark.parametrize("p", RARE)
def test_expansion_is_binomial_within_the_tolerance_from_the_switch_on(p: float) -> None:
    p = exactly(p)
    # For p below 2.5e-5 the switch lies beyond n = 10^6; it is covered all the same, up to the largest n.
    first = int(np.ceil(SWITCH_MEAN / p))
    counts = {first, first + 1, 2 * first, 4 * first, 16 * first, 1000, 10_000, 10**6}
    checked = [n for n in counts if n * p >= SWITCH_MEAN and n <= max(10**6, first) and n < 2**31]
    assert checked or first >= 2**31
    for n in checked:
        assert expansion_variation(n, p) < TOLERANCE


def test_expansion_would_miss_the_tolerance_below_the_switch() -> None:
    # The measure above sees the error of the expansion where there is one.
    assert expansion_variation(1000, exactly(0.01)) > TOLERANCE


@pytest.mark.parametrize("p", RARE)
def test_search_is_binomial_within_the_tolerance_up_to_the_switch(p: float) -> None:
    p = exactly(p)
    last = int(SWITCH_MEAN / p)
    for n in {1, 2, 5, 10, last // 4, last // 2, last - 1, min(last, 10**6)}:
        if 1 <= n < 2**31 and n * p < SWITCH_MEAN:
            assert search_variation(n, p) < TOLERANCE, n


def test_search_is_exact_for_one_rare_event() -> None:
    # P(X > 0) = 1e-9 within float32: the tolerance alone would let it be zero.
    level = jnp.asarray([0.999e-9, 1.001e-9], jnp.float32)
    drawn = module.search_quantile(level, jnp.ones(2, jnp.int32), jnp.full(2, 1e-9, jnp.float32), jnp.ones(2, bool))
    assert drawn.tolist() == [1, 0]


@pytest.mark.parametrize("n", [10**6, 10**7, 10**8, 10**9, 2**31 - 1])
@pytest.mark.parametrize("p", [1e-4, 0.003, 0.3, 0.5])
def test_expansion_quantiles_of_large_counts(n: int, p: float) -> None:
    p = exactly(p)
    sd = np.sqrt(n * p * (1 - p))
    k = np.unique((n * p + sd * np.linspace(-5, 5, 201)).astype(np.int64))
    lower, upper = stats.binom.cdf(k, n, p), stats.binom.sf(k, n, p)
    exact = np.where(lower < 0.5, special.ndtri(lower), -special.ndtri(upper))
    np.testing.assert_allclose(expansion_thresholds(n, p, k), exact, rtol=0, atol=5e-4)


@pytest.mark.parametrize("n", [10**7, 10**9, 2**31 - 1])
@pytest.mark.parametrize("p", [1e-5, 0.003, 0.3, 0.5])
def test_float32_mean_and_quantiles_of_large_counts(n: int, p: float) -> None:
    p = exactly(p)
    size = 2**19
    # Stratified first words: the draws are then the quantiles at (i + 1/2) / size, and nothing is left to chance
    # but the second word, worth some 1e-6 standard deviations.
    high = jnp.arange(size, dtype=jnp.uint32) * jnp.uint32(2**32 // size) + jnp.uint32(2**31 // size)
    low = jax.random.bits(jax.random.key(0), (size,))
    drawn = module.expansion_quantile(high, low, jnp.full(size, n, jnp.int32), jnp.full(size, p, jnp.float32))
    values = np.asarray(drawn, np.float64)[::-1]
    sd = np.sqrt(n * p * (1 - p))
    assert abs(values.mean() - n * p) < 1e-3 * sd
    level = (np.arange(size) + 0.5) / size
    some = np.unique(np.linspace(0, size - 1, 999).astype(int))
    # The quantile function is a staircase: on the edge of a step it may take either side. A ten-thousandth of the tail
    # is less than 1.3e-4 standard deviations.
    margin = 1e-4 * np.minimum(level, 1 - level)[some]
    assert np.all(values[some] >= stats.binom.ppf(level[some] - margin, n, p) - 5e-4 * sd)
    assert np.all(values[some] <= stats.binom.ppf(level[some] + margin, n, p) + 5e-4 * sd)


@pytest.mark.parametrize("n", [1, 4095, 4096, 999_999, 10**6, 123_456_789, 10**9, 2**31 - 1])
def test_mean_is_split_without_rounding(n: int) -> None:
    p = np.random.default_rng(7).uniform(size=64).astype(np.float32) * np.float32(0.5)
    p[:8] = [1e-9, 2.0**-30, 1e-5, 0.1, 0.3, 0.5, np.float32(0.5) - np.float32(2.0**-25), 0.0]
    whole, fraction = module._mean(jnp.full(64, n, jnp.int32), jnp.asarray(p))
    for i, f, probability in zip(whole.tolist(), fraction.tolist(), p.tolist(), strict=True):
        assert abs(Fraction(i) + Fraction(f) - n * Fraction(probability)) < 2e-6


CASES = [
    (1, 0.5), (2, 0.3), (10, 0.1), (10, 0.9), (10, 0.5), (37, 0.21), (49, 0.5), (50, 0.5), (51, 0.5), (100, 0.01),
    (100, 0.1), (100, 0.249), (100, 0.251), (100, 0.749), (100, 0.751), (100, 0.95), (1000, 0.001), (1000, 0.0249),
    (1000, 0.0251), (1000, 0.3), (10_000, 0.7), (10**5, 2.49e-4), (10**5, 2.51e-4), (10**6, 1e-6), (10**6, 2.49e-5),
    (10**6, 2.51e-5), (10**6, 1e-3), (10**6, 0.3), (10**6, 0.999), (10**9, 1e-9), (10**9, 1e-8), (10**9, 2.6e-8),
]  # fmt: skip


def chi_square_p_value(drawn: Integers, n: int, p: float) -> float:
    """Pearson's test against the exact law, neighbouring values merged until a class expects at least 100 draws."""
    # Classes by quantiles of the exact law: at most 200, with both tails in the end classes.
    levels = np.arange(1, 200) / 200
    edges = np.unique(
        np.concatenate(
            [stats.binom.ppf(levels, n, p), support(n, p, 4.0)] if n * p < 1000 else [stats.binom.ppf(levels, n, p)]
        )
    )
    below = np.concatenate([[0.0], stats.binom.cdf(edges, n, p), [1.0]])
    kept = [0.0]
    chosen = []
    for edge, probability in zip(edges, below[1:-1], strict=True):
        if (probability - kept[-1]) * drawn.size >= 100 and (1 - probability) * drawn.size >= 100:
            kept.append(probability)
            chosen.append(edge)
    expected = np.diff([*kept, 1.0]) * drawn.size
    observed = np.bincount(np.searchsorted(chosen, drawn, side="left"), minlength=expected.size)
    statistic = ((observed - expected) ** 2 / expected).sum()
    return float(stats.chi2.sf(statistic, expected.size - 1)) if expected.size > 1 else 1.0


@pytest.mark.parametrize(("n", "p"), CASES)
def test_draws_pass_a_chi_square_test(n: int, p: float) -> None:
    key = jax.random.fold_in(jax.random.key(20240611), n)
    drawn = np.asarray(binomial(key, jnp.full(DRAWS, n, jnp.int32), p))
    assert drawn.min() >= 0
    assert drawn.max() <= n
    assert chi_square_p_value(drawn, n, exactly(p)) > FALSE_ALARM / len(CASES)


@pytest.mark.parametrize(("n", "p"), [(10, 0.3), (100, 0.2), (1000, 0.3), (10**6, 0.3)])
def test_chi_square_test_sees_a_shift_of_a_fiftieth_of_a_standard_deviation(n: int, p: float) -> None:
    drawn = np.asarray(binomial(jax.random.key(5), jnp.full(DRAWS, n, jnp.int32), p))
    assert chi_square_p_value(drawn, n, exactly(p) + 0.02 * np.sqrt(p * (1 - p) / n)) < FALSE_ALARM / len(CASES)


def test_draws_under_one_key_per_element_pass_a_chi_square_test() -> None:
    keys = jax.random.split(jax.random.key(11), DRAWS)
    for n, p in ((30, 0.3), (300, 0.3)):
        # Two tests at 1e-8 each.
        assert chi_square_p_value(np.asarray(binomial(keys, n, p)), n, exactly(p)) > 1e-8


# One program of each for all laws.
under_vmap = jax.vmap(binomial, (0, None, None))
one_by_one = jax.jit(lambda keys, n, p: jax.lax.map(lambda key: binomial(key, n, p), keys))
inside = jax.jit(jax.vmap(lambda key, n, p: binomial(key, n, p) + 1, (0, None, 0)))
LAWS = [
    (20, 0.3),
    *(pytest.param(*law, marks=pytest.mark.slow) for law in ((100, 0.4), (10_000, 0.9), (10**6, 0.3))),
    (10**9, 0.4),
]


@pytest.mark.parametrize(("n", "p"), LAWS)
def test_draws_do_not_depend_on_the_batch(n: int, p: float) -> None:
    # Different compilations may round differently: a draw would then move by one with a probability of about 1e-7 sd.
    # None has been seen to.
    keys = jax.random.split(jax.random.key(1), 7000)
    whole = np.asarray(binomial(keys, n, p))
    assert np.unique(whole).size > 10
    for size in (7, 64, 1000):  # the slowest test: six compilations, shared by the laws
        parts = [np.asarray(binomial(keys[i : i + size], n, p)) for i in range(0, 1000 // size * size, size)]
        np.testing.assert_array_equal(np.concatenate(parts), whole[: sum(map(len, parts))])
    np.testing.assert_array_equal(under_vmap(keys, n, p), whole)
    np.testing.assert_array_equal(one_by_one(keys[:100], n, p), whole[:100])
    np.testing.assert_array_equal(np.asarray(inside(keys, n, jnp.full(7000, p))) - 1, whole)


@pytest.mark.slow
def test_neighbours_in_a_batch_do_not_matter() -> None:
    keys = jax.random.split(jax.random.key(2), len(CASES))
    n, p = jnp.asarray([n for n, _ in CASES]), jnp.asarray([p for _, p in CASES])
    alone = [int(binomial(keys[i], n[i], p[i])) for i in range(len(CASES))]
    assert binomial(keys, n, p).tolist() == alone


@pytest.mark.slow
def test_blocks_of_a_large_batch_change_nothing() -> None:
    # Rows of 0 to 500 trials: blocks that draw nothing, search, expand or do both, and a last one that overlaps.
    keys = jax.random.split(jax.random.key(6), 300)
    n = jnp.broadcast_to(jnp.maximum(jnp.arange(-100, 500)[:, None], 0), (600, 300)).at[200::7].set(3)
    one_by_one = jax.vmap(lambda key, m: binomial(key, m, 0.3), in_axes=(0, 1), out_axes=1)
    np.testing.assert_array_equal(binomial(keys, n, 0.3), one_by_one(keys, n))


@pytest.mark.slow
def test_elements_that_share_a_key_get_streams_of_their_own() -> None:
    key, keys = jax.random.key(3), jax.random.split(jax.random.key(3), 4)
    n = jnp.full((4, 500), 10**6)
    shared = np.asarray(binomial(key, n, 0.3))
    rows = np.asarray(binomial(keys[:, None], n, 0.3))
    # With a standard deviation of 458, 2000 independent draws take some 1100 to 1400 values, and copies far fewer.
    assert np.unique(shared).size > 1000
    assert np.unique(rows).size > 1000
    np.testing.assert_array_equal(jax.vmap(lambda k, m: binomial(k, m, 0.3))(keys, n), rows)
    # The first element under a key is what the key gives on its own.
    assert rows[2, 0] == binomial(keys[2], 10**6, 0.3)
    # Independent rows: a correlation of 500 pairs has standard error 0.045; beyond 0.27 at a rate below 1e-8.
    assert np.abs(np.corrcoef(rows)[np.triu_indices(4, 1)]).max() < 0.27


@pytest.mark.slow
def test_draws_under_one_key_rise_with_p_and_with_n() -> None:
    keys = jax.random.split(jax.random.key(4), 200)
    # From the search through the expansion to the search for the other outcome, and from the search to the expansion.
    by_p = np.stack([np.asarray(binomial(keys, jnp.int32(200), p)) for p in jnp.linspace(0.0, 1.0, 101)])
    by_n = np.stack([np.asarray(binomial(keys, jnp.int32(n), jnp.float32(0.2))) for n in range(0, 300, 3)])
    assert np.all(np.diff(by_p, axis=0) >= 0)
    assert np.all(np.diff(by_n, axis=0) >= 0)


def test_degenerate_laws_are_exact() -> None:
    key = jax.random.key(0)
    n = jnp.asarray([0, 1, 24, 100, 10**6, 10**9, 2**31 - 1])
    for p in (0.0, 0.3, 1.0):
        assert binomial(key, jnp.zeros_like(n), p).tolist() == [0] * 7
    assert binomial(key, n, 0.0).tolist() == [0] * 7
    assert binomial(key, n, 1.0).tolist() == n.tolist()


def test_values_out_of_range_are_marked() -> None:
    drawn = binomial(jax.random.key(0), jnp.asarray([-1, 5, 5, 5, 5]), jnp.asarray([0.5, -0.1, 1.1, jnp.nan, 0.5]))
    assert drawn[:4].tolist() == [-1] * 4
    assert 0 <= drawn[4] <= 5


def test_shapes_and_types() -> None:
    key = jax.random.key(0)
    assert binomial(key, 10, 0.3).shape == ()
    drawn = binomial(jax.random.split(key, 3)[:, None], jnp.arange(2, dtype=jnp.uint8), 0.3)
    assert drawn.shape == (3, 2)
    assert drawn.dtype == jnp.int32
    assert binomial(key, jnp.zeros((0, 3), jnp.int32), 0.3).shape == (0, 3)
    with pytest.raises(TypeError, match="integer"):
        binomial(key, 10.0, 0.3)
    with pytest.raises(TypeError, match="real"):
        binomial(key, 10, 0.3j)
    with pytest.raises(TypeError, match="typed"):
        binomial(jax.random.PRNGKey(0), 10, 0.3)
    with pytest.raises(ValueError, match="shape"):
        binomial(key, jnp.ones(2, jnp.int32), jnp.ones(3))
