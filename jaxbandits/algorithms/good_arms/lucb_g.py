"""LUCB-G: Kano, Honda, Sakamaki, Matsuura, Nakamura, Sugiyama (2019), Machine Learning 108, section 3."""

import jax

from jaxbandits.algorithms.good_arms.good_arm_rounds import GoodArmRounds, GoodArmState
from jaxbandits.algorithms.protocol import Arms, algorithm

__all__ = ["LUCBG"]


@algorithm
class LUCBG(GoodArmRounds):
    """Finds the arms above a threshold, that with the largest upper confidence bound first.

    The arms that are found are the good ones, and no others, with probability at least 1 - delta for rewards in [0, b]
    (Theorem 1). It pulls by the bounds that also decide.

    Attributes:
        delta: allowed probability of error, in (0, 1).
        threshold: xi; an arm is good if its mean is at least xi. A run cannot end where a mean equals it.
        b: range of the rewards; None takes the problem's.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> ds = jb.simulate(jb.LUCBG(delta=0.1, threshold=0.5), jb.bernoulli([0.9, 0.8, 0.2]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    def index(self, state: GoodArmState, arms: Arms) -> jax.Array:
        """Return the upper confidence bound (eq. 4)."""
        return arms.mean + state.radius
