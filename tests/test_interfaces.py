"""What an algorithm, a state and a problem are asked is declared: nobody looks for it by name or by class."""

import ast
from pathlib import Path

import pytest

import jaxbandits
from jaxbandits import algorithms, problems

PACKAGE = Path(jaxbandits.__file__).parent
ROOMS = ["cli", "comparison", "engine", "live", "report", "spending", "sweeps"]
#: Where an object of the user's comes in, and is looked at.
BORDERS = {
    "engine/binding.py", "engine/protocol_checks.py", "engine/elimination_checks.py", "engine/method_types.py",
    "engine/problem_checks.py", "engine/rule_checks.py",
}  # fmt: skip
#: (file, text): what is looked up by name, or by class, elsewhere, and why.
ALLOWED = {
    ("cli/plot_commands.py", "hasattr(module, contents)"): "an installation may lack a part",
    ("engine/devices.py", "hasattr(os, 'sched_getaffinity')"): "not on every system",
    ("report/axis_scales.py", "getattr(axis.axes, f'set_{axis.axis_name}scale')"): "matplotlib names each direction",
    ("sweeps/grid.py", "getattr(problem, name)"): "names of fields that the problem declares in `choices`",
    ("sweeps/grid.py", "hasattr(leaf, 'dtype')"): "numbers and arrays",
    ("sweeps/grid.py", "hasattr(value, '__qualname__')"): "functions and classes",
    ("sweeps/entries.py", "isinstance(thing, Rule | Problem | ProblemFamily)"): "the user's list comes in",
    ("sweeps/rebuild.py", "isinstance(given, Problem | ProblemFamily)"): "the user's problem comes in",
    ("sweeps/rebuild.py", "isinstance(thing, Problem)"): "problems have a name, algorithms have none",
    ("sweeps/spec.py", "isinstance(made, Problem)"): "a label is the name of a problem, and of no family",
}
#: Classes that nobody is asked whether they are of.
CLASSES = {*algorithms.__all__, *problems.__all__, "ProblemFamily", "ArmState", "JointState"}


def look_ups(source):
    """The calls that look something up by its name, or ask for a class of algorithms, states or problems."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
            continue
        named = node.func.id in ("getattr", "hasattr")
        of_class = node.func.id == "isinstance" and CLASSES & {
            each.id if isinstance(each, ast.Name) else each.attr
            for each in ast.walk(node.args[1])
            if isinstance(each, ast.Name | ast.Attribute)
        }
        found += [ast.unparse(node)] if named or of_class else []
    return found


@pytest.mark.parametrize(
    "source", ["getattr(algorithm, 'epsilon', 0)", "hasattr(state, 'ledger')", "isinstance(x, (int, Reservoir))"]
)
def test_a_look_up_is_found(source):
    assert look_ups(source) == [source]


def test_nobody_looks_things_up():
    found = {
        (path.relative_to(PACKAGE).as_posix(), text)
        for room in ROOMS
        for path in (PACKAGE / room).rglob("*.py")
        for text in look_ups(path.read_text())
        if path.relative_to(PACKAGE).as_posix() not in BORDERS
    }
    found = {(file, text) for file, text in found if "jax.config" not in text and "error, 'strerror'" not in text}
    assert found <= ALLOWED.keys(), sorted(found - ALLOWED.keys())
    assert ALLOWED.keys() <= found, sorted(ALLOWED.keys() - found)
