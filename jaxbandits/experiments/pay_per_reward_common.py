"""What the parts of the experiment on pay-per-reward share."""

import xarray as xr

__all__ = ["COLUMNS", "COST_OVER_W", "DELTA", "EPSILON", "MAB", "RACE", "UNION", "over_weight"]

EPSILON, DELTA = 0.1, 0.1
MAB, RACE, UNION = "MAB-PPR, practical", "Bernstein race", "union bound, Hoeffding"
COLUMNS = ["runs", "cost_mean", "cost_low", "cost_high", "failure", "failure_low", "failure_high"]
COST_OVER_W = "cost / W"


def over_weight(ds: xr.Dataset, weight: float) -> xr.Dataset:
    """Runs with their costs in units of W, the sum of all means."""
    return ds.assign(cost=ds["cost"] / weight, paid=ds["paid"] / weight)
