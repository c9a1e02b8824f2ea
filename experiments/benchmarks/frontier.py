"""Pulls a second of rules with a fixed confidence that look far before each pull, beside UGapEc.

python experiments/benchmarks/frontier.py --rounds 3
"""

import argparse
import statistics

import jaxbandits as jb
from jaxbandits.report.text_tables import text_table

#: The instance on which a peer's Track-and-Stop makes 323 pulls a second, and a KL-LUCB in numba 567 thousand.
MEANS = [0.5, 0.42, 0.40, 0.38, 0.35, 0.32, 0.30, 0.25, 0.20, 0.10]
DELTA, MOST_PULLS = 0.05, 3000


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seeds", type=int, default=1000)
    options = parser.parse_args()
    devices = jb.use_all_cores()
    size = f"K = {len(MEANS)}, {options.seeds} runs of {MOST_PULLS} pulls at most"
    print(f"{devices} CPU devices, {size}, {options.rounds} rounds in turn; medians")
    coins, normal = jb.bernoulli(MEANS), jb.gaussian(MEANS, sd=0.5)
    rules = {
        "UGapEc": (jb.UGapEc(epsilon=0.0, delta=DELTA), coins),
        "KL-LUCB": (jb.KLLUCB(epsilon=0.0, delta=DELTA), coins),
        "Track-and-Stop D": (jb.TrackAndStop(delta=DELTA), coins),
        "Track-and-Stop C": (jb.TrackAndStop(delta=DELTA, tracking="c"), coins),
        "Track-and-Stop D, lazy": (jb.TrackAndStop(delta=DELTA, lazy=True), coins),
        "T3C": (jb.T3C(delta=DELTA), coins),
        "TTUCB": (jb.TTUCB(delta=DELTA), coins),
        "UGapEc, normal arms": (jb.UGapEc(epsilon=0.0, delta=DELTA), normal),
        "TTUCB, normal arms": (jb.TTUCB(delta=DELTA), normal),
        "EB-TC, normal arms": (jb.EBTC(delta=DELTA), normal),
    }
    rates = {name: [] for name in rules}
    compiling = {}
    for seed in range(options.rounds + 1):  # the first compiles
        for name, (rule, problem) in rules.items():
            ds = jb.simulate(rule, problem, options.seeds, root_seed=seed, max_pulls=MOST_PULLS)
            compiling.setdefault(name, ds.attrs["compile_seconds"])
            rates[name].append(float(ds.pulls.sum()) / ds.attrs["seconds"] / 1e6)
    table = [("rule", "M pulls/s", "of UGapEc's", "s to compile")]
    for name, all_of_them in rates.items():
        beside = "UGapEc, normal arms" if "normal" in name else "UGapEc"
        rate, other = (statistics.median(each[1:]) for each in (all_of_them, rates[beside]))
        table.append((name, f"{rate:.2f}", f"{rate / other:.3f}", f"{compiling[name]:.1f}"))
    print(text_table(table, left=(0,)))


if __name__ == "__main__":
    main()
