"""Specifications as files: whatever stands in one, a complaint is one line with the key and the line of the file."""

import tomllib
from pathlib import Path

import hypothesis
import pytest
from hypothesis import strategies as st

import jaxbandits as jb
from jaxbandits.cli import inputs, main
from jaxbandits.io.toml_files import read_toml

SPECIFICATION = """# a grid
[algorithm]
name = "ugape-c"
delta = 0.1
epsilon = { axis = [
    0.1,
    0.2,
] }

[problem]
name = "two-group"
n = { axis = { start = 10, stop = 1000, num = 3, scale = "log" } }
k = 2
[run]
seeds = 10
"""


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ("delta = 0.1", "delta = 1.5", "line 4, algorithm.delta: "),
        ("delta = 0.1", "delat = 0.1", "line 4, algorithm.delat: unknown parameter of ugape-c"),
        ("delta = 0.1", "'delta' = 1.5", "line 4, algorithm.delta: "),
        ("delta = 0.1", "delta = [\n1,\n2]", "line 4, algorithm.delta: "),
        ("    0.2,", "    'x',", "line 5, algorithm.epsilon: "),
        ('scale = "log"', 'scale = "logarithmic"', "line 12, problem.n.axis.scale: "),
        ("num = 3", "num = 3, step = 2", "line 12, problem.n.axis.step: unknown entry 'step'; "),
        ("num = 3", "num = 0", "line 12, problem.n.axis.num: "),
        ("k = 2", "k = 'x'", "line 13, problem.k: "),
        ("k = 2", "q = 2", "line 13, problem.q: "),
        ('name = "two-group"', 'name = "two-grup"', "line 10, problem: unknown problem"),
        ("[run]", "[rum]", "line 14, rum: unknown table 'rum'; did you mean 'run'?"),
        ("seeds = 10", "seeds = 0", "line 15, run.seeds: "),
        ("seeds = 10", "seeds = 10\nkeep = 'all'", "line 16, run.keep: "),
        ("seeds = 10", "checkpoints = [3, 2]", "line 15, run.checkpoints: checkpoints must be increasing"),
        ("[run]\nseeds = 10", "run.seeds = 0.5", "line 14, problem.run: "),
    ],
)
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_a_complaint_has_the_key_and_the_line(old, new, where, ends, capsys):
    assert old in SPECIFICATION
    Path("grid.toml").write_text(SPECIFICATION.replace(old, new), newline=ends)
    assert main(["sweep", "grid.toml", "--out", "grid.zarr"]) == 2
    told = capsys.readouterr().err
    assert told.startswith(f"jaxbandits: grid.toml, {where}")
    assert len(told.splitlines()) == 1


def test_lines_of_every_entry_are_found():
    Path("grid.toml").write_text(SPECIFICATION)
    file = read_toml(Path("grid.toml"))
    found = {place: file.line_of(place) for place in entries(file.tables)}
    lines = SPECIFICATION.splitlines()
    for place, line in found.items():
        assert place[-1] in lines[line - 1]
    assert found["problem", "name"] == 11
    assert file.line_of(("algorithm", "nothing")) == 2
    assert file.line_of(("nothing",)) is None


def entries(tables, above=()):
    for key, value in tables.items():
        yield (*above, key)
        if isinstance(value, dict):
            yield from entries(value, (*above, key))


def test_files_are_bounded(capsys):
    for text, told in (
        ("x = " + "[" * 5000, "grid.toml is not TOML"),
        ("x = 1" + "0" * 5000, "grid.toml is not TOML that can be read"),
        ("#" * (2**21 + 1), "longer than 2 MiB"),
        (SPECIFICATION.replace("num = 3", "num = 1_000_000_000_000"), "from 1 to 1,000,000"),
        (SPECIFICATION.replace("0.1\n", "{ axis = { start = 0.1, stop = 0.9, num = 200_000 } }\n"), "1,200,000 cells"),
    ):
        Path("grid.toml").write_text(text)
        assert main(["sweep", "grid.toml", "--out", "grid.zarr"]) == 2
        assert told in capsys.readouterr().err


WORDS = [
    "algorithm", "problem", "run", "name", "spec", "delta", "epsilon", "axis", "start", "stop", "num", "scale", "log",
    "linear", "ugape-c", "uniform", "budget", "m", "bernoulli", "bernoulli:0.7,0.5", "two-group", "n", "k", "means",
    "seeds", "keep", "runs", "moments", "checkpoints", "max_pulls", "root_seed", "first_seed", "independent", "costs",
    "reward", "random_costs", "label", "padded", "sha256", "csv", "path", "../x.csv", "variance", "b", "reservoir",
]  # fmt: skip
RUN = ("seeds", "keep", "checkpoints", "max_pulls", "root_seed", "first_seed", "independent")
NUMBERS = st.one_of(
    st.integers(-3, 40), st.integers(), st.floats(), st.sampled_from([0.1, 0.05, 0.5, 1e300, 2**31, 2**64])
)
VALUES = st.recursive(
    st.one_of(NUMBERS, st.booleans(), st.sampled_from(WORDS), st.text(max_size=4), st.datetimes().map(str)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=3),
    max_leaves=6,
)
TABLES = st.fixed_dictionaries(
    {},
    optional={
        table: st.dictionaries(st.sampled_from(WORDS), VALUES, max_size=5)
        for table in ("algorithm", "problem", "run", "other")
    },
)
#: A specification that can be run, of which some entries are others.
NEARLY = st.fixed_dictionaries(
    {
        "algorithm": st.fixed_dictionaries(
            {"name": st.sampled_from(["ugape-c", "uniform", "lucb"])},
            optional=dict.fromkeys(("epsilon", "delta", "budget", "m", "variance"), VALUES),
        ),
        "problem": st.one_of(
            st.fixed_dictionaries({"spec": st.one_of(st.sampled_from(WORDS), st.text(max_size=9))}),
            st.fixed_dictionaries(
                {"name": st.sampled_from(["two-group", "bernoulli", "one-sparse"])},
                optional=dict.fromkeys(("n", "k", "means", "costs", "label", "padded"), VALUES),
            ),
        ),
    },
    optional={"run": st.fixed_dictionaries({}, optional=dict.fromkeys(RUN, VALUES))},
)


def written(value):
    """A value as TOML."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + "".join(f"\\U{ord(c):08X}" if not 0xD800 <= ord(c) < 0xE000 else "?" for c in value) + '"'
    if isinstance(value, list):
        return f"[{', '.join(map(written, value))}]"
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{written(k)} = {written(v)}' for k, v in value.items())} }}"
    return {"inf": "inf", "-inf": "-inf", "nan": "nan"}.get(repr(value), repr(value))


def text_of(tables):
    return "".join(
        f"[{table}]\n" + "".join(f"{written(k)} = {written(v)}\n" for k, v in entries.items())
        for table, entries in tables.items()
    )


@hypothesis.given(st.one_of(TABLES.map(text_of), NEARLY.map(text_of), st.text(max_size=60)))
def ends_without_a_traceback(text):
    """A plan or one line; grids that are made are not run."""
    path, told = Path("grid.toml"), ""
    path.write_text(text, encoding="utf-8", errors="replace", newline="")
    try:
        inputs.plan_of(path)
    except jb.UsageError as error:
        told = str(error)
    if told:
        assert told.startswith(("grid.toml", "cannot read grid.toml"))
    else:  # only what is TOML can be a specification
        assert "algorithm" in tomllib.loads(path.read_text(encoding="utf-8").replace("\r\n", "\n"))


@pytest.mark.parametrize("files", [250, pytest.param(5000, marks=pytest.mark.slow)])
def test_whatever_stands_in_a_file_there_is_no_traceback(files):
    hypothesis.settings(max_examples=files, deadline=None, database=None, derandomize=True)(ends_without_a_traceback)()
