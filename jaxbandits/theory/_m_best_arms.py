"""Characteristic times of the m best arms, m > 1, from the host's interior-point solver, one instance after another.

With m > 1 which pairs of arms decide is not known beforehand, and rounds such as those for one best arm
(`jaxbandits.statistics.allocation_rounds`) would have to find out. The barrier method needs float64, which JAX may
lack, and some 40 ms for an instance of ten arms.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from jaxbandits.errors import UsageError
from jaxbandits.theory._allocation import PairCosts, smallest_allocation
from jaxbandits.theory._allocation_families import FAMILIES
from jaxbandits.theory._allocation_slopes import allocation_and_slopes

__all__ = ["m_best_time"]

Array = NDArray[np.float64]


def m_best_time(
    m: int, family: str, means: jax.Array, epsilon: jax.Array, mask: jax.Array | None
) -> tuple[jax.Array, jax.Array]:
    """T* `(…)` and the proportions `(K, …)`, with their first derivatives in means and epsilon.

    Args:
        m: number of best arms.
        family: of the rewards; normal ones have variance 1.
        means: `(K, …)`.
        epsilon: `(…)`, or of fewer axes.
        mask: bool `(K, …)`, false for padded arms; None for none.
    """
    real = jnp.ones(means.shape, bool) if mask is None else jnp.broadcast_to(jnp.asarray(mask), means.shape)
    lead = jnp.broadcast_to(epsilon, means.shape[1:])
    if any(isinstance(x, jax.core.Tracer) for x in (means, lead, real)):
        return _traced(m, family, means, lead, real)
    time, weights = _each(m, family, means, lead, real, slopes=False)[:2]
    return jnp.asarray(time, means.dtype), jnp.asarray(weights, means.dtype)


def _each(
    m: int, family: str, means: jax.Array, epsilon: jax.Array, real: jax.Array, *, slopes: bool
) -> tuple[Array, ...]:
    """T* `(…)`, proportions `(K, …)`, and their derivatives in means and epsilon, `(K + 1, …)`, `(K, K + 1, …)`."""
    mu, lead, there = np.asarray(means, np.float64), np.asarray(epsilon, np.float64), np.asarray(real)
    arms, batch = mu.shape[0], mu.shape[1:]
    time, weights = np.empty(batch), np.zeros((arms, *batch))
    of_time, of_weights = np.zeros((arms + 1, *batch)), np.zeros((arms, arms + 1, *batch))
    for run in np.ndindex(batch):
        (places,) = np.nonzero(there[:, *run])
        found = _one(m, family, mu[places, *run], float(lead[run]), slopes)
        time[run], weights[places, *run] = found[:2]
        if slopes:
            columns = np.append(places, arms)
            of_time[columns, *run] = found[2]
            of_weights[np.ix_(places, columns) + run] = found[3]
    return time, weights, of_time, of_weights


def _one(m: int, family: str, mu: Array, epsilon: float, slopes: bool) -> tuple[float | Array, ...]:
    """`_each` of one instance without padded arms, `(K,)`."""
    arms, order = mu.size, np.argsort(-mu, kind="stable")

    def pairs_of(at: Array) -> PairCosts:  # the order stays: at a tie across the border there is no derivative
        return PairCosts(FAMILIES[family], at[order[:m]], at[order[m:]], float(at[-1]))

    at = np.append(mu, epsilon)
    pairs = pairs_of(at)
    if (edge := _edge(pairs)) is not None:
        return edge, np.full(arms, 1 / arms), np.zeros(arms + 1), np.zeros((arms, arms + 1))
    weights = np.empty(arms)
    if not slopes:
        w_best, w_rest = smallest_allocation(pairs)
        weights[order] = np.concatenate([w_best, w_rest])
        total = weights.sum()
        # The value at the proportions returned, rather than the sum, whose excess over the optimum has the other sign.
        return float(total / pairs.costs(w_best, w_rest).min()), weights / total
    moved = np.empty((arms, arms + 1))
    weights[order], moved[order] = allocation_and_slopes(pairs_of, at)
    time, slope = weights.sum(), moved.sum(axis=0)
    return float(time), weights / time, slope, moved / time - np.outer(weights, slope) / time**2


def _edge(pairs: PairCosts) -> float | None:
    """The time where no allocation need be found: 0 if no instance makes S wrong, infinite if S is not unique."""
    if pairs.epsilon >= pairs.family.highest - pairs.family.lowest:
        return 0.0
    uniform = pairs.costs(np.ones(pairs.best.size), np.ones(pairs.rest.size))
    return float("inf") if uniform.min() == 0 else None


@functools.partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def _traced(m: int, family: str, means: jax.Array, epsilon: jax.Array, real: jax.Array) -> tuple[jax.Array, jax.Array]:
    time, weights, *_ = _called(m, family, means, epsilon, real)
    return time, weights


@_traced.defjvp
def _traced_jvp(
    m: int, family: str, primals: tuple[jax.Array, ...], tangents: tuple[jax.Array, ...]
) -> tuple[tuple[jax.Array, jax.Array], tuple[jax.Array, jax.Array]]:
    time, weights, of_time, of_weights = _called(m, family, *primals)
    direction = jnp.concatenate([tangents[0], tangents[1][None]])
    return (time, weights), (jnp.sum(of_time * direction, axis=0), jnp.sum(of_weights * direction, axis=1))


@functools.partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def _called(m: int, family: str, means: jax.Array, epsilon: jax.Array, real: jax.Array) -> tuple[jax.Array, ...]:
    """`_each`, from the device."""
    arms, batch, dtype = means.shape[0], means.shape[1:], means.dtype
    shapes = [batch, (arms, *batch), (arms + 1, *batch), (arms, arms + 1, *batch)]

    def host(*arguments: jax.Array) -> tuple[np.ndarray, ...]:
        return tuple(np.asarray(x, dtype) for x in _each(m, family, *arguments, slopes=True))

    found: tuple[jax.Array, ...] = jax.pure_callback(
        host, tuple(jax.ShapeDtypeStruct(shape, dtype) for shape in shapes), means, epsilon, real,
        vmap_method="sequential",
    )  # fmt: skip
    return found


@_called.defjvp
def _called_jvp(m: int, family: str, primals: tuple[jax.Array, ...], tangents: tuple[jax.Array, ...]) -> Any:
    del family, primals, tangents
    raise UsageError(f"characteristic_time has first derivatives only for m = {m}; for m = 1 it has all")
