"""What is kept of runs that are not kept: exact sums, which neither order nor blocks change, and what follows."""

import functools
from fractions import Fraction

import numpy as np
import pytest
import xarray as xr

import jaxbandits as jb
from jaxbandits.storage import writer
from jaxbandits.storage.accumulators import _keys, rounded_values
from jaxbandits.storage.superaccumulator import ExactSums, halves

EPSILON = [0.2, 0.3, 0.4]


def sweep(seeds=50, lanes=8, **options):
    algorithm = jb.UGapEc(epsilon=jb.axis(EPSILON), delta=0.1)
    return jb.sweep(algorithm, jb.bernoulli([0.7, 0.5, 0.4]), seeds, lanes=lanes, **options)


@functools.cache
def all_runs():
    return sweep()


def strange(problem, state, recommended):
    return 1.0 / (state.pulls[0] % 3)


@pytest.fixture(
    params=[pytest.param(False, id="one block", marks=pytest.mark.slow), pytest.param(True, id="many blocks")]
)
def blocks(request, monkeypatch):
    monkeypatch.setattr(writer, "_FIRST", 300.0)
    if request.param:
        request.getfixturevalue("small_blocks")
    return {"lanes": 2} if request.param else {}


@pytest.mark.parametrize("decades", [10, 50, None])
def test_sums_are_exact(decades):
    random = np.random.default_rng(5)
    if decades:
        values = random.standard_normal(3000) * 10.0 ** random.uniform(-decades / 2, decades / 2, 3000)
    else:
        values = np.asarray([2.0**-1074, 2.0**-1000, -(2.0**900), 1 / 3, 2.0**900, -1 / 3, 1e-300])
    place = np.arange(values.size) % 3
    sums = ExactSums(3)
    for part in np.array_split(np.arange(values.size), 7):
        sums.add(place[part], values[part])
    for number in range(3):
        assert sums.totals()[number] == sum(map(Fraction, values[place == number].tolist()), Fraction(0))
    other = ExactSums(3)
    other.add(np.asarray([0, 2]), np.asarray([1.5, -(2.0**70)]))
    sums.add_sums(other, np.asarray([2, 1, 0]))
    assert sums.totals()[2] == sum(map(Fraction, values[place == 2].tolist()), Fraction(0)) + Fraction(3, 2)


def test_squares_of_halves_are_exact():
    values = np.random.default_rng(1).standard_normal(1000) * 1e10
    high, low = halves(values)
    for value, a, b in zip(values.tolist(), high.tolist(), low.tolist(), strict=True):
        assert Fraction(a) + Fraction(b) == Fraction(value)
        assert Fraction(a * a) + Fraction(2 * a * b) + Fraction(b * b) == Fraction(value) ** 2


def test_rounded_values_keep_the_order_and_fourteen_bits():
    values = np.sort(np.concatenate([np.random.default_rng(2).standard_normal(2000) * 1e5, [0, -0.0, np.inf, -np.inf]]))
    keys = _keys(values)
    assert (np.diff(keys)[np.diff(values) > 0] >= 0).all()  # 0 and -0.0 may be sorted either way
    finite = np.isfinite(values)
    np.testing.assert_allclose(rounded_values(keys)[finite], values[finite], rtol=2.0**-14)
    np.testing.assert_array_equal(rounded_values(keys)[~finite], values[~finite])
    whole = np.arange(-(2**14), 2**14 + 1)
    np.testing.assert_array_equal(rounded_values(_keys(whole)), whole)


def test_moments_are_those_of_the_runs(blocks):
    runs = all_runs()
    moments = sweep(store="grid.zarr", keep="moments", **blocks).load()
    for name in ("pulls", "cost", "correct", "simple_regret", "aggregate_regret", "steps", "status", "recommended"):
        values = runs[name].astype(float)
        np.testing.assert_allclose(moments[f"{name}_mean"], values.mean("seed"), rtol=1e-15)
        np.testing.assert_allclose(moments[f"{name}_variance"], values.var("seed", ddof=1), rtol=1e-12, atol=1e-18)
    assert int(moments["runs"]) == 50
    assert moments.attrs["keep"] == "moments"


def test_a_summary_is_that_of_the_runs_but_for_rounded_quantiles(blocks):
    expected = jb.summary(all_runs())
    found = sweep(store="grid.nc", keep="summary", **blocks).load()
    assert set(expected.data_vars) == set(found.data_vars)
    for name in expected.data_vars:
        tolerance = 2.0**-13 if str(name).endswith(("q10", "q50", "q90")) else 1e-12
        np.testing.assert_allclose(found[name], expected[name], rtol=tolerance, atol=1e-12)
    jb.plot.curve(found, y="failure")


@pytest.mark.parametrize("keep", ["summary", pytest.param("moments", marks=pytest.mark.slow)])
def test_halves_have_the_sums_of_the_whole_to_the_last_bit(keep, blocks):
    whole = sweep(store="whole.zarr", keep=keep).load()
    sweep(seeds=20, store="grown.zarr", keep=keep, **blocks)
    grown = sweep(store="grown.zarr", keep=keep, **blocks).load()
    xr.testing.assert_identical(grown.drop_attrs(deep=False), whole.drop_attrs(deep=False))
    for name, options in (("a", {"seeds": 20}), ("b", {"seeds": 30, "first_seed": 20}), ("c", {"seeds": 30})):
        sweep(store=f"{name}.zarr", keep=keep, **options)
    merged = jb.merge(["b.zarr", "a.zarr"], store="merged.zarr").load()
    xr.testing.assert_identical(merged.drop_attrs(deep=False), whole.drop_attrs(deep=False))
    with pytest.raises(jb.UsageError, match="both have the seeds 0 to 19 of a cell, which would be counted twice"):
        jb.merge(["a.zarr", "c.zarr"], store="twice.zarr")


def test_runs_without_an_answer_and_runs_that_were_stopped(blocks):
    """What is not there is in no mean; stopped runs are counted."""
    runs = sweep(max_pulls=300)
    moments = sweep(max_pulls=300, store="a.zarr", keep="moments", **blocks).load()
    assert moments["stopped_early"].equals((runs.status != 0).sum("seed"))
    summary = sweep(max_pulls=300, store="b.zarr", keep="summary", **blocks).load()
    expected = jb.summary(runs)
    np.testing.assert_array_equal(summary["censored"], expected["censored"])
    np.testing.assert_array_equal(summary["pulls_high"], expected["pulls_high"])
    assert (summary["at_least"] == expected["at_least"]).all()
    for name in ("pulls_q10", "pulls_q50", "pulls_q90", "cost_q90"):
        np.testing.assert_allclose(summary[name], expected[name], rtol=2**-14)


@pytest.mark.slow
def test_quantiles_below_the_longest_run_are_exact_where_runs_were_stopped(blocks):
    """A batch that would pass the limit is not made: runs are stopped well below it, and would have made more."""
    race = jb.HoeffdingRace(epsilon=0.05, delta=0.1)
    problem = jb.bernoulli([0.7, 0.5, 0.4])
    free, few = (jb.simulate(race, problem, seeds=60, max_pulls=limit, **blocks) for limit in (None, 1200))
    stopped = few["status"].values == 1
    assert 6 < stopped.sum() < 30
    assert few["pulls"].values[stopped].min() < few["pulls"].values[~stopped].max()
    kept = jb.sweep(race, problem, 60, max_pulls=1200, store="a.zarr", keep="summary", **blocks).load()
    for name, share in (("pulls_q10", 0.1), ("pulls_q50", 0.5)):
        exact = np.quantile(free["pulls"], share)
        assert exact < few["pulls"].values[~stopped].max()
        for known in (jb.summary(few), kept):
            np.testing.assert_allclose(known[name], exact, rtol=2**-14)


def test_moments_are_drawn_and_summed_up_as_runs_are():
    runs = jb.summary(all_runs())
    moments = sweep(store="grid.zarr", keep="moments").load()
    found = jb.summary(moments)
    for name in found.data_vars:
        np.testing.assert_allclose(found[name], runs[name], rtol=1e-12, atol=1e-12)
    assert set(runs.data_vars) - set(found.data_vars) == {
        name for name in runs.data_vars if str(name).endswith(("_q10", "_q50", "_q90"))
    }
    jb.plot.curve(moments, y="failure")
    jb.plot.bars(moments, y="pulls")
    for kind in (jb.plot.quantiles, jb.plot.distribution):
        with pytest.raises(jb.UsageError, match=r"moments have no quantiles|needs the runs themselves"):
            kind(moments)


@pytest.mark.slow
def test_a_metric_of_ones_own_with_infinities(blocks):
    options = {"metrics": {"strange": strange}, **blocks}
    runs = sweep(**options)
    found = sweep(store="a.zarr", keep="moments", **options).load()
    np.testing.assert_array_equal(found["strange_mean"], runs["strange"].mean("seed"))
    expected = jb.summary(runs)
    summary = sweep(store="b.zarr", keep="summary", **options).load()
    for part in ("mean", "low", "high", "sd"):
        np.testing.assert_allclose(summary[f"strange_{part}"], expected[f"strange_{part}"], rtol=1e-12)
    for part in ("q10", "q50", "q90"):
        np.testing.assert_allclose(summary[f"strange_{part}"], expected[f"strange_{part}"], rtol=2**-13)


@pytest.mark.slow
def test_curves_have_moments_at_every_point(blocks):
    options = {"checkpoints": [30, 100, 1000]}
    runs = sweep(**options)
    found = sweep(store="a.zarr", keep="moments", **blocks, **options).load()
    np.testing.assert_allclose(found["pulls_mean"], runs["pulls"].mean("seed"), rtol=1e-15)
    assert found["correct_mean"].dims == ("epsilon", "checkpoint")
