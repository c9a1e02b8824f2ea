"""Lower bounds of the error at a fixed budget, for every algorithm on some instance of a set.

Sources:
- Audibert, Bubeck, Munos 2010, "Best arm identification in multi-armed bandits";
- Carpentier, Locatelli 2016, "Tight (lower) bounds for the fixed budget best arm identification bandit problem";
- Bretagnolle, Huber 1979: P(A) + Q(not A) >= exp(-KL(P, Q)) / 2.

Means are `(K, …)`, the other arguments `()` or `(…)`, results `(…)`.
"""

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike

from jaxbandits.checks import POSITIVE, UNIT, whole_rule
from jaxbandits.theory._bound_shapes import power, quotient
from jaxbandits.theory._checks import as_float, check, check_arms, check_budget, rule_of_means
from jaxbandits.theory.complexity import h2
from jaxbandits.theory.divergences import kl_bernoulli, kl_exponential, kl_gaussian, kl_poisson

__all__ = [
    "best_arm_error_lower_bound",
    "best_arm_error_lower_bound_rate",
    "best_arm_worst_error_lower_bound",
]


def best_arm_error_lower_bound(
    means: ArrayLike, n: ArrayLike, family: str = "bernoulli", sd: ArrayLike = 1.0
) -> jax.Array:
    """Return the error that every algorithm has here or, up to any eta, on one of K - 1 other instances: exp(-n/H) / 4.

    In the i-th other instance the mean of arm i is raised to that of the best arm, or just above it. H is the sum of 1
    / kl(mu_i, mu_1) over the arms that are not the best; for normal rewards it is 2 sd^2 sum of Delta_i^-2. Where best
    arms tie, the first of them counts as the best: "here" is then the instance in which its mean is larger by eta.

    Derived here, for any algorithm. Let N_i be its pulls of arm i here. By Bretagnolle and Huber its errors here and
    there add up to at least exp(-E[N_i] kl(mu_i, mu_1)) / 2. The N_i add up to at most n, so some i has E[N_i] kl(mu_i,
    mu_1) <= n/H. The algorithm may know all instances. `best_arm_worst_error_lower_bound` shows the cost of not knowing
    the complexity: a factor log K in the exponent.

    Args:
        means: arm means, shape `(K, …)`.
        n: budget in pulls.
        family: "bernoulli" (means in [0, 1]), "gaussian", "poisson" (means at least 0) or "exponential" (positive).
        sd: standard deviation of Gaussian rewards.

    Returns:
        Shape `(…)`, in [0, 1/4]; of the largest of the K errors.

    Raises:
        UsageError: a value outside its range, an unknown family.

    Example:
        >>> f"{jb.theory.best_arm_error_lower_bound([0.7, 0.5, 0.4], 100):.2g}"
        '0.00062'
    """
    check_arms(means, 1)
    check_budget(n)
    check("means", means, rule_of_means(family))
    check("sd", sd, POSITIVE)
    mu = as_float(means)
    top = jnp.max(mu, axis=0)
    # The first of tied best arms is the best. Neither its own term nor infinite ones are computed.
    rank = jnp.argsort(jnp.argsort(-mu, axis=0), axis=0)
    if family == "bernoulli":
        finite = (rank > 0) & (top < 1)
        cost = kl_bernoulli(jnp.where(finite, mu, 0.25), jnp.where(top < 1, top, 0.75))
    elif family == "gaussian":
        finite = rank > 0
        cost = kl_gaussian(jnp.where(finite, mu, top - 1), top, sd)
    else:
        finite = rank > 0
        divergence = kl_poisson if family == "poisson" else kl_exponential
        cost = divergence(jnp.where(finite, mu, top / 2), top)
    hardness = jnp.sum(jnp.where(finite, power(cost, -1.0), 0.0), axis=0)
    known = hardness > 0
    rate = quotient(as_float(n), jnp.where(known, hardness, 1.0))
    return jnp.where(known, jnp.exp(-rate) / 4, 0.0)


def best_arm_worst_error_lower_bound(n: ArrayLike, complexity: ArrayLike, arms: ArrayLike) -> jax.Array:
    """Return the error that every algorithm has on some instance of K Bernoulli arms, exp(-400 n / (H log K)) / 6.

    Carpentier and Locatelli 2016, Theorem 1: for every a >= 11 K^2 and n >= (4 a log(6 n K) / 60)^2 there is such an
    instance among those with H <= a. H is the instance's sum of Delta_i^-2 over the arms that are not the best. No
    algorithm that does not know H has a better exponent than Successive Rejects, up to its constant. (The largest error
    over these instances is also at least exp(-120 n/a) / 6.) Recalled: the paper could not be consulted.

    Args:
        n: budget in pulls.
        complexity: H, positive.
        arms: K, a whole number, at least 2.

    Returns:
        Shape `(…)`, in [0, 1/6].

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> f"{jb.theory.best_arm_worst_error_lower_bound(10, 1000.0, 3):.1e}"
        '4.4e-03'
    """
    check_budget(n)
    check("the complexity", complexity, POSITIVE)
    check("the number of arms", arms, whole_rule(2))
    hardness = as_float(complexity) * jnp.log(as_float(arms))
    return jnp.exp(-400 * quotient(as_float(n), hardness)) / 6  # Theorem 1


def best_arm_error_lower_bound_rate(means: ArrayLike, n: ArrayLike) -> jax.Array:
    """Return the rate of the error that every algorithm has on Bernoulli arms with these means in some order.

    It is exp(-(5 + o(1)) n / (p (1-p) H2)) for means in [p, 1 - p] (Audibert, Bubeck and Munos 2010, Theorem 4). The
    o(1) depends on K and p only and is left out here; p is the largest possible. Recalled: the paper could not be
    consulted.

    Args:
        means: arm means, in [0, 1], shape `(K, …)`.
        n: budget in pulls.

    Returns:
        Shape `(…)`; 0 where a mean is 0 or 1, for which the theorem says nothing.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> f"{jb.theory.best_arm_error_lower_bound_rate([0.7, 0.5, 0.4], 100):.2g}"
        '2.1e-21'
    """
    check_arms(means, 1)
    check_budget(n)
    check("means", means, UNIT)
    mu = as_float(means)
    p = jnp.min(jnp.minimum(mu, 1 - mu), axis=0)
    inside = p > 0
    p = jnp.where(inside, p, 0.25)
    rate = quotient(as_float(n), h2(means))
    says = inside & jnp.isfinite(rate)
    return jnp.where(says, jnp.exp(-5 * jnp.where(says, rate, 0.0) / (p * (1 - p))), 0.0)  # Theorem 4
