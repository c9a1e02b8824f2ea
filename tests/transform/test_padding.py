"""Arrays longer than there are arms: the arms that exist have the bits of arrays of their number, or it is refused."""

import contextlib
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax import lax

from jaxbandits.transform import Known, Padded, UnpaddableError, map_step, results_of, with_numbers_of_arms

RUNS, WIDTH = 7, 6
KEYS = jax.random.split(jax.random.key(0), RUNS)


def operands(count, width=None):
    """Numbers of arms `(K, R)`: any, positive, counts, groups; of a run `(R,)`: a number, a place; keys.

    What is beyond the arms that exist would be seen.
    """
    draw = np.random.default_rng(0)
    x, y = draw.normal(size=(64, RUNS)), draw.uniform(0.1, 3, (64, RUNS))
    n, g = draw.integers(1, 50, (64, RUNS)), draw.integers(0, 3, (64, RUNS))
    arrays = [x.astype(np.float32), y.astype(np.float32), n.astype(np.int32), g.astype(np.int32)]
    for array, beyond in zip(arrays, (77, 1e-3, 1, 2), strict=True):
        array[count:] = beyond
    s, i = draw.uniform(0.1, 3, RUNS).astype(np.float32), draw.integers(0, 2, RUNS).astype(np.int32)
    return [jnp.asarray(a[: width or count]) for a in arrays] + [jnp.asarray(s), jnp.asarray(i), KEYS]


def padded(function, count, width=WIDTH, compiled=lambda made: made):
    axes = [(0,)] * 4 + [()] * 3

    def made(exist, *given):  # how many exist is an argument: a compiler must not know it
        return [value.array for value in results_of(function, given, None, Padded(exist, width, axes))[0]]

    return compiled(made)(jnp.full(RUNS, count, jnp.int32), *operands(count, width))


def assert_exact(function, count, width=WIDTH, compiled=lambda made: made):
    """The arms that exist have the same bits as in arrays of their number."""
    exact = compiled(lambda *given: [value.array for value in results_of(function, given)[0]])(*operands(count))
    for one, other in zip(exact, padded(function, count, width, compiled), strict=True):
        a, b = np.asarray(one), np.asarray(other)
        b = b[tuple(slice(size) for size in a.shape)]
        np.testing.assert_array_equal(b, a)
        if a.dtype == np.float32:
            np.testing.assert_array_equal(np.where(a == a, b.view(np.int32), 0), np.where(a == a, a.view(np.int32), 0))


#: A number for each arm, whatever the number of arms is; and one that hangs on it.
SQUARES = np.arange(1.0, 200.0, dtype=np.float32) ** 2

FOLLOWED = {
    "uneven numbers": lambda x, y, n, g, s, i, k: (
        *(s * (len(x) // 3), s * min(len(x), 4), s * max(len(x), 4), s * (len(x) % 5), n * (len(x) // 2)),
        *(s * (1 / len(x)), x * math.log(len(x)), s + math.ceil(math.log2(len(x))), s / math.sqrt(len(x) + 1)),
        jnp.where(len(x) > 3, s, -s),
    ),
    "zeros of either sign": lambda x, y, n, g, s, i, k: (
        *(s / ((len(x) - 5) * -1.0), s / ((len(x) - 5) * 1.0), s / (0.0 if len(x) > 2 else -0.0)),
        lax.fori_loop(0, 2, lambda j, c: s / (0.0 if len(x) > 2 else -0.0), s),
    ),
    "places that are one with the room for more": lambda x, y, n, g, s, i, k: (
        lambda z: (z[5] - z[len(x) - 1], z[len(x) - 1 : len(x) + 1] - z[5:7])
    )(jnp.arange(60.0) * s),
    "entries from the end": lambda x, y, n, g, s, i, k: (
        *(x[-1], jnp.argsort(x)[-1], jnp.sort(x)[-2], jnp.sort(n)[len(n) // 2], jnp.outer(x, y)[-1], y[-1:] * s),
        *(jnp.outer(x, y)[:, -1], (jnp.arange(60.0) * s)[len(x) : len(x) + 1]),
        *(jnp.asarray(SQUARES)[len(x)] * s, jnp.arange(60)[3 * len(x) : 3 * len(x) + 2]),
        jnp.sort(x)[-1] - jnp.sort(x)[0],
    ),
    "loops as long as there are arms": lambda x, y, n, g, s, i, k: (
        *(lax.fori_loop(0, len(x), lambda j, c: c + x[j], s), lax.fori_loop(0, len(x) - 1, lambda j, c: c * y[j], s)),
        *lax.scan(lambda best, entry: (jnp.maximum(best, entry), best), -jnp.inf, x),
        *lax.scan(lambda c, entry: (c * 0.5 + entry[0] / entry[1], c), s, (x, y), reverse=True),
        lax.scan(lambda c, j: (c + s / (j + 1), x - c), s, jnp.arange(len(x)))[1],
        lax.fori_loop(0, len(x) // 2, lambda j, z: z.at[jnp.argmax(z)].set(-jnp.sum(x) / (j + 1)), y),
        lax.fori_loop(0, len(x), lambda j, z: lax.fori_loop(0, len(x), lambda m, z: z + x[j] * y[m], z), s),
        lax.scan(lambda key, entry: (jax.random.split(key)[0], entry), k, y)[1],
    ),
    "draws of Beta laws": lambda x, y, n, g, s, i, k: (
        *(jax.random.beta(k, y, n - y * 0.5), jax.random.gamma(k, y), jax.random.loggamma(k, n.astype(jnp.float32))),
        *(jax.random.gamma(k, jnp.outer(y, jnp.arange(1.0, 3.0))), jnp.argmax(jax.random.beta(k, 1 + y, 2.0))),
    ),
    "running from the end": lambda x, y, n, g, s, i, k: (
        *(lax.cumsum(x, reverse=True), lax.cumsum(n, reverse=True), lax.cumprod(y, reverse=True)),
        *(lax.cummax(-y, reverse=True), lax.cummin(n, reverse=True), lax.cumsum(-0.0 * y, reverse=True)),
    ),
    "tables": lambda x, y, n, g, s, i, k: (
        *(x * SQUARES[: len(x)], jnp.max(jnp.asarray(SQUARES[: len(x)])), jnp.asarray(SQUARES[: len(x)])[i] * s),
        *(jnp.sum(jnp.asarray(SQUARES[: len(x)])), jnp.asarray(np.stack([SQUARES[: len(x)]] * 3))[:, i]),
    ),
    "while": lambda x, y, n, g, s, i, k: lax.while_loop(
        lambda c: ~jnp.all(c[1] > 5), lambda c: (c[0] + jnp.sum(c[1]), jnp.where(c[1] > 5, c[1], c[1] * 1.5)), (s, y)
    ),
    "keys of arms": lambda x, y, n, g, s, i, k: jax.random.key_data(jax.random.split(k, len(x))),
    "means": lambda x, y, n, g, s, i, k: (jnp.mean(x), jnp.mean(n), x.sum() / len(x), jnp.var(x), jnp.std(y, ddof=1)),
    "number of arms": lambda x, y, n, g, s, i, k: (
        *(s / len(x), s / (3 * len(x)), 1 / jnp.log(len(x) * 2.0), s * jnp.log(len(x))),
        *(s / (jnp.float32(len(x)) * jnp.float32(len(x))), s / jnp.arange(1, 1 + len(x)).sum()),
        *(x / (jnp.broadcast_to(s, x.shape) * len(x)), x / jnp.float32(len(x)), jnp.float32(1) / len(x)),
    ),
    "loops over values": lambda x, y, n, g, s, i, k: (
        lax.fori_loop(0, i + 2, lambda _, last: jnp.max(jnp.where(x < last, x, -jnp.inf)), jnp.inf),
        lax.fori_loop(0, 3, lambda j, y: y.at[jnp.argmax(y)].set(-jnp.sum(x) / (j + 1)), y),
        lax.while_loop(lambda y: jnp.sum(y) > 1.0, lambda y: y / 2, y),
        lax.fori_loop(0, i + 2, lambda j, s: s / len(x) + x[j] / jnp.float32(len(x)), s),
        lax.scan(lambda best, shift: (jnp.argmin(x + shift), jnp.min(y) * best), 0, jnp.arange(4.0)),
    ),
    "branches": lambda x, y, n, g, s, i, k: (
        lax.cond(s > 1, lambda y: y - jnp.sum(y), lambda y: y * jnp.max(x), y),
        lax.cond(s > 1, lambda s: s / len(x), lambda s: s * len(x), s),
        lax.switch(i, [lambda x: x.at[jnp.argmax(x)].set(0.0), lambda x: jnp.cumsum(x)], x),
    ),
    "median": lambda x, y, n, g, s, i, k: (jnp.median(x), jnp.percentile(y, 30)),
    "softmax": lambda x, y, n, g, s, i, k: (jax.nn.softmax(x), jax.scipy.special.logsumexp(x)),
    "zeros below": lambda x, y, n, g, s, i, k: (jnp.sum(-0.0 * y), jnp.dot(-0.0 * y, y), jnp.cumsum(-0.0 * y)),
    "sort": lambda x, y, n, g, s, i, k: (jnp.sort(x), jnp.argsort(jnp.argsort(x)), jnp.argsort(-n), lax.top_k(x, 2)),
    "largest of matrices": lambda x, y, n, g, s, i, k: (
        *(lax.top_k(jnp.outer(x, jnp.ones(3) * s), 2, axis=0), lax.top_k(-jnp.outer(x, jnp.arange(3.0)), 2, axis=0)),
        lax.top_k(jnp.outer(x, jnp.arange(3.0)), 2),
    ),
    "largest of NaN": lambda x, y, n, g, s, i, k: (
        *(lax.top_k(jnp.sqrt(-y), 2), lax.top_k(jnp.where(x < 0, 0 * x / 0, -jnp.inf), 2)),
        lax.top_k((0 * y / 0).astype(jnp.float16), 2),
    ),
    "reversed": lambda x, y, n, g, s, i, k: (
        *(x[::-1], jnp.sort(x)[::-1], jnp.sort(n, descending=True), jnp.argsort(x, descending=True), jnp.flip(g)),
        *(jnp.flip(jnp.outer(x, y)), jnp.outer(x, y)[:, ::-1], jnp.outer(x, jnp.arange(3.0))[:, ::-1]),
        x[jnp.argsort(-y)[::-1]],
    ),
    "sort NaN": lambda x, y, n, g, s, i, k: (
        jnp.sort(jnp.where(x < 0, jnp.nan, x)),
        jnp.argsort(jnp.where(x < 0, jnp.nan, jnp.where(x < 0.5, jnp.inf, x))),
        jnp.argsort(jnp.where(n > 20, 2**31 - 1, n)),
    ),
    "groups": lambda x, y, n, g, s, i, k: (
        *(jnp.zeros(3).at[g].add(y), jnp.bincount(g, length=3), jax.ops.segment_sum(y, g, 3)),
        jnp.zeros(len(x), int).at[jnp.argsort(x)].set(jnp.arange(len(x))),
    ),
    "places": lambda x, y, n, g, s, i, k: (
        *(x[i + 3], x[i - 3], jnp.take(x, i + 3), x.at[i + 3].get(mode="clip"), jnp.arange(len(x))[i + 3]),
        *(x[jnp.int32(3)], x[jnp.int32(-1)], x[jnp.array([0, 4])], x[jnp.stack([i, i + 2])]),
        *(x[(jnp.argmax(y) + 1) % len(x)], jnp.outer(x, y)[:, i], jnp.outer(x, y)[i, :]),
    ),
    "writing": lambda x, y, n, g, s, i, k: (
        *(x.at[4].set(s), x.at[4].set(s, mode="clip"), x.at[i + 3].add(s), x.at[len(x) - 1].set(s)),
        *(x.at[jnp.stack([i, i + 4])].add(s), jnp.outer(x, y).at[i].set(y), jnp.outer(x, y).at[:, i].set(y)),
        lax.dynamic_update_slice(x, x[:1], (jnp.int32(5),)),
    ),
    "pairs of arms": lambda x, y, n, g, s, i, k: (
        *(jnp.outer(x, y) @ x, jnp.outer(x, y).T.sum(0), (jnp.eye(len(x)) * x).sum(), jnp.outer(x, y).sum()),
        *(jnp.max(jnp.where(jnp.eye(len(x), dtype=bool), -jnp.inf, x), 1), jax.nn.one_hot(i, len(x)) @ y),
        jnp.einsum("i,ij,j->", x, jnp.outer(y, y), y),
    ),
    "masks": lambda x, y, n, g, s, i, k: (
        *((n > 20).all(), (n > 20).any(), jnp.argmax(n > 100), (x > 0).sum(), x.prod(), jnp.argmin(n)),
        *(jnp.bitwise_and.reduce(n), jnp.bitwise_and.reduce(n.astype(jnp.uint8)), jnp.bitwise_or.reduce(n)),
    ),
    "draws": lambda x, y, n, g, s, i, k: (
        *(jax.random.normal(k, x.shape).sum(), jax.random.uniform(k, (len(x), 3)), jax.random.categorical(k, x)),
        *(jax.random.permutation(k, len(x)), jax.random.choice(k, len(x)), jax.random.randint(k, (), 0, len(x))),
    ),
    "six and the number of arms": lambda x, y, n, g, s, i, k: (
        jnp.ones(6).sum() * s + 1,
        jnp.ones(len(x)).sum() * s + 1,
        y**6 + jnp.ones(len(x)).sum(),
    ),
    "complex numbers": lambda x, y, n, g, s, i, k: (jnp.real(lax.complex(x, y)), jnp.imag(lax.complex(x, y)).max()),
    "root of pulls": lambda x, y, n, g, s, i, k: jnp.sqrt(s / (n * float(len(x)))),
    "a choice by the number": lambda x, y, n, g, s, i, k: lax.cond(
        s > 1, lambda m: s / m, lambda m: s * m, float(len(x))
    ),
    "a loop by the number": lambda x, y, n, g, s, i, k: lax.while_loop(
        lambda c: c[0] < c[1], lambda c: (c[0] + s / c[1], c[1]), (0.0, float(len(x)))
    ),
    "loops": lambda x, y, n, g, s, i, k: (
        *lax.while_loop(lambda c: jnp.sum(c[0]) < 9, lambda c: (c[0] + y, c[1] + jnp.sum(x) / len(x)), (x, s)),
        lax.fori_loop(
            0, i + 2, lambda j, c: c + jnp.sum(x * lax.concatenate([y[None], x[None], -y[None]], 0)[j]) * len(x), s
        ),
        lax.scan(lambda c, row: (c + row, jnp.max(row)), x, lax.concatenate([x[None], y[None]], 0)),
    ),
    "a choice": lambda x, y, n, g, s, i, k: lax.cond(s > 1, lambda: x / jnp.sum(y), lambda: x * jnp.float32(len(x))),
    "loops over arms": lambda x, y, n, g, s, i, k: (
        lax.fori_loop(0, 5, lambda j, z: z * 0.5 + jnp.sum(x) / len(x) - jnp.max(z), y),
        lax.fori_loop(0, i + 2, lambda j, z: z.at[jnp.argmin(z)].add(s), x),
        lax.while_loop(lambda z: ~jnp.all(z > 2), lambda z: z + 1 + jnp.arange(len(z)) * 0.1, jnp.abs(x)),
        lax.scan(lambda z, j: (z + x * j, jnp.argmax(z)), y, jnp.arange(4.0)),
    ),
}


#: Of many operations, each of them compiled for each number of arms; those where the number itself is seen are others.
#: The first four take longest, or are made of what another has.
LONG = (
    "draws of Beta laws", "entries from the end", "largest of matrices", "median", "draws", "reversed", "pairs of arms",
    "places", "writing", "largest of NaN", "sort", "sort NaN", "masks", "groups", "branches", "softmax",
    "loops over values", "loops over arms",
)  # fmt: skip


# Each time with one number of arms, the other one with the slow tests.
@pytest.mark.parametrize(
    ("name", "count"),
    [
        pytest.param(n, c, marks=[pytest.mark.slow] * (n in LONG[:4] or c == (2 if n in LONG or i % 2 else 5)))
        for i, n in enumerate(FOLLOWED)
        for c in (2, 5)
    ],
)
def test_arms_that_exist_have_their_bits(name, count):
    assert_exact(FOLLOWED[name], count)


def test_long_arrays_are_added_in_the_same_order():
    assert_exact(lambda x, y, n, g, s, i, k: (x.sum(), (-0.0 * y).sum(), -0.0 * y @ y, x @ y, jnp.mean(x)), 5, 40)


@pytest.mark.parametrize("width", [6, 40])
def test_compiled_products_of_masks_and_of_roots_have_their_bits(width):
    """XLA leaves out such multiplications where it sees them as they are: 0 times infinity is then 0."""

    def function(x, y):
        holes = jnp.where(x > 0.5, -jnp.inf, x)
        best = jax.nn.one_hot(jnp.argmin(x), len(x))
        return best @ x, best @ holes, (x > 0.5).astype(jnp.float32) @ -y, jnp.sqrt(jnp.abs(x)) @ jnp.sqrt(jnp.abs(x))

    @jax.jit
    def made(exist, *given):  # how many exist is an argument: a compiler must not know it
        known = None if exist is None else Padded(exist, width, [(0,), (0,)])
        return [value.array for value in results_of(function, given, None, known)[0]]

    exact, given = made(None, *operands(5)[:2]), operands(5, width)[:2]
    for one, other in zip(exact, made(jnp.full(RUNS, 5, jnp.int32), *given), strict=True):
        np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(np.signbit(one)[one == one], np.signbit(other)[one == one])
    x = operands(5)[0]
    np.testing.assert_array_equal(np.isnan(exact[1]), (x > 0.5).any(0))


REFUSED = {
    "an entry that need not be": lambda x, y, n, g, s, i, k: x[2],
    "draws across the arms": lambda x, y, n, g, s, i, k: jax.random.gamma(k, jnp.outer(jnp.arange(1.0, 3.0), y)),
    "keys from the end": lambda x, y, n, g, s, i, k: jax.random.uniform(jax.random.split(k, len(x))[-1]),
    "a longer loop for fewer arms": lambda x, y, n, g, s, i, k: lax.fori_loop(0, 90 - len(x), lambda j, c: c * 0.9, s),
    "a loop within that might not end": lambda x, y, n, g, s, i, k: lax.fori_loop(
        0, len(x), lambda j, c: lax.while_loop(lambda c: c < x[j], lambda c: c * 2, c), s
    ),
    "a counter from the end": lambda x, y, n, g, s, i, k: lax.scan(
        lambda c, entry: ((c[0] + 1, c[1] + c[0] * entry), None), (0, s), x, reverse=True
    )[0][1],
    "branches for some numbers": lambda x, y, n, g, s, i, k: lax.switch(
        i, [lambda s, j=j: s * j for j in range(min(len(x), 4))], s
    ),
    "operations in a loop for some numbers": lambda x, y, n, g, s, i, k: lax.fori_loop(
        0, 3, lambda j, c: jax.jit(lambda c: c * 2 if len(x) > 4 else c * 2 + 1)(c), s
    ),
    "a table of zeros of either sign": lambda x, y, n, g, s, i, k: s / np.float32([0.0 if len(x) > 4 else -0.0, 1]),
    "a branch by the number": lambda x, y, n, g, s, i, k: lax.cond(
        jnp.sum(jnp.ones(len(x))) > 4, lambda: s, lambda: s * 2
    ),
    "another table": lambda x, y, n, g, s, i, k: x * (SQUARES[: len(x)] + (len(x) == 5)),
    "a table from the end": lambda x, y, n, g, s, i, k: x * SQUARES[len(x) - 1 :: -1],
    "a choice in Python": lambda x, y, n, g, s, i, k: jnp.sum(x if len(x) > 4 else y),
    "powers": lambda x, y, n, g, s, i, k: y ** len(x),
    "powers beside": lambda x, y, n, g, s, i, k: y**6 - y ** len(x),
    "powers of floats": lambda x, y, n, g, s, i, k: jnp.power(y, jnp.float32(len(x))),
    "unstable sort": lambda x, y, n, g, s, i, k: jnp.argsort(jnp.where(n > 20, 2**31 - 1, n), stable=False),
    "slices": lambda x, y, n, g, s, i, k: lax.dynamic_slice(x, (i + 1,), (2,)),
    "slices at a place": lambda x, y, n, g, s, i, k: lax.dynamic_slice(x, (jnp.int32(4),), (2,)),
    "slices to write": lambda x, y, n, g, s, i, k: lax.dynamic_update_slice(x, s[None] * jnp.ones(2), (i + 4,)),
    "arms in what is longer": lambda x, y, n, g, s, i, k: lax.dynamic_update_slice(jnp.zeros(50), x, (i,)).sum(),
    "several places, clipped": lambda x, y, n, g, s, i, k: x.at[jnp.stack([i, i + 4])].set(s, mode="clip"),
    "axes that are mixed": lambda x, y, n, g, s, i, k: lax.reshape(
        jnp.broadcast_to(x[:, None], (len(x), 6)) * jnp.arange(6.0), (6, len(x))
    ),
    "a sum of complex numbers": lambda x, y, n, g, s, i, k: jnp.abs(jnp.sum(lax.complex(x, y))),
    "a mean of complex numbers": lambda x, y, n, g, s, i, k: jnp.mean(lax.complex(x, y)),
    "floats of whole numbers": lambda x, y, n, g, s, i, k: jnp.dot(n, g, preferred_element_type=jnp.float32),
    "too few arms": lambda x, y, n, g, s, i, k: lax.top_k(x, 3),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_another_number_of_arms_changes_is_refused(name):
    with pytest.raises(UnpaddableError):
        padded(REFUSED[name], 3)


def test_what_is_given_with_the_number_of_arms_counts_as_constant():
    def function(x, count):
        return jnp.sum(x) / count, 1 / (count * 1.0)

    x = operands(5, WIDTH)[0]
    count = jnp.full(RUNS, 5, jnp.int32)
    known = [Known(), Known((1, WIDTH), fixed=True)]
    found, _ = results_of(function, (x, count), known, Padded(count, WIDTH, [(0,), ()]))
    exact, _ = results_of(lambda x: function(x, jnp.int32(5)), (x[:5],))
    for one, other in zip(found, exact, strict=True):
        np.testing.assert_array_equal(one.array, other.array)


def test_steps_write_to_arms_that_exist():
    x, count = operands(4, WIDTH)[0], jnp.full(RUNS, 4, jnp.int32)
    step = map_step(lambda x: x.at[4].set(1, mode="clip"), None, Padded(count, WIDTH, [(0,)]))
    np.testing.assert_array_equal(step(jnp.ones(RUNS, bool), x)[:4], x.at[3].set(1)[:4])


#: From two arrays of arms, a number and a place to the same.
STEPS = {
    "product": lambda a, b, s, i: (a * b - s, s, i),
    "quotient": lambda a, b, s, i: (a / (1 + jnp.abs(b)), s / len(a), i),
    "divide": lambda a, b, s, i: (a / (1 + s * s), jnp.mean(b) / (1 + s * s), i),
    "root": lambda a, b, s, i: (jnp.sqrt(jnp.abs(a)) + b, s * jnp.log(1.0 * len(a)), i),
    "largest": lambda a, b, s, i: (a - jnp.max(b), jnp.min(a), jnp.argmax(a)),
    "dot": lambda a, b, s, i: (b, jnp.dot(a, b) * 0.1, jnp.argmin(b)),
    "entry": lambda a, b, s, i: (a[::1], a[i] * s + b[(i + 1) % len(a)], i),
    "write": lambda a, b, s, i: (a.at[i].set(s), s, i),
    "without": lambda a, b, s, i: (jnp.where(jnp.arange(len(a)) == i, b, a), jnp.sum(a), (i + 1) % len(a)),
    "order": lambda a, b, s, i: (a[jnp.argsort(b)], jnp.sort(a)[1], jnp.argsort(b)[i]),
    "running": lambda a, b, s, i: (jnp.cumsum(a) * 0.1, s, jnp.sum(a > b) % len(a)),
    "outer": lambda a, b, s, i: (jnp.outer(a, b).max(0), jnp.outer(a, b).sum() * 0.1, i),
    "ranks": lambda a, b, s, i: (b.at[jnp.argsort(a)].add(jnp.arange(len(a)) * 0.1), s, i),
    "parts": lambda a, b, s, i: (a, s * (len(a) // 2), i),
    "constants": lambda a, b, s, i: (a / len(a) * 0.7, s * 0.3 * jnp.log(1.0 * len(a)), i),
    "terms": lambda a, b, s, i: (a + 1 / len(a) + 0.7, s - 0.3 + len(a), i),
    "quotients": lambda a, b, s, i: (a / (1 + b**2 / len(a)), 1 / (s * s + len(a)), i),
    "products": lambda a, b, s, i: ((a * len(a)) * (s * 0.3), (s * 0.3) / (1 + s**2) * len(a), i),
}


@pytest.mark.slow
@pytest.mark.bits
@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    st.lists(st.tuples(st.sampled_from(sorted(STEPS)), st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=6)
)
def test_random_programs_are_followed_exactly_or_refused(steps):
    def program(x, y, n, g, s, i, k):
        arrays = [x, y]
        for name, first, second in steps:
            a, s, i = STEPS[name](arrays[first % len(arrays)], arrays[second % len(arrays)], s, i)
            arrays.append(a)
        return arrays[-1], s, i

    refused = any(name == "parts" for name, _, _ in steps)
    try:
        assert_exact(program, 4, 9, jax.jit)
    except UnpaddableError:
        assert refused


#: What these are made of differs between versions of JAX.
OF_A_VERSION = {
    "places of what holds": lambda x, y, n, g, s, i, k: jnp.nonzero(n > 20, size=2),
    "places among the sorted": lambda x, y, n, g, s, i, k: (
        *(jnp.searchsorted(jnp.sort(x), s), jnp.digitize(s, jnp.sort(x))),
        jnp.searchsorted(jnp.cumsum(y), s, side="right"),
    ),
    "the last of some rows": lambda x, y, n, g, s, i, k: (
        jnp.outer(jnp.arange(3.0), y)[-2:, -1],
        jnp.outer(x, y)[-1, -1],
    ),
    "an arm by its weight": lambda x, y, n, g, s, i, k: jax.random.choice(k, len(x), p=jax.nn.softmax(x)),
}


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] * (n == "places among the sorted")) for n in OF_A_VERSION]
)
def test_what_differs_between_versions_is_followed_or_refused(name):
    for count in (2, 5):
        with contextlib.suppress(UnpaddableError):
            assert_exact(OF_A_VERSION[name], count)


BANDITS = {
    "numbers of each": lambda x, y: (jnp.max(x, 0), jnp.sum(x, axis=0), jnp.argmin(y, axis=0), jnp.mean(x, axis=0)),
    "numbers of all": lambda x, y: (jnp.argmax(x), jnp.max(x), jnp.argmax(jnp.max(y, axis=0)), jnp.sum(y)),
    "arms again": lambda x, y: (
        (x - jnp.max(x, axis=0)).reshape(-1),
        jnp.where(x == jnp.min(x, axis=0), y, 0).reshape(-1),
    ),
    "places": lambda x, y: (x.at[jnp.argmax(y[:, 1])].set(0.0), x[jnp.argmin(y[:, 0])], jnp.cumsum(x, axis=0)),
    "all in a row": lambda x, y: (x.reshape(-1)[jnp.argmax(y)], jnp.sort(x, axis=0), jnp.argsort(x.reshape(-1))),
}


def of_bandits(function, count, width):
    """Arms `(K, R)` of three bandits, `(K / 3, 3)` in a run; the arms themselves are given."""

    def one(x, y, n, g, s, i, k):
        return function(x.reshape(-1, 3), y.reshape(-1, 3))

    exist = jnp.full(RUNS, count, jnp.int32)
    known = None if width == count else Padded(exist, width, [(0,)] * 4 + [()] * 3, 3)
    return results_of(one, operands(count, width), None, known)[0]


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] * (n in ("numbers of all", "all in a row"))) for n in BANDITS]
)
def test_arms_of_each_bandit_have_their_bits(name):
    for count in (6, 12):
        for one, other in zip(*(of_bandits(BANDITS[name], count, width) for width in (count, 15)), strict=True):
            a, b = np.asarray(one.array), np.asarray(other.array)
            np.testing.assert_array_equal(b[tuple(slice(size) for size in a.shape)], a)


def test_arms_in_rows_of_another_length_are_refused():
    for function in (lambda x, y: x.reshape(3, -1).max(axis=1), lambda x, y: x[2], lambda x, y: x.T.reshape(-1)):
        with pytest.raises(UnpaddableError):
            of_bandits(function, 6, 15)


def test_the_sign_of_a_zero_between_the_numbers_that_are_traced_is_known():
    assert_exact(lambda x, y, n, g, s, i, k: (s / ((len(x) - 12) * -1.0), s / ((len(x) - 11) * 1.0)), 12, 20)
    with pytest.raises(UnpaddableError):
        padded(lambda x, y, n, g, s, i, k: s / ((len(x) - 12) * -1.0), 12, 65)


def test_what_is_traced_to_be_checked_tells_nothing_that_another_call_does_not_know():
    """Whether a float is 0 or -0 with 70 arms: the program is refused in both calls, or in none."""
    x, padded = jnp.ones((100, RUNS)), Padded(jnp.full(RUNS, 70, jnp.int32), 100, [(0,)])
    for numbers in ((), (70,)):
        with with_numbers_of_arms(numbers), pytest.raises(UnpaddableError, match="whole steps"):
            results_of(lambda x: jnp.max(x) * (len(x) - 70), (x,), None, padded)
