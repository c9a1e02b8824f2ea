"""What is written by machine from the registries is as they are: stubs of the faces, and tables of the documentation.

After a change of a registry: `python tests/test_generated.py`.
"""

import dataclasses
import functools
import importlib
import importlib.metadata
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import jaxbandits as jb
from jaxbandits import algorithms, papers, problems
from jaxbandits.cli.list_command import describe

ROOT = Path(__file__).parents[1]
FACES = ["jaxbandits", "jaxbandits.algorithms", "jaxbandits.problems"]


def stub(package):
    """What static tools read of a face: every name, and the module that defines it."""
    face = importlib.import_module(package)
    imports, others = [], ""
    for name in face.__all__:
        found = getattr(face, name)
        if inspect.ismodule(found):
            parent, _, module = found.__name__.rpartition(".")
            imports.append(f"from {parent} import {module}" + (f" as {name}" if module == name else ""))
            others += f"{name} = {module}\n" if module != name else ""
        else:
            module = f"{package}.registry" if name == "REGISTRY" else found.__module__
            imports.append(f"from {module} import {name} as {name}")
    head = '"""Written by `python tests/test_generated.py` from the registries."""\n\n'
    others += "__version__: str\n" if package == "jaxbandits" else ""
    text = head + "\n".join(imports) + f"\n\n{others}"  # `name as name` makes it public: no __all__ is needed
    # In the order that the linter wants.
    for command in (["check", "--select", "I", "--fix", "-q"], ["format", "-q"]):
        done = subprocess.run(
            ["ruff", *command, "--stdin-filename", f"{package}.pyi", "-"],
            input=text, capture_output=True, text=True, check=True, cwd=ROOT,
        )  # fmt: skip
        text = done.stdout
    return text


def algorithm_table():
    lines = ["| name, class | setting | source |", "|---|---|---|"]
    for name, cls in algorithms.REGISTRY.items():
        lines.append(f"| `{name}` `{cls.__name__}` | {cls.traits.setting} | {cls.traits.source} |")
    return "\n".join(lines)


def problem_table():
    lines = ["| name | arguments | what |", "|---|---|---|"]
    for name, make in problems.REGISTRY.items():
        arguments = []
        for argument in inspect.signature(make).parameters.values():
            if argument.name != "name":
                given = argument.default is not inspect.Parameter.empty
                arguments.append(f"{argument.name}={argument.default}" if given else argument.name)
        text = describe(make).replace("|", "\\|")
        lines.append(f"| `{name}` | {', '.join(f'`{argument}`' for argument in arguments)} | {text} |")
    return "\n".join(lines)


@functools.cache
def written_pages():
    """Return the pages that the documentation writes from the registries."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "docs"))
        return importlib.import_module("write_pages").pages()


def stub_file(package):
    return ROOT.joinpath(*package.split(".")) / "__init__.pyi"


@pytest.mark.parametrize("package", FACES)
def test_stubs_are_as_the_faces(package):
    assert stub_file(package).read_text() == stub(package)


def test_the_pages_list_what_the_registries_hold():
    pages = written_pages()
    head, *rows = algorithm_table().splitlines()
    index = re.sub(r"\[(`[a-z0-9-]+`)\]\([a-z0-9-]+\.md\)", r"\1", pages["algorithms/index.md"])
    table = [line for line in index.splitlines() if line.startswith("| `")]
    assert head in index
    assert sorted(table) == sorted(rows[1:])
    assert pages["problems_table.md"].splitlines() == problem_table().splitlines()
    assert {f"algorithms/{name}.md" for name in algorithms.REGISTRY} <= set(pages)


def test_the_readme_counts_the_algorithms():
    assert re.findall(r"(\d+) algorithms", (ROOT / "README.md").read_text()) == [str(len(algorithms.REGISTRY))]


def test_the_picture_of_a_page_shows_its_algorithm():
    """Thompson sampling had a picture of RCB-AIR alone, and SiRI, KUBE, SAR and uniform sampling one of others."""
    pages = written_pages()
    first = {name: papers.load_figure(paper.figures[0]) for name, paper in papers.REGISTRY.items()}
    seen = 0
    for name, cls in algorithms.REGISTRY.items():
        for paper in re.findall(r"{figure} \.\./_static/([\w-]+)\.png", pages[f"algorithms/{name}.md"]):
            helpers = [
                one for one in vars(first[paper]).values() if "jaxbandits.papers" in getattr(one, "__name__", "")
            ]
            sources = [inspect.getsource(one) for one in [first[paper], *helpers] if inspect.ismodule(one)]
            assert any(re.search(rf"\bjb\.{cls.__name__}\b", source) for source in sources)
            seen += 1
    assert seen >= 10


def test_every_public_name_is_in_the_reference():
    pages = written_pages()
    text = "\n".join(page for place, page in pages.items() if place.startswith("api/"))
    documented = set(re.findall(r"^\.\. \w.*:: (?:jaxbandits\.)?(?:\w+\.)?(\w+)$", text, re.MULTILINE))
    for face in (jb, jb.problems, jb.theory, jb.gradients, jb.plot):
        names = {name for name in face.__all__ if not inspect.ismodule(getattr(face, name))}
        assert names <= documented, names - documented


@pytest.mark.parametrize("name", algorithms.REGISTRY)
def test_the_page_of_an_algorithm_explains_every_parameter(name):
    """In the docstring, which it shows, or below the table where the docstring says "as for" another algorithm."""
    cls, page = algorithms.REGISTRY[name], written_pages()[f"algorithms/{name}.md"]
    section = page.split("## Parameters", 1)[1].split("## Guarantee")[0]
    own = re.findall(r"^ {4}([\w, ]+): (?!as (?:for|in) `)", inspect.cleandoc(vars(cls)["__doc__"]), re.MULTILINE)
    explained = {word for names in own for word in names.split(", ")} | set(re.findall(r"^- `(\w+)`: .", section, re.M))
    assert {field.name for field in dataclasses.fields(cls) if field.init} <= explained
    if "stopping" in vars(cls)["__dataclass_fields__"]:
        assert "kk21-gaussian" in section.split("|\n\n")[1] or name == "uniform-glr"
        assert "](../stopping.md)" in section


def test_no_public_text_refers_to_what_has_no_page():
    faces = (jb, jb.problems, jb.theory, jb.gradients, jb.plot)
    things = [getattr(face, name) for face in faces for name in face.__all__]
    members = {name for thing in things if inspect.isclass(thing) for name in dir(thing)}
    public = {name for face in faces for name in face.__all__} | members | {"protocol"}
    for thing in things:
        text = " ".join((inspect.getdoc(thing) or "").split())
        for name in re.findall(r"\b(?:as (?:for|in|of)|see|those of|(?:keys?) of) `(?:help\()?([\w.]+)[`)]", text):
            assert name.split(".")[-1] in public, f"{thing}: {name}"


@pytest.mark.parametrize("cls", algorithms.REGISTRY.values(), ids=algorithms.REGISTRY)
def test_every_algorithm_says_what_it_is_for(cls):
    assert cls.traits.setting
    assert dataclasses.is_dataclass(cls)


def test_public_names_are_there_and_are_no_modules_by_accident():
    for name in jb.__all__:
        assert inspect.ismodule(getattr(jb, name)) == (name in ("gradients", "plot", "problems", "theory")), name
    assert set(jb.__all__) <= set(dir(jb))
    assert jb.__version__ == importlib.metadata.version("jaxbandits")
    with pytest.raises(AttributeError, match="no attribute 'no_such_name'"):
        jb.no_such_name  # noqa: B018


if __name__ == "__main__":
    for package in FACES:
        stub_file(package).write_text(stub(package))
    sys.exit(0)
