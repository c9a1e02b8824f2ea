"""Compare regrets of OptMAI and its rivals over K with Figures 1(a), 1(d) and 2(b) of Zhou, Chen, Li (2014)."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import xarray as xr

import jaxbandits as jb
from jaxbandits.papers.bench import Bench, stack_summaries
from jaxbandits.papers.top_k.chen_data_sets import run_at_budgets
from jaxbandits.report import plots, tables


class Size(NamedTuple):
    runs: int  #: of every point; on random means each has its own means
    one_by_one: bool  #: whether to run SAR and LUCB too, which pull one or two arms a step
    problems: tuple[str, ...] = ("uniform means", "0.6/0.5", "RTE workers")


SIZES = {
    # Not the random means: runs that share no rewards are two more programs of 1000 arms.
    "quick": Size(runs=40, one_by_one=False, problems=("0.6/0.5", "RTE workers")),
    "paper": Size(runs=200, one_by_one=True),
}


class _Setting(NamedTuple):
    """The setting of a figure of the paper."""

    name: str  #: of the files
    about: str
    #: From the axes of K and of random means.
    problem: Callable[[jb.Axis, jb.Axis], jb.Problem | jb.problems.ProblemFamily]
    ks: tuple[int, ...]
    budget: int
    anew: bool = False  #: whether every run has its own means


_ARMS = 1000
_MANY = tuple(range(50, 501, 50))
_SETTINGS = {
    "uniform means": _Setting(
        "random", "1000 means drawn uniformly from [0, 1], again for every run; 20 n pulls",
        lambda _, instance: jb.random_uniform(_ARMS, seed=instance), _MANY, budget=20 * _ARMS, anew=True,
    ),
    "0.6/0.5": _Setting(
        "two-group", "K means of 0.6 among 1000, the others 0.5; 20 n pulls",
        lambda k, _: jb.two_group(_ARMS, k, 0.6, 0.5), _MANY, budget=20 * _ARMS,
    ),
    "RTE workers": _Setting(
        "workers", "Accuracies of the 164 workers of RTE, read from a histogram and so within 0.003; 10 n pulls",
        lambda *_: jb.rte_workers(), tuple(range(10, 101, 10)), budget=1640,
    ),
}  # fmt: skip

#: Mean aggregate regret over 100 runs, by problem and method; K is 50, 100, …, 500 of 1000 arms and 10, 20, …, 100 of
#: the 164 workers. Read from the curves.
_PUBLISHED: dict[str, dict[str, tuple[float, ...]]] = {
    "uniform means": {
        "uniform": (0.02361, 0.0219, 0.02059, 0.01907, 0.01776, 0.0164, 0.01527, 0.01408, 0.01274, 0.01142),
        "OptMAI, β = 0.8": (0.00477, 0.00532, 0.00583, 0.00547, 0.00542, 0.00579, 0.00621, 0.00564, 0.00474, 0.00499),
        "OptMAI, β = 0.9": (0.00334, 0.00487, 0.0057, 0.00595, 0.00758, 0.00731, 0.00806, 0.00757, 0.00713, 0.00808),
        "SAR": (0.00448, 0.00739, 0.00911, 0.0105, 0.01121, 0.01145, 0.01116, 0.01047, 0.00992, 0.00955),
        "LUCB": (0.00872, 0.00997, 0.0106, 0.00963, 0.00938, 0.0093, 0.00869, 0.00831, 0.00795, 0.00731),
    },
    "0.6/0.5": {
        "uniform": (0.0747, 0.05821, 0.05792, 0.05223, 0.04209, 0.04045, 0.04101, 0.03682, 0.03055, 0.0254),
        "OptMAI, β = 0.8": (0.06326, 0.05695, 0.05171, 0.0468, 0.04456, 0.04094, 0.038, 0.03601, 0.03178, 0.02918),
        "OptMAI, β = 0.9": (0.06222, 0.05619, 0.05277, 0.04986, 0.05252, 0.05016, 0.04324, 0.03886, 0.03469, 0.03167),
        "SAR": (0.06946, 0.0638, 0.05934, 0.05528, 0.05118, 0.04678, 0.04238, 0.04011, 0.03648, 0.03317),
        "LUCB": (0.07393, 0.0644, 0.05838, 0.05314, 0.04772, 0.04365, 0.0402, 0.03645, 0.03286, 0.03055),
    },
    "RTE workers": {
        "uniform": (0.08611, 0.06968, 0.05131, 0.03364, 0.02627, 0.02472, 0.02724, 0.02436, 0.02006, 0.02049),
        "OptMAI, β = 0.8": (0.0437, 0.04106, 0.02638, 0.02193, 0.0197, 0.02099, 0.02199, 0.02129, 0.01788, 0.01803),
        "OptMAI, β = 0.9": (0.04023, 0.04154, 0.03599, 0.03822, 0.02983, 0.02762, 0.02635, 0.02589, 0.02282, 0.02415),
        "SAR": (0.03548, 0.04491, 0.05042, 0.04824, 0.04428, 0.044, 0.04567, 0.04248, 0.03364, 0.03184),
        "LUCB": (0.06787, 0.04713, 0.0311, 0.02392, 0.02205, 0.02288, 0.02335, 0.02059, 0.01807, 0.0171),
    },
}


def show(bench: Bench, size: Size) -> None:
    """Draw regret against K, a picture for each problem, the published values dashed."""
    for problem in size.problems:
        _draw(bench, size, problem)


def _draw(bench: Bench, size: Size, problem: str) -> None:
    setting = _SETTINGS[problem]
    k, budget = jb.axis(setting.ks, name="k"), setting.budget
    algorithms: dict[str, object] = {
        # Below 49 n pulls AdaptiveTopK is uniform sampling, drawn as sums.
        "uniform": jb.AdaptiveTopK(k=k, budget=budget),
        "OptMAI, β = 0.8": jb.OptMAI(k=k, budget=budget, beta=0.8),
        "OptMAI, β = 0.9": jb.OptMAI(k=k, budget=budget, beta=0.9),
    }
    if size.one_by_one:
        algorithms["SAR"] = jb.SAR(m=k, budget=budget)
        algorithms["LUCB"] = jb.LUCB(m=k, epsilon=0.0, delta=0.1)
    runs = {label: _run(bench, setting, algorithm, size) for label, algorithm in algorithms.items()}
    stats = stack_summaries("algorithm", runs)
    stats["k"].attrs["long_name"] = "arms to return K"
    printed = np.asarray([_PUBLISHED[problem][label] for label in runs])
    stats["published"] = (("algorithm", "k"), printed, {"long_name": "published"})
    ratio = stats["aggregate_regret_mean"] / stats["published"]
    distance = abs(ratio.sel(algorithm="OptMAI, β = 0.8") - 1)
    finding = (
        f"{problem}: in these runs OptMAI with β = 0.8 is within {100 * float(distance.max()):.0f}% of the published "
        f"regrets, {100 * float(distance.median()):.0f}% in the middle"
    )
    off = [f"{label} {float(r.min()):.2f} to {float(r.max()):.2f}" for label, r in zip(runs, ratio, strict=True)]
    bench.exhibit(
        f"top-k-published-{setting.name}",
        plots.curve(stats, x="k", y="aggregate_regret", hue="algorithm", bounds=("published",), title=finding),
        tables.frame(
            stats, ["runs", "aggregate_regret_mean", "aggregate_regret_low", "aggregate_regret_high", "published"]
        ),
        runs.values(),
        f"Ours over the published, smallest and largest over K: {', '.join(off)}.",
        "With β = 0.9 the first rounds take two pulls of an arm, so rounding and ties decide; which rules the "
        "authors used is not known. With the rule as printed, which accepts the arm below the border when it "
        "is taken out, OptMAI is worse where few arms are returned: on the RTE workers with β = 0.8 and 300 "
        "runs 0.037, 0.035, 0.029 at K = 10, 20, 30, nearer to the published 0.044, 0.041, 0.027.",
        finding=finding,
        drawn="Mean aggregate regret with 95% intervals; dashed: the values of Zhou et al. 2014, from 100 runs.",
        settings=f"{setting.about}; {size.runs} runs a point.",
        alt=f"Aggregate regret against K for {len(runs)} algorithms, the published values dashed.",
    )


def _run(bench: Bench, setting: _Setting, algorithm: object, size: Size) -> xr.Dataset:
    """Run one algorithm over K; instances of random means count as seeds."""
    problem = setting.problem(jb.axis(setting.ks, name="k"), jb.axis(range(size.runs), name="instance"))
    seeds = 1 if setting.anew else size.runs
    if isinstance(algorithm, jb.LUCB):  # it stops by confidence, not by a budget
        ds = run_at_budgets(bench, algorithm, problem, seeds, [setting.budget], independent=setting.anew)
        ds = ds.isel(budget=0, drop=True)
    else:
        ds = bench.sweep(algorithm, problem, seeds, independent=setting.anew)
    attributes = ds.attrs
    ds = ds[["pulls", "aggregate_regret", "correct", "status"]]
    if setting.anew:
        ds = ds.isel(seed=0, drop=True).rename(instance="seed")
    return ds.assign_attrs(attributes)
