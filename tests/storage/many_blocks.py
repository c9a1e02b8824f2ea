"""The stores of invented runs that the benchmark of many blocks makes."""

import importlib.util
from pathlib import Path

__all__ = ["make_store"]

_PATH = Path(__file__).parents[2] / "experiments" / "benchmarks" / "many_blocks.py"
_spec = importlib.util.spec_from_file_location("many_blocks", _PATH)
_module = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_module)
make_store = _module.make_store
