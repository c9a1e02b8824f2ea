"""A Dataset is repeated exactly as it is, or one line says why not; never another grid."""

import json
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr

import jaxbandits as jb
from jaxbandits.cli import main
from jaxbandits.storage.consolidate import read_store

TABLE = "day,a,b,c\nmon,0.1,0.2,0.9\ntue,0.9,0.5,0.4\nwed,0.5,0.5,0.1\n"


@pytest.fixture(scope="module")
def grid():
    """Two axes and a label that looks like a specification."""
    algorithm = jb.UGapEc(epsilon=jb.axis([0.1, 0.2, 0.4]), delta=jb.axis([0.1, 0.3]))
    return jb.sweep(algorithm, jb.bernoulli([0.7, 0.5, 0.4], name="clicks: home page"), seeds=12, root_seed=3)


def same(again, wanted):
    """Also the coordinates, and so the cells and seeds; order of dimensions aside."""
    for name in wanted.data_vars:
        xr.testing.assert_identical(again[name].drop_attrs(), wanted[name].drop_attrs().transpose(*again[name].dims))
    assert again.attrs["problem"] == wanted.attrs["problem"]


def test_a_whole_dataset(grid):
    again = jb.repeat(grid)
    same(again, grid)
    assert again.attrs["problem"] == "clicks: home page"
    assert again.attrs["spec"] == grid.attrs["spec"]


SELECTIONS = {
    "one cell": lambda ds: ds.sel(epsilon=0.1, delta=0.3),
    "one value": lambda ds: ds.sel(epsilon=0.2),
    "some, in another order": lambda ds: ds.isel(epsilon=[2, 0]),
    "first seeds": lambda ds: ds.isel(seed=slice(5)),
    "later seeds of some": lambda ds: ds.isel(seed=[7, 3], delta=0).sel(epsilon=[0.4]),
    "one seed": lambda ds: ds.isel(seed=4),
    "transposed": lambda ds: ds.transpose("seed", ...),
    "put together again": lambda ds: xr.concat([ds.sel(epsilon=[0.4]), ds.sel(epsilon=[0.1])], "epsilon"),
}


@pytest.mark.parametrize("name", SELECTIONS)
def test_a_selection(name, grid):
    chosen = SELECTIONS[name](grid)
    again = jb.repeat(chosen)
    same(again, chosen)
    same(jb.repeat(again), chosen)


def test_seeds_are_as_many_as_asked(grid):
    chosen = grid.sel(epsilon=0.1, delta=0.1).isel(seed=[3])
    assert jb.repeat(chosen, seeds=12).equals(grid.sel(epsilon=0.1, delta=0.1))
    assert jb.repeat(jb.summary(grid)).equals(grid)


REFUSED = {
    "another value": (
        lambda ds: ds.assign_coords(epsilon=[0.1, 0.2, 0.3]),
        r"epsilon=0\.3 is not in the spec",
    ),
    "a value twice": (lambda ds: ds.isel(epsilon=[0, 0]), r"has epsilon=0\.1 more than once"),
    "a seed twice": (lambda ds: xr.concat([ds, ds], "seed"), "has seed=0 more than once"),
    "later seeds": (lambda ds: ds.assign_coords(seed=ds.seed + 5), "the seeds 5 to 16 and its specification 0 to 11"),
    "no seeds": (lambda ds: ds.isel(seed=[]), "has no runs"),
    "seeds averaged": (lambda ds: ds.mean("seed", keep_attrs=True), "does not say which seeds"),
    "a summary of some": (lambda ds: jb.summary(ds.isel(seed=slice(5))), "does not say which seeds"),
    "an axis dropped": (lambda ds: ds.sel(epsilon=0.1, drop=True), "no longer says which epsilon"),
    "a further dimension": (lambda ds: xr.concat([ds, ds], "algorithm"), "a dimension 'algorithm' that"),
    "no specification": (lambda ds: ds.drop_attrs(), "has no spec attribute"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_another_grid_is_never_run(name, grid, monkeypatch):
    monkeypatch.setattr("jaxbandits.sweeps.rerun.sweep", None)
    change, message = REFUSED[name]
    with pytest.raises(jb.UsageError, match=message) as error:
        jb.repeat(change(grid))
    assert "\n" not in str(error.value)


@pytest.mark.slow
def test_checkpoints_and_families():
    family = jb.linear(n=jb.axis([3, 4], name="number of arms"))
    ds = jb.sweep(jb.UGapEc(epsilon=0.3, delta=0.3), family, seeds=4, checkpoints=[5, 50, 500])
    for chosen in (ds, ds.isel({"number of arms": 1}), ds.sel(checkpoint=[5, 500]), ds.sel(checkpoint=50)):
        again = jb.repeat(chosen)
        for name in ("pulls", "correct", "status"):
            xr.testing.assert_equal(again[name], chosen[name])
    with pytest.raises(jb.UsageError, match="checkpoint=51 is not in the specification"):
        jb.repeat(ds.assign_coords(checkpoint=[5, 51, 500]))


def test_a_table_that_changed(tmp_path):
    """The bare name of a file once gave the runs of whatever was in it."""
    file = tmp_path / "returns.csv"
    file.write_text(TABLE, encoding="utf-8")
    algorithm = jb.SuccessiveRejects(budget=30)
    ds = jb.simulate(algorithm, jb.empirical_from_csv(file), seeds=20)
    same(jb.repeat(ds), ds)
    file.rename(tmp_path / "moved.csv")
    with pytest.raises(jb.UsageError, match=r"No such file or directory: give it again, problem=…$"):
        jb.repeat(ds)
    moved = jb.repeat(ds, problem=jb.empirical_from_csv(tmp_path / "moved.csv"))
    assert moved.drop_attrs().equals(ds.drop_attrs())
    file.write_text(TABLE.replace("0.4", "0.6"), encoding="utf-8")
    with pytest.raises(jb.UsageError, match="the file no longer holds what the specification was written for"):
        jb.repeat(ds)
    with pytest.raises(jb.UsageError, match=r"not the problem of the Dataset: problem\.sha256 .* have changed"):
        jb.repeat(ds, problem=jb.empirical_from_csv(file))
    old = json.loads(ds.attrs["spec"])
    old["problem"] = {"spec": str(file)}  # as it was written before files were hashed
    with pytest.raises(jb.UsageError, match=r"names the data of .*returns\.csv and not what they held"):
        jb.repeat(ds.assign_attrs(spec=json.dumps(old)))


@pytest.mark.slow
def test_data_that_only_the_user_has():
    table = np.random.default_rng(0).random((4000, 3))
    ds = jb.simulate(jb.SuccessiveRejects(budget=30), jb.empirical(table, name="mine"), seeds=20)
    with pytest.raises(jb.UsageError, match=r"problem mine cannot be made again: its samples, 4,000 x 3 .*problem=…"):
        jb.repeat(ds)
    same(jb.repeat(ds, problem=jb.empirical(table, name="mine")), ds)
    with pytest.raises(jb.UsageError, match=r"this is not the problem of the Dataset: problem\.samples\.sha256"):
        jb.repeat(ds, problem=jb.empirical(table + 1e-9, name="mine"))
    with pytest.raises(jb.UsageError, match="a problem is needed"):
        jb.repeat(ds, problem=table)
    small = jb.simulate(jb.SuccessiveRejects(budget=30), jb.empirical(table[:9], joint=True), seeds=20)
    same(jb.repeat(small), small)


@jb.algorithm
class Uniform:
    """A user's own, called like one of the package's."""

    rounds: Any

    def select(self, arms, key):
        return jnp.argmin(arms.pulls)

    def done(self, arms):
        return arms.time >= self.rounds * arms.count

    def recommend(self, arms):
        return jnp.argmax(arms.mean)


def test_an_algorithm_that_only_the_user_has():
    ds = jb.sweep(Uniform(jb.axis([3, 9])), jb.bernoulli([0.7, 0.5, 0.4]), seeds=5)
    with pytest.raises(jb.UsageError, match=r"algorithm Uniform cannot be made again: .*give it again, algorithm=…"):
        jb.repeat(ds)
    same(jb.repeat(ds.sel(rounds=9), algorithm=Uniform(jb.axis([3, 9]))), ds.sel(rounds=9))
    with pytest.raises(jb.UsageError, match="this is not the algorithm of the Dataset"):
        jb.repeat(ds, algorithm=Uniform(jb.axis([3, 8])))
    with pytest.raises(jb.UsageError, match="this is not the algorithm of the Dataset"):
        jb.repeat(ds, algorithm=jb.Uniform(budget=9))


@pytest.mark.parametrize("name", ["grid.nc", "grid.zarr"])
def test_a_store_of_a_table_that_changed_is_not_complete(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("returns.csv").write_text(TABLE, encoding="utf-8")
    Path("grid.toml").write_text(
        "[algorithm]\nname = 'successive-rejects'\nbudget = { axis = [20, 30] }\n"
        "[problem]\nspec = 'returns.csv'\nlabel = 'clicks: home page'\n[run]\nseeds = 20\n"
    )
    command = ["sweep", "grid.toml", "--out", name]
    assert main(command) == 0
    ds = read_store(Path(name))
    assert ds.attrs["problem"] == "clicks: home page"
    same(jb.repeat(ds.sel(budget=30)), ds.sel(budget=30))
    assert main([*command, "--resume"]) == 0
    assert "complete" in capsys.readouterr().out
    Path("returns.csv").write_text(TABLE.replace("0.4", "0.6"), encoding="utf-8")
    assert main([*command, "--resume"]) == 2
    error = capsys.readouterr().err
    assert f"{name} was written by another specification: problem.sha256 is " in error
    assert error.endswith("here, the data have changed\n")


def test_a_store_of_moments_says_how_many_runs_it_had(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("grid.toml").write_text(
        "[algorithm]\nname = 'ugape-c'\nepsilon = 0.2\ndelta = 0.1\n[problem]\nspec = 'bernoulli:0.7,0.5,0.4'\n"
        "[run]\nseeds = 7\nkeep = 'moments'\n"
    )
    assert main(["sweep", "grid.toml", "--out", "grid.nc"]) == 0
    moments = read_store(Path("grid.nc"))
    assert jb.repeat(moments)["pulls"].mean() == moments["pulls_mean"]
