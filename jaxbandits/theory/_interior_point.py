"""The weights of smallest price with every cost at least 1, by an interior-point method, for one instance.

Boyd and Vandenberghe 2004, "Convex optimization", algorithm 11.1: Newton's method on the price of the weights minus mu
times the logarithms of all slacks, for smaller and smaller mu. The prices of the constraints are mu over their slacks.
With them, the conditions of the optimum give its derivatives.

Arrays over pairs are `(n, m)`: rows are the n other arms, columns the m best. Only forward derivatives are finite.
"""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxbandits.statistics.closest_alternative import Pairs, alternative, moved
from jaxbandits.statistics.exponential_families import Family

__all__ = ["Costs", "Instance", "costs_at", "smallest_allocation"]

# Relative duality gap at which the method stops, and the factor of mu from one centring to the next.
_GAP, _SHRINK = 1e-9, 0.1
# A centring ends where a step promises so little. Steps must gain this share of what they promise, except close to that
# end: there they converge quadratically, and rounding of the slacks would hide their gain.
_CENTRED, _ARMIJO, _QUADRATIC = 1e-8, 0.1, 1e-3
# A step goes so far towards a slack of 0; shorter ones are tried next.
_TO_BORDER = 0.99
# A centring takes about seven steps. If these are not enough, the weights are NaN.
_TRIALS = 1000
# Steps to the split of the way of a pair; mostly less than ten. Splits lie between the least and its inverse.
_SPLITS, _LEAST = 100, 1e-60
_CLOSE = 1e-12


class Instance(NamedTuple):
    """An instance, its arms from the best to the worst."""

    best: jax.Array  # (m,), means
    rest: jax.Array  # (n,)
    epsilon: jax.Array  # ()
    price: jax.Array  # (m + n,), of a unit of weight: the variance of normal rewards
    real: jax.Array  # (n,), 0 for padded arms and 1 for others
    unit: jax.Array  # (), of the weights, of the order of the optimal ones


class Costs(NamedTuple):
    """The costs c_ij at some weights, all `(n, m)`."""

    value: jax.Array  # 2, with derivatives 0, for padded arms
    of_best: jax.Array  # derivative in the weight of the best arm
    of_rest: jax.Array
    ratio: jax.Array  # the Hessian in these weights is -bend [ratio, -1]'[ratio, -1]
    bend: jax.Array


class _State(NamedTuple):
    """Weights, and the step that is tried from there."""

    weights: jax.Array  # (m + n,)
    costs: Costs
    mu: jax.Array  # ()
    move: jax.Array  # (m + n,)
    promise: jax.Array  # (), what the move gains to first order, over mu
    before: jax.Array  # (), the promise of the move before it, with the same mu
    size: jax.Array  # (), how much of the move is tried
    done: jax.Array  # bool ()


def costs_at(family: Family, given: Instance, weights: jax.Array) -> Costs:
    """Return the costs of weights `(m + n,)`, positive."""
    shape = (len(given.rest), len(given.best))
    best, rest, lead = (jnp.broadcast_to(x, shape) for x in (given.best, given.rest[:, None], given.epsilon))
    pairs = Pairs(best, rest, lead)
    own, other = (jnp.broadcast_to(x, shape) for x in (weights[: shape[1]], weights[shape[1] :, None]))
    # Means at an end of the range may leave one alternative, which any split gives.
    free = jnp.minimum((best - rest) + lead, best - family.lowest) > pairs.least_move(family)
    at = lax.optimization_barrier(
        alternative(family, pairs, jnp.where(free, _split(family, pairs, other / own, free), 1))
    )
    real = given.real[:, None] > 0
    of_best, of_rest = (jnp.where(real, given.unit * x, 0) for x in (at.of_best, at.of_other))
    ratio = jnp.where(free, at.ratio, 1)
    bend = jnp.where(real & free, given.unit * at.other_slope / (at.ratio * at.growth * own), 0)
    return Costs(jnp.where(real, own * of_best + other * of_rest, 2), of_best, of_rest, ratio, bend)


@functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
def _split(family: Family, pairs: Pairs, ratio: jax.Array, free: jax.Array) -> jax.Array:
    """Return the splits of the way that belong to ratios of the weights, by Newton's method between brackets."""

    def closer(state: tuple[Any, ...]) -> tuple[Any, ...]:
        step, z, low, high, _ = state
        at = alternative(family, pairs, z)
        low, high = jnp.where(at.ratio < ratio, z, low), jnp.where(at.ratio > ratio, z, high)
        new = moved(z, ratio / at.ratio, at.stretch)
        inside = (new >= low * (1 - _CLOSE)) & (new <= high * (1 + _CLOSE))
        new = jnp.where(inside, new, jnp.sqrt(low) * jnp.sqrt(high))
        return step + 1, new, low, high, jnp.max(jnp.where(free, jnp.abs(new / z - 1), 0))

    start = (jnp.int32(0), ratio, jnp.full_like(ratio, _LEAST), jnp.full_like(ratio, 1 / _LEAST), jnp.ones(()))
    return lax.while_loop(lambda state: (state[0] < _SPLITS) & (state[-1] > _CLOSE), closer, start)[1]


@_split.defjvp
def _split_jvp(
    family: Family, primals: tuple[Pairs, jax.Array, jax.Array], tangents: tuple[Pairs, jax.Array, jax.Array]
) -> tuple[jax.Array, jax.Array]:
    z = _split(family, *primals)
    at, slope = jax.jvp(lambda pairs: alternative(family, pairs, z), primals[:1], tangents[:1])
    return z, (tangents[1] - slope.ratio) * z / (at.ratio * at.stretch)


@functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
def smallest_allocation(family: Family, given: Instance) -> tuple[jax.Array, jax.Array]:
    """Return the weights `(m + n,)` of smallest price, to a relative `_GAP`, and the prices of the costs `(n, m)`."""
    constraints = jnp.sum(given.real) * len(given.best) + len(given.price)

    def state_at(weights: jax.Array, costs: Costs, mu: jax.Array, before: jax.Array, done: jax.Array) -> _State:
        prices = mu / (costs.value - 1)
        slope = given.price - _by_arm(prices * costs.of_best, prices * costs.of_rest) - mu / weights
        move = -_solved(costs, prices, mu / weights**2, slope)
        shrinking = jnp.maximum(jnp.max(-move / weights), jnp.max(-_gain(costs, move) / (costs.value - 1)))
        size = 1 / jnp.maximum(1.0, shrinking / _TO_BORDER)
        return _State(weights, costs, mu, move, -(slope @ move) / mu, before, size, done)

    def closer(state: tuple[jax.Array, _State]) -> tuple[jax.Array, _State]:
        trials, now = state
        first = trials == 0
        far = now.size * now.move
        inside = jnp.min(now.weights + far) > 0
        weights = jnp.where(inside, now.weights + far, now.weights)
        costs = costs_at(family, given, weights)
        # Costs are homogeneous in the weights: equal ones, as first tried, become feasible.
        scale = jnp.where(first, 2 / jnp.min(jnp.where(real, costs.value, jnp.inf)), 1)
        weights = scale * weights
        costs = costs._replace(value=jnp.where(real, scale * costs.value, 2), bend=costs.bend / scale)
        inside &= jnp.min(costs.value) > 1
        # The change of the function, not the difference of two large values.
        growth = jnp.log(jnp.where(inside, (costs.value - 1) / (now.costs.value - 1), 1))
        change = given.price @ far / now.mu - jnp.sum(growth) - jnp.sum(jnp.log(weights / now.weights))
        # Rounding of the smallest slacks may leave a promise that no step lowers.
        centred = (now.promise < _CENTRED) | ((now.promise < _QUADRATIC) & (now.promise >= now.before))
        good = first | (inside & ((now.promise < _QUADRATIC) | (change <= -_ARMIJO * now.size * now.promise)))
        weights, costs = jax.tree.map(lambda x, y: jnp.where(good, x, y), (weights, costs), (now.weights, now.costs))
        done = centred & (now.mu * constraints <= _GAP * (given.price @ weights))
        mu = jnp.where(centred & ~done, _SHRINK * now.mu, now.mu)
        mu = jnp.where(first, given.price @ weights / constraints, mu)
        ahead = state_at(weights, costs, mu, jnp.where(centred | first, jnp.inf, now.promise), done)
        shorter = now._replace(size=now.size / 2)
        return trials + 1, jax.tree.map(lambda x, y: jnp.where(good | centred, x, y), ahead, shorter)

    real = jnp.broadcast_to(given.real[:, None] > 0, (len(given.rest), len(given.best)))
    ones, pairs = jnp.ones_like(given.price), jnp.full(real.shape, 2.0)
    unknown = Costs(pairs, pairs, pairs, pairs, pairs)
    endless = jnp.inf * ones[0]
    start = _State(ones, unknown, ones[0], 0 * ones, endless, endless, ones[0], jnp.bool_(False))
    _, end = lax.while_loop(lambda state: (state[0] < _TRIALS) & ~state[1].done, closer, (jnp.int32(0), start))
    # The last step, for the prices, too: rounding of the slacks does not matter to what they add up to.
    prices, gain = end.mu / (end.costs.value - 1), _gain(end.costs, end.move)
    weights = jnp.where(end.done, end.weights + end.move, jnp.nan)
    return weights, jnp.where(real, prices * (1 - gain / (end.costs.value - 1)), 0)


@smallest_allocation.defjvp
def _smallest_allocation_jvp(
    family: Family, primals: tuple[Instance], tangents: tuple[Instance]
) -> tuple[tuple[jax.Array, jax.Array], tuple[jax.Array, jax.Array]]:
    """At the optimum, slacks times prices and the slopes below are 0, and stay so."""
    weights, prices = smallest_allocation(family, *primals)

    def conditions(given: Instance) -> tuple[Costs, jax.Array, jax.Array]:
        costs = costs_at(family, given, weights)
        slopes = given.price - _by_arm(prices * costs.of_best, prices * costs.of_rest)
        return costs, slopes, prices * (costs.value - 1)

    (costs, slopes, _), (_, of_slopes, of_products) = jax.jvp(conditions, primals, tangents)
    slack = costs.value - 1
    right = of_slopes + _by_arm(of_products / slack * costs.of_best, of_products / slack * costs.of_rest)
    moved = -_solved(costs, prices, slopes / weights, right)
    return (weights, prices), (moved, -(of_products + prices * _gain(costs, moved)) / slack)


def _solved(costs: Costs, prices: jax.Array, of_weights: jax.Array, right: jax.Array) -> jax.Array:
    """Return the solution `(m + n,)` of the Hessian, given the prices of costs and those of weights over the weights.

    Two best arms, or two of the rest, have no entry in common. So one side is eliminated, the larger one: what is left
    has as many rows as the smaller.
    """
    m = costs.value.shape[1]
    steep, bent = prices / (costs.value - 1), prices * costs.bend
    both = steep * costs.of_best * costs.of_rest - bent * costs.ratio
    diagonal = of_weights + _by_arm(steep * costs.of_best**2 + bent * costs.ratio**2, steep * costs.of_rest**2 + bent)
    few, many = slice(m), slice(m, None)
    if m > len(both):
        few, many, both = many, few, both.T
    share = both / diagonal[many, None]  # (many, few)
    left = jnp.diag(diagonal[few]) - both.T @ share
    found = jnp.linalg.solve(left, right[few] - share.T @ right[many])
    rest = right[many] / diagonal[many] - share @ found
    return jnp.concatenate([found, rest] if few == slice(m) else [rest, found])


def _by_arm(of_best: jax.Array, of_rest: jax.Array) -> jax.Array:
    """Return sums over pairs `(n, m)`, of the best arms and of the rest, `(m + n,)`."""
    return jnp.concatenate([jnp.sum(of_best, axis=0), jnp.sum(of_rest, axis=1)])


def _gain(costs: Costs, move: jax.Array) -> jax.Array:
    """Return how the costs change with the weights, to first order, `(n, m)`."""
    m = costs.value.shape[1]
    return costs.of_best * move[:m] + costs.of_rest * move[m:, None]
