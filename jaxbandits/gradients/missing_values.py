"""Metrics that some runs do not have, such as the regret of a run that returns no arm: means of those that exist.

Such a mean is a ratio, E[f; f exists] / P(f exists), and so is its gradient.
"""

from collections.abc import Sequence

import xarray as xr

__all__ = ["linearised"]


def linearised(values: xr.DataArray, over: Sequence[str] = ("seed",)) -> xr.DataArray:
    """Return values whose mean is that of the values that exist, and whose spread is that of this mean.

    The ratio is linearised at its estimate (the delta method): mean + (f - mean) / share where f exists, and the mean
    elsewhere. With the mean and the share fixed, a derivative of the expectation is one of the ratio, too.

    Args:
        values: float64, NaN in runs that do not have the metric.
        over: the dimensions that means are taken over.
    """
    there = values.notnull()
    if bool(there.all()):
        return values
    mean, share = values.mean(over), there.mean(over)
    return values.where(share == 1, mean + (values.fillna(mean) - mean) / share).transpose(*values.dims)
