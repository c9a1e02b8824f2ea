"""Uniform sampling, stopped by a likelihood ratio test.

Garivier, Kaufmann (2016), "Optimal best arm identification with fixed confidence", COLT, section 4.
"""

from typing import Any

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.likelihood_ratio.glr_stopping import GLRStopped
from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Arms, algorithm
from jaxbandits.algorithms.traits import Traits

__all__ = ["UniformGLR"]


@algorithm
class UniformGLR(GLRStopped):
    """Pulls the arm pulled least until the test distinguishes the m best-looking arms from all others.

    A baseline that shows the gain of adaptive sampling with the same stopping rule.

    Attributes:
        delta: as for `GLRStopped`, as are the others.
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

    def select(self, state: Any, arms: Arms, key: jax.Array) -> jax.Array:
        """Return an arm pulled least."""
        del state, key
        return jnp.argmin(arms.pulls)
