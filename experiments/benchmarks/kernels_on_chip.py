"""What Triton or Mosaic makes of a block of steps as one kernel (`jaxbandits/engine/kernel_loop.py`)."""

import dataclasses
import importlib.util
import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from optimised_programs import Program

from jaxbandits.arrays.platform_forms import traced_for
from jaxbandits.engine.lane_counts import block_length
from jaxbandits.engine.lane_state import Carry, Cells, Settings
from jaxbandits.engine.lanes import run_chunk
from jaxbandits.engine.rows import blank_log

__all__ = ["Kernel", "kernel"]

NAME = "steps_on_chip"


class Kernel(NamedTuple):
    """What is found of a kernel."""

    bytes_per_step: float | None = None  # that a lane loads and stores, over the steps in between; None: no kernel
    registers: int | None = None  # of a thread, on a GPU
    spills: int | None = None  # bytes that a thread stores for want of registers, on a GPU
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
        with traced_for(settings.platform):
            after, log = run_chunk(cells, lanes, blank_log(cells, lanes, settings), jnp.int32(16 * block), settings)
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
        registers, spills = _registers(Path(folder)) if settings.platform != "tpu" else (None, None)
    program = Program(made.as_text())
    (body,) = [
        name
        for name, operations in program.computations.items()
        if any(o.kind == "custom-call" and NAME in o.name + o.rest for o in operations)
    ]
    return Kernel(program.cost(body).bytes / (settings.lanes * block), registers, spills)


def _registers(folder: Path) -> tuple[int | None, int | None]:
    """Registers of a thread and bytes that it spills, by the assembler; None where there is none."""
    package = importlib.util.find_spec("nvidia.cuda_nvcc")
    if package is None or not package.submodule_search_locations:
        return None, None
    assembler = Path(package.submodule_search_locations[0]) / "bin" / "ptxas"
    (text,) = [file for file in folder.glob("*.ptx") if re.search(rf"\.entry {NAME}\b", file.read_text())]
    architecture = re.search(r"\.target (\w+)", text.read_text())
    assert architecture
    command = [assembler, "-v", "-arch", architecture.group(1), "-o", folder / "out", text]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    used, stored = re.search(r"Used (\d+) registers", said), re.search(r"(\d+) bytes spill stores", said)
    assert used
    assert stored
    return int(used.group(1)), int(stored.group(1))
