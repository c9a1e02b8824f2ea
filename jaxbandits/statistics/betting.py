"""Confidence sequences of the means of bounded rewards, by betting: they hold at all times, and adapt to the spread.

Waudby-Smith, Ramdas (2024), "Estimating means of bounded random variables by betting", JRSS-B 86. The formulas are
those of the paper and of its authors' package `confseq`, which bets with log(1/alpha) in place of log(2/alpha).

Rewards X_1, X_2, … lie in [0, 1] and have the conditional mean mu. The t-th bet is chosen before X_t is seen:

    mean_t   = (1/2 + sum_{i<=t} X_i) / (t + 1)
    spread_t = (1/4 + sum_{i<=t} (X_i - mean_i)^2) / (t + 1)
    bet_t    = sqrt(2 level / (spread_{t-1} t log(1 + t))),    level = log(2 / alpha)

A sequence is a state of one arm, or of arms of any shape. `after` adds one reward, and `bounds` returns the interval.
Each side of it ever fails with probability at most exp(-level) = alpha / 2, also under adaptive sampling: the proofs
use conditional means only. The level of `bounds` may differ from the level of the bets. It is then the former that
decides the probability, and the latter how wide the interval is at which time.

**Empirical Bernstein** (`PlugInBernstein`, the paper's PrPl-EB) has four sums. With l_t = min(bet_t, 1/2) and
psi(l) = -log(1 - l) - l, the process

    exp(sum_t l_t (X_t - mu) - psi(l_t) (X_t - mean_{t-1})^2)

is a nonnegative supermartingale (Fan, Grama, Liu 2015; Howard, Ramdas, McAuliffe, Sekhon 2021). It ever reaches
exp(level) with probability at most exp(-level) (Ville). The same holds for 1 - X.

**Hedged capital** (`HedgedCapital`) bets against every mean m. Its capitals are

    K+_t(m) = prod_i (1 + min(bet_i, c/m) (X_i - m)),    K-_t(m) = prod_i (1 - min(bet_i, c/(1-m)) (X_i - m)),

with c = 1/2. Under m = mu they are martingales of mean 1. The interval leaves out each m with max(K+, K-) / 2 of at
least 1/alpha. It is the narrower one for few rewards or little spread, down to a half of the other; for coins it is
wider by at most a tenth (`tests/statistics/test_betting.py`).

The means are in a grid of cells, and only the capitals of both ends of each cell are kept. Within a cell the largest
bet that is allowed at all of its means bounds all bets. So each factor is an affine function of m, its logarithm is
concave, and so is the sum. The straight line between the ends is therefore never above the logarithm of the capital. A
mean is left out only where the line reaches the level: the guarantee is exact for every mean, not only for the ends.
Nothing is assumed about the shape of the set that is left; the interval is its hull.

**Without replacement.** Let X_1, X_2, … be the N values of a finite population with mean m, in a random order. The next
one has the conditional mean m_t = (N m - sum_{i<t} X_i) / (N - t + 1) (Waudby-Smith, Ramdas 2020, "Confidence sequences
for sampling without replacement", NeurIPS). Both sequences then bet against m_t in place of m. It is affine in m, so
the proofs are the same, and the bound of a cell too. The interval of PrPl-EB has the bets l_t N / (N - t + 1).

The grid is a window. It begins as [0, 1]. When the interval lies in one half of the window, that half becomes the
window, and each of its cells becomes two. The new ends begin with the value of the line, which is not above the
capital. All means outside the window were left out at an earlier time. So the cells stay small compared with the
interval: at least a quarter of them are in it. With 16 cells the interval is wider than that of an infinitely fine grid
by less than 5%, and with 32 by less than 3%. Where rewards hardly vary and alpha is tiny, it is wider by up to 12% and
6% (measured in the same tests).
"""

import functools
from typing import NamedTuple, Self, TypeAlias

import jax
import jax.numpy as jnp

from jaxbandits.arrays.compensated_sums import CompensatedSum
from jaxbandits.arrays.numerics import log1pmx

__all__ = ["CELLS", "BettingSequence", "HedgedCapital", "PlugInBernstein"]

#: The default number of cells of a window.
CELLS = 16
# c: the largest bet of empirical Bernstein, and the largest share of the capital that is ever lost at once.
_MOST = 0.5
# The least length of a window: float32 has the ends of its cells.
_LEAST = 2.0**-16


class PlugInBernstein(NamedTuple):
    """The sums of the empirical Bernstein sequence.

    Attributes:
        sums: `(…, 4)`, of (X_t - mean_t)^2, l_t, l_t X_t, and psi(l_t) (X_t - mean_{t-1})^2.
    """

    sums: CompensatedSum

    @classmethod
    def start(cls, shape: tuple[int, ...]) -> Self:
        """Return the sums before the first reward."""
        return cls(CompensatedSum.of(jnp.zeros((*shape, 4))))

    def after(
        self, reward: jax.Array, number: jax.Array, total: jax.Array, level: jax.Array, cells: jax.Array | None = None
    ) -> Self:
        """Return the sums after one more reward.

        Args:
            reward: float32 `(…)`, in [0, 1].
            number: int32 `(…)`, its number, from 1.
            total: float32 `(…)`, the sum of the rewards with this one.
            level: float32 `()` or `(…)`, log(2 / alpha) of the bets.
            cells: int32 `(…)`, N of a finite population that is read without replacement; None with replacement.
        """
        bet, now, before = _bet(self.sums.high[..., 0], reward, number, total, level)
        bet = jnp.minimum(bet, _MOST)
        paid = log1pmx(-bet, 1 - bet) * (before * before)
        won = bet * reward
        if cells is not None:
            growth, read = _unread(reward, number, total, cells)
            bet, won = bet * growth, bet * (reward + growth * read)
        terms = (x[..., None] for x in (bet, won, paid))
        return type(self)(self.sums.plus(functools.reduce(_beside, enumerate(terms, 1), now[..., None] ** 2)))

    def bounds(self, level: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Return the ends of the interval after one reward or more, float32 `(…)`, in [0, 1]."""
        bets, won, paid = (self.sums.high[..., i] for i in (1, 2, 3))
        middle, radius = won / bets, (level + paid) / bets
        return jnp.maximum(middle - radius, 0), jnp.minimum(middle + radius, 1)

    def narrowed(self, lower: jax.Array, upper: jax.Array) -> Self:
        """Return the same sums: they are for all means."""
        del lower, upper
        return self


class HedgedCapital(NamedTuple):
    """The logarithms of the capitals at both ends of each of G cells of a window.

    Attributes:
        spread: `(…)`, the sum of (X_t - mean_t)^2.
        capital: `(…, 2, 2, G)`: of K+ and K-; at the left and at the right ends.
        left: float32 `(…)`, the left end of the window.
        length: float32 `(…)`, the length of the window.
    """

    spread: CompensatedSum
    capital: CompensatedSum
    left: jax.Array
    length: jax.Array

    @classmethod
    def start(cls, shape: tuple[int, ...], cells: int = CELLS) -> Self:
        """Return the capitals before the first reward, which are 1; `cells` is a power of two, at least 4."""
        spread, capital = (CompensatedSum.of(jnp.zeros(n)) for n in (shape, (*shape, 2, 2, cells)))
        return cls(spread, capital, jnp.zeros(shape), jnp.ones(shape))

    def after(
        self, reward: jax.Array, number: jax.Array, total: jax.Array, level: jax.Array, cells: jax.Array | None = None
    ) -> Self:
        """Return the capitals after one more reward; the arguments are those of `PlugInBernstein.after`."""
        bet, now, _ = _bet(self.spread.high, reward, number, total, level)
        ends, other = self._means(jnp.arange(2)), self._means(1 - jnp.arange(2))
        if cells is not None:
            growth, read = (x[..., None, None] for x in _unread(reward, number, total, cells))
            ends, other = growth * (ends - read), growth * (other - read)
        bet, reward = bet[..., None, None, None], reward[..., None, None, None]
        ends, side = ends[..., None, :, :], jnp.arange(2).reshape(2, 1, 1)
        sign = 1.0 - 2 * side  # K+ bets on m, and K- on 1 - m
        room = side + sign * other[..., :, None, :]  # the largest m, or 1 - m, of the cell
        if cells is not None:
            room = jnp.maximum(room, _LEAST)  # what was read excludes all means of the cell
        gains = jnp.log1p(sign * jnp.minimum(bet, _MOST / room) * (reward - ends))
        return self._replace(spread=self.spread.plus(now * now), capital=self.capital.plus(gains))

    def bounds(self, level: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Return the ends of the interval in the window, float32 `(…)`."""
        ends, capital, level = self._means(jnp.arange(2)), self.capital.high, jnp.asarray(level)[..., None]
        left, right = ends[..., 0, :], ends[..., 1, :]
        high, low = capital[..., 0, 0, :], capital[..., 0, 1, :]  # K+ falls with the mean
        crossed = left + _part(high, low, level) * (right - left)
        lower = jnp.where(low >= level, right[..., -1:], jnp.where(high < level, left, crossed))
        high, low = capital[..., 1, 1, :], capital[..., 1, 0, :]  # K- grows
        crossed = right - _part(high, low, level) * (right - left)
        upper = jnp.where(low >= level, left[..., :1], jnp.where(high < level, right, crossed))
        return jnp.min(lower, axis=-1), jnp.max(upper, axis=-1)

    def narrowed(self, lower: jax.Array, upper: jax.Array) -> Self:
        """Return the capitals with half the window, as long as the interval lies in its left, middle or right half."""

        def fits(window: HedgedCapital) -> jax.Array:
            quarter = window.length / 4
            start = window.left + window._half(lower) * quarter
            return (upper <= start + 2 * quarter) & (window.length > _LEAST)

        def halved(window: HedgedCapital) -> HedgedCapital:
            half, quarter, cells = window._half(lower), window.length / 4, window.capital.high.shape[-1]

            def split(x: jax.Array) -> jax.Array:
                parts = [_halved(x[..., i * cells // 4 : (i + 2) * cells // 4]) for i in range(3)]
                place = half[..., None, None, None]
                return jnp.where(place == 0, parts[0], jnp.where(place == 1, parts[1], parts[2]))

            return window._replace(
                capital=jax.tree.map(split, window.capital), left=window.left + half * quarter, length=2 * quarter
            )

        def narrow(window: HedgedCapital) -> HedgedCapital:
            return jax.lax.while_loop(fits, halved, window)

        return type(self)(*jax.lax.cond(fits(self), narrow, lambda same: same, self))

    def _half(self, lower: jax.Array) -> jax.Array:
        """Return the last half of the window that begins at or before a mean: 0, 1, 2 for left, middle, right."""
        quarter = self.length / 4
        return (lower >= self.left + quarter).astype(jnp.int32) + (lower >= self.left + 2 * quarter)

    def _means(self, ends: jax.Array) -> jax.Array:
        """Return an end of each cell, 0 for the left and 1 for the right, `(2,)`; float32 `(…, 2, G)`, exact."""
        cells = self.capital.high.shape[-1]
        parts = (jnp.arange(cells) + ends[:, None]).astype(jnp.float32) * (1 / cells)
        return self.left[..., None, None] + self.length[..., None, None] * parts


#: A sequence of either form.
BettingSequence: TypeAlias = PlugInBernstein | HedgedCapital


def _bet(
    spread: jax.Array, reward: jax.Array, number: jax.Array, total: jax.Array, level: jax.Array
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Return bet_t without a limit, X_t - mean_t, and X_t - mean_{t-1}."""
    t = number.astype(jnp.float32)
    bet = jnp.sqrt(2 * level / ((0.25 + spread) * jnp.log1p(t)))  # spread_{t-1} t is the sum
    return bet, reward - (0.5 + total) / (t + 1), reward - (0.5 + (total - reward)) / t


def _unread(reward: jax.Array, number: jax.Array, total: jax.Array, cells: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return N / (N - t + 1) and the sum of the earlier rewards over N: m_t is the first times m less the second."""
    size = cells.astype(jnp.float32)
    return size / jnp.maximum(cells - number + 1, 1), (total - reward) / size


def _beside(others: jax.Array, numbered: tuple[int, jax.Array]) -> jax.Array:
    """Return the sums' terms, `(…, 4)`, with one of a number, `(…, 1)`; the engine can leave arms out of a choice."""
    number, term = numbered
    return jnp.where(jnp.arange(4) == number, term, others)


def _part(high: jax.Array, low: jax.Array, level: jax.Array) -> jax.Array:
    """Return where a line from `high`, at least the level, falls to it on its way to `low`, below it; in [0, 1]."""
    fall = high - low
    return (high - level) / jnp.where(fall > 0, fall, 1)


def _halved(x: jax.Array) -> jax.Array:
    """Return the values at both ends of the halves of cells, `(…, 2, 2 N)`, from those of the cells, `(…, 2, N)`."""
    left, right = x[..., :1, :], x[..., 1:, :]
    middle = (left + right) / 2
    halves = jnp.concatenate([jnp.stack([left, middle], axis=-1), jnp.stack([middle, right], axis=-1)], axis=-3)
    return halves.reshape(*x.shape[:-1], 2 * x.shape[-1])
