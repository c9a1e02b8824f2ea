"""Measure pulls per second on the default device, and whether lanes and kernels on chip change bits.

    python experiments/benchmarks/on_gpu.py [--seconds 150] [--keep pulls.npz]

One line of JSON for each rule and number of lanes: the wall time of the second call (the first one compiles), pulls per
second of that time, mean pulls, failure rate, and a hash of the pulls and answers of the first 2048 runs. Equal hashes
of a rule mean equal bits. `--keep` saves the pulls of these runs, to compare them with those of another platform.
"""

import argparse
import hashlib
import json
import time

import jax
import numpy as np

import jaxbandits as jb

RUNS = 2048
TEN, FIFTY = jb.bernoulli(np.linspace(0.3, 0.6, 10)), jb.bernoulli(np.linspace(0.3, 0.6, 50))
FIVE = jb.bernoulli([0.6, 0.4, 0.35, 0.3, 0.25])
UGAPE = jb.UGapEc(epsilon=0.1, delta=0.05)
#: rule, algorithm, problem, lanes, runs, on chip; the most telling first, since time may run out.
CASES = [
    ("UGapEc, 10 arms", UGAPE, TEN, 1024, 2048, False),
    ("UGapEc, 10 arms", UGAPE, TEN, 65_536, 131_072, False),
    ("UGapEc, 10 arms", UGAPE, TEN, 65_536, 131_072, True),
    ("UGapEc, 10 arms", UGAPE, TEN, 262_144, 524_288, False),
    ("RCB-I, B = 10^4", jb.RCBI(budget=1e4), jb.reservoir(beta=1.0), 65_536, 131_072, False),
    ("UGapEc, 50 arms", UGAPE, FIFTY, 65_536, 65_536, False),
    ("UGapEc, 10 arms", UGAPE, TEN, 1_048_576, 2_097_152, False),
    ("LUCB, 10 arms", jb.LUCB(epsilon=0.1, delta=0.05), TEN, 65_536, 131_072, False),
    ("SE-TEA, s1", jb.SuccessiveElimination(delta=0.05, estimator="tea"), jb.s1(), 65_536, 65_536, False),
    ("Track-and-Stop, 5 arms", jb.TrackAndStop(delta=0.05), FIVE, 16_384, 16_384, False),
]  # fmt: skip


def main() -> None:
    """Measure what fits the time."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=150.0, help="begin no further case after so many seconds")
    parser.add_argument("--keep", help="NAME.npz for the pulls of the first runs")
    given = parser.parse_args()
    began, pulls = time.perf_counter(), {}
    print(f"JAX {jax.__version__}, {jax.devices()[0].device_kind}", flush=True)
    for name, algorithm, problem, lanes, runs, on_chip in CASES:
        if time.perf_counter() - began > given.seconds:
            break
        jb.simulate(algorithm, problem, min(runs, lanes), lanes=lanes, on_chip=on_chip)
        start = time.perf_counter()
        ds = jb.simulate(algorithm, problem, runs, lanes=lanes, on_chip=on_chip)
        wall = time.perf_counter() - start
        first = ds.isel(seed=slice(RUNS))
        bits = hashlib.sha256(first.pulls.values.tobytes() + np.ascontiguousarray(first.recommended.values).tobytes())
        pulls[name] = first.pulls.values
        found = {
            "rule": name, "lanes": lanes, "on_chip": on_chip, "runs": runs, "seconds": round(wall, 2),
            "million_pulls_per_second": round(float(ds.pulls.sum()) / wall / 1e6, 1),
            "mean_pulls": float(ds.pulls.mean()), "failure": float(1 - ds.correct.mean()),
            "bits": bits.hexdigest()[:12],
        }  # fmt: skip
        print(json.dumps(found), flush=True)
    if given.keep:
        np.savez(given.keep, **pulls)


if __name__ == "__main__":
    main()
