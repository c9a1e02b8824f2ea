"""Settings for every test, made before JAX starts: two CPU devices, no windows, no compiled programs kept on disk.

Rank promotion stays allowed: arms first, runs last rests on it, `(R,)` broadcasting with `(K, R)`.
"""

import os

os.environ.setdefault("JAX_NUM_CPU_DEVICES", "2")
os.environ.setdefault("MPLBACKEND", "Agg")
os.environ["JAX_ENABLE_COMPILATION_CACHE"] = "0"

import pytest

from jaxbandits.engine.compilation import make_room


@pytest.fixture(autouse=True, scope="module")
def room_for_programs():
    """The tests of one process compile more programs than it could keep."""
    yield
    make_room()
