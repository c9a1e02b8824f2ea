"""Many blocks become few: the same runs to the last bit, once each, whenever the process dies."""

import shutil
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
from jaxbandits.storage import block_files, compaction, consolidate, seed_ranges, writer
from jaxbandits.storage.block_files import block_names
from jaxbandits.storage.compaction import _groups
from jaxbandits.storage.consolidate import blocks_of_sums, is_current, make_view, read_store
from jaxbandits.storage.store_files import blocks_folder, done_by_cell, read_description
from jaxbandits.sweeps.store_status import state_of
from tests.storage.many_blocks import make_store

STORE = Path("grid.zarr")
KEEP = ["runs", pytest.param("summary", marks=pytest.mark.slow), "moments"]


def sweep(seeds=16, n=(3, 5), **options):
    """A grid whose variables differ in length with its arms."""
    algorithm = jb.Uniform(budget=jb.axis([20, 40]))
    return jb.sweep(algorithm, jb.one_sparse(n=jb.axis(list(n))), seeds, lanes=4, chunk=8, **options)


def same(one, other):
    xr.testing.assert_identical(one.drop_attrs(deep=False).load(), other.drop_attrs(deep=False).load())


@pytest.mark.parametrize(
    ("name", "keep"),
    [
        ("grid.zarr", "runs"),
        pytest.param("grid.nc", "runs", marks=pytest.mark.slow),
        pytest.param("grid.zarr", "summary", marks=pytest.mark.slow),
        pytest.param("grid.zarr", "moments", marks=pytest.mark.slow),
    ],
)
def test_nothing_changes_but_the_number_of_blocks(name, keep, small_blocks):
    """Blocks of fewer arms are among them; the arrays stay valid; and the store is extended as before."""
    sweep(n=[3], store=name, keep=keep)
    before = sweep(store=name, keep=keep).load()
    folder, done = blocks_folder(Path(name)), done_by_cell(blocks_folder(Path(name)))
    found = jb.compact(name)
    assert found.blocks_before > 4
    assert found.blocks == len(block_names(folder)) == (2 if keep == "runs" else 1)  # of 3 and of 5 arms
    assert found.bytes < found.bytes_before
    assert done_by_cell(folder) == done
    assert is_current(Path(name))
    same(read_store(Path(name)), before)
    (folder / "view.json").unlink()  # the arrays are made again, of the new blocks
    seen = []
    same(sweep(store=name, keep=keep, on_progress=seen.append), before)
    assert not seen
    more = sweep(seeds=24, store=name, keep=keep).load()
    jb.compact(name)
    assert len(block_names(folder)) == (2 if keep == "runs" else 1)
    same(read_store(Path(name)), more)
    if keep == "runs":
        same(more, sweep(seeds=24))
    assert not list(folder.glob(".*.part"))


def counted(folder, keep):
    """The seeds of the blocks that count, by cell: none twice where sums are kept."""
    names = block_names(folder) if keep == "runs" else blocks_of_sums(folder)
    rows = np.concatenate([block_files.read_done(folder / name) for name in names])
    found = {}
    for cell, start, stop in rows.tolist():
        found.setdefault(f"{cell:016x}", []).append((start, stop))
    assert keep == "runs" or seed_ranges.count_seeds(rows) == sum(b - a for of in found.values() for a, b in of)
    return found


class DiedError(Exception):
    """A process that is gone."""


@pytest.mark.parametrize("keep", ["runs", *(pytest.param(k, marks=pytest.mark.slow) for k in ("summary", "moments"))])
def test_at_any_moment_all_runs_are_there_once(keep, monkeypatch, small_blocks):
    """A process that dies before or after any change of the folder, in turn; it is read as it is, then mended."""
    whole = sweep(seeds=8, store=STORE, keep=keep).load()
    folder, done = blocks_folder(STORE), done_by_cell(blocks_folder(STORE))
    blocks, description = {name: (folder / name).read_bytes() for name in block_names(folder)}, read_description(STORE)
    calls, ends_at = 0, 0

    def counted(real):
        def call(*arguments, **options):
            nonlocal calls
            for _ in range(2):  # before it, and after it
                calls += 1
                if calls == ends_at:
                    raise DiedError
                if calls % 2:
                    real(*arguments, **options)

        return call

    moments = 0
    while True:
        for name in block_names(folder):
            (folder / name).unlink()
        for name, content in blocks.items():
            (folder / name).write_bytes(content)
        calls, ends_at = 0, ends_at + 1
        with monkeypatch.context() as patched:
            patched.setattr(block_files, "write_whole", counted(block_files.write_whole))
            patched.setattr(compaction.Path, "unlink", counted(Path.unlink))
            try:
                jb.compact(STORE)
            except DiedError:
                moments += 1
            else:
                break
        assert done_by_cell(folder) == done
        assert is_current(STORE)
        (folder / "view.json").unlink()
        make_view(STORE, description)  # of the blocks as they are now
        same(read_store(STORE), whole)
        assert main(["merge", str(STORE), str(STORE), "--out", "both.zarr"]) == (0 if keep == "runs" else 2)
        jb.compact(STORE)
        assert len(block_names(folder)) == len(list(folder.glob("*.npz"))) == 1
        shutil.rmtree("both.zarr", ignore_errors=True)
    assert moments > 2 * len(blocks)


@pytest.mark.slow
@pytest.mark.parametrize("keep", ["runs", "summary"])
def test_kill_9_loses_nothing(keep):
    """At times of chance; the test above ends the process at each moment in turn."""
    make_store(STORE, blocks=400, keep=keep)
    folder, done = blocks_folder(STORE), done_by_cell(blocks_folder(STORE))
    # Twenty blocks or so become one at a time.
    code = f"from jaxbandits.storage import compaction as c; c._TOGETHER = 2**18; c.compact({str(STORE)!r})"
    moments = np.random.default_rng(4)
    for _ in range(4):
        blocks = set(block_names(folder))
        with subprocess.Popen([sys.executable, "-c", code]) as process:
            began = time.monotonic()
            while not set(block_names(folder)) - blocks and process.poll() is None and time.monotonic() - began < 60:
                time.sleep(0.001)
            time.sleep(moments.uniform(0, 0.02))
            process.send_signal(signal.SIGKILL)
        assert done_by_cell(folder) == done
        assert state_of(STORE).there == 40_000
        assert {name: seed_ranges.united(of) for name, of in counted(folder, keep).items()} == done
    jb.compact(STORE)
    assert len(block_names(folder)) == 1
    assert done_by_cell(folder) == done


@pytest.mark.parametrize("keep", KEEP)
def test_large_stores_become_several_blocks(keep, monkeypatch):
    make_store(STORE, blocks=60, keep=keep)
    folder = blocks_folder(STORE)
    done = done_by_cell(folder)
    monkeypatch.setattr(compaction, "_TOGETHER", 2**17)
    monkeypatch.setattr(compaction, "_LARGE", 2**16)
    monkeypatch.setattr(compaction, "_SUMS", 7)
    found = jb.compact(STORE)
    assert found.blocks == 1 if keep != "runs" else 2 < found.blocks < 20
    assert done_by_cell(folder) == done
    assert not list(_groups(folder, read_description(STORE)))


def test_runs_that_two_blocks_of_sums_have_count_once_or_are_refused(capsys):
    make_store(STORE, blocks=3, keep="moments")
    make_store(Path("other.zarr"), blocks=4, runs=75, keep="moments")
    folder, other = blocks_folder(STORE), blocks_folder(Path("other.zarr"))
    done, names = done_by_cell(folder), block_names(folder)
    for name in block_names(other):
        shutil.copyfile(other / name, folder / name)
    jb.compact(STORE)  # the larger blocks have all of their runs
    assert done_by_cell(folder) == counted(folder, "moments") == done
    make_store(Path("part.zarr"), blocks=3, keep="moments")
    folder = blocks_folder(Path("part.zarr"))
    (folder / names[0]).unlink()
    for name in block_names(other):
        shutil.copyfile(other / name, folder / name)
    assert main(["compact", "part.zarr"]) == 2
    assert "runs that other blocks have, and would be counted twice: delete it" in capsys.readouterr().err
    assert len(block_names(folder)) == 6


def test_a_store_that_is_written_is_refused():
    make_store(STORE, blocks=3)
    folder = blocks_folder(STORE)
    with writer.writing(folder, writer.Part(2, 3)), pytest.raises(jb.UsageError, match=r"is writing part 2/3"):
        jb.compact(STORE)
    assert len(block_names(folder)) == 3


def test_what_cannot_be_compacted_is_one_line(capsys):
    for name in ("none.zarr", "none.nc"):
        assert main(["compact", name]) == 2
    make_store(STORE, blocks=3)
    folder = blocks_folder(STORE)
    block = folder / block_names(folder)[1]
    content = block.read_bytes()
    block.write_bytes(content[:-9])
    capsys.readouterr()
    assert main(["compact", str(STORE)]) == 2
    assert "is damaged" in capsys.readouterr().err
    block.write_bytes(content)
    assert main(["compact", str(STORE)]) == 0
    assert "grid.zarr: 3 blocks, " in (told := capsys.readouterr().out)
    assert "; now 1, " in told


def rows_that_are_sorted(blocks, monkeypatch):
    """How many ranges of seeds are sorted to tell which of some blocks count, each of ten cells of its own."""
    done = {
        f"{block:032x}.npz": np.asarray([[10 * block + cell, 0, 5] for cell in range(10)], np.uint64)
        for block in range(blocks)
    }
    number, united = 0, seed_ranges.unite_rows

    def counted(rows):
        nonlocal number
        number += len(rows)
        return united(rows)

    with monkeypatch.context() as patch:
        patch.setattr(consolidate, "block_names", lambda _: list(done))
        patch.setattr(consolidate, "read_done", lambda path: done[path.name])
        patch.setattr(seed_ranges, "unite_rows", counted)
        assert consolidate.blocks_of_sums(Path("grid.zarr")) == sorted(done)
    return number


def test_the_time_to_find_the_blocks_that_count_grows_with_their_number(monkeypatch):
    assert rows_that_are_sorted(200, monkeypatch) <= 2.1 * rows_that_are_sorted(100, monkeypatch)


@pytest.mark.parametrize("keep", ["summary", "moments"])
def test_a_block_of_another_store_is_named(tmp_path, keep):
    """Sums of another store cannot be added; that it is copied there by mistake was a KeyError."""
    one, other = tmp_path / "one.zarr", tmp_path / "other.zarr"
    problem = jb.bernoulli([0.9, 0.4])
    jb.sweep(jb.Uniform(budget=20), problem, 5, store=one, keep=keep)
    jb.sweep(jb.Uniform(budget=30), problem, 5, store=other, keep=keep)
    foreign = block_names(other / "blocks")
    for name in foreign:
        shutil.copy(other / "blocks" / name, one / "blocks")
    for call in (lambda: jb.sweep(jb.Uniform(budget=20), problem, 8, store=one, keep=keep), lambda: jb.compact(one)):
        with pytest.raises(jb.UsageError, match=f"block .*({'|'.join(foreign)}) has runs of another store: delete it"):
            call()
    for name in foreign:
        (one / "blocks" / name).unlink()
    assert jb.sweep(jb.Uniform(budget=20), problem, 8, store=one, keep=keep).attrs["keep"] == keep
