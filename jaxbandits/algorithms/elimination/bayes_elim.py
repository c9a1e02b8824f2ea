"""BayesElim: Sequential Halving by posterior means, with a normal prior of each arm's mean.

Atsidakou, Katariya, Sanghavi, Kveton (2022), "Bayesian fixed-budget best-arm identification", arXiv 2211.08572.
"""

from typing import NamedTuple, Self

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.algorithms.elimination.halving_stages import check_first_phase, stages_of
from jaxbandits.algorithms.elimination.known_variances import KnownVariances
from jaxbandits.algorithms.largest_arms import are_largest
from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Arms, algorithm
from jaxbandits.algorithms.traits import Traits
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem

__all__ = ["BayesElim"]


class _State(NamedTuple):
    alive: jax.Array  # bool (K,)
    posterior: jax.Array  # float32 (K,): posterior means after the last round; those of the prior before


@algorithm
class BayesElim(KnownVariances):
    """ceil(log2 K) rounds of floor(n / ceil(log2 K)) pulls in proportion to the variances; the better half stays.

    A round has m pulls: arm i of those that are left gets floor(m s_i^2 / sum s_j^2). So its posterior variance is
    nearly that of every other arm. The posterior mean is that of a normal prior and the rewards of the round alone;
    those of earlier rounds are forgotten. The ceil(half) with the largest posterior means stay. Pulls that the floors
    leave over are not made. An arm without a pull is judged by its prior.

    If all arms have the same prior and the same variance, it is Sequential Halving with `reuse=False`. It follows a
    description and a public program, and was not checked against the paper.

    Attributes:
        budget: number of pulls n, at least K ceil(log2 K).
        prior_mean: mean of the prior of each arm's mean: one number, or one for each arm in the problem's order.
        prior_sd: standard deviation of it, positive, in the same way. The default is about that of a uniform law on
            [0, 1].
        variances: s^2 of the rewards, positive, one number or one for each arm; None takes the problem's: an oracle.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> rule = jb.BayesElim(budget=60, prior_mean=[0.7, 0.4, 0.4], prior_sd=0.1)
        >>> bool(jb.simulate(rule, jb.bernoulli([0.7, 0.5, 0.3]), seeds=20).correct.mean() >= 0.9)
        True
    """

    budget: Numeric = parameter("count")
    prior_mean: Numeric = parameter("finite", default=0.5, per_arm=True)
    prior_sd: Numeric = parameter("positive", default=0.3, per_arm=True)
    variances: Numeric = parameter("positive", default=None, per_arm=True)
    initial_pulls = 0
    traits = Traits(
        setting="fixed budget, one arm; normal priors of the arms, known variances",
        source="Atsidakou, Katariya, Sanghavi, Kveton 2022",
    )

    def check(self, arms_per_bandit: int, bandits: int) -> None:
        """Check also that the budget gives every arm a pull in the first round, if variances are equal."""
        super().check(arms_per_bandit, bandits)
        check_first_phase(self, arms_per_bandit)

    def resolved(self, problem: Problem) -> Self:
        """Fill in the variances of the problem.

        Raises:
            UsageError: one is infinite, or not positive.
        """
        new = super().resolved(problem)
        if not np.all(np.asarray(new.variances) > 0):
            raise UsageError(
                f"BayesElim needs a positive variance of each arm, and on {problem.name} one has none: give variances"
            )
        return new

    def init(self, arms: Arms, key: jax.Array) -> _State:
        """Return the state before the first pull."""
        del key
        return _State(jnp.ones(len(arms), bool), jnp.broadcast_to(jnp.float32(self.prior_mean), (len(arms),)))

    def request(self, state: _State, arms: Arms, key: jax.Array) -> jax.Array:
        """Return the round's pulls."""
        del key
        pulls = jnp.int32(self.budget) // stages_of(arms)
        largest = jnp.max(jnp.where(state.alive, self.variances, 0))
        weight = jnp.where(state.alive, self.variances / largest, 0)
        # A share that lacks less than 2^-21 of a whole number is one: float32 rounds. From 2^20 pulls on, twice that
        # part is left out, so that the budget is not exceeded.
        uneven = jnp.floor((pulls - (pulls >> 20)) * (1 + 2**-21) * weight / jnp.sum(weight)).astype(jnp.int32)
        even = jnp.where(state.alive, pulls // jnp.sum(state.alive), 0)
        return jnp.where(jnp.any(state.alive & (weight < 1)), uneven, even)

    def absorb(self, state: _State, arms: Arms, counts: jax.Array, sums: jax.Array) -> _State:
        """Return the state after a round, with the better half of the arms."""
        del arms
        precise = counts * self.prior_sd**2
        fresh = sums / jnp.maximum(counts, 1) - self.prior_mean
        posterior = self.prior_mean + precise / (precise + self.variances) * fresh
        return _State(are_largest(posterior, (jnp.sum(state.alive) + 1) // 2, state.alive), posterior)

    def done(self, state: _State, arms: Arms) -> jax.Array:
        """Return whether one arm is left."""
        del arms
        return jnp.sum(state.alive) == 1

    def recommend(self, state: _State, arms: Arms) -> jax.Array:
        """Return the arm that is left; before that the one with the largest posterior mean."""
        del arms
        return jnp.argmax(jnp.where(state.alive, state.posterior, -jnp.inf))
