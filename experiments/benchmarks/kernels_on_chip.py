"""What Triton or Mosaic makes of a block of steps as one kernel (`jaxbandits/engine/on_chip/pallas_loop.py`).

* bytes a pull: what a lane loads and stores for a block, over its steps, each of which pulls an arm or more;
* on H100, where arms are padded to a power of two: registers of a thread, and bytes that it stores for want of more, by
  the assembler;
* on v5e: bundles of instructions of a step, one a clock if nothing waits, for the 1024 lanes of a kernel (without what
  stands in loops inside it, marked `+`), and vector registers that a step stores in VMEM for want of more: a state has
  more than there are, and VMEM is on the chip. libtpu tells these in files only, of each part of a program that it
  compiles: with `--on-chip` in the command line, and not otherwise.
"""

import atexit
import dataclasses
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from optimised_programs import Program

from jaxbandits.arrays.platform_lowering import tracing_for
from jaxbandits.engine.lane_counts import block_length
from jaxbandits.engine.lane_state import Carry, Cells, Settings
from jaxbandits.engine.lanes import run_chunk
from jaxbandits.engine.on_chip.pallas_loop import NAME
from jaxbandits.engine.rows import blank_log, row_types

__all__ = ["Kernel", "Named", "kernel", "rows_of_kernels"]

#: Where libtpu, which starts later, writes what it has made.
TOLD = Path(tempfile.mkdtemp())
atexit.register(shutil.rmtree, TOLD, ignore_errors=True)
if "--on-chip" in sys.argv:
    os.environ["LIBTPU_INIT_ARGS"] = f"--xla_jf_dump_to={TOLD} --xla_jf_dump_llo_text=true"


class Kernel(NamedTuple):
    """What is found of a kernel."""

    bytes_per_step: float | None = None  # that a lane loads and stores, over the steps in between; None: no kernel
    registers: int | None = None  # of a thread, on a GPU
    spills: int | None = None  # bytes that a thread stores for want of registers; vector registers of a step on a TPU
    bundles: str | None = None  # of instructions of a step, on a TPU
    refused: str = ""  # what the compiler says


def kernel(cells: Cells, carry: Carry, settings: Settings, mesh: Mesh) -> Kernel:
    """Compile the loop over blocks of steps for devices that need not be there.

    Args:
        cells: the grid.
        carry: the lanes, as many as whole kernels have.
        settings: of the engine's program.
        mesh: of one device.
    """
    block = block_length(mesh.devices.flat[0].platform, in_batches=False, on_chip=True)
    settings = dataclasses.replace(settings, mesh=mesh, block=block, on_chip=True)

    def on_device(cells: Cells, carry: Carry) -> Any:
        lanes = jax.tree.map(lambda x: x[0], carry)
        with tracing_for(settings.platform):
            log = blank_log(row_types(cells, carry, settings), lanes.problem.arms, settings)
            after, log = run_chunk(cells, lanes, log, jnp.int32(16 * block), settings)
        return jax.tree.map(lambda x: x[None], (after.state, after.steps, log.pulled))

    def like(tree: Any, spec: PartitionSpec) -> Any:
        place = NamedSharding(mesh, spec)
        return jax.tree.map(lambda x: jax.ShapeDtypeStruct(jnp.shape(x), x.dtype, sharding=place), tree)

    shared, split = PartitionSpec(), PartitionSpec("device")
    function = jax.shard_map(on_device, mesh=mesh, in_specs=(shared, split), out_specs=split, check_vma=False)
    with tempfile.TemporaryDirectory() as folder:
        try:
            lowered = jax.jit(function).lower(like(cells, shared), like(carry, split))
            made = lowered.compile(compiler_options={"xla_dump_to": folder})
        except Exception as error:
            return Kernel(refused=" ".join(f"{type(error).__name__}: {error}".split()))
        told = _bundles() if settings.platform == "tpu" else _registers(Path(folder))
    program = Program(made.as_text())
    (body,) = [
        name
        for name, operations in program.computations.items()
        if any(o.kind == "custom-call" and NAME in o.name + o.rest for o in operations)
    ]
    return Kernel(program.cost(body).bytes / (settings.lanes * block), **told)


def _registers(folder: Path) -> dict[str, Any]:
    """Registers of a thread and bytes that it spills, by the assembler; None where there is none."""
    package = importlib.util.find_spec("nvidia.cuda_nvcc")
    if package is None or not package.submodule_search_locations:
        return {}
    assembler = Path(package.submodule_search_locations[0]) / "bin" / "ptxas"
    (text,) = [file for file in folder.glob("*.ptx") if re.search(rf"\.entry {NAME}\b", file.read_text())]
    architecture = re.search(r"\.target (\w+)", text.read_text())
    assert architecture
    command = [assembler, "-v", "-arch", architecture.group(1), "-o", folder / "out", text]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    used, stored = re.search(r"Used (\d+) registers", said), re.search(r"(\d+) bytes spill stores", said)
    assert used
    assert stored
    return {"registers": int(used.group(1)), "spills": int(stored.group(1))}


def _bundles() -> dict[str, Any]:
    """Bundles of a step and what they spill, by the last kernel that libtpu has told of."""
    files = list(TOLD.glob(f"*{NAME}*-final_bundles.txt"))
    if not files:
        return {}
    # The grid is a loop, the steps are one in it, `>>`, and what has more of these is in loops of a step.
    lines = [line for line in files[0].read_text().splitlines() if re.search(r":\s*>>", line)]
    step = [line for line in lines if not re.search(r":\s*>>>", line)]
    for file in TOLD.iterdir():
        file.unlink()
    spills = sum(len(re.findall(r"vst \[vmem:\[#allocation\d+_spill\]", line)) for line in step)
    return {"spills": spills, "bundles": f"{len(step)}{'+' if len(step) < len(lines) else ''}"}


#: An algorithm's name, its number of arms, and its kernel.
Named = tuple[str, int, Kernel]


def rows_of_kernels(platform: str, kernels: Iterator[Named]) -> Iterator[str]:
    """A table in Markdown."""
    yield f"| {platform}, on chip: compiled, not measured | arms | bytes a pull | registers | spills | bundles |"
    yield "|---|" + 5 * "---:|"
    for name, arms, found in kernels:
        if found.bytes_per_step is None:
            yield f"| {name} | {arms} | none: {found.refused[:80]} | | | |"
        else:
            told = " | ".join("" if x is None else f"{x}" for x in (found.registers, found.spills, found.bundles))
            yield f"| {name} | {arms} | {found.bytes_per_step:.1f} | {told} |"
