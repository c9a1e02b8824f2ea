"""Every command of the README and of the pages runs, at a small size, in the order of its page.

The files that a page shows are written before; so are those that it takes from another page.
"""

import dataclasses
import re
import shlex
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest

import jaxbandits as jb
from jaxbandits import papers
from jaxbandits.cli import application, main
from jaxbandits.comparison import candidates
from jaxbandits.sweeps.spec import build
from tests.end_to_end.pages import PAGES
from tests.plain_words import blocks

#: What does not run here, by how it begins, and why.
ELSEWHERE = {
    "git clone": "there is no address yet",
    "cd ": "follows the clone",
    "python -m venv": "`.ci/run` makes environments",
    "source .venv": "`.ci/run` enters them",
    "pip install": "`.ci/run` installs the checkout and the wheel",
    "python -m pytest": "is what runs now",
    "uvicorn ": "is a service; `tests/ask_tell/test_live_service.py` starts it",
    "curl ": "asks that service, as the same test does",
    "srun ": "starts eight processes; `tests/storage/test_processes.py` starts two",
    "[ $? -eq 75 ]": "asks SLURM to queue the job again",
}
#: Runs of a command, at most.
RUNS = 20
#: What makes files and commands small, in any page.
SMALLER = {
    "--seeds 1000": f"--seeds {RUNS}",
    "seeds = 1000": f"seeds = {RUNS}",
    "seeds = 2000": f"seeds = {RUNS}",
    "n = { axis = [10, 100] }": "n = { axis = [3, 10] }",
    "stop = 0.3, num = 10,": "stop = 0.3, num = 2,",
    "start = 0.05,": "start = 0.2,",
    "start = 0.02, stop = 0.3, num = 40,": "start = 0.2, stop = 0.3, num = 2,",
    "[3, 5, 8, 12, 20, 30, 50, 80, 120, 200, 300, 500]": "[3, 5]",
    "[0.1, 0.01, 0.001]": "[0.1, 0.01]",
    '["lucb", "kl-lucb"]': '["lucb"]',  # every algorithm takes a compilation, and every number of arms
    '["bernoulli:0.9,0.5,0.4", "abm:1"]': '["bernoulli:0.9,0.5,0.4,0.3,0.2"]',
    "n = { axis = [5, 10] }": "n = { axis = [5, 6] }",
    "--means 0.06,0.04,0.035,0.03": "--means 0.6,0.4,0.35,0.3",
    "--epsilon 0.005": "--epsilon 0.1",
    "--data counts.csv": "--data counts.csv --rules lucb-pp --draws 19 --max-pulls 10000",
    "steps = 40": "steps = 2\ninstances = 2\nseeds = 5\nheld_out = 4",
}
#: Commands that are small by the number of their runs.
SEEDED = ("simulate", "compare", "gradient")
#: What `compare` compares: a rule of either setting, and one of each question about sets of arms.
COMPARED = ("ugape-c", "sequential-halving", "hdoc", "hdoc-first", "st2")
#: The figures that are drawn, the cheapest of each paper: the slow tests draw all.
DRAWN = {"ugape": "ugape.stopping_pulls", "frontier": "frontier.karnin_setups"}
SIZES = {
    "ugape.stopping_pulls": {
        "epsilons": (0.2, 0.4),
        "arms": (8,),
        "returned": (1, 2),
        "seeds": 5,
        "at_epsilon": 0.4,
        "at_arms": 8,
    },
    "frontier.karnin_setups": {"seeds": 20, "arms": (20,)},
}
#: What a page's commands start from, beside the files that it shows.
A_SWEEP = "jaxbandits sweep grid.toml --out grid.zarr"
BEFORE = {
    "docs/comparing_runs.md": [A_SWEEP],
    "docs/results.md": [A_SWEEP],
    "docs/sweeps.md": [f"jaxbandits sweep {name}.toml --out {name}.zarr" for name in ("one", "two")],
}


def smaller(text):
    """Return a file or a command at a small size."""
    for there, instead in SMALLER.items():
        text = text.replace(there, instead)
    return text


def files(name):
    """Return the files of a page, `grid.toml` and `counts.csv`, by name."""
    shown = blocks(PAGES["docs/sweeps.md"], ("toml",)) + blocks(PAGES[name], ("toml",))
    named = {re.match(r"# (\S+\.toml)\n", text): text for text in shown}
    written = {match[1]: smaller(text) for match, text in named.items() if match}
    grid = written["grid.toml"]
    (written["counts.csv"],) = blocks(PAGES["docs/examples/counts_so_far.md"], ("text",))
    return {**written, "one.toml": grid, "two.toml": grid.replace("[run]", f"[run]\nfirst_seed = {RUNS}")}


def commands(name):
    """Return the commands of a page, one a line; those of an array of jobs for each of its jobs."""
    lines = [line for block in blocks(PAGES[name], ("bash",)) for line in block.splitlines()]
    lines = [part.strip() for line in lines for part in re.split(r"&&(?! scontrol)", line)]
    found = [line for line in lines if line and not line.startswith("#")]
    return [command for line in found for command in of_jobs(line)]


def of_jobs(line):
    """Return the commands that a line starts, if it is one of a job's."""
    if line.startswith("sbatch"):
        line = shlex.split(line)[-1]
    jobs = re.search(r"\$SLURM_ARRAY_TASK_ID/(\d+)", line)
    tasks = range(1, int(jobs[1]) + 1) if jobs else (1,)
    return [line.replace("$SLURM_ARRAY_TASK_ID", str(task)) for task in tasks]


def arguments_of(line):
    """Return the arguments of `jaxbandits`, at a small size."""
    arguments = shlex.split(smaller(line), comments=True)[1:]
    return arguments + ["--seeds", str(RUNS)] * (arguments[0] in SEEDED and "--seeds" not in arguments)


#: Slow tests: the README has a command of each kind that most of them have, and `test_cli.py` plots by chosen axes.
OTHER_PAGES = [name for name in PAGES if commands(name) and name != "README.md"]


@pytest.fixture
def _small(tmp_path, monkeypatch):
    """Go to a folder of the test's own, where comparisons and papers are small."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(candidates, "REGISTRY", {name: candidates.REGISTRY[name] for name in COMPARED})
    monkeypatch.setattr(jb.UGapEc, "traits", dataclasses.replace(jb.UGapEc.traits, variants=({},)))
    monkeypatch.setattr(papers, "CORE", ("ugape",))
    for paper, figure in DRAWN.items():
        monkeypatch.setitem(papers.REGISTRY, paper, papers.REGISTRY[paper]._replace(figures=(figure,)))
        module = papers.load_figure(figure)
        monkeypatch.setitem(module.SIZES, "quick", module.Size(**SIZES[figure]))
    monkeypatch.setattr(papers.load_figure(DRAWN["frontier"]), "_SETUPS", (1,))


@pytest.mark.usefixtures("_small")
@pytest.mark.parametrize("name", ["README.md", *(pytest.param(name, marks=pytest.mark.slow) for name in OTHER_PAGES)])
def test_the_commands_of_a_page_run(name, capsys):
    for path, text in files(name).items():
        Path(path).write_text(text)
    for line in BEFORE.get(name, []) + commands(name):
        if line.startswith(tuple(ELSEWHERE)):
            continue
        assert line.startswith("jaxbandits "), line
        arguments = arguments_of(line)
        status = main(arguments)
        captured = capsys.readouterr()
        if ".parquet" in line and find_spec("pyarrow") is None:
            assert (status, "pyarrow" in captured.err) == (2, True), captured.err
            continue
        assert status == 0, (line, captured.err)
        if "--out" in arguments and "--dry-run" not in arguments:
            assert Path(arguments[arguments.index("--out") + 1]).exists(), line


def test_a_part_of_a_specification_fits_into_the_one_above_it():
    whole, part = map(tomllib.loads, blocks(PAGES["docs/studies.md"], ("toml",)))
    *_, run = build(whole | part)
    assert run["seeds"] == 1000


def test_what_does_not_run_here_is_a_command():
    lines = [line for name in PAGES for line in commands(name)]
    for beginning in ELSEWHERE:
        assert any(line.startswith(beginning) for line in lines), beginning
    for line in (line for line in lines if line.startswith("srun")):
        words = shlex.split(line)
        command, *_ = application().parse_args(words[words.index("jaxbandits") + 1 :], print_error=False)
        assert callable(command)
