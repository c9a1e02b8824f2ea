"""What is in a store is never run again: after an interruption, with more seeds, with more values, in parts."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import jaxbandits as jb
from jaxbandits.cli import main
from jaxbandits.storage import writer
from jaxbandits.storage.block_files import block_names, read_block, write_block
from jaxbandits.storage.consolidate import read_store
from jaxbandits.storage.store_files import blocks_folder, done_by_cell
from jaxbandits.sweeps import merging

EPSILON, DELTA, SEEDS = [0.2, 0.3, 0.4], [0.1, 0.2], 40
NAMES = ["grid.zarr", "grid.nc"]
SPECIFICATION = """
[algorithm]
name = "ugape-c"
epsilon = { axis = [0.05, 0.06, 0.1, 0.2] }
delta = 0.1
[problem]
spec = "bernoulli:0.7,0.65,0.6"
[run]
seeds = 20_000
"""
RUNS = 80_000


def sweep(seeds=SEEDS, epsilon=EPSILON, delta=DELTA, **options):
    """Two axes, whose runs differ in length, and one program."""
    algorithm = jb.UGapEc(epsilon=jb.axis(epsilon), delta=jb.axis(delta))
    return jb.sweep(algorithm, jb.bernoulli([0.7, 0.5, 0.4]), seeds, **options)


@pytest.fixture(scope="module")
def whole():
    """The sweep without a store."""
    return sweep()


def same(one, other):
    """Equal to the last bit, with the specification; where it was made, and how long it took, may differ."""
    xr.testing.assert_identical(one.drop_attrs(deep=False).load(), other.drop_attrs(deep=False).load())
    assert {n: v.dtype for n, v in one.variables.items()} == {n: v.dtype for n, v in other.variables.items()}
    assert json.loads(one.attrs["spec"]) == json.loads(other.attrs["spec"])


def made(seen):
    """Runs that were made, by what a progress display was told."""
    return seen[-1].runs if seen else 0


@pytest.mark.parametrize("name", NAMES)
def test_a_store_has_the_runs_of_a_sweep_without_one(name, whole):
    stored = sweep(store=name)
    same(stored, whole)
    assert stored.attrs["keep"] == "runs"
    assert "cpu" in stored.attrs["made_with"]
    with xr.open_dataset(name, engine="zarr" if name.endswith("zarr") else "h5netcdf") as plain:
        assert plain["pulls"].equals(whole["pulls"])
    seen = []
    same(sweep(store=name, on_progress=seen.append), whole)
    assert not seen


@pytest.mark.parametrize("name", NAMES)
def test_what_was_committed_is_not_run_again(name, whole, small_blocks, monkeypatch):
    """A process that dies after any block: here by an exception out of nowhere."""
    write, committed = writer.write_block, []

    def dies(folder, about, arrays):
        committed.append(write(folder, about, arrays))
        raise RuntimeError("killed")

    monkeypatch.setattr(writer, "write_block", dies)
    seen, there = [], 0
    while there < SEEDS * 6:
        with pytest.raises(RuntimeError, match="killed"):
            sweep(store=name, lanes=2, on_progress=seen.append)
        before, there = there, sum(b - a for s in done_by_cell(blocks_folder(Path(name))).values() for a, b in s)
        assert there > before
        if len(committed) > 6:
            break
    monkeypatch.setattr(writer, "write_block", write)
    seen.clear()
    same(sweep(store=name, on_progress=seen.append), whole)
    assert made(seen) == SEEDS * 6 - there


@pytest.mark.parametrize("name", NAMES)
def test_more_seeds_and_values_are_added(name, whole):
    sweep(seeds=15, epsilon=EPSILON[1:], store=name)
    seen = []
    same(sweep(seeds=15, store=name, on_progress=seen.append), whole.isel(seed=slice(15)).assign_attrs(spec=of(15)))
    assert made(seen) == 15 * 2
    seen.clear()
    same(sweep(store=name, on_progress=seen.append), whole)
    assert made(seen) == (SEEDS - 15) * 6
    # Fewer are a selection of what is there, and nothing is run.
    seen.clear()
    part = sweep(seeds=10, first_seed=5, epsilon=[0.3], store=name, on_progress=seen.append)
    assert not seen
    xr.testing.assert_identical(
        part.drop_attrs(deep=False).load(), whole.isel(seed=slice(5, 15)).sel(epsilon=[0.3]).drop_attrs(deep=False)
    )
    same(jb.repeat(part), part)


def of(seeds):
    """The specification of so many seeds."""
    return sweep(seeds=seeds, epsilon=EPSILON).attrs["spec"]


def test_seeds_before_those_that_are_there(whole):
    sweep(seeds=SEEDS - 15, first_seed=15, store="grid.zarr")
    same(sweep(seeds=SEEDS, store="grid.zarr"), whole)


def test_a_gap_is_refused():
    sweep(seeds=5, store="grid.zarr")
    with pytest.raises(jb.UsageError, match="leave a gap: the seeds from 5 to 9"):
        sweep(seeds=5, first_seed=10, store="grid.zarr")
    with pytest.raises(jb.UsageError, match=r"leave a gap at epsilon = 0.2, delta = 0.3"):
        sweep(seeds=5, epsilon=[0.5], delta=[0.3], store="grid.zarr")


@pytest.mark.parametrize("of_parts", [2, 7])
def test_parts_fill_one_store_in_any_order(of_parts, whole):
    order = list(range(1, of_parts + 1))
    random.Random(3).shuffle(order)
    for number in order[:-1]:
        found = sweep(store="grid.zarr", part=(number, of_parts))
        assert "runs, of other parts" in found.attrs["missing"]
    with pytest.raises(jb.UsageError, match="sweep … --resume makes the others"):
        read_store(Path("grid.zarr"))
    same(sweep(store="grid.zarr", part=(order[-1], of_parts)), whole)


@pytest.mark.slow
@pytest.mark.parametrize("devices", [1, 2])
def test_devices_and_lanes_change_no_bit(devices, whole):
    same(sweep(store="grid.zarr", devices=devices, lanes=3, chunk=5), whole)


def test_halves_are_merged_and_overlaps_must_agree(whole):
    for name, options in (("a", {"seeds": 25}), ("b", {"seeds": SEEDS - 20, "first_seed": 20})):
        sweep(store=f"{name}.zarr", **options)
    same(jb.merge(["a.zarr", "b.zarr"], store="both.zarr"), whole)
    same(read_store(Path("both.zarr")), whole)
    same(jb.merge([sweep(seeds=25), sweep(seeds=SEEDS - 20, first_seed=20)]), whole)
    same(jb.merge([Path("b.zarr"), sweep(seeds=25)]), whole)
    # A merged store is a store like others.
    assert sweep(seeds=SEEDS + 1, store="both.zarr").sizes["seed"] == SEEDS + 1


@pytest.mark.parametrize(
    "order",
    [[3, 0, 5, 1, 4, 2], *(pytest.param(n, marks=pytest.mark.slow) for n in ([0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0]))],
)
def test_a_run_in_many_stores_is_compared_once(order, whole, monkeypatch):
    """Comparing all pairs of 200 stores took minutes."""
    paths = [f"{number}.zarr" for number in range(6)]
    for number, path in enumerate(paths):
        sweep(seeds=SEEDS - number, store=path)
    compared = []
    known = merging._compare
    monkeypatch.setattr(merging, "_compare", lambda *given: compared.append(given[:2]) or known(*given))
    same(jb.merge([paths[number] for number in order], store="both.zarr"), whole)
    assert len(compared) <= 8  # of 15 pairs


def test_what_differs_is_found_whatever_store_stands_between():
    for path, options in (("a", {"seeds": 30}), ("b", {"seeds": 10, "first_seed": 5}), ("c", {"seeds": SEEDS})):
        sweep(store=f"{path}.zarr", **options)
    for name in block_names(folder := blocks_folder(Path("a.zarr"))):
        about, arrays = read_block(folder / name)
        arrays["value.pulls"] += (arrays["seed"] == 20)[:, None]  # `b.zarr` has no such seed
        (folder / name).unlink()
        write_block(folder, about, arrays)
    with pytest.raises(jb.UsageError, match=r"a\.zarr and c\.zarr have different runs of the same cell and seed, in"):
        jb.merge(["a.zarr", "b.zarr", "c.zarr"], store="all.zarr")


def test_cells_are_merged_from_three(whole):
    parts = [sweep(epsilon=EPSILON[i : i + 1], store=f"{i}.zarr") for i in (2, 0, 1)]
    same(jb.merge(parts), whole)
    same(jb.merge(["2.zarr", "0.zarr", "1.zarr"], store="all.nc"), whole)
    same(jb.merge([whole.sel(epsilon=0.2), whole.sel(epsilon=[0.3, 0.4]).isel(seed=slice(30)), whole]), whole)
    one = whole.sel(epsilon=0.2)
    assert jb.merge([one.isel(seed=slice(9)), one.isel(seed=slice(9, 40))]).pulls.equals(one.pulls)
    summaries = jb.merge([jb.summary(whole.sel(delta=[value])) for value in DELTA])
    xr.testing.assert_identical(summaries["pulls_mean"], jb.summary(whole)["pulls_mean"])


def test_variables_without_seeds_are_put_in_their_places(whole):
    """A bound of theory, say: that of the first Dataset stood beside other values of the axis."""
    bound = whole.assign(bound=whole.epsilon * 10, each=whole.epsilon * whole.delta, one=7.0)
    reversed_ = bound.isel(epsilon=slice(None, None, -1))
    for parts in (
        [bound.sel(epsilon=[value]) for value in EPSILON],
        [bound.sel(epsilon=0.2), bound.sel(epsilon=[0.4, 0.3])],
        [bound.isel(seed=slice(9)), reversed_.isel(seed=slice(9, SEEDS))],
    ):
        both = jb.merge(parts)
        np.testing.assert_array_equal(both["bound"], both["epsilon"] * 10)
        np.testing.assert_array_equal(both["each"], both["epsilon"] * both["delta"])
        assert both["bound"].dims == ("epsilon",)
        assert np.all(both["one"] == 7)


def test_very_many_datasets_with_the_same_runs_leave_no_gap(whole):
    one = whole.isel(epsilon=[0], delta=[0], seed=[0])
    xr.testing.assert_equal(jb.merge([one] * 256), one)


REFUSED = [
    (lambda ds: [ds], "list of two or more"),
    (lambda ds: [ds, ds.drop_attrs()], "carry their specification"),
    (lambda ds: [ds.isel(seed=slice(5)), ds.isel(seed=slice(9, 20))], "leave a gap: the seeds from 5 to 8"),
    (lambda ds: [ds.isel(epsilon=0, seed=slice(5)), ds.isel(seed=slice(5, 9))], "leave a gap at epsilon = 0.3"),
    (lambda ds: [ds, ds.assign(pulls=ds.pulls + 1)], "different runs of the same cell and seed, in their pulls"),
    (lambda ds: [ds, jb.summary(ds)], "runs and summaries of runs cannot be merged"),
    (lambda ds: [ds, ds.drop_vars("epsilon")], "no longer says which epsilon"),
    (lambda ds: [ds, ds.drop_vars("cost")], "cost is in one Dataset and not in another"),
    (lambda ds: [ds, sweep(delta=[0.1, 0.3], root_seed=1)], "another specification: run.root_seed is 0 there and 1"),
    (lambda ds: [jb.summary(ds), jb.summary(sweep(seeds=3))], "summaries of different seeds"),
    (lambda ds: ["missing.zarr", ds], "there is no store missing.zarr"),
    (lambda ds: [ds, ds.assign_coords(seed=ds.seed + 40)], "the seeds 40 to 79 and its specification 0 to 39"),
    (lambda ds: [ds, ds.assign_coords(seed=ds.seed * 1.0)], r"the seeds 0\.0 to 39\.0 and its specification"),
    (lambda ds: [ds, ds.reindex(seed=np.arange(50))], "the seeds 0 to 49 and its specification 0 to 39"),
    (lambda ds: [ds[["correct"]], ds[["correct"]]], "must have a variable 'pulls', or 'runs' of a summary"),
    (lambda ds: [ds.assign(bound=1.0), ds.assign(bound=2.0)], "different runs .*, in their bound"),
    (lambda ds: [ds.assign(own=("bin", [1])), ds.assign(own=("bin", [1, 2]))], "own has other dimensions in one"),
    (lambda ds: [ds, ds.assign_attrs(spec="{")], "the specification has no "),
]


@pytest.mark.parametrize(("parts", "message"), REFUSED)
def test_what_cannot_be_merged_is_one_line(parts, message, whole):
    with pytest.raises(jb.UsageError, match=message) as error:
        jb.merge(parts(whole))
    assert "\n" not in str(error.value)


def test_the_commands_status_and_merge(capsys, whole):
    for name, first in (("a", 0), ("b", 20)):
        sweep(seeds=20, first_seed=first, store=f"{name}.zarr", part=(1, 2))
    capsys.readouterr()
    assert main(["status", "a.zarr"]) == 0
    told = capsys.readouterr().out
    assert "60 of 120 (50%)" in told
    assert "Nobody is writing to it: sweep … --resume" in told
    assert main(["merge", "a.zarr", "b.zarr", "--out", "all.zarr"]) == 0
    assert "120 of 240 runs: all.zarr" in capsys.readouterr().out
    assert main(["merge", "a.zarr", "b.zarr", "--out", "all.zarr"]) == 2
    assert "exists already" in capsys.readouterr().err
    assert main(["status", "none.zarr"]) == 2
    same(sweep(store="all.zarr"), whole)
    assert main(["status", "all.zarr"]) == 0
    assert "240 of 240 (100%); its arrays are there" in capsys.readouterr().out


def start(*more):
    command = [sys.executable, "-m", "jaxbandits.cli", "sweep", "grid.toml", "--out", "grid.zarr", "--resume", *more]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def runs_there():
    folder = blocks_folder(Path("grid.zarr"))
    if not (folder / "sweep.json").exists():
        return 0
    return sum(stop - start for seeds in done_by_cell(folder).values() for start, stop in seeds)


def until(condition, seconds=120):
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < seconds
        time.sleep(0.02)


@pytest.mark.bits
@pytest.mark.parametrize("kills", [pytest.param(100, marks=pytest.mark.slow)])
def test_kill_9_loses_a_block_at_most(kills):
    """At random moments, of which some are before the first block; what others know to be there stays there."""
    Path("grid.toml").write_text(SPECIFICATION)
    folder, moments = blocks_folder(Path("grid.zarr")), random.Random(11)
    known = hit = 0
    while hit < kills:
        process = start()
        until((folder / "writer-1-of-1.json").exists)
        ends = time.monotonic() + moments.uniform(0, 2)
        while process.poll() is None and time.monotonic() < ends:
            time.sleep(0.002)
        told = json.loads(told_by.read_text()) if (told_by := folder / "writer-1-of-1.json").exists() else {}
        process.send_signal(signal.SIGKILL)
        process.communicate()
        hit += process.returncode == -signal.SIGKILL
        there = runs_there()
        assert there >= known + told.get("committed", 0)
        if process.returncode == 0 or there > 0.9 * RUNS:  # most of it is gone again, so that each kill hits runs
            for block in block_names(folder)[1:]:
                (folder / block).unlink()
        known = runs_there()
        (folder / "writer-1-of-1.json").unlink(missing_ok=True)
    last = start()
    _, err = last.communicate(timeout=300)
    assert last.returncode == 0, err
    whole = jb.sweep(
        jb.UGapEc(epsilon=jb.axis([0.05, 0.06, 0.1, 0.2]), delta=0.1), jb.bernoulli([0.7, 0.65, 0.6]), RUNS // 4
    )
    xr.testing.assert_identical(read_store(Path("grid.zarr")).drop_attrs(deep=False), whole.drop_attrs(deep=False))


@pytest.mark.slow
@pytest.mark.bits
@pytest.mark.parametrize(("number", "said"), [(signal.SIGINT, ""), (signal.SIGTERM, " by SIGTERM")])
def test_the_first_interruption_keeps_what_has_ended(number, said):
    Path("grid.toml").write_text(SPECIFICATION)
    process = start()
    until(lambda: runs_there() > 0)
    process.send_signal(number)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 128 + number
    assert err.startswith(f"jaxbandits: interrupted{said}: ")
    assert "runs are kept in grid.zarr, --resume makes the others" in err
    assert f"{runs_there():,} of 80,000" in err
    assert len(err.splitlines()) == 1


@pytest.mark.slow
@pytest.mark.bits
def test_two_sweeps_of_one_store_do_not_meet(capsys):
    Path("grid.toml").write_text(SPECIFICATION)
    process = start("--part", "1/2")
    try:
        until(lambda: runs_there() > 0)
        for more, told in ((["--part", "1/2"], "is writing to"), (["--resume"], "is writing part 1/2 of")):
            assert main(["sweep", "grid.toml", "--out", "grid.zarr", *more]) == 2
            assert told in (error := capsys.readouterr().err)
            assert f"process {process.pid} on " in error
        assert main(["status", "grid.zarr"]) == 0
        assert f"part 1/2  {process.pid} on " in capsys.readouterr().out
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
    assert np.all([name.endswith(".npz") for name in block_names(blocks_folder(Path("grid.zarr")))])


def test_what_a_killed_process_left_of_its_arrays_is_deleted():
    """They may be as large as the results."""
    sweep(seeds=2, store="grid.zarr")
    folder = blocks_folder(Path("grid.zarr"))
    (folder / ".arrays-a1b2c3").mkdir()
    (folder / ".arrays-a1b2c3" / "pulls").write_bytes(bytes(100))
    left = Path(f".grid-{'0f' * 16}.zarr"), Path(f".grid-{'a1' * 16}.old")
    users = Path(".grid-backup.zarr"), Path(".grid-2.old")
    for place in left + users:
        place.mkdir()
    sweep(seeds=3, store="grid.zarr")
    assert not list(folder.glob(".arrays-*"))
    assert not any(place.exists() for place in left)
    assert all(place.exists() for place in users)
