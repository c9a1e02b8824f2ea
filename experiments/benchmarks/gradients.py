"""What a gradient costs beside the plain simulation, and what its control variates are worth.

python experiments/benchmarks/gradients.py --rounds 5
"""

import argparse
import statistics
import time

import numpy as np

import jaxbandits as jb
from jaxbandits.gradients.reward_scores import scores
from jaxbandits.report.text_tables import text_table

MEANS = [0.7, *[0.5] * 9]


def pulls(problem: jb.Problem, state: object, recommended: object) -> object:
    """Pulls of each arm."""
    del problem, recommended
    return state.pulls


def seconds(run: object) -> float:
    """Of a call."""
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--runs", type=int, default=10_000)
    options = parser.parse_args()
    devices = jb.use_all_cores()
    print(f"{devices} CPU devices, {options.runs} runs, {options.rounds} rounds in turn, medians without compilation")
    algorithms = {
        "UGapEc, ε = δ = 0.1": (jb.UGapEc(epsilon=0.1, delta=0.1), "pulls"),
        "UGapEb, B = 1000": (jb.UGapEb(budget=1000), "error"),
        "Successive Rejects, B = 300": (jb.SuccessiveRejects(budget=300), "error"),
    }
    problem = jb.bernoulli(MEANS)
    costs = [("algorithm", "simulate s", "gradient s", "ratio")]
    worth = [("algorithm", "metric", "no baseline", "the mean", "own control variate")]
    for name, (algorithm, metric) in algorithms.items():
        calls = {
            "simulate": lambda seed, a=algorithm: jb.simulate(a, problem, options.runs, root_seed=seed),
            "gradient": lambda seed, a=algorithm, m=metric: jb.gradients.expected(
                m, a, problem, seeds=options.runs, root_seed=seed
            ),
        }
        taken = {call: [] for call in calls}
        for seed in range(options.rounds + 1):  # the first compiles
            for call, run in calls.items():
                taken[call].append(seconds(lambda run=run, seed=seed: run(seed)))
        plain, gradient = (statistics.median(taken[call][1:]) for call in calls)
        costs.append((name, f"{plain:.2f}", f"{gradient:.2f}", f"{gradient / plain:.2f}"))
        ds = jb.simulate(algorithm, problem, options.runs, metrics={"each": pulls})
        score = scores(problem, "probability", ds.each.to_numpy(), 0)
        value = (ds.pulls if metric == "pulls" else ~ds.correct).to_numpy().astype(float)[:, None]
        own = (value * score**2).mean(axis=0) / (score**2).mean(axis=0)
        baselines = (0.0, value.mean(), own)
        spreads = [np.var((value - baseline) * score, axis=0).mean() for baseline in baselines]
        worth.append((name, metric, *(f"{spread / spreads[-1]:.2f}" for spread in spreads)))
    print(text_table(costs, left=(0,)))
    print("variance of a sample of the gradient, mean over arms, in units of the last column")
    print(text_table(worth, left=(0, 1)))


if __name__ == "__main__":
    main()
