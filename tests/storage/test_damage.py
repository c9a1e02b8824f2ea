"""What goes wrong with files: one clear line, and nothing that has been committed is lost."""

import json
import os
import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import jaxbandits as jb
from jaxbandits.cli import main
from jaxbandits.storage import arrays_on_disk, block_files, consolidate, writer
from jaxbandits.storage.block_files import block_names
from jaxbandits.storage.consolidate import read_store
from jaxbandits.storage.store_files import blocks_folder, read_description

SPECIFICATION = """
[algorithm]
name = "ugape-c"
epsilon = { axis = [0.2, 0.3] }
delta = 0.1
[problem]
spec = "bernoulli:0.7,0.5,0.4"
[run]
seeds = 30
"""
STORE = Path("grid.zarr")


@pytest.fixture(autouse=True)
def _setting(monkeypatch):
    monkeypatch.setattr(writer, "_FIRST", 300.0)  # one block, however long it takes
    Path("grid.toml").write_text(SPECIFICATION)


@pytest.fixture
def stored(capsys):
    """A finished store, and what is in it."""
    assert main(["sweep", "grid.toml", "--out", str(STORE)]) == 0
    capsys.readouterr()
    return read_store(STORE)


def resumed(capsys):
    status = main(["sweep", "grid.toml", "--out", str(STORE), "--resume"])
    return status, capsys.readouterr().err


def flip(file, at=0.5):
    content = bytearray(file.read_bytes())
    content[int(len(content) * at)] ^= 1
    file.write_bytes(content)


def cut(file):
    file.write_bytes(file.read_bytes()[:-7])


@pytest.mark.parametrize("harm", [flip, cut])
def test_a_block_that_is_damaged_is_named_and_made_again(harm, stored, capsys):
    (block,) = [blocks_folder(STORE) / name for name in block_names(blocks_folder(STORE))]
    harm(block)
    status, told = resumed(capsys)
    assert status == 2
    assert f"block {block} is damaged" in told
    assert len(told.splitlines()) == 1
    block.unlink()
    assert resumed(capsys)[0] == 0
    xr.testing.assert_identical(read_store(STORE), stored)


@pytest.mark.parametrize("harm", [flip, cut, Path.unlink])
@pytest.mark.parametrize("which", ["pulls/0.0", "cost/.zarray", ".zmetadata"])
def test_arrays_that_are_damaged_are_made_again_from_the_blocks(harm, which, stored, capsys):
    harm(STORE / which)
    with pytest.raises(jb.UsageError, match=rf"grid.zarr is damaged, its file {which} has changed: sweep … --resume"):
        read_store(STORE)
    assert main(["plot", str(STORE), "--kind", "curve", "--out", "a.png"]) == 2
    assert "--resume makes it again" in capsys.readouterr().err
    assert resumed(capsys)[0] == 0
    xr.testing.assert_identical(read_store(STORE), stored)


def test_a_netcdf_store_with_one_byte_changed(capsys):
    command = ["sweep", "grid.toml", "--out", "grid.nc"]
    assert main(command) == 0
    before = read_store(Path("grid.nc"))
    flip(Path("grid.nc"), 0.9)
    with pytest.raises(jb.UsageError, match=r"grid.nc is damaged, its file grid.nc has changed"):
        read_store(Path("grid.nc"))
    assert main([*command, "--resume"]) == 0
    xr.testing.assert_identical(read_store(Path("grid.nc")), before)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"format": 1}', '{"format": 2}'])
def test_a_description_that_is_damaged(content, stored, capsys):
    (blocks_folder(STORE) / "sweep.json").write_text(content)
    status, told = resumed(capsys)
    assert status == 2
    assert "is damaged" in told or "another version" in told
    assert main(["status", str(STORE)]) == 2
    assert main(["merge", str(STORE), str(STORE), "--out", "b.zarr"]) == 2
    assert not Path("b.zarr").exists()


def test_arrays_of_a_store_that_grew_meanwhile_are_not_taken_for_all_runs(stored):
    """Another process adds seeds to the description while arrays are made."""
    folder, before = blocks_folder(STORE), read_description(STORE)
    assert consolidate.is_made(STORE)
    before._replace(layout=before.layout._replace(seeds=60)).write(folder)
    assert not consolidate.is_made(STORE)
    consolidate.make_view(STORE, before)
    assert not consolidate.is_made(STORE)
    with pytest.raises(jb.UsageError, match=r"has 60 of 120 runs: sweep … --resume makes the others"):
        read_store(STORE)


def test_a_full_disk(stored, capsys, monkeypatch):
    """What a tmpfs of 2 MB shows in earnest (see `experiments/`), here by the error that it raises."""
    Path("grid.toml").write_text(SPECIFICATION.replace("seeds = 30", "seeds = 60"))
    replace = os.replace

    def full(source, target):
        if str(target).endswith(block_files.ENDING):
            raise OSError(28, "No space left on device")
        return replace(source, target)

    monkeypatch.setattr(os, "replace", full)
    status, told = resumed(capsys)
    assert status == 1
    assert told == (
        f"jaxbandits: [Errno 28] cannot write to {blocks_folder(STORE)}: No space left on device; what has been "
        "committed is kept\n"
    )
    monkeypatch.setattr(os, "replace", replace)
    assert not list(blocks_folder(STORE).glob(".*.part"))
    assert resumed(capsys)[0] == 0
    assert read_store(STORE).isel(seed=slice(30)).pulls.equals(stored.pulls)


def test_a_folder_that_is_no_store_is_left_alone(capsys):
    STORE.mkdir()
    (STORE / "letter.txt").write_text("dear")
    assert resumed(capsys) == (2, "jaxbandits: grid.zarr is not a store of results\n")
    assert [path.name for path in STORE.iterdir()] == ["letter.txt"]


def test_blocks_may_be_deleted_once_all_runs_are_there(stored, capsys):
    shutil.rmtree(blocks_folder(STORE))
    xr.testing.assert_identical(read_store(STORE), stored)
    assert resumed(capsys)[0] == 0
    Path("grid.toml").write_text(SPECIFICATION.replace("seeds = 30", "seeds = 60"))
    status, told = resumed(capsys)
    assert status == 2
    assert "was written as a whole, without blocks that others could be added to" in told


class Harm:
    """Unpickled, it leaves a file."""

    def __reduce__(self):
        return Path.touch, (Path("harm"),)


def test_no_code_in_a_block_is_run(stored, capsys):
    """A block from a stranger, whose name is right."""
    folder = blocks_folder(STORE)
    (old,) = block_names(folder)
    (folder / old).unlink()
    np.savez(folder / "new.npz", cells=np.asarray([Harm()], object), allow_pickle=True)
    content = (folder / "new.npz").read_bytes()
    (folder / "new.npz").unlink()
    name = block_files.hashlib.sha256(content).hexdigest()[: block_files._HASH]
    (folder / f"{name}{block_files.ENDING}").write_bytes(content)
    status, told = resumed(capsys)
    assert status == 2
    assert "is damaged" in told
    assert main(["status", str(STORE)]) == 2
    assert not Path("harm").exists()


def test_no_code_in_arrays_is_run(stored, capsys):
    """A codec that unpickles what it reads."""
    shutil.rmtree(blocks_folder(STORE))
    about = json.loads((STORE / "pulls" / ".zarray").read_text())
    about |= {"compressor": None, "filters": [{"id": "pickle", "protocol": 5}], "dtype": "|O"}
    (STORE / "pulls" / ".zarray").write_text(json.dumps(about))
    for chunk in (STORE / "pulls").glob("[0-9]*"):
        chunk.write_bytes(pickle.dumps(Harm()))
    (STORE / ".zmetadata").unlink()
    with pytest.raises(jb.UsageError, match="codec 'pickle', which is not read"):
        read_store(STORE)
    assert resumed(capsys)[0] == 2
    assert not Path("harm").exists()


def test_a_block_that_would_grow_is_not_read(stored, capsys):
    folder = blocks_folder(STORE)
    (old,) = block_names(folder)
    (folder / old).unlink()
    np.savez_compressed(folder / "new.npz", cells=np.zeros(10**6))
    content = (folder / "new.npz").read_bytes()
    (folder / "new.npz").unlink()
    name = block_files.hashlib.sha256(content).hexdigest()[: block_files._HASH]
    (folder / f"{name}{block_files.ENDING}").write_bytes(content)
    assert resumed(capsys)[0] == 2


def test_large_arrays_are_made_in_a_file(stored, monkeypatch, capsys):
    monkeypatch.setattr(consolidate, "_IN_MEMORY", 0)
    (blocks_folder(STORE) / "view.json").unlink()
    assert resumed(capsys)[0] == 0
    xr.testing.assert_identical(read_store(STORE), stored)


def swept(values, **options):
    rule, problem = jb.UGapEc(epsilon=jb.axis(values), delta=0.1), jb.bernoulli([0.7, 0.5, 0.4])
    return jb.sweep(rule, problem, seeds=30, store="opened.zarr", **options)


def moved():
    os.rename("opened.zarr", "elsewhere.zarr")


def deleted():
    shutil.rmtree("opened.zarr")


def grown():
    """Chunks of one cell each, whose numbers move: the second was read as the first."""
    swept([0.3, 0.2])


@pytest.mark.parametrize("change", [moved, deleted, grown])
def test_numbers_that_are_no_longer_there_are_not_zeros(change, monkeypatch):
    monkeypatch.setattr(arrays_on_disk, "_CHUNK", 240)
    before = swept([0.2])
    change()
    with pytest.raises(jb.UsageError, match=r"opened.zarr was moved, deleted or replaced since it was opened: open"):
        before.pulls.mean()


def test_a_store_is_read_from_another_folder_and_from_a_copy(tmp_path, monkeypatch):
    before = swept([0.2, 0.3])
    copied = pickle.dumps(before)
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    assert before.pulls.min() > 0
    assert (pickle.loads(copied).pulls == before.pulls).all()
