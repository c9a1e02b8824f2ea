"""A user's UGapEc and LUCB, in plain `jax.numpy` for one run, against the built-in ones: pulls per processor second.

    python experiments/benchmarks/users_rule.py

Compile time is that of the first call, less a second one. One device is used; medians of several calls in turn.
"""

import argparse
import itertools
import statistics
import time

import jax
import jax.numpy as jnp
import numpy as np

import jaxbandits as jb
from jaxbandits.report.text_tables import text_table


@jb.algorithm
class OwnUGapEc:
    """UGapEc (Gabillon, Ghavamzadeh, Lazaric 2012, Figure 1) for one arm, as a newcomer writes it."""

    epsilon: float
    delta: float
    traits = jb.Traits(tolerance="epsilon")

    def bounds(self, arms: jb.Arms) -> tuple[jax.Array, jax.Array, jax.Array]:
        """Return the upper bounds, the radii and the indices B, float32 `(K,)` each."""
        radius = jnp.sqrt(0.5 * jnp.log(4 * arms.count * arms.time**3.0 / self.delta) / arms.pulls)
        upper, lower = arms.mean + radius, arms.mean - radius
        best = jnp.argmax(upper)
        second = jnp.max(upper.at[best].set(-jnp.inf))
        return upper, radius, jnp.where(jnp.arange(len(arms)) == best, second, upper[best]) - lower

    def select(self, arms: jb.Arms, key: jax.Array) -> jax.Array:
        """Return the less explored of the best-looking arm and its strongest rival."""
        del key
        upper, radius, index = self.bounds(arms)
        chosen = jnp.argmin(index)
        rival = jnp.argmax(upper.at[chosen].set(-jnp.inf))
        return jnp.where(radius[rival] > radius[chosen], rival, chosen)

    def done(self, arms: jb.Arms) -> jax.Array:
        """Whether the smallest index is below epsilon."""
        return jnp.min(self.bounds(arms)[2]) < self.epsilon

    def recommend(self, arms: jb.Arms) -> jax.Array:
        """Return the arm of the smallest index."""
        return jnp.argmin(self.bounds(arms)[2])


@jb.algorithm
class OwnLUCB:
    """LUCB (Kalyanakrishnan et al. 2012) for one arm, with sorting, and one pull a step."""

    epsilon: float
    delta: float
    traits = jb.Traits(tolerance="epsilon")

    def ends(self, arms: jb.Arms) -> tuple[jax.Array, jax.Array, jax.Array]:
        """Return the best arm, its strongest rival, and how far the bounds of both overlap."""
        radius = jnp.sqrt(jnp.log(1.25 * arms.count * arms.time**4.0 / self.delta) / (2 * arms.pulls))
        order = jnp.argsort(-arms.mean)
        rival = order[1:][jnp.argmax((arms.mean + radius)[order[1:]])]
        return order[0], rival, (arms.mean + radius)[rival] - (arms.mean - radius)[order[0]]

    def select(self, arms: jb.Arms, key: jax.Array) -> jax.Array:
        """Return the less explored of both arms."""
        del key
        best, rival, _ = self.ends(arms)
        return jnp.where(arms.pulls[best] < arms.pulls[rival], best, rival)

    def done(self, arms: jb.Arms) -> jax.Array:
        """Whether the bounds are separated up to epsilon."""
        return self.ends(arms)[2] < self.epsilon

    def recommend(self, arms: jb.Arms) -> jax.Array:
        """Return the best-looking arm."""
        return jnp.argmax(arms.mean)


PAIRS = {"UGapEc": (jb.UGapEc, OwnUGapEc), "LUCB, with argsort": (jb.LUCB, OwnLUCB)}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    jax.config.update("jax_enable_compilation_cache", False)
    rows = [("rule", "arms", "", "compiles, s", "M pulls/s", "against the built-in")]
    for rule, (arms, runs) in itertools.product(PAIRS, ((10, 2000), (50, 300))):
        means = np.asarray([0.7] + [0.5] * 9) if arms == 10 else np.linspace(0.9, 0.1, arms)
        problem, rates = jb.bernoulli(means), {}
        both = {name: make(0.1, 0.05) for name, make in zip(("built-in", "user's own"), PAIRS[rule], strict=True)}
        seconds = {name: [] for name in both}
        for turn in range(options.rounds + 1):
            for name, one in both.items():
                began, clock = time.process_time(), time.perf_counter()
                pulls = float(jb.simulate(one, problem, runs, devices=1, root_seed=turn).pulls.sum())
                seconds[name].append((time.perf_counter() - clock, pulls / (time.process_time() - began)))
        for name, found in seconds.items():
            rates[name] = statistics.median(rate for _, rate in found[1:])
            compiles = found[0][0] - statistics.median(wall for wall, _ in found[1:])
            rows.append((rule, str(arms), name, f"{compiles:.1f}", f"{rates[name] / 1e6:.2f}",
                         f"{rates[name] / rates['built-in']:.2f}"))  # fmt: skip
    print(text_table(rows, left=(0, 2)))


if __name__ == "__main__":
    main()
