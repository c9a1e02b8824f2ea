"""What pictures' titles say of numbers: no more than their intervals do."""

import math

import numpy as np
import pytest

from jaxbandits.papers.frontier.audibert_experiments import _describe_best
from jaxbandits.papers.top_k import failure_over_budgets
from jaxbandits.report import formatting, plots
from jaxbandits.report.intervals import clopper_pearson, least_change
from jaxbandits.report.summaries import summary


def with_errors(ds, *errors):
    """Runs with these numbers of errors, in the order of the cells."""
    wrong = np.arange(ds.sizes["seed"]) < np.reshape(errors, (*ds["correct"].shape[:-1], 1))
    return ds.assign(correct=(ds["correct"].dims, ~wrong))


def title(ds, **places):
    return plots.curve(ds, y="failure", **places).get_suptitle().replace("\n", " ")


def test_the_least_change_is_that_between_the_nearest_ends():
    assert least_change(([10, 20], [12, 22]), ([1, 1], [2, 4])) == ("falls", 5.0)
    assert least_change((1, 2), (6, 7)) == ("grows", 3.0)
    assert least_change((0, 0), (6, 7)) == ("grows", math.inf)
    assert least_change((10, math.inf), (1, 2)) == ("falls", 5.0)
    for overlap in [((1, 3), (2, 4)), ((math.nan,) * 2, (1, 2)), (([1, 8], [2, 9]), ([4, 4], [5, 5]))]:
        assert least_change(*overlap) == ("", 1.0)


def test_a_least_factor_is_rounded_down():
    texts = [formatting.at_least_fold(x) for x in (3.19, 49.9, 1234.5, 1.04, math.inf)]
    assert texts == ["at least 3.1-fold", "at least 49-fold", "at least 1,234-fold", "", ""]


def test_few_errors_make_no_large_factor(make):
    """It was "falls 128- to 297-fold", from 1 and 3 errors of 1000."""
    ds = with_errors(make({"budget": [100, 1000], "n": [4, 8]}, seeds=1000), 297, 384, 1, 3)
    low, high = clopper_pearson([297, 384, 1, 3], 1000)
    assert math.floor(min(low[0] / high[2], low[1] / high[3])) == 40
    assert title(ds, x="budget") == "Failure rate of UGapEc falls at least 40-fold as budget goes from 100 to 1,000"


def test_lines_that_intervals_do_not_tell_apart_claim_nothing(make):
    grid = make({"budget": [100, 1000], "n": [4, 8]}, seeds=1000)
    for errors in [(300, 6, 1, 3), (300, 1, 1, 300)]:  # one line overlaps; the directions differ
        assert "-fold" not in (text := title(with_errors(grid, *errors), x="budget"))
        assert "is between 0.001 and 0.300" in text


def test_a_truncated_end_is_a_lower_bound(make):
    ds = make({"budget": [100, 1000]})
    ds["status"][1, :3] = 1
    text = plots.curve(ds).get_suptitle()
    assert f"to at least {formatting.rounded_down(float(ds['pulls'][1].mean()))} as budget" in text.replace("\n", " ")


@pytest.mark.parametrize(("bound", "text"), [
    (1_236_000, "1,230,000"), (1_230_000, "1,230,000"), (12_345, "12,345"), (12_399.5, "12,300"), (0.29, "0.29"),
    (0.2999, "0.299"), (2.0**-20, "9.53e-07"), (np.inf, "∞"), (np.nan, "–"),
])  # fmt: skip
def test_a_lower_bound_is_rounded_down(make, bound, text):
    """At least 1,240,000 was said of runs that were cut at 1,236,000."""
    assert formatting.rounded_down(bound) == text
    ds = make({"budget": [100, 1000]})
    ds["pulls"] = ds["pulls"] * 0.0 + bound
    ds["status"][:] = 1
    if np.isfinite(bound):
        assert plots.bars(ds, y="pulls").get_suptitle().replace("\n", " ").endswith(f" is at least {text} for all")


def test_every_lower_bound_is_said_to_be_one(make):
    """Only the title of one line from one end to the other said `at least`; the others had the limit as a result."""

    def said(kind, ds, y="pulls", **places):
        return getattr(plots, kind)(ds, y=y, **places).get_suptitle().replace("\n", " ").partition(" UGapEc")[2]

    ds = make({"budget": [100, 1000], "n": [4, 8]})
    ds["pulls"][:] = np.reshape([10, 30, 20, 30], (2, 2, 1))
    ds["status"][:, 1] = 1
    line = ds.isel(n=1)
    assert said("bars", line.assign(status=0 * line["status"])) == " is 30 for all"
    assert said("bars", line) == " is at least 30 for all"
    assert said("curve", line) == " is at least 30 at both ends, as budget goes from 100 to 1,000"
    assert said("curve", ds, x="budget") == " is between 10 and at least 30 as budget goes from 100 to 1,000"
    assert said("curve", ds.isel(n=[1]), x="n", hue="budget") == " is at least 30 at K = 8"
    phase = plots.phase(ds, x="budget", y="n").get_suptitle().replace("\n", " ")
    assert phase.endswith(": from 10 at budget = 100, K = 4 to at least 30 at budget = 100, K = 8")
    regret = plots.phase(ds, x="budget", y="n", value="simple_regret").get_suptitle()
    assert "at least" not in regret


@pytest.mark.parametrize(("stopped", "text"), [
    (0, "half of the runs take at most 20.5 pulls, nine in ten 36.1"),
    (4, "half of the runs take at most 20.5 pulls, the slowest tenth more than 36.4"),
    (20, "half of the runs take more than 30 pulls"),
])  # fmt: skip
def test_a_quantile_among_truncated_runs_is_a_lower_bound(make, stopped, text):
    ds = make({"n": [4, 8]})
    ds["pulls"][:] = np.arange(40) + 1
    ds["status"][0, 40 - stopped :] = 1
    assert plots.distribution(ds.isel(n=0)).get_suptitle().replace("\n", " ") == f"UGapEc: {text}"
    both = plots.distribution(ds).get_suptitle().replace("\n", " ")
    assert ("at least" in both) == (stopped == 20)


def test_titles_of_runs_alike_and_of_several_algorithms(make):
    """They said "at least 1 times", and began with a small letter."""
    ds = make({"algorithm": ["LUCB", "UGapEc"]}).drop_attrs()
    assert plots.quantiles(ds).get_suptitle().startswith("The slowest tenth of runs")
    assert plots.distribution(ds).get_suptitle().startswith("Median pulls are between")
    ds["pulls"][:] = 80
    assert plots.quantiles(ds).get_suptitle() == "The middle 80% of runs have the same pulls"


def test_runs_are_slow_in_what_they_spend_only(make):
    """A title said that the slowest tenth of runs needs at least 3 times the simple regret of the fastest."""
    ds = make({"n": [4, 8]})
    ds["accuracy"] = 0 * ds["pulls"] + np.linspace(0.5, 1, ds.sizes["seed"])
    assert plots.quantiles(ds, y="accuracy").get_suptitle() == "Accuracy of the middle 80% of runs"
    one = plots.distribution(ds.isel(n=0), y="accuracy").get_suptitle().replace("\n", " ")
    assert one == "UGapEc: half of the runs have accuracy of at most 0.75, nine in ten 0.95"


@pytest.mark.parametrize("width", range(5, 40))
def test_a_name_stays_on_the_line_of_its_value(width):
    text = "Failure rate of UGapEc: from 0.1 at epsilon = 0.05, n = 1,000 to 0.3 at epsilon = 0.4, n = 10"
    lines = formatting.wrap(text, width, long_words=False).split("\n")
    assert " ".join(lines) == text
    assert max(map(len, lines)) <= max(width, len("epsilon = 0.05,"))
    assert not [line for line in lines if line.startswith("=") or line.endswith(("=", " n", "epsilon"))]


def test_one_line(make):
    grid = make({"budget": [100, 1000]}, seeds=1000)
    assert "falls from 0.300 to 0 (of 1,000 runs) as budget" in title(with_errors(grid, 300, 0))
    assert title(with_errors(grid, 6, 3)).endswith(
        "goes from 0.006 to 0.003 as budget goes from 100 to 1,000; the difference may be chance"
    )
    assert "median" not in plots.curve(grid, centre="median").get_suptitle().partition(" goes from ")[2]


@pytest.mark.parametrize(
    ("errors", "text"),
    [
        (
            (600, 400, 650),
            "goes from 0.600 to 0.650 as budget goes from 1 to 3, with the smallest, 0.400, at budget = 2",
        ),
        (
            (400, 650, 500),
            "goes from 0.400 to 0.500 as budget goes from 1 to 3, with the largest, 0.650, at budget = 2",
        ),
        ((600, 590, 650), "goes from 0.600 to 0.650 as budget goes from 1 to 3; the difference may be chance"),
        ((600, 590, 800), "grows from 0.600 to 0.800 as budget goes from 1 to 3"),
    ],
)
def test_a_curve_with_its_best_value_inside_does_not_just_grow(make, errors, text):
    """It was said to grow from end to end, where the best parameter lay between."""
    assert title(with_errors(make({"budget": [1, 2, 3]}, seeds=1000), *errors)).endswith(text)


@pytest.mark.parametrize(("errors", "said"), [((90, 10), "UGapEc on 1"), ((12, 10), "the intervals do not tell on 1")])
def test_a_winner_is_named_only_where_its_interval_is_below_the_others(make, errors, said):
    ds = with_errors(make({"number": [1], "algorithm": ["LUCB", "UGapEc"]}, seeds=1000), *errors)
    assert _describe_best(summary(ds)) == said


def test_the_first_to_a_small_error_is_one_whose_interval_is_below_it(make, monkeypatch):
    """60 runs without an error tell that; with two they do not."""
    monkeypatch.setattr(failure_over_budgets.chen, "KS", (10, 20, 30))
    ds = make({"k": [10, 20, 30], "budget": [100, 200], "algorithm": ["one", "two"]}, seeds=60)
    ds = with_errors(ds, *(9, 9), *(0, 2), *(0, 1), *(0, 0), *(9, 9), *(2, 9))
    assert failure_over_budgets._describe_first(summary(ds)) == (
        "one at K = 10 (200 pulls), 2 of 2 at K = 20 (100 pulls), none at K = 30"
    )


def test_one_number_is_said_once(make):
    """It was "between 0 and 0", and "from 0 at n = 4 to 0 at n = 4", with a scale from -0.1 to 0.1."""
    ds = with_errors(make({"budget": [100, 1000], "n": [4, 8]}, seeds=50), 0, 0, 0, 0)
    assert title(ds, x="budget") == "Failure rate of UGapEc is 0 (of 50 runs) as budget goes from 100 to 1,000"
    picture = plots.phase(ds, x="budget", y="n", value="failure")
    assert picture.get_suptitle() == "Failure rate of UGapEc is 0 (of 50 runs) in all cells"
    assert [text.get_text() for text in picture.axes[-1].get_yticklabels()] == ["0"]
    ds["pulls"][:] = 1_230_000
    assert plots.bars(ds.isel(n=0), y="pulls").get_suptitle() == "Mean number of pulls of UGapEc is 1,230,000 for all"
