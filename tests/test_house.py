"""The house: files of one sitting, modules that are not named as what they hold, and arrows that run one way."""

import ast
import graphlib
from pathlib import Path

import pytest

import jaxbandits

PACKAGE = Path(jaxbandits.__file__).parent
#: Lines of a file at most.
SITTING = 250
#: file -> (lines at most, why it is not taken apart).
LONGER = {}
#: Names of files in several folders: the two halves of one thing. No new one is allowed.
TWICE = {"registry.py"}


def files(package):
    """The package's files, and what is in them, by their place in it."""
    return {path.relative_to(package).as_posix(): path.read_text() for path in sorted(package.rglob("*.py"))}


def namesakes(package):
    """Functions and classes that have the name of the module which holds them."""
    return [
        f"{place}: {node.name}"
        for place, text in files(package).items()
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == Path(place).stem
    ]


def in_several_folders(package):
    """The names of files that stand in more than one folder, but for `__init__.py`."""
    names = [Path(place).name for place in files(package)]
    return {name for name in names if names.count(name) > 1} - {"__init__.py"}


def is_module(path):
    return path.is_dir() or path.with_suffix(".py").is_file()


def modules_named(text, package):
    """The modules that a file imports, wherever in it, as paths in the package without their ending."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "an import relative to where it stands"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            whole, *parts = name.split(".")
            if whole != package.name:
                continue
            # The longest part of the name that is a module: what follows is defined in it.
            while parts and not (
                package.joinpath(*parts).is_dir() or package.joinpath(*parts).with_suffix(".py").is_file()
            ):
                parts.pop()
            yield "/".join(parts) or "__init__"


def arrows(package, *, rooms):
    """What imports what: of files, or of rooms, which are the package's folders and the files beside them."""
    graph = {}
    for place, text in files(package).items():
        source = place.removesuffix(".py").removesuffix("/__init__")
        for target in modules_named(text, package):
            start, end = (name.partition("/")[0] if rooms else name for name in (source, target))
            if start != end:
                graph.setdefault(start, set()).add(end)
    return graph


def circle(graph):
    """The modules of one, in order; empty where there is none."""
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return error.args[1]
    return []


def test_files_are_for_one_sitting():
    lines = {place: len(text.splitlines()) for place, text in files(PACKAGE).items()}
    long = {place: count for place, count in lines.items() if count > LONGER.get(place, (SITTING, ""))[0]}
    assert not long
    assert not (stale := [place for place in LONGER if lines.get(place, 0) <= SITTING]), stale


def test_no_module_is_named_as_what_it_holds():
    assert not namesakes(PACKAGE)


def test_no_file_has_the_name_of_another():
    found = in_several_folders(PACKAGE)
    assert not (new := found - TWICE), new
    assert not (stale := TWICE - found), stale


@pytest.mark.parametrize("rooms", [True, False], ids=["rooms", "files"])
def test_arrows_run_one_way(rooms):
    graph = arrows(PACKAGE, rooms=rooms)
    assert len(graph) > 10
    assert not circle(graph)


def test_what_is_not_to_be_is_found(tmp_path):
    house = tmp_path / "house"
    contents = {
        "__init__.py": "",
        "errors.py": "",
        "up/__init__.py": "",
        "up/run.py": "from house.down import arms\nfrom house.errors import Mistake\ndef run(): ...",
        "up/small.py": "import house.errors",
        "down/__init__.py": "",
        "down/small.py": "",
        "down/arms.py": "def largest():\n    from house.up.small import one",
    }
    for place, text in contents.items():
        (house / place).parent.mkdir(parents=True, exist_ok=True)
        (house / place).write_text(text)
    assert namesakes(house) == ["up/run.py: run"]
    assert in_several_folders(house) == {"small.py"}
    assert arrows(house, rooms=False) == {
        "up/run": {"down/arms", "errors"},
        "up/small": {"errors"},
        "down/arms": {"up/small"},
    }
    assert not circle(arrows(house, rooms=False))
    assert sorted(set(circle(arrows(house, rooms=True)))) == ["down", "up"]
