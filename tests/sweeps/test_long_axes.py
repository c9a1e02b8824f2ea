"""Datasets with many seeds and many values: their places are looked up, not searched for in lists."""

import numpy as np
import pytest
import xarray as xr

import jaxbandits as jb
from jaxbandits.storage.layout import numbers_of_values
from tests.list_searches import long_searches

PROBLEM = jb.bernoulli([0.7, 0.4])


def runs(budgets, **options):
    """Return runs of some budgets."""
    return jb.sweep(jb.SuccessiveRejects(budget=jb.axis(budgets)), PROBLEM, **options)


@pytest.mark.slow
def test_seeds_are_merged():
    whole = runs([10, 20], seeds=500)
    parts = [runs([10, 20], seeds=250, first_seed=first) for first in (250, 0)]
    found, number = long_searches(lambda: jb.merge(parts))
    xr.testing.assert_equal(found, whole)
    assert number == 0


@pytest.mark.slow
def test_values_are_merged_repeated_and_read_from_a_store(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    budgets = list(range(10, 260))
    whole = runs(budgets, seeds=2, store="whole.zarr")
    found, number = long_searches(
        lambda: jb.merge([whole.isel(budget=slice(0, None, 2)), whole.isel(budget=slice(1, None, 2))])
    )
    assert number == 0
    xr.testing.assert_equal(found, whole)
    chosen = whole.isel(budget=np.arange(249, 0, -2))
    found, number = long_searches(lambda: jb.repeat(chosen))
    assert number == 0
    xr.testing.assert_equal(found.pulls, chosen.pulls.transpose(*found.pulls.dims))
    found, number = long_searches(lambda: runs(budgets[::2], seeds=2, store="whole.zarr"))
    assert number == 0
    xr.testing.assert_equal(found.pulls, whole.pulls[::2])


def test_a_value_has_the_place_where_it_is_first():
    assert numbers_of_values(["a", 1, 1.0, "b", "a"]) == {"a": 0, 1: 1, "b": 3}
