"""HDoC up to its first output: Kano, Honda, Sakamaki, Matsuura, Nakamura, Sugiyama (2019), Machine Learning 108."""

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.good_arms.good_arm_rounds import GoodArmState
from jaxbandits.algorithms.good_arms.hdoc import HDoC
from jaxbandits.algorithms.protocol import Arms, algorithm
from jaxbandits.algorithms.traits import ANY, Traits

__all__ = ["HDoCFirst"]


@algorithm
class HDoCFirst(HDoC):
    """Finds one arm above a threshold, or says that there is none: HDoC up to its first output.

    A run ends when HDoC finds its first good arm, and returns it. If all arms are decided and none is good, it returns
    none. The answer is wrong with probability at most delta for rewards in [0, b] (Theorem 1).

    Attributes:
        delta: allowed probability of error, in (0, 1).
        threshold: xi; an arm is good if its mean is at least xi. If the largest mean equals it, a run cannot end.
        b: range of the rewards; None takes the problem's.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> ds = jb.simulate(jb.HDoCFirst(delta=0.1, threshold=0.5), jb.bernoulli([0.9, 0.8, 0.2]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    traits = Traits(
        setting="fixed confidence, one arm above a threshold or none",
        source="Kano, Honda, Sakamaki, Matsuura, Nakamura, Sugiyama 2019",
        answers=ANY,
        criterion="one-above-threshold",
    )

    def done(self, state: GoodArmState, arms: Arms) -> jax.Array:
        """Return whether a good arm is found, or every arm is decided."""
        del arms
        return jnp.any(state.good) | ~jnp.any(state.undecided)

    def recommend(self, state: GoodArmState, arms: Arms) -> jax.Array:
        """Return the good arm that was found, that with the largest mean if the first pulls found several; or none."""
        first = jnp.argmax(jnp.where(state.good, arms.mean, -jnp.inf))
        return jnp.zeros(len(arms), bool).at[first].set(jnp.any(state.good))
