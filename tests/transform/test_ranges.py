"""Ranges: a value lies in what is claimed of it, and with ranges known the bits are those without."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax import lax

from jaxbandits.transform import Known, equations, results_of

TINY, MOST, INF = 1.1754944e-38, 3.4028235e38, np.inf
#: Where something happens: zeros, numbers below the normal ones, the ends of the range, halves.
EDGES = np.asarray(
    [
        *(-INF, -MOST, -2e38, -1e30, -88.8, -9.5, -2.5, -1, -0.99999994, -0.5, -1e-7, -2e-38, -TINY, -1e-40, -0.0),
        *(0.0, 1e-45, 1e-40, TINY, 2e-38, 1e-30, 1e-7, 0.4999, 0.5, 1, 1.0000001, 1.5, 3, 87.4, 88.8, 129, 1e30, 1e38),
        *(2e38, MOST, INF),
    ],
    np.float32,
)
#: Neither those below the normal numbers, which count as zero here and not there, nor large ones.
NORMAL = EDGES[((np.abs(EDGES) < 100) & (np.abs(EDGES) >= 1e-37)) | (EDGES == 0)]
RUNS = 8


@pytest.fixture
def claimed(monkeypatch):
    """A check of every value that is computed."""
    original = equations._apply

    def checked(operation, *others):
        found = original(operation, *others)
        for value in found:
            if value.range is not None and not isinstance(value.array, jax.core.Tracer):
                lo, hi = value.range
                array = np.asarray(value.array, np.float64)
                inside = (array >= lo) & (array <= hi)
                assert inside.all(), (operation.name, [v.range for v in operation.values], value.range, array[~inside])
        return found

    monkeypatch.setattr(equations, "_apply", checked)


def assert_same_bits(function, arguments, known):
    """With ranges known and without, and for one run, the bits are the same; of whole programs."""
    found, _ = results_of(function, arguments, known)

    def mapped(known):
        return jax.jit(lambda *arguments: [value.array for value in results_of(function, arguments, known)[0]])

    one, other = mapped(known)(*arguments), mapped(None)(*arguments)
    alone = mapped(known)(*(a[..., 2:3] for a in arguments))
    for a, b, c in zip(one, other, alone, strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(a[..., 2:3], c)
    return found


def inside(draw, edges=EDGES):
    """Numbers `(5, R)` in a range, its ends among them, and what is known of them."""
    lo, hi = sorted(draw.choice(edges, 2))
    among = edges[(edges >= lo) & (edges <= hi)]
    x = draw.choice(among, (5, RUNS))
    if np.isfinite([lo, hi]).all():
        between = np.clip(lo + (np.float64(hi) - lo) * draw.uniform(size=x.shape), lo, hi)
        x = np.where(draw.uniform(size=x.shape) < 0.5, x, between.astype(edges.dtype))
    x[0, 0], x[1, 0] = lo, hi
    return jnp.asarray(x.astype(edges.dtype)), Known((float(lo), float(hi)))


OPERATIONS = {
    "arithmetic": lambda x, y: (x + y, x - y, x * y, x / y, x * x, -x, abs(x), jnp.square(x), x**3, x**4, x**0, x**-2),
    "by a number": lambda x, y: (x / 2e38, x * 3, x / 3, 1 / x, x / y[0], y[0] / x[0], x + 1e-40, x * 1e-40),
    "extremes": lambda x, y: (jnp.maximum(x, y), jnp.minimum(x, y), lax.clamp(y, x, y + 1), jnp.clip(x, y, y[::-1])),
    "over arms": lambda x, y: (x.max(), y.min(), jnp.argmax(x), jnp.argmin(y), jnp.sort(x), lax.cummax(x)),
    "sums": lambda x, y: (x.sum(), jnp.cumsum(y), x[:0].sum(), jnp.cumsum(x)[-1], jnp.tile(y, 9).sum(), x.mean()),
    "roots": lambda x, y: (jnp.sqrt(x), lax.rsqrt(x), lax.rsqrt(y), jnp.sqrt(y) + x),
    "logarithms": lambda x, y: (jnp.log(x), jnp.log1p(x), jnp.log(y) * 2, jnp.log(jnp.abs(y))),
    "exponentials": lambda x, y: (jnp.exp(x), jnp.exp2(x), jnp.expm1(x), jax.nn.sigmoid(x), jnp.tanh(x)),
    "powers": lambda x, y: (jnp.power(x, y), jnp.power(x, 1e6), jnp.power(x, -3.0), jnp.power(x, 0.5), x**100),
    "whole": lambda x, y: (jnp.round(x), lax.round(x), jnp.floor(x), jnp.ceil(y), jnp.sign(x), x.astype(int)),
    "moved": lambda x, y: (x[::-1], jnp.where(x > y, x, y), jnp.stack([x, y]).T, x[jnp.array([2, 9])], x.at[3].set(7)),
    "of other types": lambda x, y: (lax.reduce_precision(x, 8, 3), x.astype(jnp.bfloat16).astype(jnp.float32) + y),
    "where there is none": lambda x, y: (jnp.max(x[:0], initial=-5.0), jnp.min(x[:0], initial=1.0)),
    "applied": lambda x, y: (x.at[1].apply(jnp.exp), x.at[1].mul(3), x.at[jnp.array([0, 1])].add(y[:2]), jnp.pad(x, 1)),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_values_lie_in_their_ranges(name, claimed):
    draw = np.random.default_rng(sorted(OPERATIONS).index(name))
    for _ in range(12):
        (x, one), (y, other) = inside(draw), inside(draw)
        results_of(OPERATIONS[name], (x, y), [one, other])


NUMBERS = np.asarray([-(2**31), -(2**31) + 1, -300, -128, -3, -1, 0, 1, 4, 5, 127, 255, 40000, 2**31 - 1], np.int32)
WHOLE = {
    "arithmetic": lambda n, m: (n + m, n - m, n * m, -n, abs(n), n**2, n**5, n // 3, n.sum(), jnp.cumsum(m), n % 7),
    "types": lambda n, m: (n.astype(jnp.int8), n.astype(jnp.uint8), n.astype(jnp.uint32), n.astype(jnp.float32) * 2),
    "small": lambda n, m: (n.astype(jnp.int8) + 1, -n.astype(jnp.uint8), abs(n.astype(jnp.int8)), n.astype(bool) * m),
    "places": lambda n, m: (
        *(
            m[n[0]],
            jnp.take(m, n[0]),
            jnp.take(m, n),
            m.at[n[0]].get(mode="fill", fill_value=-9),
            jnp.outer(m, n)[n[0]],
        ),
        *(jnp.arange(5)[n], jnp.arange(300, dtype=jnp.uint8), m.at[n[0]].set(7), m.at[n[0]].apply(lambda v: v + 9)),
    ),
    "comparisons": lambda n, m: (jnp.where(n < 0, n + 5, n), jnp.clip(n, 0, 4), jnp.maximum(n, m), jnp.clip(n, m, m)),
}


@pytest.mark.parametrize("name", WHOLE)
def test_whole_numbers_lie_in_their_ranges(name, claimed):
    draw = np.random.default_rng(1)
    for _ in range(12):
        (n, one), (m, other) = inside(draw, NUMBERS), inside(draw, NUMBERS)
        results_of(WHOLE[name], (n, m), [one, other])


@pytest.mark.slow
def test_functions_lie_in_their_ranges_from_any_number_on(claimed):
    draw = np.random.default_rng(2)
    sizes = np.exp(draw.uniform(-87, 88, 4000)).astype(np.float32)
    for lo in (*sizes[:60], *(1 + sizes[60:90] * 2.0**-24 / sizes.max()), *(-sizes[100:130])):
        lo = np.float32(lo)
        x = jnp.full((5, 1), lo)
        known = [Known((float(lo), float(lo)))] * 2
        for name in ("roots", "logarithms", "exponentials", "powers", "arithmetic", "by a number"):
            results_of(OPERATIONS[name], (x, x), known)


BITS = {
    "chosen by what is known": lambda x, n, s: (x / (1 + 2 * jnp.where(n < 0, 1, 1.5)), s / (3 + (n[0] < 0)), s / 3),
    "one of two, a constant": lambda x, n, s: s / jnp.where(n[0] < 0, s, 3.0),
    "a broadcast": lambda x, n, s: x / jnp.where(n < 0, x, jnp.broadcast_to(s, x.shape)),
    "clipped": lambda x, n, s: (x / jnp.clip(jnp.broadcast_to(s, x.shape), 0.0, 99.0), s / jnp.clip(s, 0.0, 9.0)),
    "clipped numbers": lambda x, n, s: s / jnp.clip(jnp.float32(3), 0.0, jnp.maximum(s, 9.0)),
    "entries": lambda x, n, s: (x[n[0]], x.at[n[0]].add(s), jnp.take(x, n[0]) / 3, x[jnp.argmax(x)] + jnp.argmax(n)),
    "logarithms": lambda x, n, s: (jnp.log(x) * s + x * x, jnp.max(x * s), jnp.argmin(x - s * s), jnp.log1p(s) * s + s),
}


@pytest.mark.bits
@pytest.mark.parametrize("name", BITS)
def test_with_ranges_the_bits_are_those_without(name, claimed):
    draw = np.random.default_rng(0)
    x, n = draw.uniform(0.1, 3, (5, 64)).astype(np.float32), draw.integers(0, 5, (5, 64)).astype(np.int32)
    s = draw.uniform(0.1, 3, 64).astype(np.float32)
    known = [Known((0.0625, 4.0)), Known((0, 4)), Known((0.0625, 4.0))]
    assert_same_bits(BITS[name], tuple(map(jnp.asarray, (x, n, s))), known)


#: From two arrays of arms, a number and a place to the same.
STEPS = {
    "add": lambda a, b, s, i: (a + b * s, s, i),
    "minus": lambda a, b, s, i: (a - b * b, s * s, i),
    "divide": lambda a, b, s, i: (a / (1 + jnp.abs(b)), s / (2 + jnp.max(b)), i),
    "by one": lambda a, b, s, i: (a / (1 + s * s), s / 3, i),
    "root": lambda a, b, s, i: (jnp.sqrt(jnp.abs(a)), jnp.sqrt(s), i),
    "log": lambda a, b, s, i: (jnp.log(1 + a * a), jnp.log1p(s * s), i),
    "exp": lambda a, b, s, i: (jnp.exp(-a * a) + b, jnp.tanh(s), i),
    "clip": lambda a, b, s, i: (jnp.clip(a, -100.0, 100.0), jnp.clip(s, 0.0, 1e6), jnp.clip(i, 0, 4)),
    "places": lambda a, b, s, i: (a.at[i].set(s), b[i], jnp.argmax(a)),
    "choice": lambda a, b, s, i: (jnp.where(jnp.arange(5) == i, a, b), jnp.where(i < 0, s, s * 2), (i + 1) % 5),
    "sums": lambda a, b, s, i: (jnp.cumsum(a), jnp.sum(b), jnp.argmin(b)),
    "order": lambda a, b, s, i: (jnp.sort(a), jnp.min(b), jnp.argsort(a)[i]),
    "power": lambda a, b, s, i: (a**2 + b**3, (1 + s * s) ** 0.5, i),
}


@pytest.mark.slow
@pytest.mark.bits
@settings(max_examples=12, deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.sampled_from(sorted(STEPS)), *2 * [st.integers(0, 5)]), min_size=1, max_size=7))
def test_random_programs_have_the_same_bits_and_lie_in_their_ranges(steps):
    def program(x, y, s, i):
        arrays = [x, y]
        for name, first, second in steps:
            a, s, i = STEPS[name](arrays[first % len(arrays)], arrays[second % len(arrays)], s, i)
            arrays.append(a)
        return arrays[-1], s, i, *arrays

    draw = np.random.default_rng(3)
    (x, one), (y, other) = (inside(draw, NORMAL) for _ in range(2))
    s, i = jnp.asarray(draw.uniform(0, 3, RUNS).astype(np.float32)), jnp.asarray(draw.integers(0, 5, RUNS), jnp.int32)
    found = assert_same_bits(program, (x, y, s, i), [one, other, Known((0.0, 3.0)), Known((0, 4))])
    for value in found:
        array = np.asarray(value.array)
        assert value.range is None or ((array >= value.range[0]) & (array <= value.range[1])).all()


def test_counts_as_floats_are_no_smaller_than_the_least():
    """So a logarithm of them is known to have a root."""
    time = jnp.asarray([[1, 2, 3, 2**31 - 1, 2**24 + 1, 5, 6, 7]])[0]
    found, _ = results_of(lambda n: jnp.sqrt(jnp.log(n)), (time,), [Known((1, 2**31 - 1))])
    assert found[0].range is not None
    assert found[0].range[0] == 0


def test_comparisons_of_floats_that_are_known():
    """Of what is only known to be normal or zero nothing is known beside zero."""
    x = jnp.full((1, 3), 0.5, jnp.float32)

    def ranges(known, *functions):
        return [results_of(function, (x,), [Known(known)])[0][0].range for function in functions]

    above, below = (lambda x: x > 0.25), (lambda x: x <= 0.25)
    assert ranges((0.5, 2.0), above, below, lambda x: x >= 0.5, lambda x: x < 0.5) == [(1, 1), (0, 0), (1, 1), (0, 0)]
    assert ranges((0.0, 0.25), above, below, lambda x: x > 0, lambda x: x < 0) == [(0, 0), (1, 1), None, (0, 0)]
    assert ranges((1e-44, 2.0), lambda x: x > 0) == [None]
    assert ranges(None, above) == [None]
