"""EB-TCI: a top-two rule led by the empirical best arm, with a cost that favours rarely pulled arms.

Jourdan, Degenne, Baudry, de Heide, Kaufmann (2022), "Top two algorithms revisited", NeurIPS 35; for m arms, You, Qin,
Wang, Yang (2023), "Information-directed selection for top-two algorithms", COLT.
"""

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.likelihood_ratio.top_two_pulls import TopTwo, toss_share
from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Arms, algorithm
from jaxbandits.algorithms.told_arms import OwnState
from jaxbandits.algorithms.traits import Traits
from jaxbandits.arrays.static_int import StaticInt

__all__ = ["EBTCI"]


@algorithm
class EBTCI(TopTwo):
    """EB-TCI: the empirical best arm leads; the challenger minimises the statistic against it plus log N.

    The logarithm keeps arms from being neglected ("improved transportation cost"; Jourdan et al. 2022). The leader is
    pulled with the probability `share`.

    To find m arms, each arm outside is compared with the one of the m best-looking arms that is hardest to distinguish
    from it. That arm leads (You, Qin, Wang, Yang 2023). They show that no top-two rule with a constant share is then
    asymptotically optimal.

    Attributes:
        delta: as for `UniformGLR`, as are epsilon, threshold, family, b and stopping.
        share: share of the leader, in (0, 1), or `ids`: N_C / (N_B + N_C) for normal rewards.
        m: arms to return, 1 <= m < K.

    Raises:
        UsageError: a value outside its range, a threshold that is proved for another family.

    Example:
        >>> ds = jb.simulate(jb.EBTCI(delta=0.1), jb.bernoulli([0.9, 0.4]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    m: Numeric = parameter("count", default=1, common=1)
    traits = Traits(
        setting="fixed confidence, (ε, m); top two: a best-looking arm and a rival, with few pulls preferred",
        source="Jourdan, Degenne, Baudry, de Heide, Kaufmann 2022; You, Qin, Wang, Yang 2023",
        answers="m",
        tolerance="epsilon",
        stops_by=("delta",),
        relative_cost=10,
    )

    def select(self, state: OwnState, arms: Arms, key: jax.Array) -> jax.Array:
        """Return the leader or the challenger, at random."""
        del state
        standing = self.standing(arms)
        challenger = jnp.argmin(standing.evidence.cost + jnp.log(arms.pulls))
        leader = standing.nearest if isinstance(self.m, StaticInt) else standing.nearest[challenger]
        share = self.leaders_share(standing.evidence, challenger)
        return jnp.where(toss_share(key, share), leader, challenger)
