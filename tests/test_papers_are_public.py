"""The papers' figures are what people copy: they run and draw with the public names only."""

import ast
import sys
from pathlib import Path

import pytest

import jaxbandits as jb
from jaxbandits import papers

FOLDER = Path(papers.__file__).parent
OUTSIDE = {*sys.stdlib_module_names, "numpy", "xarray", "jax", "scipy", "matplotlib"}
ROOMS = ("jaxbandits.papers", "jaxbandits.report", "jaxbandits.errors")
PUBLIC = {"jb": jb, "jb.problems": jb.problems, "jb.theory": jb.theory, "jb.gradients": jb.gradients}
FIGURES = [line for paper in papers.REGISTRY.values() for line in paper.figures]


def barred(module):
    """Whether the figures may not import from a module."""
    own = any(module == room or module.startswith(f"{room}.") for room in ROOMS)
    return not own and module.split(".")[0] not in OUTSIDE


def faults(source):
    """What a module of the figures does that a user could not: imports and names from inside."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [(alias.name, alias.asname) for alias in node.names]
            found += [f"imports {name}" for name, own in names if (name, own) != ("jaxbandits", "jb") and barred(name)]
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            found += [f"imports from {module}"] if barred(module) else []
        elif isinstance(node, ast.Attribute):
            holder = PUBLIC.get(ast.unparse(node.value))
            found += [f"uses {ast.unparse(node)}"] if holder and node.attr not in holder.__all__ else []
    return found


@pytest.mark.parametrize("path", sorted(FOLDER.rglob("*.py")), ids=lambda path: path.relative_to(FOLDER).as_posix())
def test_figures_use_what_a_user_has(path):
    assert not faults(path.read_text())


def test_faults_are_found():
    for source, fault in {
        "from jaxbandits.sweeps.spec import parse_problem": "imports from jaxbandits.sweeps.spec",
        "from jaxbandits import engine": "imports from jaxbandits",
        "from . import bench": "imports from .",
        "import jaxbandits": "imports jaxbandits",
        "import jaxbandits.engine as jb": "imports jaxbandits.engine",
        "import torch": "imports torch",
        "import jaxbandits as jb\njb._inside": "uses jb._inside",
        "import jaxbandits as jb\njb.no_such_name": "uses jb.no_such_name",
        "import jaxbandits as jb\njb.theory._inside(1)": "uses jb.theory._inside",
    }.items():
        assert faults(source) == [fault]
    assert not faults(
        "import jax.numpy as jnp\nimport matplotlib\nimport jaxbandits as jb\nfrom jaxbandits.report import plots\n"
        "from jaxbandits.papers.bench import Bench\njb.theory.h_t_epsilon(1)\njb.sweep(1)"
    )


@pytest.mark.parametrize("line", FIGURES)
def test_a_figure_has_the_interface(line):
    figure = papers.load_figure(line)
    assert set(figure.SIZES) == set(papers.SCALES)
    assert all(type(size) is figure.Size for size in figure.SIZES.values())
    own = ["tables"] if hasattr(figure, "read_table") else []
    names = figure.show.__code__.co_varnames[: figure.show.__code__.co_argcount]
    assert list(names) == ["bench", "size", *own]


def test_every_module_that_draws_is_registered():
    modules = {path: path.read_text() for path in FOLDER.rglob("*.py") if path.parent != FOLDER}
    drawing = {f"{path.parent.name}.{path.stem}" for path, text in modules.items() if "bench.exhibit(" in text}
    assert drawing == set(FIGURES)
    assert len(FIGURES) == len(set(FIGURES)) > 30
