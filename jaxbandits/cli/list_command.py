"""The command that lists algorithms, problems, figures and data."""

import inspect
import re
import textwrap
from typing import Any

from jaxbandits import algorithms, data, problems
from jaxbandits.cli import display, plot_commands
from jaxbandits.errors import UsageError

__all__ = ["describe", "list_"]


def list_() -> None:
    """Show the algorithms with their parameters, the problems, the figures and the bundled data."""
    display.print_result("Algorithms, with the parameters of --set:")
    for name, cls in algorithms.REGISTRY.items():
        _entry(name, cls)
    display.print_result("\nProblems, for --problem (NAME:value or NAME:name=value,...; a list is written 0.7,0.5):")
    for name, make in problems.REGISTRY.items():
        _entry(name, make)
    display.print_result("\nFigures, for reproduce:")
    try:
        known = plot_commands.figures()
    except UsageError as error:
        display.print_result(f"  {error}")
    else:
        for name, paper in known.REGISTRY.items():
            display.print_result(f"  {name}\n      {paper.about}")
    display.print_result("\nBundled data, for --problem:\n  " + "\n  ".join(f"data:{name}" for name in data.NAMES))


def _entry(name: str, thing: Any) -> None:
    parameters = [p for p in inspect.signature(thing).parameters.values() if p.kind is not p.KEYWORD_ONLY]
    shown = [p.name if p.default is p.empty else f"{p.name}={_word(p.default)}" for p in parameters]
    display.print_result(
        f"  {name}  {' '.join(shown)}\n{textwrap.indent(textwrap.fill(describe(thing), 100), ' ' * 6)}"
    )


def _word(value: Any) -> str:
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def describe(thing: Any) -> str:
    """Return what a class is or a function returns: the first paragraph of its docstring, without the verb."""
    line = " ".join((inspect.getdoc(thing) or "").partition("\n\n")[0].split())
    if not line.startswith("Return "):
        return line
    line = line.removeprefix("Return ")
    return line[0].upper() + line[1:] if re.match(r"[a-z-]+[ ,:]", line) else line  # a formula keeps its letters
