"""The command line keeps its programs as machine code: the next command neither traces nor compiles them."""

import json
import os
import subprocess
import sys

import jax
import pytest

import jaxbandits as jb
from jaxbandits.arrays.platform_lowering import override_lowering
from jaxbandits.engine import aot_cache as kept

SCRIPT = """
import sys
import jax
traced = []
def count(event, seconds, **rest):
    name = str(rest.get("fun_name", ""))
    if event.endswith("jaxpr_trace_duration") and ("advance" in name or "loaded" in name):
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


@pytest.mark.slow
def test_half_a_program_is_compiled_anew_without_a_word(tmp_path):
    first, traced = ran(tmp_path, "epsilon=0.2")
    for program in tmp_path.rglob("machine-code/*"):
        program.write_bytes(program.read_bytes()[:-100])
    assert ran(tmp_path, "epsilon=0.2") == (first, traced)


@pytest.fixture
def place(tmp_path, monkeypatch):
    """The file of an algorithm's program, which is not run."""
    monkeypatch.setattr(kept, "chosen_folder", lambda: tmp_path)

    class Caught(Exception):  # noqa: N818 - no error
        pass

    def catch(function, arguments, settings):
        raise Caught(arguments, settings)

    def place(algorithm, **more):
        monkeypatch.setattr("jaxbandits.engine.driver.with_machine_code", catch)
        with pytest.raises(Caught) as caught:
            jb.simulate(algorithm, jb.bernoulli([0.7, 0.5]), seeds=3)
        (cells, *_), settings = caught.value.args
        return kept._place(cells._replace(**more), settings)

    return place


def test_what_is_part_of_a_program_makes_another_and_values_do_not(place, monkeypatch):
    usual = place(jb.UGapEc(epsilon=0.2, delta=0.1))
    assert usual is not None
    assert place(jb.UGapEc(epsilon=0.1, delta=0.2)) == usual
    others = [place(jb.UGapEc(epsilon=0.2, delta=0.1, variance=True)), place(jb.LUCB(epsilon=0.2, delta=0.1))]
    with override_lowering("tpu"):
        others.append(place(jb.UGapEc(epsilon=0.2, delta=0.1)))
    monkeypatch.setattr(kept, "_source", lambda: "another source")
    others.append(place(jb.UGapEc(epsilon=0.2, delta=0.1)))
    monkeypatch.setenv("XLA_FLAGS", "--xla_of_another_kind")
    others.append(place(jb.UGapEc(epsilon=0.2, delta=0.1)))
    assert None not in others
    assert len({usual, *others}) == 1 + len(others)


def test_what_only_its_address_tells_is_in_no_program_that_is_kept(place):
    assert place(jb.Uniform(budget=10), successor=jax.tree_util.Partial(lambda: 0)) is None


def test_nothing_is_read_from_a_folder_in_which_others_may_write(place, tmp_path):
    folder = place(jb.UGapEc(epsilon=0.2, delta=0.1)).parent
    folder.mkdir(mode=0o700)
    assert place(jb.UGapEc(epsilon=0.2, delta=0.1)) is not None
    for mode in (0o770, 0o707):
        folder.chmod(mode)
        assert place(jb.UGapEc(epsilon=0.2, delta=0.1)) is None


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
