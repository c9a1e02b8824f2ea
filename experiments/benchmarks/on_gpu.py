"""Measure pulls per second on the default device, and whether lanes and kernels on chip change bits.

    python experiments/benchmarks/on_gpu.py [--seconds 150] [--keep pulls.npz]

One line of JSON for each rule and number of lanes: the least wall time of three calls after the first one, which
compiles; pulls per second of that time, mean pulls, failure rate, and a hash of the pulls and answers of the first 2048
runs. Equal hashes of a rule mean equal bits. Runs that are cut at a number of pulls measure steps, and little besides.
`--keep` saves the pulls of these runs, to compare them with those of another platform.
"""

import argparse
import dataclasses
import hashlib
import json
import time
from typing import Any, NamedTuple

import jax
import numpy as np

import jaxbandits as jb

RUNS = 2048
TEN, FIFTY = jb.bernoulli(np.linspace(0.3, 0.6, 10)), jb.bernoulli(np.linspace(0.3, 0.6, 50))
FIVE = jb.bernoulli([0.6, 0.4, 0.35, 0.3, 0.25])
UGAPE = jb.UGapEc(epsilon=0.1, delta=0.05)
SE, S1 = jb.SuccessiveElimination(delta=0.05, estimator="tea"), jb.s1()
RCBI, RESERVOIR = jb.RCBI(budget=1e4), jb.reservoir(beta=1.0)


class Case(NamedTuple):
    """What is measured."""

    rule: str
    algorithm: Any
    problem: Any
    lanes: int
    runs: int
    on_chip: bool = False
    max_pulls: int | None = None


def both(*case: Any, cut: int | None = None) -> list[Case]:
    """The plain loop, and the state on the chip."""
    return [Case(*case, on_chip=on_chip, max_pulls=cut) for on_chip in (False, True)]


def endless(algorithm: Any) -> Any:
    """The rule with a delta at which no run ends before it is cut."""
    return dataclasses.replace(algorithm, delta=1e-30)


#: The most telling first, since time may run out.
CASES = [
    *both("UGapEc, 10 arms", UGAPE, TEN, 1024, 2048),
    *both("UGapEc, 10 arms", UGAPE, TEN, 65_536, 262_144),
    *both("UGapEc, 50 arms", UGAPE, FIFTY, 32_768, 65_536),
    *both("UGapEc, 10 arms, cut", endless(UGAPE), TEN, 65_536, 65_536, cut=20_000),
    *both("LUCB, 10 arms, cut", endless(jb.LUCB(epsilon=0.1, delta=0.05)), TEN, 65_536, 65_536, cut=20_000),
    *both("SE-TEA, s1, cut", endless(SE), S1, 65_536, 65_536, cut=20_000),
    *both("RCB-I, cut", RCBI, RESERVOIR, 65_536, 65_536, cut=5000),
    Case("UGapEc, 10 arms", UGAPE, TEN, 4096, 16_384),
    Case("UGapEc, 10 arms", UGAPE, TEN, 262_144, 524_288),
    Case("RCB-I, B = 10^4", RCBI, RESERVOIR, 65_536, 131_072),
    Case("LUCB, 10 arms", jb.LUCB(epsilon=0.1, delta=0.05), TEN, 65_536, 131_072),
    Case("SE-TEA, s1", SE, S1, 65_536, 65_536),
    Case("Track-and-Stop, 5 arms", jb.TrackAndStop(delta=0.05), FIVE, 16_384, 16_384),
    Case("UGapEc, 10 arms", UGAPE, TEN, 1_048_576, 2_097_152),
]


def main() -> None:
    """Measure what fits the time."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=150.0, help="begin no further case after so many seconds")
    parser.add_argument("--keep", help="NAME.npz for the pulls of the first runs")
    given = parser.parse_args()
    began, pulls = time.perf_counter(), {}
    print(f"JAX {jax.__version__}, {jax.devices()[0].device_kind}", flush=True)
    for case in CASES:
        if time.perf_counter() - began > given.seconds:
            break
        options = {"lanes": case.lanes, "on_chip": case.on_chip, "max_pulls": case.max_pulls}
        jb.simulate(case.algorithm, case.problem, min(case.runs, case.lanes), **options)
        walls = []
        for _ in range(3):
            start = time.perf_counter()
            ds = jb.simulate(case.algorithm, case.problem, case.runs, **options)
            walls.append(time.perf_counter() - start)
        wall = min(walls)
        first = ds.isel(seed=slice(RUNS))
        bits = hashlib.sha256(first.pulls.values.tobytes() + np.ascontiguousarray(first.recommended.values).tobytes())
        pulls[case.rule] = first.pulls.values
        found = {
            "rule": case.rule, "lanes": case.lanes, "on_chip": case.on_chip, "runs": case.runs,
            "seconds": round(wall, 2), "million_pulls_per_second": round(float(ds.pulls.sum()) / wall / 1e6, 1),
            "mean_pulls": float(ds.pulls.mean()), "failure": float(1 - ds.correct.mean()),
            "bits": bits.hexdigest()[:12],
        }  # fmt: skip
        print(json.dumps(found), flush=True)
    if given.keep:
        np.savez(given.keep, **pulls)


if __name__ == "__main__":
    main()
