"""A user's UGapEc, in plain `jax.numpy` for one run, against the built-in one: pulls a second of processor time.

    python experiments/benchmarks/users_rule.py
    python experiments/benchmarks/users_rule.py --by-vmap     the user's rule mapped by `jax.vmap` instead

Compile time is that of the first call, less a second one. One device is used; medians of several calls in turn.
"""

import argparse
import dataclasses
import statistics
import time
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import jaxbandits as jb
from jaxbandits.engine import users_own
from jaxbandits.report.text_tables import text_table
from jaxbandits.transform import Steps
from jaxbandits.transform.operation import Value


class State(NamedTuple):
    """What the rule keeps of a run."""

    pulls: jax.Array  # int32 (K,)
    sums: jax.Array  # float32 (K,)


@jb.pytree
@dataclasses.dataclass(frozen=True)
class OwnUGapEc:
    """UGapEc (Gabillon, Ghavamzadeh, Lazaric 2012, Figure 1) for one arm, as a newcomer writes it."""

    epsilon: Any
    delta: Any
    traits = jb.Traits(tolerance="epsilon")

    def bounds(self, state: State) -> tuple[jax.Array, jax.Array, jax.Array]:
        """Return the upper bounds, the radii and the indices B, float32 `(K,)` each."""
        mean, arms = state.sums / state.pulls, len(state.sums)
        radius = jnp.sqrt(0.5 * jnp.log(4 * arms * jnp.sum(state.pulls) ** 3.0 / self.delta) / state.pulls)
        upper, lower = mean + radius, mean - radius
        best = jnp.argmax(upper)
        second = jnp.max(jnp.where(jnp.arange(arms) == best, -jnp.inf, upper))
        return upper, radius, jnp.where(jnp.arange(arms) == best, second, upper[best]) - lower

    def init(self, problem: Any, key: jax.Array) -> State:
        """Pull each arm once."""
        return State(jnp.ones(problem.arms, jnp.int32), problem.rewards(key, 0).astype(jnp.float32))

    def step(self, problem: Any, key: jax.Array, state: State) -> State:
        """Pull the less explored of the best-looking arm and its strongest rival."""
        upper, radius, index = self.bounds(state)
        chosen = jnp.argmin(index)
        rival = jnp.argmax(jnp.where(jnp.arange(len(upper)) == chosen, -jnp.inf, upper))
        arm = jnp.where(radius[rival] > radius[chosen], rival, chosen)
        reward = problem.reward(key, arm, state.pulls[arm])
        return State(state.pulls.at[arm].add(1), state.sums.at[arm].add(reward))

    def done(self, state: State) -> jax.Array:
        """Whether the smallest index is below epsilon."""
        return jnp.min(self.bounds(state)[2]) < self.epsilon

    def recommend(self, state: State) -> jax.Array:
        """Return the arm of the smallest index."""
        return jnp.arange(len(state.sums)) == jnp.argmin(self.bounds(state)[2])


def by_vmap(function: Any) -> Any:
    """Map over the last axis by `jax.vmap`."""
    return jax.vmap(function, in_axes=-1, out_axes=-1)


def step_by_vmap(step: Any) -> Any:
    """Map a step by `jax.vmap`: a state that is left as it is costs a choice of all its arrays."""

    def mapped(*arguments: Any) -> Steps:
        new, beside = by_vmap(step)(*arguments)
        before, tree = jax.tree.flatten(arguments[-1])
        return Steps(beside, before, [Value(leaf, True) for leaf in jax.tree.leaves(new)], tree)

    return mapped


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--by-vmap", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    jax.config.update("jax_enable_compilation_cache", False)
    if options.by_vmap:
        users_own.map_runs, users_own.map_step = by_vmap, step_by_vmap
    rows = [("arms", "rule", "compiles, s", "M pulls/s", "against the built-in")]
    for arms, runs in ((10, 2000), (50, 300)):
        means = np.asarray([0.7] + [0.5] * 9) if arms == 10 else np.linspace(0.9, 0.1, arms)
        problem, rates = jb.bernoulli(means), {}
        rules = {"built-in": jb.UGapEc(epsilon=0.1, delta=0.05), "user's own": OwnUGapEc(epsilon=0.1, delta=0.05)}
        seconds = {name: [] for name in rules}
        for turn in range(options.rounds + 1):
            for name, rule in rules.items():
                began, clock = time.process_time(), time.perf_counter()
                pulls = float(jb.simulate(rule, problem, runs, devices=1, root_seed=turn).pulls.sum())
                seconds[name].append((time.perf_counter() - clock, pulls / (time.process_time() - began)))
        for name, found in seconds.items():
            rates[name] = statistics.median(rate for _, rate in found[1:])
            compiles = found[0][0] - statistics.median(wall for wall, _ in found[1:])
            rows.append((str(arms), name, f"{compiles:.1f}", f"{rates[name] / 1e6:.2f}",
                         f"{rates[name] / rates['built-in']:.2f}"))  # fmt: skip
    print(text_table(rows, left=(0, 1)))


if __name__ == "__main__":
    main()
