"""The papers' figures are what people copy: what they run is written with the public names, apart from drawing."""

import ast
import sys
from pathlib import Path

import pytest

import jaxbandits as jb

FOLDER = Path(jb.__file__).parent / "experiments"
RUNS = "jaxbandits.experiments.runs"
OF_RUNS = {*sys.stdlib_module_names, "numpy", "xarray", "jax"}
OF_DRAWING = {*OF_RUNS, "scipy", "matplotlib"}
PUBLIC = {"jb": jb, "jb.problems": jb.problems, "jb.theory": jb.theory}


def barred(module, *, runs):
    """Whether the figures may not import from a module."""
    rooms = [RUNS] if runs else ["jaxbandits.experiments", "jaxbandits.report", "jaxbandits.errors"]
    own = any(module == room or module.startswith(f"{room}.") for room in rooms)
    return not own and module.split(".")[0] not in (OF_RUNS if runs else OF_DRAWING)


def faults(source, *, runs):
    """What a module of the figures does that a user could not: imports from inside, and runs beside drawing."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [(alias.name, alias.asname) for alias in node.names]
            found += [
                f"imports {name}"
                for name, own in names
                if (name, own) != ("jaxbandits", "jb") and barred(name, runs=runs)
            ]
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            found += [f"imports from {module}"] if barred(module, runs=runs) else []
        elif isinstance(node, ast.Attribute):
            holder = PUBLIC.get(ast.unparse(node.value))
            found += [f"uses {ast.unparse(node)}"] if holder and node.attr not in holder.__all__ else []
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not runs:
            found += [f"runs {ast.unparse(node.func)}"] if node.func.attr in ("simulate", "sweep") else []
    return found


@pytest.mark.parametrize("path", sorted(FOLDER.rglob("*.py")), ids=lambda path: path.relative_to(FOLDER).as_posix())
def test_figures_use_what_a_user_has(path):
    found = faults(path.read_text(), runs=path.parent.name == "runs")
    assert found == (["runs jb.sweep"] if path.name == "bench.py" else [])  # which hands it to the runs


def test_faults_are_found():
    both = {
        "from jaxbandits.sweeps.spec import parse_problem": "imports from jaxbandits.sweeps.spec",
        "from jaxbandits import engine": "imports from jaxbandits",
        "from . import common": "imports from .",
        "import jaxbandits": "imports jaxbandits",
        "import jaxbandits.engine as jb": "imports jaxbandits.engine",
        "import torch": "imports torch",
        "import jaxbandits as jb\njb._inside": "uses jb._inside",
        "import jaxbandits as jb\njb.no_such_name": "uses jb.no_such_name",
        "import jaxbandits as jb\njb.theory._inside(1)": "uses jb.theory._inside",
    }
    for source, fault in both.items():
        assert faults(source, runs=True) == faults(source, runs=False) == [fault]
    for source in (
        "from jaxbandits.report import plots",
        "from jaxbandits.experiments import bench",
        "import matplotlib",
    ):
        assert len(faults(source, runs=True)) == 1
        assert not faults(source, runs=False)
    for name in ("jb.sweep", "bench.sweep", "jb.simulate"):
        assert faults(f"import jaxbandits as jb\n{name}(1)", runs=False) == [f"runs {name}"]
    fine = (
        f"import jax.numpy as jnp\nimport jaxbandits as jb\nfrom {RUNS}.common import Sweep\njb.theory.h_t_epsilon(1)"
    )
    assert not faults(fine + "\njb.sweep(1)", runs=True)
    assert not faults(fine, runs=False)


def test_there_are_both():
    assert len(list(FOLDER.glob("*.py"))) > 20
    assert len(list((FOLDER / "runs").glob("*.py"))) > 15
