"""Something new is a module and a line of a registry: all else follows."""

import json
import re
import subprocess
import sys
import types
from pathlib import Path

import pytest

import jaxbandits as jb
from jaxbandits import algorithms, problems
from jaxbandits.algorithms.uniform_sampling import uniform
from jaxbandits.cli import main
from jaxbandits.engine.binding import accept
from jaxbandits.sweeps.spec import describe_algorithm

TESTS = Path(__file__).parent
BUDGET = ["--set", "budget=40"]
PROBLEM = '''
import jaxbandits as jb
from jaxbandits.problems.constructors import varying


@varying
def stairs(n: int, top: float = 0.9, *, name: str = ""):
    """Bernoulli arms with means top, top/2, top/3, …"""
    return jb.bernoulli([top / (i + 1) for i in range(n)], name=name or "stairs")
'''


def copied_text():
    """The shortest algorithm's module, with another class in it."""
    return re.sub(r"\bUniform(?=\b|State)", "Copied", Path(uniform.__file__).read_text())


def module_of(text, name):
    made = types.ModuleType(name)
    made.__file__ = f"{name}.py"
    exec(compile(text, made.__file__, "exec"), made.__dict__)
    return made


@pytest.fixture
def copied(monkeypatch):
    name = "jaxbandits.algorithms.copied"
    monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, name, module_of(copied_text(), name))
    monkeypatch.setitem(algorithms.REGISTRY.lines, "copied", "copied:Copied")


def test_an_algorithm_is_public_and_on_the_command_line_by_its_line(copied, capsys):
    assert jb.Copied is algorithms.Copied is algorithms.REGISTRY["copied"]
    assert "Copied" in dir(jb)
    assert main(["list"]) == 0
    assert "copied" in capsys.readouterr().out
    told = []
    for name in ("copied", "uniform"):
        assert main(["simulate", name, "--problem", "bernoulli:0.7,0.5", "--seeds", "30", *BUDGET, "--json"]) == 0
        told.append(json.loads(capsys.readouterr().out))
    assert told[0]["mean_pulls"] == 40
    assert told[0]["failure_rate"] == told[1]["failure_rate"]
    assert describe_algorithm(accept(jb.Copied(budget=40))) == {"name": "copied", "budget": 40, "m": 1}
    ds = jb.simulate(jb.Copied(budget=40), jb.bernoulli([0.7, 0.5]), 30)
    assert jb.repeat(ds).identical(ds) or (jb.repeat(ds).recommended == ds.recommended).all()


@pytest.mark.slow
def test_an_algorithm_is_held_to_the_protocol_by_its_line(tmp_path):
    (tmp_path / "copied.py").write_text(copied_text())
    (tmp_path / "one_line.py").write_text(
        "import importlib.util, sys\n"
        "from jaxbandits.algorithms.registry import REGISTRY\n"
        "name = 'jaxbandits.algorithms.copied'\n"
        f"spec = importlib.util.spec_from_file_location(name, {str(tmp_path / 'copied.py')!r})\n"
        "sys.modules[name] = module = importlib.util.module_from_spec(spec)\n"
        "spec.loader.exec_module(module)\n"
        "REGISTRY.lines['copied'] = 'copied:Copied'\n"
    )
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "one_line",
        "-p",
        "no:cacheprovider",
        "-k",
        "copied",
        "-m",
        "",
    ]
    done = subprocess.run(
        [*command, str(TESTS / "algorithms" / "test_protocol.py")],
        cwd=TESTS.parent, capture_output=True, text=True, env={**__import__("os").environ, "PYTHONPATH": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) >= 10


def test_a_problem_is_public_specified_and_parsed_by_its_line(monkeypatch, capsys):
    name = "jaxbandits.problems.stairs_of_arms"
    monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, name, module_of(PROBLEM, name))
    monkeypatch.setitem(problems.REGISTRY.lines, "stairs", "stairs_of_arms:stairs")
    ds = jb.sweep(jb.Uniform(budget=40), jb.stairs(jb.axis([2, 3]), top=0.8), seeds=20)
    assert json.loads(ds.attrs["spec"])["problem"]["name"] == "stairs"
    assert (jb.repeat(ds).recommended == ds.recommended).all()
    alone = jb.simulate(jb.Uniform(budget=40), jb.stairs(3, top=0.8), seeds=20)
    assert (alone.recommended == ds.recommended.sel(n=3)).all()
    assert json.loads(alone.attrs["spec"])["problem"] == {"name": "stairs", "n": 3, "top": 0.8}
    assert main(["list"]) == 0
    assert "stairs" in capsys.readouterr().out
    assert (
        main(
            ["simulate", "uniform", "--problem", "stairs:n=3,top=0.8", "--seeds", "20", "--set", "budget=40", "--json"]
        )
        == 0
    )
    assert json.loads(capsys.readouterr().out)["failure_rate"] == 1 - float(alone.correct.mean())
    assert main(["simulate", "uniform", "--problem", "stairs:n=3,tip=0.8", *BUDGET]) == 2
    assert "unknown argument of stairs 'tip'; did you mean 'top'?" in capsys.readouterr().err
