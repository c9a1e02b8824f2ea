"""The forms of `jaxbandits.arrays.arms` and `ranking` against the obvious ones, in nanoseconds a run on one device.

pip install -e ".[bench]" && python experiments/benchmarks/arm_operations.py
"""

import statistics
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from jaxbandits.arrays import arms, ranking
from jaxbandits.random import tie_breaking
from jaxbandits.report.text_tables import text_table

STEPS = 2000


def nanoseconds(step: Callable[[Any], Any], start: Any, runs: int) -> float:
    """Median time of a step of all runs, divided by the runs."""
    loop = jax.jit(lambda x: lax.fori_loop(0, STEPS, lambda _, x: step(x), x))
    jax.block_until_ready(loop(start))
    seconds = []
    for _ in range(7):
        began = time.perf_counter()
        jax.block_until_ready(loop(start))
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds) / STEPS / runs * 1e9


def scaled(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A step that changes all of x a little, so that no step can be left out."""
    return lambda x: x * change(x)


def main() -> None:
    """Print the table."""
    rows = [("arms", "runs", "argmax", "arg_largest", "one-hot sum", "take", "where", "put")]
    for count, runs in ((10, 528), (50, 336), (1000, 80)):
        words = tie_breaking.tie_words(jax.random.split(jax.random.key(0), runs))
        order = tie_breaking.tie_order(words, count)
        x = jax.random.uniform(jax.random.key(1), (count, runs))
        arm = jax.random.randint(jax.random.key(2), (runs,), 0, count)
        number = arms.index(count, (runs,))

        times = [
            nanoseconds(scaled(lambda x: 1 + 1e-9 * jnp.argmax(x, 0)), x, runs),
            nanoseconds(
                scaled(
                    lambda x, o=order, c=count, w=words: (
                        1 + 1e-9 * tie_breaking.arm_at(ranking.arg_largest(x, o)[1], c, w)
                    )
                ),
                x,
                runs,
            ),
            nanoseconds(scaled(lambda x, n=number, a=arm: 1 + 1e-9 * jnp.where(n == a, x, 0).sum(0)), x, runs),
            nanoseconds(scaled(lambda x, a=arm: 1 + 1e-9 * arms.take(x, a)), x, runs),
            nanoseconds(lambda x, n=number, a=arm: jnp.where(n == a, x[0] + 1e-9, x), x, runs),
            nanoseconds(lambda x, a=arm: arms.put(x, a, x[0] + 1e-9), x, runs),
        ]
        rows.append((str(count), str(runs), *(f"{nanosecond:.1f}" for nanosecond in times)))
    print(text_table(rows))


if __name__ == "__main__":
    main()
