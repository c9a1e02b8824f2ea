"""Pulls a second of processor time with steps compiled by LLVM, beside those compiled by XLA, on one CPU device.

    pip install -e ".[llvm]"
    python experiments/benchmarks/steps_by_llvm.py --rounds 3

Both make the same runs, bit by bit, which is checked. Runs are cut at a number of pulls. Medians of rounds in turn;
`first` is the wall time of the first call with its compilation, without caches of programs.
"""

import os

os.environ.update(JAX_PLATFORMS="cpu", JAX_ENABLE_COMPILATION_CACHE="false")

import argparse
import statistics
import time
from typing import Any

import numpy as np

import jaxbandits as jb
from jaxbandits.report.text_tables import text_table

TEN, FIFTY = jb.bernoulli(np.linspace(0.3, 0.6, 10)), jb.bernoulli(np.linspace(0.1, 0.9, 50))
RULES: dict[str, tuple[Any, Any]] = {
    "UGapEc, 10 arms": (jb.UGapEc(epsilon=0.1, delta=0.05), TEN),
    "UGapEc, 50 arms": (jb.UGapEc(epsilon=0.1, delta=0.05), FIFTY),
    "UGapEc, 10 Gaussian arms": (jb.UGapEc(epsilon=0.1, delta=0.05), jb.gaussian(np.linspace(0.3, 0.6, 10), sd=0.5)),
    "LUCB, 10 arms": (jb.LUCB(epsilon=0.1, delta=0.05), TEN),
    "LUCB, 50 arms": (jb.LUCB(epsilon=0.1, delta=0.05), FIFTY),
    "lil'UCB, 10 arms": (jb.LilUCB(delta=0.05), TEN),
    "UCB-E, 10 arms": (jb.UCBE(budget=20_000), TEN),
    "TTUCB, 10 arms": (jb.TTUCB(delta=0.05), TEN),
    "Track-and-Stop, 10 arms": (jb.TrackAndStop(delta=0.05), TEN),
    "ThresholdGame, 10 arms": (jb.ThresholdGame(level=0.47, delta=0.05), TEN),
    "SE, 10 arms": (jb.SuccessiveElimination(delta=0.05), TEN),
    "SR, 10 arms": (jb.SuccessiveRejects(budget=5_000), TEN),
    "OCBA, 10 arms": (jb.OCBA(budget=5_000), TEN),
    "RCB-I, B = 10^4": (jb.RCBI(budget=1e4), jb.reservoir(beta=1.0)),
}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--runs", type=int, default=2368)
    parser.add_argument("--pulls", type=int, default=5000, help="at which runs are cut")
    given = parser.parse_args()
    rows = []
    for name, (algorithm, problem) in RULES.items():
        first, speed, pulls = {}, {False: [], True: []}, {}
        for number in range(1 + given.rounds):
            for on_chip, found in speed.items():
                wall, processor = time.perf_counter(), time.process_time()
                ds = jb.simulate(algorithm, problem, given.runs, devices=1, max_pulls=given.pulls, on_chip=on_chip)
                wall, processor = time.perf_counter() - wall, time.process_time() - processor
                pulls[on_chip] = (ds.pulls.values, ds.recommended.values)
                if number:
                    found.append(float(ds.pulls.sum()) / processor / 1e6)
                else:
                    first[on_chip] = wall
        if not all(np.array_equal(one, other) for one, other in zip(pulls[False], pulls[True], strict=True)):
            raise SystemExit(f"{name}: the runs differ")
        xla, llvm = (statistics.median(speed[on_chip]) for on_chip in (False, True))
        rows.append([name, *(f"{x:.1f}" for x in (xla, llvm, llvm / xla, first[False], first[True]))])
        print(*rows[-1], flush=True)
    print(text_table([["rule", "XLA, M pulls/s", "LLVM", "ratio", "first, s", "LLVM"], *rows], left=[0]))


if __name__ == "__main__":
    main()
