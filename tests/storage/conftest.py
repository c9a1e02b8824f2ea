"""Each test has a folder of its own; small blocks."""

import pytest

from jaxbandits.storage import writer


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def small_blocks(monkeypatch):
    """A block is written whenever runs have ended."""
    monkeypatch.setattr(writer, "_FIRST", 0.0)
    monkeypatch.setattr(writer, "_SHARE", 0.0)
    monkeypatch.setattr(writer, "_WRITING", 1e9)
