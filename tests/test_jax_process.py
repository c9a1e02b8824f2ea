"""Where JAX cannot run, one line says so: in forks of a process in which it runs, on platforms that are not there."""

import multiprocessing
import subprocess
import sys
import warnings

import pytest

import jaxbandits as jb
from jaxbandits import jax_process
from jaxbandits.ask_tell.session import AskTell
from jaxbandits.cli import main

SCRIPT = """
import jaxbandits as jb
for entry in (lambda: jb.bernoulli([0.7, 0.5]), lambda: jb.simulate(jb.Uniform(budget=9), None, 5)):
    try:
        entry()
    except jb.UsageError as error:
        print(error)
from jaxbandits.cli import main
print(main(["simulate", "uniform", "--problem", "bernoulli:0.7,0.5", "--set", "budget=9"]))
"""


def entries(problem):
    """What each public entry point says in a process."""
    algorithm = jb.Uniform(budget=9)
    for enter in (
        lambda: jb.bernoulli([0.7, 0.5]),
        lambda: jb.simulate(algorithm, problem, 5),
        lambda: jb.sweep(jb.Uniform(budget=jb.axis([9, 12])), problem, 5),
        lambda: jb.run(algorithm, problem, None),
        lambda: jb.tune(jb.UCBE(budget=40, a=4.0), [problem, problem], wrt=["a"]),
        lambda: AskTell(algorithm, arms=2),
        lambda: jb.gradients.expected("pulls", jb.UCBE(budget=40, a=4.0), problem, wrt="a"),
    ):
        try:
            enter()
        except jb.UsageError as error:
            yield str(error)
        else:
            yield "no error"
    yield str(main(["simulate", "uniform", "--problem", "bernoulli:0.7,0.5", "--set", "budget=9"]))


def in_a_fork(connection, problem):
    connection.send(list(entries(problem)))


@pytest.mark.skipif(sys.platform == "win32", reason="there are no forks")
def test_a_fork_of_a_process_in_which_jax_runs_is_one_line(capfd):
    problem = jb.bernoulli([0.7, 0.5])
    here, there = multiprocessing.Pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # JAX and Python warn of forks, too
        process = multiprocessing.get_context("fork").Process(target=in_a_fork, args=(there, problem))
        process.start()
    try:
        assert here.poll(60), "it hangs"
        *said, status = here.recv()
    finally:
        process.kill()
        process.join()
    assert len(said) == 7
    for line in said:
        assert line.endswith('would wait for ever: start processes with multiprocessing.get_context("spawn")')
    assert status == "2"
    assert "Traceback" not in capfd.readouterr().err
    jax_process.check_jax()  # here it runs


def test_a_fork_before_jax_has_started_can_use_it():
    script = """
import os
import jaxbandits as jb
if os.fork():
    raise SystemExit(os.waitstatus_to_exitcode(os.wait()[1]))
from jaxbandits.jax_process import check_jax
check_jax()
os._exit(7)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 7, done.stderr


def test_a_platform_that_is_not_there_is_one_line(monkeypatch):
    monkeypatch.setenv("JAX_PLATFORMS", "cuda")
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    first, second, status = done.stdout.splitlines()
    assert first.startswith("JAX cannot start on cuda: ")
    assert second == first
    assert status == "2"
    assert done.stderr.startswith("jaxbandits: JAX cannot start on cuda: ")
    assert done.stderr.count("\n") == 1
