"""Binomial draws by inversion: one random block a draw, no rejection, float32 arithmetic, a pure function of the key.

A draw is the binomial quantile at one uniform made from one block. It does not depend on its batch. Draws under one key
rise with `n` and `p`, rounding aside (common random numbers). The mean of the rarer outcome, `n * min(p, 1 - p)`,
decides between two methods:

* below `SWITCH_MEAN`, sequential search from zero with the recurrence of the probabilities: algorithm BINV of
  Kachitvichyanukul and Schmeiser (1988), "Binomial random variate generation", Communications of the ACM 31;
* from there on, the expansion of Cornish and Fisher (1938), "Moments and cumulants in the specification of
  distributions", and Fisher and Cornish (1960), "The percentile points of distributions having known cumulants". It is
  taken to the fourth order in 1/sd with Sheppard's corrections for the lattice. Its total variation from the binomial
  law is at most 4e-6 at the switch and about 1e-7 at a mean of 100. An acceptance step on top, as in Hörmann (1993),
  "The generation of binomial random variates", with the probabilities of Loader (2000), "Fast and accurate computation
  of binomial probabilities", would cost a loop over the whole batch. It would gain nothing at this accuracy.
"""

import jax
import jax.numpy as jnp
from jax import lax
from jax.typing import ArrayLike

from jaxbandits.arrays.numerics import fast_max, fast_min
from jaxbandits.compilers.xla_cpu import blockwise
from jaxbandits.random.threefry import key_words, threefry2x32

__all__ = ["SWITCH_MEAN", "binomial"]

# Below: up to about sixty cheap steps of the search. Above: no loop, and a total variation that falls with the mean.
SWITCH_MEAN = 25.0
# Past the mean, smaller terms no longer change a float32 survival probability noticeably.
_NEGLIGIBLE = 1e-12
# Width of the spread in `expansion_quantile`, per sd: some thirty float32 grid steps, and below one count for any n.
_SPREAD = 2.0**-18
# Steps of the search per pass over the batch: a pass is bound by memory, a step by arithmetic.
_STEPS_PER_PASS = 8


@jax.jit
def binomial(key: jax.Array, n: ArrayLike, p: ArrayLike, other: ArrayLike | None = None) -> jax.Array:
    """Draw from Binomial(n, p).

    `key`, `n`, `p` and `other` broadcast together. Elements that share a key are distinguished by their position along
    the axes on which the key has size one. One key for an array, one key per row, one key per element and `jax.vmap`
    over keys are all safe. They give the same draws where they describe the same keys.

    The law is that of `p` rounded to float32. Its total variation from the binomial law is below 1e-5 for `n` up to
    10^6, as measured; for larger `n`, mean and quantiles are within 1e-3 standard deviations. Where the mean of the
    rarer outcome is between 0.1 and 25, single events of probability below about 1e-6 are not resolved.

    Args:
        key: typed Threefry keys (`jax.random.key`), any shape.
        n: number of trials, integers in [0, 2^31 - 1].
        p: probability of success, real, in [0, 1].
        other: probability of failure, for where `1 - p` has lost the digits of a rare one; None for `1 - p`.

    Returns:
        int32 array of the broadcast shape, in [0, n]; -1 where `n` or `p` is out of range or `p` is NaN. Both may be
        traced, so that their values cannot raise.

    Raises:
        TypeError: if `key` is not a typed Threefry key, `n` is not of an integer type, or `p` is complex.
        ValueError: if the shapes do not broadcast.
    """
    key_words(key)  # refuses a raw key before its shape counts as the shape of the draws
    trials, probability = jnp.asarray(n), jnp.asarray(p)
    if not jnp.issubdtype(trials.dtype, jnp.integer):
        raise TypeError(f"n must be of an integer type, got {trials.dtype}")
    if jnp.issubdtype(probability.dtype, jnp.complexfloating):
        raise TypeError(f"p must be real, got {probability.dtype}")
    failure = 1 - probability.astype(jnp.float32) if other is None else jnp.asarray(other)
    shape = jnp.broadcast_shapes(key.shape, trials.shape, probability.shape, failure.shape)
    words = (word.reshape((1,) * (len(shape) - key.ndim) + key.shape) for word in key_words(key))
    position = _position(key.shape, shape)
    trials = jnp.where(jnp.asarray(n) == trials.astype(jnp.int32), trials.astype(jnp.int32), -1)
    trials = jnp.broadcast_to(trials, shape)
    probability, failure = (jnp.broadcast_to(x.astype(jnp.float32), shape) for x in (probability, failure))
    return blockwise(_draw, *words, position, trials, probability, failure)


def _draw(
    key_high: jax.Array,
    key_low: jax.Array,
    position: jax.Array,
    trials: jax.Array,
    probability: jax.Array,
    failure: jax.Array,
) -> jax.Array:
    """Return `binomial` from the words of the keys and the positions, all with the same number of axes."""
    valid = (trials >= 0) & (probability >= 0) & (probability <= 1)
    count = jnp.where(valid, trials, 0)
    # 1 - p is exact for float32 p in [1/2, 1] (Sterbenz), so that the probability of the rarer outcome has no rounding.
    flipped = probability > 0.5
    rare = jnp.where(valid, jnp.where(flipped, failure, probability), 0)

    def of_rare() -> jax.Array:
        high, low = threefry2x32(key_high, key_low, position, jnp.zeros_like(position))
        # The uniform is P(X > draw); counting the other outcome turns it round.
        turn = jnp.where(flipped, jnp.uint32(0xFFFFFFFF), jnp.uint32(0))
        high, low = high ^ turn, low ^ turn
        expanded = count.astype(jnp.float32) * rare >= SWITCH_MEAN
        searched = ~expanded & (count > 0)
        none = jnp.zeros_like(count)
        draw = lax.cond(
            jnp.any(searched), lambda: search_quantile(_unit(high, low), count, rare, searched), lambda: none
        )
        return lax.cond(
            jnp.any(expanded),
            lambda: jnp.where(expanded, expansion_quantile(high, low, count, rare), draw),
            lambda: draw,
        )

    draw = lax.cond(jnp.any(count > 0), of_rare, lambda: jnp.zeros_like(count))
    return jnp.where(valid, jnp.where(flipped, count - draw, draw), -1)


def search_quantile(survival_level: jax.Array, n: jax.Array, p: jax.Array, wanted: jax.Array) -> jax.Array:
    """Return the smallest k with P(X > k) <= survival_level, by sequential search from 0, for p <= 1/2 and small n p.

    Searching on P(X > k) rather than P(X <= k) keeps rare events exact: P(X > 0) is accurate however small it is.
    """
    trials = n.astype(jnp.float32)
    odds = p / (1 - p)
    log_none = trials * jnp.log1p(-p)
    State = tuple[jax.Array, jax.Array, jax.Array]

    def unfinished(state: State) -> jax.Array:
        _, term, ahead = state
        return jnp.any((ahead > 0) & (term > 0))

    def advance(state: State) -> State:
        k, term, ahead = state
        for _ in range(_STEPS_PER_PASS):
            k = k + 1
            # P(X = k) = P(X = k - 1) (n - k + 1) / k p / (1 - p); zero from k = n + 1 on.
            term = term * ((trials - (k - 1)) * odds * (1 / k))
            # P(X > k) less the level; once that is not positive, -k instead.
            further = ahead - term
            ahead = jnp.where(ahead > 0, jnp.where(further > 0, further, -k), ahead)
        return k, jnp.where((k > trials * p) & (term < _NEGLIGIBLE), 0, term), ahead

    ahead = -jnp.expm1(log_none) - survival_level
    start = (jnp.float32(0), jnp.exp(log_none), jnp.where(wanted & (ahead > 0), ahead, 0))
    _, _, ahead = lax.while_loop(unfinished, advance, start)
    # Rounding can leave a survival probability of order 1e-7 after the last term. The levels below it have no quantile.
    # They go to the centre of the law, where they do no harm, rather than to its far tail.
    return jnp.where(ahead > 0, trials * p, -ahead).astype(jnp.int32)


def expansion_quantile(high: jax.Array, low: jax.Array, n: jax.Array, p: jax.Array) -> jax.Array:
    """Return the k with P(X > k) at the uniform made of two words, by Cornish-Fisher, for p <= 1/2 and large n p."""
    # The top bit picks the side; the rest is a tail probability in [0, 1/2] that is equally fine on both sides.
    side = jnp.where(high >> jnp.uint32(31) == 0, jnp.uint32(0), jnp.uint32(0xFFFFFFFF))
    tail = fast_max(_unit(high ^ side, low ^ side), jnp.float32(2.0**-64))
    z = jnp.where(side == 0, -1, 1) * jax.scipy.special.ndtri(tail)
    whole, fraction = _mean(n, p)
    sd = jnp.sqrt(n.astype(jnp.float32) * p * (1 - p))
    # A draw is n p + offset rounded down. Only the offset is a float, of the size of a few standard deviations.
    offset = fraction + expansion_offset(z, p, sd)
    below = jnp.floor(offset)
    # The float32 grids of the tail, z and the offset favour some integers over others by about 1e-7 sd (a total
    # variation of 2e-5 at n = 10^6). Spreading the offset, evenly to both sides, over many grid steps averages that
    # away. The 16 bits used reach `tail` only where that is below 2^-24.
    spread = (low & jnp.uint32(0xFFFF)).astype(jnp.float32) * jnp.float32(2.0**-16) - jnp.float32(0.5 - 2.0**-17)
    carry = jnp.floor((offset - below) + spread * (sd + jnp.abs(offset)) * _SPREAD)
    return fast_min(fast_max(whole + below.astype(jnp.int32) + carry.astype(jnp.int32), 0), n)


def expansion_offset(z: jax.Array, p: jax.Array, sd: jax.Array) -> jax.Array:
    """Return the offset for which X = floor(n p + offset) is binomial up to terms of order sd^-4 (Cornish-Fisher).

    z is standard normal. Only arithmetic operators are used, so that NumPy float64 arrays pass through too.

    The second to sixth cumulants are sd^2 times 1, 1 - 2p, 1 - 6pq, (1 - 2p)(1 - 12pq), 1 - 30pq + 120 (pq)^2, less
    Sheppard's 1/12, 0, -1/120, 0, 1/252 for the width of a lattice cell. The 1/2 is from the middle of a cell to its
    upper end. After substitution into Fisher and Cornish (1960), each term below has one more power of 1/sd.
    """
    skew, pq, square, inverse = 1 - 2 * p, p * (1 - p), z * z, 1 / sd
    first = skew * (square - 1) / 6
    second = z * (7 * pq - 1 - (pq + 0.5) * square) / 36
    third = skew * (pq + 2) * ((3 * square + 7) * square - 16) / 1620
    fourth = (
        z
        * (
            ((36 * pq + 468) * pq - 207) * square * square
            + ((1024 * pq + 1612) * pq - 548) * square
            + 2684
            - (1732 * pq + 5416) * pq
        )
        / 155520
    )
    return sd * z + (0.5 + first + inverse * (second + inverse * (third + inverse * fourth)))


def _mean(n: jax.Array, p: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return `n p` as an integer plus a fraction in [0, 6): float32 would round it.

    The result is exact except for the sum of the fractions.
    """
    upper = lax.bitcast_convert_type(lax.bitcast_convert_type(p, jnp.uint32) & jnp.uint32(0xFFFFF000), jnp.float32)
    whole, fraction = jnp.zeros_like(n), jnp.zeros_like(p)
    for digits in (n & 0xFFF, n & 0xFFF000, n & 0x7F000000):
        for part in (upper, p - upper):
            # Twelve significant bits by twelve: the product is exact, and so are its floor and its fraction.
            product = digits.astype(jnp.float32) * part
            floor = jnp.floor(product)
            whole, fraction = whole + floor.astype(jnp.int32), fraction + (product - floor)
    return whole, fraction


def _unit(high: jax.Array, low: jax.Array) -> jax.Array:
    """Return (high + low / 2^32) / 2^32 in [0, 1], with 24 significant bits however small."""
    return (high.astype(jnp.float32) + low.astype(jnp.float32) * 2.0**-32) * 2.0**-32


def _position(key_shape: tuple[int, ...], shape: tuple[int, ...]) -> jax.Array:
    """Return the index, uint32, of each element among those that share its key; size one along the axes of the keys."""
    held = (1,) * (len(shape) - len(key_shape)) + key_shape
    position = jnp.zeros((), jnp.uint32)
    own = tuple(size if one == 1 else 1 for one, size in zip(held, shape, strict=True))
    for axis, size in enumerate(own):
        position = position * jnp.uint32(size) + lax.broadcasted_iota(jnp.uint32, own, axis)
    return jnp.broadcast_to(position, own)
