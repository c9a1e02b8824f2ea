"""Tie orders: every arm once, and any of some arms as likely to come first as any other.

Sampled tests have fixed seeds; each states the probability that a fresh seed would fail it although all is right.
"""

import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from jaxbandits.random import tie_breaking

pytestmark = pytest.mark.bits

LEVEL = 1e-8


tie_order, arm_at = jax.jit(tie_breaking.tie_order, static_argnums=1), jax.jit(tie_breaking.arm_at, static_argnums=1)
turn, turned, arm_turned = map(jax.jit, (tie_breaking.reshuffle, tie_breaking.turned, tie_breaking.arm_turned))


@functools.partial(jax.jit, static_argnames="runs")
def words(seed, runs):
    return tie_breaking.tie_words(jax.random.split(jax.random.key(seed), runs))


@pytest.mark.parametrize("count", [2, 5, 64, 65, 256, 257, 1000, pytest.param(2**20 + 3, marks=pytest.mark.slow)])
def test_a_tie_order_names_every_arm_once(count):
    runs = 50 if count < 2000 else 3
    own = words(3, runs)
    order = np.asarray(tie_order(own, count))
    assert order.dtype == np.int32
    assert order.shape == (count, runs)
    assert (order >= 0).all()
    assert all(len(np.unique(order[:, run])) == count for run in range(runs))
    numbers = np.broadcast_to(np.arange(count)[:, None], order.shape)
    np.testing.assert_array_equal(arm_at(order, count, own), numbers)
    np.testing.assert_array_equal(order[:, 1], tie_order(own[:, 1], count))
    np.testing.assert_array_equal(tie_breaking.mask_at(order[1], jnp.asarray(order)), numbers == 1)
    # A sweep over numbers of arms pads them, those of several bandits perhaps beyond the next power of two.
    wider = np.asarray(tie_order(own[:, :3], 4 * count))[:count]
    np.testing.assert_array_equal(np.argsort(order[:, :3], axis=0), np.argsort(wider, axis=0))


def test_orders_of_other_rounds_tell_nothing_of_each_other():
    """Chi-square of the first arms of two rounds, and of a round and the run's own order, p > 1e-8 each."""
    own, count = words(9, 100_000), 5
    at = jax.jit(tie_breaking.order_at, static_argnums=2)
    rounds = [tie_order(own, count), *(at(own, jnp.full(100_000, number, jnp.int32), count) for number in (0, 1, 2, 7))]
    first = [np.asarray(order).argmin(axis=0) for order in rounds]
    for a, b in itertools.combinations(first, 2):
        assert stats.chisquare(np.bincount(a * count + b, minlength=count**2)).pvalue > LEVEL
    # As the run's own order, it is the same where arms are padded.
    wider = np.asarray(at(own[:, :3], jnp.full(3, 7, jnp.int32), 300))[:count]
    np.testing.assert_array_equal(np.argsort(np.asarray(rounds[-1])[:, :3], axis=0), np.argsort(wider, axis=0))


@pytest.mark.parametrize("count", [2, 7, 10])
def test_every_arm_is_as_likely_to_come_first_and_last(count):
    """Chi-square of the first and of the last place, and of the first two together, p > 1e-8 each."""
    order = np.asarray(tie_order(words(count, 200_000), count))
    places = np.argsort(order, axis=0)
    pairs = places[0] * count + places[1]
    possible = [a * count + b for a in range(count) for b in range(count) if a != b]
    for sample, values in ((places[0], range(count)), (places[-1], range(count)), (pairs, possible)):
        counts = np.bincount(sample, minlength=count * count)[list(values)]
        assert counts.sum() == 200_000
        assert stats.chisquare(counts).pvalue > LEVEL


@pytest.mark.parametrize("count", [65_536, 131_073])
def test_of_many_arms_too(count):
    """The first arm's number over K is uniform: its mean within 6 standard errors (p < 2e-9), and by Kolmogorov's test.

    With random upper bits beside the number the mean was .35 of 65 536 arms and .06 of 131 073.
    """
    one = jax.jit(lambda own: jnp.argmin(tie_order(own, count), axis=0))
    first = np.concatenate([one(words(seed, 50)) for seed in range(40)]) / count
    assert abs(first.mean() - 0.5) < 6 * 12**-0.5 * first.size**-0.5
    assert stats.kstest(first, "uniform").pvalue > LEVEL


@pytest.mark.parametrize("count", [40, 300])
def test_orders_at_a_time_put_every_arm_first_equally_often(count):
    """Chi-square with p > 1e-8 of a run's turns."""
    turns = turn(words(count, 1), jnp.arange(100 * count, dtype=jnp.int32))
    number = np.broadcast_to(np.arange(count, dtype=np.int32)[:, None], (count, 100 * count))
    places = turned(jnp.asarray(number), turns)
    np.testing.assert_array_equal(arm_turned(places, turns), number)
    for place in (0, 1, count - 1):
        found = np.argsort(np.asarray(places), axis=0)[place]
        assert stats.chisquare(np.bincount(found, minlength=count)).pvalue > LEVEL


def test_no_arm_comes_first_too_often_among_a_hundred():
    """Chi-square of 6 million turns, p > 1e-8; .6% too many for some arms, as with two products, would have p = 0."""

    @jax.jit
    def firsts(time):
        places = turned(jnp.arange(100, dtype=jnp.int32)[:, None], turn(words(1, 1), time))
        return jnp.bincount(jnp.argmin(places, axis=0), length=100)

    counts = sum(np.asarray(firsts(jnp.arange(300_000, dtype=jnp.int32) + 300_000 * part)) for part in range(20))
    assert stats.chisquare(counts).pvalue > LEVEL


@pytest.mark.parametrize("tied", [(0, 1, 2, 3, 4), (0, 1, 4, 9), (3, 4, 98, 10**6), (7, 8, 9, 11, 40)])
def test_all_orders_of_some_arms_are_as_likely(tied):
    """Chi-square with p > 1e-8: of a run's turns, of runs at a time, of whole runs' orders."""
    arm, number = jnp.asarray(tied, jnp.int32)[:, None], len(tied)
    own, time = words(6, 1_000_000), jnp.arange(1_000_000, dtype=jnp.int32)
    place = jax.jit(lambda words, time: turned(arm, turn(words, time)))
    orders = [place(own[:, :1], time), place(own, jnp.int32(300))]
    if max(tied) < 100:
        orders.append(jax.jit(lambda words: tie_order(words, 100)[jnp.asarray(tied)])(own))
    possible = {order: i for i, order in enumerate(itertools.permutations(range(number)))}
    codes = np.full(number**number, -1)
    for order, i in possible.items():
        codes[np.ravel_multi_index(order, (number,) * number)] = i
    for places in orders:
        found = codes[np.ravel_multi_index(tuple(np.argsort(np.asarray(places), axis=0)), (number,) * number)]
        assert stats.chisquare(np.bincount(found, minlength=len(possible))).pvalue > LEVEL
