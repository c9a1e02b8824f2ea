"""Compiled programs are kept between processes, unless the user has chosen otherwise."""

import os
import subprocess
import sys

import jax
import pytest

from jaxbandits.engine import compilation_cache as kept

SCRIPT = """
import jax
kept = {"hits": 0, "misses": 0}
def count(event, **_):
    if event.startswith("/jax/compilation_cache/cache_"):
        kept[event.rsplit("_", 1)[1]] += 1
jax.monitoring.register_event_listener(count)
import jaxbandits as jb
from jaxbandits.engine import compilation_cache
compilation_cache._LEAST_SECONDS = 0.0  # else a busy machine decides which programs are worth keeping
ds = jb.simulate(jb.Uniform(budget=30), jb.bernoulli([0.7, 0.5]), seeds=20)
print(kept["hits"], kept["misses"], int(ds.pulls.sum()), int(ds.correct.sum()), jax.config.jax_compilation_cache_dir)
"""


def ran(cache_home, **environment):
    """What a process of its own prints: programs found, programs stored, and two sums of its runs."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("JAX_COMPIL", "JAX_PERSIST"))}
    own |= {"XDG_CACHE_HOME": str(cache_home), "HOME": str(cache_home), "LOCALAPPDATA": str(cache_home), **environment}
    done = subprocess.run([sys.executable, "-c", SCRIPT], env=own, capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.slow
def test_the_next_process_compiles_no_program_of_the_engine_and_runs_the_same(tmp_path):
    first, second = ran(tmp_path), ran(tmp_path)
    assert first[0] == "0"
    assert int(first[1]) >= 1
    assert (second[0], second[1]) == (first[1], "0")
    assert first[2:] == second[2:]
    assert first[-1] == "None"  # nothing is changed for what else the process compiles
    programs = list(tmp_path.rglob("*-cache"))
    assert len(programs) == int(first[1])
    # A process that is killed while it writes leaves half a program: it is compiled again, without a word.
    stamp = programs[0].with_name(programs[0].name.removesuffix("-cache") + "-atime")
    stamp.unlink()
    programs[0].write_bytes(programs[0].read_bytes()[:100])
    third = ran(tmp_path)
    assert (int(third[0]), third[1], third[2:]) == (int(first[1]) - 1, "1", first[2:])


def test_halves_of_programs_are_deleted_and_an_unchanged_folder_is_not_looked_through(tmp_path, monkeypatch):
    def write(*names):
        for name in names:
            (tmp_path / name).write_bytes(b"bytes")

    looks, listdir = [], os.listdir
    monkeypatch.setattr(os, "listdir", lambda place: (looks.append(place), listdir(place))[1])
    write("one-cache", "one-atime")
    assert kept._usable(tmp_path)
    assert kept._usable(tmp_path)
    assert (tmp_path / "one-cache").exists()
    before = len(looks)
    for _ in range(20):
        assert kept._usable(tmp_path)
    assert len(looks) == before  # a full folder takes 50 ms, and every call asks
    write("half-cache")  # by another process, killed as it wrote
    assert kept._usable(tmp_path)
    assert sorted(path.name for path in tmp_path.glob("*-*")) == ["one-atime", "one-cache"]


@pytest.fixture
def users():
    """JAX's settings as a user's process has them."""
    names = ["jax_compilation_cache_dir", "jax_enable_compilation_cache", "jax_compilation_cache_max_size"]
    before = {name: getattr(jax.config, name) for name in names}
    jax.config.update("jax_compilation_cache_dir", None)
    yield
    for name, value in before.items():
        jax.config.update(name, value)


def test_the_users_choice_of_a_folder_or_of_none_stands(users, tmp_path, monkeypatch):
    monkeypatch.setattr(kept, "folder", lambda: tmp_path / "ours")
    with kept.kept_programs():
        assert jax.config.jax_compilation_cache_dir == str(tmp_path / "ours")
        with kept.kept_programs():
            assert jax.config.jax_compilation_cache_dir == str(tmp_path / "ours")
        assert jax.config.jax_compilation_cache_dir == str(tmp_path / "ours")
    assert jax.config.jax_compilation_cache_dir is None
    jax.config.update("jax_compilation_cache_dir", str(tmp_path / "theirs"))
    with kept.kept_programs():
        assert jax.config.jax_compilation_cache_dir == str(tmp_path / "theirs")
    jax.config.update("jax_compilation_cache_dir", None)
    jax.config.update("jax_enable_compilation_cache", False)
    with kept.kept_programs():
        assert jax.config.jax_compilation_cache_dir is None


def test_a_folder_that_cannot_be_written_to_is_left_alone(users, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(kept, "folder", lambda: tmp_path / "file" / "programs")
    with kept.kept_programs():
        assert jax.config.jax_compilation_cache_dir is None


@pytest.mark.parametrize("used", [True, False])
def test_programs_are_kept_while_another_thread_only_compiles(users, used, tmp_path):
    jax.config.update("jax_compilation_cache_dir", str(tmp_path))
    jax.config.update("jax_enable_compilation_cache", used)
    expected = tmp_path if used else None
    assert kept.chosen_folder() == expected
    with kept.only_compiled():
        assert not jax.config.jax_enable_compilation_cache
        assert kept.chosen_folder() == expected
        with kept.only_compiled():
            assert kept.chosen_folder() == expected
        assert not jax.config.jax_enable_compilation_cache
    assert jax.config.jax_enable_compilation_cache is used
    assert kept.chosen_folder() == expected
