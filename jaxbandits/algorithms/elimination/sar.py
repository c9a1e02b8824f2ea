"""Successive Accepts and Rejects (SAR) with a fixed budget: the m best arms, or the best of each of several bandits.

Bubeck, Wang, Viswanathan (2013), "Multiple identifications in multi-armed bandits", ICML.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits import theory
from jaxbandits.algorithms.elimination.rejects_phases import ceil_share, rejects_share
from jaxbandits.algorithms.elimination.surviving_arms import SurvivingArms
from jaxbandits.algorithms.largest_arms import is_largest
from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Rule, algorithm
from jaxbandits.algorithms.traits import Theorem, Traits
from jaxbandits.arrays.static_int import StaticInt
from jaxbandits.errors import UsageError

__all__ = ["SAR"]


class _State(NamedTuple):
    share: jax.Array  # int32 (): ceil((n - K) / logbar(K)), from which n_k follows
    accepted: jax.Array  # bool (K,)
    m: jax.Array  # int32 (): m(k), arms still to be accepted, of all bandits


@algorithm
class SAR(Rule):
    """K - 1 phases of Successive Rejects' lengths; at the end of each, the arm that is surest is accepted or rejected.

    At the end of phase k every active arm has n_k = ceil((n - K) / (logbar(K) (K + 1 - k))) pulls, with logbar(K) =
    1/2 + sum_{i=2}^K 1/i. The n_k are exact integers.

    With one bandit, a border separates the m(k) best active arms from the rest. The active arm whose mean is farthest
    from the border is deactivated; it is accepted if it is above. The run ends when m(k) is 0 or all active arms are to
    be accepted. P(error) <= 2 K^2 exp(-(n - K) / (8 logbar(K) H2)), H2 = max_i i / gap_(i)^2.

    With several bandits it finds the best arm of each, and K counts the arms of all. An arm that is alone in its bandit
    is accepted. If there is none, the arm farthest below the best active arm of its bandit is rejected.

    Attributes:
        budget: number of pulls n of all bandits, at least the number of arms.
        m: arms to return, 1 <= m < K; must be 1 for several bandits, since the paper has no other rule for them.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> ds = jb.simulate(jb.SAR(budget=100), jb.bernoulli([0.9, 0.4]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    budget: Numeric = parameter("count")
    m: Numeric = parameter("count", default=1, common=1)
    traits = Traits(
        setting="fixed budget, m arms, or one arm of each of several bandits",
        source="Bubeck, Wang, Viswanathan 2013",
        criterion="exact",
        answers="m",
        anytime=False,
        multi_bandit=True,
    )

    def check(self, arms_per_bandit: int, bandits: int) -> None:
        """Check also that m is 1 for several bandits."""
        super().check(arms_per_bandit, bandits)
        if bandits > 1 and self.m != 1:
            raise UsageError(f"SAR returns one arm of each bandit where there are several, got m={self.m:g}")

    def theorem(
        self, means: np.ndarray, variances: np.ndarray, b: float, *, delta: float, epsilon: float, m: int
    ) -> Theorem | None:
        """Return Theorem 1."""
        del variances, delta, epsilon
        return Theorem(theory.sar_error_bound, (means / b, self.budget, m), "Bubeck et al. 2013, Theorem 1")

    def init(self, arms: SurvivingArms, key: jax.Array) -> _State:
        """Return the state before the first pull."""
        del key
        share = rejects_share(self.budget, arms.count, len(arms))
        return _State(share, jnp.zeros(len(arms), bool), jnp.int32(self.m) * arms.bandits)

    def rounds(self, state: _State, arms: SurvivingArms) -> jax.Array:
        """Return n_k less the pulls so far; in phase k, K + 1 - k arms are left."""
        return ceil_share(state.share, arms.left) - arms.round

    def keep(self, state: _State, arms: SurvivingArms, key: jax.Array) -> tuple[_State, jax.Array]:
        """Deactivate one arm, and accept or reject it."""
        del key
        # Active arms have the same number of pulls, so sums have the order of means; gaps of whole sums are exact.
        value = jnp.where(arms.active, arms.total, -jnp.inf)
        if arms.bandits == 1:
            best = is_largest(value, self.m if isinstance(self.m, StaticInt) else state.m)
            inner = jnp.min(jnp.where(best, value, jnp.inf))  # the m(k)-th
            outer = jnp.max(jnp.where(best, -jnp.inf, value))  # the next
            gap, acceptable = jnp.where(best, value - outer, inner - value), value > outer
        else:
            each, active = arms.per_bandit(value), arms.per_bandit(arms.active)
            alone = active & (jnp.sum(active, axis=0) == 1)
            gap = jnp.where(alone, jnp.inf, jnp.max(each, axis=0) - each).reshape(value.shape)
            acceptable = alone.reshape(value.shape)
        arm = jnp.arange(len(arms)) == jnp.argmax(jnp.where(arms.active, gap, -jnp.inf))
        accepted = arm & acceptable
        m = state.m - jnp.any(accepted).astype(jnp.int32)
        return _State(state.share, state.accepted | accepted, m), arms.active & ~arm

    def done(self, state: _State, arms: SurvivingArms) -> jax.Array:
        """Return whether all active arms are to be rejected, or all to be accepted."""
        return (state.m == 0) | (state.m == arms.left)

    def recommend(self, state: _State, arms: SurvivingArms) -> jax.Array:
        """Return the accepted arms, and active arms with the largest means up to m in all (of each bandit)."""
        ranked = jnp.where(state.accepted, jnp.inf, arms.mean)
        if arms.bandits == 1:
            return is_largest(ranked, self.m)
        each = arms.per_bandit(ranked)
        place = jnp.arange(len(each))[:, None]
        return (place == jnp.argmax(each, axis=0)).reshape(ranked.shape)
