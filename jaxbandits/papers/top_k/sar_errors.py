"""Compare errors of SAR and uniform sampling over m with Figure 4 of Bubeck, Wang, Viswanathan (2013)."""

from typing import NamedTuple

import numpy as np
import xarray as xr

import jaxbandits as jb
from jaxbandits.papers.bench import Bench, stack_summaries
from jaxbandits.report import formatting, plots, tables


class Size(NamedTuple):
    runs: int  #: of every point


SIZES = {"quick": Size(runs=100), "paper": Size(runs=5000)}

#: P(not exactly the m best arms are returned) for m = 1, 2, … by experiment and method, read from the curves to 0.004
#: (Experiments 1 and 2) or 0.002. Experiment i is `abm:i`, with the budget of `BUDGETS`.
PUBLISHED: dict[int, dict[str, tuple[float, ...]]] = {
    1: {
        "uniform": (0.444, 0.272, 0.198, 0.142, 0.104, 0.075, 0.067, 0.045, 0.037, 0.026, 0.019, 0.015, 0.007,
                    0.004, 0.004, 0.004, 0.0, 0.0, 0.0),
        "SAR": (0.183, 0.157, 0.123, 0.101, 0.09, 0.075, 0.063, 0.048, 0.037, 0.03, 0.022, 0.015, 0.011,
                0.007, 0.004, 0.004, 0.0, 0.0, 0.0),
    },
    2: {
        "uniform": (0.007, 0.045, 0.157, 0.343, 0.59, 0.836, 0.672, 0.522, 0.396, 0.299, 0.224, 0.164, 0.112,
                    0.075, 0.045, 0.03, 0.015, 0.007, 0.002),
        "SAR": (0.0, 0.0, 0.03, 0.127, 0.358, 0.694, 0.515, 0.388, 0.306, 0.224, 0.179, 0.119, 0.082, 0.052,
                0.03, 0.015, 0.007, 0.0, 0.0),
    },
    3: {
        "uniform": (0.153, 0.038, 0.0),
        "SAR": (0.128, 0.028, 0.0),
    },
    4: {
        "uniform": (0.0, 0.24, 0.054, 0.013, 0.0),
        "SAR": (0.0, 0.177, 0.036, 0.004, 0.0),
    },
}  # fmt: skip
BUDGETS = {1: 2000, 2: 12_000, 3: 6000, 4: 8000}
#: The experiments with every m below the number of arms; the others have three and five.
_SHOWN = (1, 2)


def show(bench: Bench, size: Size) -> None:
    """Draw errors against m, a panel per experiment."""
    runs: list[xr.Dataset] = []
    panels = []
    for number in _SHOWN:
        m = jb.axis(range(1, len(PUBLISHED[number]["SAR"]) + 1))
        algorithms = {"SAR": jb.SAR(budget=BUDGETS[number], m=m), "uniform": jb.Uniform(budget=BUDGETS[number], m=m)}
        found = bench.sweep_each(algorithms, jb.abm(number), size.runs)
        # Only the exact m best arms are right.
        found = {label: ds.assign(correct=ds["aggregate_regret"] < 1e-6) for label, ds in found.items()}
        panel = stack_summaries("algorithm", found)
        panel["published"] = (("algorithm", "m"), np.asarray([PUBLISHED[number][label] for label in found]))
        runs += found.values()
        panels.append(panel)
    stats = xr.concat(panels, "experiment", join="exact").assign_coords(experiment=list(_SHOWN))
    stats["published"].attrs["long_name"] = "published"
    distance = abs(stats["failure"] - stats["published"]).max(["m", "experiment"])
    ours, theirs = (float(distance.sel(algorithm=label)) for label in ("SAR", "uniform"))
    finding = (
        f"In these runs SAR is within {ours:.3f} of the published errors at every m, uniform sampling within "
        f"{theirs:.3f}"
    )
    budgets = " and ".join(formatting.count(BUDGETS[number]) for number in _SHOWN)
    bench.exhibit(
        "top-k-published-sar",
        plots.curve(
            stats, x="m", y="failure", hue="algorithm", panel="experiment", bounds=("published",), title=finding
        ),
        tables.frame(stats, ["runs", "failure", "failure_low", "failure_high", "published"]),
        runs,
        "How many runs are behind a published point is not known.",
        finding=finding,
        drawn="Probability of not returning exactly the m best arms, with Clopper-Pearson 95% intervals.",
        settings=f"Experiments 1 and 2 of Bubeck et al. 2013: 20 arms, {budgets} pulls; {size.runs} runs a point.",
        alt="Error against m for SAR and uniform sampling, the published values dashed, in two panels.",
    )
