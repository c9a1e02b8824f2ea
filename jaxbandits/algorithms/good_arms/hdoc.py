"""HDoC: Kano, Honda, Sakamaki, Matsuura, Nakamura, Sugiyama (2019), Machine Learning 108, section 3."""

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.good_arms.good_arm_rounds import GoodArmRounds, GoodArmState
from jaxbandits.algorithms.protocol import Arms, algorithm

__all__ = ["HDoC"]


@algorithm
class HDoC(GoodArmRounds):
    """Finds the arms above a threshold one after another, the best-looking first.

    The arms that are found are the good ones, and no others, with probability at least 1 - delta for rewards in [0, b]
    (Theorem 1). Arms are pulled as UCB1 pulls them, and decided by wider intervals: so a good arm is found
    early, and not only all of them at the end. These are mean +- b sqrt(ln(4 K N^2 / delta) / (2 N)) (eqs. 4, 5).

    Attributes:
        delta: allowed probability of error, in (0, 1).
        threshold: xi; an arm is good if its mean is at least xi. A run cannot end where a mean equals it.
        b: range of the rewards; None takes the problem's.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> ds = jb.simulate(jb.HDoC(delta=0.1, threshold=0.5), jb.bernoulli([0.9, 0.8, 0.2]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    def index(self, state: GoodArmState, arms: Arms) -> jax.Array:
        """Return mean + b sqrt(ln t / (2 N)), t pulls so far (eq. 6)."""
        del state
        return arms.mean + self.range_of(arms) * jnp.sqrt(jnp.log(arms.time) / 2) * arms.inverse_root
