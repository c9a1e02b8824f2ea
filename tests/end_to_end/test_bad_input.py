"""Input that cannot be used: one line on stderr, exit status 2, no traceback, and nothing written."""

import importlib
from pathlib import Path

import pytest

import jaxbandits as jb
from jaxbandits.cli import main

PROBLEM = "bernoulli:0.7,0.5,0.4"


def simulate(problem: str = PROBLEM, algorithm: str = "ugape-c", *more: str, **settings: str) -> list[str]:
    values = {"epsilon": "0.1", "delta": "0.1", **settings} if algorithm == "ugape-c" else settings
    return ["simulate", algorithm, "--problem", problem, "--set", *(f"{k}={v}" for k, v in values.items()), *more]


def compare(means: str = "0.7,0.5,0.4", *more: str, delta: str = "0.1") -> list[str]:
    return ["compare", "--means", means, "--delta", delta, *more]


COMMANDS = [
    # hyperparameters of algorithms
    (simulate(delta="0"), "delta must lie strictly between 0 and 1, got 0"),
    (simulate(delta="1"), "delta must lie strictly between 0 and 1, got 1"),
    (simulate(delta="nan"), "delta must lie strictly between 0 and 1, got nan"),
    (simulate(delta="true"), "delta must be a number, got True"),
    (simulate(delta="none"), "delta must be a number, got None"),
    (simulate(delta="small"), "delta must be a number, got 'small'"),
    (simulate(delta=""), "delta must be a number, got ''"),
    (simulate(delta="0.1,0.2"), "got [0.1, 0.2]; an axis is written { axis = [0.1, 0.2] } in a file"),
    (simulate(epsilon="-0.1"), "epsilon must be finite and at least 0"),
    (simulate(epsilon="inf"), "epsilon must be finite and at least 0"),
    (simulate(m="0"), "m must be a whole number, at least 1"),
    (simulate(m="1.5"), "m must be a whole number, at least 1"),
    (simulate(m="inf"), "m must be a whole number, at least 1, got inf"),
    (simulate(m="3"), "m must be smaller than the number of arms, got m=3 with 3 arms"),
    (simulate(variance="maybe"), "variance is true or false, got 'maybe'"),
    (simulate(variance="1"), "variance is true or false, got 1"),
    (simulate(epsilom="0.1"), "did you mean 'epsilon'?"),
    (simulate(PROBLEM, "uniform"), "uniform needs budget"),
    (simulate(PROBLEM, "uniform", budget="2"), "the budget must cover 3 first pulls of 3 arms, got 2"),
    (simulate(PROBLEM, "uniform", budget="1e12"), "2^31"),
    (simulate(PROBLEM, "ugape-b", budget="5", variance="true"), "the budget must cover 6 first pulls"),
    (simulate("gabillon:1", "lucb", epsilon="0.1", delta="0.1"), "LUCB explores one bandit, the problem has 2"),
    ([*simulate(), "--set", "epsilon=0.2"], "epsilon is given twice"),
    ([*simulate(), "--set", "m"], "--set takes name=value, got 'm'"),
    # problems
    (simulate("bernoulli:0.7"), "at least 2 arms, got 1"),
    (simulate("bernoulli:"), "bernoulli"),
    (simulate("bernoulli:0.7,nan"), "must be finite, got nan"),
    (simulate("bernoulli:0.7,inf"), "must be finite, got inf"),
    (simulate("bernoulli:0.7,1.2"), "[0, 1]"),
    (simulate("bernoulli:-0.1,0.2"), "[0, 1]"),
    (simulate("bernoulli:0.7,many"), "'many' is not a number"),
    (simulate("gaussian:0,1;0"), "sd must be positive"),
    (simulate("bernouli:0.7,0.5"), "unknown problem 'bernouli'; did you mean 'bernoulli'?"),
    (simulate("two-group:n=10,q=3"), "unknown argument of two-group 'q'"),
    (simulate("two-group:n=ten,k=3"), "'ten' is not a number"),
    (simulate("two-group:n=inf,k=3"), "n must be a whole number, got inf"),
    (simulate("two-group:n=10,k=10"), "smaller than n=10"),
    (
        simulate("one-sparse:n=1000000000000"),
        "arms n must be a whole number from 2 to 8,388,608, got 1000000000000",
    ),
    (simulate("abm:8"), "abm has the experiments 1 to 7"),
    # counts
    (simulate(PROBLEM, "ugape-c", "--seeds", "0"), "seeds must be a whole number from 1 to 2^31 - 1"),
    (simulate(PROBLEM, "ugape-c", "--seeds", "-5"), "seeds must be a whole number from 1 to 2^31 - 1"),
    (simulate(PROBLEM, "ugape-c", "--seeds", "1.5"), "--seeds must be a whole number, got 1.5"),
    (simulate(PROBLEM, "ugape-c", "--seeds", "ten"), "--seeds must be a whole number, got 'ten'"),
    (simulate(PROBLEM, "ugape-c", "--seeds", "inf"), "--seeds must be a whole number, got inf"),
    (
        simulate(PROBLEM, "ugape-c", "--seeds", "1e10"),
        "seeds must be a whole number from 1 to 2^31 - 1, got 1",
    ),
    (simulate(PROBLEM, "ugape-c", "--root-seed", "-1"), "root_seed must be a whole number from 0 to 2^64 - 1"),
    (simulate(PROBLEM, "ugape-c", "--max-pulls", "0"), "max_pulls must be a whole number from 1 to 2^31 - 1"),
    # the line itself
    (["simulat"], 'Did you mean "simulate"?'),
    (["simulate"], "requires an argument"),
    (["simulate", "ugape-c"], "--problem"),
    (["simulate", "ugape-d", "--problem", PROBLEM], "unknown algorithm 'ugape-d'; did you mean 'ugape-"),
    ([*simulate(), "--sedes", "3"], "Did you mean --seeds?"),
    (["--frobnicate"], "--frobnicate"),
    ([*simulate(), "--max-pulls"], "--max-pulls"),
    (
        ["simulate", "ugape-b", "--problem", "reservoir:prices=unit,arms=4", "--set", "budget=50"],
        "draws other arms for each run: give a=…, or adaptive=True",
    ),
    # compare
    (compare(delta="0"), "delta must lie strictly between 0 and 1, got 0"),
    (compare(delta="1"), "delta must lie strictly between 0 and 1, got 1"),
    (compare(delta="x"), "--delta"),
    (compare("0.7,0.5", "--epsilon", "-0.1"), "epsilon must be finite and at least 0"),
    (compare("0.7,0.5", "--epsilon", "nan"), "epsilon must be finite and at least 0"),
    (compare("0.7,0.5", "--m", "2"), "m must be a whole number from 1 to 1, smaller than the number of arms, got 2"),
    (compare("0.7,0.5", "--m", "0"), "m must be a whole number from 1 to 1, smaller than the number of arms, got 0"),
    (compare("0.7"), "at least 2 arms"),
    (compare("0.7,nan"), "must be finite"),
    (compare("-0.7,0.5"), "[0, 1]"),
    (compare("0.7,"), "is not a number"),
    (compare("0.7,0.7,0.1"), "arms tie for place m=1"),
    (compare("0.7,0.5,0.4", "--budget", "2"), "the budget must cover the first pulls of 3 arms, got 2"),
    (compare("0.7,0.5,0.4", "--seeds", "0"), "seeds must be a whole number from 1 to 2^31 - 1"),
    (["compare", "--delta", "0.1"], "--means or --problem"),
    (compare("0.7,0.5", "--problem", "abm:1"), "--means or --problem"),
    # plan
    (["plan"], "--data"),
    (["plan", "--data", "missing.csv"], "cannot read missing.csv: No such file or directory"),
    (["plan", "--data", "folder"], "cannot read folder"),
    (["plan", "--data", "missing.csv", "--delta", "1"], "delta must lie strictly between 0 and 1, got 1"),
    (["plan", "--data", "missing.csv", "--out", "plan.txt"], "--out must end in .png or .pdf or .svg"),
    # files
    (["sweep", "missing.toml", "--out", "grid.nc"], "cannot read missing.toml: No such file or directory"),
    (["sweep", "folder", "--out", "grid.nc"], "cannot read folder"),
    (["sweep", "grid.toml", "--out", "grid.csv"], "--out must end in .nc or .zarr"),
    (["sweep", "grid.toml", "--out", "no/such/folder/grid.nc"], "cannot write to no/such/folder"),
    (["sweep", "grid.toml", "--out", "grid.toml/grid.nc"], "cannot write to grid.toml"),
    (["sweep", "grid.toml", "--out", "other.nc"], "other.nc is not a store of results"),
    (["sweep", "grid.toml", "--out", "grid.nc", "--devices", "1000"], "devices must be a whole number from 1 to"),
    (["sweep", "grid.toml", "--out", "grid.nc", "--devices", "two"], "--devices must be a whole number"),
    (["plot", "missing.nc", "--kind", "curve", "--out", "a.png"], "there is no store missing.nc"),
    (["plot", "other.nc", "--kind", "curve", "--out", "a.png"], "other.nc is not a store of results"),
    (["plot", "other.nc", "--kind", "curv", "--out", "a.png"], "unknown kind of plot 'curv'; did you mean 'curve'?"),
    (["plot", "other.nc", "--kind", "curve", "--out", "a.doc"], "--out must end in .png or .pdf or .svg"),
    (["plot", "other.nc", "--kind", "curve", "--out", "no/a.png"], "cannot write to no"),
    (["reproduce", "--scale", "huge", "--out", "figures"], "huge"),
    (["reproduce", "--out"], "--out"),
]


def _snapshot() -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in Path().rglob("*") if path.is_file()}


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    Path("other.nc").write_text("not a store")
    Path("grid.toml").write_text(_toml())


def _fails(argv: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = _snapshot()
    assert main(argv) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("jaxbandits: ")
    assert len(captured.err.splitlines()) == 1
    assert captured.err.endswith("\n")
    assert "Traceback" not in captured.err
    assert message in captured.err
    assert _snapshot() == before


@pytest.mark.parametrize(
    ("argv", "message"), COMMANDS, ids=lambda value: " ".join(value) if isinstance(value, list) else ""
)
def test_one_line_and_status_2(argv, message, capsys):
    _fails(argv, message, capsys)


def _toml(algorithm: str = "", problem: str = f'spec = "{PROBLEM}"', run: str = "seeds = 10") -> str:
    parameters = algorithm or "epsilon = 0.1"
    return f'[algorithm]\nname = "ugape-c"\ndelta = 0.1\n{parameters}\n[problem]\n{problem}\n[run]\n{run}\n'


FILES = [
    ("[algorithm\n", "grid.toml is not TOML"),
    ("", "no [algorithm] table"),
    ("[algorithm]\nname = 'ugape-c'\n", "no [problem] table"),
    (_toml() + "[runs]\n", "unknown table 'runs'; did you mean 'run'?"),
    (_toml("epsilon = 'x'"), "epsilon must be a number, got 'x'"),
    (_toml("epsilon = [0.1, 0.2]"), "an axis is written { axis = [0.1, 0.2] } in a file"),
    (_toml("epsilon = 2020-01-01"), "epsilon must be a number"),
    (_toml("epsilon = { axis = [0.1, -0.2] }"), "epsilon must be finite and at least 0"),
    (_toml("epsilon = { axis = [0.1, true] }"), "epsilon must be a number, got True"),
    (_toml("epsilon = { axis = [] }"), "at least one value"),
    (_toml("epsilon = { axis = [0.1, 0.1] }"), "must not repeat"),
    (
        _toml("epsilon = { axis = { start = 0.1, stop = 0.2 } }"),
        "line 4, algorithm.epsilon.axis: num is missing: start, stop, num must be given",
    ),
    (
        _toml("epsilon = { axis = { start = 0.1, stop = 0.2, num = 2.5 } }"),
        "line 4, algorithm.epsilon.axis.num: num must",
    ),
    (
        _toml("epsilon = { axis = { start = 0.1, stop = 0.2, num = 0 } }"),
        "epsilon.axis.num: num must be a whole number from 1",
    ),
    (
        _toml("epsilon = { axis = { start = 'a', stop = 0.2, num = 2 } }"),
        "axis.start: start must be a number",
    ),
    (
        _toml("epsilon = { axis = { start = 0, stop = 0.2, num = 2, scale = 'log' } }"),
        "with scale log must be positive",
    ),
    (_toml("epsilon = { axis = { start = 0, stop = 0.2, num = 2, scale = 'lin' } }"), "scale"),
    (_toml("epsilon = { axes = [0.1] }"), "axis"),
    (_toml(problem="name = 'two-grup'"), "did you mean 'two-group'?"),
    (_toml(problem="name = 'two-group'\nn = 'x'"), "problem two-group: n must be a whole number, got 'x'"),
    (_toml(problem="name = 'two-group'\nn = nan"), "n must be a whole number, got nan"),
    (_toml(problem=f"spec = '{PROBLEM}'\nn = 3"), "must not have n"),
    (_toml(problem="n = 3"), "needs a name"),
    (_toml(run="seeds = 0"), "seeds must be a whole number from 1 to 2^31 - 1"),
    (_toml(run="seeds = nan"), "seeds must be a whole number"),
    (_toml(run="seeds = true"), "seeds must be a whole number"),
    (_toml(run="seed = 5"), "did you mean 'seeds'?"),
    (_toml(run="keep = 'everything'"), "unknown value of keep 'everything'"),
    (_toml(run="independent = 3"), "independent is true or false"),
    (_toml(run="checkpoints = 3"), "checkpoints are a list"),
    (_toml(run="checkpoints = [3, 2]"), "increasing"),
]


@pytest.mark.parametrize(("text", "message"), FILES, ids=lambda value: value[-40:])
def test_specifications(text, message, capsys):
    Path("grid.toml").write_text(text)
    _fails(["sweep", "grid.toml", "--out", "grid.nc"], message, capsys)


def test_specification_that_is_not_text(capsys):
    Path("grid.toml").write_bytes(b"\xff\xfe\x00")
    _fails(["sweep", "grid.toml", "--out", "grid.nc"], "cannot read grid.toml: not a text file", capsys)


def test_bad_input_is_refused_before_any_run(monkeypatch, capsys):
    def never(*_, **__):
        raise AssertionError("a run was started")

    monkeypatch.setattr(importlib.import_module("jaxbandits.sweeps.plan_runs"), "run_jobs", never)
    _fails(["sweep", "grid.toml", "--out", "missing/grid.nc"], "cannot write to missing", capsys)
    Path("grid.toml").write_text(_toml("epsilon = 0.1\nm = { axis = [1, 2, 3] }"))
    _fails(["sweep", "grid.toml", "--out", "grid.nc"], "m must be smaller than the number of arms", capsys)
    _fails(compare("0.7,0.5,0.4", "--budget", "2"), "the budget must cover", capsys)


def test_figures_are_checked_before_the_folder_is_made(monkeypatch, capsys):
    monkeypatch.setattr(
        "jaxbandits.cli.plot_commands.figures", lambda: type("F", (), {"REGISTRY": {"ugape-figure-1": None}})
    )
    _fails(["reproduce", "ugape-figure-2", "--out", "figures"], "did you mean 'ugape-figure-1'?", capsys)
    _fails(["reproduce", "ugape-figure-1", "--out", "other.nc/figures"], "cannot write to", capsys)
    assert not Path("figures").exists()


def test_python_gets_the_same_errors():
    with pytest.raises(jb.UsageError, match="delta must lie strictly between 0 and 1"):
        jb.UGapEc(epsilon=0.1, delta=0)
