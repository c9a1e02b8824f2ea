"""Characteristic times and optimal proportions of many instances, against nested bisection in numba, one by one.

The bar is the classical way (Garivier and Kaufmann 2016, section 2.2): the root y of F(y) = 1 by bisection, and at each
y every x_a(y) by another bisection, in a compiled loop over the instances, on one thread. The package takes all
instances at once. Times are the least of some repetitions in turn, compilation apart; errors are against the package
in float64 with many rounds.

    pip install -e ".[bench]" && python experiments/benchmarks/characteristic_time.py
"""

import argparse
import math
import time
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numba
import numpy as np

from jaxbandits import theory
from jaxbandits.report.text_tables import text_table
from jaxbandits.statistics.exponential_families import BERNOULLI
from jaxbandits.statistics.optimal_proportions import proportions

# Where bisections stop, relative to the first bracket: what gives w* to some 1e-9.
_HALVINGS = 40


@numba.njit(error_model="numpy")
def divergence(p: float, q: float) -> float:
    """KL of Bernoulli laws."""
    value = 0.0
    if p > 0:
        value += p * math.log(p / q)
    if p < 1:
        value += (1 - p) * math.log((1 - p) / (1 - q))
    return value


@numba.njit(error_model="numpy")
def cost(best: float, other: float, x: float) -> float:
    """g_a(x) = d(mu_1, m) + x d(mu_a, m), m = (mu_1 + x mu_a) / (1 + x)."""
    middle = (best + x * other) / (1 + x)
    return divergence(best, middle) + x * divergence(other, middle)


@numba.njit(error_model="numpy")
def ratio(best: float, other: float, y: float) -> float:
    """x_a(y), the root of g_a(x) = y."""
    low, high = 0.0, 1.0
    while cost(best, other, high) < y:
        high *= 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if cost(best, other, middle) < y:
            low = middle
        else:
            high = middle
    return (low + high) / 2


@numba.njit(error_model="numpy")
def bisected(means: np.ndarray, weights: np.ndarray) -> float:
    """T* of an instance `(K,)` whose first arm is the best; w* is written into `weights`."""
    best, arms = means[0], means.shape[0]
    low, high = 0.0, divergence(best, means[1])
    for arm in range(2, arms):
        high = min(high, divergence(best, means[arm]))
    for _ in range(_HALVINGS):
        y, total = (low + high) / 2, 0.0
        for arm in range(1, arms):
            x = ratio(best, means[arm], y)
            middle = (best + x * means[arm]) / (1 + x)
            total += divergence(best, middle) / divergence(means[arm], middle)
        if total < 1:
            low = y
        else:
            high = y
    y, total = (low + high) / 2, 1.0
    weights[0] = 1.0
    for arm in range(1, arms):
        weights[arm] = ratio(best, means[arm], y)
        total += weights[arm]
    weights /= total
    return total / y


@numba.njit(error_model="numpy")
def bisected_one_by_one(means: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """T* `(N,)` and w* `(N, K)` of instances `(N, K)`."""
    times, weights = np.empty(means.shape[0]), np.empty(means.shape)
    for run in range(means.shape[0]):
        times[run] = bisected(means[run], weights[run])
    return times, weights


def seconds(call: Callable[[], object], repetitions: int) -> float:
    """The least time of some calls."""
    times = []
    for _ in range(repetitions):
        began = time.perf_counter()
        jax.block_until_ready(call())
        times.append(time.perf_counter() - began)
    return min(times)


def error(found: np.ndarray, exact: np.ndarray) -> str:
    """The largest relative error."""
    return f"{np.abs(np.asarray(found, np.float64) / exact - 1).max():.0e}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--instances", type=int, default=10_000)
    parser.add_argument("--arms", type=int, nargs="*", default=[10])
    parser.add_argument("--repetitions", type=int, default=5)
    options = parser.parse_args()
    rows = [("arms", "what", "us an instance", "ratio", "error of T*", "of w*", "compile s")]
    for arms in options.arms:
        random = np.random.default_rng(0)
        means = np.sort(random.uniform(size=(arms, options.instances)), axis=0)[::-1].astype(np.float32)
        wide = np.ascontiguousarray(means.T.astype(np.float64))
        with jax.enable_x64(True):
            many = proportions(BERNOULLI, jnp.asarray(wide.T), rounds=20)
            exact_time, exact_weights = np.asarray(many.time), np.asarray(many.weights)

        began = time.perf_counter()
        bisected_one_by_one(wide[:1])
        compiled = time.perf_counter() - began
        took = bar = seconds(lambda: bisected_one_by_one(wide), 2)  # noqa: B023
        times, weights = bisected_one_by_one(wide)
        label = "numba, nested bisection, float64"
        rows.append(
            row(
                arms, label, took / options.instances, bar / took, times, weights.T, exact_time, exact_weights, compiled
            )
        )
        for kind, wanted in (("float32", jnp.float32), ("float64", jnp.float64)):
            with jax.enable_x64(kind == "float64"):
                given = jnp.asarray(wide.T, wanted)
                solve = jax.jit(theory.characteristic_time)
                began = time.perf_counter()
                jax.block_until_ready(solve(given))
                compiled = time.perf_counter() - began
                took = seconds(lambda: solve(given), options.repetitions)  # noqa: B023
                times, weights = map(np.asarray, solve(given))
            label = f"theory.characteristic_time, {kind}"
            rows.append(
                row(
                    arms,
                    label,
                    took / options.instances,
                    bar / took,
                    times,
                    weights,
                    exact_time,
                    exact_weights,
                    compiled,
                )
            )
    print(text_table(rows, left=(1,)))


def row(
    arms: int, label: str, took: float, ratio: float, times: np.ndarray, weights: np.ndarray, exact_time: np.ndarray,
    exact_weights: np.ndarray, compiled: float,
) -> tuple[str, ...]:  # fmt: skip
    """A line of the table."""
    errors = error(times, exact_time), error(weights, exact_weights)
    return str(arms), label, f"{took * 1e6:.2f}", f"{ratio:.0f}", *errors, f"{compiled:.1f}"


if __name__ == "__main__":
    main()
