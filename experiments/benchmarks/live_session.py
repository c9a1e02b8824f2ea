"""How long `ask(1)` and `tell` take in a live session: `python experiments/benchmarks/live_session.py [ARMS]`.

Eight pulls are in flight, and a random one of them is told next. The first column is `warm_up()`, which compiles.
Milliseconds of wall time: median, 99th percentile; compare them on a quiet machine only.
"""

import sys
import time

import numpy as np

import jaxbandits as jb

RULES = {
    "UGapEc": jb.UGapEc(epsilon=0.01, delta=0.05),
    "LUCB": jb.LUCB(epsilon=0.01, delta=0.05),
    "SuccessiveElimination": jb.SuccessiveElimination(delta=0.05, b=1.0),
    "HoeffdingRace": jb.HoeffdingRace(epsilon=0.01, delta=0.05),
    "EBTCI": jb.EBTCI(delta=0.05, family="bernoulli", threshold="gk16"),
    "TTTS": jb.TTTS(delta=0.05, family="bernoulli", threshold="gk16"),
    "TrackAndStop": jb.TrackAndStop(delta=0.05, family="bernoulli"),
}
IN_FLIGHT, PULLS = 8, 2000


def timed(call, *arguments):
    """Return what a call returns, and its milliseconds."""
    start = time.perf_counter()
    found = call(*arguments)
    return found, 1e3 * (time.perf_counter() - start)


def main():
    """Print a line for each rule."""
    arms = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    print(f"{arms} arms, {PULLS} pulls: warm-up in seconds; median and 99th percentile in milliseconds")
    for name, rule in RULES.items():
        session, random, flight = jb.AskTell(rule, arms=arms), np.random.default_rng(0), []
        _, warm = timed(session.warm_up)
        asks, tells = [], []
        for _ in range(PULLS):
            pulls, taken = timed(session.ask, 1)
            asks.append(taken)
            flight += pulls
            if len(flight) >= IN_FLIGHT or not pulls:
                pull = flight.pop(int(random.integers(len(flight))))
                tells.append(timed(session.tell, pull.id, float(random.random() < 0.3))[1])
        words = [
            f"{what} {np.median(x):.3f} {np.quantile(x, 0.99):.3f}" for what, x in (("ask", asks), ("tell", tells))
        ]
        print(f"{name:22} warm-up {warm / 1e3:5.1f} s   {words[0]}   {words[1]}", flush=True)


if __name__ == "__main__":
    main()
