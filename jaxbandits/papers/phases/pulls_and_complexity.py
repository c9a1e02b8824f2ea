"""Map UGapEc's pulls over epsilon and K, under lines of equal complexity."""

from typing import NamedTuple

import numpy as np

import jaxbandits as jb
from jaxbandits.papers.bench import Bench
from jaxbandits.papers.title_claims import ends_of, quotient, times
from jaxbandits.report import plots, summaries, tables


class Size(NamedTuple):
    values: int  #: of each axis
    seeds: int


SIZES = {"quick": Size(values=32, seeds=10), "paper": Size(values=40, seeds=200)}

_DELTA = 0.05
#: Means of one Bernoulli arm and of the others.
_BEST, _REST = 0.9, 0.5
COLUMNS = ["runs", "pulls_mean", "pulls_low", "pulls_high", "failure", "failure_low", "failure_high"]


def show(bench: Bench, size: Size) -> None:
    """Draw mean pulls as colour, for one good arm among K."""
    epsilon = jb.axis(np.geomspace(0.02, 0.5, size.values))
    arms = jb.axis(np.unique(np.linspace(2, 64, size.values).round().astype(int)))
    problem = jb.one_sparse(n=arms, best=_BEST, rest=_REST)
    runs = jb.with_theory(bench.sweep(jb.UGapEc(epsilon=epsilon, delta=_DELTA), problem, size.seeds), "h_epsilon")
    stats = summaries.summary(runs)
    ratio = quotient(ends_of(stats, "pulls"), stats["h_epsilon"])
    finding = f"UGapEc makes {times(ratio)} times H_ε pulls on average, over {stats['pulls_mean'].size:,} cells"
    bench.exhibit(
        "phases-ugape",
        plots.phase(stats, x="epsilon", y="n", contours="h_epsilon", title=finding),
        tables.frame(stats, [*COLUMNS, "h_epsilon"]),
        [runs],
        f"Largest failure rate: {float(stats['failure'].max()):.2g}.",
        finding=finding,
        drawn="Mean pulls of UGapEc as colour, lines of equal complexity H_ε dashed: where the colour changes "
        "along a line, the logarithm of the theorem does it.",
        settings=f"One Bernoulli arm with mean {_BEST}, the others with mean {_REST}; δ = {_DELTA}, {size.seeds} "
        "runs a cell.",
        alt="Colours of mean pulls over accuracy and number of arms, with dashed lines of H_ε.",
    )
