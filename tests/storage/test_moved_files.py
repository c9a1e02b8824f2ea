"""Of data in files the content counts, wherever they lie now and whatever they are called."""

import json
from pathlib import Path

import pytest

import jaxbandits as jb
from jaxbandits.cli import main
from jaxbandits.storage.consolidate import read_store

TABLES = {
    "first": "a,b,c\n0.1,0.2,0.9\n0.9,0.5,0.4\n0.5,0.5,0.1\n",
    "second": "a,b,c\n0.3,0.1,0.8\n0.2,0.6,0.7\n0.4,0.4,0.2\n",
    "third": "a,b,c\n0.9,0.8,0.1\n0.1,0.2,0.3\n0.5,0.4,0.6\n",
    "fourth": "a,b,c\n0.1,0.8,0.9\n0.3,0.2,0.1\n0.5,0.4,0.6\n",
}
RULE = jb.SuccessiveRejects(budget=30)


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("data").mkdir()

    def put(**paths):
        for name, path in paths.items():
            Path(path).write_text(TABLES[name], encoding="utf-8")

    return put


def sweep(paths, seeds=4, **options):
    return jb.sweep(RULE, jb.empirical_from_csv(jb.axis(paths) if isinstance(paths, list) else paths), seeds, **options)


@pytest.mark.parametrize("name", ["grid.zarr", "grid.nc"])
def test_a_store_is_added_to_from_another_path(name, files):
    files(first="a.csv")
    ds = sweep("a.csv", store=name).load()
    Path("a.csv").rename("data/b.csv")
    files(second="a.csv")
    more = sweep("data/b.csv", 6, store=name).load()
    assert more.isel(seed=slice(4)).drop_attrs().equals(ds.drop_attrs())
    assert more.drop_attrs().equals(sweep("data/b.csv", 6).drop_attrs())
    with pytest.raises(jb.UsageError, match=r"problem\.sha256 is .* the data have changed$"):
        sweep("a.csv", 6, store=name)


def test_parts_from_two_paths_are_united(files):
    files(first="a.csv")
    files(first="data/b.csv", second="c.csv")
    one, other = sweep("a.csv", store="one.zarr").load(), sweep("data/b.csv", first_seed=4, store="other.zarr").load()
    wanted = sweep("a.csv", 8)
    assert jb.merge([one, other]).equals(wanted)
    assert jb.merge(["one.zarr", "other.zarr"], store="both.zarr").equals(wanted)
    with pytest.raises(jb.UsageError, match=r"the data have changed$"):
        jb.merge([one, sweep("c.csv", first_seed=4)])


def test_files_along_an_axis_are_told_by_their_content(files):
    files(first="a.csv", second="b.csv")
    wanted = sweep(["a.csv", "b.csv"], 6)
    ds = sweep(["a.csv", "b.csv"], store="grid.zarr").load()
    assert ds.isel(seed=0).path.values.tolist() == ["a.csv", "b.csv"]
    # Each has the other's name now.
    files(first="b.csv", second="a.csv")
    more = sweep(["b.csv", "a.csv"], 6, store="grid.zarr").load()
    assert more.path.values.tolist() == ["b.csv", "a.csv"]
    assert (more.recommended.values == wanted.recommended.values).all()
    assert jb.repeat(more).equals(more)
    # In a folder, in another order, and one more of them.
    files(first="data/x.csv", second="data/y.csv", third="data/z.csv")
    all_three = ["data/y.csv", "data/x.csv", "data/z.csv"]
    most = sweep(all_three, 6, store="grid.zarr").load()
    assert most.path.values.tolist() == all_three
    assert (most.recommended.values == sweep(all_three, 6).recommended.values).all()
    assert read_store(Path("grid.zarr")).path.values.tolist() == ["b.csv", "a.csv", "data/z.csv"]
    both = jb.merge([ds, sweep(all_three[1:], 4)])
    assert sorted(both.path.values.tolist()) == ["a.csv", "b.csv", "data/z.csv"]
    # Another file that has the name of one that is there.
    files(fourth="a.csv")
    with pytest.raises(jb.UsageError, match=r"path 'a\.csv' is not the same in all of them: the data have changed$"):
        sweep(["a.csv", "data/x.csv"], 6, store="grid.zarr")


SPECIFICATION = """
[algorithm]
name = "successive-rejects"
budget = 30
[problem]
{problem}
[run]
seeds = 4
"""
WAYS = ['spec = "a.csv"', 'spec = "csv:path=a.csv,joint=false"', 'name = "csv"\npath = "a.csv"', 'spec = "csv:a.csv"']


@pytest.mark.parametrize("way", WAYS)
def test_paths_in_a_file_count_from_its_folder(way, files, monkeypatch, capsys):
    files(first="data/a.csv", second="a.csv")
    Path("data/grid.toml").write_text(SPECIFICATION.format(problem=way), encoding="utf-8")
    assert main(["sweep", "data/grid.toml", "--out", "one.nc"]) == 0
    ds = read_store(Path("one.nc"))
    assert ds.drop_attrs().equals(sweep("data/a.csv").drop_attrs())
    assert json.loads(ds.attrs["spec"])["problem"]["path"] == str(Path("data/a.csv"))
    assert jb.repeat(ds).equals(ds)
    # From another folder it is the same sweep.
    monkeypatch.chdir("data")
    assert main(["sweep", "grid.toml", "--out", "../one.nc", "--resume"]) == 0
    assert "complete" in capsys.readouterr().out
    assert main(["simulate", "successive-rejects", "--set", "budget=30", "--problem", "../a.csv", "--seeds", "4"]) == 0
    Path("a.csv").unlink()
    assert main(["sweep", "grid.toml", "--out", "../one.nc", "--resume"]) == 2
    assert "cannot read a.csv" in capsys.readouterr().err


def test_paths_of_instances_count_from_the_folder_of_their_file(files, capsys):
    files(first="data/a.csv")
    Path("data/tune.toml").write_text(
        '[algorithm]\nname = "ucb-e"\nbudget = 30\na = 2.0\n[instances]\nname = "reservoir-table"\npath = "r.csv"\n'
        'beta = { uniform = [0.5, 1.5] }\n[tune]\nwrt = ["a"]\nsteps = 1\n',
        encoding="utf-8",
    )
    assert main(["tune", "data/tune.toml", "--out", "tuned.nc"]) == 2
    assert f"cannot read {Path('data/r.csv')}" in capsys.readouterr().err
    Path("data/r.csv").write_text("reward,cost\n0.5,0.5\n0.2,0.4\n", encoding="utf-8")
    main(["tune", "data/tune.toml", "--out", "tuned.nc"])  # in whose steps it is read again
    assert f"UCBE looks at rewards only: reservoir-table:path={Path('data/r.csv')}" in capsys.readouterr().err
