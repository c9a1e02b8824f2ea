"""Multiple comparisons with the best: by hand, against all pairs one by one, and how often the best is in the set."""

import tracemalloc

import numpy as np
import pytest
import xarray as xr
from scipy import stats

import jaxbandits as jb

LABELS = list("abcd")


def of(pulls, **more):
    """Runs of labels "a", "b", …, in rows; any dimensions before."""
    pulls = np.asarray(pulls)
    names = (*(f"n{i}" for i in range(pulls.ndim - 2)), "algorithm", "seed")
    variables = {
        name: (names, np.broadcast_to(values, pulls.shape)) for name, values in {"pulls": pulls, **more}.items()
    }
    return xr.Dataset(variables, {"algorithm": LABELS[: pulls.shape[-2]]})


def test_two_labels_by_hand():
    found = jb.find_best(of([[12.0, 14, 15], [10, 10, 10]]))
    # Differences 2, 4, 5; t with two degrees of freedom at 95% on one side is 2.919986.
    half = 2.919985580353726 * np.sqrt(7 / 3 / 3)
    assert found["among_best"].values.tolist() == [False, True]
    np.testing.assert_allclose(found["difference"], [11 / 3, -11 / 3])
    np.testing.assert_allclose(found["low"], [0, -(11 / 3 + half)])
    np.testing.assert_allclose(found["high"], [11 / 3 + half, 0])
    np.testing.assert_allclose(found["mean"], [41 / 3, 10])
    assert found["runs"].values.tolist() == [3, 3]
    assert found.attrs["best"] == "smallest"


def test_the_largest_is_the_mirror_image():
    rng = np.random.default_rng(3)
    ds = of(rng.normal(size=(5, 4, 20)) + np.arange(4)[:, None] / 2)
    least, most = jb.find_best(ds), jb.find_best(-ds, largest=True)
    np.testing.assert_array_equal(least["among_best"], most["among_best"])
    np.testing.assert_allclose(least["difference"], -most["difference"])
    np.testing.assert_allclose(least["low"], -most["high"])
    np.testing.assert_allclose(least["high"], -most["low"])
    assert 0 < least["among_best"].mean() < 1


def test_all_pairs_one_by_one():
    rng = np.random.default_rng(4)
    values = rng.normal(size=(4, 25)) + rng.normal(size=25) + np.arange(4)[:, None] * 0.4
    found = jb.find_best(of(values), level=0.9)
    width = np.zeros((4, 4))
    for i in range(4):
        for j in set(range(4)) - {i}:
            width[i, j] = stats.t.ppf(1 - 0.1 / 3, 24) * (values[i] - values[j]).std(ddof=1) / 5
    mean = values.mean(1)
    among = [all(mean[i] - mean[j] <= width[i, j] for j in range(4)) for i in range(4)]
    assert found["among_best"].values.tolist() == among
    for i in range(4):
        others = [j for j in range(4) if j != i]
        np.testing.assert_allclose(found["low"][i], min(0, max(mean[i] - mean[j] - width[i, j] for j in others)))
        highs = [mean[i] - mean[j] + width[i, j] for j in others if among[j]]
        np.testing.assert_allclose(found["high"][i], max(0, max(highs, default=0)))


@pytest.mark.parametrize("value", ["pulls", "failure"])
@pytest.mark.parametrize("apart", [0.0, 0.02, 0.1])
def test_the_set_contains_the_best_and_the_intervals_hold_together(value, apart):
    # 4000 repetitions: below 93% with a probability of 95% is six deviations.
    rng = np.random.default_rng(5)
    shape = (4000, 4, 80)
    shared = rng.gamma(4, 25, (4000, 1, 80))
    pulls = shared * (1 + apart * np.arange(4)[:, None]) + rng.gamma(2, 10, shape)
    rates = 0.1 + apart * np.arange(4)
    hard = rng.uniform(size=(4000, 1, 80)) < 0.5
    wrong = hard & (rng.uniform(size=shape) < 2 * rates[:, None])
    found = jb.find_best(of(pulls, correct=~wrong), value)
    means = 100 * (1 + apart * np.arange(4)) + 20 if value == "pulls" else rates
    assert found["among_best"].isel(algorithm=0).mean() >= 0.95
    true = np.array([means[i] - np.delete(means, i).min() for i in range(4)])
    together = ((found["low"] <= true + 1e-9) & (true - 1e-9 <= found["high"])).all("algorithm").mean()
    assert together > 0.94


@pytest.mark.slow
def test_the_set_contains_the_best_of_real_runs():
    # 400 groups of 100 seeds; the best of all 40,000 runs, which differ little. 42 sets without it: 1e-6.
    rules = {"sr": jb.SuccessiveRejects(budget=60), "sh": jb.SequentialHalving(budget=60), "all": jb.Uniform(budget=60)}
    ds = jb.sweep(rules, jb.bernoulli([0.6, 0.5, 0.4]), seeds=40_000)[["pulls", "correct"]]
    best = ds.algorithm[ds.correct.mean("seed").values.argmax()].item()
    groups = ds.coarsen(seed=100).construct(seed=("group", "run")).drop_vars("seed").rename(run="seed")
    among = jb.find_best(groups, "failure").among_best
    assert int((~among.sel(algorithm=best)).sum()) <= 41
    assert int((~among).sum()) > 0  # some sets are smaller


@pytest.mark.slow
def test_memory_does_not_grow_with_the_square_of_the_labels():
    # Pairs of 1000 labels are a million: one array of them, float64, has 8 MB. The runs have 0.04 MB.
    pulls = np.random.default_rng(8).normal(size=(1000, 5)) + np.arange(1000)[:, None] / 100
    ds = xr.Dataset({"pulls": (("algorithm", "seed"), pulls)}, {"algorithm": np.arange(1000)})
    tracemalloc.start()
    found = jb.find_best(ds)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert 1 < found["among_best"].sum() < 1000
    assert most < 4e6


def test_common_random_numbers_tell_more():
    rng = np.random.default_rng(6)
    shared, own = rng.gamma(4, 25, 50), rng.normal(size=(2, 50))
    pulls = shared + own + np.array([[0], [3]])
    assert jb.find_best(of(pulls))["among_best"].values.tolist() == [True, False]
    shuffled = np.stack([pulls[0], rng.permutation(pulls[1])])
    assert jb.find_best(of(shuffled))["among_best"].all()


def test_equal_runs_are_all_the_best():
    found = jb.find_best(of(np.full((3, 5), 7)))
    assert found["among_best"].all()
    np.testing.assert_array_equal(found["low"], 0)
    np.testing.assert_array_equal(found["high"], 0)


def test_seeds_that_one_label_lacks_are_left_out_for_all():
    found = jb.find_best(of([[1.0, 2, np.nan, 3], [4, 5, 1, 6]]))
    assert found["runs"].values.tolist() == [3, 3]
    assert found["left_out"].values.tolist() == [1, 1]
    assert found["mean"].values.tolist() == [2, 5]
    assert found.attrs["left_out"].endswith("missing: 2")


def test_a_truncated_label_beats_nobody_and_is_beaten():
    pulls, status = [[10, 10, 11], [20, 21, 22], [30, 30, 31]], np.int8([[1, 0, 0], [0, 0, 0], [0, 0, 1]])
    found = jb.find_best(of(pulls, status=status))
    # "a" may take more pulls than "b"; "c" takes more than "b", however long its last run would have been.
    assert found["among_best"].values.tolist() == [True, True, False]
    assert found["truncated"].values.tolist() == [1, 0, 1]
    assert found["high"].values.tolist()[0] == np.inf
    assert found["high"].values.tolist()[2] == np.inf
    assert "2 runs are truncated" in found.attrs["truncated"]
    most = jb.find_best(of(pulls, status=status), largest=True)
    assert most["among_best"].values.tolist() == [True, False, True]


def test_one_run_shows_nothing():
    found = jb.find_best(of([[1], [5]]))
    assert found["among_best"].all()
    assert np.isnan(found["low"]).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda ds: jb.find_best(ds.isel(algorithm=[1])), "at least two values of it, got 1"),
        (lambda ds: jb.find_best(ds, along="epsilon"), "unknown dimension 'epsilon'"),
        (lambda ds: jb.find_best(ds, "regret"), "unknown value 'regret'"),
        (lambda ds: jb.find_best(ds, largest="yes"), "largest must be True, False or None, got 'yes'"),
        (lambda ds: jb.find_best(ds.expand_dims(mean=[0.5])), r"'mean' is a dimension.*ds.rename\(mean=…\)"),
        (lambda ds: jb.table(ds.expand_dims(high=[0.5])), "'high' is a dimension.*or make the table with best=None"),
        (lambda ds: jb.find_best(ds, level=0), "level must lie strictly between 0 and 1"),
    ],
)
def test_bad_input_is_refused_in_one_line(change, message):
    with pytest.raises(jb.UsageError, match=message) as error:
        change(of([[1, 2], [3, 4]]))
    assert "\n" not in str(error.value)
