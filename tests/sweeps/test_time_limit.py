"""A sweep with a time limit stops before it, keeps what has ended, and says how to go on; progress for programs."""

import json
import logging
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
import xarray as xr

import jaxbandits as jb
from jaxbandits.cli import main
from jaxbandits.cli.inputs import plan_of
from jaxbandits.storage.consolidate import read_store
from jaxbandits.sweeps import time_limit
from jaxbandits.sweeps.time_limit import TimeLimit, seconds_of

#: Hours of runs: no machine makes them within these tests.
ENDLESS = """
[algorithm]
name = "ugape-c"
epsilon = { axis = [0.3, 0.2, 0.01, 0.02] }
delta = 0.1
[problem]
spec = "bernoulli:0.7,0.65,0.6"
[run]
seeds = 1_000_000
"""
SHORT = ENDLESS.replace("[0.3, 0.2, 0.01, 0.02]", "[0.3, 0.2]").replace("1_000_000", "50")
SWEEP = ["sweep", "grid.toml", "--out", "grid.zarr"]


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        ("3:50:00", 13_800),
        ("50:00", 3000),
        ("1-12:00:00", 129_600),
        ("0:00:07.5", 7.5),
        ("90", 90),
        (90, 90),
        (0.5, 0.5),
    ],
)
def test_times_are_written_as_schedulers_write_them(given, seconds):
    assert seconds_of(given) == seconds


@pytest.mark.parametrize(
    "given", ["", "soon", "0:00", 0, -1, "-5", "1:2", "1:2:3", "nan", "inf", float("nan"), None, True, [3], "1-5:00"]
)
def test_no_time_is_one_line(given):
    with pytest.raises(jb.UsageError, match="max_time must be") as error:
        seconds_of(given)
    assert "\n" not in str(error.value)


def sweep(**options):
    algorithm = jb.UGapEc(epsilon=jb.axis([0.3, 0.2, 0.1]), delta=0.1)
    return jb.sweep(algorithm, jb.bernoulli([0.7, 0.6, 0.5]), 100, **options)


class Clock:
    """A clock that a test sets."""

    def __init__(self, monkeypatch):
        self.now = 1000.0
        monkeypatch.setattr(time_limit.time, "monotonic", lambda: self.now)


def test_a_limit_is_near_when_the_next_call_would_pass_it(monkeypatch):
    clock = Clock(monkeypatch)
    limit = TimeLimit(103.0)  # three seconds are left for the end
    assert limit.allows_program()  # the first one always is
    clock.now += 40
    assert not limit.is_near()  # it was compiled, and says nothing of the next call
    clock.now += 5
    assert not limit.is_near()
    clock.now += 5
    assert limit.is_near(writing=20.5)
    assert not limit.is_near(writing=18.0)
    assert not limit.allows_program(writing=10.0)  # another one takes forty seconds, too
    assert limit.allows_program()
    clock.now += 40
    assert limit.allows_arrays(10**8)
    assert not limit.allows_arrays(10**9)


def test_python_stops_in_time_and_the_same_call_goes_on():
    options = {"store": "grid.zarr", "lanes": 2, "chunk": 1}
    found = sweep(max_time=1e-6, **options)
    assert found.attrs["missing"] == "300 runs, since the time was over"
    assert not found.data_vars
    rounds = 0
    while "missing" in found.attrs:
        found, rounds = sweep(max_time="0:01.5", **options), rounds + 1
        assert rounds < 100
    xr.testing.assert_identical(found.drop_attrs(deep=False).load(), sweep().drop_attrs(deep=False))


def test_a_limit_is_for_stores_only():
    with pytest.raises(jb.UsageError, match="max_time=… is for sweeps with a store"):
        sweep(max_time=3)


def test_a_file_has_the_limit_unless_an_option_has_one():
    Path("grid.toml").write_text(ENDLESS + 'max_time = "0:00:20"')
    assert plan_of(Path("grid.toml"))[2] == 20


@pytest.mark.slow
def test_the_command_stops_before_the_time_is_over():
    Path("grid.toml").write_text(ENDLESS + "max_time = 3600")
    began = time.monotonic()
    process = subprocess.run(
        [sys.executable, "-m", "jaxbandits.cli", *SWEEP, "--max-time", "0:20"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert time.monotonic() - began < 40  # a busy machine may stop the process for a while
    assert process.returncode == 75
    assert process.stdout == ""
    (line,) = process.stderr.splitlines()
    assert line.startswith("jaxbandits: the time is over: ")
    assert line.endswith(" of 4,000,000 runs are kept in grid.zarr, --resume makes the others")
    assert int(line.split()[5].replace(",", "")) > 0


def test_a_time_that_cannot_be_read_names_its_line(capsys):
    Path("grid.toml").write_text(SHORT + 'max_time = "soon"')
    assert main(SWEEP) == 2
    assert "grid.toml, line 10, run.max_time: max_time must be a time above 0" in capsys.readouterr().err
    Path("grid.toml").write_text(SHORT)
    assert main([*SWEEP, "--max-time", "soon"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_limit_is_no_part_of_the_specification():
    Path("grid.toml").write_text(SHORT + "max_time = 500")
    assert main(SWEEP) == 0
    assert "max_time" not in read_store(Path("grid.zarr")).attrs["spec"]
    Path("grid.toml").write_text(SHORT.replace("50", "60") + "max_time = 400")
    assert main([*SWEEP, "--resume"]) == 0
    assert read_store(Path("grid.zarr")).sizes["seed"] == 60


def test_arrays_for_which_there_is_no_time_are_made_later(monkeypatch, capsys):
    Path("grid.toml").write_text(SHORT)
    with monkeypatch.context() as patched:
        patched.setattr(TimeLimit, "allows_arrays", lambda *_: False)
        assert main([*SWEEP, "--max-time", "500"]) == 75
    assert "100 of 100 runs are kept in grid.zarr, --resume makes its arrays" in capsys.readouterr().err
    assert main([*SWEEP, "--resume"]) == 0
    assert read_store(Path("grid.zarr")).sizes["seed"] == 50


def events(text):
    return [json.loads(line) for line in text.splitlines()]


def test_progress_for_programs_is_all_of_stdout(capsys):
    Path("grid.toml").write_text(SHORT)
    began = time.time()
    assert main([*SWEEP, "--progress", "json"]) == 0
    told = capsys.readouterr()
    assert told.err == ""
    found = events(told.out)
    assert [one["event"] for one in found if one["event"] != "progress"] == ["start", "program", "end"]
    assert all(began - 0.01 <= one["time"] <= time.time() + 0.01 for one in found)  # times are rounded
    start, last, end = found[0], found[-2], found[-1]
    (program,) = (one for one in found if one["event"] == "program")
    assert (start["store"], start["part"], start["process"]) == ("grid.zarr", "1/1", os.getpid())
    assert {name: program[name] for name in ("number", "of", "cells", "arms")} == {
        "number": 1, "of": 1, "cells": 2, "arms": 3,
    }  # fmt: skip
    assert (last["runs"], last["wanted"]) == (100, 100)
    assert last["seconds_left"] == 0
    assert 0 < last["lanes_busy"] <= 1
    assert (end["outcome"], end["made"], end["store_runs"], end["store_wanted"], end["complete"]) == (
        "done", 100, 100, 100, True,
    )  # fmt: skip
    assert main([*SWEEP, "--progress", "json", "--part", "1/2"]) == 0  # there is nothing to do
    assert [one["event"] for one in events(capsys.readouterr().out)] == ["start", "end"]
    Path("grid.toml").write_text(SHORT.replace("0.1", "0.2"))
    assert main([*SWEEP, "--progress", "json", "--resume"]) == 2
    told = capsys.readouterr()
    assert events(told.out)[-1]["outcome"] == "failed"
    assert "another specification" in events(told.out)[-1]["message"]
    assert len(told.err.splitlines()) == 1


@pytest.mark.slow
def test_progress_for_programs_says_how_a_sweep_ended(capsys):
    Path("grid.toml").write_text(ENDLESS)
    assert main([*SWEEP, "--progress", "json", "--max-time", "8"]) == 75
    end = events(capsys.readouterr().out)[-1]
    assert (end["outcome"], end["complete"], end["store_wanted"]) == ("out of time", False, 4_000_000)


@pytest.mark.slow
def test_a_reader_that_has_gone_does_not_end_the_sweep():
    Path("grid.toml").write_text(SHORT)
    command = [sys.executable, "-m", "jaxbandits.cli", *SWEEP, "--progress", "json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(timeout=120) == 0
        assert process.stderr.read() == ""
    assert read_store(Path("grid.zarr")).sizes["seed"] == 50


def test_the_library_logs_and_is_silent_unless_asked(caplog, capfd):
    sweep(store="quiet.zarr")
    told = capfd.readouterr()
    assert told.out == told.err == ""
    with caplog.at_level(logging.DEBUG, "jaxbandits"):
        sweep(store="grid.zarr")
    said = [record.getMessage() for record in caplog.records if record.name.startswith("jaxbandits.")]
    assert any("grid.zarr: 300 runs to make in part 1/1" in text for text in said)
    assert any("program 1 of 1: 3 cells, up to 3 arms" in text for text in said)
    assert any("a block of" in text for text in said)
