"""Characteristic times of the m best arms, m > 1, in float64 whatever the type of the means.

With m > 1 the deciding pairs of arms are not known beforehand, as the rounds for one best arm require
(`jaxbandits.statistics.allocation_newton`). The cost c_ij(w) of distinguishing arm i of the best from arm j of the rest
is concave and homogeneous of degree 1 in w. Maximising min c_ij over proportions is therefore the same as minimising
sum(w) subject to c_ij(w) >= 1 and w >= 0. The minimum is T*, and its w, scaled to sum to 1, are the proportions.
`_interior_point` solves that, which in float32 would leave two or three digits.
"""

import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxbandits.bounded_jit import recent_programs
from jaxbandits.compilers.xla_cpu import LEAVE_BARRIERS
from jaxbandits.statistics.exponential_families import FAMILIES, Family
from jaxbandits.theory._interior_point import Instance, smallest_allocation

__all__ = ["m_best_time"]

Function = Callable[[jax.Array], tuple[jax.Array, ...]]

# An instance that replaces those without a solution: it is in the range of every family.
_HIGH, _LOW = 0.75, 0.25
# Arms whose cost is smaller cannot be distinguished by floats.
_LEAST = float(np.finfo(np.float64).tiny ** 0.8)


def m_best_time(
    m: int, family: str, means: jax.Array, epsilon: jax.Array, variances: jax.Array | None, mask: jax.Array | None
) -> tuple[jax.Array, jax.Array]:
    """Return T* `(…)` and the proportions `(K, …)`, differentiable in means, epsilon and variances.

    Args:
        m: number of best arms.
        family: of the rewards.
        means: `(K, …)`.
        epsilon: `(…)`, or of fewer axes.
        variances: `(K, …)`, of normal rewards; None for 1 each.
        mask: bool `(K, …)`, false for padded arms; None for none.
    """
    batch, ones = means.shape[1:], jnp.ones_like(means)
    real = ones if mask is None else jnp.broadcast_to(mask, means.shape).astype(means.dtype)
    lead = jnp.broadcast_to(epsilon, batch)[None].astype(means.dtype)
    numbers = jnp.concatenate([means, lead, ones if variances is None else variances, real])
    solutions = _solutions if isinstance(numbers, jax.core.Tracer) else _compiled
    time, weights = solutions(numbers.reshape(len(numbers), -1), m=m, family=family)
    return time.reshape(batch), weights.reshape(means.shape)


def _solutions(numbers: jax.Array, *, m: int, family: str) -> tuple[jax.Array, ...]:
    """Return T* `(N,)` and proportions `(K, N)` of instances, each a column of `_solution`'s numbers."""
    solution = functools.partial(_solution, FAMILIES[family], m)
    return jax.vmap(functools.partial(_in_double, solution), -1, -1)(numbers)


# A program runs shorter than it compiles: these options halve the time.
_compiled = recent_programs(
    32, "m", "family",
    compiler_options={"xla_disable_hlo_passes": LEAVE_BARRIERS, "xla_backend_optimization_level": 0},
)(_solutions)  # fmt: skip


@functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
def _in_double(function: Function, x: jax.Array) -> tuple[jax.Array, ...]:
    """Return the function of numbers `(P,)`, computed in float64 and rounded to their type."""
    with jax.enable_x64(True):
        return jax.tree.map(lambda value: value.astype(x.dtype), function(x.astype(jnp.float64)))


@_in_double.defjvp
def _in_double_jvp(
    function: Function, primals: tuple[jax.Array], tangents: tuple[jax.Array]
) -> tuple[tuple[jax.Array, ...], tuple[jax.Array, ...]]:
    slopes = _in_double(jax.jacfwd(function), *primals)
    return _in_double(function, *primals), jax.tree.map(lambda slope: slope @ tangents[0], slopes)


def _solution(family: Family, m: int, numbers: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return T* `()` and the proportions `(K,)`, given means `(K,)`, epsilon, variances `(K,)`, and 0 for padded arms.

    The time is 0 if no alternative exists, and infinite if two arms across the border are the same.
    """
    arms = len(numbers) // 3
    means, epsilon, variances, real = jnp.split(numbers, [arms, arms + 1, 2 * arms + 1])
    real, lead = lax.stop_gradient(real) > 0, epsilon[0]
    order = jnp.argsort(jnp.where(real, -means, jnp.inf), stable=True)
    means, variances, real = means[order], variances[order], real[order]
    dear = lax.stop_gradient(jnp.max(variances))
    top, way = means[m - 1], (means[m - 1] - means[m]) + lead
    # The least cost of equal weights is of this order. At an end of the range the variance is 0: so take the largest of
    # those at the m-th mean and where the two arms are moved to.
    middle = (top + means[m]) / 2
    there = jnp.clip(jnp.stack([top, middle - lead / 2, middle + lead / 2]), family.lowest, family.highest)
    least = lax.stop_gradient(way * way / jnp.max(family.variance(there - family.lowest, family.highest - there)))
    impossible = lead >= family.highest - family.lowest
    edge = impossible | (way <= 0) | ~(least > _LEAST)
    given = Instance(
        best=jnp.where(edge, _HIGH, means[:m]),
        rest=jnp.where(edge, _LOW, means[m:]),
        epsilon=jnp.where(edge, _LOW, lead),
        price=variances / dear,
        real=real[m:].astype(means.dtype),
        unit=1 / jnp.where(edge, 1.0, least),
    )
    weights = jnp.where(real, given.price * smallest_allocation(family, given)[0], 0)
    total = jnp.sum(weights)
    weights = jnp.where(edge, real / jnp.sum(real), weights / total)
    time = jnp.where(edge, jnp.where(impossible, 0.0, jnp.inf), total * given.unit * dear)
    return time, jnp.zeros(arms).at[order].set(weights)
