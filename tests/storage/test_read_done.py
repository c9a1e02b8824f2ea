"""Which seeds a store has is read from the first array of its blocks: the same as from whole blocks, or an error."""

import json
import time

import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits.cli import main
from jaxbandits.storage import consolidate, seed_ranges
from jaxbandits.storage.block_files import block_names, check_block, read_block, read_done
from jaxbandits.storage.store_files import blocks_folder, done_by_cell
from jaxbandits.sweeps.store_status import state_of
from tests.storage.many_blocks import make_store


@pytest.fixture
def store(tmp_path):
    make_store(tmp_path / "many.zarr", blocks=40)
    return tmp_path / "many.zarr"


def test_what_is_done_is_what_the_whole_block_has(store):
    folder, expected = blocks_folder(store), {}
    for name in block_names(folder):
        _, whole = read_block(folder / name)
        np.testing.assert_array_equal(read_done(folder / name), whole["done"])
        for cell, seed in zip(whole["cells"][whole["cell"]].tolist(), whole["seed"].tolist(), strict=True):
            expected.setdefault(f"{cell:016x}", []).append((seed, seed + 1))
    assert done_by_cell(folder) == {cell: seed_ranges.united(seeds) for cell, seeds in expected.items()}


def test_any_changed_byte_of_a_block_is_noticed(store):
    folder, random = blocks_folder(store), np.random.default_rng(7)
    name = block_names(folder)[0]
    content = (folder / name).read_bytes()
    for place in random.integers(0, len(content), 200):
        (folder / name).write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        with pytest.raises(jb.UsageError, match="is damaged"):
            check_block(folder / name)


def test_a_store_that_is_extended_parses_each_block_once(tmp_path, monkeypatch):
    """A first pass checks every byte, and reads only which seeds there are."""
    parsed: list[str] = []
    read = consolidate.read_block
    monkeypatch.setattr(consolidate, "read_block", lambda path: parsed.append(path.name) or read(path))
    for seeds in (3, 6, 9):
        parsed.clear()
        jb.sweep(jb.Uniform(budget=20), jb.bernoulli([0.9, 0.4]), seeds, store=tmp_path / "grid.zarr")
    assert sorted(parsed) == block_names(tmp_path / "grid.zarr" / "blocks")
    assert len(parsed) >= 3


def test_ranges_of_several_cells_are_those_of_lists():
    random = np.random.default_rng(5)
    for _ in range(300):
        cell = random.choice(np.asarray([3, 2**63 + 1, 2**64 - 1], np.uint64), random.integers(0, 25))
        start = random.integers(0, 60, cell.size).astype(np.uint64) + np.uint64(random.choice([0, 2**32 - 80]))
        stop = start + random.integers(1, 9, cell.size).astype(np.uint64)
        rows = np.column_stack([cell, start, stop])
        expected = {
            f"{one:016x}": seed_ranges.united(rows[cell == one][:, 1:].tolist()) for one in np.unique(cell).tolist()
        }
        assert seed_ranges.by_cell(rows) == {one: [tuple(ends) for ends in some] for one, some in expected.items()}
        assert seed_ranges.count_seeds(rows) == sum(b - a for some in expected.values() for a, b in some)


def test_a_damaged_block_is_an_error_or_read(store):
    """Any byte may be another, and any end may be missing: never another error, an endless read or a huge array."""
    folder, random = blocks_folder(store), np.random.default_rng(6)
    name = block_names(folder)[0]
    content = (folder / name).read_bytes()
    refused = 0
    for trial in range(600):
        harmed = bytearray(content[: random.integers(1, 1500)] if trial % 3 == 0 else content)
        for place in random.integers(0, min(len(harmed), 1500), 3):
            harmed[place] = random.integers(256)
        (folder / name).write_bytes(harmed)
        try:
            done_by_cell(folder)
        except jb.UsageError:
            refused += 1
    assert refused > 100


def test_status_of_many_blocks_is_quick_and_json(tmp_path, capsys):
    """Of 10,000 it takes 0.7 s (`experiments/benchmarks/many_blocks.py`); here the machine may be busy."""
    make_store(tmp_path / "many.zarr", blocks=1000)
    began = time.perf_counter()
    state = state_of(tmp_path / "many.zarr")
    assert time.perf_counter() - began < 1
    assert (state.there, state.wanted, state.blocks) == (100_000, 100_000, 1000)
    assert main(["status", str(tmp_path / "many.zarr"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {name: found[name] for name in ("algorithm", "problem", "keep", "runs", "wanted", "complete", "arrays")} == {
        "algorithm": "ugape-c", "problem": "two-group", "keep": "runs", "runs": 100_000, "wanted": 100_000,
        "complete": True, "arrays": False,
    }  # fmt: skip
    assert found["writers"] == []
    assert found["blocks"] == 1000
    assert found["bytes"] > 10**6
