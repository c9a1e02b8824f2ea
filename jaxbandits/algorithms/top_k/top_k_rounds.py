"""The state between two rounds that the rules for K arms share, and how arms are accepted; for one run."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.largest_arms import are_largest, kth_largest
from jaxbandits.algorithms.parameters import Numeric
from jaxbandits.algorithms.protocol import Arms
from jaxbandits.algorithms.uniform_sampling.joint_rounds import first_seed, tie_numbers
from jaxbandits.arrays.numerics import MAX_COUNT

__all__ = ["Rounds", "around", "as_pulls", "first_round", "with_best"]

#: The largest float32 that is an int32.
_LARGEST = 2.0**31 - 128


class Rounds(NamedTuple):
    """The state before round r. Sets are masks of arms."""

    active: jax.Array  # bool (K,): S_r, the arms that are neither accepted nor rejected
    accepted: jax.Array  # bool (K,): A
    values: jax.Array  # int32 or float32 (K,): sums ranked in the last round, of the same number of rewards
    round: jax.Array  # int32 (): r
    ended: jax.Array  # bool ()
    seed: jax.Array  # uint32 (2,): breaks ties

    def left(self, k: Numeric) -> jax.Array:
        """Return K - |A|, int32 `()`."""
        return k - jnp.sum(self.accepted)

    def after(self, accepted: jax.Array, rejected: jax.Array, values: jax.Array) -> "Rounds":
        """Return the state after a round that accepts and rejects some active arms, bool `(K,)`."""
        return self._replace(
            active=self.active & ~accepted & ~rejected, accepted=self.accepted | accepted, values=values,
            round=self.round + 1,
        )  # fmt: skip

    def ending(self, k: Numeric, over: jax.Array) -> "Rounds":
        """Mark the state as ended if it is `over`, or if all active arms or none are to be accepted."""
        left = self.left(k)
        return self._replace(ended=over | (left == 0) | (left == jnp.sum(self.active)))


def first_round(arms: Arms, key: jax.Array) -> Rounds:
    """Return the state before the first pull."""
    everyone = jnp.ones(len(arms), bool)
    return Rounds(everyone, ~everyone, arms.total, jnp.int32(1), jnp.bool_(False), first_seed(key))


def as_pulls(number: jax.Array) -> jax.Array:
    """Round a formula's pulls of an arm up to int32 `()`; 2^31 - 1 if they do not fit.

    Rounding errors of the formula cannot raise the ceiling.
    """
    whole = jnp.ceil(number * (1 - 4e-7))
    return jnp.where(whole > _LARGEST, MAX_COUNT, jnp.minimum(whole, _LARGEST).astype(jnp.int32))


def around(values: jax.Array, left: jax.Array, active: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return the `left`-th and the next largest value of the active arms, float32 `()`; -inf if there is no next."""
    inner = kth_largest(values, jnp.maximum(left, 1), active)
    below = jnp.max(jnp.where(active & (values < inner), values, -jnp.inf))
    outer = jnp.where(jnp.sum(active & (values >= inner)) > left, inner, below)
    return inner.astype(jnp.float32), outer


def with_best(state: Rounds, values: jax.Array, k: Numeric) -> jax.Array:
    """Return the accepted arms, filled up to k with the active arms that have the largest values."""
    return state.accepted | are_largest(values, state.left(k), state.active, tie_numbers(state.seed, 0, len(values)))
