"""Scores from files: wide and long form, as evaluation harnesses write them, and files that are mangled."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import jaxbandits as jb
from jaxbandits.io.serialize import File
from jaxbandits.sweeps.spec import parse_problem

WIDE = "item,a,b,c\nq1,1,0,0.5\nq2,,1,1\nq3,0,1,NA\n"
LONG = "model,item,acc,latency\na,q1,1,3\nb,q1,0,4\nc,q1,0.5,5\nb,q2,1,6\nc,q2,1,7\na,q3,0,8\nb,q3,True,9\nc,q3,,2\n"
SCORES = np.asarray([[1, 0, 0.5], [np.nan, 1, 1], [0, 1, np.nan]])


def written(tmp_path, text, name="scores.csv"):
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize("bare", [True, False])
def test_wide_form(tmp_path, bare):
    text = "\n".join(line.partition(",")[2] for line in WIDE.splitlines()) if bare else WIDE
    problem = parse_problem(f"matrix:{written(tmp_path, text)}")
    np.testing.assert_array_equal(np.asarray(problem.table).T, SCORES)
    assert problem.gaps
    assert problem.paired


def test_long_form_with_several_metrics(tmp_path):
    file = written(tmp_path, LONG)
    problem = parse_problem(f"matrix:scores={file},score=acc,paired=false")
    np.testing.assert_array_equal(np.asarray(problem.table).T, SCORES)
    assert not problem.paired
    latency = jb.matrix(file, score="latency")
    np.testing.assert_array_equal(np.asarray(latency.table)[1], [4, 6, 9])
    other = written(tmp_path, LONG.replace("model,item", "llm,question_id"), "other.csv")
    again = parse_problem(f"matrix:scores={other},item=question_id,model=llm,score=acc")
    np.testing.assert_array_equal(again.table, problem.table)


WEIGHTS = np.asarray([1.0, 0.0, 3.0])


@pytest.mark.parametrize("form", ["wide", "long", "numbers"])
def test_the_best_is_that_of_the_weighted_means(tmp_path, form):
    if form == "numbers":
        problem = jb.matrix(SCORES, weights=WEIGHTS)
    else:
        text = "item,weight,a,b,c\nq1,1,1,0,0.5\nq2,0,,1,1\nq3,3,0,1,NA\n"
        if form == "long":
            text = (
                "model,item,w,acc\na,q1,1,1\nb,q1,1,0\nc,q1,1,0.5\nb,q2,0,1\nc,q2,0,1\na,q3,3,0\nb,q3,3,True\nc,q3,3,\n"
            )
        column = "weight" if form == "wide" else "w"
        problem = parse_problem(f"matrix:scores={written(tmp_path, text)},weights={column}")
    wanted = [np.average(x[~np.isnan(x)], weights=WEIGHTS[~np.isnan(x)]) for x in SCORES.T]
    np.testing.assert_allclose(problem.mean, wanted, rtol=1e-6)
    np.testing.assert_array_equal(problem.cells, [2, 2, 1])
    ds = jb.simulate(jb.Uniform(budget=20), problem, seeds=5)
    assert ds.correct.all()
    assert (ds.evaluations == 5).all()


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, 2.0], "one entry for each of 3 items"),
        ([1.0, -2.0, 1.0], "weights must be finite and at least 0"),
        ([0.0, 0.0, 0.0], "all weights are 0"),
        ([0.0, 1.0, 0.0], "column 1 has no score"),
        ("weight", "weights names a column of a file"),
    ],
)
def test_bad_weights_are_refused(weights, message):
    with pytest.raises(jb.UsageError, match=message):
        jb.matrix(SCORES, weights=weights)


def test_items_that_are_numbers_are_named(tmp_path):
    file = written(tmp_path, "id,a,b\n11,1,0\n12,0,1\n13,1,1\n14,1,0\n15,1,0\n")
    with pytest.raises(jb.UsageError, match="column 'id' looks like an index of the rows"):
        jb.matrix(file)
    assert jb.matrix(file, item="id").arms == 2


def test_files_are_in_specifications(tmp_path):
    file = written(tmp_path, WIDE)
    ds = jb.simulate(jb.Uniform(budget=9), jb.matrix(str(file)), seeds=4)
    assert (ds.evaluations == 7).all()
    assert (jb.repeat(ds).recommended == ds.recommended).all()
    file.write_text(WIDE.replace("q1,1", "q1,0"), encoding="utf-8")
    with pytest.raises(jb.UsageError, match="no longer holds"):
        jb.repeat(ds)


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("", {}, "a header and a row or more"),
        ("a,b\n", {}, "a header and a row or more"),
        ("item,a\nq,1\nr,0\n", {}, "column per candidate is needed, and two or more, got 1"),
        ("item,a,b\nq1,1,0\nq2,x,1\n", {}, "line 3, column 'a': must be a finite number, got 'x'"),
        ("item,a,b\nq1,1,0\nq2,50%,1\n", {}, "line 3, column 'a'.*percentage"),
        ("item,a,b\nq1,1,0\nq2,1\n", {}, "line 3: 2 cells, and the header has 3"),
        ("item,a,b\nq1,1,\nq2,0,\n", {}, "column 'b' has no score"),
        ("item,a,b\nq1,1,1\nq2,1,1\n", {}, "all scores are 1"),
        ("item,a,a\nq1,1,0\nq2,1,1\n", {}, "there are 2 columns 'a'"),
        ("item,a,\nq1,1,0\nq2,1,1\n", {}, "column 3 has no name"),
        ("item,a,b\nq1,1,0\nq2,0,1\n", {"score": "acc"}, "score=acc is for a file with a row per score"),
        ("item,a,b\nq1,1,0\nq2,0,1\n", {"item": "question"}, "unknown .*column 'question'"),
        (LONG, {}, "say score= one of 'acc', 'latency'"),
        (LONG, {"score": "ac"}, "unknown .*column of scores 'ac'; did you mean 'acc'"),
        ("model,item,score\na,q,1\na,q,0\nb,q,1\n", {}, "line 3, column 'score': item 'q' has a score of 'a' already"),
        ("model,item,score\na,q,1\n,q,0\n", {}, "line 3, column 'model': is missing"),
        ("model,item,score\na,q,1\na,r,0\n", {}, "two candidates or more are needed, and all rows are of 'a'"),
        ("model,item\na,q\nb,q\n", {}, "a column of scores is needed"),
        (WIDE, {"weights": "w"}, "unknown .*column of weights 'w'"),
        ("item,w,a,b\nq1,1,1,0\nq2,x,0,1\n", {"weights": "w"}, "line 3, column 'w': must be a finite number, got 'x'"),
        ("item,w,a,b\nq1,1,1,0\nq2,-1,0,1\n", {"weights": "w"}, "line 3, column 'w': must be finite and at least 0"),
        (
            "model,item,w,score\na,q,1,1\nb,q,2,0\n",
            {"weights": "w"},
            "line 3, column 'w': item 'q' had the weight 1 before",
        ),
        ("model,item,score,score\na,q,1,1\nb,q,0,1\n", {}, "there are 2 columns 'score'"),
    ],
)
def test_bad_files_are_refused_in_one_line(tmp_path, text, options, message):
    with pytest.raises(jb.UsageError, match=message) as error:
        jb.matrix(written(tmp_path, text), **options)
    assert "\n" not in str(error.value)
    assert "scores.csv" in str(error.value)


def test_no_such_file():
    with pytest.raises(jb.UsageError, match=r"cannot read nowhere\.csv: No such file"):
        parse_problem("matrix:nowhere.csv")


CELLS = st.one_of(
    st.sampled_from(["", "NA", "nan", "inf", "-inf", "1e400", "1e-50", "1e30", "True", "0", "1", "0.5", "1,5"]),
    st.sampled_from(["item", "model", "score", "a", "q1", '"', "\t", ";", "\x00", "\ufeff", "٣", "0x1F", "--1", "50%"]),
    st.floats(width=32).map(str),
    st.text(max_size=6),
)


def read_or_refused(text, **options):
    """Return the matrix of a file, or None where one line with the file's name refuses it."""
    try:
        return jb.matrix(File.of("mangled.csv", text.encode("utf-8", "surrogatepass")), **options)
    except jb.UsageError as error:
        line = str(error)
    assert "\n" not in line
    assert "mangled.csv" in line
    return None


@settings(max_examples=400, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(
    rows=st.lists(st.lists(CELLS, max_size=5), max_size=7),
    header=st.sampled_from([[], ["item", "a", "b"], ["model", "item", "score"], ["a", "b"]]),
    ends=st.sampled_from(["\n", "\r\n", "\r"]),
    option=st.sampled_from(
        [{}, {"score": "score"}, {"item": "a", "model": "b"}, {"item": "model"}, {"weights": "b"}, {"weights": "score"}]
    ),
)
def test_mangled_tables_are_read_or_refused_in_one_line(rows, header, ends, option):
    """A matrix that is read has the means of its table."""
    problem = read_or_refused(ends.join(",".join(row) for row in [header, *rows] if row), **option)
    if problem is not None and "weights" not in option:
        table = np.asarray(problem.table, np.float64)
        np.testing.assert_allclose(problem.mean, np.nanmean(table, axis=1), rtol=1e-6, atol=1e-30)
        assert (np.asarray(problem.cells) == (~np.isnan(table)).sum(axis=1)).all()
        assert np.isfinite(problem.variance).all()


@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    which=st.sampled_from([WIDE, LONG]), place=st.integers(0, 200), what=st.sampled_from('",\n\t x;-9.e\x00'),
    removes=st.integers(0, 3),
)  # fmt: skip
def test_a_file_with_an_edit_is_read_or_refused_in_one_line(which, place, what, removes):
    place = place % len(which)
    read_or_refused(which[:place] + what + which[place + removes :], score="acc" if which is LONG else "")
