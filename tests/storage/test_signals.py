"""SLURM sends SIGTERM or SIGUSR1 before it kills: either is answered as the first Ctrl-C is."""

import errno
import itertools
import os
import shutil
import signal
import threading
from pathlib import Path

import pytest
import xarray as xr

import jaxbandits as jb
from jaxbandits.cli import main
from jaxbandits.comparison import run_rows as comparing
from jaxbandits.interruptions import _DEFAULTS, interruptible, interrupts
from jaxbandits.storage.store_files import blocks_folder, done_by_cell
from jaxbandits.storage.writer import BlockWriter

ANNOUNCED = [signal.SIGTERM, signal.SIGUSR1]
TUNING = """
[algorithm]
name = "ucb-e"
budget = 40
a = 4.0
[instances]
name = "bernoulli"
means = { uniform = [0.2, 0.8], arms = 3 }
[tune]
wrt = ["a"]
steps = 9
instances = 2
seeds = 5
held_out = 2
objective = "simple_regret"
"""


@pytest.fixture(autouse=True)
def handlers_are_restored():
    before = {number: signal.getsignal(number) for number in _DEFAULTS}
    yield
    after = {number: signal.getsignal(number) for number in _DEFAULTS}
    for number, handler in before.items():
        signal.signal(number, handler)
    assert after == before


def sweep(**options):
    algorithm = jb.UGapEc(epsilon=jb.axis([0.2, 0.3, 0.4]), delta=0.1)
    return jb.sweep(algorithm, jb.bernoulli([0.7, 0.5, 0.4]), 40, lanes=4, chunk=5, **options)


def sent(*numbers):
    """What sends signals to this process once, whatever it is called with."""
    left = list(numbers)

    def send(*_, **__):
        while left:
            os.kill(os.getpid(), left.pop(0))

    return send


def runs_there(name="grid.zarr"):
    return sum(stop - start for seeds in done_by_cell(blocks_folder(Path(name))).values() for start, stop in seeds)


@pytest.mark.parametrize("number", [signal.SIGINT, *ANNOUNCED])
def test_a_sweep_keeps_what_has_ended_and_is_resumed(number, monkeypatch):
    """The signal comes while a block is awaited: it has waited for the end of the chunk, and is kept then."""
    add = BlockWriter.add
    send = sent(number)

    def send_when_some_have_ended(self, runs):
        add(self, runs)
        send()

    monkeypatch.setattr(BlockWriter, "add", send_when_some_have_ended)
    with pytest.raises(KeyboardInterrupt, match=r"^interrupted.*: [1-9]\d* of 120 runs are kept in grid.zarr") as stop:
        sweep(store="grid.zarr")
    assert ("" if number == signal.SIGINT else f" by {number.name}") == str(stop.value).partition(":")[0][11:]
    assert 0 < runs_there() < 120
    xr.testing.assert_identical(sweep(store="grid.zarr").drop_attrs(deep=False).load(), sweep().drop_attrs(deep=False))


def test_a_scheduler_that_sends_a_signal_twice_does_not_hinder_the_keeping():
    with pytest.raises(KeyboardInterrupt, match=r"interrupted by SIGUSR1: .* runs are kept"):
        sweep(store="grid.zarr", on_progress=sent(signal.SIGUSR1, signal.SIGTERM, signal.SIGTERM))


def test_the_second_ctrl_c_ends_at_once():
    with pytest.raises(KeyboardInterrupt, match=r"^$"):
        sweep(store="grid.zarr", on_progress=sent(signal.SIGINT, signal.SIGINT))


@pytest.mark.parametrize("number", ANNOUNCED)
def test_without_a_store_it_is_an_interruption(number):
    with pytest.raises(KeyboardInterrupt, match=f"interrupted by {number.name}"):
        sweep(on_progress=sent(number))
    whole = sweep()
    with pytest.raises(KeyboardInterrupt, match=f"interrupted by {number.name}"):
        jb.repeat(whole, on_progress=sent(number))


def test_an_interruption_while_zarr_writes_is_one_and_leaves_nothing(monkeypatch):
    """Zarr's threads write on after the interruption: a file may come into a folder that is being removed."""
    remove, refused = shutil.rmtree, []

    def interrupted(_, folder, **__):
        folder.mkdir()
        raise KeyboardInterrupt

    def refused_once(path, ignore_errors=False, **options):
        if not refused:
            refused.append(path)
            if ignore_errors:
                return
            raise OSError(errno.ENOTEMPTY, "Directory not empty")
        remove(path, ignore_errors=ignore_errors, **options)

    with monkeypatch.context() as patch:
        patch.setattr(xr.Dataset, "to_zarr", interrupted)
        patch.setattr(shutil, "rmtree", refused_once)
        with pytest.raises(KeyboardInterrupt):
            sweep(store="grid.zarr")
    assert refused
    assert not list(Path().rglob(".*"))
    assert sweep(store="grid.zarr").equals(sweep())


def test_a_handler_of_the_users_own_is_left_alone():
    seen = []
    before = signal.signal(signal.SIGTERM, lambda number, _: seen.append(number))
    try:
        mine = signal.getsignal(signal.SIGTERM)
        sweep(store="grid.zarr", on_progress=sent(signal.SIGTERM))
        assert signal.getsignal(signal.SIGTERM) is mine
    finally:
        signal.signal(signal.SIGTERM, before)
    assert seen == [signal.SIGTERM]
    assert runs_there() == 120


def test_a_signal_that_is_ignored_stays_ignored():
    before = signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    try:
        sweep(on_progress=sent(signal.SIGUSR1))
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_other_threads_have_no_handlers():
    found = []

    def look():
        with interruptible() as state, interrupts():
            found.append((state.asked, signal.getsignal(signal.SIGTERM)))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert found == [(False, signal.SIG_DFL)]


@pytest.mark.parametrize("number", ANNOUNCED)
def test_commands_end_with_the_status_of_the_signal(number, capsys, monkeypatch):
    Path("grid.toml").write_text(
        '[algorithm]\nname = "uniform"\nbudget = { axis = [10, 20, 30] }\n[problem]\nspec = "bernoulli:0.7,0.5"\n'
    )
    with monkeypatch.context() as patched:
        patched.setattr(BlockWriter, "tell", sent(number))
        assert main(["sweep", "grid.toml", "--out", "grid.zarr"]) == 128 + number
    said = capsys.readouterr().err
    assert said.startswith(f"jaxbandits: interrupted by {number.name}: ")
    assert said.endswith("3,000 of 3,000 runs are kept in grid.zarr, --resume makes its arrays\n")
    assert main(["sweep", "grid.toml", "--out", "grid.zarr", "--resume"]) == 0


@pytest.mark.slow
def test_compare_shows_the_rows_that_are_finished(capsys, monkeypatch):
    run, rows = comparing._Runner.__call__, itertools.count()

    def interrupted(runner, *arguments):
        if next(rows) == 1:
            os.kill(os.getpid(), signal.SIGTERM)
        return run(runner, *arguments)

    monkeypatch.setattr(comparing._Runner, "__call__", interrupted)
    assert main(["compare", "--means", "0.7,0.5", "--budget", "20", "--seeds", "10"]) == 143
    told = capsys.readouterr()
    assert "PRELIMINARY" in told.out
    assert "jaxbandits: interrupted by SIGTERM, " in told.err
    assert told.err.splitlines()[-1].endswith("rows are missing")


@pytest.mark.slow
def test_tune_says_how_to_go_on(capsys, monkeypatch):
    from jaxbandits.cli import tune_command

    Path("tune.toml").write_text(TUNING)
    write, send = tune_command.write_arrays, sent(signal.SIGTERM)

    def written(steps, out):
        write(steps, out)
        if steps.sizes["step"] == 2:
            send()

    with monkeypatch.context() as patched:
        patched.setattr(tune_command, "write_arrays", written)
        assert main(["tune", "tune.toml", "--out", "tuned.nc"]) == 143
    said = capsys.readouterr().err
    assert said.startswith("jaxbandits: interrupted by SIGTERM: ")
    assert said.endswith("of 9 steps are kept in tuned.nc, --resume continues\n")
