"""The commands. Each checks all of its input first, then works, then prints or writes."""

import importlib
import inspect
import json
import textwrap
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

import jaxbandits as jb
from jaxbandits import algorithms, data, problems
from jaxbandits.cli import display, inputs, stores, texts
from jaxbandits.cli.inputs import Whole
from jaxbandits.comparison.candidates import comparisons
from jaxbandits.comparison.rows import Comparison
from jaxbandits.engine.admission import admitted
from jaxbandits.errors import UsageError, unknown_name
from jaxbandits.sweeps.grid import expand
from jaxbandits.sweeps.spec import describe, difference

__all__ = ["compare", "list_", "plot", "reproduce", "simulate", "sweep"]

Settings = Annotated[tuple[str, ...], Parameter(name="--set", consume_multiple=True, negative=())]
Selection = Annotated[tuple[str, ...], Parameter(name="--sel", consume_multiple=True, negative=())]
Tables = Annotated[tuple[str, ...], Parameter(name="--table", consume_multiple=True, negative=())]
Means = Annotated[str | None, Parameter(allow_leading_hyphen=True)]
Switch = Annotated[bool, Parameter(negative=())]
_PICTURES = (".png", ".pdf", ".svg")


def list_() -> None:
    """Show the algorithms with their parameters, the problems, the figures and the bundled data."""
    display.say("Algorithms, with the parameters of --set:")
    for name, cls in algorithms.REGISTRY.items():
        _entry(name, cls)
    display.say("\nProblems, for --problem (NAME:first,second or NAME:name=value,...):")
    for name, make in problems.REGISTRY.items():
        _entry(name, make)
    display.say("\nFigures, for reproduce:")
    try:
        figures = _figures()
    except UsageError as error:
        display.say(f"  {error}")
    else:
        for name, function in figures.REGISTRY.items():
            display.say(f"  {name}\n      {_first_line(function)}")
    display.say("\nBundled data, for --problem:\n  " + "\n  ".join(f"data:{name}" for name in data.NAMES))


def simulate(
    algorithm: str,
    /,
    *,
    problem: str,
    seeds: Whole = 1000,
    settings: Settings = (),
    root_seed: Whole = 0,
    max_pulls: Whole | None = None,
    costs: str | None = None,
    json: Switch = False,
    progress: bool | None = None,
) -> None:
    """Run one algorithm on one problem and summarise the runs.

    Args:
        algorithm: its name, see `jaxbandits list`.
        problem: such as bernoulli:0.7,0.5,0.5 or two-group:n=1000,k=100.
        seeds: number of runs.
        settings: the algorithm's parameters, name=value, as many as needed.
        root_seed: seed of all randomness.
        max_pulls: stop a run after this many pulls and count it as stopped early; 1e9 if not given, and no limit for
            algorithms that draw sums.
        costs: what a pull costs, "reward" or prices such as 1,2,0.5; the problem's own if not given, one unit mostly.
        json: print one JSON object instead of a table.
        progress: show a progress bar on stderr; without it, if that is a terminal.
    """
    chosen = inputs.algorithm_of(algorithm, settings)  # before JAX starts, which may take seconds
    inputs.start_jax()
    explored = inputs.problem_of(problem, costs)
    with display.progress_bar(progress) as update:
        dataset = jb.simulate(
            chosen,
            explored,
            seeds,
            root_seed=root_seed,
            max_pulls=max_pulls,
            on_progress=lambda state: update(state, seeds),
        )
    if json:
        display.say(texts.json_of(dataset))
    else:
        display.say(f"{algorithm} on {explored.name or problem}, {seeds:,} runs, root seed {root_seed}\n")
        if told := texts.settled(chosen, explored) + texts.moments(chosen, explored):
            display.say(told)
        display.say(texts.statistics(dataset))


def compare(
    *,
    delta: float,
    means: Means = None,
    problem: str | None = None,
    epsilon: float = 0.0,
    m: Whole = 1,
    budget: Whole | None = None,
    seeds: Whole = 1000,
    root_seed: Whole = 0,
    max_pulls: Whole | None = None,
    progress: bool | None = None,
) -> None:
    """Run every suitable algorithm on one problem: the table from which to pick one.

    Args:
        delta: allowed probability of error.
        means: means of Bernoulli arms, such as 0.7,0.6,0.5.
        problem: a problem in place of means, see `simulate`.
        epsilon: a mean this far below the m-th best is good enough; 0 asks for the m best arms themselves.
        m: number of arms to find.
        budget: pulls of the algorithms that need a budget; without it, what the best of the others took on average.
        seeds: runs per algorithm.
        root_seed: seed of all randomness.
        max_pulls: stop a run after this many pulls; without it a row gets some seconds: 3e9 / (seeds * (arms + 12))
            pulls a run, or up to five times as many where that lets it have 4 times what the best took.
        progress: tell of each row on stderr as it is finished, and show a progress bar if that is a terminal; no
            progress is quiet.
    """
    if (means is None) == (problem is None):
        raise UsageError("compare needs --means or --problem, one of them")
    inputs.start_jax()
    explored = inputs.problem_of(f"bernoulli:{means}" if problem is None else problem)
    found: Comparison | None = None
    try:
        with display.progress_bar(progress) as update:
            rows = comparisons(
                explored,
                delta=delta,
                epsilon=epsilon,
                m=m,
                budget=budget,
                seeds=seeds,
                root_seed=root_seed,
                max_pulls=max_pulls,
                on_progress=update,
            )
            for row, found in rows:  # noqa: B007 - printed below, however far it came
                if progress is not False:
                    display.tell(texts.finished(row))
    except KeyboardInterrupt:
        if found is not None:
            display.say(texts.comparison(found, display.width()))
            raise KeyboardInterrupt(f"interrupted, {len(found.missing)} rows are missing") from None
        raise
    assert found is not None  # without a row there is an error
    display.say(texts.comparison(found, display.width()))


def sweep(
    specification: Path,
    /,
    *,
    out: Path,
    resume: Switch = False,
    devices: Whole | None = None,
    progress: bool | None = None,
) -> None:
    """Run a grid and write its results to a store.

    Args:
        specification: a TOML file with the tables [algorithm], [problem] and [run].
        out: the store, NAME.nc (NetCDF) or NAME.zarr.
        resume: do nothing, and succeed, if the store is there and complete.
        devices: how many of JAX's devices to use.
        progress: show a progress bar on stderr; without it, if that is a terminal.
    """
    stores.check_writable(out)
    algorithm, problem, run = inputs.read_specification(specification)
    keep = run.pop("keep")
    stores.check_keep(keep)
    settings = {name: value for name, value in run.items() if value is not None}
    wanted = describe(admitted(algorithm), problem, settings)
    if out.exists():
        there = stores.specification_of(stores.read_store(out))
        if found := difference(there, {**wanted, "run": {**settings, "keep": keep}}):
            raise UsageError(f"{out} was written by another specification: {found}")
        if not resume:
            raise UsageError(f"{out} is there already, complete and of the same specification: --resume accepts it")
        display.say(f"{out} is complete, nothing to do")
        return
    runs = len(expand(admitted(algorithm), problem).cells) * run["seeds"]
    with display.progress_bar(progress) as update:
        dataset = jb.sweep(algorithm, problem, **run, devices=devices, on_progress=lambda state: update(state, runs))
    stores.write_store(stores.reduced(dataset.assign_attrs(spec=json.dumps(wanted), keep=keep), keep), out)
    capped = int((dataset["status"] == 1).sum())
    display.say(f"{runs:,} runs, {float(dataset['pulls'].sum()):,.0f} pulls in {dataset.attrs['seconds']:.3g} s: {out}")
    if capped:
        display.say(f"{capped:,} runs were stopped at max_pulls, status 1")


def plot(
    store: Path,
    /,
    *,
    kind: str,
    out: Path,
    x: str | None = None,
    y: str | None = None,
    hue: str | None = None,
    sel: Selection = (),
) -> None:
    """Draw a figure from a store.

    Args:
        store: a store that `sweep` wrote.
        kind: the kind of figure, such as curve or phase.
        out: the picture, NAME.png, NAME.pdf or NAME.svg.
        x: dimension along the horizontal axis.
        y: metric, such as pulls or failure; of a phase diagram, dimension along the vertical axis.
        hue: dimension with a line or a colour per value.
        sel: dimension=value, as many as needed: draw only what was run there.
    """
    stores.check_writable(out, _PICTURES)
    stores.check_there(store)
    kinds = _part("jaxbandits.report.plots", "KINDS").KINDS
    if kind not in kinds:
        raise unknown_name("kind of plot", kind, kinds)
    places = {name: place for name, place in (("x", x), ("y", y), ("hue", hue)) if place is not None}
    for name in places:
        if name not in inspect.signature(kinds[kind]).parameters:
            raise UsageError(f"--{name} has no place in a {kind}")
    figure = kinds[kind](inputs.selected(stores.read_store(store), sel), **places)
    with stores.replacing(out) as temporary:
        figure.savefig(temporary)
    display.say(str(out))


def reproduce(
    *names: str,
    out: Path,
    scale: Literal["quick", "paper"] = "quick",
    tables: Tables = (),
    progress: bool | None = None,
) -> None:
    """Reproduce figures of the papers: pictures, numbers and a gallery page.

    Args:
        names: the figures, see `jaxbandits list`; all of them without.
        out: the folder to write to.
        scale: quick (minutes, fewer runs) or paper (the papers' numbers of runs).
        tables: figure=FILE.csv, as many as needed: a table of your own (returns for heavy-tailed, clicks for
            pay-per-reward, rewards and costs for budgeted).
        progress: a line on stderr for each figure as it is finished, and a progress bar if that is a terminal; no
            progress is quiet.
    """
    figures = _figures()
    for name in names:
        if name not in figures.REGISTRY:
            raise unknown_name("figure", name, figures.REGISTRY)
    given = inputs.tables_of(tables)
    for name in given:
        if name not in figures.REGISTRY:
            raise unknown_name("figure", name, figures.REGISTRY)
    stores.check_folder(out)
    inputs.start_jax()
    with display.stage_bar(progress) as update:
        gallery = figures.reproduce(list(names) or list(figures.REGISTRY), scale, out, update, given)
    display.say(str(gallery))


def _figures() -> Any:
    return _part("jaxbandits.experiments", "REGISTRY")


def _part(name: str, contents: str) -> Any:
    """A part that takes long to import, and that a small installation may lack."""
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        module = None
    if not hasattr(module, contents):
        raise UsageError(f"{name} is not part of this installation")
    return module


def _entry(name: str, thing: Any) -> None:
    parameters = [p for p in inspect.signature(thing).parameters.values() if p.kind is not p.KEYWORD_ONLY]
    shown = [p.name if p.default is p.empty else f"{p.name}={_word(p.default)}" for p in parameters]
    display.say(f"  {name}  {' '.join(shown)}\n{textwrap.indent(textwrap.fill(_first_line(thing), 100), ' ' * 6)}")


def _word(value: Any) -> str:
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def _first_line(thing: Any) -> str:
    return (inspect.getdoc(thing) or "").partition("\n")[0]
