"""Exploration rates and levels of confidence bounds, each with its source and guarantee.

All logarithms are natural.
"""

import jax
import jax.numpy as jnp

from jaxbandits.arrays.numerics import fast_max, log, no_fma

#: Constants of the exploration rate of Kaufmann and Kalyanakrishnan (2013), as in their experiments.
KL2013_ALPHA, KL2013_K1 = 1.1, 405.5

__all__ = [
    "iterated_level",
    "kl2013_level",
    "kl2013_rate",
]


def kl2013_level(arms: jax.Array, log_delta: jax.Array) -> jax.Array:
    """Return the level of `kl2013_rate`, ln(k1 K / delta), k1 = 405.5, `(…)`; arms and ln(delta) `(…)`."""
    return log(jnp.float32(KL2013_K1) * arms) - log_delta


def kl2013_rate(level: jax.Array, rounds: jax.Array) -> jax.Array:
    """Return the exploration rate x + ln x, x = ln(k1 K t^alpha / delta), alpha = 1.1, t rounds.

    Source: Kaufmann, Kalyanakrishnan (2013). The constant k1 = 405.5 satisfies k1 > 2e + 1 + e/(alpha-1) +
    (e+1)/(alpha-1)^2. So the intervals {q: N d(mean, q) <= rate} hold for all arms and rounds with probability at least
    1 - delta, and so do Hoeffding's, which contain them.

    Args:
        level: of `kl2013_level`, `(…)`.
        rounds: int32 `(…)`, at least 1.
    """
    x = level + no_fma(jnp.float32(KL2013_ALPHA) * log(rounds))
    return x + log(x)


def iterated_level(log_delta: jax.Array) -> jax.Array:
    """Return ln(1/delta) + 3 ln ln(1/delta), `(…)`, from ln(delta), `(…)`.

    The last term is at least 0: it is not meant for delta above 1/e. Together with (3/2) ln(1 + ln n) this is beta(n).
    The mean of n s-sub-Gaussian rewards is at most sqrt(2 s^2 beta(n) / n) too high, at every n at once, with
    probability at least 1 - delta where delta <= 0.09.

    Source: Kaufmann, Cappe, Garivier (2016), "On the complexity of best-arm identification in multi-armed bandit
    models", JMLR 17, Lemma 7, with eta = 3/2: sqrt(e) zeta((3/2) (1 - 1/(2x))) (sqrt(x)/(2 sqrt 2) + 1)^(3/2) e^-x is
    then below delta at x = this level.
    """
    first = -log_delta
    return first + no_fma(jnp.float32(3) * log(fast_max(first, jnp.float32(1))))
