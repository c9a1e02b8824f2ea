"""The quickstart runs from its first cell to its last, on what is installed and without a network."""

import pathlib

import nbclient
import nbformat

NOTEBOOKS = pathlib.Path(__file__).parents[2] / "experiments" / "notebooks"


def test_the_quickstart_runs(tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    notebook = nbformat.read(NOTEBOOKS / "quickstart.ipynb", as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells)
    client = nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(NOTEBOOKS)}}
    )
    client.execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    pictures = [o for o in outputs if "image/png" in o.get("data", {})]
    tables = [o for o in outputs if "text/html" in o.get("data", {})]
    assert len(pictures) >= 3
    assert len(tables) == 2
    assert not [o["text"] for o in outputs if o.get("name") == "stderr"]
