"""The order in which a run sees its arms: the same on every platform, with its inverse."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxbandits.arrays.platform_lowering import override_lowering
from jaxbandits.random.arm_orders import ArmOrder

RUNS = 33


@pytest.mark.parametrize("platform", ["gpu", "tpu"])
@pytest.mark.parametrize(
    ("arms", "bandits", "missing"),
    [
        (3, 1, 1),
        *(pytest.param(*n, marks=pytest.mark.slow) for n in ((24, 2, 0), (50, 1, 7), (66, 3, 0))),
        (300, 1, 40),
    ],
)
def test_orders_are_the_same_on_every_platform(arms, bandits, missing, platform):
    """Few arms are compared in pairs, and more are sorted; a GPU sorts sooner (`compared_arms`)."""
    keys, count = jax.random.split(jax.random.key(7), RUNS), None
    if missing:
        count = jnp.full(RUNS, arms - missing)
    values = jnp.asarray(np.random.default_rng(3).random((arms, RUNS)), jnp.float32)

    def drawn(keys, count, values):
        order = ArmOrder.draw(keys, arms, count, bandits)
        seen = order.by_place(values)
        return order_of(order), seen, order.by_arm(seen), order.by_arm(seen > 0.5)

    with override_lowering("cpu"):
        expected = jax.jit(lambda *given: drawn(*given)[0])(keys, count, values)
    with override_lowering(platform):
        found, seen, back, some = map(np.asarray, jax.jit(drawn)(keys, count, values))
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.sort(found, axis=0), np.arange(arms)[:, None].repeat(RUNS, 1))
    np.testing.assert_array_equal(found[arms - missing :], np.arange(arms - missing, arms)[:, None].repeat(RUNS, 1))
    np.testing.assert_array_equal(seen, np.take_along_axis(np.asarray(values), found, axis=0))
    np.testing.assert_array_equal(back, values)
    np.testing.assert_array_equal(some, values > 0.5)


def order_of(order):
    """The arm at each place, `(K, R)`."""
    return order.by_place(jnp.broadcast_to(jnp.arange(order.arms)[:, None], (order.arms, RUNS)))
