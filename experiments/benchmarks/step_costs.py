"""Where a step of UGapEc goes on one CPU device: kernels, nanoseconds a pull, and what its pieces cost by themselves.

    python experiments/benchmarks/step_costs.py

The job is that of `ugape.py`. Each piece is one loop over the runs, repeated with a barrier after each; the sum of the
pieces is what is left when nothing but arithmetic and its own arrays is paid for. `a kernel's start` is what a step
takes with few lanes, by its kernels: the runtime's part, whatever the number of lanes.
"""

import dataclasses
import functools
import re
import statistics
import time
from collections.abc import Callable
from typing import Any
from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import jaxbandits as jb
from jaxbandits.arrays import arms
from jaxbandits.arrays.numerics import log
from jaxbandits.compilers.xla_cpu import barrier
from jaxbandits.engine import driver, mapped_rule
from jaxbandits.engine.lanes import COMPILER_OPTIONS
from jaxbandits.random.threefry import threefry2x32
from jaxbandits.report.text_tables import text_table

PROBLEMS = {10: np.asarray([0.7] + [0.5] * 9), 50: np.linspace(0.9, 0.1, 50)}
STEPS, CALLS = 2048, 7


class _CapturedError(Exception):
    """Lanes in the middle of their runs: algorithm, problem and state."""


def lanes_of(means: np.ndarray, lanes: int | None) -> tuple[Any, Any, jax.Array, Any]:
    """Algorithm, problem, keys and states of lanes some thousand pulls after they began."""

    def stopped(function: Callable[..., Any], _: tuple[Any, ...], settings: Any) -> Callable[..., Any]:
        calls = iter(range(3))

        def work(*arguments: Any) -> Any:
            if next(calls, None) is None:
                raise _CapturedError(jax.tree.map(lambda leaf: leaf[0], arguments[2]))
            return function(*arguments, settings=settings)

        return work

    try:
        with mock.patch.object(driver, "with_machine_code", stopped):
            jb.simulate(jb.UGapEc(epsilon=0.1, delta=0.05), jb.bernoulli(means), 20_000, lanes=lanes)
    except _CapturedError as captured:
        (carry,) = captured.args
        return carry.algorithm, carry.problem, carry.key, carry.state
    raise AssertionError("the runs ended first")


def measured(step: Callable[[Any], Any], start: Any) -> tuple[float, int]:
    """Median nanoseconds of a step, processor time; and its kernels."""
    loop = jax.jit(lambda x: lax.fori_loop(0, STEPS, lambda _, x: step(x), x), compiler_options=COMPILER_OPTIONS)
    program = loop.lower(start).compile()
    jax.block_until_ready(program(start))
    times = []
    for _ in range(CALLS):
        began = time.process_time()
        jax.block_until_ready(program(start))
        times.append((time.process_time() - began) / STEPS * 1e9)
    bodies = re.findall(r"^%[^\n]*\{\n(.*?)^\}", program.as_text(), re.MULTILINE | re.DOTALL)
    kernels = max(len(re.findall(r" (?:fusion|copy|scatter)\(", body)) for body in bodies)
    return statistics.median(times), kernels


def whole_step(algorithm: Any, problem: Any, key: jax.Array) -> Callable[[Any], Any]:
    """The step of the engine's loop, on CPU."""
    words = jax.random.key_data(key).T

    def step(state: Any) -> Any:
        return algorithm.step(problem, jax.random.wrap_key_data(words.T, impl="threefry2x32"), state)

    return step


def pieces(algorithm: Any, state: Any) -> dict[str, tuple[Callable[[Any], Any], Any]]:
    """What a step is made of, each with what it starts from."""

    def decision(found: jax.Array) -> jax.Array:
        # Another time every time, or it would be decided once, before the loop; its logarithm counts here, too.
        later = dataclasses.replace(state.statistics, time=state.time + found)
        return algorithm._decided(dataclasses.replace(state, statistics=later), jnp.ones(state.time.shape, bool))[1][0]

    arm, known = decision(jnp.zeros_like(state.time)), state.statistics.moments

    def put(values: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
        turned = barrier(tuple(value[0] for value in values))
        return tuple(arms.put(value, arm, new) for value, new in zip(values, turned, strict=True))

    return {
        "logarithm and root": (lambda x: jnp.sqrt(log(x) + 1.5), jnp.ones(state.time.shape)),
        "decision": (decision, arm),
        "cipher": (lambda x: threefry2x32(x, x, x, x)[0], arm.astype(jnp.uint32)),
        "three looks at the arm": (
            lambda x: sum(arms.take(known.pulls, x + barrier(x * 0 + i)) for i in range(3)) & 1,
            arm,
        ),
        "four entries stored": (put, (known.pulls, known.total, known.mean, known.inverse_root)),
    }


def main() -> None:
    """Print the table."""
    rows = [("arms", "lanes", "what", "kernels", "ns a pull")]
    for count, means in PROBLEMS.items():
        algorithm, problem, key, state = lanes_of(means, None)
        lanes = key.shape[0]
        few = lanes_of(means, 16)
        start, kernels = measured(whole_step(*few[:3]), few[3])
        row = functools.partial(lambda *cells: rows.append(tuple(map(str, cells))), count, lanes)
        whole, _ = measured(whole_step(algorithm, problem, key), state)
        row("a step", kernels, f"{whole / lanes:.1f}")
        with mock.patch.object(mapped_rule, "fuse_outputs", lambda function, _, *operands: function(*operands)):
            plain, more = measured(whole_step(algorithm, problem, key), state)
        row("a step, its decision in several kernels", more, f"{plain / lanes:.1f}")
        row("kernels' starts, at most", kernels, f"{start / lanes:.1f}")
        for name, (piece, first) in pieces(algorithm, state).items():
            took, number = measured(piece, first)
            row(name, number, f"{took / lanes:.1f}")
    print(text_table(rows, left=(2,)))


if __name__ == "__main__":
    main()
