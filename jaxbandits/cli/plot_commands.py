"""The commands that draw: a figure from a store, and the figures of the papers."""

import importlib
import inspect
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

import jaxbandits as jb
from jaxbandits.cli import display, files, inputs
from jaxbandits.cli.inputs import Names, Selection, Switch
from jaxbandits.errors import UsageError, unknown_name
from jaxbandits.storage.arrays_on_disk import replacing
from jaxbandits.storage.consolidate import read_store

__all__ = ["figures", "plot", "reproduce"]

Tables = Annotated[tuple[str, ...], Parameter(name="--table", consume_multiple=True, negative=())]


def plot(
    store: Path,
    /,
    *,
    kind: str,
    out: Path,
    x: str | None = None,
    y: str | None = None,
    hue: str | None = None,
    panel: str | None = None,
    value: str | None = None,
    bounds: Names = (),
    contours: str | None = None,
    delta: float | None = None,
    style: str | None = None,
    width: float | None = None,
    sel: Selection = (),
) -> None:
    """Draw a figure from a store.

    Args:
        store: a store that `sweep` wrote.
        kind: the kind of figure, such as curve or phase; profile or ratios of a study.
        out: the picture, NAME.png, NAME.pdf or NAME.svg.
        x: dimension along the horizontal axis.
        y: metric, such as pulls or failure; of phase and ratios, dimension along the vertical axis.
        hue: dimension with a line or a colour per value.
        panel: dimension with a pair of axes per value, such as problem.
        value: of phase and ratios, the metric that is its colour.
        bounds: of a curve, theoretical values drawn dashed, such as lower-bound.
        contours: theoretical values drawn as lines in a phase diagram: h_epsilon, lower_bound, theorem or rate.
        delta: of profile and ratios, failure probability that every rule is allowed; without, the delta of each.
        style: paper for a column of a paper: 3.25 inches, small text, and fonts that journals take (Type 42).
        width: the picture's width in inches.
        sel: dimension=value, repeatable: draw only the runs there.
    """
    files.check_writable(out, files.PICTURES)
    kinds = _part("jaxbandits.report.plots", "KINDS").KINDS
    if kind not in kinds:
        raise unknown_name("kind of plot", kind, kinds)
    theories = [name.replace("-", "_") for name in bounds]
    given = {"x": x, "y": y, "hue": hue, "panel": panel, "value": value, "bounds": theories or None, "delta": delta}
    look = {"contours": contours and contours.replace("-", "_"), "style": style, "width": width}
    places: dict[str, Any] = {name: place for name, place in {**given, **look}.items() if place is not None}
    for name in places:
        if name not in inspect.signature(kinds[kind]).parameters:
            raise UsageError(f"a {kind} takes no --{name}")
    dataset = inputs.selected(read_store(files.with_name(store)), sel)
    wanted = [*theories, *([places["contours"]] if contours else [])]
    if lacking := [name for name in wanted if name not in dataset]:
        inputs.start_jax()
        dataset = jb.with_theory(dataset, *lacking)
    figure = kinds[kind](dataset, **places)
    with replacing(out) as temporary:
        figure.savefig(temporary)
    display.print_result(str(out))


def reproduce(
    *names: str,
    out: Path,
    scale: Literal["quick", "paper"] = "quick",
    first: Switch = False,
    tables: Tables = (),
    progress: bool | None = None,
) -> None:
    """Reproduce figures of the papers: pictures, numbers and a gallery page.

    Args:
        names: the figures, see `jaxbandits list`; all of them if none is given, or the five papers' with --first.
        out: the folder to write to.
        scale: quick (minutes, fewer runs) or paper (the papers' numbers of runs).
        first: draw the first figure of each only: all five papers in about two minutes on two cores.
        tables: figure=FILE.csv, repeatable: a table of your own (returns for heavy-tailed, clicks for pay-per-reward,
            rewards and costs for budgeted).
        progress: report each finished figure on stderr, and show a progress bar if that is a terminal; no progress is
            quiet.
    """
    known = figures()
    given = inputs.tables_of(tables)
    for name in (*names, *given):
        if name not in known.REGISTRY:
            raise unknown_name("figure", name, known.REGISTRY)
    files.check_folder(out)
    inputs.start_jax()
    with display.stage_bar(progress) as update:
        gallery = known.reproduce(names, scale, out, update, given, first=first)
    display.print_result(str(gallery))
    if first and progress is not False:
        display.print_status("all figures: the same command without --first")


def figures() -> Any:
    """Return the package's figures.

    Raises:
        UsageError: an installation without them.
    """
    return _part("jaxbandits.papers", "REGISTRY")


def _part(name: str, contents: str) -> Any:
    """Import a part that takes long to import, and that a small installation may lack."""
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        module = None
    if not hasattr(module, contents):
        raise UsageError(f"{name} is not part of this installation")
    return module
