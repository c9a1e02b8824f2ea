"""Modules of a user's own, written for a test and edited in it."""

import importlib
import os
import sys

import pytest


class Modules:
    """Modules in a folder of their own."""

    def __init__(self, folder):
        self.folder, self.clock, self.names = folder, 10**9, []

    def write(self, name, text):
        """Write a module's file; each version has a later time."""
        self.clock += 10
        file = self.folder / f"{name}.py"
        file.write_text(text, encoding="utf-8")
        os.utime(file, (self.clock, self.clock))
        self.names.append(name)
        return file

    def load(self, name, text):
        """Write a module and import it."""
        self.write(name, text)
        importlib.invalidate_caches()
        return importlib.import_module(name)

    def edit(self, name, old, new):
        """Change a module's file and reload it."""
        text = (self.folder / f"{name}.py").read_text(encoding="utf-8")
        assert old in text
        self.write(name, text.replace(old, new))
        return importlib.reload(sys.modules[name])


@pytest.fixture
def modules(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    made = Modules(tmp_path)
    yield made
    for name in made.names:
        sys.modules.pop(name, None)
