"""Settings for every test, made before JAX starts: two CPU devices, no windows, compiled programs kept and bounded.

Most tests ask whether a formula or a rule is right; their programs are compiled plainly, which takes a third of the
time. What is marked `bits` has the programs that users get: it compares their bits, or runs longer than it compiles.

Rank promotion stays allowed: arms first, runs last rests on it, `(R,)` broadcasting with `(K, R)`.
"""

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
if "PYTEST_XDIST_WORKER" not in os.environ:
    # Kept from one run of the tests to the next; a limit of JAX's own would read all files for each that it writes.
    programs = Path(platformdirs.user_cache_dir("jaxbandits", appauthor=False)) / "programs-of-tests"
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(programs))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
    if programs.exists() and sum(file.stat().st_size for file in programs.iterdir()) > 2**31:
        shutil.rmtree(programs)

import jax
import pytest
from jax._src import compiler
from jax._src.interpreters import mlir
from jax._src.lib.mlir import ir

#: How programs are compiled plainly: kernels as XLA wrote them before its fusion emitters, without LLVM's dear passes,
#: and in one piece, since the other core has a worker of its own.
PLAINLY = {
    "xla_cpu_use_fusion_emitters": False,
    "xla_backend_optimization_level": 0,
    "xla_llvm_disable_expensive_passes": True,
    "xla_cpu_parallel_codegen_split_count": 1,
}
#: Bytes that a worker may hold before it forgets its programs; a test takes a few hundred MiB at most.
MOST_BYTES = 1.4 * 2**30

# Tracing makes so much that the collector, which finds nothing, takes a tenth of the tests' time: it is asked for once
# the room is full (`bounded_memory`).
gc.freeze()
gc.disable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of either kind follow each other, so that programs are seldom forgotten between them."""
    items.sort(key=lambda item: item.get_closest_marker("bits") is None)


class Contexts:
    """What JAX makes anew for every program that it lowers, which takes longer than a small one, is shared."""

    #: As many as that; what programs name is never forgotten.
    most = 200

    def __init__(self) -> None:
        self.made, self.shared, self.used = mlir.make_ir_context, None, 0
        mlir.make_ir_context = self.next

    def next(self) -> ir.Context:
        if ir.Context.current is not None:  # within the lowering of another
            return self.made()
        if self.shared is None or self.used == self.most:
            self.shared, self.used = self.made(), 0
        self.used += 1
        return self.shared


@functools.cache
def options_of_plain_programs() -> dict[str, Any]:
    """Return the options of `PLAINLY` that this version of JAX has: 0.12 has its fusion emitters only."""
    return {name: value for name, value in PLAINLY.items() if is_option(name, value)}


def is_option(name: str, value: Any) -> bool:
    """Return whether XLA takes a compiler option; it refuses one that it does not know."""
    COMPILER.plain, plain = False, COMPILER.plain
    try:
        jax.jit(lambda: 0, compiler_options={name: value}).lower().compile()
    except jax.errors.JaxRuntimeError:
        return False
    finally:
        COMPILER.plain = plain
    return True


class Compiler:
    """Compiles plainly, or as for users."""

    def __init__(self) -> None:
        self.plain = False
        # JAX has such options for a function, and none for a process that may change; without this one, tests are slow.
        self.options = compiler.get_compile_options
        compiler.get_compile_options = self.options_now

    def options_now(self, *args, env_options_overrides=None, **rest):
        chosen = options_of_plain_programs() if self.plain else {}
        return self.options(*args, env_options_overrides=chosen | (env_options_overrides or {}), **rest)

    def switch(self, plain: bool) -> None:
        if plain != self.plain:
            jax.clear_caches()
            self.plain = plain


CONTEXTS = Contexts()
COMPILER = Compiler()


@pytest.fixture(autouse=True)
def optimised_where_bits_are_compared(request: pytest.FixtureRequest) -> None:
    COMPILER.switch(plain=request.node.get_closest_marker("bits") is None)


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
