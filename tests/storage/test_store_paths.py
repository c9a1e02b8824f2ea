"""Where a store may be: on this machine, by a path that leads somewhere; on a read-only disk once it is complete."""

import os
from pathlib import Path

import pytest
import xarray as xr

import jaxbandits as jb
from jaxbandits.sweeps import stored


def made(store, seeds=10, budgets=(10, 20), **options):
    return jb.sweep(jb.Uniform(budget=jb.axis(budgets)), jb.bernoulli([0.9, 0.4]), seeds, store=store, **options)


def test_a_tilde_is_the_users_folder(tmp_path, monkeypatch):
    """The blocks were in a folder `~`, the arrays in the user's, and the sweep ended in an error."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    made("~/grid.zarr", 5)
    made("~/other.zarr", 5, first_seed=5)
    assert sorted(path.name for path in tmp_path.glob("*.zarr")) == ["grid.zarr", "other.zarr"]
    assert jb.merge(["~/grid.zarr", "~/other.zarr"], store="~/both.zarr").sizes["seed"] == 10
    assert jb.compact("~/both.zarr").blocks == 1
    assert not Path("~").exists()


@pytest.mark.parametrize(
    ("store", "message"),
    [
        ("s3://bucket/grid.zarr", "must be on this machine, and 's3://bucket/grid.zarr' is an address"),
        (Path("gs://bucket/grid.zarr"), "must be on this machine"),
        ("file:///tmp/grid.zarr", "must be on this machine"),
        (5, "must be the path of a file or a folder, got 5"),
        ("link.zarr", "link.zarr is a link to .*gone.zarr, which does not exist"),
    ],
)
def test_a_path_that_leads_nowhere_is_refused_before_any_run(tmp_path, monkeypatch, store, message):
    """Addresses of buckets became folders of this machine."""
    monkeypatch.chdir(tmp_path)
    Path("link.zarr").symlink_to(tmp_path / "disk" / "gone.zarr")
    for call in (made, jb.compact, lambda path: jb.compare(jb.bernoulli([0.9, 0.4]), budget=20, seeds=5, store=path)):
        with pytest.raises(jb.UsageError, match=message):
            call(store)
    assert [path.name for path in tmp_path.iterdir()] == ["link.zarr"]


def test_a_complete_store_is_read_from_a_read_only_disk(tmp_path, monkeypatch):
    whole = made(tmp_path / "grid.zarr").load()

    def refused(*_):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(os, "access", lambda *_: False)
    monkeypatch.setattr(stored, "writing", refused)
    xr.testing.assert_identical(made(tmp_path / "grid.zarr"), whole)
    assert made(tmp_path / "grid.zarr", 5, (20,)).pulls.shape == (1, 5)
    for seeds, budgets in ((11, (10, 20)), (10, (10, 30))):  # what is missing must be written
        with pytest.raises(OSError, match="Read-only"):
            made(tmp_path / "grid.zarr", seeds, budgets)


def test_a_summary_says_that_it_keeps_no_metric_of_arms(tmp_path):
    metrics = {"each": lambda problem, state, returned: state.pulls, "all": lambda problem, state, returned: state.time}
    with pytest.warns(UserWarning, match='keep="summary" keeps no metric with a number for each arm, each: keep='):
        found = made(tmp_path / "grid.zarr", keep="summary", metrics=metrics)
    assert "all_mean" in found
    assert "each_mean" not in found


@pytest.mark.parametrize("name", ["K/2", "blocks", "zarr.json", ".zattrs", "..", "a\0b", "x" * 256])
def test_a_name_that_no_array_of_a_store_can_have_is_refused_before_any_run(tmp_path, name):
    """The values of an axis with a slash were lost; the others ended in an OSError after all runs."""
    rule = jb.Uniform(budget=jb.axis([10, 20], name=name))
    with pytest.raises(jb.UsageError, match=r"grid.zarr can have no array called .*: give the axis or metric another"):
        jb.sweep(rule, jb.bernoulli([0.9, 0.4]), 5, store=tmp_path / "grid.zarr")
    assert not list(tmp_path.iterdir())
    assert jb.sweep(rule, jb.bernoulli([0.9, 0.4]), 5)[name].values.tolist() == [10, 20]


def test_a_metric_called_blocks(tmp_path):
    """The blocks of NAME.zarr are in a folder of this name."""
    metrics = {"blocks": lambda problem, state, returned: state.time}
    with pytest.raises(jb.UsageError, match="can have no array called 'blocks'"):
        made(tmp_path / "grid.zarr", 5, metrics=metrics)
    assert (made(tmp_path / "grid.zarr", 5, metrics=metrics, keep="summary")["blocks_mean"] == [10, 20]).all()
    assert made(tmp_path / "grid.nc", 5, metrics=metrics)["blocks"].shape == (2, 5)
