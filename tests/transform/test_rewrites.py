"""Constants in a row are computed with one after the other, as they are written, compiled or not and padded or not."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxbandits.transform import Known, Padded, map_runs, results_of

RUNS, ARMS, WIDTH = 64, 5, 8
C, D = np.float32(0.1), np.float32(0.7)

#: From numbers of arms `(K,)` and of a run.
CHAINS = {
    "factors": lambda x, s: x * C * D,
    "divisors": lambda x, s: x / C / D,
    "a divisor and a factor": lambda x, s: x / C * D,
    "three": lambda x, s: s * C * D * C,
    "terms": lambda x, s: x + C + D,
    "differences": lambda x, s: (x - C + D, C - x - D),
    "two products": lambda x, s: (x * C) * (s * D),
    "elsewhere": lambda x, s: ((x * C)[::-1] * D, (x * C)[:, None] * D, (x + C).reshape(1, -1) + D),
    "of a broadcast": lambda x, s: (jnp.full(x.shape, s) * C * D, jnp.full(x.shape, s * C) * D),
}


def of_runs(arms, width):
    """Numbers of arms `(K, R)` and of a run `(R,)`."""
    draw = np.random.default_rng(0)
    x, s = draw.normal(size=(WIDTH, RUNS)), draw.uniform(0.1, 3, RUNS)
    x[arms:] = 77
    return jnp.asarray(x[:width], jnp.float32), jnp.asarray(s, jnp.float32)


@pytest.mark.parametrize("name", CHAINS)
def test_what_is_written_is_computed(name):
    x, s = of_runs(ARMS, ARMS)
    with jax.disable_jit():  # operation by operation
        expected = jax.vmap(CHAINS[name], -1, -1)(x, s)
    found = jax.jit(map_runs(CHAINS[name]))(x, s)
    jax.tree.map(np.testing.assert_array_equal, found, expected)


#: Of numbers of arms, of a run, and inverse roots of counts.
OF_THE_NUMBER_OF_ARMS = {
    "a mean": lambda x, s, n: x.mean() * C,
    "its share": lambda x, s, n: (x / len(x) * D, s * (1 / len(x)) * D, C * (s / len(x))),
    "a logarithm": lambda x, s, n: (x * math.log(len(x)) / D, x / D * jnp.log(1.0 * len(x)), x + len(x) - C),
    "what is no number of a run": lambda x, s, n: s * (jnp.sqrt(len(x) / 3.0) * C * D),
    "roots of counts": lambda x, s, n: (
        *(jnp.sqrt(len(x) / n) * C, jnp.sqrt(C * len(x) * D / n) * D, jnp.sqrt(C / (n * len(x) * D)) * C),
        C / jnp.sqrt(n * (len(x) * C)) * D,
    ),
}


@pytest.mark.parametrize("name", OF_THE_NUMBER_OF_ARMS)
def test_constants_that_hang_on_the_number_of_arms(name):
    def made(width, count):
        x, s = of_runs(ARMS, width)
        counts = jnp.asarray(np.random.default_rng(1).integers(1, 50, (WIDTH, RUNS))[:width], jnp.float32)
        known = [Known(), Known(), Known((1.0, 50.0), 1 / jnp.sqrt(counts))]

        @jax.jit
        def values(count, *given):  # the number of arms is an argument: nothing hangs on it when this is compiled
            padded = None if count is None else Padded(count, width, [(0,), (), (0,)])
            return [value.array for value in results_of(OF_THE_NUMBER_OF_ARMS[name], given, known, padded)[0]]

        return values(count, x, s, counts)

    for one, other in zip(made(ARMS, None), made(WIDTH, jnp.full(RUNS, ARMS, jnp.int32)), strict=True):
        np.testing.assert_array_equal(other[tuple(slice(size) for size in one.shape)], one)
