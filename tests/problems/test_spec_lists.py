"""How lists are written in a problem's specification: with commas, by place or by name, with brackets or without."""

import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits.cli import main
from jaxbandits.problems.specs import build_problem, parse_problem

TWO, BANDITS = jb.gaussian([0.7, 0.5], sd=[1, 2]), jb.bernoulli([[0.5, 0.4], [0.6, 0.3]])
SAME = {
    "gaussian:0.7,0.5;1,2": TWO,
    "gaussian:[0.7, 0.5];[1, 2]": TWO,
    "gaussian:means=0.7,0.5,sd=1,2": TWO,
    "gaussian:means=[0.7, 0.5], sd=[1, 2]": TWO,
    "gaussian:0.7,0.5,sd=1,2": TWO,
    "gaussian:0.7,0.5;sd=1,2": TWO,
    "gaussian:sd=1,2,means=0.7,0.5": TWO,
    "gaussian:means=0.7,0.5,sd=3": jb.gaussian([0.7, 0.5], sd=3),
    "bernoulli:0.5,0.4/0.6,0.3": BANDITS,
    "bernoulli:[[0.5, 0.4], [0.6, 0.3]]": BANDITS,
    "bernoulli:means=0.5,0.4/0.6,0.3": BANDITS,
    "blocks:means=0.3,0.2,size=2": jb.blocks([0.3, 0.2], 2),
    "karnin:1,n=40": jb.karnin(1, 40),
}


@pytest.mark.parametrize("spec", SAME)
def test_a_list_may_be_written_as_people_write_it(spec):
    found, wanted = parse_problem(spec), SAME[spec]
    assert type(found) is type(wanted)
    assert found.bandits == wanted.bandits
    np.testing.assert_array_equal(found.mean, wanted.mean)
    np.testing.assert_array_equal(found.variance, wanted.variance)


WRONG = {
    "bernoulli:0.7 0.5": "'0.7 0.5' is not a number: a list is written 0.7,0.5",
    "bernoulli:0.7|0.5": "a list is written 0.7,0.5",
    "bernoulli:means=0.7;0.5": "expected name=value, got '0.5': a list is written 0.7,0.5",
    "two-group:n=10,k=2,k=3": "k is given twice",
    "two-group:n=10,12": r"n must be a whole number, got \[10, 12\]",
    "csv:path=a,b.csv": "expected name=value, got 'b.csv'$",
}


@pytest.mark.parametrize("spec", WRONG)
def test_what_is_no_list_is_one_line(spec):
    with pytest.raises(jb.UsageError, match=WRONG[spec]) as error:
        parse_problem(spec)
    assert "\n" not in str(error.value)


def test_a_text_for_a_list_in_a_file_is_one_line():
    with pytest.raises(jb.UsageError, match=r"got the text '0.7,0.5': a list is written means = \[0.7, 0.5\]") as error:
        build_problem({"name": "bernoulli", "means": "0.7,0.5"})
    assert error.value.place == ("means",)


TABLES = {
    "means = 0.7, 0.5": "is not TOML: .*: a list is written [0.7, 0.5]",
    "means = '0.7,0.5'": "line 7, problem.means: problem bernoulli: means must be numbers, got the text '0.7,0.5'",
    "means = 0.7": "line 5, problem: Bernoulli means must be a list of numbers, or one list per bandit, got the number",
    "means = { axis = [0.7, 0.5] }": "line 5, problem: Bernoulli means must be a list of numbers",
}


@pytest.mark.parametrize("line", TABLES)
def test_lists_in_a_file_are_one_line(line, tmp_path, capsys):
    file = tmp_path / "grid.toml"
    file.write_text(f"[algorithm]\nname = 'uniform'\nbudget = 9\n\n[problem]\nname = 'bernoulli'\n{line}\n")
    assert main(["sweep", str(file), "--out", str(tmp_path / "grid.nc"), "--dry-run"]) == 2
    first, _, last = TABLES[line].partition(".*")
    assert first in (told := capsys.readouterr().err)
    assert last in told
    assert told.count("\n") == 1


def test_a_spec_is_a_text():
    with pytest.raises(jb.UsageError, match="spec must be a text such as"):
        build_problem({"spec": ["bernoulli", 0.7, 0.5]})


def test_a_file_may_begin_with_a_mark(tmp_path, capsys):
    file = tmp_path / "grid.toml"
    file.write_text(
        "\ufeff[algorithm]\nname = 'uniform'\nbudget = 9\n[problem]\nname = 'bernoulli'\nmeans = [0.7, 0.5]\n"
    )
    assert main(["sweep", str(file), "--out", str(tmp_path / "grid.nc"), "--dry-run"]) == 0
    assert "cells" in capsys.readouterr().out


def test_means_of_a_comparison_are_lists_too(capsys):
    assert main(["compare", "--means", "0.7 0.5", "--delta", "0.1"]) == 2
    assert "a list is written 0.7,0.5" in capsys.readouterr().err
