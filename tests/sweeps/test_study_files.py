"""Studies as TOML files: lists of tables and of names, shared axes, and faults with their line."""

import re
import shlex
from pathlib import Path

import pytest

import jaxbandits as jb
from jaxbandits.cli import main
from jaxbandits.cli.inputs import plan_of
from jaxbandits.storage.consolidate import read_store
from jaxbandits.sweeps.plan import make_plan
from jaxbandits.sweeps.spec import build, describe

STUDY = """
[[algorithm]]
name = ["lucb", "ugape-c"]
epsilon = 0.1

[[algorithm]]
name = "successive-rejects"
label = "SR"
budget = { axis = [50, 90] }

[[problem]]
spec = "bernoulli:0.9,0.5,0.4"

[[problem]]
name = "linear"
n = 6
label = "a stair"

[axes]
delta = [0.1, 0.01]

[run]
seeds = 10
"""


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def plan(text):
    Path("study.toml").write_text(text)
    return plan_of(Path("study.toml"))[0]


def test_a_study_is_that_of_python():
    found = plan(STUDY)
    deltas = jb.axis([0.1, 0.01])
    algorithms = {
        "lucb": jb.LUCB(epsilon=0.1, delta=deltas),
        "ugape-c": jb.UGapEc(epsilon=0.1, delta=deltas),
        "SR": jb.SuccessiveRejects(budget=jb.axis([50, 90])),
    }
    assert found.algorithms.things == algorithms
    assert found.problems.names == ("bernoulli", "a stair")
    assert {name: len(values) for name, values in found.layout.dimensions.items()} == {
        "algorithm": 3, "problem": 2, "delta": 2, "budget": 2,
    }  # fmt: skip
    assert len(found.distinct_cells) == 3 * 2 * 2  # SR has no delta, and the others have no budget
    problems = {"bernoulli": jb.bernoulli([0.9, 0.5, 0.4]), "a stair": jb.linear(n=6)}
    assert found.layout.cells == make_plan(algorithms, problems, 10).layout.cells


@pytest.mark.slow
def test_the_study_of_the_documentation_is_one():
    page = (Path(__file__).parents[2] / "docs/studies.md").read_text()
    found = plan(re.search(r"```toml\n(# study.toml.*?)```", page, re.DOTALL)[1])
    assert found.algorithms.names == ("lucb", "kl-lucb", "ttucb", "SR")
    assert found.problems.names == ("bernoulli", "abm", "a stair")
    assert len(found.distinct_cells) == (3 * 3 + 2) * 4


EXPERIMENTS = sorted((Path(__file__).parents[2] / "experiments/sweeps").glob("*_study.toml"))


@pytest.mark.parametrize("file", [pytest.param(file, marks=pytest.mark.slow, id=file.stem) for file in EXPERIMENTS])
def test_the_study_of_a_paper_runs(file):
    """With few seeds, into a store of which a table is made; its comments say how."""
    text = file.read_text()
    Path("study.toml").write_text(re.sub(r"seeds = \d+", "seeds = 2", text))
    assert main(["sweep", "study.toml", "--out", "study.zarr", "--part", "1/1"]) == 0
    commands = [line.removeprefix("#   ") for line in text.splitlines() if line.startswith("#   jaxbandits")]
    assert len(commands) >= 2
    name = re.search(r"--out (\S+)", commands[0])[1]
    for command in commands[1:]:
        assert main(shlex.split(command.replace(name, "study.zarr"))[1:]) == 0


def test_plain_lists_of_names():
    names = 'algorithm = ["uniform", "successive-rejects"]\nproblem = ["bernoulli:0.9,0.5", "abm:1"]\n'
    found = plan(f"{names}[axes]\nbudget = [50]\n")
    assert found.algorithms.names == ("uniform", "successive-rejects")
    assert found.problems.names == ("bernoulli", "abm")
    assert found.layout.dimensions["budget"].tolist() == [50]


def test_axes_for_single_tables_ranges_and_axes_that_go_together():
    found = plan(
        '[algorithm]\nname = "lucb"\n[problem]\nname = "linear"\n[axes]\n'
        "n = { start = 3, stop = 5, num = 3 }\nboth = { epsilon = [0.1, 0.2], delta = [0.1, 0.05] }\n"
    )
    assert found.layout.dimensions["n"].tolist() == [3, 4, 5]
    assert list(found.layout.dimensions["both"]) == ["epsilon=0.1, delta=0.1", "epsilon=0.2, delta=0.05"]
    assert found.cells[-1].algorithm.delta == 0.05


def test_a_specification_is_read_back():
    spec = plan(STUDY).spec
    algorithms, problems, run = build(spec)
    assert describe(algorithms, problems, run) == spec
    assert [table["label"] for table in spec["problem"]] == ["bernoulli", "a stair"]


@pytest.mark.slow
def test_runs_a_study_and_draws_and_exports_it():
    Path("study.toml").write_text(STUDY)
    assert main(["sweep", "study.toml", "--out", "study.zarr", "--dry-run"]) == 0
    assert main(["sweep", "study.toml", "--out", "study.zarr"]) == 0
    assert read_store(Path("study.zarr")).pulls.dims == ("algorithm", "problem", "delta", "budget", "seed")
    chosen = ["--sel", "budget=50", "--sel", "problem=a stair"]
    assert main(["plot", "study.zarr", "--kind", "curve", "--x", "delta", "--out", "a.png", *chosen]) == 0
    assert (
        main(
            [
                "export",
                "study.zarr",
                "--to",
                "latex",
                "--out",
                "a.tex",
                "--sel",
                "budget=50",
                "--rows",
                "algorithm",
                "--columns",
                "problem",
                "delta",
            ]
        )
        == 0
    )
    assert r"\multicolumn{4}{c}{a stair}" in Path("a.tex").read_text()
    assert main(["export", "study.zarr", "--to", "csv", "--out", "a.csv"]) == 0
    assert len(Path("a.csv").read_text().splitlines()) == 1 + 3 * 2 * 2 * 2


AXIS, NAMES, BUDGET = "delta = [0.1, 0.01]", 'name = ["lucb", "ugape-c"]', "budget = { axis = [50, 90] }"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            AXIS,
            "dleta = [0.1]",
            "20, axes.dleta: unknown parameter of the algorithms and problems 'dleta'; did you mean",
        ),
        ("epsilon = 0.1", "epsilon = 0.1\ndelta = 0.1", "21, axes.delta: the axis 'delta' is never used: everything"),
        (AXIS, "both = { delta = [0.1], m = [1, 2] }", "20, axes.both: axes that go together must have equally many"),
        (AXIS, "both = { delta = [0.1], mm = [1] }", "20, axes.both.mm: unknown parameter of the algorithms and"),
        (AXIS, "delta = [0.1, 1.5]", "20, axes.delta: lucb: delta must lie strictly between 0 and 1, got 1.5"),
        (AXIS, "delta = 0.1", "20, axes.delta: an axis is a list of values, a range or a table of lists, got 0.1"),
        (NAMES, 'name = ["lucb", "ugapec"]', "3, algorithm.name: unknown algorithm 'ugapec'; did you mean 'ugape-c'?"),
        (NAMES, 'name = ["lucb", "lucb"]', "2, algorithm: two algorithms are called 'lucb'"),
        (NAMES, f'{NAMES}\nlabel = "both"', "2, algorithm: a table with a list of names has no label"),
        (NAMES, "name = []", "2, algorithm: the list of names is empty"),
        ('label = "SR"', 'label = "lucb"', "6, algorithm: two algorithms are called 'lucb'"),
        ('label = "a stair"', 'label = "bernoulli"', "14, problem: two problems are called 'bernoulli'"),
        ('label = "SR"', "label = 5", "8, algorithm.label: a label is a text, got 5"),
        (
            BUDGET,
            'budget = { axis = [50], name = "delta" }',
            "9, algorithm.budget: two different axes are called 'delta'",
        ),
        (BUDGET, "budegt = 50", "9, algorithm.budegt: unknown parameter of successive-rejects 'budegt'"),
        ("n = 6", "m = 6", "16, problem.m: unknown argument of linear 'm'"),
    ],
)
def test_faults_in_one_line_with_their_line_in_the_file(old, new, message, capsys):
    assert STUDY.count(old) == 1
    Path("study.toml").write_text(STUDY.replace(old, new))
    assert main(["sweep", "study.toml", "--out", "study.zarr", "--dry-run"]) == 2
    told = capsys.readouterr().err
    assert told.startswith(f"jaxbandits: study.toml, line {message}")
    assert len(told.splitlines()) == 1


def test_an_axis_that_nothing_here_has_is_refused(capsys):
    tables = 'algorithm = ["lucb", "ttucb"]\nproblem = ["abm:1"]\n[axes]\ndelta = [0.1]\nbudget = [50]\n'
    Path("study.toml").write_text(tables)
    assert main(["sweep", "study.toml", "--out", "study.zarr", "--dry-run"]) == 2
    told = "line 5, axes.budget: the axis 'budget' is never used: no algorithm and no problem here has this parameter"
    assert capsys.readouterr().err == f"jaxbandits: study.toml, {told}\n"


def test_an_axis_for_parameters_of_both_kinds_is_refused(capsys):
    tables = '[algorithm]\nname = "opt-mai"\nbudget = 900\n[problem]\nname = "two-group"\nn = 9\n[axes]\nk = [1, 2]\n'
    Path("study.toml").write_text(tables)
    assert main(["sweep", "study.toml", "--out", "study.zarr", "--dry-run"]) == 2
    told = (
        "line 8, axes.k: both an algorithm and a problem have the parameter 'k': write the axis in the tables it is for"
    )
    assert capsys.readouterr().err == f"jaxbandits: study.toml, {told}\n"
