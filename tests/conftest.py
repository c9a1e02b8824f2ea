"""Settings for every test, made before JAX starts: two CPU devices, no windows, compiled programs shared.

Rank promotion stays allowed: arms first, runs last rests on it, `(R,)` broadcasting with `(K, R)`.
"""

import gc
import os
import tempfile

os.environ.setdefault("JAX_NUM_CPU_DEVICES", "2")
os.environ.setdefault("MPLBACKEND", "Agg")
if "PYTEST_XDIST_WORKER" not in os.environ:
    _PROGRAMS = tempfile.TemporaryDirectory(prefix="jaxbandits-tests-")
    os.environ["JAX_COMPILATION_CACHE_DIR"] = _PROGRAMS.name
    os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0.2"
    os.environ["JAX_COMPILATION_CACHE_MAX_SIZE"] = str(2**31)  # with a limit, JAX locks the folder

import pytest

from jaxbandits.engine.compilation import make_room

# What has been imported stays: the collector, which tracing calls often, need not look at it again.
gc.freeze()


@pytest.fixture(autouse=True, scope="module")
def room_for_programs():
    """The tests of one process compile more programs than it could keep."""
    yield
    make_room()
