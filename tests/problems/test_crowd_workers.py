"""Crowd workers: the published accuracies, tables read and tables refused."""

from pathlib import Path

import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits.sweeps.spec import build_problem, parse_problem

# Tables without an express licence never enter the project: they are looked for in a folder `shared` around it.
FOLDERS = [folder / "shared" / "data" for folder in Path(__file__).parents]
SHARED = next((folder for folder in FOLDERS if (folder / "crowd_worker_accuracy.csv").is_file()), None)

ANSWERS = """\
item,worker,answer,gold
1,ann,1,1
1,bob,0,1
2,ann,0,0
2,bob,0.0,0
3,cid,1,1
3,bob,2,0
4,ann,1,
"""


def write(folder, text, name="workers.csv"):
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def test_rte_workers():
    problem = jb.rte_workers()
    theta = np.asarray(problem.mean, np.float64)
    assert problem.arms == 164
    assert (np.diff(theta) <= 0).all()
    values, counts = np.unique(theta.round(3), return_counts=True)
    assert counts[values == 0.997] == 13
    assert counts[values == 0.901] == 35
    assert counts[values == 0.403] == 1
    assert len(values) == 29
    # The answers of Snow et al. (2008) themselves, in bars of .006: mean .837, standard deviation .122.
    assert theta.mean() == pytest.approx(0.837, abs=3e-3)
    assert theta.std(ddof=1) == pytest.approx(0.122, abs=3e-3)
    np.testing.assert_array_equal(parse_problem("rte-workers").mean, problem.mean)


def test_a_table_with_a_row_per_answer(tmp_path):
    problem = jb.workers_from_csv(write(tmp_path, ANSWERS))
    np.testing.assert_allclose(problem.mean, [1.0, 1.0, 1 / 3], rtol=1e-6)
    assert isinstance(problem, jb.problems.Bernoulli)
    few = jb.workers_from_csv(write(tmp_path, ANSWERS), min_answers=2)
    np.testing.assert_allclose(few.mean, [1.0, 1 / 3], rtol=1e-6)


def test_the_files_of_snow_et_al_are_separated_by_tabs(tmp_path):
    text = "!amt_worker_ids\torig_id\tresponse\tgold\nA1\t5\t1\t1\nA2\t5\t0\t1\nA1\t6\t1\t0\n"
    problem = jb.workers_from_csv(write(tmp_path, text, "rte.standardized.tsv"))
    np.testing.assert_allclose(problem.mean, [0.5, 0.0])


def test_a_table_with_a_row_per_worker(tmp_path):
    file = write(tmp_path, "\ufeffaccuracy\n0.5\n\n1\n.75\n")
    np.testing.assert_allclose(jb.workers_from_csv(file).mean, [1.0, 0.75, 0.5])
    text = "dataset,worker,n_answers,n_correct,accuracy\na,0,40,20,.5\na,1,10,9,.9\nb,0,40,10,.25\na,2,20,12,.6\n"
    file = write(tmp_path, text)
    np.testing.assert_allclose(jb.workers_from_csv(file, dataset="a").mean, [0.9, 0.6, 0.5], rtol=1e-6)
    np.testing.assert_allclose(jb.workers_from_csv(file, "a", 20).mean, [0.6, 0.5], rtol=1e-6)


def test_specs_and_a_sweep_over_the_least_number_of_answers(tmp_path):
    file = write(tmp_path, ANSWERS)
    wanted = jb.workers_from_csv(file, min_answers=2)
    for found in (
        parse_problem(f"workers:path={file},min_answers=2"),
        build_problem({"name": "workers", "path": str(file), "min_answers": 2}),
        parse_problem(wanted.name),
    ):
        np.testing.assert_array_equal(found.mean, wanted.mean)
        assert found.name == wanted.name
    assert parse_problem(f"workers:{file}").arms == 3
    ds = jb.sweep(jb.Uniform(budget=30), jb.workers_from_csv(file, min_answers=jb.axis([1, 2])), seeds=4)
    assert dict(ds.pulls.sizes) == {"min_answers": 2, "seed": 4}
    np.testing.assert_array_equal(jb.repeat(ds).recommended, ds.recommended)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("worker,accuracy\na,.9\nb,\n", r"line 3, column 'accuracy': is missing"),
        ("worker,accuracy\na,.9\n\nb,high\n", r"line 4, column 'accuracy': must be a finite number, got 'high'"),
        ("worker,accuracy\na,.9\nb,1.1\n", r"line 3, column 'accuracy': must lie in \[0, 1\], got '1.1'"),
        ("worker,accuracy\na,.9\nb,nan\n", r"line 3, column 'accuracy': must be a finite number, got 'nan'"),
        ("worker,accuracy\na,.9\nb,.8\na,.7\n", r"line 4, column 'worker': worker 'a' has a row already"),
        ("worker,accuracy\na,.9\nb\n", r"line 3: 1 cells, and the header has 2"),
        ("worker,accuracy\na,.9\n", r"two workers or more are needed, got 1"),
        ("worker,accuracy\n", r"a header and a row .* are needed, got 1 line"),
        ("", r"got 0 line"),
        (".9\n.8\n", r"line 1: numbers where the names of the columns should be, \.9"),
        ("item,worker,answer\n1,a,1\n", r"got item, worker, answer"),
        ("worker,answer,gold\na,1,1\n,1,1\n", r"line 3, column 'worker': is missing"),
        ("worker,label,gold\na,1,1\nb,,1\n", r"line 3, column 'label': is missing"),
        ("worker,answer,gold\na,1,\nb,1,\n", r"no row has a value in the column 'gold'"),
        ("dataset,worker,accuracy\nx,a,.9\ny,b,.9\n", r"holds x, y: choose one with dataset="),
        ("dataset,worker,accuracy\nx,a,.9\n,b,.9\n", r"line 3, column 'dataset': is missing"),
    ],
)
def test_bad_tables_are_refused_in_one_line(tmp_path, text, message):
    file = write(tmp_path, text, "bad.csv")
    with pytest.raises(jb.UsageError, match=message) as error:
        parse_problem(f"workers:{file}")
    assert "\n" not in str(error.value)
    assert "bad.csv" in str(error.value)


def test_gold_that_is_not_known(tmp_path):
    """R and pandas write NA or NaN there, and such a row counted as a wrong answer."""
    rows = "worker,answer,gold\na,yes,yes\na,no,NA\nb,no,yes\nb,yes,nan\nb,yes,yes\n"
    np.testing.assert_allclose(jb.workers_from_csv(write(tmp_path, rows)).mean, [1, 0.5])
    # `none` is an answer here: c is right, and d is not.
    rows = "worker,answer,gold\nc,none,none\nd,x,none\nd,y,y\n"
    np.testing.assert_allclose(jb.workers_from_csv(write(tmp_path, rows)).mean, [1, 0.5])
    # An answer that is missing is not right where gold is missing, too.
    rows = "worker,answer,gold\nc,yes,yes\nc,NA,NA\nd,x,yes\n"
    with pytest.raises(jb.UsageError, match=r"line 3, column 'gold': 'NA' is among the answers: leave missing cells"):
        jb.workers_from_csv(write(tmp_path, rows))


def test_bad_arguments(tmp_path):
    file = write(tmp_path, "dataset,accuracy\nrte,.9\nrte,.8\n")
    with pytest.raises(jb.UsageError, match="did you mean 'rte'"):
        jb.workers_from_csv(file, dataset="rtf")
    with pytest.raises(jb.UsageError, match="no column n_answers"):
        jb.workers_from_csv(file, min_answers=5)
    with pytest.raises(jb.UsageError, match="at least 1, got 0"):
        jb.workers_from_csv(file, min_answers=0)
    with pytest.raises(jb.UsageError, match="no column dataset to find 'rte' in"):
        jb.workers_from_csv(write(tmp_path, "accuracy\n.9\n.8\n"), dataset="rte")
    with pytest.raises(jb.UsageError, match=r"cannot read nowhere\.csv: No such file"):
        parse_problem("workers:nowhere.csv")
    with pytest.raises(jb.UsageError, match="missing a required argument: 'path'; its arguments are path, "):
        parse_problem("workers")


@pytest.mark.skipif(SHARED is None, reason="the tables of crowd answers are not in the project")
@pytest.mark.parametrize("dataset", ["rte", "temp"])
def test_answers_and_accuracies_of_the_real_tables_agree(dataset):
    stated = jb.workers_from_csv(SHARED / "crowd_worker_accuracy.csv", dataset)
    counted = jb.workers_from_csv(SHARED / "snow2008_rte_temp_answers.csv", dataset)
    np.testing.assert_allclose(stated.mean, counted.mean, atol=1e-6)
    assert stated.arms == {"rte": 164, "temp": 76}[dataset]
    forty = jb.workers_from_csv(SHARED / "crowd_worker_accuracy.csv", dataset, min_answers=40)
    assert forty.arms == {"rte": 40, "temp": 25}[dataset]


@pytest.mark.skipif(SHARED is None, reason="the tables of crowd answers are not in the project")
def test_published_accuracies_are_those_of_the_answers():
    """Within a bar of the figure, arm by arm in order of accuracy."""
    counted = np.asarray(jb.workers_from_csv(SHARED / "snow2008_rte_temp_answers.csv", "rte").mean)
    assert np.abs(counted - np.asarray(jb.rte_workers().mean)).max() < 0.0061
