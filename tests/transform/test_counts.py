"""Roots of counts by the inverse roots that are kept: within units of the last place, and of nothing but counts."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax import lax

from jaxbandits.transform import Known, Padded, results_of

ARMS, SIZES = 5, (1, 7, 64)
#: Counts are these; the rest is not known to be.
KNOWN = ("with root", "with root and ranges", "without")


def operands(runs=64):
    """Counts `(K, R)`, a number of a run, numbers of arms."""
    draw = np.random.default_rng(0)
    n = np.exp(draw.uniform(0, 20, (ARMS, 64))).astype(np.int32)  # three times as many are an int32
    n[:, :8] = draw.integers(1, 9, (ARMS, 8))
    s, x = draw.uniform(0.01, 30, 64).astype(np.float32), draw.normal(size=(ARMS, 64)).astype(np.float32)
    return tuple(jnp.asarray(a[..., :runs]) for a in (n, s, x))


def root_of(n):
    return jnp.asarray(1 / np.sqrt(np.asarray(n, np.float32)))


def computed(function, known="with root", runs=64, exist=None):
    def mapped(n, s, x, root):
        root = None if known == "without" else root
        ranged = known == "with root and ranges"
        facts = [Known((1, 2**31 - 1) if ranged else None, root), Known((0.0, 256.0) if ranged else None), Known()]
        padded = None if exist is None else Padded(jnp.full(n.shape[-1], exist, jnp.int32), ARMS, [(0,), (), (0,)])
        return [value.array for value in results_of(function, (n, s, x), facts, padded)[0]]

    return [np.asarray(array) for array in jax.jit(mapped)(*operands(runs), root_of(operands(runs)[0]))]


ROOTS = {
    "root of a quotient": lambda n, s, x: jnp.sqrt(s / n),
    "quotient of roots": lambda n, s, x: jnp.sqrt(s) / jnp.sqrt(n),
    "multiples": lambda n, s, x: (
        jnp.sqrt(3 * s / (2 * n)),
        jnp.sqrt(s / (n * 0.7)),
        s / jnp.sqrt(2.0 * n),
        s / (3 * n),
    ),
    "reciprocal": lambda n, s, x: (lax.rsqrt(n.astype(jnp.float32)), 1 / jnp.sqrt(n), lax.rsqrt(0.3 * n)),
    "added": lambda n, s, x: (jnp.abs(x) + jnp.sqrt(0.5 * jnp.log(4 * s + 9) / n), 1 + jnp.sqrt(s / n) * 2),
    "of zero": lambda n, s, x: (jnp.sqrt(0 * s / n), jnp.sqrt(-0.0 * s / n), -s / jnp.sqrt(n)),
}
OTHERS = {
    "whole quotient": lambda n, s, x: jnp.sqrt((jnp.int32(9) // n).astype(jnp.float32)),
    "whole multiple": lambda n, s, x: jnp.sqrt(s / (3 * n)),
    "whole part of a root": lambda n, s, x: s / jnp.sqrt(n).astype(jnp.int32).astype(jnp.float32),
    "whole part of a multiple": lambda n, s, x: jnp.sqrt(s / (0.3 * n + 1).astype(jnp.int32)),
    "small types": lambda n, s, x: (
        jnp.sqrt(s / n.astype(jnp.uint8).astype(jnp.float32)),
        jnp.sqrt(s / n.astype(jnp.float16).astype(jnp.float32)),
        jnp.sqrt(s / n.astype(bool).astype(jnp.float32)),
    ),
    "extremes": lambda n, s, x: (jnp.sqrt(1e30 * s / (1e-9 * n)), jnp.sqrt(s / (1e30 * n)), jnp.sqrt(s * 1e37 / n)),
    "sums and bounds": lambda n, s, x: (jnp.sqrt(s / (n + 1)), jnp.sqrt(s / jnp.maximum(n, 3)), jnp.sqrt(s / n[::-1])),
    "of arms": lambda n, s, x: (jnp.sqrt(abs(x) / n), jnp.sqrt(s / n[2]), jnp.sqrt(s / (n * s)), jnp.sqrt(s / (n * n))),
    "negative": lambda n, s, x: (jnp.sqrt(-s / n), jnp.sqrt(s / (-2.0 * n)), jnp.sqrt(s / (0.0 * n))),
}


@pytest.mark.bits
@pytest.mark.parametrize("name", ROOTS | OTHERS)
def test_within_some_units_of_the_last_place_and_the_same_in_any_batch(name):
    function = (ROOTS | OTHERS)[name]
    found, ranged, plain = (computed(function, known) for known in KNOWN)
    for one, other, exact in zip(found, ranged, plain, strict=True):
        np.testing.assert_array_equal(one, other)
        np.testing.assert_allclose(one, exact, rtol=4 * 2.0**-23)
    for runs in SIZES:
        for small, whole in zip(computed(function, runs=runs), found, strict=True):
            np.testing.assert_array_equal(small, whole[..., :runs])


def test_the_kept_root_is_used():
    n, s, _ = operands()
    found, _ = results_of(lambda n, s: jnp.sqrt(s / (2.0 * n)), (n, s), [Known(root=jnp.zeros(n.shape)), Known()])
    assert not np.asarray(found[0].array).any()


@pytest.mark.bits
def test_clipped_counts_have_the_same_bits_with_ranges():
    def function(n, s, x):
        return jnp.sqrt(s / n), jnp.sqrt(s / jnp.where(n < 0, 1, n)), jnp.sqrt(s / jnp.clip(n, 0, 2**31 - 1))

    for one, other in zip(computed(function), computed(function, "with root and ranges"), strict=True):
        np.testing.assert_array_equal(one, other)


def test_with_arms_that_do_not_exist():
    def function(n, s, x):
        return jnp.sqrt(s / n), jnp.sqrt(s / (n * float(len(n)))), jnp.sqrt(s / (n * 2)) + jnp.sum(x) / len(x)

    n, s, x = operands()
    facts = [Known(root=root_of(n[:3])), Known(), Known()]
    exact, _ = results_of(function, (n[:3], s, x[:3]), facts)
    for one, other in zip(exact, computed(function, exist=3), strict=True):
        np.testing.assert_array_equal(one.array, other[:3])


#: From a multiple of counts and a number to the same.
STEPS = {
    "twice": lambda c, s: (2 * c, s),
    "less": lambda c, s: (c * 0.37, s + 1),
    "divided": lambda c, s: (s / c, s),
    "root": lambda c, s: (jnp.sqrt(c), s * 0.5),
    "inverse root": lambda c, s: (lax.rsqrt(c), s),
    "whole": lambda c, s: (jnp.floor(c) + 1, s),
    "whole type": lambda c, s: (c.astype(jnp.int32).astype(jnp.float32) + 1, s),
    "log": lambda c, s: (c, jnp.log(1 + s)),
    "multiplied": lambda c, s: (c * (s + 0.5), s),
}


@pytest.mark.slow
@pytest.mark.bits
@settings(max_examples=10, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from(sorted(set(STEPS) - {"whole", "whole type"})), min_size=1, max_size=6))
def test_random_programs_of_counts(steps):
    def program(n, s, x):
        c = n.astype(jnp.float32)
        for name in steps:
            c, s = STEPS[name](c, s)
        return c, c + s

    found, ranged, plain = (computed(program, known) for known in KNOWN)
    for one, other, exact in zip(found, ranged, plain, strict=True):
        np.testing.assert_array_equal(one, other)
        np.testing.assert_allclose(one, exact, rtol=6 * 2.0**-23, atol=1e-37)
    for small, whole in zip(computed(program, runs=7), found, strict=True):
        np.testing.assert_array_equal(small, whole[..., :7])


@settings(max_examples=10, deadline=None, derandomize=True)
@given(
    st.lists(st.sampled_from(["twice", "less", "root", "divided"]), max_size=3),
    st.sampled_from(["whole", "whole type"]),
)
def test_what_is_made_whole_is_no_multiple(before, whole):
    def program(n, s, x):
        c = n.astype(jnp.float32)
        for name in (*before, whole):
            c, s = STEPS[name](c, s)
        return jnp.sqrt(s / (c + 0 * x)), jnp.sqrt(s / c)

    by_sum, by_count = computed(program)
    np.testing.assert_allclose(by_count, by_sum, rtol=4 * 2.0**-23)
