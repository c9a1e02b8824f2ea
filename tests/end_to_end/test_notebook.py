"""The notebooks run from their first cell to their last, on what is installed and without a network."""

import pathlib
import re

import nbclient
import nbformat
import pytest

NOTEBOOKS = pathlib.Path(__file__).parents[2] / "experiments" / "notebooks"
#: Pictures at least, and tables.
SHOWN = {
    "quickstart": (3, 2),
    "gradients": (1, 3),
    "phases": (1, 1),
    "regularity": (2, 1),
    "own_algorithm": (1, 2),
    "live_experiment": (1, 0),
}
#: The one that runs as it stands only.
WHOLE = "quickstart"
#: At most so many runs, and what else makes the code small.
RUNS = 10
SMALLER = {
    "gradients": {"steps=40,\n": "steps=2,\n    instances=2,\n    held_out=4,\n", "steps=40, seeds": "steps=2, seeds"},
    "phases": {"0.5, 12)": "0.5, 3)", "[4, 6, 8, 10, 14, 20, 28, 40]": "[4, 6, 8]", "0.05, 0.5": "0.2, 0.5"},
    "regularity": {"[0.5, 1.0, 2.0, 4.0]": "[0.5, 1.0]"},
    "live_experiment": {"epsilon=0.1": "epsilon=0.4"},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in SHOWN if n != WHOLE])
def test_the_code_of_a_notebook_runs_at_a_small_size(name):
    notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
    code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    code = code.replace("%matplotlib inline\n", "").replace("jb.use_all_cores()\n", "")
    for there, instead in SMALLER.get(name, {}).items():
        assert there in code, there
        code = code.replace(there, instead)
    code = re.sub(r"seeds=(\d+)", lambda found: f"seeds={min(int(found[1]), RUNS)}", code)
    exec(compile(code, name, "exec"), {"__name__": "notebook"})


def test_notebooks_install_from_beside_them_and_never_a_name_of_an_index():
    for path in NOTEBOOKS.glob("*.ipynb"):
        first = next(cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code")
        assert 'SOURCE = ""' in first
        assert re.search(r"else \"jaxbandits\"", first) is None
        assert "--upgrade" not in first


@pytest.mark.slow
@pytest.mark.parametrize("name", SHOWN)
def test_a_notebook_runs(name, tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells)
    client = nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(NOTEBOOKS)}}
    )
    client.execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    pictures = [o for o in outputs if "image/png" in o.get("data", {})]
    tables = [o for o in outputs if "text/html" in o.get("data", {})]
    assert len(pictures) >= SHOWN[name][0]
    assert len(tables) == SHOWN[name][1]
    assert not [o["text"] for o in outputs if o.get("name") == "stderr"]


def test_every_notebook_is_run():
    assert {path.stem for path in NOTEBOOKS.glob("*.ipynb")} == set(SHOWN)
