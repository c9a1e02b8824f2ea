"""`compare`: which algorithms are suitable, that the numbers are those of single simulations, and honest advice."""

import dataclasses
import itertools
import json
import re
from typing import Any

import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits import theory
from jaxbandits.algorithms import REGISTRY
from jaxbandits.algorithms.traits import ANY
from jaxbandits.cli import main, run_commands
from jaxbandits.comparison import candidates as module
from jaxbandits.comparison import row_limits
from jaxbandits.comparison import run_rows as comparing
from jaxbandits.comparison.compared_rows import Row
from jaxbandits.comparison.questions import question_of
from jaxbandits.comparison.result import Comparison
from jaxbandits.comparison.run_rows import compare
from jaxbandits.engine import lanes

MEANS = [0.7, 0.5, 0.4]
#: The algorithms of which it is said here when they are candidates.
STOPPERS = (
    "ugape-c", "lucb", "kl-lucb", "lucb-pp", "lil-ucb", "successive-elimination", "mab-ppr", "median-elimination",
    "exp-gap-elimination", "union-bound", "hoeffding-race", "bernstein-race", "kl-race", "uniform-glr",
    "best-challenger", "track-and-stop", "ttts", "t3c", "eb-tc", "eb-tci", "ttucb",
)  # fmt: skip
SPENDERS = (
    "uniform", "ugape-b", "gap-e", "ucb-e", "successive-rejects", "sequential-halving", "sar",
)  # fmt: skip
#: For arms within an epsilon above 0 only.
INEXACT = ["mab-ppr", "median-elimination", "union-bound"]


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer algorithms, because each is a compilation."""
    monkeypatch.setattr(module, "REGISTRY", {name: REGISTRY[name] for name in ("ugape-c", "uniform", "ucb-e")})
    for cls in (jb.UGapEc, jb.UCBE):
        monkeypatch.setattr(cls, "traits", dataclasses.replace(cls.traits, variants=({},)))


def _labels(problem: jb.Problem, **known: float) -> tuple[list[str], str]:
    given = {name: known.pop(name) for name in ("delta", "budget") if name in known}
    limits, question = row_limits.RowLimits(problem, 1000, None), question_of(**known)
    found, left_out = module.find_candidates(problem, limits, question, **given)
    return list(found), "; ".join(left_out)


@pytest.fixture
def one_lucb(monkeypatch: pytest.MonkeyPatch) -> None:
    """One row of LUCB."""
    monkeypatch.setattr(jb.LUCB, "traits", dataclasses.replace(jb.LUCB.traits, variants=({},)))


@pytest.fixture
def named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The algorithms that tests of the list name: one that is added is a candidate where it suits, in its place."""
    monkeypatch.setattr(module, "REGISTRY", {name: REGISTRY[name] for name in (*STOPPERS, *SPENDERS)})


def test_answers_of_any_number_of_arms_are_not_compared():
    for known in ({"delta": 0.1}, {"budget": 100}):
        found, _ = _labels(jb.bernoulli(MEANS), epsilon=0.1, m=1, **known)
        assert found
        assert not [label for label in found if REGISTRY[label.split()[0]].traits.answers == ANY]


@pytest.mark.usefixtures("named")
def test_suitable_algorithms():
    one = jb.bernoulli(MEANS)
    several = ["ugape-c", "ugape-c variance", "ugape-c empirical-bernstein"]
    several += ["lucb", "lucb empirical-bernstein", "lucb betting", "kl-lucb", "kl-lucb heuristic", "lucb-pp"]
    stoppers = [*several, "lil-ucb", "lil-ucb heuristic", "successive-elimination"]
    races = ["hoeffding-race", "bernstein-race", "kl-race"]
    tests = ["uniform-glr", "best-challenger", "track-and-stop", "track-and-stop heuristic"]
    tests += ["ttts", "t3c", "eb-tc", "eb-tci", "ttucb"]
    found, left_out = _labels(one, delta=0.1, epsilon=0.0, m=1)
    assert found == [*stoppers, "exp-gap-elimination", *races, *tests]
    assert [reason.split(" (")[0] for reason in left_out.split("; ")] == [*INEXACT]
    assert left_out.count("got 0.0)") == len(INEXACT)
    found, left_out = _labels(one, delta=0.1, epsilon=0.1, m=1)
    assert found == [*stoppers, "mab-ppr", "median-elimination", "exp-gap-elimination", "union-bound", *races, *tests]
    assert left_out == ""
    assert _labels(one, delta=0.1, epsilon=0.0, m=2)[0] == [*several, *races, "uniform-glr", "eb-tci"]
    spenders = ["uniform", "ugape-b", "ugape-b last", "ugape-b adaptive", "gap-e adaptive", "ucb-e"]
    spenders += ["successive-rejects", "sequential-halving", "sar"]
    assert _labels(one, budget=100, epsilon=0.0, m=1) == (spenders, "")


@pytest.mark.usefixtures("named")
def test_unsuitable_algorithms_are_left_out_with_a_reason():
    one_arm = _labels(jb.bernoulli(MEANS), budget=100, epsilon=0.0, m=2)
    assert one_arm[0] == ["uniform", "ugape-b", "ugape-b last", "ugape-b adaptive", "sar"]
    assert one_arm[1] == "; ".join(
        f"{name} (returns one arm)" for name in ("gap-e adaptive", "ucb-e", "successive-rejects", "sequential-halving")
    )
    tied, reason = _labels(jb.bernoulli([0.7, 0.7, 0.1]), budget=100, epsilon=0.1, m=1)
    assert "ucb-e" not in tied
    assert "the best arms tie" in reason
    assert "have no largest value" in _labels(jb.gaussian(MEANS), delta=0.1, epsilon=0.0, m=1)[1]
    assert "bounded rewards" in _labels(jb.gaussian(MEANS), delta=0.1, epsilon=0.0, m=1)[1]
    assert "one bandit" in _labels(jb.gabillon(1), delta=0.1, epsilon=0.0, m=1)[1]


@pytest.mark.parametrize(
    ("problem", "label"),
    [
        (jb.student_t([2.0, 1.0, 0.5], 1.5), "successive-elimination p=1.425"),
        (jb.pareto([2.0, 1.0], [1.8, 3.0]), "successive-elimination p=1.68"),
        (jb.student_t([2.0, 1.0, 0.5], 3.0), "successive-elimination"),
    ],
)
def test_elimination_takes_a_moment_that_is_finite(problem, label):
    """With p = 2 it was left out where variances are infinite, and no rule with a delta was in the table."""
    found, left_out = _labels(problem, delta=0.1, epsilon=0.0, m=1)
    assert label in found
    assert "successive-elimination (" not in left_out
    assert "lucb (LUCB needs rewards in an interval, or sub-Gaussian" in left_out


def test_a_rule_that_is_left_out_warns_of_nothing():
    """Warnings are errors here; of a run without features LinGapE warns that the means are too large for its norm."""
    found, left_out = _labels(jb.gaussian([30.5, 30.0, 26.0]), delta=0.1, epsilon=0.0, m=1)
    assert "lin-gap-e" not in found
    assert "lin-gap-e (needs features of the arms)" in left_out


@pytest.mark.slow
def test_a_table_has_rewards_in_an_interval():
    for joint in (False, True):
        table = jb.empirical(np.asarray([[0.2, 0.9, 0.5], [0.1, 0.3, -0.4]]), joint=joint)
        found, left_out = _labels(table, delta=0.1, epsilon=0.0, m=1)
        assert "ugape-c variance" in found
        assert "bounded rewards" not in left_out


def test_an_algorithm_that_needs_more_is_left_out(monkeypatch):
    @dataclasses.dataclass(frozen=True)
    class Needy(REGISTRY["uniform"]):
        secret: float = dataclasses.field(kw_only=True)

    monkeypatch.setattr(module, "REGISTRY", {"needy": Needy})
    assert _labels(jb.bernoulli(MEANS), budget=100, epsilon=0.0, m=1) == ([], "needy (needs secret)")


@pytest.mark.usefixtures("few")
def test_rows_are_the_runs_of_single_simulations():
    problem = jb.bernoulli(MEANS)
    progress = []
    found = compare(
        problem,
        delta=0.1,
        epsilon=0.1,
        budget=60,
        seeds=200,
        on_progress=lambda p, runs: progress.append((p.runs, runs)),
    )
    (row,) = found.fixed_confidence
    single = jb.simulate(jb.UGapEc(epsilon=0.1, delta=0.1), problem, seeds=200)
    np.testing.assert_array_equal(row.pulls, single["pulls"])
    np.testing.assert_array_equal(row.wrong, ~single["correct"].to_numpy())
    assert row.bound == pytest.approx(float(theory.ugape_c_pulls_bound(np.asarray(MEANS), 0.1, 0.1)), rel=1e-5)
    assert found.lower_bound == pytest.approx(float(theory.pulls_lower_bound(np.asarray(MEANS), 0.1, 1, 0.1)), rel=1e-4)
    budgets = {row.label: row for row in found.fixed_budget}
    assert set(budgets) == {"uniform", "ucb-e"}
    assert budgets["ucb-e"].oracle
    assert not budgets["uniform"].oracle
    assert budgets["uniform"].bound is None
    spent = jb.simulate(jb.Uniform(budget=60), problem, seeds=200)
    # Uniform has no epsilon of its own; here all rows are judged with the question's.
    np.testing.assert_array_equal(budgets["uniform"].wrong, spent["simple_regret"].to_numpy() > 0.1 + 1e-6)
    assert found.budget == 60
    assert progress[-1] == (600, 600)
    assert [runs for runs, _ in progress] == sorted(runs for runs, _ in progress)


@pytest.mark.usefixtures("few")
def test_the_command_prints_both_tables_and_ends_with_advice(capsys):
    command = ["compare", "--means", "0.7,0.5,0.4", "--delta", "0.1", "--epsilon", "0.1", "--seeds", "200"]
    assert main(command) == 0
    captured = capsys.readouterr()
    lines = captured.out.splitlines()
    mean = jb.simulate(jb.UGapEc(epsilon=0.1, delta=0.1), jb.bernoulli(MEANS), seeds=200)["pulls"].mean().item()
    assert any(line.startswith(f"Fixed budget, {int(np.ceil(mean)):,} pulls, what ugape-c took") for line in lines)
    assert any(line.startswith("ugape-c ") and "UGapE, Theorem 2" in line for line in lines)
    assert any(line.startswith("ucb-e ") and "oracle" in line for line in lines)
    assert any(line.startswith("Lower bound: ") and "delta tends to 0" in line for line in lines)
    advice = captured.out.partition("\n\n")[0]
    assert advice.startswith("To stop when sure, use ugape-c: ")
    assert "ucb-e uses the true gaps" in " ".join(advice.split())
    # Each row was told of as it was finished, in the order of the runs.
    assert [line.split()[0] for line in captured.err.splitlines()] == ["ugape-c", "uniform", "ucb-e"]
    assert main([*command, "--no-progress"]) == 0
    assert capsys.readouterr() == (captured.out, "")


@pytest.mark.usefixtures("few")
def test_a_long_comparison_reports_its_advice_so_far_once(capsys, monkeypatch):
    monkeypatch.setattr(run_commands, "_PRELIMINARY_SECONDS", -1)
    command = ["compare", "--means", "0.7,0.5,0.4", "--delta", "0.1", "--epsilon", "0.1", "--seeds", "200"]
    assert main(command) == 0
    captured = capsys.readouterr()
    assert captured.err.count("PRELIMINARY: 2 of 3 algorithms were not run") == 1 == captured.err.count("PRELIMINARY")
    assert "PRELIMINARY" not in captured.out


def test_rules_that_one_reason_leaves_out_are_in_one_sentence(monkeypatch):
    monkeypatch.setattr(module, "REGISTRY", {name: REGISTRY[name] for name in ("uniform", "lucb", "lucb-pp", "ucb-e")})
    found = jb.compare(jb.student_t([2.0, 1.0, 0.5], 1.5), delta=0.1, budget=30, seeds=5)
    said = " ".join(str(found).split())
    assert "Left out: lucb, lucb empirical-bernstein, lucb betting, lucb-pp, ucb-e (each needs rewards in an" in said
    assert said.count("heavier tails") == 1


@pytest.mark.usefixtures("few")
def test_prose_fits_the_terminal(capsys, monkeypatch):
    command = ["compare", "--means", "0.7,0.5,0.4", "--delta", "0.1", "--epsilon", "0.1", "--seeds", "200"]
    found = {}
    for columns in (50, 200):
        monkeypatch.setenv("COLUMNS", str(columns))
        assert main(command) == 0
        found[columns] = capsys.readouterr().out.partition("\n\n")[0]
        assert max(map(len, found[columns].splitlines())) <= columns
    assert found[50].split() == found[200].split()
    assert len(found[50].splitlines()) > 2 * len(found[200].splitlines())


@pytest.mark.slow
@pytest.mark.usefixtures("one_lucb")
def test_nothing_is_both_left_out_and_in_a_table(monkeypatch):
    """Sequential halving needs six pulls of three arms: whether it is suitable hangs on the budget that is found."""
    monkeypatch.setattr(module, "REGISTRY", {name: REGISTRY[name] for name in ("lucb", "sequential-halving")})
    for budget, there in ((None, True), (5, False)):
        found = compare(jb.bernoulli(MEANS), delta=0.1, epsilon=0.1, seeds=20, budget=budget)
        assert [row.label for row in found.fixed_budget] == ["sequential-halving"] * there
        assert len(found.left_out) == (not there)
        assert found.missing == []


def stop_at_row(monkeypatch, number, error):
    """Let `compare` raise an error in place of its row with a number, from 0."""
    run, rows = comparing._Runner.__call__, itertools.count()

    def stopped(runner, *arguments):
        if next(rows) == number:
            raise error
        return run(runner, *arguments)

    monkeypatch.setattr(comparing._Runner, "__call__", stopped)


@pytest.mark.usefixtures("few")
def test_the_interrupted_keep_what_is_finished(capsys, monkeypatch):
    stop_at_row(monkeypatch, 2, KeyboardInterrupt())
    command = ["compare", "--means", "0.7,0.5,0.4", "--delta", "0.1", "--epsilon", "0.1", "--seeds", "200"]
    assert main(command) == 130
    captured = capsys.readouterr()
    said = " ".join(captured.out.split())
    assert said.startswith("PRELIMINARY: 1 of 3 algorithms were not run, and one of them may do better. To stop when ")
    assert "Missing, because the comparison was interrupted: ucb-e." in captured.out
    assert "\nuniform  " in captured.out
    assert captured.err.splitlines()[-1] == "jaxbandits: interrupted, 1 rows are missing"


@pytest.mark.slow
@pytest.mark.usefixtures("one_lucb")
def test_hopeless_rows_are_stopped_by_their_work_and_say_so(capsys, monkeypatch):
    """Gaps of .002 would take 10^7 pulls and more; what sums are drawn at once of takes them."""
    monkeypatch.setattr(module, "REGISTRY", {name: REGISTRY[name] for name in ("lucb", "bernstein-race", "uniform")})
    monkeypatch.setattr(row_limits, "_WORK", 3e5)
    problem = jb.bernoulli([0.04, 0.038, 0.03])
    found = compare(problem, delta=0.1, seeds=20)
    reach = int(3e5 / (100 * (3 + 12)))
    race, lucb = found.fixed_confidence
    assert (race.label, race.stopped_early, race.limit) == ("bernstein-race", 0, None)
    assert race.mean_pulls > 100_000
    assert (lucb.label, lucb.stopped_early, lucb.limit) == ("lucb", 20, reach)
    assert reach - 2 < lucb.pulls.min() <= lucb.pulls.max() <= reach
    assert (found.budget, found.given_budget) == (reach, False)
    assert "fewest of those that ended all their runs" in (advice := found.advice())
    assert "lucb was truncated before that: whether fewer pulls would suffice is unknown" in advice
    again = compare(problem, delta=0.1, seeds=20)
    np.testing.assert_array_equal(again.fixed_confidence[1].pulls, lucb.pulls)
    assert compare(problem, delta=0.1, seeds=20, max_pulls=400).fixed_confidence[0].limit == 400


def test_what_is_within_reach(monkeypatch):
    """Four times the best, between the work of a row and five times that; else the work of a row."""
    slow = _row("slow", [9000] * 10)
    limits = row_limits.RowLimits(jb.bernoulli(MEANS), 10, None)
    monkeypatch.setattr(row_limits, "_WORK", 1000 * 100 * (len(MEANS) + 12))
    for pulls, limit, budget in ((100, 1000, 100), (400, 1600, 400), (1250, 5000, 1250), (1251, 1000, 1000)):
        known = _comparison([slow, _row("best", [pulls] * 10)], [])
        assert limits.pulls(known, jb.UGapEc(epsilon=0.1, delta=0.1)) == limit
        assert limits.budget(known) == budget
    stopped = dataclasses.replace(_row("stopped", [10] * 10), stopped_early=10)
    assert limits.pulls(_comparison([stopped], []), jb.UGapEc(epsilon=0.1, delta=0.1)) == 1000


@pytest.mark.usefixtures("one_lucb")
def test_every_kind_of_stop_counts(monkeypatch):
    """A run that ended with a status other than 0 was stopped, for whatever reason."""
    real = comparing.sweep

    def stalled(*arguments, **options):
        runs = real(*arguments, **options)
        return runs.assign(status=runs["status"] + np.asarray([2] + [0] * (runs.sizes["seed"] - 1), np.int8))

    monkeypatch.setattr(module, "REGISTRY", {"lucb": REGISTRY["lucb"]})
    monkeypatch.setattr(comparing, "sweep", stalled)
    (row,) = compare(jb.bernoulli(MEANS), delta=0.1, epsilon=0.1, seeds=20).fixed_confidence
    assert row.stopped_early == 1


@pytest.mark.usefixtures("few")
def test_stopped_runs_are_marked(capsys):
    command = ["compare", "--problem", "bernoulli:0.7,0.5,0.4", "--delta", "0.1", "--seeds", "200", "--max-pulls", "90"]
    assert main(command) == 0
    out = capsys.readouterr().out
    assert ">= 90" in out
    assert "200 runs truncated" in out
    assert "at 90 pulls" in " ".join(out.split())
    assert "No fixed-confidence algorithm ended all its runs: they were truncated" in " ".join(out.split())


def test_truncated_rows_are_not_advised_for_a_budget():
    """They had not spent it, and the advice was to use any of them."""
    sure, ended = _row("sure", [100] * 20), _row("ended", [100] * 20, wrong=3)
    stopped = dataclasses.replace(_row("stopped", [40] * 20), stopped_early=20)
    assert "With 100 pulls to spend, use ended, wrong in 3 of 20 runs" in _comparison([sure], [stopped, ended]).advice()
    none = _comparison([sure], [stopped]).advice()
    assert "No fixed-budget algorithm ended all its runs: they were truncated, after 40 pulls or fewer." in none
    assert "to spend" not in none


def _row(label: str, pulls: list[int], wrong: int = 0, algorithm: Any = None) -> Row:
    mistakes = np.arange(len(pulls)) < wrong
    chosen = algorithm or jb.UGapEc(epsilon=0.1, delta=0.1)
    return Row(label, chosen, np.asarray(pulls), mistakes, stopped_early=0, limit=None, bound=None, theorem="")


def _comparison(confidence: list[Row], budget: list[Row]) -> Comparison:
    return Comparison(
        problem=jb.bernoulli(MEANS),
        delta=0.1,
        epsilon=0.1,
        m=1,
        seeds=len(confidence[0].pulls),
        max_pulls=10**9,
        fixed_confidence=confidence,
        budget=100,
        given_budget=True,
        fixed_budget=budget,
        lower_bound=None,
        left_out=[],
    )


def test_one_truncated_run_is_one_run():
    rows = [dataclasses.replace(_row(f"row {number}", [100] * 4), stopped_early=number) for number in (1, 3)]
    lines = str(_comparison(rows, [])).splitlines()
    assert any(line.endswith("1 run truncated") for line in lines)
    assert any(line.endswith("3 runs truncated") for line in lines)


def test_a_comparison_of_one_run_says_so():
    one, other = _row("one", [100]), _row("other", [120])
    text = str(_comparison([one], [one, other])).replace("\n", " ")
    assert "1 run each" in text
    assert "which 1 run cannot distinguish" in text
    assert "1 runs" not in text


def test_an_oracle_is_said_to_use_what_it_uses():
    """Gaps for the exploration of UCB-E, variances for SHVar and BayesElim."""
    rules = {"ucb-e": jb.UCBE(budget=100), "sh-var": jb.SHVar(budget=100), "bayes-elim": jb.BayesElim(budget=100)}
    oracles = [_row(label, [100] * 4, algorithm=rule) for label, rule in rules.items()]
    text = str(_comparison([_row("one", [100] * 4)], [_row("uniform", [100] * 4), *oracles]))
    noted = [line.partition("an oracle: uses ") for line in text.splitlines()]
    notes = {row.split()[0]: what for row, found, what in noted if found}
    assert notes == {"ucb-e": "the true gaps", "sh-var": "the true variances", "bayes-elim": "the true variances"}
    advice = " ".join(text.split())
    assert "ucb-e uses the true gaps, which you do not have" in advice
    assert "sh-var and bayes-elim use the true variances, which you do not have" in advice


def test_advice_names_a_winner_only_where_there_is_one():
    quick, slow = _row("quick", [90, 110] * 50), _row("slow", [190, 210] * 50)
    close = _row("close", [91, 110] * 49 + [50, 60])
    good, bad = _row("good", [100] * 100, 1), _row("bad", [100] * 100, 40)
    advice = _comparison([quick, slow], [good, bad]).advice()
    assert "use quick: 100 pulls on average, the fewest (slow needs 2 times as many)" in advice
    for pulls, words in ((1030, "3% more"), (1097, "10% more"), (1100, "1.1 times as many"), (99_600, "100 times")):
        more = _comparison([_row("first", [1000] * 100), _row("near", [pulls] * 100)], []).advice()
        assert f"(near needs {words}" in more
    assert "use good, wrong in 1 of 100 runs" in advice
    assert _comparison([quick, dataclasses.replace(slow, stopped_early=1)], []).advice().count("stopped") == 0
    advice = _comparison([quick, close], [good, dataclasses.replace(good, label="same")]).advice()
    assert "close cannot be distinguished" in advice
    assert "any of good and same" in advice
    assert "\n" not in advice


def test_advice_says_when_a_promise_is_broken():
    liar = _row("liar", [90, 110] * 50, wrong=40)
    assert "40 of 100 wrong" in (advice := _comparison([liar], [liar]).advice())
    assert "MORE than delta=0.1" in advice


def test_advice_prefers_what_is_proved():
    guess = jb.TrackAndStop(delta=0.1, threshold="heuristic")
    sure, quick = _row("sure", [190, 210] * 50), _row("quick", [90, 110] * 50, 3, guess)
    advice = _comparison([quick, sure], []).advice()
    assert "use sure: 200 pulls on average, the fewest of those that have a proof, and 0 of 100 wrong" in advice
    assert "Without a proof quick took 100 pulls, and 3 of 100 were wrong." in advice
    advice = _comparison([quick], []).advice()
    assert "use quick: 100 pulls on average, the fewest, and 3 of 100 wrong" in advice
    assert "no theorem says that it errs with probability at most 0.1" in advice


def test_advice_says_what_few_runs_leave_open():
    """22 runs without an error leave up to 15%, which read like a certainty."""
    guess = jb.TrackAndStop(delta=0.05, threshold="heuristic")
    few, many = _row("few", [90, 110] * 11), _row("many", [190, 210] * 50)

    def advice(*rows):
        return dataclasses.replace(_comparison(list(rows), []), delta=0.05, seeds=100).advice()

    text = advice(few, many)
    assert text.startswith("To stop when sure, use many: 200 pulls on average, the fewest of those that have a proof, ")
    assert "few took 100 pulls, and 0 of 22 were wrong (95% interval up to 15.4%)." in text
    text = advice(few, dataclasses.replace(many, algorithm=guess))
    assert "use few: 100 pulls on average, the fewest (by 22 runs only, 95% interval 95 to 105)" in text
    assert "0 of 22 wrong (95% interval up to 15.4%); that it errs with probability at most 0.05 is a theorem" in text
    assert "which so few runs cannot show. Of many, with 200 pulls, the runs themselves show it." in text

    unsure = dataclasses.replace(few, algorithm=guess)
    text = advice(unsure, many)
    assert text.startswith("To stop when sure, use many: 200 pulls on average, the fewest of those that have a proof")
    assert "Without a proof few took 100 pulls, and 0 of 22 were wrong (95% interval up to 15.4%)." in text
    text = advice(unsure, dataclasses.replace(many, algorithm=guess))
    assert text.startswith("To stop when sure, use many: 200 pulls on average, the fewest of those that are confirmed ")
    text = advice(unsure)
    assert "To stop when sure" not in text
    assert "No algorithm is known to err with probability at most 0.05: few took the fewest pulls, 100" in text
    assert "0 of 22 wrong (95% interval 0% to 15.4%), too uncertain to say, more --seeds would decide" in text


def test_advice_passes_over_what_errs_too_often():
    liar, honest = _row("liar", [90, 110] * 50, wrong=40), _row("honest", [190, 210] * 50)
    text = _comparison([liar, honest], []).advice()
    assert "use honest: 200 pulls on average" in text
    assert "liar took 100 pulls, and 40 of 100 were wrong, MORE than delta=0.1." in text
    assert "the fewest of those that have a proof, which their runs confirm, and 0 of 100" in text
    text = _comparison([liar, _row("few", [190, 210] * 10)], []).advice()  # 0 of 20 wrong: up to 16.8%
    assert "the fewest of those that have a proof, which their runs do not contradict" in text
    assert "confirm" not in text


def test_advice_with_rows_missing_is_preliminary():
    found = _comparison([_row("one", [90, 110] * 50)], [_row("good", [100] * 100, 1)])
    assert "PRELIMINARY" not in found.advice()
    text = dataclasses.replace(found, missing=["two", "three"]).advice()
    assert text.startswith("PRELIMINARY: 2 of 4 algorithms were not run, and one of them may do better. To stop when")


def test_advice_on_a_budget_has_an_interval():
    good, bad = _row("good", [100] * 100, 1), _row("bad", [100] * 100, 40)
    text = _comparison([bad], [good, bad]).advice()
    assert "use good, wrong in 1 of 100 runs (95% interval 0.0253% to 5.45%)." in text


def test_advice_on_a_budget_names_no_rule_that_its_runs_rule_out():
    """A rule with 30 runs and no error came first, and all others were compared with it, on these 30 seeds."""

    def late(label, number):
        row = _row(label, [100] * 2000, number)
        return dataclasses.replace(row, wrong=row.wrong[::-1])  # right on the slow rules' seeds

    def advice(*rows):
        return _comparison([good], list(rows)).advice()

    good, bad, slow, slower = late("good", 19), late("bad", 171), _row("slow", [100] * 30), _row("slower", [100] * 20)
    text = advice(slow, good, bad)
    assert "use good, wrong in 19 of 2,000 runs" in text
    assert "; slow made no more than 30 runs, too few to tell. " in text
    assert "bad" not in text
    text = advice(slow, slower, good, late("same", 20), bad)
    assert "use any of good and same, which 2,000 runs cannot distinguish; slow and slower made no more than 30" in text
    assert "slow" not in advice(good, _row("slow", [100] * 20, wrong=20), bad)
    assert "use slow, wrong in 0 of 30 runs" in advice(slow, _row("early", [100] * 2000, 19), bad)


@pytest.mark.usefixtures("few")
def test_a_budget_needs_no_delta(capsys):
    found = compare(jb.bernoulli(MEANS), budget=60, seeds=200)
    assert found.fixed_confidence == []
    assert (found.delta, found.lower_bound, found.missing) == (None, None, [])
    assert {row.label for row in found.fixed_budget} == {"uniform", "ucb-e"}
    assert not any(row.as_dict()["proved"] for row in found.fixed_budget)  # of no delta
    both = compare(jb.bernoulli(MEANS), delta=0.1, budget=60, seeds=200)
    for row, same in zip(found.fixed_budget, both.fixed_budget, strict=True):
        np.testing.assert_array_equal(row.wrong, same.wrong)
        assert row.bound == same.bound
    assert main(["compare", "--means", "0.7,0.5,0.4", "--budget", "60", "--seeds", "200", "--no-progress"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("With 60 pulls to spend, use ")
    assert "Fixed confidence" not in out
    assert "no proof" not in out
    assert main(["compare", "--means", "0.7,0.5,0.4"]) == 2
    assert "compare needs --delta, for algorithms that stop when sure, or --budget" in capsys.readouterr().err


@pytest.mark.slow
def test_normal_arms_of_different_variances_have_rows_that_estimate_them(monkeypatch):
    monkeypatch.setattr(module, "REGISTRY", {name: REGISTRY[name] for name in ("ugape-c", "uniform-glr")})
    monkeypatch.setattr(jb.UGapEc, "traits", dataclasses.replace(jb.UGapEc.traits, variants=({},)))
    labels = ["uniform-glr gaussian-unknown-variance", "uniform-glr", "ugape-c"]
    means, sd = [0.9, 0.5, 0.2], [0.1, 0.2, 1.0]
    found = compare(jb.gaussian(means, sd), delta=0.1, seeds=20, budget=3)
    assert [row.label for row in found.fixed_confidence] == labels
    own, widest = (row.mean_pulls for row in found.fixed_confidence[:2])
    assert own < 0.7 * widest
    assert all(row.proved for row in found.fixed_confidence)
    bound = theory.pulls_lower_bound(np.asarray(means), 0.1, family="gaussian", sd=np.asarray(sd))
    assert found.lower_bound == pytest.approx(bound, rel=1e-5)
    assert found.lower_bound < own
    same = compare(jb.gaussian(means, 0.5), delta=0.1, seeds=2, budget=3)
    assert {row.label for row in same.fixed_confidence} == {"ugape-c", "uniform-glr"}


@pytest.mark.slow
def test_rules_that_take_long_to_decide_get_fewer_runs(capsys, monkeypatch):
    """The first of the others', a longer limit; where they would be too few, a reason."""
    monkeypatch.setattr(module, "REGISTRY", {name: REGISTRY[name] for name in ("ugape-c", "ttucb")})
    monkeypatch.setattr(jb.UGapEc, "traits", dataclasses.replace(jb.UGapEc.traits, variants=({},)))
    problem = jb.bernoulli(MEANS)
    known = compare(problem, delta=0.1, epsilon=0.2, seeds=40, budget=3)
    whole = {row.label: row for row in known.fixed_confidence}
    looks = min(7 * known.lower_bound, whole["ugape-c"].mean_pulls) * 15 * jb.TTUCB.traits.relative_cost
    monkeypatch.setattr(row_limits, "_WORK_SLOW", 30.5 * looks)
    fewer = {row.label: row for row in compare(problem, delta=0.1, epsilon=0.2, seeds=40, budget=3).fixed_confidence}
    assert fewer["ttucb"].runs == 30
    assert fewer["ugape-c"].runs == 40
    np.testing.assert_array_equal(fewer["ttucb"].pulls, whole["ttucb"].pulls[:30])
    command = ["compare", "--means", "0.7,0.5,0.4", "--delta", "0.1", "--epsilon", "0.2", "--seeds", "40"]
    assert main([*command, "--budget", "3", "--no-progress"]) == 0
    assert "Fewer runs, as a pull takes long: ttucb 30." in capsys.readouterr().out
    monkeypatch.setattr(row_limits, "_WORK_SLOW", 19 * looks)
    found = compare(problem, delta=0.1, epsilon=0.2, seeds=40)
    assert [row.label for row in found.fixed_confidence] == ["ugape-c"]
    assert found.missing == []
    assert found.left_out == ["ttucb (takes long to decide: fewer than 20 runs in the time of others)"]


def test_runs_are_reckoned_by_how_many_arms_are_sought():
    found = dataclasses.replace(
        _comparison([_row("one", [1000] * 9)], []), seeds=10**6, problem=jb.bernoulli([0.9] + [0.1] * 19)
    )
    limits = row_limits.RowLimits(found.problem, found.seeds, max_pulls=1000)
    runs = {m: limits.runs(dataclasses.replace(found, m=m), jb.EBTCI(delta=0.1, m=m)) for m in (1, 6, 11)}
    assert runs[1] > 1000
    assert runs[6] == pytest.approx(runs[1] / 2, rel=1e-3)
    assert runs[11] == pytest.approx(runs[1] / 3, rel=1e-3)


@pytest.mark.usefixtures("one_lucb")
def test_what_cannot_make_its_first_batch_is_left_out():
    registry = {name: REGISTRY[name] for name in ("union-bound", "lucb")}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "REGISTRY", registry)
        found = compare(jb.bernoulli([0.7, 0.4]), delta=0.1, epsilon=0.1, seeds=5, max_pulls=300)
    assert [row.label for row in found.fixed_confidence] == ["lucb"]
    assert any("union-bound (UnionBound: its first batch is" in reason for reason in found.left_out)


@pytest.mark.usefixtures("few")
def test_a_stored_comparison_goes_on_where_it_was(tmp_path):
    question = {"delta": 0.1, "epsilon": 0.1, "seeds": 200, "store": tmp_path / "asked"}
    made = []

    def stop(row, found):
        made.append(row.label)
        if len(made) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        jb.compare(jb.bernoulli(MEANS), on_row=stop, **question)
    kept = {file: file.stat().st_mtime_ns for file in (tmp_path / "asked").rglob("*") if file.is_file()}
    assert {path.name for path in (tmp_path / "asked").iterdir() if path.suffix == ".zarr"} == {
        "ugape-c.zarr", "uniform.zarr",
    }  # fmt: skip
    found = jb.compare(jb.bernoulli(MEANS), **question)
    plain = jb.compare(jb.bernoulli(MEANS), **{**question, "store": None})
    assert found.as_dict() == plain.as_dict()
    assert str(found) == str(plain)
    changed = [file for file, time in kept.items() if "blocks" in file.parts and file.stat().st_mtime_ns != time]
    assert not changed
    with pytest.raises(jb.UsageError, match="delta"):
        jb.compare(jb.bernoulli(MEANS), **{**question, "delta": 0.2})


@pytest.mark.slow
@pytest.mark.usefixtures("few")
def test_where_pulls_have_costs_the_text_says_that_they_do_not_count():
    priced = jb.with_costs(jb.bernoulli(MEANS), [0.9, 0.1, 0.5])
    said = "Pulls are counted, whatever they cost."
    assert said in str(compare(priced, budget=60, seeds=200))
    assert said not in str(compare(jb.bernoulli(MEANS), budget=60, seeds=200))


@pytest.mark.usefixtures("few")
def test_json_has_the_numbers_of_the_table(capsys):
    command = ["compare", "--means", "0.7,0.5,0.4", "--delta", "0.1", "--epsilon", "0.1", "--seeds", "200"]
    assert main([*command, "--json", "--no-progress"]) == 0
    told = json.loads(capsys.readouterr().out)
    found = jb.compare(jb.bernoulli(MEANS), delta=0.1, epsilon=0.1, seeds=200)
    assert told == json.loads(json.dumps(found.as_dict()))
    (row,) = told["fixed_confidence"]
    assert (row["algorithm"], row["runs"], row["failures"]) == ("ugape-c", 200, found.fixed_confidence[0].failures)
    assert row["mean_pulls"] == found.fixed_confidence[0].pulls.mean()


@pytest.mark.slow
def test_a_first_batch_that_takes_too_long_is_left_out_and_does_not_end_the_comparison(monkeypatch):
    monkeypatch.setattr(module, "REGISTRY", {name: REGISTRY[name] for name in ("mab-ppr", "hoeffding-race")})
    table = jb.empirical(np.tile([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]], (50, 1)))  # sums are not drawn
    found = compare(table, delta=0.05, epsilon=0.01, seeds=2000)
    assert [row.label for row in found.fixed_confidence] == ["hoeffding-race"]
    assert any("mab-ppr (MABPPR: its first batch is" in reason for reason in found.left_out)


@pytest.mark.slow
def test_slow_rules_with_a_budget_get_fewer_runs_or_are_left_out(capsys, monkeypatch):
    monkeypatch.setattr(module, "REGISTRY", {name: REGISTRY[name] for name in ("beta-top-two", "uniform")})
    looks = 40 * (len(MEANS) + 12) * jb.BetaTopTwo.traits.relative_cost
    monkeypatch.setattr(row_limits, "_WORK_SLOW", 30.5 * looks)
    found = compare(jb.bernoulli(MEANS), budget=40, seeds=50)
    assert {row.label: row.runs for row in found.fixed_budget} == {"uniform": 50, "beta-top-two": 30}
    assert "Fewer runs, as a pull takes long: beta-top-two 30." in str(found)
    assert "50 runs cannot" not in found.advice()
    monkeypatch.setattr(row_limits, "_WORK_SLOW", 19 * looks)
    found = compare(jb.bernoulli(MEANS), budget=40, seeds=50)
    assert [row.label for row in found.fixed_budget] == ["uniform"]
    assert found.missing == []
    assert "beta-top-two (takes long to decide: fewer than 20 runs in the time of others)" in found.left_out


def test_heavy_tails_leave_out_what_needs_a_range():
    labels, left_out = _labels(jb.pareto([1.4, 1.0, 0.9], tail=2.2), budget=1000, epsilon=0.0, m=1)
    any_rewards = {"uniform", "successive-rejects", "sequential-halving", "sar", "ocba", "sh-ada-var", "anytime-eb-tc"}
    assert any_rewards <= set(labels)
    assert not {"at-lucb", "fc2fb", "continuous-rejects", "ugape-b"} & set(labels)
    assert "continuous-rejects (ContinuousRejects needs rewards in an interval" in left_out


@pytest.mark.parametrize(
    "asked",
    [{}, {"m": 2}, {"m": 2, "epsilon": 0.1}, {"threshold": 0.5}, {"one_above": 0.5}, {"all_within": 0.35}],
    ids=str,
)
@pytest.mark.parametrize(
    "problem", [jb.exponential([1.0, 0.7, 0.4]), jb.pareto([1.4, 1.0, 0.9], tail=2.2)], ids=lambda problem: problem.name
)
def test_what_a_reason_advises_answers_the_same_question(problem, asked):
    """For m = 2 it was successive-elimination or successive-rejects, which return one arm."""
    stopping, reasons = _labels(problem, delta=0.1, **asked)
    spending, more = _labels(problem, budget=1000, **asked)
    advised = set(re.findall(r"or use ([a-z-]+)(?: or ([a-z-]+))?", f"{reasons}; {more}"))
    named = {name for names in advised for name in names if name}
    assert "heavier tails: give b" in reasons
    assert bool(named) == ("all_within" not in asked)
    assert named <= {*stopping, *spending}


def test_a_grid_of_numbers_of_arms_is_told_of_a_rule_that_takes_several():
    rule = jb.UGapEc(epsilon=0.1, delta=0.1, m=jb.axis([1, 2]))
    with pytest.raises(jb.UsageError, match="heavier tails: give b, or use "):
        jb.sweep(rule, jb.exponential([1.0, 0.7, 0.4]), seeds=2)


@pytest.mark.usefixtures("few")
def test_an_error_in_one_row_keeps_the_finished_ones(capsys, monkeypatch):
    stop_at_row(monkeypatch, 1, jb.UsageError("this row cannot be run"))
    assert main(["compare", "--means", "0.7,0.5,0.4", "--budget", "60", "--seeds", "200", "--no-progress"]) == 2
    told = capsys.readouterr()
    assert "PRELIMINARY" in told.out
    assert told.err.splitlines()[-1] == "jaxbandits: this row cannot be run"


def test_the_programs_of_a_comparison_are_still_there_in_the_next():
    """With 49 rows and 40 programs, of which the oldest were forgotten, every comparison compiled all of them again."""
    for problem in (jb.bernoulli(MEANS), jb.gaussian(MEANS), jb.exponential(MEANS), jb.student_t(MEANS, dof=5.0)):
        for known in ({}, {"epsilon": 0.1}, {"m": 2}, {"threshold": 0.45}):
            rows = _labels(problem, delta=0.1, **known)[0] + _labels(problem, budget=100, **known)[0]
            # Rows whose limit is known later may have a second program.
            assert len(rows) + 8 < lanes.MOST_PROGRAMS
