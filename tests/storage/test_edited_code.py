"""Runs of other code are never added to those of a store, a Dataset or a history: one line says what was edited."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import optax
import pytest

import jaxbandits as jb
from jaxbandits.problems.base import register_problem
from jaxbandits.storage.store_files import blocks_folder
from jaxbandits.users_code.records import CODE

PROBLEM = jb.bernoulli([0.7, 0.5, 0.4])


@jb.algorithm
class Rule:
    """Pulls all arms and returns the first."""

    budget: Any
    shuffle_arms = False

    def select(self, arms, key):
        return jnp.argmin(arms.pulls)

    def done(self, arms):
        return arms.time >= self.budget * arms.count

    def recommend(self, arms):
        return 0


def last(self, arms):
    return arms.count - 1


def twice(problem, state, recommended):
    return 2 * jnp.sum(state.pulls)


def thrice(problem, state, recommended):
    return 3 * jnp.sum(state.pulls)


def sweep(store=None, seeds=4, **options):
    return jb.sweep(Rule(jb.axis([2, 3])), PROBLEM, seeds, store=store, **options)


def table(ds, name="algorithm"):
    return json.loads(ds.attrs["spec"])[name]


@pytest.mark.parametrize("name", ["grid.zarr", "grid.nc"])
def test_a_store_of_edited_code_is_not_added_to(name, monkeypatch):
    sweep(name)
    assert "Rule.recommend" in table(sweep(name))[CODE]
    assert "sha256" not in table(sweep(name))  # of an axis there is nothing to hash
    assert sweep(name, seeds=6).sizes["seed"] == 6
    with monkeypatch.context() as edited:
        edited.setattr(Rule, "recommend", last)
        with pytest.raises(jb.UsageError, match=r"grid\.(zarr|nc) was .*: the code of Rule\.recommend has changed$"):
            sweep(name, seeds=8)
        with pytest.raises(jb.UsageError, match=r"the code of Rule\.recommend has changed$"):
            sweep(name, seeds=6)  # all of which are there
    assert sweep(name, seeds=8).correct.all()


def test_results_of_edited_code_are_not_merged(monkeypatch):
    first, stored = sweep(), sweep("one.zarr")
    assert jb.merge([first, sweep(first_seed=4)]).sizes["seed"] == 8
    monkeypatch.setattr(Rule, "recommend", last)
    other = sweep(first_seed=4)
    sweep("other.zarr", first_seed=4)
    message = r"was written by another specification: the code of Rule\.recommend has changed$"
    for parts, options in (([first, other], {}), (["one.zarr", "other.zarr"], {"store": "both.zarr"})):
        with pytest.raises(jb.UsageError, match=message):
            jb.merge(parts, **options)
    assert stored.equals(first)


def test_edited_code_is_not_repeated_as_if_it_were_the_same(monkeypatch):
    ds = sweep()
    assert jb.repeat(ds, algorithm=Rule(jb.axis([2, 3]))).equals(ds)
    monkeypatch.setattr(Rule, "recommend", last)
    with pytest.raises(jb.UsageError, match=r"not the algorithm of the Dataset: the code of Rule\.recommend has chan"):
        jb.repeat(ds, algorithm=Rule(jb.axis([2, 3])))


def test_edited_metrics_are_told_apart():
    ds = sweep("grid.zarr", metrics={"m": twice}).load()
    assert sweep("grid.zarr", seeds=5, metrics={"m": twice}).m.mean() == 15
    for message, call in (
        (r"grid\.zarr .*: the code of m has changed$", lambda: sweep("grid.zarr", seeds=6, metrics={"m": thrice})),
        (r"the first Dataset .*: the code of m has changed$", lambda: jb.merge([ds, sweep(metrics={"m": thrice})])),
        (
            r"not the metrics of the Dataset: the code of m has changed$",
            lambda: jb.repeat(ds, algorithm=Rule(jb.axis([2, 3])), metrics={"m": thrice}),
        ),
    ):
        with pytest.raises(jb.UsageError, match=message):
            call()
    again = jb.repeat(ds, algorithm=Rule(jb.axis([2, 3])), metrics={"m": jb.Metric(twice, unit="x"), "more": thrice})
    assert again.drop_vars("more").equals(ds)


def test_an_edited_problem_and_an_edited_criterion_are_told_apart(monkeypatch):
    @register_problem
    @dataclasses.dataclass(frozen=True)
    class Own(jb.problems.Bernoulli):
        high = 1

    problem = Own(jnp.asarray([0.5, 0.4], jnp.float32), name="mine")
    ds = jb.simulate(jb.Uniform(budget=4), problem, seeds=2)
    assert "Own.high" in table(ds, "problem")[CODE]
    assert CODE not in table(ds)
    monkeypatch.setattr(Own, "high", 2)
    with pytest.raises(jb.UsageError, match=r"not the problem of the Dataset: Own\.high: 1 there and 2 here$"):
        jb.repeat(ds, problem=problem)
    monkeypatch.setattr(Rule, "traits", jb.Traits(tolerance="budget"), raising=False)
    assert table(sweep("grid.zarr"))[CODE]["Rule.traits"] == "Traits(tolerance='budget')"
    monkeypatch.setattr(Rule, "traits", jb.Traits())
    with pytest.raises(jb.UsageError, match=r"grid\.zarr .*: Rule\.traits: Traits\(tolerance='budget'\) there and "):
        sweep("grid.zarr", seeds=5)


@pytest.mark.slow
def test_a_patched_class_of_the_package_is_told_apart(monkeypatch):
    run = lambda seeds: jb.simulate(jb.Uniform(budget=4), PROBLEM, seeds, store="grid.zarr")  # noqa: E731
    assert CODE not in table(run(2))
    with monkeypatch.context() as edited:
        edited.setattr(jb.Uniform, "recommend", lambda self, state: jnp.arange(3) == 1)
        with pytest.raises(jb.UsageError, match=r"Uniform\.recommend is part of the code here only$"):
            run(4)
        patched = jb.simulate(jb.Uniform(budget=4), PROBLEM, 2)
        assert jb.repeat(patched).equals(patched)
    with pytest.raises(jb.UsageError, match=r"not the algorithm of the Dataset: Uniform\.recommend is part"):
        jb.repeat(patched)


def without_code(spec):
    """As it was written before code was recorded."""
    old = {name: {key: value for key, value in entries.items() if key != CODE} for name, entries in spec.items()}
    old["algorithm"]["sha256"] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    return old


def test_what_was_written_before_code_was_recorded_is_taken_with_a_warning():
    """A store, whose description then gets the record, and a Dataset."""
    ds = sweep("grid.zarr", metrics={"m": twice}).load()
    file = blocks_folder(Path("grid.zarr")) / "sweep.json"
    description = json.loads(file.read_bytes())
    file.write_text(json.dumps(description | {"spec": without_code(description["spec"])}))
    message = r"^grid\.zarr: its code was not recorded by the version that wrote it; it is taken to be the same$"
    with pytest.warns(UserWarning, match=message):
        more = sweep("grid.zarr", seeds=6, metrics={"m": twice})
    assert more.isel(seed=slice(4)).equals(ds)
    sweep("grid.zarr", seeds=6, metrics={"m": twice})  # now it is
    old = ds.assign_attrs(spec=json.dumps(without_code(json.loads(ds.attrs["spec"]))))
    with pytest.warns(UserWarning, match="the first Dataset: its code was not recorded"):
        both = jb.merge([old, sweep(first_seed=4, metrics={"m": twice})])
    assert "Rule.recommend" in table(both)[CODE]
    with pytest.warns(UserWarning, match="the Dataset: its code was not recorded"):
        assert jb.repeat(old, algorithm=Rule(jb.axis([2, 3])), metrics={"m": twice}).equals(ds)


@pytest.mark.slow
def test_a_history_of_another_objective_is_not_gone_on_from():
    options = {
        "wrt": ["epsilon"], "steps": 1, "instances": 1, "seeds": 1, "held_out": 2, "optimizer": optax.adam(0.1),
    }  # fmt: skip
    problems = lambda random: jb.bernoulli(random.uniform(0.3, 0.7, 2))  # noqa: E731
    start = jb.UGapEc(epsilon=0.5, delta=0.3)
    found = jb.tune(start, problems, twice, **options)
    thrice.__name__ = "twice"
    with pytest.raises(jb.UsageError, match="history is of other arguments: the code of objective has changed"):
        jb.tune(start, problems, thrice, history=found.history, **options)
    old = json.loads(found.history.attrs["spec"])
    del old[CODE]
    with pytest.warns(UserWarning, match="does not say which objective it is of: it is taken to be the same"):
        again = jb.tune(start, problems, twice, history=found.history.assign_attrs(spec=json.dumps(old)), **options)
    assert again.values == found.values
