"""The options `batch` and `delay`: axes, repetition, files, stores and the command line."""

import json

import numpy as np
import pytest
import xarray as xr

import jaxbandits as jb
from jaxbandits.cli import main
from jaxbandits.cli.inputs import plan_of
from jaxbandits.sweeps.grid import expand, hash_cells
from jaxbandits.sweeps.platform_options import flight_options

RULE, PROBLEM = jb.SuccessiveRejects(budget=103), jb.bernoulli([0.7, 0.5, 0.4])
SPECIFICATION = """
[algorithm]
name = "uniform"
budget = 40
[problem]
spec = "bernoulli:0.7,0.5,0.4"
[run]
seeds = 5
batch = { axis = [1, 8] }
delay = DELAY
"""


def test_the_options_are_axes_that_are_repeated_and_kept_in_a_store(tmp_path):
    options = {"batch": jb.axis([1, 8]), "delay": jb.axis([0, 25], name="late")}
    ds = jb.sweep(RULE, PROBLEM, 5, **options)
    assert dict(ds.elapsed.sizes) == {"batch": 2, "late": 2, "seed": 5}
    assert json.loads(ds.attrs["spec"])["run"]["delay"] == {"axis": [0, 25], "name": "late"}
    for part in (ds, ds.sel(batch=8), ds.isel(late=[1], seed=slice(2, 4))):
        again = jb.repeat(part)
        for name in part.data_vars:
            np.testing.assert_array_equal(again[name].to_numpy(), part[name].to_numpy(), err_msg=name)
    stored = jb.sweep(RULE, PROBLEM, 5, **options, store=tmp_path / "runs.zarr")
    np.testing.assert_array_equal(stored.elapsed.to_numpy(), ds.elapsed.to_numpy())
    np.testing.assert_array_equal(ds.elapsed.sel(batch=1) - ds.pulls.sel(batch=1), [[0] * 5, [2 * 25] * 5])
    np.testing.assert_array_equal(ds.told, ds.pulls)
    np.testing.assert_array_equal(ds.waits, np.full((2, 2, 5), 2))
    assert float(jb.summary(ds).elapsed_mean.sel(batch=1, late=0)) == ds.pulls.sel(batch=1, late=0).mean()
    with pytest.raises(jb.UsageError, match="delay"):
        jb.sweep(RULE, PROBLEM, 5, batch=options["batch"], delay=3, store=tmp_path / "runs.zarr")


def test_cells_differ_by_their_options_and_those_without_are_as_before():
    plain = hash_cells(expand(RULE, PROBLEM).cells)
    options = [(None, None), (1, 0), (2, 0), (1, 3), (1, "geometric:3"), (1, "uniform:0,3")]
    found = [hash_cells(expand(RULE, PROBLEM, flight_options(*one)).cells).tobytes() for one in options]
    assert found[0] == plain.tobytes()
    assert len(set(found)) == len(options)


def test_a_file_and_the_command_line_take_the_options(tmp_path, capsys):
    path = tmp_path / "grid.toml"
    path.write_text(SPECIFICATION.replace("DELAY", '{ axis = [3, "geometric:3"] }'))
    plan, *_ = plan_of(path)
    found = [(int(cell.flight.batch), cell.flight.law) for cell in plan.cells]
    assert found == [(1, "fixed"), (1, "geometric"), (8, "fixed"), (8, "geometric")]
    path.write_text(SPECIFICATION.replace("DELAY", '"long"'))
    assert main(["sweep", str(path), "--out", str(tmp_path / "runs.zarr")]) == 2
    line = capsys.readouterr().err
    assert "a delay is a number of pulls" in line
    assert "grid.toml, line 10, run.delay" in line
    command = ["simulate", "uniform", "--problem", "bernoulli:0.7,0.5,0.4", "--seeds", "5", "--set", "budget=40"]
    assert main([*command, "--batch", "4", "--delay", "10", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["mean_told"], shown["mean_elapsed"]) == (40, 4 + 10 + 52)
    assert main([*command, "--delay", "soon"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_an_axis_of_lists_is_refused_with_its_place(tmp_path):
    path = tmp_path / "grid.toml"
    path.write_text(SPECIFICATION.replace("DELAY", "{ axis = [[3]] }"))
    with pytest.raises(jb.UsageError, match=r"line 10, run\.delay: a delay is a number of pulls"):
        plan_of(path)


@pytest.mark.slow
def test_datasets_are_merged_by_the_values_of_the_options():
    ds = jb.sweep(
        jb.LUCB(epsilon=0.2, delta=0.1), PROBLEM, 4, batch=jb.axis([1, 4]), delay=jb.axis([0, 3], name="late")
    )
    parts = {
        "one value each": [ds.isel(batch=0), ds.isel(batch=1)],
        "another order": [ds.isel(seed=[0, 1]), ds.isel(seed=[2, 3], batch=[1, 0], late=[1, 0])],
    }
    for case, some in parts.items():
        both = jb.merge(some).sel(batch=ds.batch, late=ds.late).transpose(*ds.dims)
        xr.testing.assert_equal(both.drop_attrs(), ds.drop_attrs())
        np.testing.assert_array_equal(jb.repeat(both).pulls, ds.pulls, err_msg=case)
    with pytest.raises(jb.UsageError, match="no longer says which batch it is of"):
        jb.merge([ds.isel(batch=0, drop=True), ds.isel(batch=1)])
