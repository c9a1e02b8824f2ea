"""Differences and ratios of labels, such as algorithms, over the seeds that they share."""

import numpy as np
import xarray as xr

from jaxbandits.report import paired_intervals
from jaxbandits.report.paired_intervals import Interval
from jaxbandits.report.pairing import Labelled, labelled, place_of, seeds_left_out
from jaxbandits.report.summaries import check_names

__all__ = ["difference", "ratio"]

_T_DIFFERENCE = "Student's t of paired differences"
_P_DIFFERENCE = "Tango (1998), score interval of paired proportions"
_T_RATIO = "Fieller (1954), paired means"
_P_RATIO = "Bonett and Price (2006), paired proportions, hybrid Wilson"


def difference(
    ds: object, value: str = "pulls", along: str = "algorithm", to: object = None, level: float = 0.95
) -> xr.Dataset:
    """Return the mean difference to one label, over the seeds that both have, with a paired interval.

    Runs with the same seed see the same rewards (common random numbers). Their differences vary less than their values,
    which makes the interval narrower than that of two separate means.

    Args:
        ds: runs, as `simulate` and `sweep` return them, with a dimension `along`. Or Datasets of runs by their labels,
            `{"ugapec": one, "lucb": other}`, which are joined along a new dimension; their root seeds are then
            compared. (`xr.concat` keeps the attributes of its first Dataset only: other root seeds go unnoticed.)
        value: a variable of every run, such as `pulls` or a metric, or `failure`, the rate of wrong answers.
        along: the dimension whose values are compared; any, such as `algorithm` or `epsilon`.
        to: the value of `along` that is subtracted; None for the first.
        level: level of each interval, in (0, 1).

    Returns:
        A Dataset over the grid, without the label `to`. `difference` is the mean over the pairs of the label's value
        minus that of `to`, `low` and `high` are its interval, float64 each. It is Student's t interval of paired
        differences, NaN from fewer than two pairs. Skewed differences need more of them. Of two rules that mostly stop
        together, an interval of 95% holds with a probability of 0.91 with 100 pairs, and 0.95 with 1000.
        `tests/report/test_paired_differences.py` measures it. Of truth values and `failure` it is the score interval of
        Tango (1998) for paired proportions, which is without 0 where McNemar's test finds a difference. `runs` counts
        the complete pairs and `left_out` the seeds without one, since a run or its value is missing, int64. `truncated`
        and `truncated_to`, int64, count the pairs in which the run of the label, or of `to`, is truncated. The
        difference of pulls, cost, steps or reward is then a bound only. `high` is infinite with `truncated` above 0,
        and `low` is minus infinity with `truncated_to` above 0. Of other values no run counts as truncated. The
        attributes `left_out` and `truncated` say so in words.

    Raises:
        UsageError: not runs; an unknown dimension, variable or label; a single label; runs that are not paired, since
            root seeds differ or `independent=True` gave each cell its own rewards; a level outside (0, 1).

    Example:
        The paired interval of UGapEc minus LUCB is narrower than that of a difference of separate means::

            >>> import jaxbandits as jb
            >>> problem, same = jb.bernoulli([0.9, 0.6]), {"epsilon": 0.1, "delta": 0.1}
            >>> runs = {"ugapec": jb.simulate(jb.UGapEc(**same), problem, seeds=100),
            ...         "lucb": jb.simulate(jb.LUCB(**same), problem, seeds=100)}
            >>> paired = jb.difference(runs, "pulls", to="lucb")
            >>> separate = [jb.summary(one) for one in runs.values()]
            >>> apart = sum(float(one.pulls_high - one.pulls_mean) ** 2 for one in separate) ** 0.5
            >>> bool((paired.high - paired.difference) < 0.8 * apart)
            True

    Source: T. Tango (1998), "Equivalence test and confidence interval for the difference in proportions for the
    paired-sample design", Statistics in Medicine 17(8), 891-908.
    """
    return _compare(labelled(ds, value, along, level), value, to, level, "difference")


def ratio(
    ds: object, value: str = "pulls", along: str = "algorithm", to: object = None, level: float = 0.95
) -> xr.Dataset:
    """Return the ratio of means to that of one label, over the seeds that both have, with a paired interval.

    Args:
        ds: as in `jaxbandits.difference`, as are the other arguments.
        value: a variable of every run, such as `pulls`, or `failure`.
        along: the dimension whose values are compared.
        to: the value of `along` whose mean is the divisor; None for the first.
        level: level of each interval, in (0, 1).

    Returns:
        The Dataset that `jaxbandits.difference` returns, with `ratio` in place of `difference`. The interval of a ratio
        of means is that of Fieller (1954), which is unbounded where the divisor's mean may be 0. The interval of a
        ratio of rates is the hybrid Wilson interval of Bonett and Price (2006). With truncated runs `high` is infinite;
        with truncated runs of `to` `low` is 0, or minus infinity where values are negative. The ratio is NaN where both
        rates are 0.

    Raises:
        UsageError: as `jaxbandits.difference`.

    Example:
        >>> import jaxbandits as jb, xarray as xr
        >>> pulls = [[12, 14, 15, 13], [10, 10, 11, 9]]
        >>> ds = xr.Dataset({"pulls": (("algorithm", "seed"), pulls)}, {"algorithm": ["ugapec", "lucb"]})
        >>> found = jb.ratio(ds, "pulls", to="lucb")
        >>> found.ratio.values.round(3), found.low.values.round(3), found.high.values.round(3)
        (array([1.35]), array([1.189]), array([1.523]))

    Source: E. C. Fieller (1954), "Some problems in interval estimation", Journal of the Royal Statistical Society B
    16(2), 175-185. D. G. Bonett and R. M. Price (2006), "Confidence intervals for a ratio of binomial proportions based
    on paired data", Statistics in Medicine 25(17), 3039-3047.
    """
    return _compare(labelled(ds, value, along, level), value, to, level, "ratio")


def _compare(found: Labelled, value: str, to: object, level: float, kind: str) -> xr.Dataset:
    runs, along, labels, dims = found
    place = 0 if to is None else place_of(to, labels, along)
    others = [i for i in range(len(labels)) if i != place]
    first, truncated = runs.values.isel({along: others}), runs.truncated.isel({along: others})
    second, truncated_to = (array.isel({along: place}, drop=True) for array in (runs.values, runs.truncated))
    not_run = runs.not_run.isel({along: others}) | runs.not_run.isel({along: place}, drop=True)
    second, truncated_to = (xr.broadcast(array, first)[0].transpose(*first.dims) for array in (second, truncated_to))
    methods = {
        ("difference", False): (paired_intervals.mean_difference, _T_DIFFERENCE),
        ("difference", True): (paired_intervals.proportion_difference, _P_DIFFERENCE),
        ("ratio", False): (paired_intervals.mean_ratio, _T_RATIO),
        ("ratio", True): (paired_intervals.proportion_ratio, _P_RATIO),
    }
    method, source = methods[kind, runs.is_truth]
    complete = first.notnull() & second.notnull()
    counts = {
        "runs": complete.sum("seed"),
        "left_out": (~complete).sum("seed"),
        "truncated": (truncated & complete).sum("seed"),
        "truncated_to": (truncated_to & complete).sum("seed"),
    }
    interval = method(first.values, second.values, (1 - level) / 2)
    least = 0.0 if kind == "ratio" and not bool((runs.values < 0).any()) else -np.inf
    interval = Interval(
        interval.estimate,
        np.where(counts["truncated_to"].values > 0, least, interval.low),
        np.where(counts["truncated"].values > 0, np.inf, interval.high),
    )
    cell = counts["runs"].drop_attrs(deep=False)
    about = str(runs.values.attrs.get("long_name", value.replace("_", " ")))
    units = {"units": runs.values.attrs["units"]} if kind == "difference" and "units" in runs.values.attrs else {}
    long_name = f"{kind} of {about} to {along} {labels[place]}"
    variables = {
        kind: cell.copy(data=interval.estimate).assign_attrs(
            long_name=long_name, interval=f"{source}, {100 * level:g}%", **units
        ),
        "low": cell.copy(data=interval.low),
        "high": cell.copy(data=interval.high),
        **{name: count.drop_attrs(deep=False).astype(np.int64) for name, count in counts.items()},
    }
    check_names(runs.values, variables)
    attrs = {**runs.attrs, "value": value, "along": along, "to": str(labels[place]), "level": level}
    if said := seeds_left_out(runs.values, complete | not_run):
        attrs["left_out"] = said
    total = int(runs.truncated.sum())
    if total:
        attrs["truncated"] = (
            f"{total} of {runs.truncated.size} runs are truncated: where truncated or truncated_to is above 0, the "
            f"{kind} is a bound only"
        )
    made = xr.Dataset(variables, attrs=attrs).drop_vars("seed", errors="ignore")
    return made.transpose(*dims)
