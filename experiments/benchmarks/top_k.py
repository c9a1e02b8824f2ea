"""AdaptiveTopK with fixed confidence against hand-written numba that draws sums: one process, in turn, medians.

The job: n = 1000 Bernoulli arms with uniform means, K = 100, epsilon = 0.05, delta = 0.01; a run makes some 5.7 million
pulls in five rounds, and 3175 binomial draws. "numba, own sampler" is the bar; "numba, its library's" calls
`np.random.binomial`.

    pip install -e ".[bench]" && python experiments/benchmarks/top_k.py
"""

import argparse
import os
import resource
import statistics
import time

import numba
import numpy as np
from numba_top_k import adaptive_top_k, tables

import jaxbandits as jb
from jaxbandits.report.text_tables import text_table

ARMS, K, EPSILON, DELTA = 1000, 100, 0.05, 0.01
MEANS = 1 - np.arange(1, ARMS + 1) / ARMS


def package(runs: int, seed: int) -> tuple[float, float, float]:
    """Mean pulls, the largest regret, and seconds of the package, compilation left out."""
    ds = jb.simulate(jb.AdaptiveTopK(k=K, epsilon=EPSILON, delta=DELTA), jb.uniform_means(ARMS), runs, root_seed=seed)
    return float(ds.pulls.mean()), float(ds.aggregate_regret.max()), ds.attrs["seconds"]


def by_numba(runs: int, seed: int, library: bool) -> tuple[float, float, float]:
    """The same of the numba loop, tables included."""
    began = time.perf_counter()
    pulls, rows = tables(MEANS, DELTA)
    made, returned = adaptive_top_k(MEANS, pulls, rows, K, EPSILON, runs, seed, library)
    seconds = time.perf_counter() - began
    return float(made.mean()), float(MEANS[:K].mean() - (returned @ MEANS).min() / K), seconds


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--runs", type=int, default=10_000)
    options = parser.parse_args()
    numba.set_num_threads(options.threads)
    devices = jb.use_all_cores(options.threads)
    print(f"{devices} CPU devices, {options.threads} numba threads, {options.rounds} rounds in turn, medians")
    contestants = {
        "numba, own sampler": lambda seed: by_numba(options.runs, seed, False),
        "jaxbandits": lambda seed: package(options.runs, seed),
        "numba, its library's": lambda seed: by_numba(options.runs, seed, True),
    }
    compile_seconds, results = {}, {name: [] for name in contestants}
    for name, run in contestants.items():
        began = time.perf_counter()
        *_, seconds = run(0)
        compile_seconds[name] = time.perf_counter() - began - seconds if name == "jaxbandits" else float("nan")
    for seed in range(1, options.rounds + 1):
        for name, run in contestants.items():
            results[name].append(run(seed))
    table = [("what", "G pulls/s", "runs/s", "ratio", "mean pulls", "worst regret", "compile s")]
    rates = {name: statistics.median(options.runs / seconds for *_, seconds in rows) for name, rows in results.items()}
    for name, rows in results.items():
        mean, rate = float(np.mean([pulls for pulls, *_ in rows])), rates[name]
        worst, ratio = max(regret for _, regret, _ in rows), rate / rates["numba, own sampler"]
        seconds = "" if np.isnan(compile_seconds[name]) else f"{compile_seconds[name]:.1f}"
        speed = (f"{rate * mean / 1e9:.1f}", f"{rate:.0f}", f"{ratio:.2f}")
        table.append((name, *speed, f"{mean:.0f}", f"{worst:.5f}", seconds))
    print(text_table(table, left=(0,)))
    print(f"peak memory of the process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


if __name__ == "__main__":
    main()
