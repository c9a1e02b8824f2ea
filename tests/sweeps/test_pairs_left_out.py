"""Studies whose algorithms do not all fit all problems: such a pair is named, and is nowhere taken for zeros."""

import json
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import jaxbandits as jb
from jaxbandits.cli import main
from jaxbandits.status import NOT_RUN
from jaxbandits.storage.consolidate import read_store
from jaxbandits.sweeps.plan import make_plan

BUDGETS = jb.axis([30, 40])
#: KL-LUCB is for rewards in [0, b], and normal rewards may be negative.
ALGORITHMS = {"uniform": jb.Uniform(budget=BUDGETS), "kl-lucb": jb.KLLUCB(epsilon=0.2, delta=0.1)}
PROBLEMS = {"coins": jb.bernoulli([0.9, 0.4]), "normal": jb.gaussian([0.9, 0.5, 0.4])}
WHY = "KLLUCB needs rewards in [0, b]; those of gaussian (3 arms) may be negative"
TOLD = f"left out, as they do not fit: kl-lucb on normal ({WHY})"
STORE = Path("study.zarr")
FILE = """
[[algorithm]]
name = "uniform"
budget = { axis = [30, 40] }
[[algorithm]]
name = "kl-lucb"
epsilon = 0.2
delta = 0.1
[[problem]]
spec = "bernoulli:0.9,0.4"
label = "coins"
[[problem]]
spec = "gaussian:0.9,0.5,0.4"
label = "normal"
[run]
seeds = 12
"""


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def study(algorithms=ALGORITHMS, problems=PROBLEMS, **options):
    with pytest.warns(UserWarning, match="left out, as they do not fit"):
        return jb.sweep(algorithms, problems, seeds=12, **options)


def left_out(ds):
    return ds.sel(algorithm="kl-lucb", problem="normal")


@pytest.fixture(scope="module")
def whole():
    return study()


def test_the_values_are_missing(whole):
    gone = left_out(whole)
    assert (gone.status == NOT_RUN).all()
    assert whole.status.dtype == np.int8
    assert "-1 not run" in whole.status.attrs["long_name"]
    for name, variable in gone.drop_vars("status").data_vars.items():
        assert variable.isnull().all(), name
    assert int((whole.status == NOT_RUN).sum()) == gone.status.size
    assert not whole.recommended.sel(problem="coins").isel(arm=2).any()  # an arm that does not exist, and not NaN


@pytest.mark.slow
def test_all_other_values_are_those_of_single_sweeps(whole):
    alone = jb.sweep(ALGORITHMS["uniform"], PROBLEMS["normal"], seeds=12)
    mine = whole.sel(algorithm="uniform", problem="normal")
    coins = whole.sel(algorithm="kl-lucb", problem="coins").isel(budget=0, arm=slice(2))
    single = jb.sweep(ALGORITHMS["kl-lucb"], PROBLEMS["coins"], seeds=12)
    for name in alone:
        np.testing.assert_array_equal(mine[name], alone[name])
        np.testing.assert_array_equal(coins[name], single[name])


def test_it_is_named_in_one_line():
    with pytest.warns(UserWarning, match="left out") as warnings:
        ds = jb.sweep(ALGORITHMS, PROBLEMS, seeds=12)
    assert [str(warning.message) for warning in warnings] == [TOLD]
    assert json.loads(ds.attrs["not_run"]) == {"kl-lucb on normal": WHY}
    plan = make_plan(ALGORITHMS, PROBLEMS, 12)
    assert plan.layout.runs == 12 * (2 * 2 + 1)
    assert len(plan.distinct_cells) == 2 * 2 + 1


@pytest.mark.parametrize(
    ("algorithms", "problems", "message"),
    [
        (ALGORITHMS, {"normal": PROBLEMS["normal"]}, f"kl-lucb on normal: {WHY}"),
        (ALGORITHMS, PROBLEMS["normal"], f"kl-lucb: {WHY}"),
        ([ALGORITHMS["kl-lucb"]], PROBLEMS, f"kl-lucb on normal: {WHY}"),
        (
            {**ALGORITHMS, "successive-rejects": jb.SuccessiveRejects(budget=jb.axis([2, 40], name="small"))},
            {"coins": PROBLEMS["coins"], "more": jb.bernoulli([0.9, 0.5, 0.4])},
            "successive-rejects on more: SuccessiveRejects: the budget must cover 3 first pulls of 3 arms, got 2",
        ),
    ],
    ids=["a problem of the list", "one problem", "one algorithm", "some values of an axis"],
)  # fmt: skip
def test_it_is_refused_where_nothing_is_left_or_where_some_values_fit(algorithms, problems, message):
    with pytest.raises(jb.UsageError) as error:
        jb.sweep(algorithms, problems, seeds=2)
    assert str(error.value).startswith(message)


def test_summaries_count_no_runs(whole):
    known = jb.summary(whole)
    gone = left_out(known)
    for name in ("runs", "errors", "censored", "at_least"):
        assert (gone[name] == 0).all()
    assert "unanswered" not in known
    for name in ("failure", "failure_low", "failure_high", "pulls_mean", "pulls_q50", "cost_high", "simple_regret_sd"):
        assert gone[name].isnull().all(), name
    rest = jb.summary(whole.sel(algorithm=["uniform"]))
    xr.testing.assert_equal(known.sel(algorithm=["uniform"]), rest)
    assert (rest.runs == 12).all()


@pytest.mark.parametrize("keep", ["summary", "moments"])
def test_kept_sums_count_no_runs(whole, keep):
    kept = study(store=f"{keep}.zarr", keep=keep).load()
    of_runs = jb.summary(whole)
    kept = kept if keep == "summary" else jb.summary(kept)
    for name in ("runs", "errors", "censored", "failure", "failure_high", "pulls_mean", "cost_low", "simple_regret_sd"):
        np.testing.assert_allclose(kept[name].transpose(*of_runs[name].dims), of_runs[name], rtol=1e-12, err_msg=name)


def test_tables_show_a_dash(whole):
    ds = whole.isel(budget=0)
    latex = jb.table(ds, rows="algorithm", columns="problem", format="latex")
    row = next(line for line in latex.splitlines() if line.startswith("kl-lucb"))
    assert row.endswith(r" & $\mbox{--}$ \\")
    text = jb.table(ds, rows="algorithm", columns="problem", value=["pulls", "failure"])
    assert "–: not run, since the algorithm does not fit the problem." in text
    assert "not run" not in jb.table(ds.sel(problem=["coins"]), rows="algorithm", columns="problem")
    frame = jb.table(ds, format="frame")
    gone = frame[(frame.algorithm == "kl-lucb") & (frame.problem == "normal")]
    assert gone.pulls_mean.isna().all()
    assert not gone.pulls_best.any()
    assert gone.runs.tolist() == [0]


def test_differences_are_missing_and_no_seed_counts_as_left_out(whole):
    ds = whole.isel(budget=0)
    for value in ("pulls", "failure"):
        found = jb.difference(ds, value, to="uniform").sel(algorithm="kl-lucb")
        assert found.difference.sel(problem="normal").isnull()
        assert np.isfinite(found.difference.sel(problem="coins"))
        assert found.runs.values.tolist() == [12, 0]
        assert "left_out" not in found.attrs
        assert np.isnan(jb.ratio(ds, value, to="uniform").ratio.sel(problem="normal")).all()
    needed = jb.seeds_needed(ds, "pulls", 5.0, along="algorithm", to="uniform")
    assert needed.sel(problem="normal").isnull().all()


@pytest.mark.slow
def test_the_best_are_among_those_that_were_run(whole):
    three = {**ALGORITHMS, "halving": jb.SequentialHalving(budget=BUDGETS)}
    ds = study(three).isel(budget=0)
    for value in ("pulls", "failure"):
        found = jb.find_best(ds, value)
        of_two = jb.find_best(ds.sel(algorithm=["uniform", "halving"], problem="normal"), value)
        mine = found.sel(problem="normal")
        for name in ("among_best", "difference", "low", "high", "mean", "runs", "left_out"):
            np.testing.assert_array_equal(mine[name].sel(algorithm=["uniform", "halving"]), of_two[name], err_msg=name)
        gone = mine.sel(algorithm="kl-lucb")
        assert not gone.among_best
        assert np.isnan([gone.difference, gone.low, gone.high, gone["mean"]]).all()
        everywhere = jb.find_best(jb.sweep(three, PROBLEMS["coins"], seeds=12).isel(budget=0), value)
        np.testing.assert_array_equal(found.sel(problem="coins").low, everywhere.low)
    alone = jb.find_best(whole.isel(budget=0), "pulls").sel(problem="normal")
    assert alone.among_best.values.tolist() == [True, False]
    assert alone.difference.isnull().all()


def test_a_store_is_the_study_and_parts_and_repeats_are(whole):
    for number in (1, 2):
        stored = study(store=STORE, part=(number, 2))
    xr.testing.assert_equal(stored.load(), whole)
    xr.testing.assert_equal(read_store(STORE), whole)
    with pytest.warns(UserWarning, match="left out"):
        xr.testing.assert_equal(jb.repeat(whole), whole)
    bound = jb.with_theory(whole, "lower_bound").lower_bound
    assert left_out(bound).isnull().all()
    assert np.isfinite(bound.sel(algorithm="kl-lucb", problem="coins")).all()


@pytest.mark.parametrize("by", ["algorithm", "problem"])
def test_a_store_is_extended_by_what_does_not_fit_everything(whole, by):
    """What was stored before has whole numbers, and what is added makes some of them missing."""
    if by == "algorithm":
        jb.sweep({"uniform": ALGORITHMS["uniform"]}, PROBLEMS, seeds=12, store=STORE)
    else:
        jb.sweep(ALGORITHMS, {"coins": PROBLEMS["coins"]}, seeds=12, store=STORE)
    made = []
    extended = study(store=STORE, on_progress=made.append).load()
    xr.testing.assert_equal(extended, whole)
    assert made[-1].runs == 12 * (1 if by == "algorithm" else 2)
    assert json.loads(read_store(STORE).attrs["not_run"]) == {"kl-lucb on normal": WHY}
    fewer = jb.sweep(ALGORITHMS, {"coins": PROBLEMS["coins"]}, seeds=12, store=STORE)
    np.testing.assert_array_equal(fewer.pulls, whole.pulls.sel(problem=["coins"]))


def test_merged_results_name_it(whole):
    one = jb.sweep({"uniform": ALGORITHMS["uniform"]}, PROBLEMS, seeds=12)
    for parts in ([one, whole], [whole, one]):
        both = jb.merge(parts)
        xr.testing.assert_equal(both.sel(algorithm=["uniform", "kl-lucb"]), whole)
        assert json.loads(both.attrs["not_run"]) == {"kl-lucb on normal": WHY}
    jb.sweep({"uniform": ALGORITHMS["uniform"]}, PROBLEMS, seeds=12, store="one.zarr")
    study(store="two.zarr")
    xr.testing.assert_equal(jb.merge(["one.zarr", "two.zarr"], store="both.zarr").load(), whole)
    assert json.loads(read_store(Path("both.zarr")).attrs["not_run"]) == {"kl-lucb on normal": WHY}


def test_the_commands_name_it_in_one_line(capsys):
    Path("study.toml").write_text(FILE)
    told = TOLD.replace("gaussian (3 arms)", "normal")
    assert main(["sweep", "study.toml", "--out", "study.zarr", "--dry-run"]) == 0
    out, err = capsys.readouterr()
    assert err == f"{told}\n"
    assert "8 (2 algorithm x 2 problem x 2 budget), 5 of them different, 2 left out" in out
    assert main(["sweep", "study.toml", "--out", "study.zarr"]) == 0
    assert capsys.readouterr().err == f"{told}\n"
    assert main(["status", "study.zarr"]) == 0
    assert f"\n{told}\n" in capsys.readouterr().out
    assert main(["status", "study.zarr", "--json"]) == 0
    state = json.loads(capsys.readouterr().out)
    assert list(state["not_run"]) == ["kl-lucb on normal"]
    assert (state["algorithm"], state["problem"]) == (["uniform", "kl-lucb"], ["coins", "normal"])
    assert (state["runs"], state["wanted"]) == (60, 60)
    assert main(["export", "study.zarr", "--out", "a.csv"]) == 0
    lines = [line for line in Path("a.csv").read_text().splitlines() if line.startswith("kl-lucb,normal")]
    assert [line.rsplit(",", 2)[1] for line in lines] == ["0", "0"]
    assert main(["export", "study.zarr", "--out", "b.csv", "--runs"]) == 0
    assert "kl-lucb,normal" not in Path("b.csv").read_text()
    assert main(["export", "study.zarr", "--out", "a.tex", "--sel", "budget=30", "--columns", "problem"]) == 0
