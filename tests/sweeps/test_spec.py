"""Specifications: whatever can be made can be written as text and made again, exactly, or the text says why not."""

import copy
import dataclasses
import json
import pickle
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits import algorithms, problems
from jaxbandits.engine.binding import accept
from jaxbandits.io.diff import difference
from jaxbandits.sweeps.spec import (
    build,
    build_algorithm,
    build_problem,
    describe,
    describe_algorithm,
    parse_problem,
)

FILES = {
    "table.csv": "day,a,b\nmon,1,2\ntue,3,5\nwed,4,4\n",
    "workers.csv": "accuracy,n_answers\n0.9,5\n0.6,2\n0.7,9\n",
    "clicks.csv": "impressions,clicks\n100,3\n200,2\n",
    "rows.csv": "reward,cost\n0.5,0.5\n0.25,1\n",
}
#: Every constructor of the registry that needs arguments, and some with others than the usual ones.
ARGUMENTS: dict[str, list[dict[str, Any]]] = {
    "bernoulli": [{"means": [0.1, 0.2]}, {"means": np.asarray([[0.1, 1 / 3], [0.3, 0.4]]), "name": "two, of 2"}],
    "correlated-gaussian": [{"means": [1.0, 0.5], "sd": [1.0, 2.0], "correlation": 0.3}],
    "gaussian": [{"means": [0.1, 0.2], "sd": [1.0, 1e-3]}],
    "beta": [{"a": [1.0, 2.0], "b": 1 / 3}],
    "rademacher": [{"low": [0.0, 0.1], "high": [1.0, 1.0]}],
    "student-t": [{"means": jnp.asarray([0.1, 0.2]), "dof": 3.0, "name": "bernoulli:0.7,0.5"}],
    "pareto": [{"means": [1.0, 2.0], "tail": 2.5}],
    "symmetric-pareto": [{"means": [0.0, 1.0], "tail": 2.5, "scale": 2}],
    "log-normal": [{"mu": [0.0, 0.1], "sigma": 1.0}],
    "weibull": [{"scale": [1.0, 2.0], "shape": [0.5, 0.7]}],
    "poisson": [{"means": [0.0, 1 / 3]}, {"means": [[3.0, 1e7], [0.1, 2.0]], "name": "two, of 2"}],
    "exponential": [{"means": [0.1, 1 / 3]}],
    "negative-binomial": [{"means": [0.1, 1 / 3], "size": 1 / 3}],
    "categorical": [{"values": [1, 1 / 3], "probabilities": [[0.1, 0.9], [1 / 3, 2 / 3]]}],
    "gaussian-mixture": [{"weights": [[0.1, 0.9], [1.0, 0.0]], "means": [0.0, 1 / 3], "sd": [1.0, 1e-3]}],
    "abm": [{"number": 3}],
    "gabillon": [{"number": 2}],
    "karnin": [{"number": 3}, {"number": 5, "n": 40}],
    "one-click": [{"means": [0.1, 0.2]}],
    "blocks": [{"means": [0.2, 0.1, 0.3], "size": 2, "name": "ppr:blocks"}],
    "ppr": [{}, {"weights": "flat", "k": 5, "w": 1 / 3, "pulls": "blocks", "block": 2}],
    "ppr-unbounded": [{"first_pulls": 100}, {"law": "geometric", "w": 0.3, "ratio": 0.7, "first_pulls": 100}],
    "reservoir": [{}, {"beta": 1 / 3, "law": "beta", "arms": 7}, {"prices": "log-normal", "mu": -1 / 3, "coupling": 1}],
    "two-group": [{}, {"n": 20, "k": 3, "high": 1 / 3, "low": 0.1}],
    "random-beta": [{"n": 20, "seed": 4, "a": 1 / 3}],
    "linear": [{"n": 12, "high": 2 / 3, "low": 1e-9}],
    "empirical": [{"samples": [[1.0, 2.0], [3.0, 5.0]], "joint": True, "name": "clicks:x"}],
    "csv": [{"path": "table.csv"}, {"path": "table.csv", "joint": True}],
    "data": [{"table": "market-returns"}],
    "workers": [{"path": "workers.csv", "min_answers": 3}],
    "clicks": [{"path": "clicks.csv"}],
    "matrix": [{"scores": "table.csv"}, {"scores": [[1.0, 2.0], [3.0, 5.0]], "paired": False}],
    "reservoir-table": [{"path": "rows.csv", "beta": 1 / 3, "coupling": 0.25}],
}  # fmt: skip
CASES = [(name, given) for name in problems.REGISTRY for given in ARGUMENTS.get(name, [{}])]
ALGORITHM = jb.UGapEc(epsilon=0.1, delta=0.1)


@pytest.fixture(autouse=True)
def _files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")


def table_of(problem):
    """The [problem] table as text keeps it."""
    return json.loads(json.dumps(describe(accept(ALGORITHM), problem, {})["problem"]))


def assert_same(one, other):
    assert jax.tree.structure(one) == jax.tree.structure(other)  # the name and all choices are part of it
    for leaf, again in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        assert np.asarray(leaf).dtype == np.asarray(again).dtype
        np.testing.assert_array_equal(leaf, again)


def assert_repeatable(problem):
    table = table_of(problem)
    assert "cannot_be_repeated" not in table
    again = build_problem(table)
    assert_same(problem, again)
    assert table_of(again) == table


@pytest.mark.parametrize(("name", "given"), CASES, ids=lambda value: value if isinstance(value, str) else "")
def test_every_problem_is_made_again(name, given):
    problem = problems.REGISTRY[name](**given)
    assert_repeatable(problem)
    assert_repeatable(dataclasses.replace(problem, name="clicks: home page"))
    if problem.arms:
        assert_repeatable(problem.padded(problem.arms // problem.bandits + 3))
    takes_costs = problem.arms and not problem.finite and not problem.drawn  # a reservoir draws its costs itself
    if takes_costs:
        assert_repeatable(jb.with_costs(problem, "reward"))
    if takes_costs and problem.bandits == 1:
        prices = np.linspace(0.1, 1 / 3, problem.arms)
        assert_repeatable(jb.with_costs(problem, prices, random=True))
        assert_repeatable(jb.with_costs(problem, 1 / 3).padded(problem.arms + 1))


def test_every_constructor_is_among_the_cases():
    assert ARGUMENTS.keys() <= problems.REGISTRY.keys() == {name for name, _ in CASES}


@pytest.mark.parametrize(
    "make",
    [
        lambda: jb.bernoulli(jb.axis([[0.1, 0.2], [0.3, 0.4, 0.5]]), name="clicks: home page"),
        lambda: jb.two_group(n=jb.axis([10, 20]), k=3),
        lambda: jb.with_costs(jb.linear(n=jb.axis([4, 5], name="arms_given")), 0.5, random=True),
        lambda: jb.click_rates(jb.axis(["clicks.csv", "./clicks.csv"])),
        lambda: jb.reservoir_from_csv("rows.csv", arms=jb.axis([3, 4])),
        lambda: jb.empirical_from_csv("table.csv", joint=jb.axis([True, False])),
    ],
)
def test_families_are_made_again(make):
    family = make()
    table = table_of(family)
    assert "cannot_be_repeated" not in table
    again = build_problem(table)
    assert (again.make, again.costs, again.name) == (family.make, family.costs, family.name)
    assert table_of(again) == table
    shown = {name: value for name, value in family.arguments.items() if isinstance(value, jb.axes.Axis)}
    assert {name: again.arguments[name] for name in shown} == shown


PARAMETERS = {
    "budget": 1000, "epsilon": np.float32(0.2), "delta": 1 / 30, "k": 2, "m": np.int64(2), "a": 0.5, "p": 1.5,
    "estimator": "mom", "variance": True, "b": 2, "beta": 1 / 3,
}  # fmt: skip


@pytest.mark.parametrize("name", algorithms.REGISTRY)
def test_every_algorithm_is_made_again(name):
    cls = algorithms.REGISTRY[name]
    fields = {field.name: field for field in dataclasses.fields(cls)}
    given = {key: 0.5 for key, field in fields.items() if field.default is dataclasses.MISSING}
    given |= {key: value for key, value in PARAMETERS.items() if key in fields}
    axis = next(key for key in ("delta", "budget") if key in fields)
    for changes in ({}, {axis: jb.axis([0.25, 1 / 3] if axis == "delta" else [500, 1000], name="level")}):
        algorithm = cls(**{**given, **changes})
        table = json.loads(json.dumps(describe(accept(algorithm), jb.abm(1), {})["algorithm"]))
        again = build_algorithm(table)
        assert again == algorithm
        assert type(again) is cls
        assert json.loads(json.dumps(describe(accept(again), jb.abm(1), {})["algorithm"])) == table


@pytest.mark.parametrize("cls", [jb.SHVar, jb.BayesElim, jb.BetaTopTwo], ids=lambda cls: cls.__name__)
def test_algorithms_with_values_of_each_arm_are_made_again(cls):
    """They were refused: by sessions that were saved, by `jb.repeat` and by TOML files."""
    fields = [field.name for field in dataclasses.fields(cls) if field.metadata["per_arm"]]
    made = cls(budget=50, **{name: [0.25, 0.5] for name in fields})
    again = build_algorithm(json.loads(json.dumps(describe_algorithm(made))))
    assert fields
    assert describe_algorithm(again) == describe_algorithm(made)
    for name in fields:
        np.testing.assert_array_equal(getattr(again, name), [0.25, 0.5])


def test_arguments_are_kept_as_they_were_when_the_problem_was_made():
    means = np.asarray([0.7, 0.5])
    problem = jb.bernoulli(means)
    means[0] = 0.1
    assert table_of(problem)["means"] == [0.7, 0.5]


def test_what_was_changed_since_is_described_as_it_is():
    problem = jb.abm(1)
    changed = dataclasses.replace(problem, probability=problem.probability.at[1].set(0.45))
    assert table_of(changed)["name"] == "bernoulli"
    assert table_of(changed)["means"][:3] == [0.5, 0.45, 0.4]
    mapped = jax.tree.map(lambda leaf: leaf / 2, jb.with_costs(jb.bernoulli([0.75, 0.5], name="mine"), [1.0, 2.0]))
    assert mapped.recipe is None
    table = table_of(mapped)
    assert (table["means"], table["costs"], table["label"]) == ([0.375, 0.25], [0.5, 1.0], "mine")
    assert_same(build_problem(table), mapped)
    for other in (jb.reservoir().sized(9), jb.empirical([[1, 2], [3, 4.5]], joint=True).kind()):
        assert "recipe" not in repr(other)
    sized = table_of(jb.reservoir().sized(9))
    assert "changed after it was made" in sized["cannot_be_repeated"]
    with pytest.raises(jb.UsageError, match=r"cannot be made again: it was changed after it was made"):
        build_problem(sized)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda problem: pickle.loads(pickle.dumps(problem))])
def test_copies_remember(copied):
    problem = jb.with_costs(jb.two_group(20, 3), 0.5)
    assert table_of(copied(problem)) == table_of(problem)


def test_recipes_are_no_part_of_a_program():
    one, other = jb.abm(1), jb.bernoulli(np.asarray([0.5] + [0.4] * 19), name="abm:1")
    assert one.recipe != other.recipe
    assert jax.tree.structure(one) == jax.tree.structure(other)
    assert jax.jit(lambda problem: problem)(one).recipe is None


def test_large_data_are_kept_by_their_hash():
    table = np.random.default_rng(0).normal(size=(5001, 2))
    found = table_of(jb.empirical(table, name="mine"))
    assert found["samples"].keys() == {"sha256", "shape"}
    assert len(json.dumps(found)) < 500
    assert "its samples, 5,001 x 2 numbers, are too many to keep" in found["cannot_be_repeated"]
    with pytest.raises(jb.UsageError, match=r"the problem mine cannot be made again: its samples, 5,001 x 2") as error:
        build_problem(found)
    assert "\n" not in str(error.value)
    assert table_of(jb.empirical(table.copy(), name="mine")) == found
    table[0, 0] += 1
    assert table_of(jb.empirical(table, name="mine")) != found
    assert_repeatable(jb.empirical(table[:5000]))


def test_a_file_that_changed_or_went_is_named(tmp_path):
    table = table_of(jb.empirical_from_csv("table.csv"))
    (tmp_path / "table.csv").write_text(FILES["table.csv"].replace("3", "2"), encoding="utf-8")
    with pytest.raises(
        jb.UsageError, match=r"^table\.csv: the file no longer holds what the specification was"
    ) as error:
        build_problem(table)
    assert "\n" not in str(error.value)
    family = table_of(jb.reservoir_from_csv("rows.csv", arms=jb.axis([3, 4])))
    (tmp_path / "rows.csv").write_text(FILES["rows.csv"] + "0.1,0.1\n", encoding="utf-8")
    with pytest.raises(jb.UsageError, match="the file no longer holds"):
        build_problem(family)
    (tmp_path / "table.csv").unlink()
    with pytest.raises(jb.UsageError, match=r"^cannot read table\.csv: No such file or directory$"):
        build_problem(table)
    with pytest.raises(jb.UsageError, match="reads no file"):
        build_problem({"name": "abm", "number": 1, "sha256": "0"})


def test_a_file_is_read_once(tmp_path):
    """What is run is what was hashed: a family reads its file when it is made, not when its cells are."""
    family = jb.reservoir_from_csv("rows.csv", arms=jb.axis([3, 4]))
    before = table_of(family)["sha256"]
    (tmp_path / "rows.csv").unlink()
    problem = family.make(**{**family.arguments, "arms": 3})
    assert np.asarray(problem.gains).tolist() == [0.5, 0.25]
    assert table_of(problem)["sha256"] == before


@jb.algorithm
class LUCB:
    """A user's own, called like one of the package's."""

    epsilon: Any = 0.1
    delta: Any = 0.1

    def select(self, arms, key):
        return jnp.argmin(arms.pulls)

    def done(self, arms):
        return arms.time > self.epsilon

    def recommend(self, arms):
        return jnp.argmax(arms.mean)


class Own(problems.Bernoulli):
    """A user's own family."""


def test_a_users_own_are_not_taken_for_the_packages():
    table = describe(accept(LUCB(epsilon=jb.axis([0.1, 0.2]))), jb.abm(1), {})["algorithm"]
    assert table["epsilon"] == {"axis": [0.1, 0.2]}
    assert table["cannot_be_repeated"] == "it is not one of the package's algorithms"
    with pytest.raises(jb.UsageError, match="the algorithm LUCB cannot be made again: it is not one of the package's"):
        build_algorithm(table)
    own = problems.base.register_problem(dataclasses.dataclass(frozen=True)(Own))
    tables = [table_of(own(jnp.asarray(means), name="mine")) for means in ([0.5, 0.4], [0.5, 0.4], [0.5, 0.3])]
    assert tables[0] == tables[1] != tables[2]
    with pytest.raises(jb.UsageError, match="the problem mine cannot be made again: it is not one of the package's"):
        build_problem(tables[0])


def test_a_users_own_family_is_described_with_its_kind_of_costs():
    """Prices are in the hash of the leaves; that a pull costs its reward, or a price is paid at random, is not."""

    @problems.base.register_problem
    @dataclasses.dataclass(frozen=True)
    class Priced(problems.Bernoulli):
        """A family of the user's own."""

    own = Priced(jnp.asarray([0.5, 0.4]), name="mine")
    priced = [own, jb.with_costs(own, "reward"), jb.with_costs(own, 0.5), jb.with_costs(own, 0.5, random=True)]
    tables = [table_of(problem) for problem in priced]
    assert all(tables[i] != tables[j] for i in range(4) for j in range(i))
    assert difference(tables[0], tables[1]) == 'costs is not given there and "reward" here'
    assert difference(tables[2], tables[3]) == "random_costs is not given there and true here"


def test_a_reservoir_that_was_changed_is_described_with_its_static_fields():
    """They are not in the hash of the leaves: runs with other prices were merged as the same."""
    changed = [dataclasses.replace(jb.reservoir(), prices=prices) for prices in ("unit", "log-normal")]
    tables = [table_of(problem) for problem in changed]
    assert difference(*tables) == 'prices is "unit" there and "log-normal" here'
    assert tables[0]["cannot_be_repeated"] == "it was changed after it was made, or made by hand"


def test_tables_of_a_file():
    assert build_problem({"spec": "abm:1", "label": "mine", "padded": 24}).name == "mine"
    assert build_problem({"name": "csv", "path": "table.csv", "joint": True}).joint
    assert parse_problem("csv:path=table.csv,joint=true").joint
    assert parse_problem("data:market-returns,joint=true").joint
    assert not parse_problem("csv:table.csv").joint
    assert np.asarray(parse_problem("empirical:1,2/3,5/4,4").table).tolist() == [[1, 3, 4], [2, 5, 4]]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"name": "abm", "number": 1, "padded": 3}, "padded must be a whole number, at least 20, the number of arms"),
        ({"name": "two-group", "n": {"axis": [3, 4]}, "label": "x"}, "has axes, so it must not have label"),
        ({"name": "two-group", "n": {"axis": [3, 4]}, "padded": 8}, "has axes, so it must not have padded"),
        ({"name": "csv", "path": "table.csv", "joint": 1}, "joint is true or false, got 1"),
        ({"spec": "csv:path=table.csv,joint=yes"}, "joint is true or false, got 'yes'"),
        ({"name": "csv", "path": 3}, "a file's path is needed, got 3"),
        ({"name": "data", "table": "market-return"}, "did you mean 'market-returns'"),
        ({"spec": "abm:1", "random_costs": True}, "random_costs needs costs"),
    ],
)  # fmt: skip
def test_tables_that_are_refused(table, message):
    with pytest.raises(jb.UsageError, match=message) as error:
        build_problem(table)
    assert "\n" not in str(error.value)


def test_the_first_difference_is_named():
    first, second = ({"problem": {"sha256": digit * 64}} for digit in "ab")
    assert difference(first, first) == ""
    assert difference(first, second).endswith("here, the data have changed")
    assert build({"algorithm": {"name": "lucb", "epsilon": 1, "delta": 0.1}, "problem": {"spec": "abm:1"}})[2] == {}
