"""Compare pulls of every rule with a fixed confidence with the lower bound, over the allowed probability of error."""

from typing import NamedTuple

import numpy as np

import jaxbandits as jb
from jaxbandits.papers.bench import Bench, stack_summaries
from jaxbandits.papers.title_claims import ends_of, quotient, times
from jaxbandits.report import formatting, plots, tables


class Size(NamedTuple):
    seeds: int
    arms: tuple[int, ...] = (4, 16)
    deltas: tuple[float, ...] = (1e-1, 1e-2, 1e-4, 1e-6, 1e-8, 1e-10)


SIZES = {"quick": Size(seeds=100), "paper": Size(seeds=2000, arms=(4, 16, 64))}

#: Means of one Bernoulli arm and of the others.
_BEST, _REST = 0.7, 0.4
#: From a delta, or an axis of them, to a rule; thresholds and constants are proved ones.
_RULES = {
    "UGapEc": lambda delta: jb.UGapEc(epsilon=0.0, delta=delta),
    "LUCB1": lambda delta: jb.LUCB(epsilon=0.0, delta=delta),
    "LUCB++": lambda delta: jb.LUCBPlusPlus(epsilon=0.0, delta=delta),
    "lil'UCB": lambda delta: jb.LilUCB(delta=delta),
    "KL-LUCB": lambda delta: jb.KLLUCB(epsilon=0.0, delta=delta),
    "KL race": lambda delta: jb.KLRace(epsilon=0.0, delta=delta),
    "uniform, GLR": lambda delta: jb.UniformGLR(delta=delta),
    "Track-and-Stop": lambda delta: jb.TrackAndStop(delta=delta),
    "T3C": lambda delta: jb.T3C(delta=delta),
    "EB-TCI": lambda delta: jb.EBTCI(delta=delta),
    "TTUCB": lambda delta: jb.TTUCB(delta=delta),
}
#: The rules that are drawn: no more lines than can be distinguished.
_DRAWN = ["UGapEc", "LUCB1", "LUCB++", "KL-LUCB", "uniform, GLR", "Track-and-Stop", "TTUCB"]
_COLUMNS = ["runs", "errors", "failure", "failure_low", "failure_high", "pulls_mean", "pulls_low", "pulls_high"]


def show(bench: Bench, size: Size) -> None:
    """Draw pulls until the rules stop, a panel for each number of arms."""
    problem = jb.one_sparse(n=jb.axis(size.arms), best=_BEST, rest=_REST)
    deltas = jb.axis(np.asarray(size.deltas))
    runs = bench.sweep_each({label: rule(deltas) for label, rule in _RULES.items()}, problem, size.seeds)
    stats = stack_summaries("algorithm", runs)
    stats["lower_bound"] = jb.with_theory(runs["UGapEc"], "lower_bound")["lower_bound"]
    stats["ratio"] = stats["pulls_mean"] / stats["lower_bound"]
    stats["delta"].attrs["long_name"] = "allowed probability of error δ"
    stats["n"].attrs["long_name"] = "K"
    arms = int(size.arms[-1])
    smallest = int(np.argmin(stats["delta"].values))
    sure = quotient(ends_of(stats, "pulls"), stats["lower_bound"]).sel(n=arms).isel(delta=smallest)
    last = stats["ratio"].sel(n=arms).isel(delta=smallest)
    last = last.sortby(last)  # at the smallest δ, from the nearest to the bound
    finding = (
        f"At δ = {formatting.value(float(stats['delta'].min()))} and K = {arms} {last['algorithm'].values[0]} takes "
        f"{times(sure.sel(algorithm=str(last['algorithm'].values[0])))} times the lower bound, UGapEc "
        f"{times(sure.sel(algorithm='UGapEc'))} times"
    )
    worst = stats["failure_low"] - stats["delta"]
    shared = [label for label, ds in runs.items() if "one_trajectory" in ds.attrs]
    ranked = [f"{name} {float(ratio):.2f}" for name, ratio in zip(last["algorithm"].values, last, strict=True)]
    bench.exhibit(
        "frontier-confidence",
        plots.curve(
            stats.sel(algorithm=_DRAWN), x="delta", y="pulls", hue="algorithm", panel="n", bounds=("lower_bound",),
            title=finding,
        ),
        tables.frame(stats, [*_COLUMNS, "lower_bound", "ratio"]),
        runs.values(),
        f"One run a seed covers all δ of {', '.join(shared)}: their sampling does not know δ.",
        "No failure rate is above δ: the largest lower end of a 95% interval is "
        f"{formatting.probability(float(stats['failure_low'].max()))}."
        if float(worst.max()) <= 0
        else f"A failure rate lies above δ: the lower end of its interval by {float(worst.max()):.2g}.",
        f"Times the lower bound at the smallest δ, from the least: {', '.join(ranked)}.",
        finding=finding,
        drawn="Mean pulls until the rule stops, with 95% intervals. Dashed: the lower bound T* kl(δ, 1−δ) for every "
        "algorithm that is right with probability 1 − δ (Garivier, Kaufmann 2016). The table has further rules.",
        settings=f"K Bernoulli arms, one with mean {_BEST}, the others with mean {_REST}; ε = 0, thresholds and "
        f"constants that are proved; {size.seeds} runs a point.",
        alt=f"Mean pulls against δ for {len(runs)} rules, above a dashed lower bound.",
    )  # fmt: skip
