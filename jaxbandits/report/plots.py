"""Pictures of a Dataset of runs, of a study and of a search.

Of runs: `curve`, `phase`, `quantiles`, `distribution`, `bars`. Of a study, which has several rules: `profile`,
`ratios`, and a `curve` with a panel for each problem. Of a search: `tuning`.

Each takes the result of `simulate` or `sweep` (or, where it needs no single runs, its `summary`) and returns a
matplotlib Figure. Dimensions that are not given are chosen automatically. Intervals are 95% ones: bands around curves,
whiskers on bars. Variables without seeds, such as bounds of theory put into the Dataset, are drawn by name.

All of them draw into axes of a figure of yours with `ax=`. Settings of matplotlib that you made (sizes, fonts, colours,
markers) win over the package's look; `style="paper"` fits the column of a paper. Global settings stay untouched.
"""

from collections.abc import Callable

from matplotlib.figure import Figure

from jaxbandits.report.curves import curve
from jaxbandits.report.heatmaps import bars, phase
from jaxbandits.report.profiles import profile
from jaxbandits.report.ratio_maps import ratios
from jaxbandits.report.run_distributions import distribution, quantiles
from jaxbandits.report.tuning_plot import tuning

__all__ = ["KINDS", "bars", "curve", "distribution", "phase", "profile", "quantiles", "ratios", "tuning"]

#: Names on the command line. Every kind takes a Dataset and separate keywords.
KINDS: dict[str, Callable[..., Figure]] = {
    draw.__name__: draw for draw in (curve, phase, quantiles, distribution, bars, profile, ratios, tuning)
}
