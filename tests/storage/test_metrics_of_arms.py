"""Metrics of each arm are kept as they are: whole numbers and fractions too, not only truth values."""

import functools
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats
import xarray as xr

import jaxbandits as jb
from jaxbandits.storage.block_files import block_names, read_block, write_block


def pulls_of_each(problem, state, recommended):
    return state.pulls


def mean_of_each(problem, state, recommended):
    return jnp.where(recommended, jnp.nan, state.mean)


def is_pulled_often(problem, state, recommended):
    return state.pulls > 20


def is_large(problem, state, recommended):
    return state.mean[0] > -1


def is_high(problem, state, recommended):
    return state.mean[0] > 0.9


FAMILIES = (jb.bernoulli, jb.gaussian)
OWN = {"each": pulls_of_each, "means": mean_of_each, "often": is_pulled_often}


def sweep(n=(3, 10), seeds=9, **options):
    algorithm, problem = jb.Uniform(budget=90), jb.two_group(n=jb.axis(list(n)), k=1)
    return jb.sweep(algorithm, problem, seeds, metrics=OWN, lanes=2, **options)


@functools.cache
def all_at_once():
    return sweep()


def same(found, expected):
    xr.testing.assert_identical(found.load().drop_attrs(), expected.drop_attrs())
    for name in OWN:
        assert found[name].dtype == expected[name].dtype


@pytest.mark.parametrize("name", ["grid.zarr", pytest.param("grid.nc", marks=pytest.mark.slow)])
def test_a_store_has_the_numbers_of_a_sweep_without_one(name, small_blocks):
    """Also one that grew by seeds and by problems with more arms, and whose blocks were joined."""
    whole = all_at_once()
    assert whole["each"].max() > 1
    sweep(n=[3], seeds=4, store=name)
    same(sweep(store=name), whole)
    jb.compact(name)
    same(sweep(store=name), whole)


@pytest.mark.slow
def test_moments_of_arms_are_those_of_a_sweep_without_an_interruption(small_blocks):
    """An arm that a cell does not have was NaN where the store grew by more arms, and 0 where it did not."""
    whole = sweep(store="whole.zarr", keep="moments").load()
    sweep(n=[3], seeds=4, store="grid.zarr", keep="moments")
    same = sweep(store="grid.zarr", keep="moments").load()
    xr.testing.assert_identical(same.drop_attrs(), whole.drop_attrs())
    assert (whole["each_mean"].sel(n=3)[3:] == 0).all()
    jb.compact("grid.zarr")
    xr.testing.assert_identical(sweep(store="grid.zarr", keep="moments").load().drop_attrs(), whole.drop_attrs())


@pytest.mark.slow
def test_stores_are_merged_and_several_bandits_are_kept():
    whole = all_at_once()
    sweep(seeds=6, store="a.zarr")
    sweep(seeds=5, first_seed=4, store="b.zarr")
    same(jb.merge(["a.zarr", "b.zarr"], store="c.zarr"), whole)
    arguments = jb.Uniform(budget=80), jb.gabillon(1), 4
    several = jb.sweep(*arguments, metrics=OWN, store="several.zarr")
    same(several, jb.sweep(*arguments, metrics=OWN))


def test_fractions_of_arms_that_a_smaller_problem_lacks_are_not_known():
    """They were 0, as if measured; counts are 0, and truth values false."""
    whole = all_at_once()
    lacking = whole.isel(n=0, arm=slice(3, None))
    assert np.isnan(lacking["means"]).all()
    assert not lacking["each"].any()
    assert not lacking["often"].any()
    assert not np.isnan(whole.isel(n=0, arm=slice(3))["means"]).all("arm").any()
    same(jb.merge([sweep(n=[3]), sweep(n=[10])]), whole)
    kept = sweep(store="grid.zarr", keep="moments").load()
    np.testing.assert_allclose(kept["means_mean"], whole["means"].mean("seed"), rtol=1e-6)


@pytest.mark.slow
def test_merged_studies_with_pairs_left_out_are_the_study_at_once():
    """Counts and truth values are fractions there, for NaN, and are 0 for arms that a problem lacks."""
    algorithms = {"uniform": jb.Uniform(budget=30), "kl-lucb": jb.KLLUCB(epsilon=0.2, delta=0.1)}

    def study(*arms):
        problems = {f"{family.__name__} {n}": family([0.9, *[0.4] * (n - 1)]) for n in arms for family in FAMILIES}
        with pytest.warns(UserWarning, match="left out"):
            return jb.sweep(algorithms, problems, 5, metrics=OWN, max_pulls=300, lanes=2)

    merged, whole = jb.merge([study(3), study(4)]), study(3, 4)
    for name in (*OWN, "recommended"):
        np.testing.assert_array_equal(merged[name], whole[name])


def test_numbers_that_an_earlier_version_kept_as_bits_are_refused():
    sweep(store="grid.zarr")
    blocks = Path("grid.zarr/blocks")
    for name in block_names(blocks):
        about, arrays = read_block(blocks / name)
        arrays["value.each"] = np.packbits(arrays["value.each"], axis=-1)
        (blocks / name).unlink()
        write_block(blocks, about, arrays)
    (blocks / "view.json").unlink()
    with pytest.raises(jb.UsageError, match="an earlier version kept each of each arm as bits: write a new store"):
        sweep(store="grid.zarr")


@pytest.mark.slow
@pytest.mark.parametrize("keep", ["summary", "moments"])
def test_a_metric_that_no_run_has_is_nowhere_a_number(keep):
    def nothing(problem, state, recommended):
        return jnp.nan * state.mean[0]

    def some(problem, state, recommended):
        return jnp.where(problem.arms == 3, jnp.nan, state.mean[0])

    arguments = jb.Uniform(budget=40), jb.two_group(n=jb.axis([3, 10]), k=1), 9
    options = {"metrics": {"nothing": nothing, "some": some}}
    expected = jb.summary(jb.sweep(*arguments, **options))
    kept = jb.sweep(*arguments, **options, store="grid.zarr", keep=keep).load()
    found = kept if keep == "summary" else jb.summary(kept)
    for name in ("nothing_mean", "nothing_low", "nothing_sd", "some_mean", "some_sd"):
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-12)
    assert np.isnan(found["nothing_mean"]).all()
    if keep == "summary":
        np.testing.assert_allclose(found["some_q90"], expected["some_q90"], rtol=2**-13)
        assert np.isnan(found["nothing_q50"]).all()


@pytest.mark.parametrize("keep", ["runs", "summary", "moments"])
def test_truth_values_have_the_interval_of_a_rate(keep):
    """Where all are true Student's interval was that number alone."""
    own = {"large": is_large, "high": is_high}
    arguments = jb.Uniform(budget=20), jb.bernoulli([0.9, 0.4]), 30
    runs = jb.sweep(*arguments, metrics=own)
    kept = jb.sweep(*arguments, metrics=own, store="grid.zarr", keep=keep).load()
    found = kept if keep == "summary" else jb.summary(kept)
    for name in own:
        test = scipy.stats.binomtest(int(runs[name].sum()), 30).proportion_ci(method="exact")
        np.testing.assert_allclose([found[f"{name}_low"].item(), found[f"{name}_high"].item()], test, rtol=1e-9)
        assert found[f"{name}_mean"].attrs["interval"] == "Clopper-Pearson, 95%"
    assert found["pulls_mean"].attrs["interval"] == "Student's t, 95%"
    text = jb.table(kept, value=["large", "pulls"])
    assert "1.000 [0.884, 1.000]" in text
    assert "large: rate of true values [95% interval of Clopper and Pearson]" in text


@pytest.mark.slow
@pytest.mark.parametrize("keep", [None, "runs", "summary", "moments"])
def test_truth_values_stay_such_where_a_pair_is_left_out(keep):
    """They are fractions in results then, for NaN, and had Student's interval."""
    algorithms = {"uniform": jb.Uniform(budget=20), "kl-lucb": jb.KLLUCB(epsilon=0.2, delta=0.1)}
    problems = {"coins": jb.bernoulli([0.9, 0.4]), "normal": jb.gaussian([0.9, 0.4])}
    own = {"large": is_large}
    with pytest.warns(UserWarning, match="left out"):
        kept = jb.sweep(algorithms, problems, 30, metrics=own, **({"store": "a.zarr", "keep": keep} if keep else {}))
    found = kept.load() if keep == "summary" else jb.summary(kept.load())
    ran = found.sel(algorithm="uniform", problem="coins")
    test = scipy.stats.binomtest(30, 30).proportion_ci(method="exact")
    np.testing.assert_allclose([ran["large_low"].item(), ran["large_high"].item()], test, rtol=1e-9)
    assert np.isnan(found["large_mean"].sel(algorithm="kl-lucb", problem="normal"))
