"""Settings for every test, made before JAX starts: two CPU devices, no windows, compiled programs kept and bounded.

Most tests ask whether a formula or a rule is right; their programs are compiled plainly, which takes half the time.
What is marked `bits` has the programs that users get: it compares their bits, or runs longer than it compiles.

Rank promotion stays allowed: arms first, runs last rests on it, `(R,)` broadcasting with `(K, R)`.
"""

import contextlib
import ctypes
import functools
import gc
import os
import shutil
from pathlib import Path
from typing import Any

import platformdirs

os.environ.setdefault("JAX_NUM_CPU_DEVICES", "2")
os.environ.setdefault("MPLBACKEND", "Agg")
os.environ.setdefault("JAX_TRACEBACK_IN_LOCATIONS_LIMIT", "0")  # lines in messages of compilers: 7% of their time
if "PYTEST_XDIST_WORKER" not in os.environ:
    # Kept from one run of the tests to the next; a limit of JAX's own would read all files for each that it writes.
    programs = Path(platformdirs.user_cache_dir("jaxbandits", appauthor=False)) / "programs-of-tests"
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(programs))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
    # Tests that run at the same time may delete them, too.
    with contextlib.suppress(FileNotFoundError):
        if sum(file.stat().st_size for file in programs.iterdir()) > 2**31:
            shutil.rmtree(programs, ignore_errors=True)

import jax
import pytest
from jax._src import compiler  # no public interface sets options of what JAX compiles by itself

#: How plain programs are compiled: kernels as XLA wrote them before its fusion emitters, which takes a third of the
#: time, and in one piece, since the other core has a worker of its own.
PLAINLY = {"xla_cpu_use_fusion_emitters": False, "xla_cpu_parallel_codegen_split_count": 1}
compile_for_users = compiler.get_compile_options
#: Bytes that a worker may hold before it forgets its programs; a test takes a few hundred MiB at most.
MOST_BYTES = 1.4 * 2**30

# Tracing makes so much that the collector, which finds nothing, takes a tenth of the tests' time: it is asked for once
# the room is full (`bounded_memory`).
gc.freeze()
gc.disable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of either kind follow each other, so that programs are seldom forgotten between them."""
    items.sort(key=lambda item: item.get_closest_marker("bits") is None)


@functools.cache
def options_of_plain_programs() -> dict[str, Any]:
    """Return the options of `PLAINLY` that this version of JAX has: 0.12 has its fusion emitters only."""
    return {name: value for name, value in PLAINLY.items() if is_option(name, value)}


def is_option(name: str, value: Any) -> bool:
    """Return whether XLA takes a compiler option; it refuses one that it does not know."""
    try:
        jax.jit(lambda: 0, compiler_options={name: value}).lower().compile()
    except jax.errors.JaxRuntimeError:
        return False
    return True


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Compile plainly, but for users where bits are compared."""
    plain = item.get_closest_marker("bits") is None
    if plain != (compiler.get_compile_options is compile_plainly):
        jax.clear_caches()
        options_of_plain_programs()  # asks the compiler, as users compile
        jax.config.update("jax_disable_most_optimizations", plain)
        compiler.get_compile_options = compile_plainly if plain else compile_for_users


def compile_plainly(*args: Any, **kwargs: Any) -> Any:
    """Return JAX's options of a compilation, with those of plain programs; what a function asks for comes first."""
    kwargs["env_options_overrides"] = options_of_plain_programs() | (kwargs.get("env_options_overrides") or {})
    return compile_for_users(*args, **kwargs)


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
