"""The progress of a store, readable from another terminal."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from jaxbandits.storage.arrays_on_disk import open_arrays
from jaxbandits.storage.block_files import block_names
from jaxbandits.storage.consolidate import count_of_runs, is_made
from jaxbandits.storage.store_files import blocks_folder, done_by_cell, read_description
from jaxbandits.storage.writer import listening
from jaxbandits.sweeps.entries import Kind
from jaxbandits.sweeps.grid import RESERVED
from jaxbandits.xla_flags import ATTRIBUTE

__all__ = ["State", "as_json", "names_of", "pace", "state_of"]


class State(NamedTuple):
    """The progress of a store."""

    spec: dict[str, Any]  # with what is kept, in [run]
    there: int  # runs
    wanted: int
    bytes: int  # on disk
    made_with: str
    xla_flags: str  # "" where they were not recorded
    readable: bool  # whether its arrays are made of all its runs
    writers: list[dict[str, Any]]  # the status of each process that is writing
    blocks: int = 0
    not_run: Mapping[str, str] = MappingProxyType({})  # why, by pairs of an algorithm and a problem


def state_of(path: Path) -> State:
    """Return the progress of a store, without changing it.

    Raises:
        UsageError: no store, something else, or a damaged description.
    """
    folder = blocks_folder(path)
    description = read_description(path)
    if description is None:
        with open_arrays(path) as dataset:
            spec = json.loads(dataset.attrs["spec"])
            spec.setdefault("run", {}).setdefault("keep", dataset.attrs.get("keep", "runs"))
            runs = int(spec["run"].get("seeds", 0)) * int(np.prod(_cells_of(dataset)))
            return State(
                spec,
                runs,
                runs,
                _bytes_of(path),
                str(dataset.attrs.get("made_with", "")),
                str(dataset.attrs.get(ATTRIBUTE, "")),
                True,
                [],
                not_run=json.loads(dataset.attrs.get("not_run", "{}")),
            )
    there = count_of_runs(description.layout, done_by_cell(folder))
    on_disk = _bytes_of(path) + (0 if path.is_dir() else _bytes_of(folder))
    wanted, made_with = description.layout.runs, "; ".join(description.made_with)
    return State(
        description.spec_with_keep,
        there,
        wanted,
        on_disk,
        made_with,
        str(description.attrs.get(ATTRIBUTE, "")),
        is_made(path),
        writers=list(listening(folder)),
        blocks=len(block_names(folder)),
        not_run=json.loads(description.attrs.get("not_run", "{}")),
    )


def as_json(path: Path, state: State) -> dict[str, Any]:
    """Return the progress of a store as JSON-ready data: what `status --json` prints."""
    return {
        "store": str(path),
        "algorithm": names_of(state.spec, "algorithm"),
        "problem": names_of(state.spec, "problem"),
        "not_run": dict(state.not_run),
        "keep": state.spec.get("run", {}).get("keep", "runs"),
        "runs": state.there,
        "wanted": state.wanted,
        "complete": state.there == state.wanted,
        "arrays": state.readable,
        "blocks": state.blocks,
        "bytes": state.bytes,
        "made_with": state.made_with,
        "xla_flags": state.xla_flags,
        "writers": [
            {name: writer.get(name) for name in ("part", "process", "host", "committed")} | pace(writer)
            for writer in state.writers
        ],
    }


def names_of(spec: dict[str, Any], kind: Kind) -> Any:
    """Return the name of the algorithm or the problem of a specification, None without one; or the names of a list."""
    tables = spec.get(kind, {})
    if isinstance(tables, list):
        return [str(table.get("label")) for table in tables]
    return (tables.get("label") if kind == "problem" else None) or tables.get("name") or tables.get("spec")


def pace(told: dict[str, Any]) -> dict[str, Any]:
    """Return the numbers of a process that makes runs, from its status; null where they are not known yet.

    Args:
        told: `runs`, `wanted`, `pulls`, `seconds`, `steps` and `lane_steps`; others are left out.
    """

    def of(name: str) -> float:
        value = told.get(name, 0.0)
        return float(value) if isinstance(value, int | float) else 0.0

    seconds, runs, wanted = of("seconds"), int(of("runs")), int(of("wanted"))
    return {
        "runs": runs,
        "wanted": wanted,
        "pulls": of("pulls"),
        "seconds": round(seconds, 3),
        "pulls_per_second": of("pulls") / max(seconds, 1e-9),
        "lanes_busy": of("steps") / of("lane_steps") if of("lane_steps") else None,
        "seconds_left": seconds * (wanted - runs) / runs if runs else None,
    }


def _cells_of(dataset: xr.Dataset) -> list[int]:
    return [size for name, size in dataset.sizes.items() if name not in RESERVED]


def _bytes_of(path: Path) -> int:
    if path.is_dir():
        with os.scandir(path) as entries:
            return sum(_bytes_of(Path(one.path)) if one.is_dir() else one.stat().st_size for one in entries)
    return path.stat().st_size if path.exists() else 0
