"""Settings for every test, made before JAX starts: two CPU devices, no windows, compiled programs kept and bounded.

Most tests ask whether a formula or a rule is right; their programs are compiled without most optimisations, which takes
half the time. What is marked `bits` has the programs that users get: it compares their bits, or runs longer than it
compiles.

Rank promotion stays allowed: arms first, runs last rests on it, `(R,)` broadcasting with `(K, R)`.
"""

import ctypes
import gc
import os
import shutil
from pathlib import Path

import platformdirs

os.environ.setdefault("JAX_NUM_CPU_DEVICES", "2")
os.environ.setdefault("MPLBACKEND", "Agg")
if "PYTEST_XDIST_WORKER" not in os.environ:
    # Kept from one run of the tests to the next; a limit of JAX's own would read all files for each that it writes.
    programs = Path(platformdirs.user_cache_dir("jaxbandits", appauthor=False)) / "programs-of-tests"
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(programs))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
    if programs.exists() and sum(file.stat().st_size for file in programs.iterdir()) > 2**31:
        shutil.rmtree(programs)

import jax
import pytest

#: Bytes that a worker may hold before it forgets its programs; a test takes a few hundred MiB at most.
MOST_BYTES = 1.4 * 2**30

# What has been imported stays: the collector, which tracing calls often, need not look at it again.
gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of either kind follow each other, so that programs are seldom forgotten between them."""
    items.sort(key=lambda item: item.get_closest_marker("bits") is None)


@pytest.fixture(autouse=True)
def optimised_where_bits_are_compared(request: pytest.FixtureRequest) -> None:
    plain = request.node.get_closest_marker("bits") is None
    if jax.config.read("jax_disable_most_optimizations") != plain:
        jax.clear_caches()
        jax.config.update("jax_disable_most_optimizations", plain)


@pytest.fixture(autouse=True)
def bounded_memory():
    """Programs are forgotten, here and in the allocator, once they fill the room that a worker has."""
    yield
    try:
        held = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:  # not Linux
        return
    if held > MOST_BYTES:
        jax.clear_caches()
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)
