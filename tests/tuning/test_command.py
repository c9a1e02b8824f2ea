"""The command `tune`: a specification in, a history on disk and a table out, and on from where it stopped."""

import json
import types
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import jaxbandits as jb
from jaxbandits.cli import main, tune_command
from jaxbandits.tuning.distributions import distribution

SPECIFICATION = """
[algorithm]
name = "ucb-e"
budget = 40
a = 4.0
[instances]
name = "bernoulli"
means = { uniform = [0.2, 0.8], arms = 4 }
[tune]
objective = "simple_regret"
wrt = ["a"]
steps = 2
instances = 3
seeds = 20
held_out = 4
learning_rate = 0.2
[against.adaptive]
name = "ucb-e"
budget = 40
adaptive = true
"""


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def written(text=SPECIFICATION):
    Path("tune.toml").write_text(text)
    return ["tune", "tune.toml", "--out", "history.nc"]


def test_a_search_is_kept_told_and_continued(capsys):
    command = written()
    assert main([*command, "--progress"]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("Tuned: a = ")
    assert [line.split("  ")[0] for line in captured.out.splitlines()[3:]] == ["start", "tuned", "adaptive"]
    assert "step 2 of 2: a " in captured.err
    assert main(command) == 2
    assert "exists already: --resume continues it" in capsys.readouterr().err
    written(SPECIFICATION.replace("steps = 2", "steps = 3"))
    assert main([*command, "--resume", "--json"]) == 0
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    assert set(found["held_out"]) == {"start", "tuned", "adaptive"}
    assert found["held_out"]["tuned"]["difference"] == 0
    assert main(["plot", "history.nc", "--kind", "tuning", "--out", "picture.png"]) == 0
    assert Path("picture.png").stat().st_size > 10_000
    import optax

    same = jb.tune(
        jb.UCBE(budget=40, a=4.0), lambda random: jb.bernoulli(random.uniform(0.2, 0.8, 4).tolist()), "simple_regret",
        wrt=["a"], steps=3, instances=3, seeds=20, held_out=4, optimizer=optax.adam(0.2),
    )  # fmt: skip
    assert found["tuned"]["a"] == same.algorithm.a
    with xr.open_dataset("history.nc") as kept:
        assert kept.identical(same.history)
    written()
    assert main([*command, "--resume"]) == 0
    with xr.open_dataset("history.nc") as kept:
        assert kept.sizes["step"] == 3  # the steps of a longer search stay
    written(SPECIFICATION.replace("seeds = 20", "seeds = 21"))
    assert main([*command, "--resume"]) == 2
    assert "seeds is 20 there and 21 here" in capsys.readouterr().err


def test_a_score_that_no_run_has_is_null():
    """An algorithm that returns no arm has no regret: NaN was printed, which JSON does not have."""
    held_out = xr.Dataset({"objective": ("algorithm", [0.5, np.nan])}, {"algorithm": ["tuned", "none"]})
    text = tune_command._json_of(types.SimpleNamespace(values={"a": 1.5}, held_out=held_out))
    assert json.loads(text) == {
        "tuned": {"a": 1.5},
        "held_out": {"tuned": {"objective": 0.5}, "none": {"objective": None}},
    }


def test_truncated_runs_are_told():
    """Their pulls were printed as those of runs that had ended."""
    names = ["objective", "error", "difference"]
    numbers = {f"{name}{end}": ("algorithm", [0.5, 0.4]) for name in names for end in ("", "_low", "_high")}
    held_out = xr.Dataset(numbers | {"truncated": ("algorithm", [0, 1200])}, {"algorithm": ["start", "tuned"]})
    found = types.SimpleNamespace(values={"a": 1.5}, held_out=held_out)
    assert tune_command._table(found).splitlines()[-1] == (
        "Runs that were truncated, and are judged by their recommendation at that time: tuned 1,200. Their pulls, cost "
        "and steps are lower bounds."
    )
    assert '"truncated": 1200}' in tune_command._json_of(found)
    found.held_out = held_out.assign(truncated=0 * held_out.truncated)
    assert "truncated" not in tune_command._table(found)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[instances]", "[instance]", "did you mean 'instances'"),
        ("objective =", "objectiv =", "did you mean 'objective'"),
        ('wrt = ["a"]', "", "needs wrt"),
        ("uniform =", "uniformly =", "law"),
        ("[0.2, 0.8], arms", "[0.8, 0.2], arms", "must be above the first"),
        ("[0.2, 0.8], arms", "[0.2], arms", "needs two numbers"),
        ("{ uniform = [0.2, 0.8], arms = 4 }", "[0.2, 0.8]", "draws nothing"),
        ("arms = 4", "arms = 1_000_000_000_000", "arms must be a whole number from 1 to 8,388,608"),
        ("learning_rate = 0.2", "learning_rate = -1", "learning_rate must be positive"),
        ("steps = 2", "steps = 0", "steps must be a whole number"),
        ('name = "bernoulli"', 'name = "bernouli"', "did you mean 'bernoulli'"),
        ("[against.adaptive]", "[[against]]", "tune.toml, line 17, against: what to compare with are tables"),
        ("[against.adaptive]", "[against]\nother = 5", "tune.toml, line 17, against: what to compare with are tables"),
    ],
)
def test_bad_specifications_are_one_line(old, new, message, capsys):
    assert old in SPECIFICATION
    assert main(written(SPECIFICATION.replace(old, new))) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert len(captured.err.strip().splitlines()) == 1
    assert not Path("history.nc").exists()


def test_laws_have_their_moments():
    """Means of 4 000 draws within 6 standard errors."""
    random = np.random.default_rng(0)
    means = {"normal": [1.0, 2.0], "arms": 40}
    draw = distribution({"name": "gaussian", "means": means, "sd": {"log_uniform": [1, 9]}})
    drawn = [draw(random) for _ in range(100)]
    means = np.concatenate([np.asarray(problem.mean) for problem in drawn])
    assert abs(means.mean() - 1) < 6 * 2 / np.sqrt(4000)
    assert means.std() == pytest.approx(2, rel=0.07)
    logs = np.log([float(problem.sd[0]) for problem in drawn])
    assert abs(logs.mean() - np.log(9) / 2) < 6 * np.log(9) / np.sqrt(12 * 100)
    assert logs.min() > 0
    assert logs.max() < np.log(9)
