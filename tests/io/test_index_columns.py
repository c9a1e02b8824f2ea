"""Columns that number or date the rows of a table of rewards: never an arm without a word."""

import gzip

import numpy as np
import pandas as pd
import pytest

import jaxbandits as jb
from jaxbandits.cli import main
from jaxbandits.io.index_columns import index_like

REWARDS = [0.25, 0.5, 0.125, 0.75, 0.375]


def table(tmp_path, name, values, first=True):
    rows = [(f"{value},{reward},{1 - reward}" if first else f"{reward},{1 - reward},{value}")
            for value, reward in zip(values, REWARDS, strict=False)]  # fmt: skip
    file = tmp_path / "scores.csv"
    file.write_text("\n".join([f"{name},a,b" if first else f"a,b,{name}", *rows]) + "\n")
    return file


INDICES = [
    ("Unnamed: 0", [0, 1, 2]), ("Unnamed: 0.1", [3, 9, 4]), ("id", [17, 9, 39]), ("user_id", [17, 22, 39]),
    ("ID", [4, 2, 9]), ("index", [0, 1, 2]), ("year", [1990, 1991, 1992]), ("Jahr", [1990, 1990, 1991]),
    ("date", [20200131, 20200228, 20200331]), ("caldt", [20200331, 20200131, 20200228]),
    ("yyyymmdd", [19991231, 19990101]),
    ("ym", [202011, 202012, 202101]), ("Date", [43831, 43832, 43835]), ("date", [1990.08, 1990.17, 1990.25]),
    ("k", [1, 2, 3, 4, 5]), ("k", [9, 8, 7, 6, 5]), ("t", [1, 2, 3]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "values"), INDICES)
@pytest.mark.parametrize("first", [True, False], ids=["first", "last"])
def test_an_index_or_dates_are_no_arm(name, values, first, tmp_path):
    """They were the best arm by far: a year's mean is 1991."""
    with pytest.raises(
        jb.UsageError, match=rf"scores\.csv: column '{name}' looks like .*not like an arm: leave"
    ) as error:
        jb.empirical_from_csv(table(tmp_path, name, values, first))
    assert "\n" not in str(error.value)


ARMS = [
    ("a", REWARDS), ("a", [1, 0, 1, 1, 0]), ("id", [1, 0, 1, 0, 0]), ("day", [0.25, 0.5, 0.125]), ("a", [5, 9, 7]),
    ("a", [1, 2, 3]), ("a", [1, 2, 3, 4, 6]), ("a", [2000, 1900, 2100]),
    ("a", [20201331, 20200131]), ("video", [3, 4, 9]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "values"), ARMS)
def test_rewards_are_an_arm(name, values):
    assert index_like(name, values) == ""


def test_numbers_that_only_grow_are_an_index_where_they_are_many():
    """Ten rewards are in order by chance once in 1.8 million tables."""
    grown = np.cumsum([3, 1, 4, 1, 5, 9, 2, 6, 5, 3])
    assert index_like("a", grown)
    assert index_like("a", grown[::-1])
    assert not index_like("a", grown[:9])
    assert not index_like("a", grown / 7)


def test_a_table_of_pandas_has_names_too():
    frame = pd.DataFrame({"year": [1990, 1991, 1992], "a": REWARDS[:3], "b": [1, 3, 2]})
    with pytest.raises(jb.UsageError, match="samples: column 'year' looks like dates"):
        jb.empirical(frame)
    assert jb.empirical(frame.set_index("year")).arms == 2
    assert jb.empirical(frame.to_numpy()).arms == 3


def test_two_columns_of_one_name_are_one_line(tmp_path):
    with pytest.raises(jb.UsageError, match="there are 2 columns 'a': a column is an arm"):
        jb.empirical_from_csv(table(tmp_path, "a", [1, 4, 2]))


NO_NUMBERS = {
    "1%": "got '1%': write 0.01 in place of a percentage",
    "12.5 %": "write 0.125 in place of a percentage",
    '"1,000"': "got '1,000': write 1000, or 1.000",
    '"1,000,000.5"': "without separators it is 1000000.5",
    "1 000": "without separators it is 1000",
    "1'000": "without separators it is 1000",
    "$1.20": "write the number alone",
    "(1.5)": "write the number alone",
    '"0,5"': "decimals are written with a point",
}


@pytest.mark.parametrize("cell", NO_NUMBERS)
@pytest.mark.parametrize("place", [0, 1])
def test_what_is_meant_as_a_number_is_no_label_and_one_line(cell, place, tmp_path):
    """A first column of percentages was taken for labels, and left out without a word."""
    file = tmp_path / "scores.csv"
    row = [cell, cell] if place == 0 else ["0.5", cell]
    file.write_text("a,b,c\n" + "".join(",".join([*row, str(i)]) + "\n" for i in (1, 4)))
    with pytest.raises(jb.UsageError) as error:
        jb.empirical_from_csv(file)
    assert f"line 2, column '{'ab'[place]}': must be a finite number" in str(error.value)
    assert NO_NUMBERS[cell] in str(error.value)


def test_a_file_compressed_by_gzip_is_read(tmp_path, capsys):
    plain = table(tmp_path, "c", [0.5, 0.25, 0.75])
    packed = tmp_path / "scores.csv.gz"
    packed.write_bytes(gzip.compress(b"\xef\xbb\xbf" + plain.read_bytes()))
    np.testing.assert_array_equal(jb.empirical_from_csv(packed).table, jb.empirical_from_csv(plain).table)
    assert main(["simulate", "uniform", "--problem", str(packed), "--set", "budget=9", "--seeds", "2"]) == 0
    capsys.readouterr()
    packed.write_bytes(packed.read_bytes()[:-9])
    with pytest.raises(jb.UsageError, match=r"cannot read .*scores\.csv\.gz: what gzip compressed there is damaged"):
        jb.empirical_from_csv(packed)


@pytest.mark.parametrize(
    ("beginning", "message"),
    [(b"PK\x03\x04\x00", "a zip archive or a workbook"), (b"\xfd7zXZ\x00", "xz"), (b"PAR1\x00", "Parquet")],
)
def test_other_formats_are_told_by_name(beginning, message, tmp_path):
    file = tmp_path / "scores.csv"
    file.write_bytes(beginning + bytes(9))
    with pytest.raises(jb.UsageError, match=message):
        jb.empirical_from_csv(file)


CLICKS = [
    ("arm,impressions,clicks\nx,10,5\ny,10,2\nx,10,1\n", "line 4, column 'arm': the arm 'x' has a row already, line 2"),
    ("day,ad,impressions,clicks\n1,x,10,5\n1,y,10,2\n2,x,10,1\n", "line 4, column 'ad': the arm 'x' has a row already"),
    ("headline,impressions,clicks\nx,10,5\ny,10,2\ny,10,2\n", "line 4, column 'headline': the arm 'y' has a row"),
    ("id,impressions,clicks\n1,10,5\n2,10,2\n2,10,1\n", "line 4, column 'id': the arm '2' has a row already"),
]


@pytest.mark.parametrize(("text", "message"), CLICKS)
def test_an_arm_of_a_table_of_clicks_has_one_row(text, message, tmp_path):
    """Its two rows were two arms."""
    file = tmp_path / "clicks.csv"
    file.write_text(text)
    with pytest.raises(jb.UsageError) as error:
        jb.click_rates(file)
    assert message in str(error.value)


def test_other_columns_of_a_table_of_clicks_may_repeat(tmp_path):
    file = tmp_path / "clicks.csv"
    file.write_text("price,segment,headline,impressions,clicks\n2,a,x,10,5\n2,a,y,10,2\n2,b,x,10,1\n")
    assert jb.click_rates(file).arms == 3
