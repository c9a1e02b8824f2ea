"""Summaries: exact numbers on small Datasets, and what must never be averaged silently."""

import warnings

import numpy as np
import pytest
import xarray as xr
from scipy import stats

import jaxbandits as jb
from jaxbandits.report.intervals import clopper_pearson
from jaxbandits.report.summaries import summary
from jaxbandits.report.tables import frame


def test_clopper_pearson_agrees_with_scipy():
    errors, runs = np.meshgrid(np.arange(0, 31), [30, 100, 1000])
    for level in (0.8, 0.95, 0.999):
        low, high = clopper_pearson(errors, runs, level)
        for e, r, a, b in zip(errors.ravel(), runs.ravel(), low.ravel(), high.ravel(), strict=True):
            exact = stats.binomtest(int(e), int(r)).proportion_ci(level, "exact")
            np.testing.assert_allclose([a, b], [exact.low, exact.high], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("runs", [1, 10, 100_000])
def test_clopper_pearson_with_no_errors_and_nothing_but_errors(runs):
    # The upper end p with no error solves (1 - p)^runs = 0.025.
    assert clopper_pearson(0, runs)[0] == 0
    assert clopper_pearson(0, runs)[1] == pytest.approx(1 - 0.025 ** (1 / runs))
    assert clopper_pearson(runs, runs)[1] == 1
    assert clopper_pearson(runs, runs)[0] == pytest.approx(0.025 ** (1 / runs))


@pytest.mark.parametrize("probability", [0.001, 0.02, 0.3, 0.5, 0.99])
def test_clopper_pearson_covers_every_probability(probability):
    runs = 60
    low, high = clopper_pearson(np.arange(runs + 1), runs)
    covered = (low <= probability) & (probability <= high)
    # Exact coverage: the binomial probabilities of the counts whose interval holds the truth.
    assert stats.binom.pmf(np.arange(runs + 1), runs, probability)[covered].sum() >= 0.95


@pytest.mark.parametrize(("errors", "runs", "level"), [(-1, 5, 0.95), (6, 5, 0.95), (0, 0, 0.95), (1, 5, 1.0)])
def test_clopper_pearson_refuses(errors, runs, level):
    with pytest.raises(jb.UsageError):
        clopper_pearson(errors, runs, level)


def small() -> xr.Dataset:
    return xr.Dataset(
        {
            "pulls": (("n", "seed"), [[10, 20, 30, 40], [7, 7, 7, 7]]),
            "simple_regret": (("n", "seed"), np.float32([[0, 0, 0, 0.5], [0.25, 0.25, 0.25, 0.25]])),
            "recommended": (("n", "seed", "arm"), np.ones((2, 4, 3), bool)),
            "correct": (("n", "seed"), [[True, True, True, False], [False] * 4]),
            "status": (("n", "seed"), np.zeros((2, 4), np.int8)),
        },
        {"n": [2, 4], "seed": np.arange(4), "arm": np.arange(3)},
    )


def test_exact_numbers():
    known = summary(small())
    np.testing.assert_allclose(known["pulls_mean"], [25, 7])
    sd = np.sqrt(500 / 3)
    np.testing.assert_allclose(known["pulls_sd"], [sd, 0])
    half = stats.t.ppf(0.975, 3) * sd / 2
    np.testing.assert_allclose(known["pulls_low"], [25 - half, 7])
    np.testing.assert_allclose(known["pulls_high"], [25 + half, 7])
    np.testing.assert_allclose(known["pulls_q10"], [13, 7])
    np.testing.assert_allclose(known["pulls_q50"], [25, 7])
    np.testing.assert_allclose(known["pulls_q90"], [37, 7])
    np.testing.assert_allclose(known["simple_regret_mean"], [0.125, 0.25])
    np.testing.assert_allclose(known["failure"], [0.25, 1])
    np.testing.assert_allclose(known["failure_low"], clopper_pearson([1, 4], 4)[0])
    np.testing.assert_array_equal(known["errors"], [1, 4])
    np.testing.assert_array_equal(known["runs"], [4, 4])
    np.testing.assert_array_equal(known["censored"], [0, 0])
    assert "censored" not in known.attrs
    assert set(known.dims) == {"n"}


@pytest.mark.parametrize("level", [1.5, -1, 95, "0.9", None])
def test_the_level_of_a_summary_is_a_probability(level):
    with pytest.raises(jb.UsageError, match="level must") as error:
        summary(small().drop_vars("correct", errors="ignore"), level=level)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["failure", "errors", "runs", "pulls_mean"])
def test_a_dimension_with_the_name_of_a_variable_of_a_summary_is_refused(name):
    with pytest.raises(jb.UsageError, match=f"^'{name}' is a dimension, and a variable of the result") as error:
        summary(small().rename(n=name))
    assert "\n" not in str(error.value)


def test_a_dimension_with_the_name_of_a_column_of_a_frame_is_refused():
    ds = small().rename(n="truncated")
    assert "truncated" in jb.table(ds)
    with pytest.raises(jb.UsageError, match=r"^'truncated' is a dimension, and a variable of"):
        jb.table(ds, format="frame")


def test_the_level_of_intervals():
    wide, narrow = summary(small(), level=0.99), summary(small(), level=0.5)
    assert float(wide["pulls_high"][0]) > float(narrow["pulls_high"][0])
    assert float(wide["failure_high"][0]) > float(narrow["failure_high"][0])


def test_runs_stopped_early_make_means_lower_bounds():
    ds = small()
    ds["status"][0, 3] = 1
    known = summary(ds)
    np.testing.assert_array_equal(known["censored"], [1, 0])
    np.testing.assert_array_equal(known["at_least"], [True, False])
    assert float(known["pulls_mean"][0]) == 25
    assert float(known["pulls_high"][0]) == np.inf
    assert float(known["pulls_high"][1]) == 7
    assert np.isfinite(known["simple_regret_high"]).all()
    assert "1 of 8 runs" in known.attrs["censored"]


def test_runs_that_returned_nothing_are_counted():
    ds = small()
    ds["simple_regret"][1, 0] = np.nan
    known = summary(ds)
    np.testing.assert_array_equal(known["unanswered"], [0, 1])
    assert float(known["simple_regret_mean"][1]) == 0.25


def test_missing_runs_are_not_counted_as_right():
    one, other = small().isel(n=0, drop=True), small().isel(n=0, drop=True).assign_coords(seed=[0, 1, 2, 9])
    both = xr.concat([one, other], "n", join="outer")
    with pytest.raises(jb.UsageError, match="2 of 10 runs are missing"):
        summary(both)
    assert summary(xr.concat([one, other], "n", join="inner"))["runs"].values.tolist() == [3, 3]


def test_one_run_has_no_interval():
    known = summary(small().isel(seed=[0]))
    assert np.isnan(known["pulls_low"]).all()
    assert np.isfinite(known["pulls_mean"]).all()


@pytest.mark.parametrize("cost", [0.1, 123.4, 17.35])
def test_equal_values_have_their_mean_and_no_spread(cost):
    """A sum of three or six equal numbers is rounded, and its third or sixth part may be another number."""
    for runs in (3, 6, 10, 1000):
        shape = ("n", "seed"), np.full((2, runs), cost)
        known = summary(xr.Dataset({"pulls": shape, "cost": shape}, {"seed": np.arange(runs)}))
        for part in ("mean", "low", "high", "q50"):
            assert (known[f"cost_{part}"] == cost).all()
        assert (known["cost_sd"] == 0).all()
        assert f"| {cost} ± 0 |" in jb.table(known.isel(n=[0]), value="cost")


def test_infinite_values_have_an_infinite_mean_and_quantiles_in_order():
    values = np.array([[1.0, 2.0, 3.0, np.inf], [np.inf] * 4, [-np.inf, 1.0, 2.0, np.nan], [-np.inf, 0.0, 0.0, np.inf]])
    own = xr.Dataset({"pulls": (("n", "seed"), np.full((4, 4), 5)), "own": (("n", "seed"), values)})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        known = summary(own)
    inf, nan = np.inf, np.nan
    np.testing.assert_array_equal(known["own_mean"], [inf, inf, -inf, nan])
    for part in ("sd", "low", "high"):
        assert np.isnan(known[f"own_{part}"]).all()
    np.testing.assert_allclose(known["own_q10"], [1.3, inf, -inf, -inf])
    np.testing.assert_allclose(known["own_q50"], [2.5, inf, 1.0, 0.0])
    np.testing.assert_allclose(known["own_q90"], [inf, inf, 1.8, inf])


def test_variables_without_seeds_are_kept():
    ds = small().assign(bound=("n", [50.0, 60.0]))
    np.testing.assert_array_equal(summary(ds)["bound"], [50, 60])


def test_a_frame_is_tidy(grid):
    tidy = frame(grid, ["pulls_mean", "failure"])
    assert list(tidy.columns) == ["epsilon", "n", "pulls_mean", "failure"]
    assert len(tidy) == 6
    assert len(frame(grid.isel(epsilon=0, n=0, drop=True))) == 1


def test_what_is_not_runs_is_refused(grid):
    for wrong in ("runs", xr.Dataset({"x": ("y", [1])}), grid.isel(seed=[])):
        with pytest.raises(jb.UsageError):
            summary(wrong)


def test_a_real_sweep():
    ds = jb.simulate(jb.Uniform(budget=jb.axis([10, 20])), jb.bernoulli([0.9, 0.1]), seeds=50)
    known = summary(ds)
    np.testing.assert_array_equal(known["pulls_mean"], [10, 20])
    np.testing.assert_array_equal(known["failure"], 1 - ds["correct"].mean("seed"))
    assert known.attrs["algorithm"] == "Uniform"


def test_variables_with_dimensions_in_other_orders(tmp_path):
    rng = np.random.default_rng(0)  # as many values on each axis: nothing but the names tells them apart
    dims, left_out = ("epsilon", "delta", "seed"), np.arange(9).reshape(3, 3, 1) == 1
    ds = xr.Dataset(
        {
            "pulls": (dims, np.where(left_out, np.nan, rng.integers(10, 99, (3, 3, 3)))),
            "correct": (dims, np.where(left_out, np.nan, rng.random((3, 3, 3)) < 0.5)),
            "status": (dims, np.where(left_out, -1, np.zeros((3, 3, 3), np.int8))),
        }
    )
    for some in (ds, ds.isel(delta=[0, 1])):
        turned = some.assign(correct=some.correct.transpose(*dims[::-1]))
        xr.testing.assert_identical(jb.summary(turned), jb.summary(some))
    moments = jb.sweep(
        jb.UGapEc(epsilon=jb.axis([0.3, 0.4]), delta=jb.axis([0.1, 0.2])),
        jb.bernoulli([0.9, 0.4]),
        5,
        keep="moments",
        store=tmp_path / "moments.zarr",
    )
    turned = moments.assign(correct_mean=moments.correct_mean.transpose("delta", "epsilon"))
    xr.testing.assert_identical(jb.summary(turned), jb.summary(moments))


def test_means_over_cells_are_no_runs():
    ds = xr.Dataset(
        {"pulls": (("epsilon", "seed"), [[9, 8], [7, 6]]), "correct": (("epsilon", "seed"), [[True, False]] * 2)}
    )
    mixed = ds.assign(correct=(("epsilon", "seed"), [[True, False], [False, False]]))
    for of_runs in (jb.summary, lambda ds: jb.seeds_needed(ds, "failure", 0.1)):
        with pytest.raises(jb.UsageError, match=r"correct is true or false in each run, and 0\.5 in this Dataset"):
            of_runs(mixed.mean("epsilon"))
    assert float(jb.summary(ds.mean("epsilon")).failure) == 0.5  # means of equal values


@pytest.mark.slow
def test_cells_that_were_stacked():
    ds = jb.sweep([jb.Uniform(budget=20), jb.SuccessiveRejects(budget=20)], jb.bernoulli([0.9, 0.4]), seeds=3)
    stacked = jb.summary(ds.stack(cell=["algorithm"]))
    np.testing.assert_array_equal(stacked.failure, jb.summary(ds).failure)


def test_runs_without_a_metric_are_counted():
    """The mean and its interval were of fewer runs, and nothing said of how many."""
    ds = small()
    ds["share"] = 0.5 * ds["pulls"]
    assert "share_number" not in summary(ds)
    ds["share"] = ds["share"].where(ds["pulls"] > ds["pulls"].min())
    found = summary(ds)
    np.testing.assert_array_equal(found.share_number, ds["share"].notnull().sum("seed"))
    assert [name for name in found if name.endswith("_number")] == ["share_number"]


def test_a_result_without_its_status_is_said():
    """A selection of variables said of 40 truncated runs that none was."""
    found = jb.simulate(jb.LUCB(epsilon=0, delta=0.1), jb.bernoulli([0.5, 0.5, 0.3]), 8, max_pulls=200)
    assert summary(found).censored == 8
    with pytest.warns(UserWarning, match="^the Dataset has lost its status: truncated runs count as runs that ended"):
        assert summary(found[["pulls", "correct"]]).censored == 0
    study = jb.sweep([jb.LUCB(epsilon=0.5, delta=0.1), jb.UGapEc(epsilon=0.5, delta=0.1)], jb.bernoulli([0.9, 0.1]), 8)
    jb.difference(study[["pulls", "correct"]], "failure")
    with pytest.warns(UserWarning, match="^the Dataset has lost its status"):
        jb.difference(study[["pulls", "correct"]], "pulls")


def test_runs_that_occur_twice_are_said():
    twice = xr.concat([small(), small()], "seed")
    with pytest.warns(UserWarning, match=r"seed 0 occurs more than once.*jb\.merge"):
        assert (summary(twice).runs == 8).all()
    one, half = small().isel(seed=[0, 1]), small().isel(seed=[2, 3])
    assert summary(xr.concat([one, half], "seed")).identical(summary(small()))
