"""How fast MAB-PPR runs, where its time goes, and how much memory it takes.

    python experiments/benchmarks/pay_per_reward.py

Complete runs on `ppr:one-good` with w = 2, epsilon = delta = 0.1 and practical constants; compilation is left out. Then
one round with as many runs at a time as the engine takes, in parts: drawing sums, medians over batches, and the search
for the lightest arms, which halves a range in place of sorting.
"""

import argparse
import resource
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

import jaxbandits as jb
from jaxbandits.algorithms.uniform_sampling.batch_medians import twice_median
from jaxbandits.engine.lane_counts import lane_count
from jaxbandits.engine.mapped_rule import MappedRule
from jaxbandits.engine.rule_batches import add_sums, draw_sums
from jaxbandits.transform import map_runs


def complete_runs(k: int, runs: int) -> None:
    """Runs a second, and the peak memory of the process so far."""
    algorithm, problem = jb.MABPPR(epsilon=0.1, delta=0.1), jb.ppr("one-good", k=k, w=2.0)
    first = jb.simulate(algorithm, problem, seeds=runs)
    began = time.perf_counter()
    ds = jb.simulate(algorithm, problem, seeds=runs)
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"K = {k}: {runs / seconds:.3g} runs/s ({runs} runs in {seconds:.3g} s, {first.attrs['compile_seconds']:.1f} s "
        f"to compile), cost/W = {float(ds['cost'].mean()) / 2:.0f}, {float(ds['pulls'].mean()):.3g} pulls a run, "
        f"{float(ds['correct'].mean()):.3f} correct, peak {peak:.2f} GiB"
    )


def seconds_of(function: Callable[..., Any], *operands: Any, repeats: int = 5) -> float:
    """The fastest of some calls of a compiled function."""
    compiled = jax.jit(function)
    jax.block_until_ready(compiled(*operands))
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        jax.block_until_ready(compiled(*operands))
        times.append(time.perf_counter() - began)
    return min(times)


def parts_of_a_round(k: int) -> None:
    """What the first round of K arms costs a run on one core, part by part."""
    problem = jb.ppr("one-good", k=k, w=2.0)
    algorithm = jb.MABPPR(epsilon=0.1, delta=0.1).resolved(problem)
    lanes = lane_count(algorithm, k, 400, 1, "cpu")
    batched = jax.tree.map(lambda leaf: jnp.repeat(jnp.asarray(leaf)[..., None], lanes, axis=-1), problem)
    rule = MappedRule(jax.tree.map(lambda leaf: jnp.full((lanes,), leaf, jnp.float32), algorithm))
    keys, live = jax.random.split(jax.random.key(0), lanes), jnp.ones(lanes, bool)

    def draw(state: Any, problem: Any) -> jax.Array:
        return draw_sums(rule.rule, problem, keys, state, state.wanted.asked)

    def decide(state: Any, sums: jax.Array) -> Any:
        asked = state.wanted.asked
        return rule.asking(rule._updated(add_sums(state, asked, sums, live), live, asked, sums))

    state, sizes = jax.jit(rule.init)(batched, keys), []
    for _ in range(2):  # the two batches of the round
        sums = jax.jit(draw)(state, batched)
        medians = seconds_of(map_runs(twice_median), sums, state.wanted.asked.number)
        sizes.append((seconds_of(draw, state, batched), seconds_of(decide, state, sums), medians))
        state = jax.jit(decide)(state, sums)
    (first, _, medians), (second, halving, _) = sizes
    parts = {"first sums": first, "their medians": medians, "second sums": second, "lightest arms": halving}
    texts = [f"{name} {1e3 * seconds / lanes:.3g} ms" for name, seconds in parts.items()]
    print(f"K = {k}, a first round of one of {lanes} runs at a time: {', '.join(texts)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arms", type=int, nargs="+", default=[100, 1000, 10_000, 100_000, 1_000_000])
    parser.add_argument("--runs", type=int, nargs="+", default=[2000, 1000, 400, 40, 4])
    options = parser.parse_args()
    jb.use_all_cores()
    for arms, number in zip(options.arms, options.runs, strict=True):
        complete_runs(arms, number)
    for arms in options.arms:
        parts_of_a_round(arms)
