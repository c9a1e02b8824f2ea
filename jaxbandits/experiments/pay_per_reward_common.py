"""What the figures on pay-per-reward share."""

import xarray as xr

__all__ = ["COLUMNS", "COST_OVER_W", "over_weight"]

COLUMNS = ["runs", "cost_mean", "cost_low", "cost_high", "failure", "failure_low", "failure_high"]
COST_OVER_W = "cost / W"


def over_weight(ds: xr.Dataset, weight: float) -> xr.Dataset:
    """Runs with their costs in units of W, the sum of all means."""
    return ds.assign(cost=ds["cost"] / weight, paid=ds["paid"] / weight)
