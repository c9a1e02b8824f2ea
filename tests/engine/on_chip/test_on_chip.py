"""Steps as kernels that keep the state on chip, interpreted: the bits of the plain loop, and a word where it stays."""

import dataclasses
import warnings
from collections.abc import Callable
from typing import Any
from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits.algorithms import REGISTRY
from jaxbandits.engine import driver, lanes
from jaxbandits.engine.jobs import refill
from jaxbandits.engine.mapping import map_algorithm
from jaxbandits.engine.on_chip import pallas_loop, pallas_support
from jaxbandits.engine.on_chip.pallas_loop import whole_kernels
from jaxbandits.engine.on_chip.pallas_support import in_powers_of_two, may_stay_on_chip
from jaxbandits.engine.program import Placement
from jaxbandits.engine.rows import blank_log, row_types
from jaxbandits.sweeps import plan_runs

VALUES = {"epsilon": 0.1, "delta": 0.1, "budget": 2000, "k": 2, "threshold": 0.5, "level": 0.5}
PROBLEMS: list[Callable[[], Any]] = [
    lambda: jb.bernoulli([0.7, 0.6, 0.6, 0.5, 0.4]),
    lambda: jb.reservoir(beta=1, prices="unit", arms=5),
    lambda: jb.reservoir(beta=1, arms=5),
]
STEPS = 448  # of which 1, 7 and 64 are blocks
ON_CHIP = [name for name in REGISTRY if not REGISTRY[name].traits.in_batches]
GIVEN = {"lin-gap-e": {"norm": 2.0}}  # theta of the first problem has the length 1.27
NOT_PADDED = ("lin-game", "lin-gap-e", "pareto-game")  # an inverse for all arms, or rows of arms for designs


def interpreted() -> Any:
    """Interpret kernels on CPU, where LLVM would compile the steps."""
    return mock.patch.object(lanes, "compiler_is_there", return_value=False)


class Caught(Exception):  # noqa: N818 - no error
    """What the host hands to the engine's program."""


def catch(*args: Any, settings: Any) -> None:
    raise Caught(args, settings)


def started(name: str, *, padded: bool, **parameters: Any) -> tuple[Any, Any, Any]:
    """The grid of one cell, 32 lanes in which its runs have begun, and settings."""
    cls, refusals = REGISTRY[name], []
    needed = {f.name: VALUES[f.name] for f in dataclasses.fields(cls) if f.default is dataclasses.MISSING}
    for problem in PROBLEMS:
        made = problem().padded(8) if padded else problem()
        try:
            with mock.patch.object(driver, "advance", catch):
                jb.simulate(cls(**{**needed, **parameters}), made, 100, lanes=32, devices=1)
        except jb.UsageError as error:
            refusals.append(str(error))
        except Caught as caught:
            (cells, window, carry, *_), settings = caught.args
            jobs, empty = jax.tree.map(lambda x: x[0], (window, carry))
            return cells, jax.jit(refill, static_argnames="settings")(cells, jobs, empty, settings=settings), settings
    raise AssertionError(refusals)


def after_steps(cells: Any, carry: Any, settings: Any, *, block: int, tile: tuple[int, ...] | None) -> Any:
    """The lanes after some hundred steps, in kernels that hold a tile of lanes, or by the plain loop."""
    settings = dataclasses.replace(settings, block=block, on_chip=tile is not None)

    def chunk(cells: Any, carry: Any) -> Any:
        types = row_types(cells, jax.tree.map(lambda leaf: leaf[None], carry), settings)
        blank = blank_log(types, carry.problem.arms, settings)
        after, log = lanes.run_chunk(cells, carry, blank, jnp.int32(STEPS), settings)
        return after._replace(key=jax.random.key_data(after.key)), log.pulled

    with mock.patch.object(lanes, "tile", return_value=tile), interpreted():
        return jax.jit(chunk)(cells, carry)


# Kernels hold their lanes as on a GPU, (16,), or as on a TPU, (2, 8).
def check(name: str, cases: list[tuple[int, tuple[int, ...]]], *, padded: bool, **parameters: Any) -> None:
    cells, carry, settings = started(name, padded=padded, **parameters)
    expected = after_steps(cells, carry, settings, block=1, tile=None)
    assert expected[1] > 0
    for block, tile in cases:
        found = after_steps(cells, carry, settings, block=block, tile=tile)
        for (path, one), other in zip(
            jax.tree_util.tree_leaves_with_path(expected), jax.tree.leaves(found), strict=True
        ):
            np.testing.assert_array_equal(other, one, err_msg=f"{jax.tree_util.keystr(path)}, {block}, {tile}")


@pytest.mark.bits
@pytest.mark.parametrize(
    ("name", "cases", "padded", "parameters"),
    [
        ("ugape-c", [(7, (2, 8))], False, {}),
        pytest.param("lucb", [(64, (16,))], True, {"m": 2}, marks=pytest.mark.slow),
        pytest.param("uniform", [(1, (16,))], False, {}, marks=pytest.mark.slow),
    ],
)
def test_kernels_have_the_bits_of_the_plain_loop(
    name: str, cases: list[tuple[int, tuple[int, ...]]], padded: bool, parameters: dict[str, Any]
) -> None:
    check(name, cases, padded=padded, **parameters)


@pytest.mark.slow
@pytest.mark.bits
@pytest.mark.parametrize(
    ("cases", "padded"), [([(1, (16,)), (64, (2, 8))], False), ([(7, (2, 8)), (64, (16,))], True)], ids=["", "padded"]
)
@pytest.mark.parametrize("name", ON_CHIP)
def test_kernels_of_all_algorithms_have_the_bits_of_the_plain_loop(
    name: str, cases: list[tuple[int, tuple[int, ...]]], padded: bool
) -> None:
    if padded and name in NOT_PADDED:
        return
    check(name, cases, padded=padded, **GIVEN.get(name, {}))


def simulated(algorithm: Any, **options: Any) -> Any:
    return jb.simulate(algorithm, jb.bernoulli([0.8, 0.5, 0.4]), 40, devices=1, **options)


def equal(one: Any, other: Any) -> None:
    assert set(one.data_vars) == set(other.data_vars)
    for variable in one.data_vars:
        np.testing.assert_array_equal(one[variable], other[variable], err_msg=variable)


@pytest.mark.slow
@pytest.mark.bits
def test_runs_on_chip_are_the_same_runs() -> None:
    """With checkpoints, with lanes that are no whole kernel's, and with arms padded as for a GPU."""
    algorithm, options = jb.UGapEc(epsilon=0.2, delta=0.2), {"checkpoints": [20, 50], "lanes": 20}
    padded = mock.patch.object(plan_runs, "in_powers_of_two", return_value=True)
    with warnings.catch_warnings(), interpreted(), padded:
        warnings.simplefilter("error")
        found = simulated(algorithm, on_chip=True, **options)
    equal(found, simulated(algorithm, **options))


@jb.algorithm
class Own:
    """A user's, which draws and remembers."""

    budget: int

    def init(self, arms: Any, key: Any) -> Any:
        return arms.mean

    def update(self, state: Any, arms: Any, arm: Any, reward: Any) -> Any:
        return 0.9 * state + 0.1 * arms.mean

    def select(self, state: Any, arms: Any, key: Any) -> Any:
        return jnp.argmax(state + jax.random.gumbel(key, state.shape))

    def done(self, state: Any, arms: Any) -> Any:
        return arms.time >= self.budget

    def recommend(self, state: Any, arms: Any) -> Any:
        return jnp.argmax(state)


def test_a_users_own_rule_stays_on_chip_too() -> None:
    algorithm: Any = Own(budget=30)
    with warnings.catch_warnings(), interpreted():
        warnings.simplefilter("error")
        found = simulated(algorithm, on_chip=True)
    equal(found, simulated(algorithm))


def test_long_steps_run_without_and_say_so() -> None:
    with pytest.warns(UserWarning, match="on_chip: SiRI runs without kernels: a run has few steps"):
        assert not may_stay_on_chip(map_algorithm(jb.SiRI(budget=200)), "cpu")


def test_what_no_compiler_takes_runs_without_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: Any) -> None:
        raise NotImplementedError("no rule\nfor slices")

    algorithm = jb.Uniform(budget=31)
    expected = simulated(algorithm)
    monkeypatch.setattr(pallas_loop, "lower_for_pallas", unknown)
    words = "Uniform runs without .* for cpu: NotImplementedError: no rule for slices$"
    with interpreted(), pytest.warns(UserWarning, match=words):
        found = simulated(algorithm, on_chip=True)
    equal(found, expected)


def test_a_cpu_without_the_compiler_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pallas_support, "compiler_is_there", lambda: False)
    algorithm = jb.Uniform(budget=31)
    with pytest.warns(UserWarning, match=r'on a CPU it needs llvmlite, pip install "jaxbandits\[llvm\]"'):
        equal(simulated(algorithm, on_chip=True), simulated(algorithm))


@pytest.mark.parametrize(("tile", "arms"), [((4,), 10_000), ((8, 128), 1000)])
def test_a_state_that_no_chip_holds_is_refused_at_once(tile: tuple[int, ...], arms: int) -> None:
    state = jnp.zeros((arms, 1024))
    with pytest.raises(ValueError, match=r"lanes takes .* bytes on the chip, which has"):
        pallas_loop.loop_of_kernels(lambda _, x: x, state, state, 1, tile, interpret=False)


def test_lanes_are_whole_kernels() -> None:
    assert [whole_kernels(20, "cpu", arms) for arms in (2, 1000)] == [32, 32]
    assert whole_kernels(1025, "tpu", 10) == 2048
    assert [whole_kernels(1, "gpu", arms) for arms in (10, 50, 1000)] == [64, 16, 4]


@pytest.mark.parametrize(("platform", "padded"), [("gpu", True), ("tpu", False), ("cpu", False)])
def test_arms_are_padded_where_triton_compiles(platform: str, padded: bool) -> None:
    device = mock.Mock(platform=platform)
    with mock.patch.object(pallas_support, "chosen_devices", return_value=[device]):
        assert in_powers_of_two(Placement(None, None, None, on_chip=True)) == padded
        assert not in_powers_of_two(Placement(None, None, None))
