"""Gaps between arms, complexities computed from gaps, and exploration parameters computed from complexities.

Before a run they are computed from the true means, with NumPy; within a run, from the empirical means, with JAX. Arrays
are `(K,)`, or `(K, M)` of M bandits.
"""

import dataclasses
from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.algorithms.largest_arms import largest_of_others
from jaxbandits.algorithms.parameters import Numeric
from jaxbandits.algorithms.protocol import Arms, Rule
from jaxbandits.arrays.pytrees import is_traced
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem, per_bandit

__all__ = [
    "GapBased",
    "Gaps",
    "bernstein_complexity",
    "deviation_lower_bound",
    "estimated_gaps",
    "gap_upper_bound",
    "hoeffding_complexity",
]


#: Numbers of arms, of NumPy before a run and of JAX within it.
Gaps = np.ndarray | jax.Array


class GapBased(Rule):
    """A rule with an exploration parameter a; if a is not given, it is computed from the true gaps."""

    a: Numeric
    b: Numeric

    def exploration(self, problem: Problem) -> Numeric:
        """Compute a from the true gaps, `()`."""
        raise NotImplementedError

    def resolved(self, problem: Problem) -> Self:
        """Fill in a.

        Raises:
            UsageError: the true gaps differ from run to run.
        """
        own = super().resolved(problem)
        if not own.oracle:
            return own
        if problem.drawn:
            raise UsageError(
                f"{type(self).__name__} computes its exploration parameter from the true means, and {problem.name} "
                "draws other arms for each run: give a=…, or adaptive=True"
            )
        with np.errstate(divide="ignore", invalid="ignore"):  # equal means: a is 0
            a = np.asarray(own.exploration(problem), np.float32)
        return dataclasses.replace(own, a=a)  # type: ignore[call-arg]

    def true_gaps(self, problem: Problem, m: Numeric) -> Gaps:
        """Return |m-th largest mean of the other arms - mean| (Gabillon et al. 2012, section 2)."""
        xp = _numpy(problem)
        mean = per_bandit(xp.asarray(problem.mean), problem.bandits)
        falling = -xp.sort(-mean, axis=0)
        return xp.where(mean >= falling[m - 1], mean - falling[m], falling[m - 1] - mean)

    def true_deviations(self, problem: Problem) -> Gaps:
        """Return the standard deviations of the rewards."""
        xp = _numpy(problem)
        return per_bandit(xp.sqrt(xp.broadcast_to(xp.asarray(problem.variance), (problem.arms,))), problem.bandits)

    def true_range(self, problem: Problem) -> Gaps:
        """Return b."""
        return _numpy(problem).asarray(problem.reward_range if self.b is None else self.b)


def estimated_gaps(arms: Arms, m: Numeric) -> jax.Array:
    """Return the gaps of the empirical means."""
    mean = arms.per_bandit(arms.mean)
    return jnp.abs(largest_of_others(mean, m) - mean)


def gap_upper_bound(gap: jax.Array, arms: Arms) -> jax.Array:
    """Return a UCB of gaps, gap + sqrt(1 / (2 T)) (Gabillon et al. 2011, section 5.1)."""
    return gap + arms.per_bandit(jnp.sqrt(1 / (2 * arms.pulls)))


def deviation_lower_bound(arms: Arms) -> jax.Array:
    """Return an LCB of standard deviations, max(0, s - sqrt(2 / (T - 1))) (Gabillon et al. 2011, section 5.1)."""
    found = jnp.sqrt(arms.variance) - jnp.sqrt(2 / jnp.maximum(arms.pulls - 1, 1))
    return arms.per_bandit(jnp.maximum(found, 0))


def hoeffding_complexity(distance: Gaps, b: Numeric) -> Gaps:
    """Return the sum over arms of b^2 / D^2, `()`."""
    return ((b / distance) ** 2).sum()


def bernstein_complexity(distance: Gaps, deviation: Gaps, b: Numeric, constant: float) -> Gaps:
    """Return the sum over arms of (sigma + sqrt(sigma^2 + constant b D))^2 / D^2, `()`.

    The constant is 16/3 in GapE-V (Gabillon et al. 2011, eq. 5) and 13/3 in UGapE-V (from the radius of
    `bernstein_radius`).
    """
    root = _numpy(distance).sqrt(deviation**2 + constant * b * distance)
    return (((deviation + root) / distance) ** 2).sum()


def _numpy(tree: object) -> Any:
    """Return the NumPy module for these arrays: JAX's if they are traced."""
    return jnp if is_traced(tree) else np
