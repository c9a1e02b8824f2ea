"""The commands on large sweeps: `sweep`, `status`, `merge`, `compact`."""

import time
from json import dumps
from pathlib import Path
from typing import Annotated, Any, Literal

import jax
from cyclopts import Parameter

from jaxbandits.cli import display, files, inputs, status_text
from jaxbandits.cli.inputs import Switch, Whole
from jaxbandits.cli.json_progress import progress_lines
from jaxbandits.engine.program import Placement
from jaxbandits.errors import UsageError
from jaxbandits.report.formatting import runs
from jaxbandits.status import STATUS
from jaxbandits.storage.compaction import compact as compact_blocks
from jaxbandits.storage.merged_specs import refuse_another
from jaxbandits.sweeps.checked_cells import not_run_text
from jaxbandits.sweeps.dry_run import estimated
from jaxbandits.sweeps.merging import merge_stores
from jaxbandits.sweeps.plan import Plan
from jaxbandits.sweeps.store_status import as_json, state_of
from jaxbandits.sweeps.stored import Outcome, part_of, run_stored
from jaxbandits.sweeps.stored_runs import Listeners
from jaxbandits.sweeps.time_limit import OutOfTimeError, TimeLimit, seconds_of

__all__ = ["compact", "merge", "status", "sweep"]

Share = Annotated[str | None, Parameter(name="--part")]


def sweep(
    specification: Path,
    /,
    *,
    out: Path,
    resume: Switch = False,
    part: Share = None,
    distributed: Switch = False,
    devices: Whole | None = None,
    dry_run: Switch = False,
    progress: bool | Literal["json"] | None = None,
    max_time: str | None = None,
) -> None:
    """Run a grid into a store, block by block; an interrupted sweep can be resumed or extended.

    Args:
        specification: a TOML file with the tables [algorithm], [problem] and [run], or of a study with lists of tables
            [[algorithm]] and [[problem]], and axes for all of them in [axes].
        out: the store, NAME.nc (NetCDF) or NAME.zarr.
        resume: make the runs that the store lacks, also where the specification has gained seeds, values on an axis,
            or algorithms and problems of a list.
        part: 3/8 makes the third of eight parts: independent processes, each with another part, fill one store.
        distributed: make this process's part of a job of jax.distributed, which finds its processes by itself (SLURM,
            MPI, Kubernetes, Cloud TPU).
        devices: how many of JAX's devices to use.
        dry_run: print the numbers of cells, runs and programs, and the expected time and memory.
        progress: show a progress bar on stderr; by default, if that is a terminal. `--progress json` prints events on
            stdout in its place, one JSON object a line, and nothing else there.
        max_time: stop before this time is over, such as 3:50:00, 50:00 (minutes) or 1-12:00:00 (with days): what has
            ended is kept, and the exit status is 75.
    """
    files.check_writable(out)
    share = _share(part)
    if distributed:
        if share is not None:
            raise UsageError("--part is for independent processes, --distributed for those of one job: give one")
        _join()
    given = None if max_time is None else TimeLimit(seconds_of(max_time))
    began = time.monotonic()
    plan, keep, usual = inputs.plan_of(specification)
    if plan.not_run:
        display.print_status(not_run_text(plan.not_run))
    limit = given if usual is None or given is not None else TimeLimit(usual - (time.monotonic() - began))
    if dry_run:
        with display.progress_bar(False):
            display.print_result(status_text.estimate(plan, keep, estimated(plan, Placement(devices, None, None))))
        return
    if not resume and share is None and not distributed:
        _refuse_what_is_there(plan, keep, out)
    own, placement = part_of(share), Placement(devices, None, None)
    if progress == "json":
        with progress_lines(out, f"{own.number}/{own.of}") as lines:
            listeners = Listeners(lines.update, lines.start_program)
            found = run_stored(plan, out, keep, own, placement, listeners, limit)
            outcome = "out of time" if found.out_of_time else "done"
            facts = {"made": found.made, "truncated": found.stopped, "store_runs": found.there}
            lines.end(outcome, **facts, store_wanted=found.wanted, complete=found.there == found.wanted)
    else:
        with display.progress_bar(progress) as update:
            found = run_stored(plan, out, keep, own, placement, Listeners(update), limit)
    if found.out_of_time:
        rest = "the others" if found.there < found.wanted else "its arrays"
        raise OutOfTimeError(
            f"the time is over: {found.there:,} of {found.wanted:,} runs are kept in {out}, --resume makes {rest}"
        )
    if progress != "json":
        display.print_result(_told(found, out))


def status(store: Path, /, *, json: Switch = False) -> None:
    """Show how complete a sweep is, from any terminal.

    Args:
        store: the store that `sweep` writes.
        json: print one JSON object.
    """
    store = files.with_name(store)
    found = state_of(store)
    display.print_result(dumps(as_json(store, found)) if json else status_text.state(store, found))


def merge(*stores: Path, out: Path) -> None:
    """Merge stores of compatible specifications, with other seeds or other values on their axes, into one.

    Args:
        stores: the stores, two or more.
        out: the store to write, NAME.nc or NAME.zarr.
    """
    files.check_writable(out)
    found = merge_stores([files.with_name(store) for store in stores], out)
    display.print_result(f"{found.there:,} of {found.wanted:,} runs: {out}")


def compact(store: Path, /) -> None:
    """Make few large blocks of the many small ones of a store; no run changes, also if the command is killed.

    Args:
        store: the store that `sweep` wrote; nothing may write to it meanwhile.
    """
    store = files.with_name(store)
    found = compact_blocks(store)
    before, now = status_text.bytes_text(found.bytes_before), status_text.bytes_text(found.bytes)
    display.print_result(f"{store}: {found.blocks_before:,} blocks, {before}; now {found.blocks:,}, {now}")


def _share(text: str | None) -> tuple[Any, Any] | None:
    """Return the numbers of `3/8`."""
    if text is None:
        return None
    number, slash, of = text.partition("/")
    if not (slash and number.strip().isdecimal() and of.strip().isdecimal()):
        raise UsageError(f"--part takes I/N, such as 3/8, got {text!r}")
    share = part_of((int(number), int(of)))
    return share.number, share.of


def _join() -> None:
    """Join the other processes of a job of `jax.distributed`."""
    try:
        jax.distributed.initialize()
    except (ValueError, RuntimeError) as error:
        raise UsageError(
            f"jax.distributed found no job to join ({' '.join(str(error).split())}): start the processes by a launcher "
            "such as SLURM or MPI, or give each process its own part, --part 1/2 and --part 2/2"
        ) from None


def _refuse_what_is_there(plan: Plan, keep: str, out: Path) -> None:
    there = state_of(out) if out.exists() else None
    if there is None:
        return
    here = {**plan.spec, "run": {**plan.spec["run"], "keep": keep}}
    refuse_another(there.spec, here, str(out))
    how_far = "complete" if there.there == there.wanted else f"with {there.there:,} of {there.wanted:,} runs"
    raise UsageError(f"{out} exists already, {how_far} and of the same specification: --resume continues it")


def _told(found: Outcome, out: Path) -> str:
    """Return a summary of the work of a sweep."""
    whole = f"{found.there:,} of {found.wanted:,} runs" if found.there < found.wanted else f"all {found.wanted:,} runs"
    if found.spent is None:
        return f"{out} {'is complete' if found.there == found.wanted else f'has {whole}'}, nothing to do here"
    done = found.spent.progress
    lines = [
        f"{runs(found.made)}, {done.pulls:,.0f} pulls in {found.spent.seconds:.3g} s: {out} has {whole}",
        f"{100 * done.steps / max(done.lane_steps, 1):.3g}% of the lanes' steps were steps of runs",
    ]
    if found.stopped:
        lines.append(f"{found.stopped:,} of {found.made:,} runs were truncated; their status says why: {STATUS}")
    return "\n".join(lines)
