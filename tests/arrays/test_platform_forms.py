"""Operations in the forms of every platform, forced on CPU: the same bits, and never one form's program for another."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxbandits.arrays import arms
from jaxbandits.arrays.platform_lowering import FORMS, lowering, override_lowering, tracing_for
from tests.same_bits import assert_same_bits

OTHERS = [name for name in FORMS if name != "cpu"]
RUNS, ARMS = 7, (2, 10, 33, 130)


@jax.jit
def operations(x, arm, several, value, values):
    """All whose form depends on the platform, of one type of words; `several` may be one beyond the arms."""
    found = {
        "take": arms.take(x, arm),
        "take several": arms.take(x, jnp.where(several < x.shape[0], several, 0)),
        "put": arms.put(x, arm, value),
        "scatter": arms.scatter(x, several, values),
    }
    if x.dtype == bool:
        return found | {"any": arms.any_arm(x)}
    return found | {"largest": arms.largest(x), "smallest": arms.smallest(x)}


def operands(count, dtype):
    random = np.random.default_rng(count)
    words = random.integers(-3, 4, (count, RUNS)).astype(dtype)
    if dtype is np.float32:
        words[0], words[-1] = -0.0, np.float32(-np.inf)  # the sign of a zero is a bit, too
    # Different arms of each run, and one beyond them, which `scatter` leaves out.
    several = np.argsort(random.random((count + 1, RUNS)), axis=0)[:2].astype(np.int32)
    arm = random.integers(0, count, RUNS).astype(np.int32)
    return words, arm, several, words[::-1][0], words[-2:]


@pytest.mark.parametrize("count", ARMS)
@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.uint32, bool])
def test_all_forms_have_the_same_bits(count, dtype):
    given = operands(count, dtype)
    with override_lowering("cpu"):
        expected = operations(*given)
    for platform in OTHERS:
        with override_lowering(platform):
            assert_same_bits(operations(*given), expected)


@pytest.mark.parametrize("platform", OTHERS)
def test_a_program_of_one_form_is_never_taken_for_one_of_another(platform):
    traced = []

    @jax.jit
    def program(x):
        traced.append(lowering())
        return arms.largest(x)

    x = jnp.zeros((3, 2))
    for name in ("cpu", platform, "cpu", platform):
        with override_lowering(name):
            program(x)
    assert traced == [FORMS["cpu"], FORMS[platform]]


def test_a_form_that_is_forced_stays_where_an_engine_traces_for_its_devices():
    with tracing_for("tpu"):
        assert lowering() == FORMS["tpu"]
        with tracing_for("cpu"):
            assert lowering() == FORMS["tpu"]
    with tracing_for("a platform of tomorrow"):
        assert lowering() == FORMS["gpu"]
    assert lowering() == FORMS["cpu"]


@pytest.mark.parametrize("count", [10, 33])
def test_words_are_taken_without_a_gather_on_tpu_and_of_few_arms_on_cpu(count):
    x, arm, *_ = operands(count, np.float32)
    for platform, gathers in (("cpu", count > FORMS["cpu"].masked_take), ("tpu", False)):
        with override_lowering(platform):
            assert ("gather" in str(jax.make_jaxpr(lambda x, arm: arms.take(x, arm))(x, arm))) == gathers


@pytest.mark.parametrize("derivative", [pytest.param(jax.jacfwd, marks=pytest.mark.slow), jax.jacrev])
def test_what_is_taken_has_a_derivative_in_every_form(derivative):
    x, arm = np.arange(12, dtype=np.float32).reshape(4, 3), np.asarray([2, 0, 3], np.int32)
    with override_lowering("cpu"):
        expected = derivative(lambda x: arms.take(x, arm))(x)
    assert expected.sum() == 3
    for platform in OTHERS:
        with override_lowering(platform):
            np.testing.assert_array_equal(derivative(lambda x: arms.take(x, arm))(x), expected)
