"""The command line beside others: readers that leave early, and stores that are named from inside."""

import json
import os
import subprocess
import sys

import pytest

import jaxbandits as jb
from jaxbandits.cli import main

PYTHON = f"{sys.executable} -m jaxbandits.cli"


def shell(line, **options):
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", line], capture_output=True, text=True, env=os.environ, **options
    )


@pytest.mark.parametrize(
    "line",
    [
        f"{PYTHON} list | head -3",
        pytest.param(f"{PYTHON} list 2>&1 | true", marks=pytest.mark.slow),
        pytest.param(f"{PYTHON} --help | head -1", marks=pytest.mark.slow),
    ],
)
def test_a_reader_that_leaves_is_no_failure(line):
    """Status 1 of `list | head -3` stopped scripts with `set -o pipefail`."""
    done = shell(line)
    assert done.returncode == 0
    assert done.stderr == ""


@pytest.mark.slow
def test_a_disk_that_is_full_and_no_stdout_at_all():
    done = shell(f"{PYTHON} list > /dev/full")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    done = shell(f"{PYTHON} list >&-")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_stderr_that_is_closed_changes_nothing_else(monkeypatch, capsys):
    """With `2>&-` commands with a progress bar ended in `AttributeError`, and errors went to stdout."""
    line = ["simulate", "uniform", "--problem", "bernoulli:0.7,0.5", "--set", "budget=4", "--seeds", "3", "--json"]
    assert main(line) == 0
    usual = json.loads(capsys.readouterr().out)
    monkeypatch.setattr(sys, "stderr", None)
    assert main(line) == 0
    assert json.loads(capsys.readouterr().out)["mean_pulls"] == usual["mean_pulls"]
    assert main(["simulate", "nope", "--problem", "bernoulli:0.7,0.5"]) == 2
    assert capsys.readouterr().out == ""
    assert sys.stderr is None


def test_a_store_is_named_from_inside_too(tmp_path, monkeypatch, capsys):
    """`status .` ended in pathlib's "has an empty name"."""
    store = tmp_path / "grid.zarr"
    jb.sweep(jb.Uniform(budget=9), jb.bernoulli([0.7, 0.5]), seeds=3, store=store)
    monkeypatch.chdir(store)
    assert main(["status", "."]) == 0
    assert "3 of 3" in capsys.readouterr().out
    assert main(["plot", ".", "--kind", "distribution", "--out", str(tmp_path / "a.png")]) == 0
    monkeypatch.chdir(store / "blocks")
    assert main(["status", ".."]) == 0
    capsys.readouterr()


@pytest.mark.parametrize("command", [["status"], ["plot", "--kind", "curve", "--out", "a.png"]])
@pytest.mark.parametrize("place", [".", "..", "/"])
def test_a_folder_that_is_no_store_is_one_line(place, command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main([command[0], place, *command[1:]]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.endswith("is not a store of results\n")
    assert told.err.count("\n") == 1


def test_merging_folders_that_are_no_stores_is_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["merge", ".", ".", "--out", "z.zarr"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
