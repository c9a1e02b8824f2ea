"""Complexities and lower bounds for answers of any number of arms: above a threshold, or all near the best.

A lower bound compares an instance with others in which the mean of one arm is changed until the answer is another one.
By the argument of Garivier and Kaufmann (2016, Theorem 1), E[pulls of the arm] d(mean, changed mean) is then at least
kl(delta, 1 - delta). That is more than log(1 / (2.4 delta)). The sum over the arms is a bound of all pulls.
"""

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike

from jaxbandits.checks import FINITE, INSIDE_UNIT, NOT_NEGATIVE, POSITIVE, Rule
from jaxbandits.statistics.exponential_families import FAMILIES, Family
from jaxbandits.theory._bound_shapes import power, times
from jaxbandits.theory._checks import as_float, check, check_arms, check_truth, rule_of_means
from jaxbandits.theory.divergences import binary_relative_entropy

__all__ = [
    "all_good_pulls_lower_bound", "h_all_good", "lower_line", "one_above_pulls_lower_bound",
    "threshold_pulls_lower_bound",
]  # fmt: skip

_SHARE = Rule("must lie in [0, 1)", lambda x: (x >= 0) & (x < 1))


def threshold_pulls_lower_bound(
    means: ArrayLike,
    delta: ArrayLike,
    threshold: ArrayLike,
    epsilon: ArrayLike = 0.0,
    family: str = "bernoulli",
    sd: ArrayLike = 1.0,
) -> jax.Array:
    """Return the sum of kl(delta, 1 - delta) / d(mean, threshold) over the arms: fewest expected pulls to tell them.

    It holds for every algorithm that returns, with probability at least 1 - delta on every instance of the family, the
    arms with a mean of at least the threshold. With an epsilon > 0, arms within epsilon of the threshold may be
    returned or not. Then d is the larger one of d(mean, threshold - epsilon) and d(mean, threshold + epsilon). It holds
    as delta tends to 0 (Degenne and Koolen 2019). From delta = 1/2 on it is 0.

    Args:
        means: arm means, shape `(K, …)`.
        delta: allowed probability of error, in (0, 1), shape `()` or `(…)`.
        threshold: shape `()` or `(…)`.
        epsilon: accuracy, at least 0, shape `()` or `(…)`.
        family: as in `characteristic_time`.
        sd: standard deviation of normal rewards, shape `()` or `(…)`, or of every arm's, `(K, …)`.

    Returns:
        Shape `(…)`, at least 0; infinite where a mean equals the threshold and epsilon = 0.

    Raises:
        UsageError: a value outside its range, or an unknown family.

    Example:
        >>> round(float(jb.theory.threshold_pulls_lower_bound([0.7, 0.5, 0.3], 0.05, 0.6)), 1)
        266.9
    """
    check("threshold", threshold, FINITE)
    law, mu, sd = _checked(means, epsilon, family, sd)
    middle, slack = as_float(threshold), as_float(epsilon)
    cost = jnp.maximum(_to_below(law, mu, middle - slack, sd), _divergence(law, mu, middle + slack, sd))
    return _pulls(cost, delta)


def one_above_pulls_lower_bound(
    means: ArrayLike, delta: ArrayLike, threshold: ArrayLike, family: str = "bernoulli", sd: ArrayLike = 1.0
) -> jax.Array:
    """Return the fewest expected pulls to find one arm with a mean of at least the threshold, or that there is none.

    That is kl(delta, 1 - delta) / d(best mean, threshold), if an arm is good: it alone must be told from the threshold.
    If several are good, it holds as delta tends to 0 (Degenne and Koolen 2019). If none is, it is the sum over all arms
    of `threshold_pulls_lower_bound`. From delta = 1/2 on it is 0.

    Args:
        means: arm means, shape `(K, …)`.
        delta: allowed probability of error, in (0, 1), shape `()` or `(…)`.
        threshold: shape `()` or `(…)`.
        family: as in `characteristic_time`.
        sd: standard deviation of normal rewards, shape `()` or `(…)`, or of every arm's, `(K, …)`.

    Returns:
        Shape `(…)`, at least 0; infinite where the largest mean equals the threshold.

    Raises:
        UsageError: a value outside its range, or an unknown family.

    Example:
        >>> round(float(jb.theory.one_above_pulls_lower_bound([0.9, 0.7, 0.3], 0.05, 0.6)), 1)
        11.7
    """
    check("threshold", threshold, FINITE)
    law, mu, sd = _checked(means, 0.0, family, sd)
    cost, good = _to_below(law, mu, as_float(threshold), sd), mu >= as_float(threshold)
    found = jnp.any(good, axis=0)
    easiest = jnp.max(jnp.where(good, cost, 0.0), axis=0, keepdims=True)
    # Also an infinite cost and one of 0 have the slope 0 in the case that does not apply.
    return jnp.where(found, _pulls(jnp.where(found, easiest, 1.0), delta), _pulls(jnp.where(found, 1.0, cost), delta))


def all_good_pulls_lower_bound(
    means: ArrayLike,
    delta: ArrayLike,
    epsilon: ArrayLike,
    multiplicative: bool = False,
    family: str = "bernoulli",
    sd: ArrayLike = 1.0,
) -> jax.Array:
    """Return the sum of kl(delta, 1 - delta) / d(mean, nearest mean that changes the answer) over the arms.

    It bounds the expected pulls of algorithms that return all epsilon-good arms, with probability at least 1 - delta on
    every instance of the family. For normal arms of variance 1 it is that of Mason et al. (2020, section 2) or larger:
    an arm is moved across the line, or above all others until a good arm is good no more. The best arm may also be
    lowered, until a bad arm becomes good. From delta = 1/2 on it is 0.

    Args:
        means: arm means, shape `(K, …)`.
        delta: allowed probability of error, in (0, 1), shape `()` or `(…)`.
        epsilon: at least 0, below 1 with `multiplicative`, shape `()` or `(…)`.
        multiplicative: arms are good from (1 - epsilon) best on, for means of at least 0, not from best - epsilon on.
        family: as in `characteristic_time`.
        sd: standard deviation of normal rewards, shape `()` or `(…)`, or of every arm's, `(K, …)`.

    Returns:
        Shape `(…)`, at least 0; infinite where a mean lies on the line.

    Raises:
        UsageError: a value outside its range, or an unknown family.

    Example:
        >>> round(float(jb.theory.all_good_pulls_lower_bound([0.7, 0.6, 0.3], 0.05, 0.2)), 1)
        257.9
    """
    law, mu, sd = _checked(means, epsilon, family, sd, multiplicative, fewest=2)
    slack = as_float(epsilon)
    is_best = mu == jnp.max(mu, axis=0)
    unique = is_best & (jnp.sum(is_best, axis=0) == 1)
    second = jnp.max(jnp.where(is_best, -jnp.inf, mu), axis=0)
    line = lower_line(jnp.max(mu, axis=0), slack, multiplicative)
    mu = _snapped(mu, line)
    good = mu >= line
    least, next_least = _two_smallest(jnp.where(good, mu, jnp.inf))
    other = jnp.where(good & (mu == least), next_least, least)  # the worst good arm beside this one
    best_bad = jnp.max(jnp.where(good, -jnp.inf, mu), axis=0)
    crossed = _to_below(law, mu, jnp.where(unique, mu, line), sd)
    raised = _divergence(law, mu, _above(other, slack, multiplicative), sd)
    to_bad = lower_line(jnp.where(jnp.isfinite(second), second, jnp.max(mu, axis=0)), slack, multiplicative)
    lowered = _divergence(law, mu, to_bad, sd)
    to_good = _above(best_bad, slack, multiplicative)
    another = jnp.where(to_good >= second, _divergence(law, mu, to_good, sd), jnp.inf)
    cost = jnp.where(unique, jnp.minimum(lowered, another), crossed)
    return _pulls(jnp.minimum(cost, raised), delta)


def h_all_good(means: ArrayLike, epsilon: ArrayLike, multiplicative: bool = False) -> jax.Array:
    """Return the complexity of finding all epsilon-good arms: the sum of max(1 / a_i^2, 1 / b_i^2).

    a_i is the distance of mean i from the line, best - epsilon, or (1 - epsilon) best. b_i is its distance from the
    mean that a best arm must have so that the worst good arm lies on the line (Mason et al. 2020, section 2).

    Args:
        means: arm means, shape `(K, …)`.
        epsilon: at least 0, below 1 with `multiplicative`, shape `()` or `(…)`.
        multiplicative: as in `all_good_pulls_lower_bound`.

    Returns:
        Shape `(…)`, positive; infinite where a mean lies on the line.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> round(float(jb.theory.h_all_good([0.7, 0.6, 0.3], 0.2)), 1)
        225.0
    """
    _, mu, _ = _checked(means, epsilon, "gaussian", 1.0, multiplicative, fewest=2)
    slack = as_float(epsilon)
    line = lower_line(jnp.max(mu, axis=0), slack, multiplicative)
    mu = _snapped(mu, line)
    worst = jnp.min(jnp.where(mu >= line, mu, jnp.inf), axis=0)
    distance = jnp.minimum(jnp.abs(line - mu), _above(worst, slack, multiplicative) - mu)
    return jnp.sum(power(distance, -2.0), axis=0)


def lower_line(best: jax.Array, epsilon: jax.Array, multiplicative: bool) -> jax.Array:
    """Return the smallest mean of an epsilon-good arm: best - epsilon, or max(1 - epsilon, 0) best."""
    return jnp.maximum(1 - epsilon, 0) * best if multiplicative else best - epsilon


def _snapped(mu: jax.Array, line: jax.Array) -> jax.Array:
    """Return the means, those on the line up to rounding exactly there, such as 0.6 for 0.9 and an epsilon of 0.3."""
    near = jnp.abs(mu - line) <= 4 * jnp.finfo(mu.dtype).eps * jnp.max(jnp.abs(mu), axis=0)
    return jnp.where(near, line, mu)


def _above(worst: jax.Array, epsilon: jax.Array, multiplicative: bool) -> jax.Array:
    """Return the best mean of which `worst` lies on the line; an infinite one stays so, with slope 0."""
    there = jnp.isfinite(worst)
    known = jnp.where(there, worst, 0.0)
    return jnp.where(there, known / (1 - epsilon) if multiplicative else known + epsilon, worst)


def _two_smallest(x: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return the two smallest values along the first axis, `(…)` each; infinite where there are fewer."""
    ordered = jnp.sort(x, axis=0)
    return ordered[0], ordered[1] if ordered.shape[0] > 1 else jnp.full_like(ordered[0], jnp.inf)


def _divergence(law: Family, mean: jax.Array, other: jax.Array, sd: ArrayLike) -> jax.Array:
    """Return d(mean, other) `(K, …)`, infinite where the other is not inside the range of means."""
    mean, other = jnp.broadcast_arrays(mean, other)
    inside = (other > law.lowest) & (other < law.highest) & jnp.isfinite(other)
    shift = jnp.where(inside, other - mean, 0.0)
    found = jnp.where(inside, law.divergence_by(mean, shift) / as_float(sd) ** 2, jnp.inf)
    return jnp.where(other == mean, 0.0, found)


def _to_below(law: Family, mean: jax.Array, line: jax.Array, sd: ArrayLike) -> jax.Array:
    """Return d(mean, line) `(K, …)`; infinite where no mean of the family lies below the line."""
    return jnp.where(line > law.lowest, _divergence(law, mean, line, sd), jnp.inf)


def _pulls(cost: jax.Array, delta: ArrayLike) -> jax.Array:
    check("delta", delta, INSIDE_UNIT)
    time = jnp.sum(power(cost, -1.0), axis=0)
    return jnp.where(as_float(delta) < 0.5, times(binary_relative_entropy(delta), time), 0.0)


def _checked(
    means: ArrayLike, epsilon: ArrayLike, family: str, sd: ArrayLike, multiplicative: bool = False, fewest: int = 1
) -> tuple[Family, jax.Array, ArrayLike]:
    """Return the family, the means and the standard deviation, which is 1 in families other than the normal one."""
    check_arms(means, fewest)
    check("means", means, rule_of_means(family))
    check_truth("multiplicative", multiplicative)
    if multiplicative:
        check("means with a multiplicative epsilon", means, NOT_NEGATIVE)
        check("a multiplicative epsilon", epsilon, _SHARE)
    check("epsilon", epsilon, NOT_NEGATIVE)
    check("sd", sd, POSITIVE)
    return FAMILIES[family], as_float(means), sd if family == "gaussian" else 1.0
