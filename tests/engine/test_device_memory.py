"""What a device does not hold is refused in one line, before a run where that is known."""

from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits.engine import jobs
from jaxbandits.engine.devices import chosen_devices
from jaxbandits.engine.memory_limits import check_memory, oom_as_usage_error
from jaxbandits.engine.program import Placement


def settings(limit, lanes=1000, devices=2):
    device = SimpleNamespace(memory_stats=lambda: None if limit is None else {"bytes_limit": limit})
    mesh = SimpleNamespace(devices=np.asarray([device] * devices), size=devices)
    return SimpleNamespace(mesh=mesh, lanes=lanes, capacity=4 * lanes)


def test_lanes_that_cannot_fit_are_refused_before_anything_is_made():
    lanes = jax.ShapeDtypeStruct((2, 10, 1000), jnp.float32)
    needed = 3 * 40_000 + 2 * 4000 * (10 + 64)
    check_memory(lanes, 10, settings(needed))
    with pytest.raises(jb.UsageError, match=r"^1,000 lanes of 10 arms would take .* GiB: take fewer lanes"):
        check_memory(lanes, 10, settings(needed - 1))
    check_memory(lanes, 10, settings(None))  # the machine's memory, of which there is enough
    with pytest.raises(jb.UsageError, match="lanes of 10 arms would take"):
        jb.simulate(jb.Uniform(budget=100), jb.bernoulli([0.7] + [0.5] * 9), seeds=3, lanes=2**31 - 1)


def test_the_bytes_are_those_of_the_lanes(monkeypatch):
    """The shapes that are looked at are those of the lanes."""
    seen = []
    monkeypatch.setattr(jobs, "check_memory", lambda lanes, arms, settings: seen.append((lanes, arms, settings)))
    made = jobs.empty_carry
    carried = []
    monkeypatch.setattr("jaxbandits.engine.loop_start.empty_carry", lambda *a: carried.append(made(*a)) or carried[-1])
    jb.simulate(jb.UGapEc(epsilon=0.3, delta=0.1), jb.bernoulli([0.8, 0.5, 0.4]), seeds=4, lanes=8, devices=1)
    ((lanes, arms, _),) = seen

    def types(tree):
        return jax.tree.map(lambda leaf: (leaf.shape, leaf.dtype), tree)

    assert arms == 3
    assert types(carried[0]) == types(lanes)


def test_a_full_device_is_told_of_in_one_line():
    some = settings(None)
    with (
        pytest.raises(jb.UsageError, match=r"^1,000 lanes do not fit into the memory of .*fewer lanes"),
        oom_as_usage_error(some),
    ):
        raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 1 bytes")
    with pytest.raises(jax.errors.JaxRuntimeError, match="INTERNAL"), oom_as_usage_error(some):
        raise jax.errors.JaxRuntimeError("INTERNAL: something else")


def test_the_default_device_is_the_one_that_is_used():
    one = jax.local_devices()[1]
    with jax.default_device(one):
        assert chosen_devices(Placement(None, None, None)) == [one]
        ds = jb.simulate(jb.Uniform(budget=30), jb.bernoulli([0.7, 0.5]), seeds=20)
    with jax.default_device("cpu"):
        assert chosen_devices(Placement(None, None, None)) == jax.local_devices()
    assert ds.equals(jb.simulate(jb.Uniform(budget=30), jb.bernoulli([0.7, 0.5]), seeds=20))
