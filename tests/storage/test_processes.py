"""Several processes and one store: by parts, by jax.distributed, and when one of them dies."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
import xarray as xr

import jaxbandits as jb
from jaxbandits.cli import main
from jaxbandits.storage.consolidate import read_store

SPECIFICATION = """
[algorithm]
name = "ugape-c"
epsilon = { axis = [0.05, 0.06, 0.1, 0.2] }
delta = 0.1
[problem]
spec = "bernoulli:0.7,0.65,0.6"
[run]
seeds = 500
"""


@pytest.fixture(autouse=True)
def _a_specification():
    Path("grid.toml").write_text(SPECIFICATION)


def whole(seeds=500):
    algorithm = jb.UGapEc(epsilon=jb.axis([0.05, 0.06, 0.1, 0.2]), delta=0.1)
    return jb.sweep(algorithm, jb.bernoulli([0.7, 0.65, 0.6]), seeds).drop_attrs(deep=False)


def start(*more, **environment):
    command = [sys.executable, "-m", "jaxbandits.cli", "sweep", "grid.toml", "--out", "grid.zarr", *more]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment}
    )


def finish(processes):
    for process in processes:
        out, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
        yield out


@pytest.mark.slow
@pytest.mark.bits
def test_parts_at_the_same_time_fill_one_store():
    """Each with another number of devices."""
    processes = [start("--part", f"{i}/2", JAX_NUM_CPU_DEVICES=str(i)) for i in (1, 2)]
    told = "".join(finish(processes))
    assert "all 2,000 runs" in told
    xr.testing.assert_identical(read_store(Path("grid.zarr")).drop_attrs(deep=False), whole())


@pytest.mark.slow
@pytest.mark.bits
@pytest.mark.parametrize("devices", ["1", "4"])
def test_a_job_of_two_processes_makes_the_same_runs(devices):
    """As SLURM starts them, with gloo between them."""
    job = {"SLURM_JOB_ID": f"7{devices}", "SLURM_STEP_NODELIST": "127.0.0.1", "SLURM_NTASKS": "2"}
    processes = [
        start("--distributed", **job, SLURM_PROCID=str(i), SLURM_LOCALID=str(i), JAX_NUM_CPU_DEVICES=devices)
        for i in (0, 1)
    ]
    assert "all 2,000 runs" in "".join(finish(processes))
    xr.testing.assert_identical(read_store(Path("grid.zarr")).drop_attrs(deep=False), whole())


@pytest.mark.slow
@pytest.mark.bits
@pytest.mark.parametrize("killed", [0, 1])
def test_where_one_of_two_dies_the_other_says_so_and_resuming_completes(killed):
    Path("one.py").write_text(
        textwrap.dedent("""
            import sys, jax
            jax.distributed.initialize("127.0.0.1:12411", 2, int(sys.argv[1]), heartbeat_timeout_seconds=10)
            import jaxbandits as jb
            algorithm = jb.UGapEc(epsilon=jb.axis([0.05, 0.06, 0.1, 0.2]), delta=0.1)
            jb.sweep(algorithm, jb.bernoulli([0.7, 0.65, 0.6]), 20_000, store="grid.zarr")
        """)
    )
    both = [subprocess.Popen([sys.executable, "one.py", str(i)], stderr=subprocess.PIPE, text=True) for i in (0, 1)]
    began = time.monotonic()
    while len(list(Path().glob("grid.zarr/blocks/*.npz"))) < 3 and time.monotonic() - began < 120:
        time.sleep(0.02)
    both[killed].send_signal(signal.SIGKILL)
    _, told = both[1 - killed].communicate(timeout=200)
    both[killed].communicate()
    assert both[1 - killed].returncode != 0
    assert "another task died" in told
    Path("grid.toml").write_text(SPECIFICATION.replace("500", "20_000"))
    assert main(["sweep", "grid.toml", "--out", "grid.zarr", "--resume"]) == 0
    xr.testing.assert_identical(read_store(Path("grid.zarr")).drop_attrs(deep=False), whole(20_000))


def test_what_is_no_part_is_one_line(capsys):
    for more, told in (
        (["--part", "3/2"], "the part must be a whole number from 1 to 2, got 3"),
        (["--part", "0/2"], "the part must be a whole number from 1 to 2, got 0"),
        (["--part", "two"], "--part takes I/N, such as 3/8, got 'two'"),
        (["--part", "1/2", "--distributed"], "give one"),
    ):
        assert main(["sweep", "grid.toml", "--out", "grid.zarr", *more]) == 2
        assert told in capsys.readouterr().err
    assert not Path("grid.zarr").exists()
