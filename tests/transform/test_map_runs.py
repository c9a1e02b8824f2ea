"""`map_runs` computes what `jax.vmap` computes, and each run has the same bits alone and in any batch."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax import lax

from jaxbandits.statistics.bernoulli_bounds import kl_lower_bound
from jaxbandits.transform import map_runs, map_step

ARMS = 5
SIZES = (1, 7, 64)


def operands(runs, seed=0):
    """Values of arms and of a run, places, whole numbers and keys of R runs; those of the first runs are the same."""
    draw = np.random.default_rng(seed)
    x, y = draw.normal(size=(2, 64, ARMS)).astype(np.float32)
    s = draw.uniform(0.1, 3, 64).astype(np.float32)
    i = draw.integers(0, ARMS, 64).astype(np.int32)
    n = draw.integers(1, 50, (64, ARMS)).astype(np.int32)
    keys = jax.random.split(jax.random.key(seed), 64)[:runs]
    return *(jnp.asarray(a[:runs].T) for a in (x, y, s, i, n)), keys


def bits_of(tree):
    def words(leaf):
        if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
            leaf = jnp.moveaxis(jax.random.key_data(leaf), -1, 0)
        return np.asarray(leaf)

    return [words(leaf) for leaf in jax.tree.leaves(tree)]


def check(function, *, tolerance=2e-6, seed=0):
    """`map_runs` against `jax.vmap`, and R = 1, 7, 64 against each other bit for bit."""
    mapped = jax.jit(map_runs(function))
    found = {runs: bits_of(mapped(*operands(runs, seed))) for runs in SIZES}
    for runs in SIZES[:-1]:
        for small, whole in zip(found[runs], found[64], strict=True):
            np.testing.assert_array_equal(small, whole[..., :runs])
    alone = bits_of(mapped(*(a[..., 3:4] for a in operands(7, seed))))
    for small, whole in zip(alone, found[7], strict=True):
        np.testing.assert_array_equal(small, whole[..., 3:4])
    by_vmap = bits_of(jax.jit(jax.vmap(function, in_axes=(-1, -1, -1, -1, -1, 0), out_axes=-1))(*operands(64, seed)))
    for mine, theirs in zip(found[64], by_vmap, strict=True):
        assert mine.shape == theirs.shape
        assert mine.dtype == theirs.dtype
        np.testing.assert_allclose(mine, theirs, rtol=tolerance, atol=tolerance)


PROGRAMS = {
    "a loop up to a place": lambda x, y, s, i, n, k: lax.fori_loop(
        0, i + 1, lambda j, c: c + jnp.stack([x, y, x, -y, x + 1])[j] * s, y
    ),
    "a loop that tells where it ended": lambda x, y, s, i, n, k: lax.while_loop(
        lambda c: c[1] < s * 3, lambda c: (c[0] + 1, c[1] + jnp.stack([s, s / 2])[c[0] % 2]), (jnp.int32(0), s)
    ),
    "a branch with a loop": lambda x, y, s, i, n, k: lax.cond(
        i > 2, lambda: lax.fori_loop(0, n[0], lambda j, c: c + y, x), lambda: x - y
    ),
    "take": lambda x, y, s, i, n, k: x[i] + s,
    "take beyond": lambda x, y, s, i, n, k: x[i + 3],
    "take filled": lambda x, y, s, i, n, k: jnp.take(x, i + 3),
    "take whole numbers": lambda x, y, s, i, n, k: n[i - 3],
    "take rows": lambda x, y, s, i, n, k: jnp.stack([x, y, x * y], 1)[i],
    "take columns": lambda x, y, s, i, n, k: jnp.stack([x, y])[:, i],
    "take an entry of two axes": lambda x, y, s, i, n, k: jnp.stack([x, y])[1, i],
    "take by two places": lambda x, y, s, i, n, k: jnp.outer(x, y)[i, n[0] % 3],
    "take several": lambda x, y, s, i, n, k: x[jnp.stack([i, (i + 1) % ARMS, 0 * i])],
    "take of a constant": lambda x, y, s, i, n, k: jnp.arange(10.0)[i],
    "take at a fixed place": lambda x, y, s, i, n, k: x[jnp.array([3, 1])] + x[2] - y[-1],
    "put": lambda x, y, s, i, n, k: x.at[i].set(s),
    "put beyond": lambda x, y, s, i, n, k: x.at[i + 3].set(s),
    "put rows": lambda x, y, s, i, n, k: jnp.outer(x, y).at[i].set(y),
    "put columns": lambda x, y, s, i, n, k: jnp.outer(x, y).at[:, i].set(y),
    "put into a constant": lambda x, y, s, i, n, k: jnp.zeros(ARMS).at[i].set(s),
    "put at several": lambda x, y, s, i, n, k: x.at[jnp.stack([i, (i + 1) % ARMS])].set(s),
    "put at a fixed place": lambda x, y, s, i, n, k: x.at[2].set(s).at[jnp.array([0, 1])].set(0.0),
    "add": lambda x, y, s, i, n, k: x.at[i].add(s * y[i]),
    "add at several": lambda x, y, s, i, n, k: n.at[jnp.stack([i, i])].add(1),
    "multiply at": lambda x, y, s, i, n, k: x.at[i].multiply(s),
    "update a slice": lambda x, y, s, i, n, k: lax.dynamic_update_index_in_dim(x, s, i, 0),
    "slice of two": lambda x, y, s, i, n, k: lax.dynamic_slice_in_dim(x, i, 2),
    "argmax": lambda x, y, s, i, n, k: (jnp.argmax(x + y * s), jnp.argmin(n), jnp.argmax(x > 0), jnp.argmax(x[::-1])),
    "argmax of NaN": lambda x, y, s, i, n, k: (jnp.argmax(jnp.where(x < 0, jnp.nan, y)), jnp.max(jnp.sqrt(x))),
    "argmax by axis": lambda x, y, s, i, n, k: (jnp.argmax(jnp.outer(x, y), 1), jnp.argmin(jnp.outer(x, y), 0)),
    "extremes": lambda x, y, s, i, n, k: (
        x.max(),
        n.min(),
        jnp.outer(x, y).max(),
        jnp.outer(x, y).min(1),
        (x > 0).max(),
    ),
    "any": lambda x, y, s, i, n, k: (jnp.any(x > y), jnp.all(x > -9, 0), jnp.bitwise_xor.reduce(n)),
    "sums": lambda x, y, s, i, n, k: (x.sum(), n.sum(), (x * y).sum(), jnp.outer(x, y).sum(), jnp.outer(x, y).sum(0)),
    "long sums": lambda x, y, s, i, n, k: (jnp.tile(x * s, 20).sum(), jnp.dot(jnp.tile(x, 20), jnp.tile(y, 20))),
    "moments": lambda x, y, s, i, n, k: (x.mean(), x.var(), x.std(ddof=1), jnp.median(x), jnp.prod(x)),
    "running": lambda x, y, s, i, n, k: (
        jnp.cumsum(x),
        jnp.cumsum(n),
        jnp.cumprod(x),
        lax.cummax(x),
        lax.cumsum(x, reverse=True),
    ),
    "products in sums": lambda x, y, s, i, n, k: (
        x * y + s,
        s - x * s * y,
        x**2 + y**3,
        x * y - x * s + y * 0.3,
        x**-2 + s,
    ),
    "quotients": lambda x, y, s, i, n, k: (
        x / s + y,
        s / x,
        x / n - 1,
        x / 3.0 + y / 7,
        jnp.sqrt(s / n) + x / jnp.sqrt(s) * y,
    ),
    "quotient of broadcasts": lambda x, y, s, i, n, k: jnp.outer(x, y) / y[None, :] + jnp.outer(y, y) / (s + 1) ** 2,
    "quotients by sums of shares": lambda x, y, s, i, n, k: (
        lambda e: ((e * x + e[i] * y) / (e + e[i]))[jnp.argmin(x)]
    )(jnp.exp(-s * jnp.zeros(ARMS)) / jnp.sum(jnp.exp(-s * jnp.zeros(ARMS)))),
    "products": lambda x, y, s, i, n, k: (
        x @ y,
        jnp.outer(x, y) @ x,
        jnp.outer(x, y) @ jnp.outer(y, x),
        jnp.einsum("i,j,i->j", x, y, x),
    ),
    "functions": lambda x, y, s, i, n, k: (
        jnp.log(s) * x + y,
        jnp.exp(x),
        jnp.log1p(s),
        jnp.expm1(x),
        s**x,
        jnp.exp2(x),
    ),
    "more functions": lambda x, y, s, i, n, k: (
        jnp.tanh(x),
        jax.nn.sigmoid(x),
        jax.nn.softmax(x * 3),
        lax.rsqrt(s),
        s**0.5,
        jax.nn.softplus(x),
    ),
    "logsumexp": lambda x, y, s, i, n, k: (jax.nn.logsumexp(x), jnp.logaddexp(x, y)),
    "sorts": lambda x, y, s, i, n, k: (jnp.sort(x), jnp.argsort(-x), lax.top_k(x, 2), jnp.argsort(n, descending=True)),
    "sorts of matrices": lambda x, y, s, i, n, k: (
        *(jnp.sort(jnp.outer(x, y), axis=0), jnp.argsort(jnp.outer(x, y), axis=1)),
        *(lax.top_k(jnp.outer(x, y), 3, axis=0), lax.top_k(jnp.outer(x, y), 4), jnp.median(x), jnp.percentile(y, 30.0)),
        lax.sort((n % 3, n, x), num_keys=2),
    ),
    "sorts of many": lambda x, y, s, i, n, k: (
        *(jnp.argsort(jnp.tile(x, 20)), lax.top_k(jnp.tile(n, 20), 30), lax.top_k(jnp.tile(x, 20), 9)),
        *(jnp.argsort(jnp.tile(x, 60)), lax.top_k(jnp.tile(x, 60), 20)),
    ),
    "structure": lambda x, y, s, i, n, k: (
        jnp.concatenate([x, y]),
        x[::2],
        jnp.flip(x),
        jnp.pad(x, 1),
        jnp.outer(x, y).T,
        x[None],
        x.reshape(5, 1),
    ),
    "split": lambda x, y, s, i, n, k: (jnp.split(x, [2]), jnp.roll(x, 2), jnp.repeat(x, 2), jnp.tile(x, 2)),
    "mask": lambda x, y, s, i, n, k: jnp.where(jnp.arange(ARMS) == i, -jnp.inf, x).max(),
    "chosen": lambda x, y, s, i, n, k: jnp.where(s > 1, x * y, 0) + x,
    "clip": lambda x, y, s, i, n, k: (jnp.clip(x, -s, 1), jnp.clip(n, 3, 7), lax.clamp(0.0, x, 1.0)),
    "integers": lambda x, y, s, i, n, k: (
        n // 3,
        n % 7,
        n << 2,
        lax.population_count(n),
        n.astype(jnp.float32) * s,
        -n,
    ),
    "bits": lambda x, y, s, i, n, k: (
        x.view(jnp.int32),
        lax.bitcast_convert_type(n, jnp.uint32),
        lax.bitcast_convert_type(n, jnp.uint8),
    ),
    "uniform": lambda x, y, s, i, n, k: (
        jax.random.uniform(k),
        jax.random.uniform(k, (3,)),
        jax.random.bits(k, (2, 2), "uint8"),
    ),
    "keys": lambda x, y, s, i, n, k: (
        jax.random.split(k),
        jax.random.fold_in(k, i),
        jax.random.key_data(k),
        jax.random.split(k)[i % 2],
    ),
    "keys of keys": lambda x, y, s, i, n, k: jax.vmap(lambda key: jax.random.uniform(key, (2,)))(
        jax.random.split(k, 3)
    ),
    "draws": lambda x, y, s, i, n, k: (
        jax.random.normal(k, (3,)),
        jax.random.randint(k, (), 0, 9),
        jax.random.exponential(k),
    ),
    "more draws": lambda x, y, s, i, n, k: (
        jax.random.categorical(k, x),
        jax.random.permutation(k, ARMS),
        jax.random.bernoulli(k, 0.3),
    ),
    "choice": lambda x, y, s, i, n, k: jax.random.choice(k, ARMS, p=jax.nn.softmax(x)),
    "gamma": lambda x, y, s, i, n, k: jax.random.gamma(k, s) > 0,
    "branch": lambda x, y, s, i, n, k: lax.cond(s > 1, lambda x: x * y + s, lambda x: x - 1, x),
    "branch of all": lambda x, y, s, i, n, k: lax.cond(jnp.asarray(1) > 0, lambda x: (x * y, 1), lambda x: (x, 2), x),
    "branches": lambda x, y, s, i, n, k: lax.switch(
        i, [lambda: s, lambda: x[0], lambda: 2.0, lambda: y.sum(), lambda: -s]
    ),
    "loop": lambda x, y, s, i, n, k: lax.while_loop(
        lambda c: c[0] < i, lambda c: (c[0] + 1, c[1] * s + x[c[0]]), (0, s)
    ),
    "loop of all": lambda x, y, s, i, n, k: lax.fori_loop(0, 4, lambda j, c: c * 0.5 + x[j] * y, x),
    "loop with keys": lambda x, y, s, i, n, k: lax.fori_loop(0, 3, lambda j, c: jax.random.split(c)[0], k),
    "scan": lambda x, y, s, i, n, k: lax.scan(lambda c, e: (c * s + e, c > 0), s, x),
    "map": lambda x, y, s, i, n, k: (lax.map(lambda e: e * s + 1, x), jax.vmap(lambda e: e * s + x)(y)),
    "unused": lambda x, y, s, i, n, k: (1.0, jnp.arange(3), x, k),
    "derivative": lambda x, y, s, i, n, k: jax.grad(lambda s: jnp.sum(jnp.log(s) * x) ** 2)(s),
    "unknown": lambda x, y, s, i, n, k: (
        jnp.linalg.norm(x),
        jnp.searchsorted(jnp.sort(x), s),
        jnp.nonzero(x > 0, size=3)[0],
    ),
}


#: What is made of the operations of another, and takes long to compile.
LONG = ("more functions", "more draws", "sorts of matrices", "sorts of many", "keys of keys", "logsumexp")


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n in LONG)) for n in PROGRAMS])
def test_as_vmap_and_alone_as_in_a_batch(name):
    check(PROGRAMS[name], tolerance=2e-5)


@st.composite
def programs(draw):
    """A random program: a list of operations over the arms' values, a number of the run, and a place."""
    step = st.tuples(st.sampled_from(sorted(STEPS)), st.integers(0, 7), st.integers(0, 7))
    return draw(st.lists(step, min_size=1, max_size=8))


STEPS = {
    "add": lambda a, b, s, i: (a + b, s, i),
    "times": lambda a, b, s, i: (a * b, s, i),
    "times and add": lambda a, b, s, i: (a * b + s, s, i),
    "minus the square": lambda a, b, s, i: (a - b**2, s, i),
    "divide": lambda a, b, s, i: (a / (1 + jnp.abs(b)), s, i),
    "divide by one": lambda a, b, s, i: (a / (1 + jnp.abs(s)), s, i),
    "root": lambda a, b, s, i: (jnp.sqrt(jnp.abs(a)) + b, s, i),
    "log": lambda a, b, s, i: (jnp.log(1 + jnp.abs(a)), s * 0.7, i),
    "largest": lambda a, b, s, i: (a, jnp.max(b), jnp.argmax(a)),
    "smallest": lambda a, b, s, i: (a - jnp.min(b), s, jnp.argmin(b)),
    "mean": lambda a, b, s, i: (a, jnp.mean(a * b), i),
    "entry": lambda a, b, s, i: (b, a[i] * s + b[i], i),
    "write": lambda a, b, s, i: (a.at[i].set(s), s, i),
    "raise": lambda a, b, s, i: (a.at[i].add(b[i] * s), s, i),
    "without": lambda a, b, s, i: (jnp.where(jnp.arange(ARMS) == i, b, a), s, (i + 1) % ARMS),
    "sum": lambda a, b, s, i: (a * 0.5, jnp.sum(a * b) * 0.1, i),
    "order": lambda a, b, s, i: (jnp.sort(a), s, jnp.argsort(b)[i]),
    "constants in a row": lambda a, b, s, i: (a * 0.3 / 7, (s * 0.1 + 0.2) * 0.7, i),
    "shares": lambda a, b, s, i: (jnp.exp(-s * jnp.zeros(ARMS)) / 3 + jnp.abs(a) / jnp.sum(jnp.abs(a) + 1), s**2, i),
    "divide by a sum of entries": lambda a, b, s, i: ((a * b + a[i] * b[i]) / (1 + jnp.abs(a) + jnp.abs(a[i])), s, i),
    "equal numbers": lambda a, b, s, i: (jnp.full(ARMS, s), jnp.sum(a) / ARMS, i),
    "pairs": lambda a, b, s, i: (jnp.min((a[:, None] * s + b) / (2 + jnp.abs(a[:, None]) + jnp.abs(b)), 1), s, i),
    "power": lambda a, b, s, i: ((0.1 + jnp.abs(a)) ** 1.5, 1 / (1 + s * s), i),
    "branch": lambda a, b, s, i: (lax.cond(s > 0, lambda: a * s + b, lambda: b), s, i),
    "loop": lambda a, b, s, i: (lax.fori_loop(0, i, lambda j, c: c * 0.5 + b, a), s, i),
}


def check_random_program(steps):
    """R = 1, 7, 64 against each other bit for bit."""

    def program(x, y, s, i, n, key):
        arrays, numbers, places = [x, y], [s], [i]
        for name, first, second in steps:
            a, b = arrays[first % len(arrays)], arrays[second % len(arrays)]
            a, s, i = STEPS[name](a, b, numbers[-1], places[-1])
            arrays, numbers, places = [*arrays, a], [*numbers, s], [*places, i]
        return arrays[-1], numbers[-1], arrays[-1] + 0.25, arrays[-1][places[-1]]

    found = {runs: bits_of(jax.jit(map_runs(program))(*operands(runs))) for runs in SIZES}
    for runs in SIZES[:-1]:
        for small, whole in zip(found[runs], found[64], strict=True):
            np.testing.assert_array_equal(small, whole[..., :runs])


@pytest.mark.bits
@settings(max_examples=16, deadline=None, derandomize=True)
@given(programs())
def test_random_programs_have_the_bits_of_each_run(steps):
    check_random_program(steps)


@pytest.mark.slow
@pytest.mark.bits
@settings(max_examples=600, deadline=None, derandomize=True)
@given(programs())
def test_many_random_programs_have_the_bits_of_each_run(steps):
    check_random_program(steps)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(
    ("name", "exact", "values"),
    [
        ("log", np.log, [1e-30, 0.5, 1 - 6e-8, 1, 1 + 1.2e-7, 3, 1e30]),
        ("log1p", np.log1p, [-0.999, -1e-7, 0, 1e-20, 1e-7, 0.3, 5, 1e20]),
        ("exp", np.exp, [-87, -1, -1e-7, 0, 1e-3, 1, 20, 88.5]),
        ("exp2", np.exp2, [-120, -1.5, 0, 0.3, 10.25, 127]),
        ("expm1", np.expm1, [-90, -1, -1e-7, 0, 1e-10, 1e-3, 1, 20, 85]),
        ("tanh", np.tanh, [-50, -1, -1e-5, 0, 1e-10, 0.3, 2, 9]),
    ],
)
def test_functions_are_exact_to_some_units(name, exact, values, compiled):
    x = np.asarray(values, np.float32)
    mapped = map_runs(getattr(jnp, name))
    found = (jax.jit(mapped) if compiled else mapped)(jnp.asarray(x))
    np.testing.assert_allclose(found, exact(x.astype(np.float64)), rtol=6e-7)


def test_powers():
    x = np.asarray([0.3, 0.999, 1.5, 7, 1e10, 2, 0.1, 4], np.float32)
    y = np.asarray([0.5, 300, -2.3, 12.7, -3, 0.25, 30, 0.5], np.float32)
    found = np.asarray(map_runs(lambda x, y: x**y)(jnp.asarray(x), jnp.asarray(y)))
    exact = x.astype(np.float64) ** y
    assert np.all(np.abs(found / exact - 1) < np.maximum(4, np.abs(y)) * 1.2e-7)


def test_functions_at_their_edges():
    x = jnp.asarray([0.0, -0.0, -1.0, jnp.inf, -jnp.inf, jnp.nan, 1e-45, 1000.0, -1000.0])
    functions = (jnp.log, jnp.exp, jnp.log1p, jnp.expm1, jnp.tanh, jax.nn.sigmoid, jnp.exp2, lax.erf_inv)
    found = jax.jit(map_runs(lambda x: [function(x) for function in functions]))(x)
    for function, values in zip(functions, found, strict=True):
        np.testing.assert_allclose(values, function(x), rtol=1e-6, atol=1e-44, err_msg=str(function))
    bases = jnp.asarray([0.0, 1, -1, 2, -2, 0.5, jnp.inf, -jnp.inf, jnp.nan])
    powers = jnp.asarray([0.0, 1, -1, 2, 3, 0.5, jnp.inf, -jnp.inf, jnp.nan])
    a, b = (m.ravel() for m in jnp.meshgrid(bases, powers))
    with np.errstate(all="ignore"):
        exact = np.power(np.asarray(a, np.float64), np.asarray(b, np.float64))
    np.testing.assert_allclose(jax.jit(map_runs(jnp.power))(a, b), exact, rtol=1e-6)


def test_normal_draws_are_those_of_the_inverse_error_function():
    import scipy.special

    x = np.linspace(-0.9999, 0.9999, 1001).astype(np.float32)
    found = map_runs(lax.erf_inv)(jnp.asarray(x))
    np.testing.assert_allclose(found, scipy.special.erfinv(x.astype(np.float64)), rtol=2e-6, atol=1e-7)


def test_infinities_and_nan_pass_the_shield():
    x = jnp.asarray([jnp.inf, -jnp.inf, jnp.nan, 3e38, -3e38, 0.0])
    np.testing.assert_array_equal(map_runs(lambda x: x * 1.0 + 0.0)(x), x)


def test_a_function_that_is_known_as_a_whole_is_applied_as_it_stands_and_once():
    def twice(x, s):
        p = 0.5 + x / 8
        low = kl_lower_bound(p, s)
        return jnp.max(low), jnp.argmin(low), jnp.min(kl_lower_bound(p, s))

    x, _, s, *_ = operands(7)
    low = jax.jit(lambda x, s: kl_lower_bound(0.5 + x / 8, s))(x, s)
    largest, first, _ = jax.jit(map_runs(twice))(x, s)
    np.testing.assert_array_equal(largest, low.max(0))
    np.testing.assert_array_equal(first, low.argmin(0))
    roots = [str(jax.make_jaxpr(f)(x, s)).count("sqrt") for f in (map_runs(twice), kl_lower_bound)]
    assert roots[0] == roots[1]


@pytest.mark.parametrize("terms", [1, 2, 31, 32, 33, 64, 65, 100])
def test_floats_are_added_one_after_another_however_many(terms):
    x = np.random.default_rng(terms).normal(size=(terms, 3)).astype(np.float32) * 10
    wanted = functools.reduce(np.add, list(x))
    np.testing.assert_array_equal(jax.jit(map_runs(jnp.sum))(x), wanted)
    dot = jax.jit(map_runs(lambda x: jnp.dot(x, jnp.ones(terms))))(x)
    np.testing.assert_array_equal(dot, wanted)
    minus = jax.jit(map_runs(jnp.sum))(jnp.full((terms, 2), -0.0))
    assert np.signbit(minus).all()


def test_nothing_to_map_is_refused():
    with pytest.raises(ValueError, match="an axis of runs"):
        map_runs(lambda: 1)()


def test_where_a_run_has_ended_a_step_leaves_the_state_as_it_is():
    def step(arm, reward, state):
        pulls, sums, _ = state
        return pulls.at[arm].add(1), sums.at[arm].add(reward * 0.3), reward

    arm, reward = jnp.asarray([0, 2, 1]), jnp.asarray([1.0, 2.0, 3.0])
    state = (jnp.zeros((3, 3), jnp.int32), jnp.ones((3, 3)), jnp.zeros(3))
    live = jnp.asarray([True, False, True])
    found = map_step(step)(live, arm, reward, state)
    new = jax.vmap(step, in_axes=-1, out_axes=-1)(arm, reward, state)
    for kept, after, before in zip(found, new, state, strict=True):
        np.testing.assert_allclose(kept, jnp.where(live, after, before))


def test_a_counter_of_a_loop_is_one_number_for_all_runs():
    """Rows are then sliced, not gathered for each run."""

    def mapped(x, y, s, i, n, k):
        rows = jnp.stack([x, y, -x, -y, x])
        return map_runs(lambda rows, i: lax.fori_loop(0, i, lambda j, c: c + rows[j], rows[0]))(rows, i)

    assert "gather" not in str(jax.make_jaxpr(mapped)(*operands(7)))


def test_a_branch_with_a_loop_is_made_where_a_run_takes_it():
    def long(s):
        return lax.while_loop(lambda c: c < 99, lambda c: c * (2 + s), s)

    def mapped(s):
        return map_runs(lambda s: lax.cond(s > 1, long, lambda s: s, s))(s)

    (choice,) = [e for e in jax.make_jaxpr(mapped)(jnp.ones(2)).eqns if e.primitive.name == "cond"]
    assert choice.invars[0].aval.shape == ()
    np.testing.assert_array_equal(mapped(jnp.asarray([0.5, 10.0])), [0.5, 120.0])


def test_the_largest_of_one_number_is_that_number():
    """No axis is made for it: arrays with one more axis have no form by rows."""
    x = jnp.asarray([[3.0, 1.0], [2.0, 4.0]])
    mapped = map_runs(lambda x: x == jnp.max(jnp.max(x)))
    assert mapped(x).tolist() == [[True, False], [False, True]]
    assert "reshape" not in str(jax.make_jaxpr(mapped)(x))
