"""Operations over arms against sorting in NumPy, with many ties, padded arms and every shape that the package uses.

Sampled tests have fixed seeds; each states the probability that a fresh seed would fail it although all is right.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxbandits.arrays import arms, ranking
from jaxbandits.arrays.static_int import StaticInt
from jaxbandits.random.tie_breaking import tie_order, tie_words

ARMS = (2, 3, 10, 33, 50, 64, 65, 200)
BATCHES = ((), (7,), (3, 5))
OTHERWISE_BATCHED = (2, 10, 65, 200)  # the others with one axis of runs: shapes are programs


def table(seed, count, batch, integer=False, padded=False):
    """Values with many ties, a tie order and k; `padded` arms have the lowest value there is."""
    random = np.random.default_rng(seed)
    x = random.integers(-3, 4, (count, *batch))
    x = x.astype(np.int32) if integer else (x / 4).astype(np.float32)
    if padded:
        exists = random.random(x.shape) < 0.6
        exists[:2] = True
        x = np.where(exists, x, np.float32(-np.inf))
    keys = jax.random.split(jax.random.key(seed), batch)
    return x, np.asarray(order_of(keys, count)), random.integers(1, count, batch).astype(np.int32)


@functools.partial(jax.jit, static_argnames="count")
def order_of(keys, count):
    return tie_order(tie_words(keys), count)


def by_sorting(x, order):
    """Arm numbers from the largest value to the smallest, ties by the order, `(K, …)`."""
    return np.lexsort((order, -x.astype(np.float64)), axis=0)


def top(x, k, order):
    ranks = np.argsort(by_sorting(x, order), axis=0)
    return ranks < k


def entry(x, arm):
    """The entry of one arm per run, by a loop."""
    return np.asarray([x[(arm[place], *place)] for place in np.ndindex(arm.shape)]).reshape(arm.shape)


@jax.jit
def everything(x, order, k, mask, value):
    def number(place):
        return jnp.argmax(order == place, axis=0).astype(jnp.int32)

    high, high_place = ranking.arg_largest(x, order)
    low, low_place = ranking.arg_smallest(x, order)
    found = {
        "largest": arms.largest(x),
        "smallest": arms.smallest(x),
        "any": arms.any_arm(mask),
        "high": high,
        "high arm": number(high_place),
        "low": low,
        "low arm": number(low_place),
        "first": number(ranking.first_place(mask, order)),
        "rank": ranking.rank(x, order),
        "top": ranking.top_mask(x, k, order),
        "put": arms.put(x, number(high_place), value),
        "take": arms.take(x, number(low_place)),
    }
    if jnp.issubdtype(x.dtype, jnp.floating):
        found["kth"], found["next"], found["kth top"] = ranking.kth_and_next_largest(x, k, order)
        found["kth alone"] = ranking.kth_largest(x, k)
    return found


CASES = [
    (count, batch, kind)
    for count in ARMS
    for batch in (BATCHES if count in OTHERWISE_BATCHED else [(7,)])
    for kind in ("float", "padded")
]
CASES += [(count, (7,), "integer") for count in (2, 33, 65)]


@pytest.mark.parametrize(("count", "batch", "kind"), CASES, ids=str)
def test_every_operation_is_what_sorting_gives(count, batch, kind):
    x, order, k = table(count, count, batch, integer=kind == "integer", padded=kind == "padded")
    mask = np.random.default_rng(1).random(x.shape) < 0.3
    mask[-1] = True
    value = np.full(batch, 9, x.dtype)
    found = {name: np.asarray(value) for name, value in everything(x, order, k, mask, value).items()}
    ranked = by_sorting(x, order)
    np.testing.assert_array_equal(found["largest"], x.max(axis=0))
    np.testing.assert_array_equal(found["smallest"], x.min(axis=0))
    np.testing.assert_array_equal(found["any"], mask.any(axis=0))
    np.testing.assert_array_equal(found["high"], x.max(axis=0))
    np.testing.assert_array_equal(found["high arm"], ranked[0])
    np.testing.assert_array_equal(found["low"], x.min(axis=0))
    np.testing.assert_array_equal(found["low arm"], by_sorting(-x, order)[0])
    np.testing.assert_array_equal(found["first"], np.where(mask, order.astype(np.int64), 2**31).argmin(axis=0))
    np.testing.assert_array_equal(found["rank"], np.argsort(ranked, axis=0))
    np.testing.assert_array_equal(found["top"], top(x, k, order))
    np.testing.assert_array_equal(found["put"], np.where(found["rank"] == 0, x.dtype.type(9), x))
    np.testing.assert_array_equal(found["take"], entry(x, found["low arm"]))
    if kind != "integer":
        descending = -np.sort(-x, axis=0)
        np.testing.assert_array_equal(found["kth"], entry(descending, k - 1))
        np.testing.assert_array_equal(found["kth alone"], entry(descending, k - 1))
        np.testing.assert_array_equal(found["next"], entry(descending, k))
        np.testing.assert_array_equal(found["kth top"], top(x, k, order))


@pytest.mark.parametrize("count", [10, 65, 200])
@pytest.mark.parametrize("integer", [False, True])
def test_top_and_kth_among_some_arms(count, integer):
    x, order, _ = table(7, count, (60,), integer=integer)
    random = np.random.default_rng(8)
    among = random.random(x.shape) < random.random(60)
    among[:, 0] = False
    k = random.integers(0, count, 60).astype(np.int32)
    found = np.asarray(jax.jit(ranking.top_mask)(x, k, order, among))
    kth = np.asarray(jax.jit(ranking.kth_largest)(x, k, among))
    several = 0
    for run in range(60):
        ranked = [arm for arm in by_sorting(x[:, run], order[:, run]) if among[arm, run]]
        assert set(np.flatnonzero(found[:, run])) == set(ranked[: k[run]])
        if 1 <= k[run] <= len(ranked):
            assert kth[run] == x[ranked[k[run] - 1], run]
            several += 1
    assert several > 5
    assert kth.dtype == x.dtype


@pytest.mark.parametrize("count", [3, 64, 65])
def test_k_known_to_the_program_changes_nothing(count):
    x, order, _ = table(5, count, (40,), padded=True)

    @functools.partial(jax.jit, static_argnames="known")
    def answers(x, order, k, known):
        k = StaticInt(1) if known else k
        return (ranking.top_mask(x, k, order), *ranking.kth_and_next_largest(x, k, order))

    ones = np.ones(40, np.int32)
    for known, traced in zip(answers(x, order, ones, True), answers(x, order, ones, False), strict=True):
        np.testing.assert_array_equal(known, traced)


@pytest.mark.parametrize("count", [2, 64, 130])
def test_removal_and_the_search_by_bits_find_the_same_top(count, monkeypatch):
    masks = []
    for few in (1000, 0):
        monkeypatch.setattr(ranking, "_FEW_ARMS", few)
        found, top_mask = [], jax.jit(lambda *given: ranking.top_mask(*given))
        for integer, padded in ((False, False), (False, True), (True, False)):
            x, order, k = table(count, count, (50,), integer=integer, padded=padded)
            # Negative zero equals zero as a float and differs from it as bits.
            x = x if integer else np.where((x == 0) & (np.arange(50) % 2 == 0), np.float32(-0.0), x)
            found.append(np.asarray(top_mask(x, k, order)))
            np.testing.assert_array_equal(found[-1].sum(axis=0), k)
        masks.append(found)
    for by_removal, by_bits in zip(*masks, strict=True):
        np.testing.assert_array_equal(by_removal, by_bits)


def test_top_of_the_extreme_floats_by_bits(monkeypatch):
    monkeypatch.setattr(ranking, "_FEW_ARMS", 0)
    # Subnormal numbers are left out: some processors flush them to zero.
    x = np.asarray([0.0, -0.0, 1e-37, -1e-37, 3e38, -3e38, -np.inf, np.inf, 1.0, 1.0000001], np.float32)
    order = np.asarray(tie_order(tie_words(jax.random.key(0)), len(x)))
    of_size = jax.jit(lambda k: ranking.top_mask(jnp.asarray(x), k, jnp.asarray(order)))
    for k in range(1, len(x) + 1):
        np.testing.assert_array_equal(of_size(jnp.int32(k)), top(x, k, order))


@pytest.mark.parametrize("count", [10, 65])
def test_vmap_over_the_runs_is_the_native_batch(count):
    x, order, k = table(2, count, (6,), padded=True)
    mask = x > 0
    mask[0] = True
    value = np.arange(6, dtype=np.float32)
    native = everything(x, order, k, mask, value)
    last = dict.fromkeys(native, -1)
    mapped = jax.vmap(everything, in_axes=(-1, -1, -1, -1, -1), out_axes=last)(x, order, k, mask, value)
    for name in native:
        np.testing.assert_array_equal(native[name], mapped[name], err_msg=name)
    for run in range(6):
        alone = everything(x[:, run], order[:, run], k[run], mask[:, run], value[run])
        for name in native:
            np.testing.assert_array_equal(np.asarray(native[name])[..., run], alone[name], err_msg=name)


@pytest.mark.parametrize("count", [2, 33, 64, 200])
def test_total_adds_the_arms_in_order(count):
    x = np.random.default_rng(count).normal(size=(count, 9)).astype(np.float32)
    exact = x.astype(np.float64).sum(axis=0)
    bound = count * np.finfo(np.float32).eps * np.abs(x).sum(axis=0)
    assert (np.abs(np.asarray(arms.total(x)) - exact) <= bound).all()
    whole = np.random.default_rng(count).integers(-(2**20), 2**20, (count, 9)).astype(np.int32)
    np.testing.assert_array_equal(arms.total(whole), whole.sum(axis=0))
    alone = np.asarray([arms.total(x[:, run]) for run in range(9)])
    np.testing.assert_array_equal(jax.jit(arms.total)(x), alone)


def test_take_of_several_arms_per_run():
    x = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)
    # As many arms as runs: the axes of the two must not be mistaken for one another.
    arm = np.random.default_rng(1).integers(0, 5, (3, 3)).astype(np.int32)
    expected = [[x[arm[slot, run], run] for run in range(3)] for slot in range(3)]
    np.testing.assert_array_equal(arms.take(jnp.asarray(x), jnp.asarray(arm)), expected)
    arm = arm[:2]
    np.testing.assert_array_equal(arms.take(jnp.asarray(x), jnp.asarray(arm)), expected[:2])
    np.testing.assert_array_equal(arms.take(jnp.asarray(x[:, 0]), jnp.asarray(arm[0])), x[arm[0], 0])


@pytest.mark.parametrize("count", [30, 128, 129, 512, 600, 1000, 1009, 5000])
def test_reductions_of_any_number_of_arms(count):
    """On CPU they are made in pieces, in one, by tens or twenties, or by XLA."""
    x = np.random.default_rng(count).integers(-1000, 1000, (count, 7)).astype(np.int32)
    with_nan = np.where(x % 977 == 5, np.nan, x).astype(np.float32)
    np.testing.assert_array_equal(arms.largest(jnp.asarray(x)), x.max(axis=0))
    np.testing.assert_array_equal(arms.smallest(jnp.asarray(x, float)), x.min(axis=0))
    np.testing.assert_array_equal(arms.total(jnp.asarray(x)), x.sum(axis=0))
    np.testing.assert_array_equal(arms.any_arm(jnp.asarray(x > 998)), (x > 998).any(axis=0))
    np.testing.assert_array_equal(arms.largest_or_nan(jnp.asarray(with_nan)), with_nan.max(axis=0))
