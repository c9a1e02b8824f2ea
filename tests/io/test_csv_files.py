"""The reader of CSV files, which all tables share: what it reads, and one line for what it does not."""

import ast
from pathlib import Path

import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits.io.csv_files import Table
from jaxbandits.problems import rte_workers, workers_from_csv

NUMBERS = "a,b\n0.5,1\n0.25,3\n"
#: For each constructor, a table that it reads.
READERS = {
    "csv": (jb.empirical_from_csv, NUMBERS),
    "workers": (workers_from_csv, "worker,accuracy\na,0.5\nb,0.25\n"),
    "clicks": (jb.click_rates, "impressions,clicks\n10,5\n20,2\n"),
    "reservoir-table": (jb.reservoir_from_csv, "reward,cost\n0.5,1\n0.25,0.5\n"),
}


def write(tmp_path, content):
    file = tmp_path / "table.csv"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file


def refused(make, file):
    with pytest.raises(jb.UsageError) as error:
        make(file)
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize("name", READERS)
def test_what_every_table_may_look_like(name, tmp_path):
    make, text = READERS[name]
    plain = make(write(tmp_path, text))
    assert plain.arms in (0, 2)
    others = {
        "byte order mark": b"\xef\xbb\xbf" + text.encode(),
        "line ends of Windows": text.replace("\n", "\r\n"),
        "tabs": text.replace(",", "\t"),
        "spaces and empty lines": text.replace(",", " , ").replace("\n", "\n\n"),
        "quotes": "\n".join(",".join(f'"{cell}"' for cell in line.split(",")) for line in text.splitlines()),
        "no last line end": text.rstrip("\n"),
    }
    for what, content in others.items():
        found = make(write(tmp_path, content))
        for parameter in plain.parameters:
            leaf = getattr(plain, parameter)
            assert leaf is None or np.array_equal(leaf, getattr(found, parameter)), what


BAD = {
    "semicolons": (lambda text: text.replace(",", ";"), "line 1: cells are separated by semicolons"),
    "semicolons and decimal commas": (
        lambda text: text.replace(",", ";").replace(".", ","),
        "line 1: cells are separated by semicolons: commas or tabs are needed, and numbers with decimal points",
    ),
    "no header": (lambda _: "0.5,1\n0.25,3\n0.125,2\n", "line 1: numbers where the names of the columns should be, 0."),
    "UTF-16": (lambda text: text.encode("utf-16"), "the text is UTF-16, not UTF-8: save it as UTF-8"),
    "UTF-16 without its mark": (lambda text: text.encode("utf-16-le"), "the text is UTF-16, not UTF-8"),
    "Latin-1": (lambda text: ("é" + text).encode("latin-1"), "not UTF-8 text"),
    "a quote that does not end": (lambda text: text + '"1,2\n3,4\n', "line 4: unexpected end of data"),
    "a short row": (lambda text: text + "\n7\n", "line 5: 1 cells, and the header has 2"),
    "nothing": (lambda _: "", "a header and"),
}  # fmt: skip


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("what", BAD)
def test_what_no_table_may_look_like(name, what, tmp_path):
    make, text = READERS[name]
    change, message = BAD[what]
    found = refused(make, write(tmp_path, change(text)))
    assert message in found
    assert "table.csv" in found


def test_lines_are_those_of_an_editor_also_after_quoted_line_ends(tmp_path):
    text = 'label,a,b\n"one\ntwo\r\n\nthree",1,2\n\nmon,2,3\n"\ntue",3,x\n'
    table = Table.read(write(tmp_path, text))
    assert [line for line, _ in table.rows] == [2, 7, 8]
    assert table.rows[0][1] == ["one\ntwo\r\n\nthree", "1", "2"]
    assert "line 8, column 'b': must be a finite number, got 'x'" in refused(
        jb.empirical_from_csv, tmp_path / "table.csv"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        # Each of these once lost a row or an arm without a word, or took an index or 1000 for a reward.
        ("mon,1,2\ntue,3,5\nwed,4,1\n", "numbers where the names of the arms should be, 1, 2: the file needs a header"),
        ("0.5,nan\n1,2\n3,4\n", "line 1: numbers where the names of the columns should be"),
        (
            "a\tb\tc\n0,5\t1\t2\n0,7\t2\t1\n",
            "line 2, column 'a': must be a finite number, got '0,5': decimals are written with a",
        ),
        ("a,b,c\nnan,1,2\nnan,2,1\n", "line 2, column 'a': must be a finite number, got 'nan'"),
        ("a,b,c\n,1,2\n,2,1\n", "line 2, column 'a': is missing"),
        (",a,b\n0,1,2\n1,2,1\n", "column 1 has no name: leave it out if it is an index"),
        ("a,b\n1_000,1\n2,2\n", "line 2, column 'a': must be a finite number, got '1_000'"),
        ("day,a,b\nmon,1,\ntue,2,3\n", "line 2, column 'b': is missing"),
    ],
)
def test_nothing_of_a_table_of_rewards_is_lost(text, message, tmp_path):
    assert message in refused(jb.empirical_from_csv, write(tmp_path, text))


def test_labels_of_rows_are_left_out(tmp_path):
    for text in (
        "day,a,b\nmon,1,2\ntue,3,4\n",
        ",a,b\n2020-01-01,1,2\n,3,4\n",
        "day\ta\tb\n1 May\t1\t2\n2 May\t3\t4\n",
    ):
        assert np.asarray(jb.empirical_from_csv(write(tmp_path, text)).table).tolist() == [[1, 3], [2, 4]]


@pytest.mark.parametrize(
    ("make", "text", "message"),
    [
        (workers_from_csv, "accuracy,Accuracy\n0.5,0.6\n0.7,0.8\n", "there are 2 columns 'accuracy'"),
        (workers_from_csv, 'worker,accuracy\na,"0,5"\nb,0.4\n', "must be a finite number, got '0,5': decimals are"),
        (jb.reservoir_from_csv, 'reward,cost\n0.5,"1,0"\n0.5,1\n', "must be a finite number, got '1,0': decimals"),
        (jb.click_rates, "impressions,clicks\n10,2.5\n10,2\n", "must be a whole number, at least 0, got '2.5'"),
        (jb.click_rates, "impressions,clicks\n1_0,2\n10,2\n", "must be a finite number, got '1_0'"),
        (jb.click_rates, "impressions,clicks\n10,2\n10,12\n", "line 3, column 'clicks': 12 clicks of 10 impressions"),
    ],
)  # fmt: skip
def test_named_columns(make, text, message, tmp_path):
    assert message in refused(make, write(tmp_path, text))


def test_a_folder_is_no_file(tmp_path):
    assert "Is a directory" in refused(jb.click_rates, tmp_path)
    assert rte_workers().arms == 164


def readers(source):
    """What a module reads CSV with: the standard library, NumPy or pandas."""
    names = {"genfromtxt", "loadtxt", "read_csv", "read_table"}
    return [
        ast.unparse(node)
        for node in ast.walk(ast.parse(source))
        if (isinstance(node, ast.Import) and any(alias.name == "csv" for alias in node.names))
        or (isinstance(node, ast.ImportFrom) and node.module == "csv" and [n.name for n in node.names] != ["writer"])
        or (isinstance(node, ast.Attribute) and node.attr in names)
    ]


def test_there_is_one_reader():
    assert not readers("from csv import writer")
    assert all(map(readers, ["import csv", "from csv import reader", "np.genfromtxt(file)", "pandas.read_csv(file)"]))
    package = Path(jb.__file__).parent
    found = [path.relative_to(package).as_posix() for path in package.rglob("*.py") if readers(path.read_text())]
    assert found == ["io/csv_files.py"]
