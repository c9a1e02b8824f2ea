"""The command line from the user's side: what it prints, what it writes, and that neither is ever half done."""

import importlib
import json
import os
import re
import subprocess
import sys
import tomllib
import types
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr

import jaxbandits as jb
from jaxbandits import algorithms, papers, problems
from jaxbandits.cli import inputs, main, plot_commands
from jaxbandits.cli.list_command import describe
from jaxbandits.papers import Stage
from jaxbandits.report.intervals import clopper_pearson
from jaxbandits.storage.arrays_on_disk import write_arrays
from jaxbandits.storage.consolidate import read_store
from jaxbandits.sweeps.entries import entries_of
from jaxbandits.sweeps.grid import expand
from jaxbandits.sweeps.spec import build

SWEEPS = Path(__file__).parents[2] / "experiments" / "sweeps"

# One shape of problem and one class of algorithm throughout: the tests then share a few compilations.
PROBLEM = "bernoulli:0.7,0.5,0.4"
SIMULATE = ["simulate", "ugape-c", "--problem", PROBLEM, "--seeds", "50", "--set", "epsilon=0.1", "delta=0.1"]
KEYS = {
    "runs",
    "mean_pulls",
    "sd_pulls",
    "quantiles",
    "quantiles_at_least",
    "failure_rate",
    "failure_ci",
    "mean_cost",
    "mean_reward",
    "mean_simple_regret",
    "mean_aggregate_regret",
    "stopped_early",
    "compile_seconds",
    "seconds",
    "pulls_per_second",
}
SPECIFICATION = f"""
[algorithm]
name = "ugape-c"
delta = 0.1
epsilon = {{ axis = {{ start = 0.1, stop = 0.4, num = 3, scale = "log" }} }}
[problem]
spec = "{PROBLEM}"
[run]
seeds = 20
root_seed = 3
"""


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def specification() -> Path:
    path = Path("grid.toml")
    path.write_text(SPECIFICATION)
    return path


def test_list_names_everything_that_is_registered(capsys):
    assert main(["list"]) == 0
    out = capsys.readouterr().out
    for name in (*algorithms.REGISTRY, *problems.REGISTRY):
        assert f"\n  {name}  " in out
    assert "ugape-c  epsilon delta m=1 c=0.5 variance=false b=none" in out


def test_a_formula_keeps_its_letters_in_lists():
    assert describe(jb.theory.binary_relative_entropy).startswith("kl(delta")
    assert describe(jb.log_normal).startswith("Log-normal arms")


@pytest.mark.parametrize("argv", [["--help"], ["list", "--help"], ["simulate", "--help"], ["compare", "--help"], []])
def test_help(argv, capsys):
    assert main(argv) == 0
    captured = capsys.readouterr()
    assert "Usage" in captured.out
    assert captured.err == ""


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.strip() == "0.1.0"


def test_simulate_json_is_one_object_with_the_numbers_of_the_python_interface(capsys):
    assert main([*SIMULATE, "--json"]) == 0
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    assert set(found) == KEYS
    assert captured.err == ""
    runs = jb.simulate(jb.UGapEc(epsilon=0.1, delta=0.1), jb.bernoulli([0.7, 0.5, 0.4]), seeds=50)
    pulls = runs["pulls"].to_numpy()
    errors = int((~runs["correct"].to_numpy()).sum())
    assert found["runs"] == 50
    assert found["mean_pulls"] == pytest.approx(pulls.mean(), rel=1e-12)
    assert found["sd_pulls"] == pytest.approx(pulls.std(ddof=1), rel=1e-12)
    assert found["quantiles"] == {str(q): pytest.approx(np.quantile(pulls, q)) for q in (0.1, 0.5, 0.9)}
    assert found["quantiles_at_least"] == []
    assert found["failure_rate"] == errors / 50
    assert found["failure_ci"] == pytest.approx([float(end) for end in clopper_pearson(errors, 50)])
    assert found["mean_cost"] == pytest.approx(pulls.mean())
    assert found["mean_reward"] is None
    assert found["mean_simple_regret"] == pytest.approx(float(runs["simple_regret"].mean()))
    assert found["mean_aggregate_regret"] == pytest.approx(float(runs["aggregate_regret"].mean()))
    assert found["stopped_early"] == 0
    assert found["compile_seconds"] >= 0
    assert found["seconds"] > 0
    assert found["pulls_per_second"] == pytest.approx(pulls.sum() / found["seconds"], rel=1e-6)


def test_one_run_has_no_spread_and_still_makes_valid_json(capsys):
    assert main([*SIMULATE[:4], "--seeds", "1", "--json", *SIMULATE[6:]]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["runs"] == 1
    assert found["sd_pulls"] is None


def test_simulate_prints_a_table_with_intervals(capsys):
    assert main(SIMULATE) == 0
    out = capsys.readouterr().out
    for label in ("pulls, mean", "10% / 50% / 90%", "failure rate", "simple regret", "pulls per second", "95%"):
        assert label in out
    assert "0 of 50 runs" in out
    assert "lower bound" not in out


def test_stopped_runs_are_reported_and_never_averaged_silently(capsys):
    assert main([*SIMULATE, "--max-pulls", "1e2"]) == 0
    out = capsys.readouterr().out
    assert "at least 100" in out
    assert "50 of 50 runs" in out
    assert "lower bound" in out
    assert main([*SIMULATE, "--max-pulls", "100", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["stopped_early"] == 50


def test_quantiles_among_truncated_runs_are_lower_bounds(capsys):
    """The limit was printed as the 90% quantile of runs of which a fifth were truncated."""
    pulls = jb.simulate(jb.UGapEc(epsilon=0.1, delta=0.1), jb.bernoulli([0.7, 0.5, 0.4]), seeds=50)["pulls"]
    limit = int(np.quantile(pulls, 0.8))
    assert main([*SIMULATE, "--max-pulls", str(limit)]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "10% / 50% / 90%" in line]
    assert [part.strip().startswith("≥") for part in line.split("  ")[-1].split(" / ")] == [False, False, True]
    assert main([*SIMULATE, "--max-pulls", str(limit), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["quantiles_at_least"] == ["0.9"]


def test_settings_in_kebab_and_snake_case_and_words(capsys, monkeypatch):
    seen = []
    real = jb.simulate

    def record(algorithm, problem, seeds, **options):
        seen.append((algorithm, options["root_seed"]))
        return real(jb.UGapEc(epsilon=0.1, delta=0.1), problem, seeds, max_pulls=20)

    monkeypatch.setattr(jb, "simulate", record)
    common = ["--problem", PROBLEM, "--seeds", "5", "--json"]
    assert main(["simulate", "UGAPE_C", *common, "--set", "epsilon=1e-1", "--set", "delta=0.1", "b=none", "m=1"]) == 0
    assert main(["simulate", "ugape-b", *common, "--set", "budget=1e3", "adaptive=True", "--root-seed", "7"]) == 0
    assert main(["simulate", "beta-top-two", *common, "--set", "budget=99", "prior_a=3, 1,0.5"]) == 0
    assert seen[0] == (jb.UGapEc(epsilon=0.1, delta=0.1), 0)
    assert seen[1] == (jb.UGapEb(budget=1000, adaptive=True), 7)
    np.testing.assert_array_equal(seen[2][0].prior_a, [3, 1, 0.5])


def test_progress_goes_to_stderr_and_only_on_request(capsys):
    assert main([*SIMULATE, "--json", "--progress"]) == 0
    captured = capsys.readouterr()
    json.loads(captured.out)
    for part in ("50 runs", "pulls/s", "left"):
        assert part in captured.err


@pytest.mark.parametrize("name", ["grid.nc", "grid.zarr"])
def test_sweep_stores_the_dataset_of_the_python_interface(name, specification, capsys):
    assert main(["sweep", str(specification), "--out", name]) == 0
    assert "60 runs" in capsys.readouterr().out
    stored = read_store(Path(name))
    epsilon = [float(x) for x in np.geomspace(0.1, 0.4, 3)]
    direct = jb.sweep(
        jb.UGapEc(epsilon=jb.axis(epsilon), delta=0.1), jb.bernoulli([0.7, 0.5, 0.4]), seeds=20, root_seed=3
    )
    assert stored["epsilon"].to_numpy().tolist() == epsilon
    xr.testing.assert_identical(stored.drop_attrs(deep=False), direct.drop_attrs(deep=False))
    assert {n: v.dtype for n, v in stored.variables.items()} == {n: v.dtype for n, v in direct.variables.items()}
    assert stored.attrs["spec"] == direct.attrs["spec"]
    # What is on disk opens with plain xarray too.
    with xr.open_dataset(name, engine="zarr" if name.endswith("zarr") else "h5netcdf") as plain:
        assert plain["pulls"].equals(stored["pulls"])


@pytest.mark.parametrize("name", ["grid.nc", "grid.zarr"])
def test_a_finished_store_is_never_lost(name, specification, capsys):
    command = ["sweep", str(specification), "--out", name]
    assert main(command) == 0
    before = snapshot()
    assert main(command) == 2
    assert "complete and of the same specification: --resume" in capsys.readouterr().err
    assert main([*command, "--resume"]) == 0
    captured = capsys.readouterr()
    assert "complete" in captured.out
    assert captured.err == ""
    specification.write_text(SPECIFICATION.replace("delta = 0.1", "delta = 0.2"))
    for more in ([], ["--resume"]):
        assert main([*command, *more]) == 2
        assert "another specification: algorithm.delta is 0.1 there and 0.2 here" in capsys.readouterr().err
    specification.write_text(SPECIFICATION + 'keep = "moments"')
    for more in ([], ["--resume"]):
        assert main([*command, *more]) == 2
        assert 'run.keep is "runs" there and "moments" here' in capsys.readouterr().err
    specification.write_text(SPECIFICATION)
    assert snapshot() == before


def snapshot():
    """What stands in the files here; locks are empty."""
    return {str(path): path.read_bytes() for path in Path().rglob("*") if path.is_file() and path.suffix != ".lock"}


@pytest.mark.parametrize("name", ["grid.nc", "grid.zarr"])
@pytest.mark.parametrize("failure", [KeyboardInterrupt(), OSError(28, "No space left on device")])
def test_runs_are_kept_where_the_arrays_cannot_be_written(name, failure, specification, capsys, monkeypatch):
    real = os.replace

    def fail(source, target):
        if Path(target) in (Path(name), Path(name, ".zattrs")):
            raise failure
        return real(source, target)

    monkeypatch.setattr(os, "replace", fail)
    assert main(["sweep", str(specification), "--out", name]) == (130 if isinstance(failure, KeyboardInterrupt) else 1)
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert main(["plot", name, "--kind", "curve", "--out", "a.png"]) == 2
    assert f"{name} has 60 of 60 runs" in capsys.readouterr().err
    monkeypatch.setattr(os, "replace", real)
    assert main(["sweep", str(specification), "--out", name, "--resume"]) == 0
    assert "complete, nothing to do" in capsys.readouterr().out
    assert read_store(Path(name)).sizes["seed"] == 20


def test_an_interrupted_run_is_one_line_and_130(capsys, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(jb, "simulate", interrupt)
    assert main(SIMULATE) == 130
    assert capsys.readouterr().err == "jaxbandits: interrupted\n"


def test_keep_moments_and_summary(specification):
    assert main(["sweep", str(specification), "--out", "runs.nc"]) == 0
    runs = read_store(Path("runs.nc"))
    for keep in ("moments", "summary"):
        specification.write_text(SPECIFICATION + f'keep = "{keep}"')
        assert main(["sweep", str(specification), "--out", f"{keep}.nc"]) == 0
    moments, summary = read_store(Path("moments.nc")), read_store(Path("summary.nc"))
    assert "seed" not in moments.dims
    np.testing.assert_allclose(moments["pulls_mean"], runs["pulls"].mean("seed"))
    np.testing.assert_allclose(moments["pulls_variance"], runs["pulls"].var("seed", ddof=1))
    assert moments["runs"].item() == 20
    assert moments["stopped_early"].to_numpy().tolist() == [0, 0, 0]
    np.testing.assert_allclose(summary["pulls_mean"], runs["pulls"].mean("seed"))
    assert {"failure_low", "failure_high"} <= set(summary.data_vars)


def test_axes_of_whole_numbers_by_range_are_rounded(specification):
    specification.write_text(
        "[algorithm]\nname = 'uniform'\n"
        "budget = { axis = { start = 10, stop = 1000, num = 4, scale = 'log' } }\n"
        "[problem]\nname = 'one-sparse'\nn = { axis = { start = 3, stop = 4, num = 2 } }\n[run]\nseeds = 5"
    )
    plan, keep, _ = inputs.plan_of(specification)
    assert plan.algorithms.things[""] == jb.Uniform(budget=jb.axis([10, 46, 215, 1000]))
    assert plan.problems.things[""].arguments == {"n": jb.axis([3, 4])}
    assert (plan.runs.seeds, plan.runs.max_pulls, keep) == (5, 10**9, "runs")


def test_a_specification_longer_than_an_attribute_may_be_survives():
    runs = jb.simulate(jb.UGapEc(epsilon=0.1, delta=0.1), jb.bernoulli([0.7, 0.5, 0.4]), seeds=3)
    runs = runs.assign_attrs(spec="x" * 200_000)
    for name in ("long.nc", "long.zarr"):
        write_arrays(runs, Path(name))
        xr.testing.assert_identical(read_store(Path(name)), runs)


def test_plot_draws_from_a_store(specification, capsys):
    assert main(["sweep", str(specification), "--out", "grid.nc"]) == 0
    for name, look in [("curve.png", []), ("curve.pdf", ["--style", "paper", "--width", "3"])]:
        assert main(["plot", "grid.nc", "--kind", "curve", "--out", name, *look]) == 0
        assert Path(name).stat().st_size > 1000
    assert b"/MediaBox [ 0 0 216 " in Path("curve.pdf").read_bytes()
    assert main(["plot", "grid.nc", "--kind", "curve", "--out", "a.png", "--style", "poster"]) == 2
    assert "unknown style 'poster'" in capsys.readouterr().err
    plt.close("all")


def test_plot_takes_its_dimensions_and_a_selection(specification, capsys, monkeypatch):
    specification.write_text(SPECIFICATION.replace("delta = 0.1", "delta = { axis = [0.1, 0.2] }"))
    assert main(["sweep", str(specification), "--out", "grid.nc"]) == 0
    drawn = []

    def curve(ds, x=None, y=None, hue=None):
        drawn.append((dict(ds.sizes), float(ds["delta"]) if not ds["delta"].dims else None, x, y, hue))
        return plt.figure()

    def phase(ds, x=None, y=None, value=None):
        raise AssertionError("nothing is drawn")

    monkeypatch.setattr(
        plot_commands, "_part", lambda *_: types.SimpleNamespace(KINDS={"curve": curve, "phase": phase})
    )
    command = ["plot", "grid.nc", "--kind", "curve", "--out", "a.png"]
    assert main([*command, "--x", "epsilon", "--y", "failure", "--hue", "delta"]) == 0
    assert main([*command, "--sel", "delta=.2", "--sel", "epsilon=2e-1"]) == 0
    assert drawn[0][1:] == (None, "epsilon", "failure", "delta")
    assert drawn[1] == ({"seed": 20, "arm": 3}, 0.2, None, None, None)
    capsys.readouterr()
    for more, message in (
        (["--sel", "detla=.2"], "unknown dimension 'detla'; did you mean 'delta'?"),
        (["--sel", "delta=.3"], "there is no delta=.3: the values of delta are 0.1, 0.2"),
        (["--sel", "delta"], "--sel takes name=value, got 'delta'"),
        (["--sel", "delta=.1", "delta=.2"], "--sel delta is given twice"),
        (["--kind", "phase", "--hue", "delta"], "a phase takes no --hue"),
    ):
        chosen = command[:2] + command[4:] if "--kind" in more else command
        assert main([*chosen, *more]) == 2
        assert capsys.readouterr().err == f"jaxbandits: {message}\n"
    plt.close("all")


def test_dimensions_of_a_real_picture_have_near_misses(specification, capsys):
    assert main(["sweep", str(specification), "--out", "grid.nc"]) == 0
    assert main(["plot", "grid.nc", "--kind", "curve", "--out", "a.png", "--x", "epsilom"]) == 2
    assert "unknown dimension 'epsilom'; did you mean 'epsilon'?" in capsys.readouterr().err
    assert main(["plot", "grid.nc", "--kind", "curve", "--out", "a.png", "--y", "failur"]) == 2
    assert "unknown metric 'failur'; did you mean 'failure'?" in capsys.readouterr().err
    assert not Path("a.png").exists()


@pytest.mark.parametrize("seed", [2**31, 2**53 + 1, 2**64 - 1])
def test_large_root_seeds_are_passed_exactly(seed, specification, monkeypatch):
    seen = []
    monkeypatch.setattr(jb, "simulate", lambda *_, **options: seen.append(options["root_seed"]) or sys.exit())
    with pytest.raises(SystemExit):
        main([*SIMULATE, "--root-seed", str(seed)])
    specification.write_text(SPECIFICATION.replace("root_seed = 3", f"root_seed = {seed}"))
    seen.append(inputs.plan_of(specification)[0].runs.root_seed)
    assert seen == [seed, seed]


def test_what_draws_is_imported_only_to_draw():
    command = "import sys, jaxbandits.cli; print([n for n in ('matplotlib', 'scipy.stats') if n in sys.modules])"
    process = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True, timeout=120)
    assert process.stdout == "[]\n"
    assert jb.plot is importlib.import_module("jaxbandits.report.plots")
    with pytest.raises(AttributeError, match="no attribute 'plots'"):
        jb.plots  # noqa: B018


def test_names_and_values_are_checked_before_jax_starts(monkeypatch, capsys):
    def never():
        raise AssertionError("JAX was started")

    monkeypatch.setattr(inputs, "start_jax", never)
    Path("bad.toml").write_text("[algorithm\n")
    for argv in (
        ["simulate", "ugape-d", "--problem", PROBLEM],
        ["simulate", "ugape-c", "--problem", PROBLEM, "--set", "delta=2", "epsilon=.1"],
        ["sweep", "missing.toml", "--out", "grid.nc"],
        ["sweep", "bad.toml", "--out", "grid.nc"],
        ["plot", "missing.nc", "--kind", "curve", "--out", "a.png"],
        ["compare", "--delta", "0.1"],
    ):
        assert main(argv) == 2
        assert len(capsys.readouterr().err.splitlines()) == 1


def test_simulate_says_what_it_took_from_the_problem(capsys):
    assert main(["simulate", "successive-elimination", "--problem", PROBLEM, "--seeds", "5", "--set", "delta=.1"]) == 0
    assert "chosen for this problem: estimator=hoeffding b=1" in capsys.readouterr().out


def test_reproduce_passes_names_scale_and_folder(capsys, monkeypatch):
    calls = []

    def reproduce(names, scale, out, on_progress, tables, *, first):
        calls.append((list(names), scale, out, first))
        name = names[0] if names else "figure-1"
        for number in (1, 2):
            on_progress(Stage(f"{name}.errors", number, 2, "UGapEb", 1234, 5e6))
        shown = types.SimpleNamespace(name="figure-2-first", seconds=12.34)
        on_progress(Stage(f"{name}.errors", 2, 2, "drawing", finished=shown))
        return out / "index.html"

    figures = types.SimpleNamespace(
        REGISTRY={"figure-1": None, "figure-2": None},
        reproduce=reproduce,
    )
    monkeypatch.setattr(plot_commands, "figures", lambda: figures)
    assert main(["reproduce", "figure-2", "--scale", "paper", "--out", "a/b", "--progress"]) == 0
    captured = capsys.readouterr()
    assert captured.out == "a/b/index.html\n"
    for part in ("figure 2 of 2, figure-2.errors: UGapEb", "1/2 done", "1,234 runs", "pulls/s", "left"):
        assert part in captured.err
    assert main(["reproduce", "--out", "a/b"]) == 0
    captured = capsys.readouterr()
    assert captured == ("a/b/index.html\n", "figure-2-first  12.3 s\n")  # no terminal here: lines, and no bar
    assert main(["reproduce", "figure-2", "--scale", "paper", "--out", "a/b", "--no-progress"]) == 0
    assert capsys.readouterr().err == ""
    calls.pop()
    assert main(["reproduce", "--first", "--out", "a/b"]) == 0
    assert "all figures: the same command without --first" in capsys.readouterr().err
    some, everything, first = calls
    assert some == (["figure-2"], "paper", Path("a/b"), False)
    assert (everything, first) == (([], "quick", Path("a/b"), False), ([], "quick", Path("a/b"), True))
    assert main(["reproduce", "figure-3", "--out", "c"]) == 2
    assert "did you mean 'figure-" in capsys.readouterr().err
    assert not Path("c").exists()


def test_reproduce_takes_tables_of_the_users(capsys, tmp_path, monkeypatch):
    given = []
    table = tmp_path / "returns.csv"
    table.write_text("a,b\n0.1,0.2\n0.3,0.1\n")
    returns = "heavy_tailed.resampled_returns"
    paper = papers.REGISTRY["heavy-tailed"]._replace(figures=(returns,))
    monkeypatch.setitem(papers.REGISTRY, "heavy-tailed", paper)
    monkeypatch.setattr(papers.load_figure(returns), "show", lambda bench, size, tables: given.append(tables))
    command = ["reproduce", "heavy-tailed", "--out", str(tmp_path / "out")]
    assert main([*command, "--table", f"heavy-tailed={table}"]) == 0
    assert [{path: problem.arms for path, problem in tables.items()} for tables in given] == [{str(table): 2}]
    assert "--table heavy-tailed=returns.csv" in (tmp_path / "out" / "index.html").read_text()
    for wrong, line in [
        ("returns.csv", "--table takes figure=FILE.csv"),
        ("heavy-tailed=missing.csv", "there is no file missing.csv"),
        (f"heavy={table}", "unknown figure 'heavy'; did you mean 'heavy-tailed'?"),
        (f"gape={table}", "a table must be for one of the chosen figures, heavy-tailed, got gape"),
    ]:
        assert main([*command, "--table", wrong]) == 2
        assert line in capsys.readouterr().err
    assert main(["reproduce", "gape", "--out", str(tmp_path / "out"), "--table", f"gape={table}"]) == 2
    assert "gape takes no table: heavy-tailed, pay-per-reward, budgeted do" in capsys.readouterr().err


def test_sweep_counts_every_run_that_was_stopped_early(specification, capsys):
    specification.write_text(SPECIFICATION + "max_pulls = 900")
    assert main(["sweep", str(specification), "--out", "grid.nc"]) == 0
    stopped = int((read_store(Path("grid.nc")).status != 0).sum())
    assert 0 < stopped < 60
    expected = f"{stopped} of 60 runs were truncated; their status says why: 0 finished, 1 "
    assert expected in capsys.readouterr().out


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(p, marks=[pytest.mark.slow] * (p.stem != "ugape_confidence"))
        for p in sorted({*SWEEPS.glob("*.toml")} - {*SWEEPS.glob("*_study.toml")})
    ],
    ids=lambda p: p.stem,
)
def test_the_large_sweeps_are_specifications_that_run(path, tmp_path, capsys):
    """As they stand they take minutes; their grids are built, and the first cell of each is run."""
    tables = tomllib.loads(path.read_text())
    algorithm, problem, run = build(tables)
    grid = expand(entries_of("algorithm", algorithm), entries_of("problem", problem))
    assert len(grid.cells) * run["seeds"] >= 6000
    if "--kind phase" in path.read_text():
        assert len(grid.cells) >= 32 * 32
    first = grid.cells[0]
    ds = jb.simulate(first.algorithm, first.problem, seeds=2)
    assert ds.sizes["seed"] == 2
    told = re.findall(r"jaxbandits (sweep|plot) (\S+)", path.read_text())
    assert [name for name, _ in told] == ["sweep", "plot"]
    assert (SWEEPS.parents[1] / told[0][1]) == path


def _process(*arguments: str) -> subprocess.CompletedProcess[str]:
    # As a user would have it: no variables from the tests' own set-up.
    environment = {name: value for name, value in os.environ.items() if name != "JAX_NUM_CPU_DEVICES"}
    command = [sys.executable, "-m", "jaxbandits.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=120)


@pytest.mark.slow
def test_a_process_of_its_own_agrees_with_this_one(capsys):
    process = _process(*SIMULATE, "--json")
    assert process.returncode == 0
    assert main([*SIMULATE, "--json"]) == 0
    there, here = json.loads(process.stdout), json.loads(capsys.readouterr().out)
    clocks = {"compile_seconds", "seconds", "pulls_per_second"}
    assert {k: v for k, v in there.items() if k not in clocks} == {k: v for k, v in here.items() if k not in clocks}


def test_a_process_of_its_own_fails_in_one_line():
    process = _process("simulate", "ugape-d", "--problem", PROBLEM)
    assert process.returncode == 2
    assert process.stdout == ""
    assert process.stderr.startswith("jaxbandits: unknown algorithm 'ugape-d'; did you mean 'ugape-")
    assert len(process.stderr.splitlines()) == 1
