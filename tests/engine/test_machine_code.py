"""The command line keeps its programs as machine code: the next command neither traces nor compiles them."""

import json
import os
import subprocess
import sys

import jax
import pytest

import jaxbandits as jb
from jaxbandits.engine import programs_as_machine_code as kept

SCRIPT = """
import sys
import jax
traced = []
def count(event, seconds, **rest):
    if event.endswith("jaxpr_trace_duration") and "advance" in str(rest.get("fun_name", "")):
        traced.append(seconds)
jax.monitoring.register_event_duration_secs_listener(count)
from jaxbandits.cli import main
code = main()
print(len(traced))
sys.exit(code)
"""
COMMAND = [
    "simulate",
    "ugape-c",
    "--problem",
    "bernoulli:0.7,0.5",
    "--seeds",
    "20",
    "--json",
    "--set",
    "delta=0.05",
    "--set",
]


def ran(cache_home, *settings, **environment):
    """A command's JSON, without its times, and how often it traced the engine's program."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("JAX_COMPIL", "JAX_PERSIST"))}
    own |= {"XDG_CACHE_HOME": str(cache_home), "HOME": str(cache_home), "LOCALAPPDATA": str(cache_home), **environment}
    command = [sys.executable, "-c", SCRIPT, *COMMAND, *settings]
    done = subprocess.run(command, env=own, capture_output=True, text=True, check=True)
    told, traced = done.stdout.strip().rsplit("\n", 1)
    found = json.loads(told)
    assert found["compile_seconds"] > 0
    return {k: v for k, v in found.items() if "second" not in k}, int(traced)


def test_the_next_command_traces_nothing_and_says_the_same(tmp_path):
    first, traced = ran(tmp_path, "epsilon=0.2")
    assert traced >= 1
    assert ran(tmp_path, "epsilon=0.2") == (first, 0)
    # Values are no part of a program, and are not taken from there.
    other, traced = ran(tmp_path, "epsilon=0.1")
    assert traced == 0
    assert other["mean_pulls"] > first["mean_pulls"]
    # What is part of it makes another: a static choice, a setting of JAX's or of the compiler's.
    assert ran(tmp_path, "epsilon=0.2", "--set", "variance=true")[1] >= 1
    assert ran(tmp_path, "epsilon=0.2", JAX_DEFAULT_MATMUL_PRECISION="float32")[1] >= 1
    # Half a program is compiled anew, without a word; and so is everything where nothing is to be kept.
    for program in tmp_path.rglob("machine-code/*"):
        program.write_bytes(program.read_bytes()[:-100])
    again, traced = ran(tmp_path, "epsilon=0.2")
    assert again == first
    assert traced >= 1
    assert ran(tmp_path, "epsilon=0.2", JAX_ENABLE_COMPILATION_CACHE="false") == (first, traced)


def test_another_source_is_another_program(tmp_path, monkeypatch):
    (tmp_path / "module.py").write_text("1")
    monkeypatch.setattr(kept, "_PACKAGE", tmp_path)
    before = kept._source.__wrapped__()
    assert kept._source.__wrapped__() == before
    (tmp_path / "module.py").write_text("2")
    assert kept._source.__wrapped__() != before


def test_where_a_users_python_runs_nothing_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(kept, "_place", lambda *_: pytest.fail("asked for a file"))
    jb.simulate(jb.Uniform(budget=10), jb.bernoulli([0.7, 0.5]), seeds=3)


def test_the_oldest_programs_make_room(tmp_path, monkeypatch):
    monkeypatch.setattr(kept, "_MOST_BYTES", 250)
    for age, name in enumerate("abc"):
        (tmp_path / name).write_bytes(b"0" * 100)
        os.utime(tmp_path / name, (1000 - age, 1000 - age))
    kept._make_room(tmp_path)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a", "b"]


def test_an_object_that_only_its_address_tells_is_in_no_program_that_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(kept, "chosen_folder", lambda: tmp_path)
    caught = []

    def catch(function, arguments, settings):
        caught.append(
            (kept._place(arguments, settings), kept._place((*arguments, jax.tree_util.Partial(lambda: 0)), settings))
        )
        return lambda *args: function(*args, settings=settings)

    monkeypatch.setattr("jaxbandits.engine.driver.with_machine_code", catch)
    jb.simulate(jb.Uniform(budget=10), jb.bernoulli([0.7, 0.5]), seeds=3)
    (plain, foreign), *_ = caught
    assert plain is not None
    assert foreign is None
