"""Confidence radii, each with its source and what it guarantees.

A radius is `scale * inverse_root`, where `scale` is one number per run and `inverse_root` is 1/sqrt(pulls) of each arm.
All logarithms are natural. Shapes: arms first, runs last; see `jaxbandits.arrays.arms`.
"""

import jax
import jax.numpy as jnp

from jaxbandits.arrays.numerics import larger, log, rounded

#: Of the exploration rate of Kaufmann and Kalyanakrishnan (2013), as in their experiments.
KL2013_ALPHA, KL2013_K1 = 1.1, 405.5

__all__ = [
    "cubed",
    "hoeffding_radius",
    "iterated_level",
    "kl2013_level",
    "kl2013_rate",
    "ugape_scale",
]


def hoeffding_radius(scale: jax.Array, inverse_root: jax.Array) -> jax.Array:
    """`scale / sqrt(pulls)`, float32 `(K, …)`, as a rounded product (see `numerics.rounded`)."""
    return rounded(scale * inverse_root)


def ugape_scale(level: jax.Array, time: jax.Array, c: jax.Array, b: jax.Array) -> jax.Array:
    """UGapEc's b sqrt(c ln(4 K t^3 / delta)), t the number of pulls so far (Gabillon et al. 2012, eq. 4).

    With c = 1/2 all intervals hold at all times with probability at least 1 - delta for rewards in [0, b] (their
    Theorem 2).

    Args:
        level: ln(4 K / delta), `(…)`.
        time: int32 `(…)`, at least 1.
        c: exploration parameter, positive, `(…)`.
        b: range of the rewards, positive, `(…)`.
    """
    return b * jnp.sqrt(c * cubed(level, time))


def cubed(level: jax.Array, time: jax.Array) -> jax.Array:
    """Level + 3 ln t, `(…)`: sums of sums, so that no product is contracted into them.

    With level = ln(7 K / delta) it is UGapE-V's a_t = ln(7 K t^3 / delta): Maurer and Pontil (2009), Theorem 4, fails
    with probability at
    most 4 exp(-a) for one arm and count, and the union over t and counts up to t asks for sum_t K t 4 exp(-a_t) <=
    delta, where
    4 pi^2 / 6 = 6.58 < 7. (ln(4 K t^3 / delta) would only give 1.65 delta.)
    """
    log_time = log(time)
    return level + ((log_time + log_time) + log_time)


def kl2013_level(arms: jax.Array, log_delta: jax.Array) -> jax.Array:
    """Return the level of `kl2013_rate`, ln(k1 K / delta), k1 = 405.5, `(…)`; arms and ln(delta) `(…)`."""
    return log(jnp.float32(KL2013_K1) * arms) - log_delta


def kl2013_rate(level: jax.Array, rounds: jax.Array) -> jax.Array:
    """Exploration rate x + ln x, x = ln(k1 K t^alpha / delta), alpha = 1.1, t rounds (Kaufmann, Kalyanakrishnan 2013).

    With k1 > 2e + 1 + e/(alpha-1) + (e+1)/(alpha-1)^2, which 405.5 is, the intervals {q: N d(mean, q) <= rate} hold
    for all arms and rounds with probability at least 1 - delta, and so do Hoeffding's, which contain them.

    Args:
        level: of `kl2013_level`, `(…)`.
        rounds: int32 `(…)`, at least 1.
    """
    x = level + rounded(jnp.float32(KL2013_ALPHA) * log(rounds))
    return x + log(x)


def iterated_level(log_delta: jax.Array) -> jax.Array:
    """Return ln(1/delta) + 3 ln ln(1/delta), `(…)`, from ln(delta), `(…)`.

    The last term is at least 0: it is not meant for delta above 1/e.
    With (3/2) ln(1 + ln n) it makes beta(n), and sqrt(2 s^2 beta(n) / n) bounds how far the mean of n s-sub-Gaussian
    rewards is above, at any n, with probability at least 1 - delta where delta <= 0.09: Kaufmann, Cappe, Garivier
    (2016), "On the complexity of best-arm identification in multi-armed bandit models", JMLR 17, Lemma 7, with eta =
    3/2: sqrt(e) zeta((3/2) (1 - 1/(2x))) (sqrt(x)/(2 sqrt 2) + 1)^(3/2) e^-x is then below delta at x = this level.
    """
    first = -log_delta
    return first + rounded(jnp.float32(3) * log(larger(first, jnp.float32(1))))
