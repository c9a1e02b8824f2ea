"""Which labels, such as algorithms, may be the best: multiple comparisons with the best, from paired runs."""

from typing import Any

import numpy as np
import xarray as xr

from jaxbandits.errors import UsageError
from jaxbandits.report import paired_intervals
from jaxbandits.report.pairing import labelled, seeds_left_out
from jaxbandits.report.summaries import check_names

__all__ = ["find_best"]

#: Values of which the largest is the best.
_LARGEST = frozenset({"correct", "reward"})


def find_best(
    ds: object, value: str = "pulls", along: str = "algorithm", level: float = 0.95, *, largest: bool | None = None
) -> xr.Dataset:
    """Return which labels cannot be distinguished from the best, and how far each is from the best of the others.

    The set of these labels contains the best one with probability at least `level`, in each cell of the remaining
    dimensions. The intervals of all labels of a cell hold together with the same probability.

    Args:
        ds: runs, or Datasets of runs by their labels, as in `jaxbandits.difference`.
        value: a variable of every run, such as `pulls` or a metric, or `failure`.
        along: the dimension whose values are compared.
        level: probability that the set contains the best, and that all intervals of a cell hold, in (0, 1).
        largest: whether the largest mean is the best; None for the largest of `correct` and `reward`, else the
            smallest.

    Returns:
        A Dataset over the grid. `among_best`, bool, is whether the label may be the best. `difference`, float64, is its
        mean minus the best mean of the other labels: below 0 for the best, where the smallest is. `low` and `high`,
        float64, are the interval of the difference of the true means. One end is 0 where the label is known to be the
        best, or known not to be; an end is infinite where truncated runs leave it open. From fewer than two runs both
        are NaN, and every label is among the best. `mean`, float64, is over the seeds that all labels of the cell have.
        `runs` counts these seeds, `left_out` the others and `truncated` the truncated runs of these, int64 each. The
        mean of truncated runs is a lower bound, and no label is shown to be worse by a mean that may be too small.
        An algorithm that a study has left out on a problem is not among the best there, and is compared with none.

    Raises:
        UsageError: as `jaxbandits.difference`.

    Example:
        >>> import jaxbandits as jb, xarray as xr
        >>> pulls = [[12, 14, 15, 13], [10, 10, 11, 9]]
        >>> ds = xr.Dataset({"pulls": (("algorithm", "seed"), pulls)}, {"algorithm": ["ugapec", "lucb"]})
        >>> jb.find_best(ds, "pulls").among_best.values
        array([False,  True])

    Source: the constrained intervals of J. C. Hsu (1984), "Constrained simultaneous confidence intervals for multiple
    comparisons with the best", Annals of Statistics 12(3), 1136-1144, and (1996), "Multiple Comparisons: Theory and
    Methods", chapter 4. Common random numbers correlate the labels. Each is therefore compared with each by paired
    differences, with Bonferroni's inequality over the k - 1 one-sided comparisons of the best label, as in M. K.
    Nakayama (1997), "Multiple-comparison procedures for steady-state simulations", Annals of Statistics 25(6),
    2433-2450. Upper ends need the labels among the best only: D. G. Edwards and J. C. Hsu (1983), "Multiple
    comparisons with the best treatment", JASA 78(384), 965-971. Differences of rates have one-sided adjusted Wald
    bounds: D. G. Bonett and R. M. Price (2012), "Adjusted Wald confidence interval for a difference of binomial
    proportions based on paired data", Journal of Educational and Behavioral Statistics 37(4), 479-488.
    """
    runs, along, labels, dims = labelled(ds, value, along, level)
    if largest is not None and not isinstance(largest, bool):
        raise UsageError(f"largest must be True, False or None, got {largest!r}")
    sign = -1.0 if (value in _LARGEST if largest is None else largest) else 1.0
    complete = (runs.values.notnull() | runs.not_run).all(along)
    values = runs.values.where(complete).values
    truncated = (runs.truncated & complete).sum("seed")
    there = ~runs.not_run.values  # (…, label)
    tail: Any = np.minimum((1 - level) / np.maximum(there.sum(-1, keepdims=True) - 1, 1), 0.5)
    intervals = paired_intervals
    compare = intervals.wide_proportion_difference if runs.is_truth else intervals.mean_difference
    cut = truncated.values > 0

    # One label after another: all pairs at once would need memory that grows with the square of the labels.
    mean, lower, upper = (np.full(there.shape, -np.inf) for _ in range(3))
    among, compared, numbers = there.copy(), there.sum(-1, keepdims=True) > there, np.arange(len(labels))
    known = compared.copy()
    for i in numbers:
        found = compare(values[..., i : i + 1, :], values, tail)  # i minus j, float64 (…, j), the smallest being best
        low = found.low if sign > 0 else -found.high
        # A truncated mean is too small: i - j has no lower end where j is truncated.
        low = np.where(cut if sign > 0 else cut[..., i : i + 1], -np.inf, low)
        others = there & (numbers != i)
        mean[..., i] = np.where(others, sign * found.estimate, -np.inf).max(-1)
        lower[..., i] = np.where(others, low, -np.inf).max(-1)  # above 0: worse than some other label
        known[..., i] &= ~np.isnan(np.where(others, low, 0.0)).any(-1)
        among[..., i] &= ~(lower[..., i] > 0)
        # The upper end of j - i, of each label j: what is not among the best needs no comparison.
        upper = np.maximum(upper, np.where(among[..., i : i + 1] & (numbers != i), -low, -np.inf))
    difference = np.where(compared, mean, np.nan)
    ends = np.where(known, np.minimum(lower, 0), np.nan), np.where(known, np.maximum(upper, 0), np.nan)
    if sign < 0:
        difference, ends = -difference, (-ends[1], -ends[0])
    cell = truncated.drop_attrs(deep=False)
    about = str(runs.values.attrs.get("long_name", value.replace("_", " ")))
    interval = f"multiple comparisons with the best, Bonferroni, simultaneous, {100 * level:g}%"
    ones = xr.ones_like(cell)
    variables = {
        "among_best": cell.copy(data=among).assign_attrs(long_name=f"cannot be distinguished from the best {about}"),
        "difference": cell.copy(data=difference + 0.0).assign_attrs(
            long_name=f"{about} minus the best of the others", interval=interval
        ),
        "low": cell.copy(data=ends[0] + 0.0),
        "high": cell.copy(data=ends[1] + 0.0),
        "mean": runs.values.where(complete)
        .mean("seed")
        .drop_attrs(deep=False)
        .assign_attrs(long_name=f"mean of {about}"),
        "runs": (ones * complete.sum("seed")).where(~runs.not_run, 0).astype(np.int64),
        "left_out": (ones * (~complete).sum("seed")).where(~runs.not_run, 0).astype(np.int64),
        "truncated": cell.astype(np.int64),
    }
    check_names(runs.values, variables)
    attrs = {
        **runs.attrs,
        "value": value,
        "along": along,
        "level": level,
        "best": "smallest" if sign > 0 else "largest",
    }
    if said := seeds_left_out(runs.values, complete):
        attrs["left_out"] = said
    if total := int(cell.sum()):
        attrs["truncated"] = f"{total} runs are truncated: their means are lower bounds"
    return xr.Dataset(variables, attrs=attrs).drop_vars("seed", errors="ignore").transpose(*dims)
