"""Rinott's two stages: first pulls for the variances, then as many more as these ask for.

Rinott (1978), "On two-stage selection procedures and related probability-inequalities", Communications in Statistics -
Theory and Methods 7.
"""

import dataclasses
from typing import Self

import jax
import jax.numpy as jnp

from jaxbandits import theory
from jaxbandits.algorithms.indifference_zone.zone_checks import ZoneRule
from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Arms, Batches, algorithm
from jaxbandits.algorithms.traits import Traits
from jaxbandits.algorithms.uniform_sampling.joint_rounds import as_count
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem

__all__ = ["Rinott"]


@algorithm
class Rinott(ZoneRule):
    """Pulls every arm n0 times, and then up to max(n0, ceil((h S / epsilon)^2)) times, with S^2 its variance so far.

    Returns the arm with the largest mean of all its rewards. h solves Rinott's integral
    (`jb.theory.rinott_constant`). There are two rounds whatever happens: for many parallel workers, or where the second
    stage must be planned. No arm is dropped, so it pulls more than KN, unless variances are small for epsilon.

    The best arm is selected with probability at least 1 - delta, if it leads all others by epsilon or more. Rewards
    are normal, and independent from arm to arm.

    Attributes:
        epsilon: the indifference zone, positive: the smallest lead that matters.
        delta: allowed probability of error, in [1e-12, 1 - 1/K).
        n0: first pulls of every arm, at least 2; part of the program.
        h: the constant; None computes it from delta, n0 and the number of arms.

    Raises:
        UsageError: a value outside its range, or arms with common random numbers.

    Example:
        >>> ds = jb.simulate(jb.Rinott(epsilon=0.5, delta=0.1), jb.gaussian([1.0, 0.4, 0.0], [1.0, 2.0, 1.0]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    n0: int = parameter("count", default=20, static=True)
    h: Numeric = parameter("positive", default=None)
    initial_pulls = 0
    traits = Traits(
        setting="fixed confidence, indifference zone ε; normal rewards, in two rounds",
        source="Rinott 1978",
        tolerance="epsilon",
    )

    @property
    def slots(self) -> int:  # type: ignore[override]
        """The batches of the first stage: one pull of every arm each."""
        return self.n0

    def resolved(self, problem: Problem) -> Self:
        """Compute h, if it is not given.

        Raises:
            UsageError: the arms share random numbers, or delta is too small or too large for their number.
        """
        if problem.common_random_numbers:
            raise UsageError(f"Rinott is for arms that are simulated independently, and not {problem.name}: use KN")
        new = super().resolved(problem)
        h = theory.rinott_constant(problem.arms, self.n0, self.delta) if self.h is None else self.h
        return dataclasses.replace(new, h=h)

    def check_live(self) -> None:
        """Check also that h is given: a session does not know the number of arms when it fills in defaults.

        Raises:
            UsageError: it is not.
        """
        super().check_live()
        if self.h is None:
            raise UsageError("Rinott: give h=jb.theory.rinott_constant(arms, n0, delta) in a live experiment")

    def init(self, arms: Arms, key: jax.Array) -> jax.Array:
        """Return how often each arm is to be pulled in all, int32 `(K,)`: n0 before the variances are known."""
        del key
        return jnp.full(len(arms), self.n0, jnp.int32)

    def request(self, state: jax.Array, arms: Arms, key: jax.Array) -> Batches:
        """Return n0 batches of one pull of every arm, and then the other pulls in one batch."""
        del key
        first = arms.time == 0
        return Batches(jnp.where(first, 1, state - arms.pulls), jnp.where(first, self.n0, 1))

    def absorb(self, state: jax.Array, arms: Arms, counts: Batches, sums: jax.Array) -> jax.Array:
        """Return how often each arm is to be pulled, by its variance in the first stage."""
        variance = jnp.sum((sums - arms.mean) ** 2, axis=0) / (self.n0 - 1)
        wanted = jnp.maximum(as_count((self.h / self.epsilon) ** 2 * variance), self.n0)
        return jnp.where(counts.number > 1, wanted, state)

    def done(self, state: jax.Array, arms: Arms) -> jax.Array:
        """Return whether all pulls are made."""
        return jnp.all(arms.pulls >= state)

    def recommend(self, state: jax.Array, arms: Arms) -> jax.Array:
        """Return the arm with the largest mean."""
        del state
        return jnp.argmax(arms.mean)
