"""`map_runs` at the edges: what is empty, places outside, what users seldom write. And bits of squares."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from jaxbandits.transform import map_runs, map_step
from jaxbandits.transform.products import shield

RUNS, ARMS = 7, 5


def operands(runs=RUNS):
    """Numbers of arms `(K, R)` and of a run `(R,)`, whole numbers `(K, R)`, places, some outside, and a matrix."""
    draw = np.random.default_rng(0)
    x = draw.normal(size=(ARMS, 64)).astype(np.float32)
    x[:, 3] = [0.0, -0.0, np.inf, -np.inf, np.nan]
    s = draw.uniform(0.1, 3, 64).astype(np.float32)
    n = draw.integers(-9, 9, (ARMS, 64)).astype(np.int32)
    i = draw.integers(-9, 9, 64).astype(np.int32)
    m = draw.normal(size=(3, 4, 64)).astype(np.float32)
    return tuple(jnp.asarray(a[..., :runs]) for a in (x, s, n, i, m))


def none(x):
    return x[:0]


def below(x, j):
    """Entries at a place that all runs share, below zero after it was counted from the end."""
    return (
        x[j],
        lax.dynamic_slice(x, (j,), (2,)),
        lax.dynamic_update_slice(x, jnp.ones(2), (j,)),
        x.at[j].set(2),
    )


PROGRAMS = {
    "place below zero": lambda x, s, n, i, m: jax.jit(below)(x, jnp.int32(-7)),
    "places of a loop": lambda x, s, n, i, m: lax.fori_loop(
        0, 14, lambda j, c: (c[0] + x[j - 9], c[1].at[j - 9].add(1)), (s, n)
    ),
    "place along one axis": lambda x, s, n, i, m: (
        lax.dynamic_slice(m, (jnp.int32(2), i), (1, 3)),
        lax.dynamic_slice(m, (2, i), (1, 4)),
        lax.dynamic_slice(m, (jnp.abs(i), 3), (3, 1)),
        lax.dynamic_update_slice(m, m[:1] * 2, (2, i)),
    ),
    "small types of places": lambda x, s, n, i, m: (
        jnp.tile(x, 60)[(i + 200).astype(jnp.uint8)],
        jnp.take(jnp.tile(x, 60), i.astype(jnp.int8)),
        jnp.tile(x, 60).at[(i + 200).astype(jnp.uint8)].set(s),
    ),
    "apply": lambda x, s, n, i, m: (
        x.at[i].apply(jnp.exp),
        x.at[i].apply(lambda v: v),
        n.at[i].apply(lambda v: v * 2),
        x.at[2].apply(jnp.exp),
    ),
    "empty sums": lambda x, s, n, i, m: (
        none(x).sum(),
        none(x).prod(),
        none(n).sum(),
        jnp.broadcast_to(s, (2, 3, 0)).sum((0, 1)),
        jnp.broadcast_to(s, (2, 3, 0)).max((0, 1)),
        jnp.broadcast_to(s, (2, 0, 3)).prod((0, 1)),
    ),
    "empty products": lambda x, s, n, i, m: (
        none(x) @ none(x),
        jnp.outer(x, none(x)) @ jnp.outer(none(x), x),
        jnp.outer(none(x), x) @ x,
        jnp.einsum("ijk,ijl->kl", jnp.broadcast_to(s, (2, 3, 0)), jnp.broadcast_to(s, (2, 3, 0))),
    ),
    "products of masks": lambda x, s, n, i, m: (
        lax.dot(x > 0, n > 0),
        jnp.outer(x > 0, n > 0) @ (n > 2),
        lax.dot(none(x) > 0, none(x) > 0),
    ),
    "loops of each entry": lambda x, s, n, i, m: (
        jax.vmap(lambda j: lax.while_loop(lambda c: c[0] < j, lambda c: (c[0] + 1, c[1] * s + n), (0, n * s)))(
            jnp.arange(4)
        ),
        jax.vmap(lambda j: lax.fori_loop(0, j, lambda q, c: c + n[q], 0))(jnp.arange(5)),
        jax.vmap(lambda j: lax.fori_loop(j, i, lambda q, c: c + q, 0))(n),
        jax.vmap(jax.vmap(lambda j: lax.while_loop(lambda c: c < j, lambda c: c + 2, 0)))(jnp.arange(6).reshape(2, 3)),
    ),
    "bits of other sizes": lambda x, s, n, i, m: (
        n.view(jnp.uint8),
        jnp.tile(n.astype(jnp.int8), 4).view(jnp.int32),
        x.astype(jnp.float16)[:4].view(jnp.int32),
    ),
    "lowest number": lambda x, s, n, i, m: (
        (n > 0) * jnp.finfo(jnp.float32).min,
        (n > 0) * jnp.finfo(jnp.float32).max + 0.0,
        x.at[0].set(jnp.finfo(jnp.float32).min) * 1.0,
    ),
    "powers of zero": lambda x, s, n, i, m: (
        1 / jnp.power(x, 3.0),
        jnp.power(x, jnp.float32(-3)),
        jnp.power(x, jnp.float32(2)),
    ),
    "large log1p": lambda x, s, n, i, m: (jnp.log1p(s * 1e38), jnp.log1p(s * 1e29), jnp.logaddexp(s * 1e38, s)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_vmap(name):
    function = PROGRAMS[name]
    found = jax.jit(map_runs(function))(*operands())
    expected = jax.jit(jax.vmap(function, in_axes=-1, out_axes=-1))(*operands())
    for mine, theirs in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        assert (mine.shape, mine.dtype) == (theirs.shape, theirs.dtype)
        if jnp.issubdtype(mine.dtype, jnp.floating):
            np.testing.assert_allclose(mine, theirs, rtol=2e-6)
        else:
            np.testing.assert_array_equal(mine, theirs)


@pytest.mark.filterwarnings("error")
def test_a_quotient_by_a_fixed_number_says_nothing():
    x = jnp.asarray([1.0, -1.0])
    np.testing.assert_array_equal(map_runs(lambda x: x / 0.0)(x), [np.inf, -np.inf])
    np.testing.assert_array_equal(map_runs(lambda x: x / jnp.float32(1e-39))(x), [np.inf, -np.inf])


def in_order(rows):
    """The float32 sum of rows, one after another."""
    total = rows[0]
    for row in rows[1:]:
        total = total + row
    return total


@pytest.mark.bits
@pytest.mark.parametrize("runs", [1, 7, 64])
@pytest.mark.parametrize(
    ("function", "exact"),
    [
        (lambda x, y: x * x + y, lambda x, y: x * x + y),
        (lambda x, y: x**2 + y**2, lambda x, y: x * x + y * y),
        (lambda x, y: x**4 - y, lambda x, y: (x * x) * (x * x) - y),
        (lambda x, y: y - x * -x, lambda x, y: y - x * -x),
        (lambda x, y: y + jnp.abs(x) * jnp.sqrt(jnp.abs(y)), lambda x, y: y + abs(x) * np.sqrt(abs(y))),
        (lambda x, y: jnp.dot(x, x), lambda x, y: in_order(x * x)),
        (lambda x, y: jnp.sum(jnp.square(x)), lambda x, y: in_order(x * x)),
    ],
)
def test_squares_are_rounded_before_they_are_added(function, exact, runs):
    x, y = np.random.default_rng(1).normal(size=(2, 12, 64)).astype(np.float32)[..., :runs]
    np.testing.assert_array_equal(jax.jit(map_runs(function))(x, y), exact(x, y))


@pytest.mark.bits
@pytest.mark.parametrize("dtype", [jnp.float32, jnp.float16, jnp.bfloat16])
def test_the_shield_keeps_every_number(dtype):
    most = jnp.finfo(dtype).max
    x = jnp.asarray([most, -most, jnp.inf, -jnp.inf, jnp.nan, 0.0, -0.0, -1.5], dtype)
    found = np.asarray(jax.jit(lambda x: shield(x * 1))(x).astype(jnp.float32))
    np.testing.assert_array_equal(found, np.asarray(x.astype(jnp.float32)))
    np.testing.assert_array_equal(np.signbit(found[:4]), np.signbit(np.asarray(x[:4].astype(jnp.float32))))


STEPS = {
    "written twice": lambda i, a, b: (a.at[i].add(2).at[i + 1].set(9), b),
    "swapped": lambda i, a, b: (b.at[i].set(7), a.at[i].add(1)),
    "written on a condition": lambda i, a, b: (
        lax.cond(i > 1, lambda: a.at[i].set(5), lambda: a),
        jnp.where(i > 1, a, b),
    ),
    "updated": lambda i, a, b: (lax.dynamic_update_slice(a, a[:1] + 1, (i,)), lax.dynamic_update_slice(b, b[:2], (i,))),
    "outside": lambda i, a, b: (a.at[i + 20].add(1), b.at[i - 30].set(1, mode="clip")),
    "applied": lambda i, a, b: (a.at[i].apply(lambda v: v * 2), b.at[i].max(4)),
    "one for both": lambda i, a, b: (a.at[i].add(1),) * 2,
    "of a copy": lambda i, a, b: (jnp.abs(a).at[i].add(1), (a + 0).at[i].set(1)),
}


@pytest.mark.parametrize("name", STEPS)
def test_steps_of_runs_that_have_ended(name):
    step = STEPS[name]
    _, _, n, i, _ = operands()
    state, live = (n, n[::-1]), jnp.arange(RUNS) % 3 > 0
    found = map_step(lambda i, state: step(i, *state))(live, i, state)
    new = jax.vmap(step, in_axes=-1, out_axes=-1)(i, *state)
    for kept, after, before in zip(found, new, state, strict=True):
        np.testing.assert_array_equal(kept, jnp.where(live, after, before))
