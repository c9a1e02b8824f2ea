"""What has no dimension, the summary of one cell or a gradient in one parameter, is a table of one row."""

import pickle

import pytest
import xarray as xr

import jaxbandits as jb

UGAPE, ARMS = jb.UGapEc(epsilon=0.3, delta=0.1), jb.bernoulli([0.8, 0.4])


def test_a_summary_of_one_cell_is_a_row():
    found = jb.summary(jb.simulate(UGAPE, ARMS, seeds=5))
    table = found.to_dataframe()
    assert table.shape == (1, len(found.data_vars))
    assert table["pulls_mean"].iloc[0] == float(found.pulls_mean)
    assert isinstance(found, xr.Dataset)
    assert repr(found).startswith("<xarray.Dataset>")
    assert pickle.loads(pickle.dumps(found)).identical(found)


def test_a_grid_is_a_row_for_each_cell_and_its_parts_know_their_place():
    grid = jb.sweep(jb.UGapEc(epsilon=jb.axis([0.3, 0.4]), delta=0.1), ARMS, seeds=5)
    assert jb.summary(grid).to_dataframe().index.tolist() == [0.3, 0.4]
    row = jb.summary(grid.isel(epsilon=1)).to_dataframe()
    assert row["epsilon"].tolist() == [0.4]


def test_a_gradient_in_one_parameter_is_a_row():
    found = jb.gradients.expected("pulls", UGAPE, ARMS, wrt="epsilon", seeds=5)
    assert found.to_dataframe()["gradient"].tolist() == [float(found.gradient)]
    several = jb.gradients.expected("pulls", UGAPE, ARMS, wrt=["epsilon", "delta"], seeds=5)
    assert len(several.to_dataframe()) == 1


@pytest.mark.parametrize("ending", ["nc", "zarr"])
def test_a_store_of_one_cell_is_a_row(ending, tmp_path):
    with jb.simulate(UGAPE, ARMS, seeds=5, store=tmp_path / f"one.{ending}", keep="summary") as found:
        assert found.to_dataframe()["runs"].tolist() == [5]
