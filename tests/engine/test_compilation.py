"""One compilation per algorithm, reward family and padded number of arms, whatever else varies."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits.engine import compilation, jobs
from jaxbandits.engine.binding import accept
from jaxbandits.engine.compilation import compile_clock, make_room
from jaxbandits.engine.lanes import advance
from jaxbandits.engine.program import Placement, Runs
from jaxbandits.random.streams import run_key
from jaxbandits.sweeps.grid import Cell, expand
from jaxbandits.sweeps.group_cells import group_by_program, program
from jaxbandits.sweeps.plan import make_plan
from jaxbandits.sweeps.plan_runs import compile_runs, make_runs

MEANS = [0.9, 0.5, 0.4, 0.3, 0.2, 0.1]


def compilations(run: Callable[[], Any]) -> int:
    """How many programs of the engine a call compiled."""
    with compile_clock() as clock:
        run()
    return clock.programs


@pytest.fixture(autouse=True)
def _from_scratch() -> None:
    advance.clear_cache()


def test_everything_numeric_is_traced() -> None:
    problem = jb.bernoulli(MEANS)
    assert compilations(lambda: jb.simulate(jb.UGapEc(epsilon=0.5, delta=0.1), problem, seeds=5)) == 1
    again = [
        lambda: jb.simulate(jb.UGapEc(epsilon=0.4, delta=0.2, c=0.6, b=None), problem, seeds=50),
        lambda: jb.simulate(jb.UGapEc(epsilon=1, delta=0.2), jb.bernoulli(MEANS[::-1]), seeds=7, root_seed=3),
        lambda: jb.simulate(jb.UGapEc(epsilon=0.4, delta=np.float32(0.2)), problem, seeds=5, max_pulls=100),
        lambda: jb.sweep(jb.UGapEc(epsilon=jb.axis([0.4, 0.5]), delta=jb.axis([0.1, 0.2])), problem, seeds=5),
        lambda: jb.sweep(jb.UGapEc(epsilon=0.5, delta=0.1), jb.bernoulli(jb.axis([MEANS, MEANS[::-1]])), seeds=5),
    ]
    for run in again:
        assert compilations(run) == 0


@pytest.mark.slow
def test_a_grid_over_m_compiles_once_and_m_1_has_its_own_program() -> None:
    problem = jb.bernoulli(MEANS)
    run = lambda m: jb.sweep(jb.UGapEc(epsilon=0.5, delta=0.1, m=m), problem, seeds=5)  # noqa: E731
    assert compilations(lambda: run(1)) == 1
    assert compilations(lambda: run(jb.axis([1, 2, 3]))) == 1
    assert compilations(lambda: run(2)) == 0


def test_a_sweep_over_numbers_of_arms_is_one_program() -> None:
    algorithm = jb.Uniform(budget=1100)
    family = jb.linear(n=jb.axis([2, 3, 5, 8, 12, 17, 24, 32, 48, 60, 64]))
    assert compilations(lambda: jb.sweep(algorithm, family, seeds=2)) == 1
    assert compilations(lambda: jb.sweep(algorithm, jb.linear(n=jb.axis([33, 50])), seeds=2)) == 0


def test_numbers_of_arms_come_in_powers_of_two_where_padding_would_take_longer_than_compiling() -> None:
    def sizes(algorithm: Any, seeds: int) -> list[list[int]]:
        cells = expand(accept(algorithm), jb.linear(n=jb.axis([2, 3, 8, 60, 600, 1000]))).cells
        runs = Runs(seeds, root_seed=0, max_pulls=10**9, independent=False)
        return [[cell.problem.arms for cell in group] for group in group_by_program(cells, runs)]

    stopping = jb.UGapEc(epsilon=0.5, delta=0.1)
    assert sizes(stopping, 10) == [[2, 3, 8, 60, 600, 1000]]
    assert sizes(stopping, 1000) == [[2, 3, 8, 60], [600, 1000]]
    assert sizes(stopping, 300_000) == [[2], [3], [8], [60], [600, 1000]]
    assert sizes(jb.Uniform(budget=1000), 10_000) == [[2, 3, 8, 60], [600, 1000]]
    assert sizes(jb.Uniform(budget=10**6), 10_000) == [[2], [3], [8], [60], [600, 1000]]


def test_a_rule_that_is_another_for_one_number_of_arms_has_a_program_for_it() -> None:
    runs = Runs(10, root_seed=0, max_pulls=10**9, independent=False)

    def cells(special: int) -> list[Cell]:
        @jb.algorithm
        class Special:
            def select(self, arms: jb.Arms, key: Any) -> Any:
                del key
                return jnp.argmax(arms.mean + (9.0 if len(arms) == special else 1.0) * arms.inverse_root)

            def done(self, arms: jb.Arms) -> Any:
                return arms.time >= 100

            def recommend(self, arms: jb.Arms) -> Any:
                return jnp.argmax(arms.mean)

        return expand(accept(Special()), jb.linear(n=jb.axis([11, 12, 14, 20]))).cells

    def sizes(special: int) -> list[list[int]]:
        return [[cell.problem.arms for cell in group] for group in group_by_program(cells(special), runs)]

    def width(special: int) -> int:  # as for an accelerator's chip
        one, no_points = np.zeros((2, 1), np.uint32), np.zeros(0, np.int32)
        return program(cells(special)[1:2], one, no_points, runs, in_powers_of_two=True).problem.arms

    assert sizes(special=12) == [[11], [12], [14], [20]]
    assert sizes(special=14) == [[11], [12], [14], [20]]
    assert sizes(special=13) == sizes(special=10**6) == [[11, 12, 14, 20]]
    assert (width(special=12), width(special=13)) == (12, 16)


@pytest.mark.slow
def test_static_choices_compile_anew() -> None:
    problem = jb.bernoulli(MEANS)
    assert compilations(lambda: jb.simulate(jb.UGapEb(budget=50), problem, seeds=2)) == 1
    assert compilations(lambda: jb.simulate(jb.UGapEb(budget=50, a=2.0), problem, seeds=2)) == 1
    assert compilations(lambda: jb.sweep(jb.UGapEb(budget=jb.axis([50, 90]), a=3.0), problem, seeds=9)) == 0
    assert compilations(lambda: jb.sweep(jb.UGapEb(budget=50, adaptive=jb.axis([False, True])), problem, seeds=2)) == 1


@pytest.mark.slow
def test_first_states_are_traced_once_for_the_lanes_and_for_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    traced: list[object] = []
    monkeypatch.setattr(jobs, "run_key", lambda *words: (traced.append(words), run_key(*words))[1])
    for lanes in (3, 40):  # all at once, and 16 at a time
        traced.clear()
        jb.simulate(jb.UGapEc(epsilon=0.5, delta=0.1), jb.bernoulli(MEANS), seeds=5, lanes=lanes)
        assert len(traced) == 1


@pytest.mark.slow
def test_a_large_grid_compiles_once() -> None:
    algorithm = jb.UGapEc(epsilon=jb.axis(np.linspace(0.8, 0.9, 20)), delta=jb.axis(np.linspace(0.05, 0.2, 10)))
    assert compilations(lambda: jb.sweep(algorithm, jb.linear(n=10), seeds=20)) == 1


@pytest.mark.slow
def test_programs_are_forgotten_only_when_there_is_little_room() -> None:
    def run() -> None:
        jb.simulate(jb.UGapEc(epsilon=0.5, delta=0.1), jb.bernoulli(MEANS), seeds=5)

    run()
    make_room(share=1.0)
    assert compilations(run) == 0
    make_room(share=0.0)
    assert compilations(run) == 1


def test_memory_maps_are_counted_only_after_a_compilation(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With 43 programs counting took half of a call of `jb.simulate`."""
    maps = tmp_path / "maps"
    monkeypatch.setattr(compilation, "_MAPS", maps)
    reads: list[Path] = []
    read_bytes = Path.read_bytes  # JAX's cache reads its programs with it, too
    monkeypatch.setattr(
        Path, "read_bytes", lambda path: [b"", reads.append(path)][0] if path == maps else read_bytes(path)
    )
    jax.jit(lambda x: x + len(str(tmp_path)))(1)
    make_room()
    make_room()
    assert reads == [maps]
    jax.jit(lambda x: x - len(str(tmp_path)))(1)
    make_room()
    assert reads == [maps, maps]


def test_what_another_thread_has_compiled_is_not_compiled_again() -> None:
    plan = make_plan(jb.UGapEc(epsilon=0.3, delta=0.3), jb.bernoulli([0.9, 0.5, 0.4]), 20)
    placement = Placement(devices=1, lanes=None, chunk=None)
    with ThreadPoolExecutor() as pool:
        pool.submit(compile_runs, plan, placement).result()
    made = []
    with compile_clock() as clock:
        make_runs(plan, [[(0, 20)]], placement, made.append)
    assert clock.programs == 0
    assert sum(len(runs.seed) for runs in made) == 20
