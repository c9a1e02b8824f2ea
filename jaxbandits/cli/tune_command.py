"""The command `tune`."""

from json import dumps
from math import isfinite
from pathlib import Path
from typing import Any

import xarray as xr

import jaxbandits as jb
from jaxbandits.checks import POSITIVE, number
from jaxbandits.cli import display, files, inputs
from jaxbandits.cli.inputs import Switch
from jaxbandits.errors import UsageError, about, unknown_name
from jaxbandits.io.toml_files import read_toml
from jaxbandits.report.formatting import interval, value
from jaxbandits.report.text_tables import text_table
from jaxbandits.storage.arrays_on_disk import recover, write_arrays
from jaxbandits.storage.consolidate import read_store
from jaxbandits.sweeps.spec import build_algorithm
from jaxbandits.tuning.distributions import distribution

__all__ = ["tune"]

_TABLES = ("algorithm", "instances", "tune", "against")
_OPTIONS = (
    "objective", "wrt", "error_at_most", "steps", "instances", "seeds", "root_seed", "max_pulls", "held_out",
    "held_out_seeds",
)  # fmt: skip


def tune(
    specification: Path,
    /,
    *,
    out: Path,
    resume: Switch = False,
    json: Switch = False,
    progress: bool | None = None,
) -> None:
    """Find the parameters of an algorithm that do best over a distribution of instances.

    Args:
        specification: a TOML file. Its tables are [algorithm], where it starts, and [instances], a problem with random
            numbers, such as means = { uniform = [0.2, 0.8], arms = 10 }. [tune] has wrt, objective, error_at_most,
            steps, learning_rate and others of jb.tune; [against.NAME] has algorithms to compare with.
        out: where the history is kept, step by step, NAME.nc (NetCDF) or NAME.zarr.
        resume: continue from the existing history.
        json: print one JSON object instead of a table.
        progress: report each step on stderr; by default, if that is a terminal.
    """
    files.check_writable(out)
    file = read_toml(specification)
    inputs.start_jax()
    with file.blamed():
        given = _arguments(file.tables)
    history = None
    if resume:
        recover(out)
    if out.exists():
        if not resume:
            raise UsageError(f"{out} exists already: --resume continues it")
        history = read_store(out)
    shown = display.told(progress)

    kept = 0 if history is None else history.sizes.get("step", 0)

    def keep(steps: xr.Dataset) -> None:
        nonlocal kept
        write_arrays(steps, out)
        kept = steps.sizes["step"]
        if shown:
            display.print_status(_said(steps, given["steps"]))

    try:
        found = jb.tune(**given, history=history, on_step=keep)
    except KeyboardInterrupt as interrupt:
        if not kept:
            raise
        said = str(interrupt) or "interrupted"
        raise KeyboardInterrupt(
            f"{said}: {kept} of {given['steps']} steps are kept in {out}, --resume continues"
        ) from None
    if kept <= found.history.sizes["step"]:  # else the steps of a longer search stay
        write_arrays(found.history, out)
    display.print_result(_json_of(found) if json else _table(found))


def _arguments(tables: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of `jb.tune`."""
    import optax  # takes as long as all other imports, and no other command needs it

    for name in tables:
        with about(name):
            if name not in _TABLES:
                raise unknown_name("table", name, _TABLES)
    for name in ("algorithm", "instances", "tune"):
        if not isinstance(tables.get(name), dict):
            raise UsageError(f"the specification has no [{name}] table")
    options = dict(tables["tune"])
    for name in options:
        with about("tune", name):
            if name not in (*_OPTIONS, "learning_rate"):
                raise unknown_name("option of [tune]", name, [*_OPTIONS, "learning_rate"])
    with about("tune", "learning_rate"):
        rate = number("learning_rate", options.pop("learning_rate", 0.1), POSITIVE)
    if "wrt" not in options:
        raise UsageError("the [tune] table needs wrt, a list of the parameters to tune")
    with about("algorithm"):
        algorithm = build_algorithm(tables["algorithm"])
    with about("instances"):
        problems = distribution(tables["instances"])
    against, others = {}, tables.get("against", {})
    with about("against"):
        if not isinstance(others, dict) or not all(isinstance(table, dict) for table in others.values()):
            raise UsageError("what to compare with are tables, [against.NAME], of an algorithm each")
    for name, table in others.items():
        with about("against", name):
            against[name] = build_algorithm(table)
    return {
        "algorithm": algorithm, "problems": problems, "against": against, "optimizer": optax.adam(rate), "steps": 100,
        **options,
    }  # fmt: skip


def _said(steps: xr.Dataset, of: int) -> str:
    """Return a line on the latest step."""
    last = steps.isel(step=-1)
    at = {name: float(last["value"].sel(parameter=name)) for name in last["parameter"].values}
    parameters = ", ".join(f"{name} {value(number)}" for name, number in at.items())
    numbers = f"objective {value(float(last['objective']))}, error {value(float(last['error']))}"
    return f"step {steps.sizes['step']} of {of}: {parameters}: {numbers}"


def _json_of(found: Any) -> str:
    """Return one JSON object: the values found, and the scores on the held-out instances; null where there is none."""
    rows = {
        str(name): {str(key): _known(one.item()) for key, one in found.held_out.sel(algorithm=name).data_vars.items()}
        for name in found.held_out["algorithm"].values
    }
    return dumps({"tuned": _values(found), "held_out": rows}, allow_nan=False)


def _known(number: float) -> float | None:
    return number if isfinite(number) else None


def _values(found: Any) -> dict[str, float]:
    return {name: float(number) for name, number in found.values.items()}


def _table(found: Any) -> str:
    """Return the values found, and a line for each algorithm on the held-out instances."""
    columns = (part for name in ("objective", "error", "above tuned") for part in (name, "95% interval"))
    rows: list[tuple[str, ...]] = [("", *columns)]
    for name in found.held_out["algorithm"].values:
        one = found.held_out.sel(algorithm=name)
        parts = [
            (value(float(one[part])), interval(float(one[f"{part}_low"]), float(one[f"{part}_high"])))
            for part in ("objective", "error", "difference")
        ]
        rows.append((str(name), *(text for pair in parts for text in pair)))
    tuned = ", ".join(f"{name} = {number:.4g}" for name, number in _values(found).items())
    lines = [f"Tuned: {tuned}", "On instances that no step has seen:", text_table(rows, left=(0,))]
    cut = {str(one["algorithm"].values): int(one) for one in found.held_out["truncated"]}
    if any(cut.values()):
        counts = ", ".join(f"{name} {number:,}" for name, number in cut.items() if number)
        lines.append(
            f"Runs that were truncated, and are judged by their recommendation at that time: {counts}. Their pulls, "
            "cost and steps are lower bounds."
        )
    return "\n".join(lines)
