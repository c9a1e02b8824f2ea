"""What a process holds does not grow with the numbers of arms it has seen; what was used lately stays warm."""

import ctypes
import gc
import os
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits.ask_tell import snapshot
from jaxbandits.bounded_jit import forget_older, recent_programs
from jaxbandits.engine import single_runs
from jaxbandits.engine.compilation import compile_clock
from jaxbandits.engine.lanes import advance


def live():
    """How many programs the compiler's runtime holds."""
    gc.collect()
    return len(jax.devices()[0].client.live_executables())


def test_programs_used_longest_ago_make_room():
    traced = []

    @recent_programs(3, "power")
    def function(x, *, power):
        """A function."""
        traced.append((x.shape, power))
        return jnp.sum(x**power)

    def of(size, power=1):
        return float(function(jnp.ones(size), power=power))

    arrays = [jnp.ones(size) for size in range(1, 9)]
    before = live()
    for _ in arrays:
        of(1), of(2), of(3)
    assert len(traced) == function.count == function._cache_size() == 3
    for size in range(4, 9):
        assert of(size) == size
        assert of(2) == 2  # used all the time
    assert function.count == 3
    assert live() - before <= 3
    assert len(traced) == 8
    of(2), of(7), of(8)
    assert len(traced) == 8
    of(1), of(8, power=2)
    assert len(traced) == 10
    assert function.__doc__ == "A function."
    assert jax.jit(lambda x: function(x, power=1))(jnp.ones(5)) == 5
    forget_older()
    assert function.count == 1
    function.clear_cache()
    assert function._cache_size() == function.count == 0


def run(arms):
    return jb.simulate(jb.Uniform(budget=2 * arms), jb.bernoulli(np.linspace(0.1, 0.9, arms)), seeds=2)


def test_numbers_of_arms_come_and_go(monkeypatch):
    monkeypatch.setattr(advance, "most", 2)
    advance.clear_cache()
    first = run(3)
    before = live()
    for arms in (4, 5):
        run(arms)
    assert live() - before <= 1
    with compile_clock() as clock:
        run(4), run(5)
        assert clock.programs == 0
        assert run(3).equals(first)
        assert clock.programs == 1


@pytest.mark.slow
def test_single_runs_and_sessions_come_and_go(monkeypatch):
    for function in (single_runs._run, snapshot.begin, snapshot.advance, snapshot.look, snapshot.first_order):
        monkeypatch.setattr(function, "most", 2)
        function.clear_cache()
    algorithm = jb.Uniform(budget=9)
    for arms in (3, 4, 5):
        assert int(jb.run(algorithm, jb.bernoulli(np.linspace(0.1, 0.9, arms)), jax.random.key(0)).time) == 9
        session = jb.AskTell(algorithm, arms=arms)
        while not session.done:
            session.tell(session.ask(), 0.5)
        assert session.recommendation.sum() == 1
        if arms == 4:
            before = live()
    assert live() <= before


@pytest.mark.slow
def test_memory_stops_growing(monkeypatch):
    """Of 30 numbers of arms the last twenty leave nothing; each took 17 MB once."""
    monkeypatch.setattr(advance, "most", 8)

    def megabytes():
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20

    for arms in range(100, 110):
        run(arms)
    before, programs = megabytes(), live()
    for arms in range(110, 130):
        run(arms)
    assert megabytes() - before < 60
    assert live() <= programs + 2
    with compile_clock() as clock:
        for arms in range(129, 121, -1):
            run(arms)
    assert clock.programs == 0
