"""KN and KN++: fully sequential selection with unknown variances, also with common random numbers.

Kim, Nelson (2001), "A fully sequential procedure for indifference-zone selection in simulation", ACM Transactions on
Modeling and Computer Simulation 11, and Kim, Nelson (2006), "On the asymptotic validity of fully sequential selection
procedures for steady-state simulation", Operations Research 54. Both follow public programs; KN++ was not checked
against its paper.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.indifference_zone.zone_checks import ZoneRule
from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Arms, algorithm
from jaxbandits.algorithms.traits import Traits
from jaxbandits.arrays.probabilities import log_of

__all__ = ["KN", "KNPlusPlus"]


class _State(NamedTuple):
    number: jax.Array  # int32 (): n, pulls of each active arm
    active: jax.Array  # bool (K,)
    variance: jax.Array  # float32 (K, K): S_il^2, of the differences of two arms' rewards
    tied: jax.Array  # bool (): no W is above 0, so that the arms that are left have the same mean


@algorithm
class KN(ZoneRule):
    """Pulls every active arm once a round; an arm leaves when its mean is too far below another one's.

    After n >= n0 rounds arm i leaves if mean_i < mean_l - W for an active arm l, with

        W = max(0, h^2 S_il^2 / (2 n epsilon) - epsilon / 2),
        h^2 = (n0 - 1) ((2 delta / (K - 1))^(-2 / (n0 - 1)) - 1).

    S_il^2 is the variance of the differences of their first n0 rewards. So rewards may be correlated: with common
    random numbers (`jb.correlated_gaussian`, or tables whose arms share rows) differences vary less, and W is narrower.
    W reaches 0, so that one arm is left in the end, or several with the same mean. The triangle of W is the paper's
    with c = 1.

    The best arm is selected with probability at least 1 - delta, if rewards are normal and it leads all others by
    epsilon or more.

    Attributes:
        epsilon: the indifference zone, positive: the smallest lead that matters.
        delta: allowed probability of error, in (0, 1 - 1/K).
        n0: rounds before the first decision, at least 2; few make h large.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> ds = jb.simulate(jb.KN(epsilon=0.5, delta=0.1), jb.correlated_gaussian([1.0, 0.4, 0.0]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    n0: Numeric = parameter("count", default=10)
    initial_pulls = 0
    traits = Traits(
        setting="fixed confidence, indifference zone ε; normal rewards, common random numbers",
        source="Kim, Nelson 2001",
        tolerance="epsilon",
    )

    def init(self, arms: Arms, key: jax.Array) -> _State:
        """Return the state before the first pull."""
        del key
        pairs = (len(arms), len(arms))
        return _State(jnp.int32(0), jnp.ones(len(arms), bool), jnp.zeros(pairs), jnp.bool_(False))

    def request(self, state: _State, arms: Arms, key: jax.Array) -> jax.Array:
        """Return one pull of every active arm."""
        del arms, key
        return state.active.astype(jnp.int32)

    def absorb(self, state: _State, arms: Arms, counts: jax.Array, sums: jax.Array) -> _State:
        """Return the state after a round, without the arms that another one beats."""
        del counts
        n = state.number + 1
        used = self.rounds_of_variance(n)
        degrees = jnp.maximum(used - 1, 1).astype(jnp.float32)
        # Welford (1962): the difference from its mean after this round, whose square counts n / (n - 1) times.
        off, share = sums - arms.mean, jnp.where((used == n) & (n > 1), 1 / degrees, 0)
        apart = off - off[:, None]  # a product of itself: XLA:CPU makes a loop of its own of a power
        variance = state.variance + share * ((degrees + 1) / degrees * apart * apart - state.variance)

        level = jnp.log((arms.count - 1) / 2.0) - log_of(self.delta)  # ln((K - 1) / (2 delta))
        h_squared = degrees * jnp.expm1(2 * level / degrees)
        width = jnp.maximum(h_squared / (2 * self.epsilon * n) * variance - self.epsilon / 2, 0)
        # Of each pair: 2 if the first arm is beaten, 1 if that may still happen, 0 if it cannot. One maximum of all.
        beaten = jnp.where(arms.mean - arms.mean[:, None] > width, 2, jnp.where(width > 0, 1, 0))
        worst = jnp.max(jnp.where(state.active, beaten, 0), axis=1)
        looks = n >= self.n0
        active = state.active & ~(looks & (worst == 2))
        return _State(n, active, variance, looks & ~jnp.any(active & (worst == 1)))

    def rounds_of_variance(self, n: jax.Array) -> jax.Array:
        """Return how many of n rounds the variances are estimated from, int32 `()`: the first n0."""
        return jnp.minimum(n, self.n0)

    def done(self, state: _State, arms: Arms) -> jax.Array:
        """Return whether one arm is left, or only arms with the same mean."""
        del arms
        return state.tied | (jnp.sum(state.active) == 1)

    def recommend(self, state: _State, arms: Arms) -> jax.Array:
        """Return the active arm with the largest mean."""
        return jnp.argmax(jnp.where(state.active, arms.mean, -jnp.inf))


@algorithm
class KNPlusPlus(KN):
    """KN with variances, and h, that are estimated again in every round.

    A poor estimate of the first rounds does not last: fewer pulls than KN, most of all if n0 is small. The best arm is
    selected with probability at least 1 - delta in the limit of small epsilon. With few first rounds it errs more
    often, since it decides on variances that look too small. Of 8 normal arms, seven of which are epsilon below the
    best, it selects a wrong one in 10.6% of the runs with n0 = 5 and delta = 0.1, and in 6.8% with n0 = 20.

    The paper's batches have size 1 here, as for independent replications. It has 1 - (1 - delta)^(1 / (K - 1)) in place
    of delta / (K - 1) for arms that are simulated independently. The latter, slightly smaller, allows common
    random numbers.

    Attributes:
        epsilon: the indifference zone, positive: the smallest lead that matters.
        delta: allowed probability of error, in (0, 1 - 1/K).
        n0: rounds before the first decision, at least 2.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> ds = jb.simulate(jb.KNPlusPlus(epsilon=0.5, delta=0.1), jb.correlated_gaussian([1.0, 0.4, 0.0]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    traits = Traits(
        setting="indifference zone ε, asymptotic; normal rewards, common random numbers",
        source="Kim, Nelson 2006",
        tolerance="epsilon",
    )

    @property
    def proved(self) -> bool:
        """Whether it has a proof for every epsilon: it has one for epsilon to 0."""
        return False

    def rounds_of_variance(self, n: jax.Array) -> jax.Array:
        """Return n: all rounds."""
        return n
