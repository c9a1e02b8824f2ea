"""The papers' figures are what people copy: what they run is written with the public names, apart from drawing."""

import ast
import sys
from pathlib import Path

import pytest

import jaxbandits as jb

FOLDER = Path(jb.__file__).parent / "experiments"
RUNS = "jaxbandits.experiments.runs"
OUTSIDE = {*sys.stdlib_module_names, "numpy", "xarray", "jax", "scipy", "matplotlib"}


def faults(source, *, runs):
    """What a module of the figures does that a user could not: imports from inside, and runs beside drawing."""
    found = []
    for node in ast.walk(ast.parse(source)):
        modules = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [node.module]
        for module in modules:
            allowed = module.split(".")[0] in OUTSIDE or module == "jaxbandits" or module.startswith(RUNS)
            if not runs:
                allowed |= module.startswith(("jaxbandits.experiments", "jaxbandits.report", "jaxbandits.errors"))
            if not allowed:
                found.append(f"imports {module}")
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "jb":
            if node.attr not in jb.__all__:
                found.append(f"uses jb.{node.attr}")
            if not runs and node.attr in ("simulate", "sweep"):
                found.append(f"runs jb.{node.attr}")
    return found


@pytest.mark.parametrize("path", sorted(FOLDER.rglob("*.py")), ids=lambda path: path.relative_to(FOLDER).as_posix())
def test_figures_use_what_a_user_has(path):
    found = faults(path.read_text(), runs=path.parent.name == "runs")
    assert found == (["runs jb.sweep"] if path.name == "bench.py" else [])  # which hands it to the runs


def test_faults_are_found():
    inside = "from jaxbandits.sweeps.spec import parse_problem\nimport torch\nimport jaxbandits as jb\njb.no_such_name"
    assert len(faults(inside, runs=True)) == 3
    drawing = "from jaxbandits.report import plots\nimport jaxbandits as jb\njb.sweep(1)"
    assert faults(drawing, runs=False) == ["runs jb.sweep"]
    assert faults(drawing, runs=True) == ["imports jaxbandits.report"]


def test_there_are_both():
    assert len(list(FOLDER.glob("*.py"))) > 20
    assert len(list((FOLDER / "runs").glob("*.py"))) > 15
