"""Draws from the posterior of each arm's mean, from two random words each. S is the sum of N rewards.

- Bernoulli rewards, and others in [0, 1] as fractions of a success: Beta(1 + S, 1 + N - S), of a uniform prior.
- Normal: N(mu, sd^2 / N), of a flat prior.
- Normal of unknown variance: mu + s T / sqrt(N - 1), with the variance s^2 by pulls and T of Student's law with N - 1
  degrees of freedom, of a prior that is flat in the mean and in log sd.
- Poisson: Gamma(S + 1/2, N), of Jeffreys' prior.
- Exponential: S / Gamma(N, 1), of Jeffreys' prior.
"""

from collections.abc import Callable
from typing import Any, Protocol

import jax
import jax.numpy as jnp

from jaxbandits.random.gamma_draws import beta, gamma
from jaxbandits.random.threefry import normal, open_uniform, turn_cosine
from jaxbandits.statistics.arm_statistics import variance_by_pulls

__all__ = ["POSTERIORS", "Observed", "posterior_draws"]

Words = tuple[jax.Array, jax.Array]


class Observed(Protocol):
    """What is known of the arms, `(K,)` each: a `jb.Arms`."""

    @property
    def pulls(self) -> jax.Array:
        """Pulls."""

    @property
    def total(self) -> jax.Array:
        """Sums of the rewards."""

    @property
    def mean(self) -> jax.Array:
        """Means of the rewards."""

    @property
    def inverse_root(self) -> jax.Array:
        """Reciprocal roots of the pulls."""

    @property
    def squares(self) -> Any:
        """Sums of the squared deviations from the mean, where rules keep them."""


def posterior_draws(
    family: str,
    words: Words,
    known: Observed,
    width: jax.Array,
    tilted: tuple[jax.Array, jax.Array] | None = None,
) -> jax.Array:
    """Draw every arm's mean once.

    Args:
        family: a choice of rules with a likelihood ratio test (`algorithms/likelihood_ratio/glr_families.py`).
        words: two uint32 arrays, `(K,)`.
        known: what is known of the arms, a `jb.Arms`.
        width: twice the standard deviation of normal rewards, the range of those called Bernoulli, `()`.
        tilted: the arms whose laws are tilted, bool `(K,)`, and to which mean, `()` (`posterior_tilts`). None for no
            tilt, and always with unknown variances.

    Returns:
        float32 `(K,)`; in units of rewards for normal ones, of the range for Bernoulli.
    """
    return POSTERIORS[family](words, known, width, tilted)


def _normal(words: Words, known: Observed, width: jax.Array, tilted: Words | None) -> jax.Array:
    mean = known.mean if tilted is None else jnp.where(tilted[0], tilted[1], known.mean)
    return mean + (known.inverse_root * (width / 2)) * normal(words)


def _student(words: Words, known: Observed, width: jax.Array, tilted: Words | None) -> jax.Array:
    del width, tilted
    # Bailey (1994): T = sqrt(nu (U^(-2/nu) - 1)) cos(2 pi V), of two uniforms.
    freedom = jnp.maximum(known.pulls - 1, 1).astype(jnp.float32)
    size = jnp.expm1(-2 * jnp.log(open_uniform(words[0])) / freedom)
    return known.mean + jnp.sqrt(variance_by_pulls(known.squares, known.pulls) * size) * turn_cosine(words[1])


def _bernoulli(words: Words, known: Observed, width: jax.Array, tilted: Words | None) -> jax.Array:
    pulls, total = _pulls_and_total(known)
    successes = total * (1 / width)
    a, b = jnp.maximum(1 + successes, 1.0), jnp.maximum(1 + (pulls - successes), 1.0)
    if tilted is not None:
        a, b = (jnp.where(tilted[0], part * (a + b), x) for x, part in ((a, tilted[1]), (b, 1 - tilted[1])))
    return beta(words, a, b)


def _poisson(words: Words, known: Observed, width: jax.Array, tilted: Words | None) -> jax.Array:
    del width
    pulls, total = _pulls_and_total(known)
    size, power = gamma(words, total + 0.5)
    rate = pulls if tilted is None else jnp.where(tilted[0], (total + 0.5) / tilted[1], pulls)
    return (size * jnp.exp(power)) / rate


def _exponential(words: Words, known: Observed, width: jax.Array, tilted: Words | None) -> jax.Array:
    del width
    pulls, total = _pulls_and_total(known)
    if tilted is not None:
        total = jnp.where(tilted[0], pulls * tilted[1], total)
    return total / gamma(words, pulls)[0]


def _pulls_and_total(known: Observed) -> tuple[jax.Array, jax.Array]:
    return jnp.maximum(known.pulls, 1).astype(jnp.float32), known.total.astype(jnp.float32)


#: By the choices of the rules that a likelihood ratio test stops: one for every law and for unknown variances.
POSTERIORS: dict[str, Callable[[Words, Observed, jax.Array, Words | None], jax.Array]] = {
    "bernoulli": _bernoulli,
    "exponential": _exponential,
    "gaussian": _normal,
    "gaussian-unknown-variance": _student,
    "poisson": _poisson,
}
