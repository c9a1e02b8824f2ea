"""Stores of several algorithms and problems: killed, resumed, extended, in parts, merged, kept as sums."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr

import jaxbandits as jb
from jaxbandits.cli import main
from jaxbandits.storage.block_files import block_names
from jaxbandits.storage.consolidate import count_of_runs, read_store
from jaxbandits.storage.store_files import blocks_folder, done_by_cell, read_description

SPECIFICATION = """
[[algorithm]]
name = ["ugape-c", "lucb"]

[[algorithm]]
name = "successive-rejects"
label = "SR"
budget = { axis = [50, 90] }

[[problem]]
spec = ["bernoulli:0.7,0.65,0.6", "linear:n=3"]

[axes]
accuracy = { epsilon = [0.1, 0.2], delta = [0.1, 0.05] }

[run]
seeds = 300
"""
TOGETHER = jb.zip_axes("accuracy", epsilon=[0.1, 0.2], delta=[0.1, 0.05])
ALGORITHMS = {
    "ugape-c": jb.UGapEc(**TOGETHER),
    "lucb": jb.LUCB(**TOGETHER),
    "SR": jb.SuccessiveRejects(budget=jb.axis([50, 90])),
}
PROBLEMS = [jb.bernoulli([0.7, 0.65, 0.6]), jb.linear(n=3)]
STORE = Path("study.zarr")


@pytest.fixture(autouse=True)
def _a_specification():
    Path("study.toml").write_text(SPECIFICATION)


def chosen(*names):
    return {name: ALGORITHMS[name] for name in names}


def whole(algorithms=ALGORITHMS, seeds=300):
    return jb.sweep(algorithms, PROBLEMS, seeds)


def assert_same(found, expected):
    xr.testing.assert_equal(found.drop_attrs(deep=False), expected.drop_attrs(deep=False))


def made(call):
    """How many runs a call adds to the store."""
    before = done()
    call()
    return done() - before


def done():
    folder = blocks_folder(STORE)
    return (
        sum(stop - start for seeds in done_by_cell(folder).values() for start, stop in seeds) if folder.exists() else 0
    )


@pytest.mark.bits
@pytest.mark.parametrize("kills", [1, pytest.param(20, marks=pytest.mark.slow)])
def test_is_killed_and_resumed_bit_for_bit(kills):
    command = [sys.executable, "-m", "jaxbandits.cli", "sweep", "study.toml", "--out", str(STORE), "--resume"]
    moments, hit = random.Random(5), 0
    while hit < kills:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ)
        began = time.monotonic()
        while process.poll() is None and not (blocks_folder(STORE) / "writer-1-of-1.json").exists():
            assert time.monotonic() - began < 120
            time.sleep(0.01)
        time.sleep(moments.uniform(0, 3))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        hit += process.returncode == -signal.SIGKILL
        for block in block_names(blocks_folder(STORE))[3:]:  # so that the next one has something to do
            (blocks_folder(STORE) / block).unlink()
        (blocks_folder(STORE) / "writer-1-of-1.json").unlink(missing_ok=True)
    assert main(["sweep", "study.toml", "--out", str(STORE), "--resume"]) == 0
    assert_same(read_store(STORE), whole())


@pytest.mark.bits
def test_is_extended_by_an_algorithm_a_problem_and_an_axis_without_running_anything_again():
    assert made(lambda: jb.sweep(chosen("ugape-c"), PROBLEMS[:1], 300, store=STORE)) == 2 * 300
    assert made(lambda: jb.sweep(chosen("ugape-c", "lucb"), PROBLEMS[:1], 300, store=STORE)) == 2 * 300
    assert made(lambda: jb.sweep(chosen("ugape-c", "lucb"), PROBLEMS, 300, store=STORE)) == 4 * 300
    both = jb.sweep(chosen("ugape-c", "lucb"), PROBLEMS, 300, store=STORE)
    assert both.pulls.dims == ("algorithm", "problem", "accuracy", "seed")
    assert_same(both, whole(chosen("ugape-c", "lucb")))
    assert made(lambda: jb.sweep(chosen("SR"), PROBLEMS, 300, store=STORE)) == 4 * 300  # alone, with an axis of its own
    assert_same(read_store(STORE), whole())
    assert read_store(STORE).correct.attrs["answers"] == "m (ugape-c, lucb); 1 (SR)"
    assert made(lambda: main(["sweep", "study.toml", "--out", str(STORE), "--resume"])) == 0
    part = jb.sweep(chosen("lucb"), PROBLEMS[1:], 100, store=STORE)  # no axis but its own, and fewer seeds
    assert part.pulls.dims == ("algorithm", "problem", "accuracy", "seed")
    np.testing.assert_array_equal(
        part.pulls, whole().pulls.sel(algorithm=["lucb"], problem=["linear"]).isel(budget=0, seed=slice(100))
    )


@pytest.mark.slow
@pytest.mark.bits
def test_parts_fill_one_store_and_stores_are_merged():
    for number in (1, 2):
        assert main(["sweep", "study.toml", "--out", str(STORE), "--part", f"{number}/2"]) == 0
    assert_same(read_store(STORE), whole())
    jb.sweep(chosen("SR"), PROBLEMS, 300, store="one.zarr")
    jb.sweep(chosen("lucb", "ugape-c"), PROBLEMS, 300, store="two.zarr")
    both = jb.merge(["one.zarr", "two.zarr"], store="both.zarr")
    assert both.algorithm.values.tolist() == ["SR", "lucb", "ugape-c"]
    np.testing.assert_array_equal(
        both.pulls.transpose(*whole().pulls.dims).sel(algorithm=list(ALGORITHMS)), whole().pulls
    )
    loaded = jb.merge(["one.zarr", "two.zarr"])
    xr.testing.assert_equal(loaded.pulls, both.pulls)
    assert_same(jb.repeat(loaded.isel(seed=[1])).pulls, loaded.pulls.isel(seed=[1]))


@pytest.mark.slow
@pytest.mark.parametrize("keep", ["summary", "moments"])
def test_keeps_sums_of_a_study(keep):
    runs = whole()
    ds = jb.sweep(ALGORITHMS, PROBLEMS, 300, store=STORE, keep=keep)
    expected = jb.summary(runs)
    for name in ("pulls_mean", "failure", "failure_high", "simple_regret_mean", "runs", "censored"):
        xr.testing.assert_allclose(jb.summary(ds)[name] if keep == "moments" else ds[name], expected[name], rtol=1e-9)


@pytest.mark.slow
def test_sums_of_what_not_all_measure():
    algorithms = [jb.KUBE(budget=30.0), jb.LUCB(epsilon=0.2, delta=0.1)]
    problem = jb.with_costs(jb.bernoulli([0.9, 0.4]), [1.0, 2.0])
    for keep in ("summary", "moments"):
        ds = jb.sweep(algorithms, problem, 40, store=f"{keep}.zarr", keep=keep)
        known = ds if keep == "summary" else jb.summary(ds)
        assert known.reward_mean.isnull().values.tolist() == [False, True]
        xr.testing.assert_allclose(known.failure, jb.summary(jb.sweep(algorithms, problem, 40)).failure)


@pytest.mark.bits  # with the programs of the tests above
def test_status_counts_runs_and_not_their_repetitions(capsys):
    whole_store = jb.sweep(ALGORITHMS, PROBLEMS, 300, store=STORE)
    assert whole_store.pulls.size == 3 * 2 * 2 * 2 * 300
    assert main(["status", str(STORE)]) == 0
    out = capsys.readouterr().out
    assert "3,600 of 3,600 (100%)" in out
    assert "ugape-c, lucb, SR on bernoulli, linear" in out


@jb.algorithm
class Own:
    budget: int

    def select(self, arms, key):
        return jnp.argmin(arms.pulls)

    def done(self, arms):
        return arms.time >= self.budget

    def recommend(self, arms):
        return jnp.argmax(arms.mean)


def another_own():
    @jb.algorithm
    class Own:
        budget: int

        def select(self, arms, key):
            return jnp.argmax(arms.pulls)

        def done(self, arms):
            return arms.time >= self.budget

        def recommend(self, arms):
            return jnp.argmin(arms.mean)

    Own.__qualname__ = "Own"
    return Own


@pytest.mark.slow
def test_other_code_under_one_class_name_is_refused():
    with pytest.raises(jb.UsageError, match="two cells of the grid have equal values and different code, of Own"):
        jb.sweep({"a": Own(20), "b": another_own()(20)}, PROBLEMS[0], 5, store=STORE)
    in_memory = jb.sweep({"a": Own(20), "b": another_own()(20)}, PROBLEMS[0], 50)
    assert not np.array_equal(in_memory.recommended[0], in_memory.recommended[1])
    jb.sweep({"a": Own(20)}, PROBLEMS[0], 5, store=STORE)
    with pytest.raises(jb.UsageError, match=r"'b' has the values of 'a', and other code: the code of .*Own"):
        jb.sweep({"b": another_own()(20)}, PROBLEMS[0], 5, store=STORE)
    with pytest.raises(jb.UsageError, match=r"was written by another specification: the code of .*Own"):
        jb.sweep({"a": another_own()(20)}, PROBLEMS[0], 5, store=STORE)
    assert made(lambda: jb.sweep({"b": Own(20)}, PROBLEMS[0], 5, store=STORE)) == 0  # another name of the same runs


@pytest.mark.parametrize(
    ("algorithm", "problem", "message"),
    [
        (jb.UGapEc(**TOGETHER), PROBLEMS, "it has a list of algorithms, and this has one algorithm"),
        (chosen("ugape-c"), PROBLEMS[0], "it has a list of problems, and this has one problem"),
        ({"ugape-c": jb.UGapEc(epsilon=0.1, delta=0.1)}, PROBLEMS, "algorithm.ugape-c.delta is "),
        ({"new": jb.LUCB(**jb.zip_axes("accuracy", epsilon=[1], delta=[0.1]))}, PROBLEMS, "leave a gap at algorithm"),
    ],
)  # fmt: skip
def test_another_study_is_refused(algorithm, problem, message):
    jb.sweep(chosen("ugape-c"), PROBLEMS, 5, store=STORE)
    with pytest.raises(jb.UsageError) as error:
        jb.sweep(algorithm, problem, 5, store=STORE)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.bits
def test_the_specification_of_a_store_is_built_again():
    jb.sweep(ALGORITHMS, PROBLEMS, 300, store=STORE)
    spec = read_description(STORE).spec
    assert [table["label"] for table in spec["algorithm"]] == list(ALGORITHMS)
    assert json.loads(read_store(STORE).attrs["spec"]) == spec
    assert count_of_runs(read_description(STORE).layout, done_by_cell(blocks_folder(STORE))) == 3 * 2 * 2 * 300
    assert_same(jb.repeat(read_store(STORE)), whole())
