"""Uniform sampling, stopped by a likelihood ratio test.

Garivier, Kaufmann (2016), "Optimal best arm identification with fixed confidence", COLT, section 4.
"""

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.likelihood_ratio.glr_stopping import GLRStopped
from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Arms, algorithm
from jaxbandits.algorithms.told_arms import OwnState
from jaxbandits.algorithms.traits import Traits

__all__ = ["UniformGLR"]


@algorithm
class UniformGLR(GLRStopped):
    """Pulls the arm pulled least until the test distinguishes the m best-looking arms from all others.

    A baseline that shows the gain of adaptive sampling with the same stopping rule.

    Attributes:
        delta: allowed probability of error, in (0, 1); only the stopping rule uses it.
        epsilon: accuracy, not negative.
        threshold: what the statistic must exceed, by its name in `jaxbandits.theory.glr_threshold`; None for a proved
            one: `gk16` on Bernoulli arms, `kk21-gaussian` with the family `gaussian`, `student-mixture` with unknown
            variances, else `kk21`. `heuristic` is not proved.
        family: the law of the rewards, which the statistic uses. `bernoulli` is also valid for all rewards in [0, b].
            `gaussian` has the standard deviation b / 2; it is also valid for (b/2)-sub-Gaussian rewards, such as
            rewards in an interval of length b. The others are `poisson`, `exponential` and `gaussian-unknown-variance`:
            normal rewards with an unknown variance for each arm (two first pulls of each). None takes the problem's,
            which is `bernoulli` for a table of zeros and ones too; `gaussian` if it names none, as in a live
            experiment.
        b: range of the rewards, twice the standard deviation of normal ones; None takes the problem's, or with the
            family `bernoulli` the largest reward.
        stopping: `glr`, this test, or one of four others. `betting` is LUCB's U_l - L_h < epsilon by the empirical
            Bernstein confidence sequences of Waudby-Smith and Ramdas (2024), for rewards in [0, b]: they adapt to how
            much the rewards vary. The bets are those for delta = 0.05, whatever delta is. The other three use the
            intervals mean +- b sqrt(beta(t) / (2 N)) of the best-looking arm and of all others. `lucb-gap` is LUCB's:
            U_l - L_h < epsilon, with
            beta = ln(5 K t^4 / (4 delta)) after t pulls. `ugape-index` is UGapE's, the same with ln(4 K t^3 / delta):
            the index B of the best-looking arm; of several, at least the largest index. `elimination` is LUCB's
            without the arms that once were below all best-looking arms with epsilon = 0. These three are proved for
            rewards in [0, b] and (b/2)-sub-Gaussian ones. All four are proved for every way of sampling.
        m: arms to return, 1 <= m < K.

    Raises:
        UsageError: a value outside its range, a threshold that is proved for another family.

    Example:
        >>> ds = jb.simulate(jb.UniformGLR(delta=0.1), jb.bernoulli([0.9, 0.4]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    m: Numeric = parameter("count", default=1, common=1)
    traits = Traits(
        setting="fixed confidence, (ε, m); uniform sampling, stopped by a likelihood ratio test",
        source="Garivier, Kaufmann 2016",
        answers="m",
        tolerance="epsilon",
        stops_by=("delta", "epsilon"),
        relative_cost=8,
    )

    def select(self, state: OwnState, arms: Arms, key: jax.Array) -> jax.Array:
        """Return an arm pulled least."""
        del state, key
        return jnp.argmin(arms.pulls)
