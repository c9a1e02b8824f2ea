"""Characteristic times of the m best arms, m > 1, by an interior-point method on the host, in float64.

With m > 1 the deciding pairs of arms are not known beforehand. Rounds such as those for one best arm
(`jaxbandits.statistics.allocation_newton`) would have to find them. In float32 the barrier method would keep two or
three digits only. Runs need none of this, so the host computes it, which has float64 whatever JAX has.
"""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from jaxbandits.errors import UsageError
from jaxbandits.theory._allocation import PairCosts
from jaxbandits.theory._allocation_barrier import smallest_allocation
from jaxbandits.theory._allocation_families import FAMILIES
from jaxbandits.theory._allocation_slopes import allocation_and_slopes

__all__ = ["m_best_time"]

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


def m_best_time(
    m: int, family: str, means: jax.Array, epsilon: jax.Array, variances: jax.Array | None, mask: jax.Array | None
) -> tuple[jax.Array, jax.Array]:
    """Return T* `(…)` and the proportions `(K, …)`, with their first derivatives in means, epsilon and variances.

    Args:
        m: number of best arms.
        family: of the rewards.
        means: `(K, …)`.
        epsilon: `(…)`, or of fewer axes.
        variances: `(K, …)`, of normal rewards; None for 1 each.
        mask: bool `(K, …)`, false for padded arms; None for none.
    """
    real = jnp.ones(means.shape, bool) if mask is None else jnp.broadcast_to(jnp.asarray(mask), means.shape)
    lead = jnp.broadcast_to(epsilon, means.shape[1:])
    spread = jnp.zeros((0, *means.shape[1:]), means.dtype) if variances is None else variances
    if any(isinstance(x, jax.core.Tracer) for x in (means, lead, spread, real)):
        return _traced(m, family, means, lead, spread, real)
    time, weights = _on_host(_values, m, family, means, lead, spread, real)
    return jnp.asarray(time, means.dtype), jnp.asarray(weights, means.dtype)


def _on_host(
    solver: Callable[..., tuple[Array, ...]],
    m: int,
    family: str,
    means: jax.Array,
    epsilon: jax.Array,
    spread: jax.Array,
    real: jax.Array,
) -> tuple[Array, ...]:
    """Return the solver's result for instances `(K, …)`; spread are their variances, or `(0, …)`."""
    batch, number = np.shape(means)[1:], np.size(epsilon)
    mu, lead, each = (np.asarray(x, np.float64) for x in (means, epsilon, spread))
    there = np.asarray(real).reshape(-1, number)
    found = solver(m, family, mu.reshape(-1, number), lead.reshape(-1), each.reshape(each.shape[0], number), there)
    return tuple(x.reshape((*x.shape[:-1], *batch)) for x in found)


def _values(m: int, family: str, mu: Array, lead: Array, spread: Array, there: Mask) -> tuple[Array, Array]:
    """Return T* `(N,)` and proportions `(K, N)` of instances `(K, N)`, those of equal numbers of arms at once."""
    time, weights = np.empty(mu.shape[1]), np.zeros(mu.shape)
    for arms in np.unique(there.sum(axis=0)):
        (runs,) = np.nonzero(there.sum(axis=0) == arms)
        # Real arms from the best to the worst.
        order = np.argsort(np.where(there, -mu, np.inf)[:, runs], axis=0, kind="stable")[:arms]
        means, *variances = (np.take_along_axis(x[:, runs], order, axis=0).T for x in (mu, spread) if len(x))
        known = (variances[0][:, :m], variances[0][:, m:]) if variances else None
        pairs = PairCosts(FAMILIES[family], means[:, :m], means[:, m:], lead[runs], known)
        edge = _edges(pairs)
        found = np.where(np.isnan(edge)[:, None], 1.0, 1 / arms) * np.ones((runs.size, arms))
        inside = np.isnan(edge)
        if inside.any():
            some = pairs.of(inside)
            scaled = smallest_allocation(some)
            sums = scaled.sum(axis=1)
            # The value at the returned proportions, not the sum, whose excess over the optimum has the other sign.
            edge[inside] = sums / some.costs(scaled[:, :m], scaled[:, m:]).min(axis=(1, 2))
            found[inside] = scaled / sums[:, None]
        time[runs] = edge
        weights[order, runs] = found.T
    return time, weights


def _slopes(m: int, family: str, mu: Array, lead: Array, spread: Array, there: Mask) -> tuple[Array, ...]:
    """Return `_values` and their derivatives in P = K + 1 or 2 K + 1 numbers, `(P, N)` and `(K, P, N)`.

    Instances are solved one after another.
    """
    arms, number = mu.shape
    every = arms + 1 + len(spread)
    time, weights = np.empty(number), np.zeros(mu.shape)
    of_time, of_weights = np.zeros((every, number)), np.zeros((arms, every, number))
    for run in range(number):
        (places,) = np.nonzero(there[:, run])
        known = spread[places, run] if len(spread) else spread[:, run]
        found = _one(m, family, mu[places, run], float(lead[run]), known)
        time[run], weights[places, run] = found[:2]
        columns = np.concatenate([places, [arms], arms + 1 + places[: known.size]])
        of_time[columns, run] = found[2]
        of_weights[places[:, None], columns, run] = found[3]
    return time, weights, of_time, of_weights


def _one(m: int, family: str, mu: Array, epsilon: float, spread: Array) -> tuple[float | Array, ...]:
    """Return `_slopes` of one instance without padded arms, `(K,)`."""
    arms, order = mu.size, np.argsort(-mu, kind="stable")
    best, rest = order[:m], order[m:]

    def pairs_of(at: Array) -> PairCosts:  # the order stays: at a tie across the border there is no derivative
        variances = at[arms + 1 :]
        known = (variances[best], variances[rest]) if variances.size else None
        return PairCosts(FAMILIES[family], at[best], at[rest], at[arms], known)

    at = np.concatenate([mu, [epsilon], spread])
    if not np.isnan(edge := float(_edges(pairs_of(at)))):
        return edge, np.full(arms, 1 / arms), np.zeros(at.size), np.zeros((arms, at.size))
    weights, moved = np.empty(arms), np.empty((arms, at.size))
    weights[order], moved[order] = allocation_and_slopes(pairs_of, at)
    time, slope = weights.sum(), moved.sum(axis=0)
    return float(time), weights / time, slope, moved / time - np.outer(weights, slope) / time**2


def _edges(pairs: PairCosts) -> Array:
    """Return the times where no allocation is needed, `(…)`, and NaN elsewhere.

    The time is 0 if no instance makes S wrong, and infinite if S is not unique.
    """
    with np.errstate(divide="ignore", invalid="ignore"):  # an epsilon as large as the range leaves no alternative
        uniform = pairs.costs(np.ones_like(pairs.best), np.ones_like(pairs.rest)).min(axis=(-2, -1))
    edge: Array = np.where(uniform == 0, np.inf, np.nan)
    return np.where(pairs.epsilon >= pairs.family.highest - pairs.family.lowest, 0.0, edge)


@functools.partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def _traced(
    m: int, family: str, means: jax.Array, epsilon: jax.Array, spread: jax.Array, real: jax.Array
) -> tuple[jax.Array, jax.Array]:
    time, weights, *_ = _called(m, family, means, epsilon, spread, real)
    return time, weights


@_traced.defjvp
def _traced_jvp(
    m: int, family: str, primals: tuple[jax.Array, ...], tangents: tuple[jax.Array, ...]
) -> tuple[tuple[jax.Array, jax.Array], tuple[jax.Array, jax.Array]]:
    time, weights, of_time, of_weights = _called(m, family, *primals)
    direction = jnp.concatenate([tangents[0], tangents[1][None], tangents[2]])
    return (time, weights), (jnp.sum(of_time * direction, axis=0), jnp.sum(of_weights * direction, axis=1))


@functools.partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def _called(
    m: int, family: str, means: jax.Array, epsilon: jax.Array, spread: jax.Array, real: jax.Array
) -> tuple[jax.Array, ...]:
    """Return `_slopes`, from the device."""
    arms, batch, dtype = means.shape[0], means.shape[1:], means.dtype
    every = arms + 1 + spread.shape[0]
    shapes = [batch, (arms, *batch), (every, *batch), (arms, every, *batch)]

    def host(*arguments: jax.Array) -> tuple[np.ndarray, ...]:
        return tuple(np.asarray(x, dtype) for x in _on_host(_slopes, m, family, *arguments))

    found: tuple[jax.Array, ...] = jax.pure_callback(
        host, tuple(jax.ShapeDtypeStruct(shape, dtype) for shape in shapes), means, epsilon, spread, real,
        vmap_method="sequential",
    )  # fmt: skip
    return found


@_called.defjvp
def _called_jvp(m: int, family: str, primals: tuple[jax.Array, ...], tangents: tuple[jax.Array, ...]) -> Any:
    del family, primals, tangents
    raise UsageError(f"characteristic_time has first derivatives only for m = {m}; for m = 1 it has all")
