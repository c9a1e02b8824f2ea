"""SE-delta with truncated means, and SR-T, against hand-written numba: the same jobs in one process, in turn, medians.

The jobs: SE-delta (TEA), delta = 0.05, on S1 until it stops; SR-T (EA) on S1 with 3200 pulls. The numba loops are made
for p = 2 and Student t noise of 3 degrees of freedom, with one compiled loop per run and an inline generator.

    pip install -e ".[bench]" && python experiments/benchmarks/heavy_tailed.py
"""

import argparse
import math
import os
import statistics
import time

import numba
import numpy as np
from numba import njit, prange
from numba_ugape import run_seed, splitmix

import jaxbandits as jb
from jaxbandits.report.text_tables import text_table

MEANS = np.asarray([2.0, *np.linspace(0.7, 1.5, 9)])  # S1
DELTA, MOMENT, BUDGET = 0.05, 7.0, 3200


@njit(inline="always")
def student(state):
    """A Student t draw of 3 degrees of freedom in float32, by Bailey's formula, from one word."""
    state, word = splitmix(state)
    u = (np.float32(word >> np.uint64(32)) + np.float32(0.5)) * np.float32(2.0**-32)
    v = np.float32(word & np.uint64(0xFFFFFFFF)) * np.float32(2.0 * math.pi * 2.0**-32)
    grown = math.exp(np.float32(-2.0 / 3.0) * math.log(u)) - np.float32(1.0)
    return state, math.sqrt(np.float32(3.0) * grown) * math.cos(v)


@njit(parallel=True, fastmath=True)
def eliminate(means, delta, moment, runs, seed):
    """Pulls of SE-delta (TEA) runs."""
    arms = means.size
    level = math.log(2 * arms / delta)
    pulls = np.zeros(runs, np.int64)
    for run in prange(runs):
        state = run_seed(seed, run)
        alive, sums = np.arange(arms), np.zeros(arms)
        count, t, total = arms, 0, 0
        while count > 1:
            t += 1
            threshold = math.sqrt(moment * t / level)
            high, low = -1e30, 1e30
            for i in range(count):
                arm = alive[i]
                state, noise = student(state)
                reward = means[arm] + noise
                if abs(reward) <= threshold:
                    sums[arm] += reward
                high, low = max(high, sums[arm]), min(low, sums[arm])
            total += count
            allowed = 2 * t * 5 * math.sqrt(moment * level / t)
            if high - low > allowed:
                kept = 0
                for i in range(count):
                    if high - sums[alive[i]] <= allowed:
                        alive[kept] = alive[i]
                        kept += 1
                count = kept
        pulls[run] = total
    return pulls


@njit(parallel=True, fastmath=True)
def reject(means, schedule, runs, seed):
    """Pulls of SR-T (EA) runs, and whether they miss the first arm."""
    arms = means.size
    pulls, wrong = np.zeros(runs, np.int64), np.zeros(runs, np.bool_)
    for run in prange(runs):
        state = run_seed(seed, run)
        alive, sums = np.arange(arms), np.zeros(arms)
        before, total = 0, 0
        for phase in range(arms - 1):
            count = arms - phase
            worst, least = 0, 1e30
            for i in range(count):
                arm = alive[i]
                for _ in range(schedule[phase] - before):
                    state, noise = student(state)
                    sums[arm] += means[arm] + noise
                if sums[arm] < least:
                    worst, least = i, sums[arm]
            total += count * (schedule[phase] - before)
            before = schedule[phase]
            alive[worst] = alive[count - 1]
        pulls[run], wrong[run] = total, alive[0] != 0
    return pulls, wrong


def schedule_of(budget, arms):
    """SR-T's n_k with Kbar = sum 1/i."""
    harmonic = sum(1 / i for i in range(1, arms + 1))
    return np.asarray([math.ceil((budget - arms) / (harmonic * (arms + 1 - k)) - 1e-9) for k in range(1, arms)])


def timed(function):
    """The result, and seconds."""
    began = time.perf_counter()
    result = function()
    return result, time.perf_counter() - began


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies the number of runs")
    options = parser.parse_args()
    numba.set_num_threads(options.threads)
    devices = jb.use_all_cores(options.threads)
    print(f"{devices} CPU devices, {options.threads} numba threads, {options.rounds} rounds in turn, medians")
    stop_runs, budget_runs = int(8000 * options.scale), int(100_000 * options.scale)
    schedule = schedule_of(BUDGET, MEANS.size)

    def package(algorithm, runs, seed):
        ds = jb.simulate(algorithm, jb.s1(), seeds=runs, root_seed=seed)
        return ds, ds.attrs["seconds"]

    jobs = {
        "SE-delta (TEA) on S1": (
            stop_runs,
            lambda seed: timed(lambda: eliminate(MEANS, DELTA, MOMENT, stop_runs, seed).sum()),
            lambda seed: package(jb.SuccessiveElimination(delta=DELTA), stop_runs, seed),
        ),
        "SR-T (EA) on S1, T = 3200": (
            budget_runs,
            lambda seed: timed(lambda: reject(MEANS, schedule, budget_runs, seed)[0].sum()),
            lambda seed: package(jb.SuccessiveRejects(budget=BUDGET, harmonic="full"), budget_runs, seed),
        ),
    }
    rows = [("job", "what", "M pulls/s", "runs/s", "ratio", "mean pulls", "compile s")]
    for name, (runs, by_numba, by_package) in jobs.items():
        by_numba(0)
        compiled = by_package(0)[0].attrs["compile_seconds"]
        rates, means = {"numba": [], "jaxbandits": []}, {"numba": [], "jaxbandits": []}
        for seed in range(1, options.rounds + 1):
            total, seconds = by_numba(seed)
            rates["numba"].append(total / seconds)
            means["numba"].append(total / runs)
            ds, seconds = by_package(seed)
            rates["jaxbandits"].append(float(ds.pulls.sum()) / seconds)
            means["jaxbandits"].append(float(ds.pulls.mean()))
        bar = statistics.median(rates["numba"])
        for what in rates:
            rate, mean = statistics.median(rates[what]), float(np.mean(means[what]))
            seconds = f"{compiled:.1f}" if what == "jaxbandits" else ""
            speed = (f"{rate / 1e6:.1f}", f"{rate / mean:.0f}", f"{rate / bar:.2f}")
            rows.append((name, what, *speed, f"{mean:.1f}", seconds))
    print(text_table(rows, left=(0, 1)))


if __name__ == "__main__":
    main()
