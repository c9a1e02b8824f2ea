"""Pulls a second of processor time, beside UGapEc on the same ten arms, of the rules that were added last.

    python experiments/benchmarks/new_rules.py --rounds 3

Runs are cut at a number of pulls, so that their beginnings and ends count little. A rule below a third is marked.
"""

import argparse
import statistics
import time
from typing import Any

import numpy as np

import jaxbandits as jb
from jaxbandits.report.text_tables import text_table

DELTA, MOST_PULLS, BUDGET = 1e-6, 3000, 3000
MEANS = np.array([0.5, 0.42, 0.40, 0.38, 0.35, 0.32, 0.30, 0.25, 0.20, 0.10])
COINS, NORMAL, CORRELATED = jb.bernoulli(MEANS), jb.gaussian(MEANS, sd=0.5), jb.correlated_gaussian(MEANS, 0.5)
FEATURES = np.column_stack([np.cos(np.arange(10) / 6), np.sin(np.arange(10) / 6)])
LINEAR = jb.gaussian(FEATURES @ [0.5, 0.1], sd=0.5)
#: name -> (rule, problem).
RULES = {
    "HDoC": (jb.HDoC(threshold=0.37, delta=DELTA), COINS),
    "LUCB-G": (jb.LUCBG(threshold=0.37, delta=DELTA), COINS),
    "APT-G": (jb.APTG(threshold=0.37, delta=DELTA), COINS),
    "HDoC, first": (jb.HDoCFirst(threshold=0.49, delta=DELTA), COINS),
    "LSA": (jb.LSA(threshold=0.37, budget=BUDGET), COINS),
    "APGAI, budget": (jb.APGAIb(threshold=0.49, budget=BUDGET), COINS),
    "APGAI, confidence": (jb.APGAIc(threshold=0.49, delta=DELTA), COINS),
    "(ST)^2": (jb.ST2(epsilon=0.1, delta=DELTA), COINS),
    "FAREAST": (jb.FAREAST(epsilon=0.1, delta=DELTA), COINS),
    "OCBA": (jb.OCBA(budget=BUDGET), NORMAL),
    "OCBA-m": (jb.OCBAm(budget=BUDGET, m=3), NORMAL),
    "SHVar": (jb.SHVar(budget=BUDGET), NORMAL),
    "SHAdaVar": (jb.SHAdaVar(budget=BUDGET), NORMAL),
    "BayesElim": (jb.BayesElim(budget=BUDGET, prior_mean=0.3, prior_sd=0.2), NORMAL),
    "Doubling SH": (jb.DoublingSequentialHalving(budget=BUDGET), COINS),
    "AT-LUCB": (jb.ATLUCB(budget=BUDGET), COINS),
    "EB-TC, any time": (jb.AnytimeEBTC(budget=BUDGET), NORMAL),
    "FC2FB": (jb.FC2FB(budget=BUDGET), COINS),
    "KN": (jb.KN(epsilon=0.01, delta=DELTA), NORMAL),
    "KN, correlated": (jb.KN(epsilon=0.01, delta=DELTA), CORRELATED),
    "KN++": (jb.KNPlusPlus(epsilon=0.01, delta=DELTA), NORMAL),
    "Rinott": (jb.Rinott(epsilon=0.05, delta=0.05), NORMAL),
    "Tri-BBAI": (jb.TriBBAI(delta=0.01), COINS),
    "Opt-BBAI": (jb.OptBBAI(delta=0.01), COINS),
    "ThresholdGame": (jb.ThresholdGame(level=0.37, delta=DELTA), COINS),
    "TopMGame": (jb.TopMGame(m=3, delta=DELTA), COINS),
    "LinGame": (jb.LinGame(features=FEATURES, delta=DELTA), LINEAR),
    "LinGapE": (jb.LinGapE(features=FEATURES, delta=DELTA), LINEAR),
}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--runs", type=int, default=2000)
    options = parser.parse_args()
    print(f"One CPU device, {options.runs} runs of {MOST_PULLS} pulls at most; medians of {options.rounds} rounds")

    def rate(rule: Any, problem: Any, seed: int) -> float:
        began = time.process_time()
        ds = jb.simulate(rule, problem, options.runs, root_seed=seed, devices=1, max_pulls=MOST_PULLS)
        return float(ds.pulls.sum()) / (time.process_time() - began) / 1e6

    table = [("rule", "M pulls/s", "of UGapEc's")]
    for name, (rule, problem) in RULES.items():
        pairs = []
        for seed in range(options.rounds + 1):  # the first compiles
            other = rate(jb.UGapEc(epsilon=0.0, delta=DELTA), problem, seed)
            pairs.append((rate(rule, problem, seed), other))
        own, ratio = statistics.median(a for a, _ in pairs[1:]), statistics.median(a / b for a, b in pairs[1:])
        table.append((name, f"{own:.2f}", f"{ratio:.2f}" + (" <" if ratio < 1 / 3 else "")))
    print(text_table(table, left=(0,)))


if __name__ == "__main__":
    main()
