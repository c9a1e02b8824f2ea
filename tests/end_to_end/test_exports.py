"""What `jaxbandits export` writes: tables that other programs read."""

import importlib.util
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import jaxbandits as jb
from jaxbandits.cli import main
from jaxbandits.storage.consolidate import read_store

SPECIFICATION = """
[algorithm]
name = "ugape-c"
delta = 0.1
epsilon = { axis = [0.2, 0.4] }
[problem]
spec = "bernoulli:0.7,0.5,0.4"
[run]
seeds = 20
keep = "KEEP"
"""


@pytest.fixture
def store(tmp_path, monkeypatch):
    """Return a function that makes a store, which keeps runs, summaries or moments."""
    monkeypatch.chdir(tmp_path)

    def make(keep="runs"):
        Path("grid.toml").write_text(SPECIFICATION.replace("KEEP", keep))
        assert main(["sweep", "grid.toml", "--out", "grid.zarr"]) == 0
        return "grid.zarr"

    return make


def test_a_row_for_each_cell(store, capsys):
    assert main(["export", store(), "--to", "csv", "--out", "grid.csv"]) == 0
    assert capsys.readouterr().out.endswith("grid.csv\n")
    frame, known = pd.read_csv("grid.csv"), jb.summary(read_store(Path("grid.zarr")))
    assert frame["epsilon"].tolist() == [0.2, 0.4]
    np.testing.assert_allclose(frame["pulls_mean"], known["pulls_mean"], rtol=1e-15)
    np.testing.assert_allclose(frame["failure_high"], known["failure_high"], rtol=1e-15)
    assert frame["runs"].tolist() == [20, 20]


STUDY = """
[[algorithm]]
name = "lucb"
epsilon = 0.4
[[algorithm]]
name = "uniform"
budget = { axis = [30, 60] }
[[problem]]
spec = "bernoulli:0.9,0.2"
[axes]
delta = [0.2, 0.1]
[run]
seeds = 3
"""


def test_a_run_of_a_study_has_one_row(tmp_path, monkeypatch):
    """It had one for each value of an axis that its algorithm lacks: a test of these rows took one run for many."""
    monkeypatch.chdir(tmp_path)
    Path("study.toml").write_text(STUDY)
    assert main(["sweep", "study.toml", "--out", "study.zarr"]) == 0
    assert main(["export", "study.zarr", "--out", "runs.csv", "--runs"]) == 0
    frame, ds = pd.read_csv("runs.csv"), read_store(Path("study.zarr"))
    lucb, uniform = (frame[frame["algorithm"] == name] for name in ("lucb", "uniform"))
    assert (len(lucb), len(uniform)) == (6, 6)
    assert lucb["budget"].isna().all()
    assert uniform["delta"].isna().all()
    assert uniform["budget"].tolist() == [30] * 3 + [60] * 3
    expected = ds["pulls"].sel(algorithm="lucb", problem="bernoulli").isel(budget=0).transpose("delta", "seed")
    assert lucb["pulls"].tolist() == expected.values.ravel().tolist()


def test_a_row_for_each_run(store):
    assert main(["export", store(), "--to", "csv", "--out", "runs.csv", "--runs", "--sel", "epsilon=0.4"]) == 0
    frame, ds = pd.read_csv("runs.csv"), read_store(Path("grid.zarr")).sel(epsilon=0.4)
    assert frame["pulls"].tolist() == ds["pulls"].values.tolist()
    assert frame["seed"].tolist() == list(range(20))


@pytest.mark.slow
def test_a_selection_is_of_the_value_that_is_named(store):
    """A whole number next to it is another one, and truth values are written as in a specification."""
    rules = jb.SequentialHalving(budget=jb.axis([1_000_000, 1_000_001]), reuse=jb.axis([True, False]))
    jb.sweep(rules, jb.bernoulli([0.9, 0.1]), 5, max_pulls=9, store="halving.zarr")
    for reuse in ("true", "True"):
        assert (
            main(["export", "halving.zarr", "--out", "a.csv", "--sel", "budget=1000001", f"reuse={reuse}", "--runs"])
            == 0
        )
        frame = pd.read_csv("a.csv")
        assert set(frame["budget"]) == {1_000_001}
        assert set(frame["reuse"]) == {True}


@pytest.mark.parametrize("keep", ["runs", "summary", "moments"])
def test_latex(store, keep):
    command = ["export", store(keep), "--to", "latex", "--out", "grid.tex", "--columns", "epsilon"]
    assert main([*command, "--value", "pulls"]) == 0
    text = Path("grid.tex").read_text()
    assert "epsilon = 0.2 & epsilon = 0.4" in text
    assert text.endswith("\\end{tabular}\n")


@pytest.mark.parametrize("name", ["t.csv", "t.tex"])
def test_the_ending_says_the_format(store, name):
    made, to = store(), {"t.csv": "csv", "t.tex": "latex"}[name]
    assert main(["export", made, "--out", name]) == 0
    assert main(["export", made, "--to", to, "--out", f"same-{name}"]) == 0
    assert Path(name).read_text() == Path(f"same-{name}").read_text()


def test_parquet(store, capsys):
    name = store()
    there = importlib.util.find_spec("pyarrow") is not None
    assert main(["export", name, "--to", "parquet", "--out", "grid.parquet"]) == (0 if there else 2)
    if there:
        assert pd.read_parquet("grid.parquet")["runs"].tolist() == [20, 20]
    else:
        message = "jaxbandits: --to parquet needs the package pyarrow: pip install pyarrow\n"
        assert capsys.readouterr().err.endswith(message)
        assert not Path("grid.parquet").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--to", "csv", "--out", "a.tex"], "--out must end in .csv, got 'a.tex'"),
        (["--to", "latex", "--out", "a.tex", "--runs"], "--runs has no place in latex"),
        (["--to", "csv", "--out", "a.csv", "--rows", "epsilon"], "--rows has no place in csv"),
        (["--to", "csv", "--out", "a.csv", "--value", "pull"], "unknown metric 'pull'; did you mean 'pulls'"),
        (["--to", "csv", "--out", "a.csv", "--runs", "--value", "pulls"], "--value has no place with --runs"),
        (["--to", "latex", "--out", "a.tex", "--columns", "epsilom"], "unknown dimension 'epsilom'; did you mean"),
        (["--to", "csv", "--out", "a.csv", "--level", "2"], "level must lie strictly between 0 and 1, got 2"),
        (["--to", "csv", "--out", "no/a.csv"], "cannot write to no: No such file or directory"),
        (["--to", "xml", "--out", "a.xml"], "xml"),
        (["--out", "a.xml"], "--out must end in .csv or .parquet or .tex, got 'a.xml'"),
        (["--out", "a.tex", "--runs"], "--runs has no place in latex"),
    ],
)
def test_bad_input_is_refused_in_one_line(store, capsys, options, message):
    name = store()
    capsys.readouterr()
    assert main(["export", name, *options]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_sums_have_no_runs(store, capsys):
    assert main(["export", store("moments"), "--to", "csv", "--out", "a.csv", "--runs"]) == 2
    assert "keeps sums of them" in capsys.readouterr().err
    assert main(["export", "grid.zarr", "--to", "csv", "--out", "a.csv"]) == 0
    assert len(pd.read_csv("a.csv")) == 2
