"""Counts from files, data frames, dicts and arrays: what is taken, and one line for what is not."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import jaxbandits as jb
from jaxbandits.counts.count_tables import Columns, read_counts
from jaxbandits.counts.from_counts import plan

GOOD = "headline,impressions,clicks\nA,100,7\nB,0,0\nC,2000,41\n"


def read(counts, rewards=None, reward_range=1.0, where="", **columns):
    return read_counts(counts, Columns(**columns), rewards, reward_range, where)


def refused(*arguments, **options):
    with pytest.raises(jb.UsageError) as error:
        read(*arguments, **options)
    assert "\n" not in str(error.value)
    return str(error.value)


def write(tmp_path, content):
    file = tmp_path / "counts.csv"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file


def test_files_data_frames_dicts_and_arrays_say_the_same(tmp_path):
    pulls, clicks = [100, 0, 2000], [7, 0, 41]
    columns = {"headline": ["A", "B", "C"], "impressions": pulls, "clicks": clicks}
    given = [
        write(tmp_path, GOOD),
        str(write(tmp_path, b"\xef\xbb\xbf" + GOOD.replace(",", "\t").encode())),
        columns,
        pd.DataFrame(columns),
        {name: np.asarray(values) for name, values in columns.items()},
        np.column_stack([pulls, clicks]),
    ]
    for counts in given:
        found = read(counts)
        assert found.arms == (["arm 1", "arm 2", "arm 3"] if isinstance(counts, np.ndarray) else ["A", "B", "C"])
        assert found.pulls.tolist() == pulls
        assert found.total.tolist() == clicks
        assert found.squares == pytest.approx([7 * 0.93, 0, 41 * (1 - 41 / 2000)])
        assert found.rewards == "coins"


def test_what_was_taken_is_said(tmp_path):
    found = read(write(tmp_path, GOOD.replace("\n", ",x\n")), arm="headline")
    assert found.taken == "arm from 'headline', pulls from 'impressions', successes from 'clicks'; not used: 'x'"
    found = read({"shown": [10, 20], "n": [1, 2], "hits": [1, 3]}, pulls="shown", successes="hits")
    assert found.taken == "pulls from 'shown', successes from 'hits'; arms are numbered; not used: 'n'"


def test_the_index_of_a_data_frame_names_the_arms():
    """Arms were numbered after `groupby`, which keeps their names in the index."""
    seen = pd.DataFrame({"land": ["de", "de", "fr"] * 4, "variant": [7, 9, 7, 9, 7, 9] * 2, "click": [0, 1, 1] * 4})
    one = seen.groupby("variant")["click"].agg(pulls="size", successes="sum")
    table = read_counts(one, Columns(), None, 1.0, "")
    assert (table.arms, table.pulls.tolist()) == (["7", "9"], [6, 6])
    two = seen.groupby(["land", "variant"])["click"].agg(pulls="size", successes="sum")
    table = read_counts(two, Columns(), None, 1.0, "land=fr")
    assert (table.arms, table.total.tolist()) == (["7", "9"], [2, 2])
    assert read_counts(two, Columns(arm="variant"), None, 1.0, "land=de").total.tolist() == [2, 2]

    texts = pd.DataFrame({"pulls": [4, 5], "wins": [1, 2]}, index=["old", "new"])
    assert read_counts(texts, Columns(), None, 1.0, "").arms == ["old", "new"]
    # A column that names the arms comes first; places of rows, also of some of them, name nothing.
    assert read_counts(texts.assign(arm=["a", "b"]), Columns(), None, 1.0, "").arms == ["a", "b"]
    both = texts.assign(arm=["a", "b"]).set_index("arm", drop=False)
    assert read_counts(both, Columns(), None, 1.0, "").arms == ["a", "b"]
    plain = pd.DataFrame({"pulls": [4, 5, 6], "wins": [1, 2, 3]})
    assert read_counts(plain[plain.pulls > 4], Columns(), None, 1.0, "").arms == ["arm 1", "arm 2"]


def test_a_column_beside_the_counts_is_not_said_to_be_taken():
    """A mean beside successes was named as taken, and not looked at."""
    counts = {"variant": ["A", "B"], "n": [1000, 1000], "conversions": [50, 30], "mean": [0.9, 0.1]}
    assert read(counts).taken == "arm from 'variant', pulls from 'n', successes from 'conversions'; not used: 'mean'"


def test_moments_of_other_rewards():
    rewards = np.asarray([0.2, 0.9, 0.4, 0.4])
    table = {"n": [4, 0], "mean": [rewards.mean(), ""]}
    spreads = {"variance": rewards.var(ddof=1), "sd": rewards.std(ddof=1), "sum_of_squares": (rewards**2).sum()}
    for name, spread in spreads.items():
        found = read({**table, name: [spread, ""]}, rewards="bounded")
        assert found.total == pytest.approx([rewards.sum(), 0])
        assert found.squares == pytest.approx([4 * rewards.var(), 0])


def test_a_sum_of_squares_whose_digits_do_not_hold_the_spread_is_refused():
    """From 1000 on, steps of 1e-6 are below the digits of the squares: what is left is rounding, and no spread."""
    normal = np.random.default_rng(0).standard_normal(1000)

    def counts(rewards):
        return {"n": [len(rewards), 1], "mean": [rewards.mean(), 3.0], "squares": [np.sum(rewards**2), 9.0]}

    for origin, unit in ((1e6, 1.0), (1e3, 1e-2), (0.0, 1e-9)):
        found = read(counts(origin + unit * normal), rewards="normal").squares
        assert found == pytest.approx([unit**2 * 999 * normal.var(ddof=1), 0], rel=0.02)
    for origin, unit in ((1e6, 1e-2), (1e3, 1e-6), (-1e9, 1.0)):
        said = refused(counts(origin + unit * normal), rewards="normal")
        assert "1000 rewards" in said
        assert said.endswith("hold: give variance or sd")
    same = {"n": [4, 4], "mean": [3.0, 0.0], "squares": [36.0, 0.0]}
    assert read(same, rewards="normal").squares.tolist() == [0, 0]  # whole numbers lose no digits


def test_rows_of_one_experiment_among_many(tmp_path):
    file = write(tmp_path, "test,arm,n,clicks\n7,A,10,1\n8,A,20,2\n8,B,30,3\n")
    assert read(file, where="test=8").pulls.tolist() == [20, 30]
    assert "line 3, column 'arm': the arm 'A' has a row already, line 2" in refused(file)
    assert "no row has test=9" in refused(file, where="test=9")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,n,clicks\nA,10,-1\nB,5,1\n", "line 2, column 'clicks': must be a whole number, at least 0, got '-1'"),
        ("a,n,clicks\nA,10,1\nB,5,6\n", "line 3, column 'clicks': 6 successes in 5 pulls"),
        ("a,n,clicks\nA,10,1\nB,5,nan\n", "line 3, column 'clicks': must be a finite number, got 'nan'"),
        ("a,n,clicks\nA,10,1\nB,,1\n", "line 3, column 'n': is missing"),
        ("a,n,clicks\nA,10,1\nB,2.5,1\n", "line 3, column 'n': must be a whole number"),
        ("a,n,clicks\nA,10,1\n", "two arms or more are needed"),
        ("a,n,clicks\nA,1 000,1\nB,5,1\n", "line 2, column 'n': must be a finite number, got '1 000'"),
        ("a,n,views,clicks\nA,1,2,1\nB,1,2,1\n", "columns 'n' and 'views' may both be pulls: say pulls= one of them"),
        ("a,n,n,clicks\nA,1,2,1\nB,1,2,1\n", "columns 'n' and 'n' may both be pulls"),
        ("a,shown,clicks\nA,1,1\nB,1,1\n", "a column of pulls is needed, say pulls= one of a, shown, clicks"),
        ("a,n,x\nA,1,1\nB,1,1\n", "a column of successes is needed, or of means"),
        ("a,n,mean\nA,1,1\nB,1,1\n", "one of variance, sd and squares is needed beside the means, got none"),
        ("a,n,mean,sd\nA,1,1,1\nB,1,1,1\n", "say rewards=bounded for rewards in [0, reward_range], or rewards=normal"),
        ("a,n,clicks\nA,2000000000,1\nB,5,1\n", "line 2, column 'n': must be a whole number from 0 to 1,000,000,000"),
        ("a,n,clicks\nA,600000000,1\nB,600000000,1\n", "pulls add up to 1,200,000,000"),
        ("a;n;clicks\nA;10;1\nB;5;1\n", "line 1: cells are separated by semicolons"),
        ("", "a header and"),
    ],
)
def test_what_is_refused(text, message, tmp_path):
    assert message in refused(write(tmp_path, text))


@pytest.mark.parametrize(
    ("counts", "options", "message"),
    [
        ({}, {}, "a table with columns is needed, such as arm, pulls and successes, got none"),
        ({"n": [1, 2], "clicks": [1]}, {}, "columns differ in length: 'n' 2, 'clicks' 1"),
        ({"n": [1, None], "clicks": [1, 1]}, {}, "counts, row 2, column 'n': is missing"),
        ({"n": [1, True], "clicks": [1, 1]}, {}, "row 2, column 'n': must be a finite number, got 'True'"),
        ({"n": 3, "clicks": [1, 1]}, {}, "column 'n' must be a list"),
        ({"n": [1, 2], "clicks": [1, 1]}, {"pulls": "m"}, "unknown counts: column 'm'"),
        ({"n": [1, 2], "clicks": [1, 1]}, {"rewards": "coin"}, "unknown kind of rewards 'coin'; did you mean 'coins'?"),
        (pd.DataFrame([[1, 2], [3, 4]], columns=["n", "n"]), {}, "two columns have one name"),
        ([[1, 2, 3], [4, 5, 6]], {}, "an array (K, 2) of pulls and successes, got shape (2, 3)"),
        (7, {}, "an array (K, 2) of pulls and successes, got 7"),
        (None, {}, "of pulls and successes, got None"),
        ([[5, 6], [5, 1]], {}, "row 1, column 'successes': 6 successes in 5 pulls"),
        ({"n": [2, 2], "mean": [2, 0.1], "sd": [0, 0]}, {"rewards": "bounded"}, "rewards lie in [0, 1]"),
        ({"n": [9, 9], "mean": [0.1, 0.1], "sd": [0.9, 0]}, {"rewards": "bounded"}, "of mean 0.1 vary less, got 0.9"),
        ({"n": [4, 4], "mean": [3, 3], "squares": [1, 40]}, {"rewards": "normal"}, "have a larger sum of squares"),
        ({"n": [4, 4], "mean": [3, 3], "sd": [-1, 1]}, {"rewards": "normal"}, "must be finite and at least 0"),
    ],
)
def test_what_is_refused_in_python(counts, options, message):
    assert message in refused(counts, **options)


CELLS = st.one_of(
    st.sampled_from(
        ["", "nan", "inf", "-1", "1e400", "0", "7", "3.5", '"', "A", "\ufeff", "1,5", "12%", "\x00", "1_0"]
    ),
    st.text(max_size=4),
    st.integers(-3, 10**12).map(str),
)
HEADER = st.lists(st.one_of(st.sampled_from(["arm", "n", "clicks", "views", "mean", "sd"]), CELLS), max_size=5)
VALUES = st.lists(st.one_of(st.none(), st.floats(), st.integers(), st.booleans(), st.text(max_size=3)), max_size=3)


def result_or_none(call, *arguments, **options):
    """Return the result, or None where it is refused in one line; any other exception is a fault."""
    try:
        return call(*arguments, **options)
    except jb.UsageError as error:
        line = str(error)
    assert line
    assert "\n" not in line
    return None


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    header=HEADER,
    rows=st.lists(st.lists(CELLS, max_size=5), max_size=4),
    separator=st.sampled_from([",", "\t", ";", " "]),
    mark=st.sampled_from([b"", b"\xef\xbb\xbf", b"\xff\xfe", b"\x1f\x8b"]),
    rewards=st.sampled_from([None, "normal", "bounded"]),
)
def test_a_malformed_file_is_one_line_and_never_a_traceback(header, rows, separator, mark, rewards, tmp_path_factory):
    text = "\n".join(separator.join(row) for row in [header, *rows])
    file = write(tmp_path_factory.getbasetemp(), mark + text.encode("utf-8", "surrogatepass"))
    found = result_or_none(read, file, rewards=rewards)
    if found is not None:
        assert len(found.arms) == len(found.pulls) >= 2
        assert np.isfinite([found.total, found.squares]).all()


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    columns=st.dictionaries(st.sampled_from(["n", "clicks", "mean", "sd", "arm"]), st.none() | st.integers() | VALUES),
    rewards=st.sampled_from([None, "normal"]),
)
def test_malformed_columns_are_one_line_too(columns, rewards):
    result_or_none(plan, columns, rewards=rewards, rules=[])


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    pulls=st.lists(st.integers(0, 10**8), min_size=2, max_size=4),
    share=st.lists(st.floats(0, 1), min_size=4, max_size=4),
    epsilon=st.sampled_from([0.0, 0.01]),
    prior=st.sampled_from(["uniform", "jeffreys", (2, 160)]),
)
def test_every_table_of_counts_has_a_plan_with_finite_numbers(pulls, share, epsilon, prior):
    clicks = [int(part * n) for part, n in zip(share, pulls, strict=False)]
    found = plan({"n": pulls, "clicks": clicks}, epsilon=epsilon, prior=prior, rules=[])
    chances = np.asarray([[arm.best, arm.near, arm.loss, *arm.interval] for arm in found.arms])
    assert ((chances >= 0) & (chances <= 1)).all()
    assert chances[:, 0].sum() == pytest.approx(1)
    assert (chances[:, 1] >= chances[:, 0]).all()
    assert 0 < found.test.delta <= 1
    assert found.best in str(found)
