"""Tables for papers: rounding, bold cells, bounds, and text that is escaped in every format."""

import csv
import html.parser
import io
import itertools
import re

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from matplotlib.mathtext import MathTextParser

import jaxbandits as jb
from jaxbandits.report import formatting
from jaxbandits.report.rounded_cells import Cell, rounded_cell
from jaxbandits.report.table_formats import plain

#: Text that each format has to escape.
NASTY = '50% & $x_1$ {a} \\b ~^#|<i>"c, d"[*]\nnext ε'


@pytest.fixture
def study(make):
    """Three algorithms, of which two are equally good, over two sizes."""
    ds = make({"algorithm": ["ugapec", "lucb", "slow"], "n": [4, 8]})
    rng = np.random.default_rng(0)
    shared = rng.gamma(4, 250, (1, 2, 40))
    pulls = shared * np.array([1, 1, 2])[:, None, None] + rng.gamma(4, 20, (3, 2, 40))
    ds["pulls"] = ds["pulls"].dims, np.round(pulls).astype(np.int64), {"units": "pulls"}
    return ds


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ((5962.4, 5811.3, 6113.5), "5,960 ± 150"),
        ((5962.4, 5945.3, 5979.5), "5,962 ± 17"),
        ((0.12345, 0.1134, 0.1335), "0.123 ± 0.010"),
        ((12.0, 12 - 0.0996, 12 + 0.0996), "12.00 ± 0.10"),  # rounded up to one more digit
        ((99.96, 99.0, 100.92), "99.96 ± 0.96"),
        ((7.0, 7.0, 7.0), "7 ± 0"),
        ((1234567.0, 1234567.0, 1234567.0), "1,234,567 ± 0"),
        ((123.4, 123.4, 123.4), "123.4 ± 0"),
        ((3.25, np.nan, np.nan), "3.25"),
        ((np.nan, np.nan, np.nan), "–"),
        ((1.2345e12, 1.2e12, 1.269e12), "(1.234 ± 0.035)×10^12"),
        ((1.5e-7, 1e-7, 2e-7), "(1.50 ± 0.50)×10^-7"),
        ((-0.001, -0.06, 0.058), "-0.001 ± 0.059"),
        ((0.0, -5.0, 5.0), "0.0 ± 5.0"),
    ],
)
def test_means_are_rounded_by_two_digits_of_their_half_width(numbers, text):
    assert plain(rounded_cell(*numbers)) == text


def test_rates_and_bounds():
    assert plain(rounded_cell(0.03, 0.011, 0.0642, of_rate=True)) == "0.030 [0.011, 0.064]"
    assert plain(rounded_cell(0.0, 0.0, 0.0183, of_rate=True)) == "0.0000 [0.0000, 0.0183]"
    assert plain(rounded_cell(5962.4, 5811.3, np.inf, at_least=True)) == "≥ 5,960"
    assert plain(rounded_cell(5000.0, 5000.0, np.inf, at_least=True)) == "≥ 5,000"
    assert plain(rounded_cell(1236000.0, 1236000.0, np.inf, at_least=True)) == "≥ 1,236,000"
    assert rounded_cell(1.0, 0.5, 1.5, bold=True) == Cell("1.00", "0.50", bold=True)


def test_the_cells_are_those_of_the_summary_and_of_find_best(study):
    rows = list(csv.reader(io.StringIO(jb.table(study, "algorithm", "n", format="csv"))))
    known, best = jb.summary(study), jb.find_best(study)
    assert rows[0] == ["algorithm", "n = 4", "n = 8"]
    assert [row[0] for row in rows[1:]] == ["ugapec", "lucb", "slow"]
    for row in rows[1:]:
        for n, text in zip([4, 8], row[1:], strict=True):
            at = {"algorithm": row[0], "n": n}
            mean, half = (float(part) for part in text.removesuffix(" *").split(" ± "))
            exact = known.sel(at)
            assert mean == pytest.approx(exact["pulls_mean"].item(), abs=half / 10)
            assert half == pytest.approx((exact["pulls_high"] - exact["pulls_mean"]).item(), rel=0.05)
            assert text.endswith(" *") == best["among_best"].sel(at).item()
    assert best["among_best"].values.tolist()[2] == [False, False]


def test_more_rows_than_a_page_has_make_a_table_over_several(study):
    wide = xr.concat([study.assign_coords(n=study.n + 10 * i) for i in range(7)], "n")  # 42 rows
    text = jb.table(wide, ["algorithm", "n"], format="latex")
    check_latex(text)
    assert r"\begin{longtable}{llr}" in text
    assert r"\usepackage{booktabs, longtable}" in text
    assert text.index(r"\midrule") < text.index(r"\endhead") < text.index("ugapec")
    assert r"\begin{tabular}" in jb.table(wide.isel(n=slice(13)), ["algorithm", "n"], format="latex")


def test_a_table_of_several_values(study):
    lines = jb.table(study, ["algorithm"], "n", ["pulls", "failure"]).splitlines()
    assert [cell.strip() for cell in lines[0].strip("|").split("|")] == [
        "algorithm", "n = 4, pulls", "n = 4, failure", "n = 8, pulls", "n = 8, failure"
    ]  # fmt: skip
    assert len({line.count("|") for line in lines[:5]}) == 1
    assert lines[5] == ""
    assert "Clopper and Pearson" in lines[6]
    assert "Bold: those of algorithm" in lines[6]


def test_truncated_runs_are_marked(study):
    study["status"][0, 1, 3] = 1
    text = jb.table(study, "algorithm", "n")
    assert text.count("≥ ") == 1
    assert "≥: 1 of 240 runs are truncated, and their means are lower bounds." in text
    assert r"{\boldmath $\geq " in jb.table(study, "algorithm", "n", format="latex")
    assert "≥" not in jb.table(study, "algorithm", "n", "failure")
    assert jb.table(study, format="frame")["truncated"].sum() == 1


def test_what_is_bold(study):
    assert jb.table(study).count("**") > 0
    assert "**" not in jb.table(study, best=None)
    assert "Bold" not in jb.table(study, best=None)
    assert "**" not in jb.table(jb.summary(study))
    assert "**" not in jb.table(study.isel(algorithm=0))
    assert "Bold: those of n" in jb.table(study, best="n")


def check_latex(text):
    """Refuse what LaTeX would not compile, strictly: only what these tables are made of is let pass."""
    lines = [line for line in text.splitlines() if not line.startswith("%")]
    kind, labels, numbers = re.fullmatch(r"\\begin\{(tabular|longtable)\}\{(l*)(r+)\}", lines[0]).groups()
    assert lines[1] == r"\toprule"
    assert lines[-2:] == [r"\bottomrule", rf"\end{{{kind}}}"]
    assert lines.count(r"\endhead") == (kind == "longtable")
    lines = [line for line in lines if line != r"\endhead"]
    width = len(labels + numbers)
    middle = lines.index(r"\midrule")
    rows = [lines[middle - 1], *lines[middle + 1 : -2]]
    for line, rules in zip(lines[2 : middle - 1 : 2], lines[3 : middle - 1 : 2], strict=True):
        spans = [int(count) for count in re.findall(r"\\multicolumn\{(\d+)\}\{c\}", line)]
        ends = np.cumsum([len(labels), *spans])
        assert rules == "".join(rf"\cmidrule(lr){{{one + 1}-{two}}}" for one, two in itertools.pairwise(ends))
        # A cell of n columns is like one cell and n - 1 empty ones.
        rows.append(re.sub(r"\\multicolumn\{(\d+)\}\{c\}", lambda found: " & " * (int(found[1]) - 1), line))
    for line in rows:
        assert line.endswith(r" \\")
        assert line[0] not in "[*"
        row = line.removesuffix(r" \\")
        assert len(re.findall(r"(?<!\\)&", row)) == width - 1
        depth = 0
        for token in re.findall(r"\\[a-zA-Z]+|\\.|.", row):
            depth += {"{": 1, "}": -1}.get(token, 0)
            assert depth >= 0
        assert depth == 0
        for cell in re.split(r"(?<!\\)&", row):
            pieces = re.split(r"(?<!\\)\$", cell)
            assert len(pieces) % 2 == 1, "a formula has no end"
            for formula in pieces[1::2]:
                MathTextParser("path").parse(f"${formula}$".replace(r"\mbox{--}", "-"))
            words = "".join(pieces[::2])
            assert not re.search(r"(?<!\\)[#%_~^<>|\"]", words.replace('"', "")), words
            commands = {"boldmath", "textbackslash", "textasciitilde", "textasciicircum", "textless", "textgreater",
                        "textbar", "ldots"}  # fmt: skip
            assert set(re.findall(r"\\([a-zA-Z]+)", words)) <= commands
            assert words.isascii()


def test_latex(study):
    check_latex(jb.table(study, "algorithm", "n", ["pulls", "failure", "simple_regret"], format="latex"))
    check_latex(jb.table(study.isel(algorithm=0, n=0), format="latex"))
    nasty = study.assign_coords(algorithm=[NASTY, "[1, 2]", "*"])
    nasty["status"][:] = 1
    nasty["simple_regret"] = nasty["simple_regret"] * 1e-9
    for rows in ("algorithm", "n"):
        text = jb.table(
            nasty, rows, {"algorithm": "n", "n": "algorithm"}[rows], ["pulls", "simple_regret"], format="latex"
        )
        check_latex(text)
        assert r"50\% \& \$x\_1\$ \{a\} \textbackslash{}b" in text


def test_greek_letters_are_those_of_mathematics(study):
    """All that LaTeX has a command for."""
    letters = [*"αβγδεζηθικλμνξπρςστυφχψω", *"ΓΔΘΛΞΠΣΦΨΩ"]
    text = jb.table(study.assign_coords(algorithm=["".join(letters), "b", "c"]), format="latex")
    check_latex(text)
    for name in ("kappa", "omega", "Theta", "varsigma"):
        assert rf"$\{name}$" in text


def test_a_heading_spans_the_columns_that_share_it(study):
    two = study.isel(n=[0, 1])
    lines = jb.table(two, "algorithm", "n", ["pulls", "failure"], format="latex").splitlines()
    first, second = (f"n = {value:g}" for value in two.n.values)
    assert rf" & \multicolumn{{2}}{{c}}{{{first}}} & \multicolumn{{2}}{{c}}{{{second}}} \\" in lines
    assert r"\cmidrule(lr){2-3}\cmidrule(lr){4-5}" in lines
    assert r"algorithm & pulls & failure & pulls & failure \\" in lines
    page = jb.table(two, "algorithm", "n", ["pulls", "failure"], format="html")
    assert page.count('<th scope="colgroup" colspan="2">n&nbsp;=&nbsp;') == 2
    # Neighbours with the same name below different ones are apart.
    wide = two.isel(algorithm=[0]).expand_dims(problem=["p", "q"]).isel(n=[0])
    lines = jb.table(wide, "algorithm", ["problem", "n"], format="latex", best=None).splitlines()
    assert rf"algorithm & {first} & {first} \\" in lines


@pytest.mark.parametrize(
    ("old", "new"),
    [(" & ", " "), ("{,}", "{,"), (r"\_", "_"), (r" \\", ""), (r"$\geq", r"\geq"), (r"\pm", r"\pn"), ("a", "ä")],
)
def test_latex_that_does_not_compile_is_found(study, old, new):
    study["status"][0, 0, 0] = 1
    head, rule, body = jb.table(study.assign_coords(algorithm=["a_b", "c", "d"]), format="latex").partition(r"\toprule")
    check_latex(head + rule + body)
    assert old in body
    with pytest.raises((AssertionError, ValueError)):
        check_latex(head + rule + body.replace(old, new, 1))


def test_markdown_is_escaped(study):
    lines = jb.table(study.assign_coords(algorithm=[NASTY, "lucb", "a_b*"])).splitlines()
    bars = {len(re.findall(r"(?<!\\)\|", line)) for line in lines[:8]}
    assert len(bars) == 1
    assert r"a\_b\*" in lines[6]


def test_a_heading_of_html_keeps_a_name_with_its_value(study):
    text = jb.table(study, "algorithm", "n", format="html")
    assert '<th scope="col">n&nbsp;=&nbsp;' in text
    assert " = " not in text.partition("</thead>")[0].partition("<thead>")[2]


def test_html_is_escaped(study):
    text = jb.table(study.assign_coords(algorithm=[NASTY, "lucb", "a"]), "algorithm", "n", format="html")
    seen, stack = [], []

    class Parser(html.parser.HTMLParser):
        def handle_starttag(self, tag, attrs):
            stack.append(tag)

        def handle_endtag(self, tag):
            assert stack.pop() == tag

        def handle_data(self, data):
            seen.append(data)

    parser = Parser()
    parser.feed(text)
    parser.close()
    assert not stack
    assert " ".join(NASTY.split()) in seen
    assert text.count("<tr>") == 4


def test_csv_is_quoted(study):
    rows = list(csv.reader(io.StringIO(jb.table(study.assign_coords(algorithm=[NASTY, "a,b", "a"]), format="csv"))))
    assert {len(row) for row in rows} == {3}
    assert rows[1][0] == NASTY
    assert rows[3][0] == "a,b"


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([1234567, 1234999], ["1,234,567", "1,234,999"]),
        ([0.12341, 0.12342], ["0.12341", "0.12342"]),
        ([0.15848931924611134, 0.01], ["0.158", "0.01"]),
        ([1e-9, np.inf], ["1e-09", "∞"]),
        ([True, False], ["True", "False"]),
    ],
)
def test_labels_are_distinguished_and_whole_ones_are_in_full(values, texts):
    """For programs they are as given."""
    assert formatting.texts(values) == texts
    ds = xr.Dataset({"pulls": (("x", "seed"), [[3, 4, 5], [6, 7, 8]])}, {"x": values})
    assert [row[2:-1].split(" | ")[0].strip() for row in jb.table(ds).splitlines()[2:4]] == texts
    heading = jb.table(ds, columns="x").splitlines()[0].strip("| ").split(" | ")
    assert [cell.strip() for cell in heading] == [f"x = {text}" for text in texts]
    rows = list(csv.reader(io.StringIO(jb.table(ds, format="csv"))))
    assert [row[0] for row in rows[1:]] == [str(value) for value in values]
    across = next(csv.reader(io.StringIO(jb.table(ds, columns="x", format="csv"))))
    assert across == [f"x = {value}" for value in values]
    picture = jb.plot.distribution(ds, hue="x", title="")
    assert [text.get_text() for text in picture.axes[0].get_legend().get_texts()] == texts


def test_a_frame_has_numbers_that_are_not_rounded(study):
    frame = jb.table(study, value=["pulls", "failure"], format="frame")
    assert list(frame.columns) == [
        "algorithm", "n", "pulls_mean", "pulls_low", "pulls_high", "pulls_best", "failure", "failure_low",
        "failure_high", "failure_best", "runs", "truncated",
    ]  # fmt: skip
    assert len(frame) == 6
    known = jb.summary(study)
    for row in frame.itertuples():
        assert row.pulls_mean == known["pulls_mean"].sel(algorithm=row.algorithm, n=row.n).item()
    assert isinstance(frame.index, pd.RangeIndex)
    assert len(jb.table(study.isel(algorithm=0, n=0, drop=True), format="frame")) == 1


def test_a_frame_of_zipped_axes(study):
    further = study.isel(algorithm=0, drop=True).assign_coords(delta=("n", [0.1, 0.2]))
    assert jb.table(further, format="frame")["delta"].tolist() == [0.1, 0.2]
    many = pd.MultiIndex.from_arrays([[4, 8], [0.1, 0.2]], names=["size", "delta"])
    zipped = (
        study.isel(algorithm=0, drop=True)
        .drop_vars("n")
        .assign_coords(xr.Coordinates.from_pandas_multiindex(many, "n"))
    )
    frame = jb.table(zipped, format="frame")
    assert frame["size"].tolist() == [4, 8]
    assert frame["delta"].tolist() == [0.1, 0.2]
    assert "(4, 0.1)" in jb.table(zipped)
    assert jb.find_best(zipped, along="n")["among_best"].shape == (2,)


def test_moments_and_datasets_by_name(study):
    by_name = {str(name): study.sel(algorithm=name, drop=True) for name in study["algorithm"].values}
    assert jb.table(by_name, "algorithm", "n") == jb.table(study, "algorithm", "n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"format": "lates"}, "unknown format 'lates'; did you mean 'latex'"),
        ({"rows": "algoritm"}, "unknown dimension 'algoritm'; did you mean 'algorithm'"),
        ({"rows": "algorithm"}, r"dimension 'n' has no place: add it to rows or columns, or ds.sel\(n=4\)"),
        ({"rows": ["n", "algorithm"], "columns": "n"}, "dimension 'n' is given twice"),
        ({"value": "pull"}, "unknown metric 'pull'; did you mean 'pulls'"),
        ({"value": []}, "value must name one metric or several different ones"),
        ({"value": ["pulls", "pulls"]}, "value must name one metric or several different ones"),
        ({"best": "m"}, "unknown dimension of the best 'm'"),
        ({"level": 95}, "level must lie strictly between 0 and 1, got 95"),
    ],
)
def test_bad_input_is_refused_in_one_line(study, arguments, message):
    with pytest.raises(jb.UsageError, match=message) as error:
        jb.table(study, **arguments)
    assert "\n" not in str(error.value)


def test_further_bad_input(study):
    with pytest.raises(jb.UsageError, match="independent=True gave every cell its own rewards"):
        jb.table(study.assign_attrs(spec='{"run": {"independent": true}}'))
    assert jb.table(study.assign_attrs(spec='{"run": {"independent": true}}'), best=None)
    with pytest.raises(jb.UsageError, match=r"intervals of level 0\.9, not 0\.95"):
        jb.table(jb.summary(study, 0.9))
    with pytest.raises(jb.UsageError, match="no value of n"):
        jb.table(study.isel(n=[]))
    with pytest.raises(jb.UsageError, match="a Dataset of runs is needed"):
        jb.table("runs")
