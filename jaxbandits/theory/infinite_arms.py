"""Theory of infinitely many arms whose pulls cost one unit, and the shortfall of the best of K arms.

Sources:
- Wang, Audibert, Munos 2008, "Algorithms for infinitely many-armed bandits", NIPS (UCB-V(inf), UCB-AIR);
- Carpentier and Valko 2015, "Simple regret for infinitely many armed bandits", ICML (SiRI).

Regularity and rates are those of `budgeted`, where ratios are means and the budget is a number of pulls. Arguments are
`()` or `(…)`, and so are results; all is differentiable in every number, but not in beta where the case changes.
"""

import jax
import jax.numpy as jnp
from jax.scipy.special import gammaln
from jax.typing import ArrayLike

from jaxbandits.checks import AT_LEAST_ONE, POSITIVE, UNIT
from jaxbandits.theory._bound_shapes import rate_log
from jaxbandits.theory._checks import as_float, check
from jaxbandits.theory.budgeted import lower_bound_exponent, regret_exponent

__all__ = ["expected_shortfall", "siri_simple_regret_rate", "ucb_air_regret_rate"]

# Stirling's series of log Gamma(x): terms of x^-1, x^-3, …; from this x on they leave less than float64's rounding.
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
_LARGE = 10.0


def expected_shortfall(arms: ArrayLike, beta: ArrayLike, rho: ArrayLike = 1.0) -> jax.Array:
    """Return E[rho* - best of K ratios] = rho* Gamma(1 + 1/beta) Gamma(K + 1) / Gamma(K + 1 + 1/beta).

    It is for ratios rho* (1 - U^(1/beta)). The smallest V of K uniform numbers has the density K (1 - v)^(K-1). So
    E[V^(1/beta)] is K times the Beta function of K and 1 + 1/beta. It behaves like rho* Gamma(1 + 1/beta) K^(-1/beta).
    A budget B spent on the best of K arms misses B times that: the second term of `rcb_i_regret_rate_for_arms`. No
    simple regret after n pulls is below that of K = n.

    Args:
        arms: K, at least 1.
        beta: regularity, positive.
        rho: rho*, the best ratio, positive.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> round(float(jb.theory.expected_shortfall(9, 1.0)), 3)
        0.1
    """
    check("the number of arms", arms, AT_LEAST_ONE)
    check("beta", beta, POSITIVE)
    check("rho", rho, POSITIVE)
    k, beta, rho = as_float(arms), as_float(beta), as_float(rho)
    return rho * jnp.exp(gammaln(1 + 1 / beta) - _log_gamma_growth(k + 1, 1 / beta))


def ucb_air_regret_rate(budget: ArrayLike, beta: ArrayLike, best: ArrayLike) -> jax.Array:
    """Return the rate of the regret of UCB-V(inf) and UCB-AIR, where a pull costs one unit (Wang et al. 2008).

    It is (log n)^2 n^(1/2) if beta < 1 and mu* < 1, (log n)^2 n^(beta/(1+beta)) otherwise. Arms near mu* = 1 hardly
    vary, so bounds with variances distinguish them at a lower cost.

    Args:
        budget: n, pulls, at least 1.
        beta: regularity of the means, positive.
        best: mu*, the supremum of the means, in [0, 1].

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> round(float(jb.theory.ucb_air_regret_rate(10_000, 2.0, 1.0)), 0)
        39375.0
    """
    check("the budget n", budget, AT_LEAST_ONE)
    check("the best mean", best, UNIT)
    exponent = jnp.where(as_float(best) < 1, regret_exponent(beta), lower_bound_exponent(beta))
    n = as_float(budget)
    return n**exponent * rate_log(n) ** 2


def siri_simple_regret_rate(budget: ArrayLike, beta: ArrayLike) -> jax.Array:
    """Return the rate of SiRI's simple regret, mu* minus the mean of the arm it returns (Carpentier and Valko 2015).

    It is n^(-1/2) below beta = 2, n^(-1/2) log n at 2, (n / log n)^(-1/beta) above. SiRI draws n^(beta/2), n / (log
    n)^2 and n / log n arms, up to a constant. The rate is that number to the power -1/beta: the shortfall of the best
    of the drawn arms (`expected_shortfall`).

    Args:
        budget: n, pulls, at least 1.
        beta: regularity of the means, positive.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> round(float(jb.theory.siri_simple_regret_rate(10_000, 1.0)), 4)
        0.01
    """
    check("the budget n", budget, AT_LEAST_ONE)
    check("beta", beta, POSITIVE)
    n, beta = as_float(budget), as_float(beta)
    log = rate_log(n)
    arms = jnp.where(beta < 2, n ** (jnp.minimum(beta, 2.0) / 2), n / jnp.where(beta == 2, log**2, log))
    return arms ** (-1 / beta)


def _log_gamma_growth(x: jax.Array, a: jax.Array) -> jax.Array:
    """Return log Gamma(x + a) - log Gamma(x), x >= 1 and a >= 0.

    Of a large x the difference of the two has no digits, and `betaln` of JAX has six, of the sixteen of float64.
    """
    large = x >= _LARGE
    near, far = jnp.where(large, 1.0, x), jnp.where(large, x, _LARGE)
    spread = (far - 0.5) * jnp.log1p(a / far) + a * (jnp.log(far + a) - 1)
    return jnp.where(large, spread + _stirling(far + a) - _stirling(far), gammaln(near + a) - gammaln(near))


def _stirling(x: jax.Array) -> jax.Array:
    """Return log Gamma(x) - ((x - 1/2) log x - x + log(2 pi) / 2), x at least 10."""
    inverse = 1 / x
    square, total = inverse * inverse, jnp.zeros_like(x)
    for term in reversed(_STIRLING):
        total = total * square + term
    return total * inverse
