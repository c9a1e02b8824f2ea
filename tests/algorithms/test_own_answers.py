"""A subclass of a built-in rule may answer otherwise: what it pulls, and when it ends, stays that of the rule."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxbandits as jb

COINS = jb.bernoulli([0.9, 0.5, 0.2])
RULES = {
    "lucb": (jb.LUCB(epsilon=0.2, delta=0.2), COINS),
    "lucb of two": (jb.LUCB(epsilon=0.2, delta=0.2, m=2), COINS),
    "kl-lucb": (jb.KLLUCB(epsilon=0.3, delta=0.2), COINS),
    "lucb-pp": (jb.LUCBPlusPlus(epsilon=0.3, delta=0.2), COINS),
    "eb-tci by betting": (jb.EBTCI(epsilon=0.2, delta=0.2, stopping="betting"), COINS),
    "paired race": (
        jb.PairedRace(epsilon=0.1, delta=0.2),
        jb.matrix(np.random.default_rng(0).random((40, 3)) < [0.9, 0.5, 0.2]),
    ),
}


@pytest.mark.parametrize("name", RULES)
def test_another_answer_changes_no_pull(name):
    rule, problem = RULES[name]

    class Other(type(rule)):
        def recommend(self, state, arms):
            return jnp.argmin(arms.mean)

    other, key = jb.algorithm(Other)(**vars(rule)), jax.random.key(3)
    known, own = jb.run(rule, problem, key), jb.run(other, problem, key)
    np.testing.assert_array_equal(own.pulls, known.pulls)
    np.testing.assert_array_equal(own.total, known.total)
    assert known.time > 10
    assert int(jnp.argmax(own.answer)) == int(jnp.argmin(known.mean))
