"""`status` on a store of many small blocks, such as a sweep of weeks leaves, before and after `compact`.

python experiments/benchmarks/many_blocks.py [10000] [FOLDER]
"""

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import jaxbandits as jb
from jaxbandits.storage.block_files import block_content, name_of
from jaxbandits.storage.blocks import block_of
from jaxbandits.storage.compaction import compact
from jaxbandits.storage.layout import FinishedRuns
from jaxbandits.storage.store_files import Description, blocks_folder
from jaxbandits.sweeps.plan import Plan, make_plan
from jaxbandits.sweeps.store_status import state_of

__all__ = ["make_store"]

EPSILON, ARMS = [0.02, 0.05, 0.1, 0.2], [3, 10, 30, 100]


def make_store(path: Path, blocks: int, runs: int = 100, keep: str = "runs") -> Plan:
    """Write a store of invented runs, in the order in which a sweep ends them: cell by cell, seeds out of order.

    Args:
        path: the store, NAME.zarr.
        blocks: number of blocks.
        runs: runs of each block.
        keep: what is kept of the runs.
    """
    algorithm, cells = jb.UGapEc(epsilon=jb.axis(EPSILON), delta=0.1), len(EPSILON) * len(ARMS)
    plan = make_plan(algorithm, jb.two_group(n=jb.axis(ARMS), k=1), blocks * runs // cells)
    folder, random = blocks_folder(path), np.random.default_rng(0)
    folder.mkdir(parents=True)
    Description(plan.spec, keep, plan.layout, {}, ("made up",)).write(folder)
    seeds = plan.layout.seeds
    order = np.argsort(np.arange(cells * seeds) + random.uniform(0, 5 * runs, cells * seeds))
    for which in np.array_split(order, blocks):
        invented = FinishedRuns(which // seeds, which % seeds, _values(plan, which))
        content = block_content(*block_of(invented, plan.layout, keep))
        (folder / name_of(content)).write_bytes(content)  # as `write_block` does, but without waiting for the disk
    return plan


def _values(plan: Plan, which: np.ndarray) -> dict[str, np.ndarray]:
    """Return invented values of runs, which follow from their numbers."""
    found = {}
    for name, variable in plan.layout.variables.items():
        if name in ("joint_pulls", "paid", "reward", "regret"):
            continue
        shape = (which.size, 1, *plan.layout.of_arms(name))
        flat = (which[:, None] * 7919 + np.arange(int(np.prod(shape[1:])))) % (3 if name == "status" else 1009)
        found[name] = (flat % 2 if variable.dtype is np.bool_ else flat).reshape(shape).astype(variable.dtype)
    return found


def _time_status(path: Path) -> str:
    began = time.perf_counter()
    state = state_of(path)
    return f"{state.there:,} runs in {state.blocks:,} blocks: status takes {time.perf_counter() - began:.2f} s"


def main(blocks: int = 10_000, folder: str | None = None) -> None:
    """Time `status` twice, `compact`, and `status` again."""
    with tempfile.TemporaryDirectory() as room:
        path = Path(folder or room) / "many.zarr"
        make_store(path, blocks)
        for _ in range(2):
            print(_time_status(path))
        began = time.perf_counter()
        compact(path)
        print(f"compact takes {time.perf_counter() - began:.2f} s")
        print(_time_status(path))


if __name__ == "__main__":
    main(*(int(text) if text.isdecimal() else text for text in sys.argv[1:]))
