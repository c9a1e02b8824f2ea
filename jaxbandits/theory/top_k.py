"""Hardness of finding K arms whose mean is within epsilon of the best K arms' mean (aggregate regret).

Source: Chen, Chen, Zhang, Zhou 2017, "Adaptive multiple-arm identification": equations (2) to (6).
Gaps are those of `gaps(means, k)`, equation (2) there.

Shapes: means are `(n, …)` in any order, k and epsilon `()` or `(…)`, results `(…)` (arms first, runs last). Real
results are differentiable in means and epsilon where no two deciding arms are tied. t is a whole number, piecewise
constant, and its jumps are not in any derivative. The cost is that of sorting n numbers.

In float32 a complexity has a relative error of about 1e-7 / epsilon; `jax.enable_x64` helps where that is too much.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike

from jaxbandits.checks import FINITE, POSITIVE
from jaxbandits.theory._checks import as_float, check, check_size, number_of_arms
from jaxbandits.theory.complexity import gaps

__all__ = [
    "Border",
    "border",
    "exchangeable_arms",
    "h_0_epsilon",
    "h_t_epsilon",
    "psi_t",
    "psi_t_epsilon",
]


class Border(NamedTuple):
    """The arms around the border between the K best and the others, from which t and Psi_t follow."""

    k: jax.Array  # () or (…), K
    gap: jax.Array  # (n, …), Delta_1 to Delta_n, by rank; infinite for padded arms
    rank: jax.Array  # (n, 1, …), 0 for the best
    inside: jax.Array  # int32 (…), the largest t <= K - 1 with Delta_{K-t} t <= K epsilon
    outside: jax.Array  # int32 (…), the largest t <= n - K - 1 with Delta_{K+t+1} t <= K epsilon

    @property
    def exchangeable(self) -> jax.Array:
        """Return t(epsilon, K), int32 `(…)`."""
        return jnp.minimum(self.inside, self.outside)

    @property
    def psi(self) -> jax.Array:
        """Return Psi_t, `(…)`."""
        return jnp.minimum(self.gap_inside(self.exchangeable), self._gap_at(self.k + self.exchangeable))  # eq. (4)

    def gap_inside(self, t: jax.Array) -> jax.Array:
        """Return Delta_{K-t}, `(…)`."""
        return self._gap_at(self.k - 1 - t)  # rank 0 is arm 1

    def _gap_at(self, rank: jax.Array) -> jax.Array:
        return jnp.sum(jnp.where(self.rank == rank, self.gap, 0.0), axis=0)


def border(means: ArrayLike, epsilon: ArrayLike, k: ArrayLike, mask: ArrayLike | None = None) -> Border:
    """Return gaps by rank, and how far from the border on either side the conditions of equation (3) hold.

    Arguments and errors as in `exchangeable_arms`.
    """
    check("means", means, FINITE)
    check("epsilon", epsilon, POSITIVE)
    mu = as_float(means)
    check_size(k, number_of_arms(mu), mask, "k")
    k = jnp.asarray(k)
    theta = jnp.sort(mu if mask is None else jnp.where(mask, mu, -jnp.inf), axis=0, descending=True)
    rank = jnp.arange(mu.shape[0]).reshape((-1,) + (1,) * (mu.ndim - 1))
    real = None
    if mask is not None:
        real = rank < jnp.sum(jnp.asarray(mask), axis=0)
        theta = jnp.where(real, theta, 0.0)
    gap = gaps(theta, k, real)
    within = rank < k
    t = as_float(jnp.where(within, k - 1 - rank, rank - k))  # rank 0 is arm 1: arms K - t and K + t + 1
    # Equality counts in (3), and means 0.7 and 0.3 must not break it: a gap is known up to the rounding of two means.
    unit = jnp.finfo(theta.dtype).eps
    known = gap - 2 * unit * jnp.max(jnp.abs(theta), axis=0)
    tolerated = known * t <= as_float(k) * as_float(epsilon) * (1 + 4 * unit)  # eq. (3)
    # Delta_{K-t} t and Delta_{K+t+1} t grow with t, and hold for t = 0: the largest t is one less than how many hold.
    inside, outside = (jnp.sum(tolerated & side, axis=0) - 1 for side in (within, ~within))
    return Border(k, gap, rank, inside, outside)


def exchangeable_arms(means: ArrayLike, epsilon: ArrayLike, k: ArrayLike, mask: ArrayLike | None = None) -> jax.Array:
    """Return t(epsilon, K): how many of the K best arms may be exchanged for the next best (Chen et al. 2017, eq. 3).

    It is the largest t with Delta_{K-t} t <= K epsilon and Delta_{K+t+1} t <= K epsilon. The paper has t <= K - 1. Arm
    K + t + 1 exists up to t = n - K - 1, which limits t where K > n/2. Equality counts, up to rounding.

    Args:
        means: arm means, shape `(n, …)`.
        epsilon: aggregate regret that is allowed, positive, shape `()` or `(…)`.
        k: K, number of arms to return, in [1, n-1], shape `()` or `(…)`; may be traced.
        mask: bool, shape `(n, …)`, false for padded arms.

    Returns:
        int32 `(…)`, in [0, min(K, n-K) - 1].

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> int(jb.theory.exchangeable_arms([0.52, 0.51, 0.5, 0.49], 0.05, 2))
        1
    """
    return border(means, epsilon, k, mask).exchangeable


def psi_t(means: ArrayLike, epsilon: ArrayLike, k: ArrayLike, mask: ArrayLike | None = None) -> jax.Array:
    """Return Psi_t = min(Delta_{K-t}, Delta_{K+t+1}), t = t(epsilon, K): smaller gaps need not be resolved (eq. 4).

    Args:
        means: arm means, shape `(n, …)`.
        epsilon: aggregate regret that is allowed, positive, shape `()` or `(…)`.
        k: K, number of arms to return, in [1, n-1], shape `()` or `(…)`.
        mask: bool, shape `(n, …)`, false for padded arms.

    Returns:
        Shape `(…)`, at least 0.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> round(float(jb.theory.psi_t([0.9, 0.8, 0.5, 0.3, 0.2, 0.1], 0.1, 2)), 2)
        0.3
    """
    return border(means, epsilon, k, mask).psi


def psi_t_epsilon(means: ArrayLike, epsilon: ArrayLike, k: ArrayLike, mask: ArrayLike | None = None) -> jax.Array:
    """Return Psi_t^epsilon = max(epsilon, Psi_t) (eq. 5); arguments and errors as in `psi_t`.

    Example:
        >>> round(float(jb.theory.psi_t_epsilon([0.9, 0.8, 0.5, 0.3, 0.2, 0.1], 0.1, 2)), 2)
        0.3
    """
    psi = psi_t(means, epsilon, k, mask)
    return jnp.maximum(as_float(epsilon), psi)


def h_t_epsilon(means: ArrayLike, epsilon: ArrayLike, k: ArrayLike, mask: ArrayLike | None = None) -> jax.Array:
    """Return H^(t,epsilon) = sum_i min(Delta_i^-2, (Psi_t^epsilon)^-2), the hardness of epsilon-top-K (eq. 6).

    Args:
        means: arm means, shape `(n, …)`.
        epsilon: aggregate regret that is allowed, positive, shape `()` or `(…)`.
        k: K, number of arms to return, in [1, n-1], shape `()` or `(…)`.
        mask: bool, shape `(n, …)`, false for padded arms.

    Returns:
        Shape `(…)`, in (0, n epsilon^-2].

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> round(float(jb.theory.h_t_epsilon([0.9, 0.8, 0.5, 0.3, 0.2, 0.1], 0.1, 2)), 1)
        37.3
    """
    around = border(means, epsilon, k, mask)
    resolution = jnp.maximum(as_float(epsilon), around.psi)  # eq. (5)
    return jnp.sum(jnp.maximum(around.gap, resolution) ** -2.0, axis=0)  # eq. (6)


def h_0_epsilon(means: ArrayLike, epsilon: ArrayLike, k: ArrayLike, mask: ArrayLike | None = None) -> jax.Array:
    """Return H^(0,epsilon) = sum_i min(Delta_i^-2, epsilon^-2), the hardness that CLUCB-PAC pays (section 1).

    Args:
        means: arm means, shape `(n, …)`.
        epsilon: aggregate regret that is allowed, positive, shape `()` or `(…)`.
        k: K, number of arms to return, in [1, n-1], shape `()` or `(…)`.
        mask: bool, shape `(n, …)`, false for padded arms.

    Returns:
        Shape `(…)`, at least H^(t,epsilon).

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> round(float(jb.theory.h_0_epsilon([0.9, 0.8, 0.5, 0.3, 0.2, 0.1], 0.1, 2)), 1)
        37.3
    """
    check("epsilon", epsilon, POSITIVE)
    check_size(k, number_of_arms(means), mask, "k")
    return jnp.sum(jnp.maximum(gaps(means, k, mask), as_float(epsilon)) ** -2.0, axis=0)
