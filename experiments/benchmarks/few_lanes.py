"""Processor time of a step with few runs and many arms, by the number of lanes.

    python experiments/benchmarks/few_lanes.py --rounds 3

`engine/lane_counts.py` chooses its few numbers of lanes by it.
"""

import argparse
import time

import numpy as np

import jaxbandits as jb
from jaxbandits.report.text_tables import text_table

ARMS, LANES, PULLS = (100, 200, 400, 1000, 3000), (1, 4, 8, 16, 48), 4000
RULES = {
    "UGapEb": jb.UGapEb(budget=10**6),
    "UGapEc": jb.UGapEc(epsilon=0.0, delta=1e-9),
    "LUCB": jb.LUCB(epsilon=0.0, delta=1e-9),
}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    rows = [("rule", "arms", *(f"{lanes} lanes" for lanes in LANES))]
    for arms in ARMS:
        problem = jb.bernoulli(np.linspace(0.55, 0.45, arms))
        for name, rule in RULES.items():
            times = [_microseconds(rule, problem, lanes, arguments.rounds) for lanes in LANES]
            rows.append((name, f"{arms}", *(f"{one:.1f}" for one in times)))
    print(
        f"Microseconds of processor time a step, the least of {arguments.rounds} calls\n{text_table(rows, left=(0,))}"
    )


def _microseconds(rule: object, problem: jb.Problem, lanes: int, rounds: int) -> float:
    """Return the processor time of a step of all lanes."""
    pulls = 2 * problem.arms + PULLS
    jb.simulate(rule, problem, lanes, lanes=lanes, max_pulls=pulls)
    found = []
    for number in range(1, rounds + 1):
        start = time.process_time()
        jb.simulate(rule, problem, lanes, lanes=lanes, max_pulls=pulls, first_seed=number * lanes)
        found.append((time.process_time() - start) / pulls * 1e6)
    return min(found)


if __name__ == "__main__":
    main()
