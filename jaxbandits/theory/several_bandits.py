"""Complexities and guarantees of GapE, which looks for the best arm of each of several bandits.

Gabillon, Ghavamzadeh, Lazaric, Bubeck 2011, "Multi-bandit best arm identification" (GapE, GapE-V). The meaning of an
error bound is that of `bounds`.
"""

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike

from jaxbandits.checks import FINITE, NOT_NEGATIVE, POSITIVE, shown
from jaxbandits.errors import UsageError
from jaxbandits.theory._bound_shapes import error_if_admissible, quotient
from jaxbandits.theory._checks import as_float, check, check_budget, check_mask
from jaxbandits.theory.complexity import gaps, squares, variance_terms

__all__ = [
    "gape_error_bound", "gape_h", "gape_h_variance", "gape_largest_a", "gape_variance_error_bound",
    "gape_variance_largest_a",
]  # fmt: skip

# The constant of ab / (T - 1) in the radius of the published theorem, with the true standard deviation.
_GAPE_V_RANGE = 16 / 3


def gape_h(means: ArrayLike, b: ArrayLike = 1.0, mask: ArrayLike | None = None) -> jax.Array:
    """Return the complexity of every bandit of a multi-bandit problem; the H of the GapE paper is their sum.

    Args:
        means: arm means, shape `(bandits, arms, …)`, or `(arms,)` for one bandit.
        b: rewards lie in [0, b], b > 0.
        mask: bool, with the shape of the means, false for padded arms.

    Returns:
        Shape `(bandits, …)`, or `()` for `(arms,)`; positive.

    Example:
        >>> round(float(jb.theory.gape_h([0.7, 0.5, 0.4])), 1)
        61.1
    """
    _check_range(b, means)
    each = jnp.sum(squares(as_float(b), _bandit_gaps(means, mask)), axis=0)  # GapE section 3: H = sum b^2 / Delta_mk^2
    return each[0] if jnp.ndim(means) == 1 else each


def gape_h_variance(
    means: ArrayLike, variances: ArrayLike, b: ArrayLike = 1.0, mask: ArrayLike | None = None
) -> jax.Array:
    """Return the complexity H^sigma of every bandit for GapE-V; the H^sigma of the paper is their sum.

    Args:
        means: arm means, shape `(bandits, arms, …)`, or `(arms,)` for one bandit.
        variances: arm variances, at least 0, with the shape of the means.
        b: rewards lie in [0, b], b > 0.
        mask: bool, with the shape of the means, false for padded arms.

    Returns:
        Shape `(bandits, …)`, or `()` for `(arms,)`; positive.

    Example:
        >>> round(float(jb.theory.gape_h_variance([0.7, 0.5, 0.4], [0.21, 0.25, 0.24])), 1)
        168.8
    """
    _check_range(b, means)
    check("variances", variances, NOT_NEGATIVE)
    gap = _bandit_gaps(means, mask)
    if jnp.shape(variances) != jnp.shape(means):
        raise UsageError(f"variances of shape {jnp.shape(variances)} need means of that shape, got {jnp.shape(means)}")
    there = None if mask is None else _arms_first(jnp.asarray(mask))
    each = jnp.sum(variance_terms(gap, _arms_first(as_float(variances)), b, _GAPE_V_RANGE, there), axis=0)
    return each[0] if jnp.ndim(means) == 1 else each


def gape_largest_a(means: ArrayLike, n: ArrayLike, b: ArrayLike = 1.0) -> jax.Array:
    """Return the largest exploration parameter that GapE Theorem 1 admits.

    Args:
        means: arm means, shape `(bandits, arms, …)`, or `(arms,)` for one bandit.
        n: budget in pulls over all bandits.
        b: range of the rewards.

    Returns:
        Shape `(…)`; not positive if the budget does not exceed the number of arms.

    Example:
        >>> round(float(jb.theory.gape_largest_a([0.7, 0.5, 0.4], 20_000)), 2)
        145.43
    """
    check_budget(n)
    check("means", means, FINITE)
    total = jnp.sum(gape_h(_bandits_first(as_float(means)), b), axis=0)
    return quotient(4 / 9 * (as_float(n) - _arms(means)), total)  # Theorem 1: a = 4/9 (n - MK) / H


def gape_error_bound(means: ArrayLike, n: ArrayLike, b: ArrayLike = 1.0, a: ArrayLike | None = None) -> jax.Array:
    """Return a bound on the probability that GapE is wrong about the best arm of any bandit (GapE Theorem 1).

    Args:
        means: arm means, shape `(bandits, arms, …)`, or `(arms,)` for one bandit.
        n: budget in pulls over all bandits.
        b: range of the rewards.
        a: exploration parameter; the largest admissible one if not given.

    Returns:
        Shape `(…)`, in [0, 1].

    Example:
        >>> f"{jb.theory.gape_error_bound([0.7, 0.5, 0.4], 200_000):.1e}"
        '1.6e-04'
    """
    largest = gape_largest_a(means, n, b)
    pairs = jnp.log(2.0 * _arms(means)) + jnp.log(as_float(n))
    return error_if_admissible(a, largest, lambda a: pairs - a / 64)  # Theorem 1: 2MKn exp(-a/64)


def gape_variance_largest_a(means: ArrayLike, variances: ArrayLike, n: ArrayLike, b: ArrayLike = 1.0) -> jax.Array:
    """Return the largest exploration parameter that GapE-V's theorem (GapE Theorem 2) admits.

    Args:
        means: arm means, shape `(bandits, arms, …)`, or `(arms,)` for one bandit.
        variances: arm variances, with the shape of the means.
        n: budget in pulls over all bandits.
        b: range of the rewards.

    Returns:
        Shape `(…)`; not positive if the budget does not exceed twice the number of arms.

    Example:
        >>> round(float(jb.theory.gape_variance_largest_a([0.7, 0.5, 0.4], [0.21, 0.25, 0.24], 20_000)), 2)
        105.29
    """
    check_budget(n)
    check("means", means, FINITE)
    check("variances", variances, NOT_NEGATIVE)
    means, variances = (_bandits_first(as_float(x)) for x in (means, variances))
    total = jnp.sum(gape_h_variance(means, variances, b), axis=0)
    # A tie makes it infinite. The infinite slope of a variance of 0 elsewhere must then not meet the 0 of `quotient`.
    harmless = jnp.where(jnp.isfinite(total), variances, 1.0)
    total = jnp.sum(gape_h_variance(means, harmless, b), axis=0)
    return quotient(8 / 9 * (as_float(n) - 2 * _arms(means)), total)  # a = 8/9 (n - 2MK) / H^sigma


def gape_variance_error_bound(
    means: ArrayLike, variances: ArrayLike, n: ArrayLike, b: ArrayLike = 1.0, a: ArrayLike | None = None
) -> jax.Array:
    """Return a bound on the probability that GapE-V is wrong about the best arm of any bandit (GapE Theorem 2).

    Args:
        means: arm means, shape `(bandits, arms, …)`, or `(arms,)` for one bandit.
        variances: arm variances, with the shape of the means.
        n: budget in pulls over all bandits.
        b: range of the rewards.
        a: exploration parameter; the largest admissible one if not given.

    Returns:
        Shape `(…)`, in [0, 1].

    Example:
        >>> f"{jb.theory.gape_variance_error_bound([0.7, 0.5, 0.4], [0.21, 0.25, 0.24], 2_000_000):.1e}"
        '3.2e-03'
    """
    largest = gape_variance_largest_a(means, variances, n, b)
    pairs = jnp.log(6.0 * _arms(means)) + jnp.log(as_float(n))
    return error_if_admissible(a, largest, lambda a: pairs - 9 * a / (64 * 64))  # 6nMK exp(-9a / (64 * 64))


def _bandits_first(x: jax.Array) -> jax.Array:
    """Return values of the arms of several bandits, `(bandits, arms, …)`; `(arms,)` are those of one bandit.

    Raises:
        UsageError: one number, or no bandit.
    """
    if not x.ndim or not x.shape[0]:
        raise UsageError(f"means must be a list of arms, or one list per bandit, got {shown(x)}")
    return x[None] if x.ndim == 1 else x


def _check_range(b: ArrayLike, means: ArrayLike) -> None:
    """Check that a range is positive, and that it has no more axes than means `(bandits, arms, …)` have of runs."""
    check("b", b, POSITIVE)
    if jnp.ndim(b) > max(jnp.ndim(means) - 2, 0):
        raise UsageError(
            f"b of shape {jnp.shape(b)} needs means (bandits, arms, …) with such runs, got {jnp.shape(means)}"
        )


def _bandit_gaps(means: ArrayLike, mask: ArrayLike | None) -> jax.Array:
    """Return gaps to the best other arm of the same bandit, `(arms, bandits, …)`."""
    check("means", means, FINITE)
    check_mask(mask)
    if mask is not None and not _covers(jnp.shape(mask), jnp.shape(means)):
        raise UsageError(f"mask of shape {jnp.shape(mask)} needs means of that shape, got {jnp.shape(means)}")
    return gaps(_arms_first(as_float(means)), 1, None if mask is None else _arms_first(jnp.asarray(mask)))


def _covers(mask: tuple[int, ...], means: tuple[int, ...]) -> bool:
    """Return whether a mask of this shape has an entry for each arm."""
    return len(mask) == len(means) and all(one in (1, size) for one, size in zip(mask, means, strict=True))


def _arms_first(x: jax.Array) -> jax.Array:
    """Return values of the arms as `(arms, bandits, …)`: bandits are then one more axis of runs."""
    return jnp.moveaxis(_bandits_first(x), 1, 0)


def _arms(means: ArrayLike) -> int:
    """Return the number of arms of all bandits together, MK."""
    bandits, arms = _bandits_first(as_float(means)).shape[:2]
    return bandits * arms
