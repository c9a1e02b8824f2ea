"""The notebooks run from their first cell to their last, on what is installed and without a network."""

import pathlib

import nbclient
import nbformat
import pytest

NOTEBOOKS = pathlib.Path(__file__).parents[2] / "experiments" / "notebooks"
#: Pictures at least, and tables.
SHOWN = {"quickstart": (3, 2), "gradients": (1, 3)}


# One of them in the fast tests; what the other shows is shown by the tests of gradients, too.
SLOW = {"gradients": pytest.mark.slow}


@pytest.mark.parametrize("name", [pytest.param(name, marks=SLOW.get(name, ())) for name in SHOWN])
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
