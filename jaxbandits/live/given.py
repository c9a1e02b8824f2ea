"""What a user gives a session: its key, the range of its rewards, and what was measured."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits import checks
from jaxbandits.algorithms.hyperparameters import Hyperparameters
from jaxbandits.errors import UsageError
from jaxbandits.random.streams import root_key

__all__ = ["cost_of", "key_of", "range_of", "reward_of"]


def key_of(given: jax.Array | int) -> jax.Array:
    """A typed key of shape `()`, given as such or as a seed.

    Raises:
        UsageError: neither.
    """
    if not isinstance(given, jax.Array):
        return root_key(checks.seed("key", given))
    if not jnp.issubdtype(given.dtype, jax.dtypes.prng_key) or given.shape:
        raise UsageError("key must be one typed key, such as jax.random.key(0), or a seed")
    return given


def range_of(algorithm: Hyperparameters, given: float | None, bounded: bool = True) -> float:
    """The algorithm's b, or else the one given, or 1.

    Raises:
        UsageError: one that is not positive and finite, or two different ones; rewards that it does not take.
    """
    own = algorithm.given("b")
    if own is None:
        own = 1.0 if given is None else given
    b = checks.number("reward_range", own, checks.POSITIVE)
    checks.as_single("reward_range", b)
    if algorithm.traits.unit_rewards and not (bounded and b <= 1):
        raise UsageError(
            f"{type(algorithm).__name__} needs rewards in [0, 1]: leave out bounded, and reward_range above 1"
        )
    if given is not None and given != b:
        raise UsageError(f"reward_range={given:g} contradicts the algorithm's b={b:g}: give one of them")
    return b


def reward_of(given: Any, b: float, bounded: bool) -> float:
    """A reward, as float32 keeps it.

    Args:
        given: what was told.
        b: the largest reward, where they are bounded.
        bounded: whether rewards were promised to lie in [0, b].

    Raises:
        UsageError: no number, one too large for sums in float32, or one that breaks the promise.
    """
    value = _measured("a reward", given)
    if bounded and not 0 <= value <= np.float32(b):
        raise UsageError(
            f"the reward {given} lies outside [0, {b:g}], which the session was promised: "
            "scale it, or make the session with another reward_range or bounded=False"
        )
    return value


def cost_of(given: Any) -> float:
    """A cost, as float32 keeps it.

    Raises:
        UsageError: no number in [0, 1].
    """
    value = _measured("a cost", given)
    if not 0 <= value <= 1:
        raise UsageError(f"the cost {given} lies outside [0, 1]: scale it, and the budget with it")
    return value


def _measured(what: str, given: Any) -> float:
    """A number, or whether something happened: True is 1."""
    happened = np.asarray(given).dtype == bool
    return float(np.float32(checks.number(what, np.asarray(given).astype(int) if happened else given, checks.SUMMABLE)))
