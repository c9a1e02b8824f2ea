"""The intervals of a sequence of rewards by betting, after each reward."""

import functools

import jax
import jax.numpy as jnp

from jaxbandits.statistics.betting import HedgedCapital, PlugInBernstein


@functools.partial(jax.jit, static_argnames="cells")
def bounds(rewards, level, cells=0):
    """The intervals after each reward, `(T,)`, cut to those before; `cells` is 0 for the empirical Bernstein ones."""

    def add(carry, x):
        sequence, total, lower, upper = carry
        number, reward = x
        total = total + reward
        sequence = sequence.after(reward, number, total, level)
        new = sequence.bounds(level)
        lower, upper = jnp.maximum(lower, new[0]), jnp.minimum(upper, new[1])
        return (sequence.narrowed(*new), total, lower, upper), (lower, upper)

    sequence = HedgedCapital.start((), cells) if cells else PlugInBernstein.start(())
    start = (sequence, jnp.float32(0), jnp.float32(0), jnp.float32(1))
    return jax.lax.scan(add, start, (jnp.arange(1, len(rewards) + 1), rewards))[1]
