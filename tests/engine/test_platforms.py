"""The engine's program for other platforms: it lowers for each, and its forms have the bits of the CPU's."""

import dataclasses
import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits.algorithms import REGISTRY
from jaxbandits.arrays.platform_lowering import override_lowering
from jaxbandits.engine import driver
from jaxbandits.engine.compilation import compile_clock
from jaxbandits.engine.lanes import advance

VALUES = {"epsilon": 0.3, "delta": 0.1, "budget": 200, "k": 2, "threshold": 0.5, "level": 0.5}
PROBLEMS: list[Callable[[], Any]] = [
    lambda: jb.bernoulli([0.7, 0.5, 0.4, 0.3]),
    lambda: jb.reservoir(beta=1, prices="unit", arms=4),
    lambda: jb.reservoir(beta=1, arms=4),
]
# One rule; with the slow tests, all of them.
each = pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n != "ugape-c")) for n in REGISTRY])


class Caught(Exception):  # noqa: N818 - no error
    """What the host hands to the engine's program."""


def catch(*args: Any, settings: Any) -> None:
    raise Caught(args, settings)


def handed(name: str, **placement: int) -> tuple[tuple[Any, ...], Any]:
    """The arguments of an algorithm's program, on a problem that suits it."""
    cls = REGISTRY[name]
    needed = {f.name: VALUES[f.name] for f in dataclasses.fields(cls) if f.default is dataclasses.MISSING}
    refusals = []
    for problem in PROBLEMS:
        try:
            with mock.patch.object(driver, "advance", catch):
                jb.simulate(cls(**needed), problem(), 100, **placement)
        except jb.UsageError as error:
            refusals.append(str(error))
        except Caught as caught:
            return caught.args
    raise AssertionError(refusals)


@each
def test_every_algorithm_lowers_for_every_platform(name: str) -> None:
    args, settings = handed(name, lanes=4, devices=1)
    for form, platforms in (("gpu", ("cuda", "rocm")), ("tpu", ("tpu",))):
        with override_lowering(form):
            traced = advance.trace(*args, settings=settings)
        for platform in platforms:
            assert "while" in traced.lower(lowering_platforms=(platform,)).as_text()


@pytest.mark.bits
@pytest.mark.parametrize(("platform", "devices"), [("gpu", 2), pytest.param("tpu", 1, marks=pytest.mark.slow)])
def test_lanes_in_the_forms_of_other_platforms_have_the_same_bits(platform: str, devices: int) -> None:
    run = lambda: jb.simulate(  # noqa: E731
        jb.UGapEc(epsilon=0.2, delta=0.1), jb.bernoulli([0.7, 0.5, 0.5, 0.4]), seeds=60, lanes=16, devices=devices
    )
    expected = run()
    with compile_clock() as clock, override_lowering(platform):
        found = run()
    assert clock.programs == 1  # not the CPU's, which has just been compiled
    for variable in expected.data_vars:
        np.testing.assert_array_equal(found[variable], expected[variable], err_msg=variable)


@pytest.mark.slow
@pytest.mark.parametrize("platform", ["h100", "v5e"])
def test_the_engine_compiles_for_a_device_that_is_not_there(platform: str) -> None:
    """Where the extras `cuda` and `tpu` are installed; in a process of its own, since JAX must not have started."""
    if importlib.util.find_spec({"h100": "jax_cuda12_plugin", "v5e": "libtpu"}[platform]) is None:
        pytest.skip("no compiler for it")
    program = Path(__file__).parents[2] / "experiments" / "benchmarks" / "compiled.py"
    command = [sys.executable, str(program), "--platform", platform, "--algorithm", "ugape-c", "--lanes", "1024"]
    found = json.loads(subprocess.run([*command, "--json"], check=True, capture_output=True, text=True).stdout)
    assert found["scatters"] == 0
    assert found["gathers"] == 0 or platform == "h100"
    assert 0 < found["kernels"] < 40
    assert 500 < found["bytes_per_lane_step"] < 5000
    assert found["measured"] is False
    assert found["on_chip"] is True
    assert 0 < found["on_chip_bytes_per_pull"] <= 16
    if platform == "h100":
        assert found["spills"] == 0
        assert 0 < found["registers"] <= 255
