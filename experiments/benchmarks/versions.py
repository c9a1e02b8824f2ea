"""The engine's loops under two or more versions of JAX: pulls per second of processor time, in turn, medians.

    python experiments/benchmarks/versions.py ~/old/bin/python ~/new/bin/python

Each argument is a Python that has the package; without one, only this Python is measured. One device is used. The last
column says whether all versions made the same runs to the last bit, which no version of JAX promises.
"""

import argparse
import hashlib
import json
import statistics
import subprocess
import sys
import time

import jax
import numpy as np

import jaxbandits as jb
from jaxbandits.report.text_tables import text_table

PROBLEMS = {10: np.asarray([0.7] + [0.5] * 9), 50: np.linspace(0.9, 0.1, 50)}
UGAPE = {"epsilon": 0.1, "delta": 0.05}
#: name -> (algorithm, problem, runs).
LOOPS = {
    "UGapEc, 10 arms": lambda: (jb.UGapEc(**UGAPE), jb.bernoulli(PROBLEMS[10]), 16_000),
    "UGapEc, 50 arms": lambda: (jb.UGapEc(**UGAPE), jb.bernoulli(PROBLEMS[50]), 3_000),
    "LUCB": lambda: (jb.LUCB(**UGAPE), jb.bernoulli(PROBLEMS[10]), 8_000),
    "SE-TEA": lambda: (jb.SuccessiveElimination(delta=0.05), jb.s1(), 2_000),
    "RCB-I": lambda: (jb.RCBI(budget=1000), jb.reservoir(beta=1), 2_000),
}


def measure() -> dict[str, tuple[float, str]]:
    """Return pulls per second of processor time and a hash of the runs, by the name of the loop."""
    found = {}
    for name, job in LOOPS.items():
        algorithm, problem, runs = job()
        jb.simulate(algorithm, problem, runs, devices=1, root_seed=1)  # compiled
        began = time.process_time()
        runs = jb.simulate(algorithm, problem, runs, devices=1, root_seed=2)
        seconds = time.process_time() - began
        bits = hashlib.sha256(b"".join(runs[name].values.tobytes() for name in ("pulls", "cost", "recommended")))
        found[name] = (float(runs.pulls.sum()) / seconds, bits.hexdigest())
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("pythons", nargs="*", default=[sys.executable])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--measure", action="store_true", help="measure once in this process and print JSON")
    options = parser.parse_args()
    if options.measure:
        print(json.dumps({"jax": jax.__version__, "loops": measure()}))
        return
    runs: dict[str, list[dict[str, tuple[float, str]]]] = {}
    for _ in range(options.rounds):
        for python in options.pythons:
            out = subprocess.run([python, __file__, "--measure"], check=True, capture_output=True, text=True).stdout
            told = json.loads(out.splitlines()[-1])
            runs.setdefault(told["jax"], []).append(told["loops"])
    rows = [("loop", *(f"JAX {version}, M pulls/s" for version in runs), "ratio", "same bits")]
    for name in LOOPS:
        rates = [statistics.median(found[name][0] for found in rounds) for rounds in runs.values()]
        bits = {found[name][1] for rounds in runs.values() for found in rounds}
        rows.append((name, *(f"{rate / 1e6:.2f}" for rate in rates), f"{rates[-1] / rates[0]:.2f}",
                     "yes" if len(bits) == 1 else "no"))  # fmt: skip
    print(text_table(rows, left=(0,)))


if __name__ == "__main__":
    main()
