"""`compare` for answers of any number of arms: which rules answer, how answers are judged, which bounds are shown."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr

import jaxbandits as jb
from jaxbandits import theory
from jaxbandits.algorithms import REGISTRY
from jaxbandits.cli import main
from jaxbandits.comparison import candidates
from jaxbandits.comparison.guarantees import value
from jaxbandits.comparison.questions import question_of
from jaxbandits.comparison.row_limits import RowLimits
from jaxbandits.comparison.theory_overlay import QUANTITIES
from tests.few_rules import FEW

PROBLEM = jb.bernoulli([0.9, 0.8, 0.4, 0.3])


@pytest.mark.parametrize(
    ("asked", "given", "labels"),
    [
        ({"threshold": 0.6}, {"delta": 0.1}, {"hdoc", "lucb-g", "apt-g"}),
        ({"threshold": 0.6, "epsilon": 0.1}, {"budget": 90}, {"apt", "lsa"}),
        ({"one_above": 0.6}, {"delta": 0.1}, {"apgai-c", "hdoc-first"}),
        ({"one_above": 0.6}, {"budget": 90}, {"apgai-b"}),
        ({"all_within": 0.2}, {"delta": 0.1}, {"st2"}),
        ({"all_within": 0.2, "multiplicative": True}, {"delta": 0.1}, {"st2"}),
    ],
)
def test_candidates_answer_the_question(asked, given, labels):
    question = question_of(**asked)
    found, left_out = candidates.find_candidates(PROBLEM, RowLimits(PROBLEM, 10, None), question, **given)
    assert labels <= set(found)
    assert not left_out
    for algorithm in found.values():
        assert algorithm.traits.criterion in question.criteria
        assert {name: getattr(algorithm, name, value) for name, value in question.settings.items()} == question.settings


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        ({"threshold": 0.6}, ("hdoc", "apt")),
        pytest.param({"one_above": 0.85}, ("hdoc", "hdoc-first", "apgai-c", "apgai-b"), marks=pytest.mark.slow),
        pytest.param({"one_above": 0.95}, ("hdoc-first", "apgai-b"), marks=pytest.mark.slow),
        pytest.param({"all_within": 0.2, "epsilon": 0.1}, ("st2", "apt"), marks=pytest.mark.slow),
    ],
)
def test_rows_are_judged_by_the_question(asked, names, monkeypatch, capsys):
    monkeypatch.setattr(candidates, "REGISTRY", {name: REGISTRY[name] for name in names})
    found = jb.compare(PROBLEM, delta=0.3, seeds=40, max_pulls=150, **asked)  # truncated: some answers are wrong
    for row in [*found.fixed_confidence, *found.fixed_budget]:
        alone = jb.simulate(row.algorithm, PROBLEM, 40, max_pulls=150)
        np.testing.assert_array_equal(row.wrong, ~alone.correct)
    (name, level), *_ = asked.items()
    spend = {"threshold": ["apt"], "one_above": ["apgai-b"], "all_within": []}
    aim = {"threshold": "all arms with a", "one_above": "one arm with a", "all_within": "all arms within"}
    assert [row.label for row in found.fixed_budget] == spend[name]
    assert found.as_dict()[name] == level
    assert f"find {aim[name]} " in str(found)
    options = [part for name, value in asked.items() for part in (f"--{name.replace('_', '-')}", str(value))]
    command = [
        "compare",
        "--means",
        "0.9,0.8,0.4,0.3",
        "--delta",
        "0.3",
        "--seeds",
        "40",
        "--max-pulls",
        "150",
        "--json",
    ]
    assert main([*command, "--no-progress", *options]) == 0
    assert json.loads(capsys.readouterr().out)["fixed_confidence"] == found.as_dict()["fixed_confidence"]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"threshold": 0.5, "all_within": 0.1}, "give one of threshold"),
        ({"threshold": 0.5, "one_above": 0.1}, "give one of threshold"),
        ({"one_above": 0.5, "m": 2}, "leave out m"),
        ({"one_above": 0.5, "epsilon": 0.1}, "leave out epsilon, got epsilon=0.1"),
        ({"one_above": float("inf")}, "one_above must be finite"),
        ({"one_above": 0.9}, "the largest mean lies on the line 0.9"),
        ({"multiplicative": True}, "give all_within, too"),
        ({"threshold": 0.5, "m": 2}, "leave out m"),
        ({"threshold": float("nan")}, "threshold must be finite"),
        ({"threshold": 0.4}, "a mean lies on the line 0.4"),
        ({"all_within": -0.1}, "all_within must be"),
        ({"all_within": 0.1}, "a mean lies on the line 0.8"),
        ({"all_within": 1.0, "multiplicative": True}, "must be below 1"),
        ({"all_within": 0.2, "epsilon": -1.0}, "epsilon must be"),
        ({"epsilon": "0.1"}, "epsilon must be a number, got '0.1'"),
        ({"epsilon": None}, "epsilon must be a number, got None"),
        ({"threshold": [0.5, 0.6]}, "threshold must be a number"),
        ({"max_pulls": 3}, "max_pulls must be a whole number, at least 4, the number of arms, got 3"),
        ({"max_pulls": "9"}, "max_pulls must be a whole number"),
    ],
)
def test_what_has_no_answer_is_one_line(asked, message):
    with pytest.raises(jb.UsageError, match=message):
        jb.compare(PROBLEM, delta=0.1, **asked)


def test_a_comparison_is_of_one_problem():
    with pytest.raises(jb.UsageError, match=r"a problem is needed, such as .* got \['bernoulli:0.9,0.5'\]"):
        jb.compare(["bernoulli:0.9,0.5"], delta=0.1)


@pytest.mark.slow
def test_a_delta_that_no_algorithm_is_suitable_for_is_said(monkeypatch):
    """A table without rows stood there, and the advice was silent."""
    monkeypatch.setattr(candidates, "REGISTRY", FEW)
    found = jb.compare(jb.pareto([2.0, 1.0, 1.5], 1.8), delta=0.1, budget=30, seeds=20)
    assert found.fixed_budget
    assert not found.fixed_confidence
    assert found.advice().startswith("No fixed-confidence algorithm is suitable for pareto (3 arms) and this question.")
    assert "mean pulls" not in str(found)
    assert "Left out: ugape-c" in str(found)


def test_a_budget_that_no_algorithm_is_suitable_for_is_said(monkeypatch):
    """All rules for all arms near the best need a delta: a budget beside it was ignored without a word."""
    monkeypatch.setattr(candidates, "REGISTRY", {"ugape-c": FEW["ugape-c"]})
    problem = jb.bernoulli([0.9, 0.1])
    words = "No fixed-budget algorithm is suitable for bernoulli (2 arms) and this question."
    assert words in jb.compare(problem, delta=0.1, budget=30, seeds=5).advice()
    assert "fixed-budget" not in jb.compare(problem, delta=0.1, seeds=5).advice()


def test_what_the_bound_holds_for_is_said():
    """Of several good arms any one is right."""
    for line, several in ((0.6, True), (0.85, False), (0.95, False)):
        question = question_of(one_above=line)
        assert question.is_asymptotic(PROBLEM) == several
        question.check(jb.bernoulli([0.9, line]), 0.1) if line < 0.9 else None  # an arm on the line, and a better one
        right = [[0, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0]]
        judged = question.right(PROBLEM, xr.DataArray(np.asarray(right, bool), dims=("seed", "arm")))
        assert judged.tolist() == [line > 0.9, line < 0.9, line < 0.8, False, False]


@pytest.mark.slow
def test_the_bound_of_several_arms_names_its_criterion(monkeypatch):
    """With m = 2 and these ten normal means a rule may need less: T* is 73.5, and 71.0 by the criterion of the rows.

    An answer is then wrong only if two other arms are better than one of its own by epsilon. Here the nearest instance
    raises a worse arm, and the other one of the answer too.
    """
    monkeypatch.setattr(candidates, "REGISTRY", {"ugape-c": REGISTRY["ugape-c"]})
    means, epsilon = np.asarray([0.5, 0.5] + [0.1] * 8), 0.3
    time, _ = theory.characteristic_time(means, 2, epsilon, "gaussian")
    x = np.linspace(-1.0, 0.5, 20_001)

    def least(weight: float, raised: tuple[int, ...]) -> float:
        """Return the least cost at these proportions of an arm lowered to x, and others raised to x + epsilon."""
        weights = np.asarray([weight] * 2 + [(1 - 2 * weight) / 8] * 8)
        up = [weights[arm] * np.maximum(x + epsilon - means[arm], 0) ** 2 for arm in raised]
        return float((weights[0] * (means[0] - x) ** 2 + sum(up)).min() / 2)

    weights = np.linspace(0.1, 0.3, 201)
    assert time == pytest.approx(1 / max(least(one, (2,)) for one in weights), rel=1e-4)
    assert max(min(least(one, (1, 2)), least(one, (2, 3))) for one in weights) > 1.03 / time
    found = jb.compare(jb.gaussian([0.9, 0.5, 0.1]), delta=0.3, epsilon=0.1, m=2, seeds=2, max_pulls=20)
    whose = "none whose 2 arms must be at most epsilon below the best one left out"
    assert f"{whose} needs fewer on average as delta tends to 0" in " ".join(str(found).split())


@pytest.mark.parametrize(
    ("algorithm", "name", "expected"),
    [
        (jb.HDoC(delta=0.3, threshold=0.6), "lower_bound", lambda mu: theory.threshold_pulls_lower_bound(mu, 0.3, 0.6)),
        (jb.ST2(epsilon=0.2, delta=0.3), "lower_bound", lambda mu: theory.all_good_pulls_lower_bound(mu, 0.3, 0.2)),
        (jb.ST2(epsilon=0.2, delta=0.3), "h_all_good", lambda mu: theory.h_all_good(mu, 0.2)),
        (jb.ST2(epsilon=0.2, delta=0.3, gamma=0.1), "lower_bound", None),
        (jb.ST2(epsilon=0.2, delta=0.3), "h_epsilon", None),
        (
            jb.APGAIc(delta=0.3, threshold=0.6),
            "lower_bound",
            lambda mu: theory.one_above_pulls_lower_bound(mu, 0.3, 0.6),
        ),
        (jb.LUCB(epsilon=0.2, delta=0.3), "h_all_good", None),
        (jb.AdaptiveTopK(k=2, epsilon=0.2, delta=0.3), "lower_bound", None),
        (jb.CLUCB(k=2, epsilon=0.2, delta=0.3), "h_epsilon", None),
        (jb.ThresholdGame(level=0.6, delta=0.3), "lower_bound", None),
        (jb.ThresholdGame(level=0.6, delta=0.3), "h_epsilon", None),
        (jb.RCB(budget=50), "h_epsilon", None),
    ],
)
def test_theory_beside_runs_is_of_their_question(algorithm, name, expected):
    found = value(QUANTITIES[name].of(SimpleNamespace(algorithm=algorithm, problem=PROBLEM)))
    assert found == (None if expected is None else pytest.approx(float(expected(np.asarray(PROBLEM.mean))), rel=1e-5))


@pytest.mark.slow
def test_rules_that_know_features_have_no_lower_bound_of_rules_that_do_not():
    """LinGame stops before it."""
    angles = np.linspace(0, np.pi, 16)
    features = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    problem = jb.gaussian(features @ [1.0, -0.3])
    ds = jb.sweep(jb.LinGame(delta=0.05, features=features), problem, 20, max_pulls=10_000)
    assert ds["pulls"].max() < theory.pulls_lower_bound(np.asarray(problem.mean), 0.05, family="gaussian")
    with pytest.raises(jb.UsageError, match="there is no lower_bound of LinGame"):
        jb.with_theory(ds, "lower_bound")
