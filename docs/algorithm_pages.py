"""Write the page of an algorithm from its docstring, its traits, the registry, and `when_to_use.toml`."""

import ast
import dataclasses
import inspect
import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np

import jaxbandits
from jaxbandits import papers
from jaxbandits.algorithms.likelihood_ratio.glr_stopping import GLRStopped
from jaxbandits.algorithms.parameters import RULES
from jaxbandits.algorithms.registry import REGISTRY

__all__ = ["attributes_of", "cell", "index_page", "page", "plain"]

#: Values with which a class is made to ask what is proved of it.
_VALUES = {"epsilon": 0.1, "delta": 0.05, "budget": 1000, "k": 1, "threshold": 0.5, "level": 0.5}
#: The algorithms that have a line in a paper's picture.
_SHOWN = {
    "ugape": ("UGapEc", "LUCB"),
    "heavy-tailed": ("SuccessiveElimination",),
    "top-k": ("AdaptiveTopK", "OptMAI"),
    "pay-per-reward": ("MABPPR", "MedianElimination", "UnionBound", "BernsteinRace"),
    "budgeted": ("RCBAIR",),
}
_WHEN = tomllib.loads(Path(__file__).with_name("when_to_use.toml").read_text())


def cell(text: str) -> str:
    """Return a text as a cell of a table."""
    return text.replace("|", "\\|")


def plain(text: str) -> str:
    """Return a text in which nothing is taken for markup."""
    return re.sub(r"(?<!`)([*_<>])(?![^`]*`)", r"\\\1", text)


def attributes_of(cls: Any) -> dict[str, str]:
    """Return what the docstring of a class says of its attributes, by name."""
    text = inspect.cleandoc(vars(cls).get("__doc__") or "")
    found = re.search(r"^Attributes:\n(.*?)(?:\n\S|\Z)", text, re.DOTALL | re.MULTILINE)
    entries = re.split(r"\n {4}(?=\S)", "\n" + found[1])[1:] if found else []
    pairs = [" ".join(entry.split()).partition(": ") for entry in entries]
    return {name: text for name, _, text in pairs}


def index_page() -> str:
    """Return the table of all algorithms, by setting."""
    groups: dict[str, list[str]] = {}
    for name in REGISTRY:
        groups.setdefault(re.split(r"[,;]", REGISTRY[name].traits.setting)[0], []).append(name)
    lines = [
        "# Algorithms",
        "",
        f"All {len(REGISTRY)} algorithms, by what is fixed. Each page is written from the code.",
        "",
    ]
    for group, names in groups.items():
        lines += [f"## {group[:1].upper()}{group[1:]}", "", "| name, class | setting | source |", "|---|---|---|"]
        for name in names:
            traits = REGISTRY[name].traits
            names_of = f"[`{name}`]({name}.md) `{REGISTRY[name].__name__}`"
            lines.append(f"| {names_of} | {cell(traits.setting)} | {cell(traits.source)} |")
        lines.append("")
    return "\n".join(lines) + "\n```{toctree}\n:hidden:\n\n" + "\n".join(REGISTRY) + "\n```\n"


def page(name: str) -> str:
    """Return the page of one algorithm."""
    cls = REGISTRY[name]
    title, module = cls.__name__, inspect.getmodule(cls)
    assert module is not None
    lines = [f"# {title}", "", f"`{name}` on the command line, `jb.{title}` in Python.", "", *_facts(cls)]
    if (when := _WHEN.get(name)) is not None:  # a new rule has a page without it
        lines += ["## When to use it", "", f"- **Use it for:** {when['use']}"]
        lines += [f"- **Use another one if:** {when['avoid']}", ""]
    lines += ["## The rule", "", "```{eval-rst}", f".. autoclass:: jaxbandits.{title}", "   :no-members:"]
    lines += ["   :no-index:", "```", "", *_parameters(cls), *_guarantee(cls), *_figures(title)]
    # What a module says further: of papers, or of something else.
    text = [part for part in (module.__doc__ or "").strip().split("\n\n")[1:] if re.search(r"\(\d{4}\)|paper", part)]
    lines += ["## Papers", "", *[line + "\n" for line in text], ""] if text else []
    lines += ["## Code", "", f"{_path(module.__name__)}:", "", "````python", _code(cls), "````", ""]
    return "\n".join(lines)


def _path(module: str) -> str:
    """Return the path of a module, which may be broken after each folder."""
    path = "/<wbr>".join(module.split("."))
    return f'<code class="docutils literal notranslate">{path}.py</code>'


def _facts(cls: Any) -> list[str]:
    traits = cls.traits
    answers = {1: "one arm", "any": "any number of arms"}.get(traits.answers, f"`{traits.answers}` arms")
    times = "as long" if traits.relative_cost == 1 else f"{traits.relative_cost:g} times as long"
    cost = f"a pull takes about {times} as one of UGapEc (measured)"
    facts = {
        "Setting": traits.setting,
        "Source": traits.source or "a baseline",
        "Answer": answers,
        "Has an answer before it ends": "yes" if traits.anytime else "no",
        "Several bandits at once": "yes" if traits.multi_bandit else "no",
        "Cost": cost,
    }
    return ["| | |", "|---|---|", *(f"| {key} | {cell(value)} |" for key, value in facts.items()), ""]


def _parameters(cls: Any) -> list[str]:
    fields = [field for field in dataclasses.fields(cls) if field.init]
    rows = [f"| `{field.name}` | {_default(field)} | {_range(field)} |" for field in fields]
    return ["## Parameters", "", "| parameter | default | range |", "|---|---|---|", *rows, "", *_elsewhere(cls)]


def _elsewhere(cls: Any) -> list[str]:
    """Return the meanings of the parameters that the docstring does not explain itself: "as for `UniformGLR`"."""
    own = attributes_of(cls)
    others = {name: found[1] for name, text in own.items() if (found := re.match(r"as (?:for|in) `(\w+)`", text))}
    lines = []
    for field in dataclasses.fields(cls):
        for other in [others[field.name]] if field.name in others else others.values() if field.name not in own else ():
            meaning = attributes_of(getattr(jaxbandits, other))[field.name]
            lines += [f"- `{field.name}`: {plain(meaning)}"]
    if issubclass(cls, GLRStopped):
        lines += ["", "[Stopping rules](../stopping.md) has thresholds, families and ways of stopping in numbers."]
    return [*lines, ""] if lines else []


def _guarantee(cls: Any) -> list[str]:
    """Return what is proved: a formula of `jb.theory`, and whether the confidence has a proof."""
    fields = [f for f in dataclasses.fields(cls) if f.init and f.default is dataclasses.MISSING]
    algorithm = cls(**{field.name: _VALUES[field.name] for field in fields})
    means = np.array([0.7, 0.5, 0.4])
    theorem = algorithm.theorem(means, means * (1 - means), 1.0, delta=0.05, epsilon=0.1, m=1)
    lines = ["## Guarantee", ""]
    if "fixed confidence" in cls.traits.setting:
        proof = "has a proof" if algorithm.proved else "has no proof: call it heuristic"
        lines += [f"With its defaults, the promise of an error probability of at most δ {proof}.", ""]
    if theorem is not None:
        kind = "pulls" if "pulls" in theorem.formula.__name__ else "the probability of error"
        lines += [f"`jb.theory.{theorem.formula.__name__}` bounds {kind} ({theorem.source}).", ""]
    else:
        lines += ["`compare` shows no bound of its pulls or errors. The text above says what its paper proves.", ""]
    return lines


def _figures(title: str) -> list[str]:
    """Return the commands of the figures in which it runs."""
    found = [name for name, paper in papers.REGISTRY.items() if any(_runs(figure, title) for figure in paper.figures)]
    if not found:
        return []
    commands = [f"jaxbandits reproduce {name} --out out" for name in found]
    text = "It runs in these figures. They say what the paper claims, and what was measured."
    return ["## Figures", "", text, "", "```bash", *commands, "```", "", *_picture(title)]


def _runs(figure: str, title: str) -> bool:
    """Return whether a figure runs an algorithm: its module, or one of those that it has from its folder."""
    root = Path(papers.__file__).parent
    folder = figure.split(".")[0]
    text = (root / figure.replace(".", "/")).with_suffix(".py").read_text()
    helpers = re.findall(rf"^from jaxbandits\.papers\.{folder}(?:\.(\w+))? import (.*)", text, re.MULTILINE)
    names = [name for module, given in helpers for name in ([module] if module else re.findall(r"^\w+", given))]
    drawn = {other.split(".")[1] for paper in papers.REGISTRY.values() for other in paper.figures}
    texts = [text, *((root / folder / f"{name}.py").read_text() for name in names if name not in drawn)]
    return any(re.search(rf"\bjb\.{title}\b", one) for one in texts)


def _picture(title: str) -> list[str]:
    """Return the picture that shows the algorithm, if there is one."""
    for name in [name for name, shown in _SHOWN.items() if title in shown]:
        about = f"{papers.REGISTRY[name].title}."
        caption = f"{about} The first figure, from few runs: `python docs/draw_pictures.py papers` draws it."
        place = f"../_static/{name}.png"
        options = [f":alt: A figure of {about}", f":target: {place}", ":width: 600px"]
        return [f"```{{figure}} {place}", *options, "", caption, "```", ""]
    return []


def _code(cls: Any) -> str:
    """Return the code of a class, without its docstring, which the page shows already."""
    source = inspect.getsource(cls)
    first = ast.parse(source).body[0]
    assert isinstance(first, ast.ClassDef)
    text, lines = first.body[0], source.splitlines()
    if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
        lines[text.lineno - 1 : text.end_lineno] = []
    return "\n".join(lines).rstrip()


def _range(field: Any) -> str:
    """Return the values that a parameter may have."""
    if rule := field.metadata.get("rule"):
        return RULES[rule].words.removeprefix("must be ").removeprefix("must lie ")
    choices = field.metadata.get("choices")
    if choices:
        return ", ".join(f"`{choice}`" for choice in choices)
    return "yes or no" if field.type in (bool, "bool") else ""


def _default(field: Any) -> str:
    if field.default is dataclasses.MISSING:
        return "required"
    return "none" if field.default is None else f"`{field.default}`"
