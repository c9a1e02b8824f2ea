"""Compare the runs of every rule for different numbers of lanes, and with the state on the chip, bit by bit.

    python experiments/benchmarks/rules_on_gpu.py [--rule ugape-c lucb] [--keep runs.npz] [--no-chip] [--padded]
    python experiments/benchmarks/rules_on_gpu.py --compare gpu.npz cpu.npz

One line of JSON for each rule, on the default device and a problem of ten arms:

* `lanes`: whether the first runs have equal bits with each number of lanes (pulls, answer, pulls of each arm);
* `chip`: the same with the state on the chip (pulls and answer), or why it cannot stay there. There are 16 arms then,
  of which 6 do not exist; with `--padded` in all runs.

Programs take some 10 s each to compile on a GPU: several processes with some rules each are faster. `--keep` saves the
pulls and answers of the first runs. `--compare` compares two such files, of two platforms: in how many runs the pulls
and the answer are the same, and z, the mean difference of the pulls over its standard error.
"""

import argparse
import dataclasses
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np

import jaxbandits as jb
from jaxbandits.algorithms import REGISTRY

MEANS = np.array([0.7, 0.55, 0.5, 0.5, 0.45, 0.4, 0.35, 0.3, 0.3, 0.2])
VALUES = {"epsilon": 0.1, "delta": 0.1, "budget": 1500, "k": 3, "threshold": 0.47, "level": 0.47}
PROBLEMS: list[Callable[[], Any]] = [
    lambda: jb.bernoulli(MEANS),
    lambda: jb.gaussian(MEANS, sd=0.5),
    lambda: jb.correlated_gaussian(MEANS, 0.5),
    lambda: jb.reservoir(beta=1, prices="unit", arms=10),
    lambda: jb.reservoir(beta=1, arms=10),
]
MOST_PULLS, MOST_IN_BATCHES = 2000, 10**9


def arm_pulls(problem: Any, arms: Any, answer: Any) -> Any:
    """The pulls of each arm."""
    del problem, answer
    return arms.pulls


METRICS = {"arm_pulls": arm_pulls}  # not on the chip: arms are not padded then


def simulated(name: str, lanes: int, count: int, *, padded: bool = False, **options: Any) -> Any:
    """Runs of a rule on the first problem that it takes."""
    cls, refusals = REGISTRY[name], []
    needed = {
        field.name: VALUES[field.name] for field in dataclasses.fields(cls) if field.default is dataclasses.MISSING
    }
    for problem in PROBLEMS:
        try:
            found = problem().padded(16) if padded else problem()
            return jb.simulate(cls(**needed), found, count, lanes=lanes, **options)
        except jb.UsageError as error:
            refusals.append(str(error))
    raise SystemExit(f"{name}: {refusals}")


def compared(
    name: str, lanes: list[int], runs: int, on_chip: bool, kept: dict[str, np.ndarray], *, padded: bool
) -> dict[str, Any]:
    """Whether the first runs have equal bits."""
    most = MOST_IN_BATCHES if REGISTRY[name].traits.in_batches else MOST_PULLS

    def first(lanes: int, **options: Any) -> dict[str, np.ndarray]:
        found = simulated(name, lanes, max(lanes, runs), padded=padded, max_pulls=most, **options)
        part = found.isel(seed=slice(runs))
        return {name: part[name].values for name in ("pulls", "recommended", *options.get("metrics", {}))}

    def same(other: dict[str, np.ndarray]) -> bool:
        return all(np.array_equal(one[name], other[name]) for name in other)

    one = first(lanes[0], metrics=METRICS)
    kept[f"{name}.pulls"], kept[f"{name}.answers"] = one["pulls"], one["recommended"]
    equal = [same(first(count, metrics=METRICS)) for count in lanes[1:]]
    result: dict[str, Any] = {"mean_pulls": float(one["pulls"].mean()), "lanes": equal}
    if not on_chip:
        return result
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        chip = first(lanes[-1], on_chip=True)
    said = [str(warning.message) for warning in caught if "on_chip" in str(warning.message)]
    return {**result, "chip": said[0] if said else same(chip)}


def compare(one: str, other: str) -> None:
    """Print what two platforms have in common."""
    with np.load(one) as first, np.load(other) as second:
        for key in (key for key in first if key.endswith(".pulls") and key in second):
            name = key.removesuffix(".pulls")
            pulls = [np.asarray(found[key], float) for found in (first, second)]
            equal = (first[f"{name}.answers"] == second[f"{name}.answers"]).all(axis=-1)
            gap = pulls[0] - pulls[1]
            z = gap.mean() / (gap.std() / gap.size**0.5) if gap.any() else 0.0
            line = {
                "rule": name,
                "runs": gap.size,
                "same_pulls": float(np.mean(gap == 0)),
                "same_answer": float(equal.mean()),
            }
            print(json.dumps({**line, "z": round(float(z), 2)}), flush=True)


def main() -> None:
    """Measure, or compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rule", nargs="+", default=list(REGISTRY), choices=list(REGISTRY), metavar="RULE")
    parser.add_argument("--lanes", nargs="+", type=int, default=[1024, 65_536])
    parser.add_argument("--runs", type=int, default=1024, help="how many are compared")
    parser.add_argument("--keep", metavar="NAME.npz")
    parser.add_argument("--no-chip", action="store_true")
    parser.add_argument("--padded", action="store_true")
    parser.add_argument("--compare", nargs=2, metavar="NAME.npz")
    given = parser.parse_args()
    if given.compare:
        return compare(*given.compare)
    kept: dict[str, np.ndarray] = {}
    for name in given.rule:
        found = compared(name, given.lanes, given.runs, not given.no_chip, kept, padded=given.padded)
        print(json.dumps({"rule": name, "device": jax.devices()[0].device_kind, **found}), flush=True)
        if given.keep:
            np.savez_compressed(Path(given.keep), **kept)
    return None


if __name__ == "__main__":
    main()
