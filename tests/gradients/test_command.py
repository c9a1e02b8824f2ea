"""The command `gradient`: what the Python interface finds, as a table or as one JSON object."""

import json

import pytest

import jaxbandits as jb
from jaxbandits.cli import main
from jaxbandits.report.formatting import interval

GRADIENT = ["gradient", "pulls", "ugape-c", "--problem", "bernoulli:0.8,0.5,0.3"]
FEW = ["--seeds", "50"]
SETTINGS = ["--set", "epsilon=0.3", "delta=0.2"]
PROBLEM = jb.bernoulli([0.8, 0.5, 0.3])
UGAPE = jb.UGapEc(epsilon=0.3, delta=0.2)


@pytest.mark.parametrize(
    ("wrt", "anew"),
    [("mean", False), *(pytest.param(*x, marks=pytest.mark.slow) for x in (("epsilon", False), ("mean", True)))],
)
def test_one_object_has_the_numbers_of_the_python_interface(wrt, anew, capsys):
    assert main([*GRADIENT, *FEW, "--wrt", wrt, "--json", *["--refit-algorithm"] * anew, *SETTINGS]) == 0
    found = json.loads(capsys.readouterr().out)
    same = jb.gradients.expected("pulls", UGAPE, PROBLEM, wrt, seeds=50, refit_algorithm=anew)
    assert found["value"] == pytest.approx(float(same.value))
    assert found["gradient"] == pytest.approx(same.gradient.to_numpy().reshape(-1).tolist())
    assert found["gradient_se"] == pytest.approx(same.gradient_se.to_numpy().reshape(-1).tolist())
    assert found["stopped_early"] == 0


@pytest.mark.slow
def test_what_no_run_has_is_null(capsys):
    """JSON has no NaN, and other readers than Python's refuse it."""
    command = ["gradient", "simple_regret", "apt", "--problem", "bernoulli:0.3,0.2", *FEW, "--json"]
    assert main([*command, "--set", "budget=10", "threshold=0.95"]) == 0
    found = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert found["value"] is found["value_se"] is None
    assert found["gradient"] == found["gradient_se"] == [None, None]
    assert found["gradient_runs"] == [0, 0]


def test_a_table_has_a_line_for_each_slope(capsys):
    assert main([*GRADIENT, *FEW, *SETTINGS]) == 0
    captured = capsys.readouterr()
    lines = captured.out.splitlines()
    assert captured.err == ""
    slopes = [line.split("  ")[0] for line in lines if line.startswith("d / d")]
    assert slopes == [f"d / d mean of arm {k}" for k in range(3)]
    assert "Estimator: score function" in lines[-1]


@pytest.mark.parametrize("means", ["0.9,0.1", pytest.param("0.6,0.55", marks=pytest.mark.slow)])
def test_the_interval_of_an_error_is_exact(means, capsys):
    """Also where no run errs; and never below 0."""
    budget, spec = ["--set", "budget=100"], f"bernoulli:{means}"
    assert main(["gradient", "error", "uniform", "--problem", spec, "--seeds", "50", *budget]) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("E[error]"))
    same = jb.summary(jb.simulate(jb.Uniform(budget=100), jb.bernoulli([float(m) for m in means.split(",")]), seeds=50))
    assert line.endswith(interval(float(same.failure_low), float(same.failure_high)))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (["--wrt", "meen"], "did you mean 'mean'"),
        (["--wrt", "m"], "no derivative in m, an integer or a choice"),
        (["--seeds", "1"], "at least 2 seeds"),
        (["--smoothing", "0.1"], "smoothing applies to a parameter of the algorithm"),
    ],
)
def test_bad_input_is_one_line(changed, said, capsys):
    assert main([*GRADIENT, *changed, *SETTINGS]) == 2
    captured = capsys.readouterr()
    assert said in captured.err
    assert len(captured.err.strip().splitlines()) == 1
    assert captured.out == ""
