"""Benchmarks are run by hand, and what they take from the package is there."""

import ast
import importlib
from pathlib import Path
from types import ModuleType

import pytest

BENCHMARKS = sorted((Path(__file__).parents[2] / "experiments" / "benchmarks").glob("*.py"))


def missing(source):
    """What a script takes from modules of the package that they do not have."""
    tree = ast.parse(source)
    modules, lacks = {}, []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {name.asname or name.name: importlib.import_module(name.name) for name in node.names
                        if name.name.startswith("jaxbandits")}  # fmt: skip
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("jaxbandits"):
            module = importlib.import_module(node.module)
            for name in node.names:
                try:
                    found = getattr(module, name.name, None) or importlib.import_module(f"{node.module}.{name.name}")
                except ModuleNotFoundError:
                    lacks.append(f"{node.module}.{name.name}")
                    continue
                if isinstance(found, ModuleType):
                    modules[name.asname or name.name] = found
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            module = modules[node.value.id]
            if not hasattr(module, node.attr):
                lacks.append(f"{module.__name__}.{node.attr}")
    return lacks


@pytest.mark.parametrize("path", BENCHMARKS, ids=lambda path: path.stem)
def test_what_benchmarks_use_is_there(path):
    assert not missing(path.read_text())


def test_what_is_not_there_is_found():
    source = "import jaxbandits as jb\nfrom jaxbandits.arrays import arms\njb.no_such\narms.tie_order\narms.take"
    assert missing(source) == ["jaxbandits.no_such", "jaxbandits.arrays.arms.tie_order"]
    assert missing("from jaxbandits.arrays import nothing") == ["jaxbandits.arrays.nothing"]
