"""Compiles a block of steps by LLVM, and calls it inside of a compiled program of JAX, by XLA's foreign functions.

LLVM comes with llvmlite, which is optional: `pip install "jaxbandits[llvm]"`.
"""

import ctypes
import hashlib
import importlib.util
import threading
from collections.abc import Callable
from typing import Any, TypeVar

import jax
import jax.numpy as jnp

from jaxbandits.arrays.platform_lowering import override_lowering
from jaxbandits.engine.llvm.graph_values import NotSupportedError, nodes_of
from jaxbandits.engine.llvm.llvm_function import function_text
from jaxbandits.engine.llvm.passes import in_passes
from jaxbandits.engine.llvm.step_graph import graph_of

__all__ = ["compiler_is_there", "steps_by_llvm"]

Fixed = TypeVar("Fixed")
Lanes = TypeVar("Lanes")

# XLA calls a handler with one frame (jaxlib/include/xla/ffi/api/c_api.h). Offsets in bytes: an extension at 8, XLA's
# functions at 16, arguments at 40 and results at 80, whose arrays of buffers are 32 further. A buffer's data are at 24.
# An extension of type 1 asks for the version of the interface: it gets XLA's own, which is at 32 of its functions. The
# XLA of JAX 0.8.0 gives no functions then, and has version 0.1.
_HANDLER = """
@oldest = private constant [2 x i32] [i32 0, i32 1]
define ptr @handler(ptr %frame) {
  %e0 = getelementptr i8, ptr %frame, i64 8
  %extension = load ptr, ptr %e0
  %some = icmp ne ptr %extension, null
  br i1 %some, label %extended, label %work
extended:
  %k0 = getelementptr i8, ptr %extension, i64 8
  %kind = load i32, ptr %k0
  %asked = icmp eq i32 %kind, 1
  br i1 %asked, label %version, label %work
version:
  %m0 = getelementptr i8, ptr %extension, i64 24
  %metadata = load ptr, ptr %m0
  %a0 = getelementptr i8, ptr %frame, i64 16
  %api = load ptr, ptr %a0
  %own = getelementptr i8, ptr %api, i64 32
  %unknown = icmp eq ptr %api, null
  %from = select i1 %unknown, ptr @oldest, ptr %own
  %to = getelementptr i8, ptr %metadata, i64 24
  %numbers = load i64, ptr %from, align 4
  store i64 %numbers, ptr %to, align 4
  ret ptr null
work:
  %inputs = alloca [INPUTS x ptr]
  %outputs = alloca [OUTPUTS x ptr]
  %i0 = getelementptr i8, ptr %frame, i64 72
  %arguments = load ptr, ptr %i0
  %o0 = getelementptr i8, ptr %frame, i64 112
  %results = load ptr, ptr %o0
COPIES
  %steps = load i32, ptr %STEPS
  call void @steps_of_runs(ptr %inputs, ptr %outputs, i32 %steps)
  ret ptr null
}
"""
_lock = threading.Lock()
_engines: dict[str, Any] = {}


def compiler_is_there() -> bool:
    """Return whether llvmlite is installed."""
    return importlib.util.find_spec("llvmlite") is not None


def steps_by_llvm(
    step: Callable[[Fixed, Lanes], Lanes], fixed: Fixed, lanes: Lanes, busy: jax.Array, steps: jax.Array
) -> Lanes:
    """Apply `step` to the lanes some times; lanes that are not busy do not change.

    Args:
        step: from pytrees of arrays, `fixed` and `lanes`, to new `lanes`, lane by lane.
        fixed: the arrays that are only read; leaves `(…, R)` or `()`.
        lanes: the arrays that change; leaves `(…, R)`.
        busy: bool `(R,)`: which lanes `step` may change. A vector of lanes without one is left out.
        steps: int32 `()`: how many times.

    Raises:
        NotSupportedError: an operation that this compiler does not know.
    """
    read, changed, structure = jax.tree.leaves(fixed), jax.tree.leaves(lanes), jax.tree.structure(lanes)
    with override_lowering("llvm"):
        graph = graph_of(step, fixed, lanes)
    state = {number: len(read) + number for number in range(len(changed))}
    passes = in_passes(graph.nodes, nodes_of(graph.inputs[len(read) :]), nodes_of(graph.outputs))
    width = _width()
    if changed[0].shape[-1] % width:
        raise NotSupportedError(f"{changed[0].shape[-1]} lanes, which vectors of {width} do not divide")
    text = function_text("steps_of_runs", graph, passes, state, changed[0].shape[-1], width)
    name = _registered(text + _handler(len(read) + len(changed) + 1, len(changed)))
    types = [jax.ShapeDtypeStruct(leaf.shape, leaf.dtype) for leaf in changed]
    aliases = {source: number for number, source in state.items()}
    found = jax.ffi.ffi_call(name, types, input_output_aliases=aliases)(
        *read, *changed, busy, jnp.asarray(steps, jnp.int32)
    )
    return jax.tree.unflatten(structure, found)


def _handler(inputs: int, outputs: int) -> str:
    copies = []
    for table, source, count in (("inputs", "arguments", inputs + 1), ("outputs", "results", outputs)):
        for number in range(count):
            at = f"{table}{number}"
            copies += [
                f"%{at}.a = getelementptr ptr, ptr %{source}, i64 {number}", f"%{at}.b = load ptr, ptr %{at}.a",
                f"%{at}.c = getelementptr i8, ptr %{at}.b, i64 24", f"%{at}.d = load ptr, ptr %{at}.c",
            ]  # fmt: skip
            if number < inputs or table == "outputs":
                copies += [
                    f"%{at}.e = getelementptr ptr, ptr %{table}, i64 {number}", f"store ptr %{at}.d, ptr %{at}.e",
                ]  # fmt: skip
    text = _HANDLER.replace("INPUTS", str(inputs)).replace("OUTPUTS", str(outputs))
    return text.replace("COPIES", "\n".join(copies)).replace("STEPS", f"inputs{inputs}.d")


def _width() -> int:
    """Return the runs of a vector, which fills a register of the processor; two vectors were not faster (measured)."""
    from llvmlite import binding

    return 16 if binding.get_host_cpu_features().get("avx512f") else 8


def _registered(text: str) -> str:
    """Return the name under which XLA calls the function, compiled once."""
    name = f"jaxbandits_{hashlib.sha256(text.encode()).hexdigest()[:32]}"
    with _lock:
        if name not in _engines:
            engine = _compiled(text)
            address = engine.get_function_address("handler")
            handler = jax.ffi.pycapsule(ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(address))
            jax.ffi.register_ffi_target(name, handler, platform="cpu")
            _engines[name] = engine
    return name


def _compiled(text: str) -> Any:
    from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    features = binding.get_host_cpu_features().flatten()
    target = binding.Target.from_default_triple().create_target_machine(
        cpu=binding.get_host_cpu_name(), features=features, opt=2
    )
    module = binding.parse_assembly(text)
    module.verify()
    tuning = binding.create_pipeline_tuning_options(speed_level=2)
    builder = binding.create_pass_builder(target, tuning)
    builder.getModulePassManager().run(module, builder)
    engine = binding.create_mcjit_compiler(module, target)
    engine.finalize_object()
    return engine
