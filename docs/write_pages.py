"""Write the pages that follow from the registries: a page of each algorithm, all problems, and the API reference."""

import ast
import dataclasses
import inspect
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import jaxbandits as jb
from jaxbandits.algorithms import protocol
from jaxbandits.algorithms.registry import REGISTRY
from jaxbandits.problems.registry import REGISTRY as PROBLEMS

__all__ = ["write"]

#: Parts of the public API, with their modules.
_MODULES = {"jaxbandits": jb, "jaxbandits.problems": jb.problems, "jaxbandits.theory": jb.theory,
            "jaxbandits.gradients": jb.gradients, "jaxbandits.plot": jb.plot}  # fmt: skip


def write(folder: Path) -> None:
    """Write all pages into `algorithms/` and `api/` below a folder; files that are the same are left alone."""
    pages = {"algorithms/index.md": _index_of_algorithms()}
    pages |= {f"algorithms/{name}.md": _algorithm(name, REGISTRY[name]) for name in REGISTRY}
    pages |= {"api/index.md": _index_of_api()}
    pages |= {f"api/{name}.md": _module(name, module) for name, module in _MODULES.items()}
    pages |= {"problems_table.md": _problems(), "protocol_text.md": _protocol()}
    for place, text in pages.items():
        path = folder / place
        path.parent.mkdir(exist_ok=True)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def _first_line(thing: Any) -> str:
    return (inspect.getdoc(thing) or "").strip().split("\n\n")[0].replace("\n", " ")


def _index_of_algorithms() -> str:
    groups: dict[str, list[str]] = {}
    for name in REGISTRY:
        setting = REGISTRY[name].traits.setting
        groups.setdefault(re.split(r"[,;]", setting)[0], []).append(name)
    lines = ["# Algorithms", "", "Every algorithm, by setting. Each page is written from the code: what the class says",
             "of itself, its parameters with their ranges, and the module.", ""]  # fmt: skip
    for group, names in groups.items():
        lines += [
            f"## {group[:1].upper()}{group[1:]}",
            "",
            "| name | class | what it does | source |",
            "|---|---|---|---|",
        ]
        lines += [
            f"| [`{name}`]({name}.md) | `jb.{REGISTRY[name].__name__}` | {_cell(_first_line(REGISTRY[name]))} | "
            f"{_cell(REGISTRY[name].traits.source)} |"
            for name in names
        ]
        lines.append("")
    hidden = "\n".join(REGISTRY)
    return "\n".join(lines) + f"\n```{{toctree}}\n:hidden:\n\n{hidden}\n```\n"


def _algorithm(name: str, cls: Any) -> str:
    traits = cls.traits
    fields = [field for field in dataclasses.fields(cls) if field.init]
    rows = [
        f"| `{field.name}` | {_default(field)} | {field.metadata.get('rule', '') or _choices(field)} |"
        for field in fields
    ]
    facts = {
        "Setting": traits.setting,
        "Source": traits.source or "a baseline",
        "Answer": {1: "one arm"}.get(
            traits.answers, f"`{traits.answers}` arms" if traits.answers != "any" else "any arms"
        ),
        "Can be looked at before it ends": "yes" if traits.anytime else "no",
        "Several bandits": "yes" if traits.multi_bandit else "no",
        "Relative cost of a pull": f"{traits.dearness:g}",
    }
    title = cls.__name__
    lines = [f"# {title}", "", f"`{name}` on the command line, `jb.{title}` in Python.", ""]
    lines += ["| | |", "|---|---|", *(f"| {key} | {_cell(str(value))} |" for key, value in facts.items()), ""]
    lines += ["| parameter | default | range |", "|---|---|---|", *rows, ""]
    module = inspect.getmodule(cls)
    lines += ["```{eval-rst}", f".. autoclass:: jaxbandits.{title}", "   :no-members:", "   :no-index:", "```", ""]
    if module is not None and module.__doc__:
        lines += ["## Papers", "", *module.__doc__.strip().split("\n\n")[1:], ""]
    lines += ["## Code", "", f"`{module.__name__.replace('.', '/')}.py`:" if module else "", "",
              "````python", _code(cls), "````", ""]  # fmt: skip
    return "\n".join(lines)


def _code(cls: Any) -> str:
    """Return the code of a class, without its docstring, which the page shows already."""
    source = inspect.getsource(cls)
    first = ast.parse(source).body[0]
    assert isinstance(first, ast.ClassDef)
    text, lines = first.body[0], source.splitlines()
    if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
        lines[text.lineno - 1 : text.end_lineno] = []
    return "\n".join(lines).rstrip()


def _choices(field: Any) -> str:
    choices = field.metadata.get("choices")
    return (
        ", ".join(f"`{choice}`" for choice in choices)
        if choices
        else "yes or no"
        if field.type in (bool, "bool")
        else ""
    )


def _default(field: Any) -> str:
    if field.default is dataclasses.MISSING:
        return "required"
    return "none" if field.default is None else f"`{field.default}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _problems() -> str:
    lines = ["| name | what |", "|---|---|"]
    lines += [f"| `{name}` | {_cell(_first_line(PROBLEMS[name]))} |" for name in PROBLEMS]
    return "\n".join(lines) + "\n"


def _protocol() -> str:
    return inspect.cleandoc(protocol.__doc__ or "") + "\n"  # the text is Markdown as it stands


def _index_of_api() -> str:
    hidden = "\n".join(_MODULES)
    return "# API reference\n\nEvery public name.\n\n```{toctree}\n\n" + hidden + "\n```\n"


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
            lines += [f".. autoclass:: {path}", "   :no-members:" if plain else "   :members:", ""]
        elif callable(thing):
            lines += [f".. autofunction:: {path}", ""]
    return "\n".join([*lines, "```", ""])
