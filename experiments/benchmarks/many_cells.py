"""Sweeps of many cells with few runs each, where the host's work on each cell counts: seconds of a second call.

python experiments/benchmarks/many_cells.py [100] [20000]
"""

import sys
import time
from collections.abc import Callable

import numpy as np

import jaxbandits as jb

__all__ = ["second_call"]


def second_call(sweep: Callable[[], object]) -> str:
    """Return the time of a sweep once it is compiled."""
    sweep()
    wall, processor = time.perf_counter(), time.process_time()
    sweep()
    return f"{time.perf_counter() - wall:.1f} s, {time.process_time() - processor:.1f} s of processor time"


def main() -> None:
    """Print the times of a grid of values by values, and of a list of problems."""
    values, number = (int(sys.argv[place]) if len(sys.argv) > place else n for place, n in ((1, 100), (2, 20_000)))
    epsilon, delta = (jb.axis(np.linspace(*ends, values).tolist()) for ends in ((0.1, 0.6), (0.01, 0.3)))
    rule = jb.UGapEc(epsilon=epsilon, delta=delta)
    print(f"{values**2:,} cells of UGapEc, 20 runs each:", second_call(lambda: jb.sweep(rule, jb.abm(4), seeds=20)))
    means = np.random.default_rng(0).uniform(0.1, 0.9, (number, 6))
    problems = {f"p{place}": jb.bernoulli(one.tolist()) for place, one in enumerate(means)}
    shared = second_call(lambda: jb.sweep(jb.SuccessiveRejects(budget=200), problems, seeds=2))
    print(f"{number:,} problems of 6 arms, 2 runs of Successive Rejects each:", shared)


if __name__ == "__main__":
    main()
