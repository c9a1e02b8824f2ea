"""Stores on file systems that have no locks: markers stand in, and are taken over from processes that are gone."""

import errno
import fcntl
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest
import xarray as xr

import jaxbandits as jb
from jaxbandits.cli import main
from jaxbandits.storage import locks
from jaxbandits.storage.store_files import blocks_folder
from jaxbandits.storage.writer import Part, listening, writing

FOLDER = blocks_folder(Path("grid.zarr"))


def without_locks(monkeypatch, number=errno.ENOLCK):
    """`flock` as on a file system without locks."""

    def fails(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", fails)


def sweep(seeds=9, store="grid.zarr"):
    return jb.sweep(jb.Uniform(budget=jb.axis([9, 12])), jb.bernoulli([0.7, 0.5]), seeds, store=store)


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS])
def test_a_store_is_written_without_locks(number, monkeypatch, capsys):
    without_locks(monkeypatch, number)
    assert sweep().sizes["seed"] == 9
    assert sweep(20).sizes["seed"] == 20
    assert main(["status", "grid.zarr"]) == 0
    assert "40 of 40" in capsys.readouterr().out
    assert not list(FOLDER.glob("*.marker"))


@pytest.mark.parametrize("more", [[], [errno.ENOLCK]], ids=["where locks come back", "where there are none"])
def test_two_processes_do_not_write_one_store(more, monkeypatch):
    """The second one heeds the marker of the first even where it finds that there are locks."""
    FOLDER.mkdir(parents=True)
    with monkeypatch.context() as patched:
        without_locks(patched)
        first = writing(FOLDER, Part(1, 1))
        first.__enter__()
    for number in more:
        without_locks(monkeypatch, number)
    with pytest.raises(jb.UsageError, match=rf"process {os.getpid()} on .* is writing to grid.zarr: .*; if that"):
        writing(FOLDER, Part(1, 1)).__enter__()
    with pytest.raises(jb.UsageError, match=r"is writing part 1/1 of grid.zarr: "):
        writing(FOLDER, Part(1, 2)).__enter__()
    assert [told["process"] for told in listening(FOLDER)] == [os.getpid()]
    first.__exit__(None, None, None)
    with writing(FOLDER, Part(1, 2)):
        pass


def test_the_marker_of_a_process_that_is_gone_is_taken_over(monkeypatch):
    held = "import filelock, time; lock = filelock.SoftFileLock('grid.zarr/blocks/writer-1-of-1.marker').acquire(); "
    FOLDER.mkdir(parents=True)
    command = [sys.executable, "-c", held + "print(flush=True); time.sleep(60)"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        try:
            process.stdout.readline()
            without_locks(monkeypatch)
            with pytest.raises(jb.UsageError, match="another process is writing to"):
                sweep()
        finally:
            process.kill()
    assert sweep().sizes["seed"] == 9


def test_the_marker_of_another_machine_stays_and_a_line_says_what_to_do(monkeypatch):
    FOLDER.mkdir(parents=True)
    marker = FOLDER / "writer-1-of-1.marker"
    marker.write_text(f"{os.getpid()}\n{platform.node()}-other\n1\n")
    without_locks(monkeypatch)
    with pytest.raises(jb.UsageError, match=r"; if that process is gone, delete .*writer-1-of-1.marker$"):
        sweep()
    marker.rename(FOLDER / "sweep.marker")
    monkeypatch.setattr(locks, "_MOST", 0.1)
    with pytest.raises(jb.UsageError, match=r"another process holds .*; if .* gone, delete .*sweep.marker$"):
        sweep()
    (FOLDER / "sweep.marker").unlink()
    assert sweep().sizes["seed"] == 9


def test_hdf5_wants_locks_and_a_line_says_what_to_do(monkeypatch):
    def fails(*_, **__):
        raise OSError(errno.ENOLCK, "Unable to synchronously create file (unable to lock file, errno = 37)")

    with monkeypatch.context() as patched:
        patched.setattr(xr.Dataset, "to_netcdf", fails)
        with pytest.raises(jb.UsageError, match=r"set HDF5_USE_FILE_LOCKING=FALSE, or use a store NAME\.zarr"):
            sweep(store="grid.nc")
    assert sweep(store="grid.nc").sizes["seed"] == 9
