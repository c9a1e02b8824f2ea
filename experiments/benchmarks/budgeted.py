"""RCB-I on a reservoir against hand-written numba: the same job, the same process, in turn, medians; how it scales.

The job: `jb.reservoir(beta=1)`, B = 10^4, hence 100 arms a run, of 0/1 rewards and costs; the numba loop is made for
it, with one compiled loop per run and an inline generator. Then RCB with numbers of arms from 10 to 5000,
B = max(10^4, 4 K), in pulls and in arms looked at a second; and a grid of 9 regularities and 7 budgets up to 10^4,
200 runs each.

    pip install -e ".[bench]" && python experiments/benchmarks/budgeted.py
"""

import argparse
import os
import resource
import statistics
import time
from typing import NamedTuple

import numpy as np
from numba_rcb import rcb_i_arms, reservoir_runs

import jaxbandits as jb
from jaxbandits.engine.compilation import compile_clock
from jaxbandits.report.text_tables import text_table

BUDGET, BETA = 10_000.0, 1.0
ARMS = (10, 30, 100, 300, 1000, 5000)
BETAS = np.linspace(0.25, 4.0, 9)
BUDGETS = np.geomspace(1e2, 1e4, 7)


class Outcome(NamedTuple):
    """What one contestant did with one seed."""

    pulls: float
    reward: float
    spread: float
    seconds: float
    compile_seconds: float


def package(algorithm: jb.RCB | jb.RCBI, problem: object, runs: int, seed: int) -> Outcome:
    """Mean pulls, reward and its standard deviation, seconds without compilation and seconds of compilation."""
    ds = jb.simulate(algorithm, problem, seeds=runs, root_seed=seed)
    reward = ds["reward"]
    seconds, compiled = ds.attrs["seconds"], ds.attrs["compile_seconds"]
    return Outcome(float(ds["pulls"].mean()), float(reward.mean()), float(reward.std()), seconds, compiled)


def by_numba(arms: int, budget: float, runs: int, seed: int, threads: int) -> Outcome:
    """The same of the numba loop; its compilation is not told apart."""
    began = time.perf_counter()
    pulls, rewards = reservoir_runs(arms, BETA, budget, runs, seed, threads)
    return Outcome(pulls.mean(), rewards.mean(), rewards.std(), time.perf_counter() - began, float("nan"))


def duel(arms: int, budget: float, runs: int, options: argparse.Namespace, *, given: bool) -> None:
    """Both in turn on one job, a table of two lines; `given` for RCB on so many arms, else RCB-I."""
    if given:
        algorithm, problem = jb.RCB(budget=budget), jb.reservoir(beta=BETA, arms=arms)
    else:
        algorithm, problem = jb.RCBI(budget=budget), jb.reservoir(beta=BETA)
    contestants = {
        "numba": lambda seed, number: by_numba(arms, budget, number, seed, options.threads),
        "jaxbandits": lambda seed, number: package(algorithm, problem, number, seed),
    }
    compiled = {}
    for name, run in contestants.items():
        began = time.perf_counter()
        first = run(0, 2)
        compiled[name] = time.perf_counter() - began if name == "numba" else first.compile_seconds
    found: dict[str, list[Outcome]] = {name: [] for name in contestants}
    for seed in range(1, options.rounds + 1):
        for name, run in contestants.items():
            found[name].append(run(seed, runs))
    rates = {name: statistics.median(runs * o.pulls / o.seconds for o in found[name]) for name in contestants}
    rows = [("what", "M pulls/s", "G arms/s", "ratio", "pulls", "reward", "compile s")]
    for name, outcomes in found.items():
        mean, pulls = np.mean([o.reward for o in outcomes]), np.mean([o.pulls for o in outcomes])
        error = np.mean([o.spread for o in outcomes]) / (runs * len(outcomes)) ** 0.5
        speed = (rates[name] / 1e6, rates[name] * arms / 1e9, rates[name] / rates["numba"])
        reward = f"{mean:.1f} +-{error:5.1f}"
        rows.append((name, *(f"{number:.2f}" for number in speed), f"{pulls:.0f}", reward, f"{compiled[name]:.1f}"))
    print(f"{arms} arms, budget {budget:.0f}, {runs} runs")
    print(text_table(rows, left=(0,)))
    apart = (found["numba"], found["jaxbandits"])
    means = [np.mean([o.reward for o in outcomes]) for outcomes in apart]
    errors = [np.mean([o.spread for o in outcomes]) / (runs * options.rounds) ** 0.5 for outcomes in apart]
    score = (means[1] - means[0]) / np.hypot(*errors)
    print(f"rewards differ by {score:+.1f} standard errors{'' if abs(score) < 5 else ': THEY DISAGREE'}")


def grid(runs: int) -> None:
    """Programs and seconds of the grid."""
    budgets, betas = BUDGETS.tolist(), BETAS.tolist()
    sizes = {(rcb_i_arms(budget, beta) - 1).bit_length() for budget in budgets for beta in betas}
    began = time.perf_counter()
    with compile_clock() as clock:
        ds = jb.sweep(jb.RCBI(budget=jb.axis(budgets)), jb.reservoir(beta=jb.axis(betas)), seeds=runs)
    seconds = time.perf_counter() - began
    print(
        f"grid of {len(betas)} regularities x {len(budgets)} budgets x {runs} runs: {float(ds['pulls'].sum()):.3g} "
        f"pulls in {seconds:.1f} s, of these {clock.seconds:.1f} s compiling {clock.programs} programs for "
        f"{len(sizes)} powers of two of arms"
    )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies the number of runs")
    parser.add_argument("--parts", nargs="+", default=["job", "arms", "grid"], choices=["job", "arms", "grid"])
    options = parser.parse_args()
    devices = jb.use_all_cores(options.threads)
    print(f"{devices} CPU devices, {options.threads} numba threads, {options.rounds} rounds in turn, medians")
    if "job" in options.parts:
        duel(rcb_i_arms(BUDGET, BETA), BUDGET, int(1000 * options.scale), options, given=False)
    if "arms" in options.parts:
        for arms in ARMS:
            budget = max(BUDGET, 4.0 * arms)
            # The package wants all of its lanes busy; about 10^10 arms looked at.
            runs = int(np.clip(1e10 / (2.5 * budget * arms), 200, 4000) * options.scale)
            duel(arms, budget, runs, options, given=True)
    if "grid" in options.parts:
        grid(int(200 * options.scale))
    print(f"peak memory of the process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


if __name__ == "__main__":
    main()
