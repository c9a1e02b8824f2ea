"""UGapEc against hand-written numba: the same job, the same process, in turn, medians.

The job: UGapEc with m = 1, epsilon = 0.1, delta = 0.05 on Bernoulli arms, (0.7, 0.5 x 9) and 50 means from 0.9 to 0.1.
The bar is "numba, one run per loop": two threads, one compiled loop per run. "numba, SIMD over runs" is what a long
kernel written for this one case can do on top.

    pip install -e ".[bench]" && python experiments/benchmarks/ugape.py
"""

import argparse
import os
import resource
import statistics
import time

import numpy as np
from numba_ugape import stopping_times

import jaxbandits as jb
from jaxbandits.report.text_tables import text_table

PROBLEMS = {10: np.asarray([0.7] + [0.5] * 9), 50: np.linspace(0.9, 0.1, 50)}
EPSILON, DELTA = 0.1, 0.05


def package(means: np.ndarray, runs: int, seed: int) -> tuple[int, float]:
    """Pulls and seconds of the package, compilation left out."""
    ds = jb.simulate(jb.UGapEc(epsilon=EPSILON, delta=DELTA), jb.bernoulli(means), seeds=runs, root_seed=seed)
    return int(ds.pulls.sum()), ds.attrs["seconds"]


def numba_loop(kernel: str, means: np.ndarray, runs: int, seed: int, threads: int) -> tuple[int, float]:
    """Pulls and seconds of a numba kernel."""
    began = time.perf_counter()
    pulls, _ = stopping_times(means, EPSILON, DELTA, runs, seed, threads=threads, kernel=kernel)
    return int(pulls.sum()), time.perf_counter() - began


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies the number of runs")
    options = parser.parse_args()
    devices = jb.use_all_cores(options.threads)
    print(f"{devices} CPU devices, {options.threads} numba threads, {options.rounds} rounds in turn, medians")
    rows = [("arms", "what", "M pulls/s", "ratio", "mean pulls", "compile s")]
    for arms, means in PROBLEMS.items():
        runs = int((64_000 if arms == 10 else 16_000) * options.scale)
        contestants = {
            "numba, one run per loop": lambda seed, m=means, r=runs: numba_loop("single", m, r, seed, options.threads),
            "jaxbandits": lambda seed, m=means, r=runs: package(m, r, seed),
            "numba, SIMD over runs": lambda seed, m=means, r=runs: numba_loop("lanes", m, r, seed, options.threads),
        }
        compile_seconds, rates, counts = {}, {name: [] for name in contestants}, {name: [] for name in contestants}
        for name, run in contestants.items():
            began = time.perf_counter()
            _, seconds = run(0)
            compile_seconds[name] = time.perf_counter() - began - seconds if name == "jaxbandits" else float("nan")
        for seed in range(1, options.rounds + 1):
            for name, run in contestants.items():
                pulls, seconds = run(seed)
                rates[name].append(pulls / seconds / 1e6)
                counts[name].append(pulls / runs)
        bar = statistics.median(rates["numba, one run per loop"])
        for name in contestants:
            rate = statistics.median(rates[name])
            seconds = "" if np.isnan(compile_seconds[name]) else f"{compile_seconds[name]:.1f}"
            mean = f"{np.mean(counts[name]):.1f}"
            rows.append((str(arms), name, f"{rate:.1f}", f"{rate / bar:.2f}", mean, seconds))
    print(text_table(rows, left=(1,)))
    print(f"peak memory of the process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


if __name__ == "__main__":
    main()
