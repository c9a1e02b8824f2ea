"""Write the pages that follow from the registries: a page of each algorithm, all problems and formulas, and the API."""

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import algorithm_pages

import jaxbandits as jb
from jaxbandits.algorithms import protocol
from jaxbandits.algorithms.registry import REGISTRY
from jaxbandits.cli.list_command import describe
from jaxbandits.problems.registry import REGISTRY as PROBLEMS

__all__ = ["pages", "write"]

#: Parts of the public API, with their modules.
_MODULES = {"jaxbandits": jb, "jaxbandits.problems": jb.problems, "jaxbandits.theory": jb.theory,
            "jaxbandits.gradients": jb.gradients, "jaxbandits.plot": jb.plot}  # fmt: skip


def write(folder: Path) -> None:
    """Write all pages below a folder; files that are the same are left alone."""
    for place, text in pages().items():
        path = folder / place
        path.parent.mkdir(exist_ok=True)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def pages() -> dict[str, str]:
    """Return the texts of all pages, by their places."""
    texts = {"algorithms/index.md": algorithm_pages.index_page()}
    texts |= {f"algorithms/{name}.md": algorithm_pages.page(name) for name in REGISTRY}
    texts |= {"api/index.md": _index_of_api()}
    texts |= {f"api/{name}.md": _module(name, module) for name, module in _MODULES.items()}
    texts |= {"problems_table.md": _problems(), "theory_table.md": _formulas(), "protocol_text.md": _protocol()}
    return texts


def _problems() -> str:
    lines = ["| name | arguments | what |", "|---|---|---|"]
    for name, make in PROBLEMS.items():
        arguments = ", ".join(f"`{argument}`" for argument in _arguments(make))
        lines.append(f"| `{name}` | {arguments} | {algorithm_pages.cell(describe(make))} |")
    return "\n".join(lines) + "\n"


def _arguments(make: Callable[..., Any]) -> list[str]:
    given = inspect.signature(make).parameters.values()
    return [
        argument.name if argument.default is inspect.Parameter.empty else f"{argument.name}={argument.default}"
        for argument in given
        if argument.name != "name"
    ]


def _formulas() -> str:
    """Return a list of all public formulas: what each is, with its source, and its domain."""
    lines = []
    for names in _by_module(jb.theory).values():
        about = describe(inspect.getmodule(getattr(jb.theory, names[0])))
        lines += [f"### {algorithm_pages.plain(re.split(r'[.:,;]', about)[0])}", ""]
        for name in names:
            formula = getattr(jb.theory, name)
            what = algorithm_pages.plain(describe(formula))
            lines += [
                f"- [`{name}`](api/jaxbandits.theory.md): {what}",
                f"  *Domain:* {algorithm_pages.plain(_domain(formula))}.",
            ]
        lines.append("")
    return "\n".join(lines) + "\n"


def _by_module(face: ModuleType) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in face.__all__:
        thing = getattr(face, name)
        if inspect.isfunction(inspect.unwrap(thing)) or (callable(thing) and not inspect.isclass(thing)):
            found.setdefault(thing.__module__, []).append(name)
    return found


def _domain(formula: Any) -> str:
    """Return what the docstring says of the arguments, in one line."""
    text = inspect.getdoc(formula) or ""
    found = re.search(r"^Args:\n(.*?)(?:\n\S|\Z)", text, re.DOTALL | re.MULTILINE)
    if found is None:
        return ", ".join(inspect.signature(formula).parameters)
    entries = re.split(r"\n {4}(?=\S)", "\n" + found[1])[1:]
    return "; ".join(" ".join(entry.split()).rstrip(".") for entry in entries)


def _protocol() -> str:
    return inspect.cleandoc(protocol.__doc__ or "") + "\n"  # the text is Markdown as it stands


def _index_of_api() -> str:
    hidden = "\n".join(_MODULES)
    names = "In the examples `jb` is `jaxbandits`, `jnp` is `jax.numpy`, and `np` is `numpy`."
    return f"# API reference\n\nEvery public name. {names}\n\n```{{toctree}}\n\n{hidden}\n```\n"


def _module(name: str, module: ModuleType) -> str:
    lines = [f"# `{name}`", "", "```{eval-rst}"]
    top = name == "jaxbandits"
    for one in module.__all__:
        thing = getattr(module, one)
        if isinstance(thing, ModuleType) or (not top and getattr(jb, one, None) is thing):
            continue
        path = f"{name}.{one}"
        if inspect.isclass(thing):
            plain = hasattr(thing, "traits") or issubclass(thing, tuple)  # whose attributes stand in the docstring
            lines += [f".. autoclass:: {path}", "   :no-members:" if plain else "   :members:"]
            # Its value is a function without a name.
            inherits = thing in (jb.Problem, jb.AskTell)
            lines += ["   :inherited-members:" if inherits else "   :exclude-members: score_range", ""]
        elif callable(thing):
            lines += [f".. autofunction:: {path}", ""]
        else:
            lines += [f".. py:data:: {one}", f"   :module: {name}", f"   :type: {type(thing).__name__}", ""]
    return "\n".join([*lines, "```", ""])
