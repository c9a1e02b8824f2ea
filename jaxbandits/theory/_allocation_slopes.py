"""Derivatives of the smallest allocation in the means and epsilon: implicit differentiation of its conditions.

At the optimum of `smallest_allocation` some costs c_ij are 1, the active ones, with prices y_ij > 0, and sum_ij y_ij
grad c_ij(w) = 1 in every weight. Newton's method on these conditions finds the last digits of the weights. Their slopes
solve the same linear equations.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from jaxbandits.theory._allocation import PairCosts
from jaxbandits.theory._allocation_barrier import smallest_allocation

__all__ = ["allocation_and_slopes"]

Array = np.ndarray

# A cost this close to 1 is active: the barrier method leaves 1e-9 or less there.
_ACTIVE = 1e-5
# Newton's method starts close: a few steps reach float64.
_NEWTON_STEPS = 8
_WIDTH = 1e-6


def allocation_and_slopes(pairs_of: Callable[[Array], PairCosts], at: Array) -> tuple[Array, Array]:
    """Return the weights of smallest sum with every c_ij >= 1, the best arms first, and their derivatives.

    Where the prices are not unique, the sum has a kink, and the slopes are some of those around it.

    Args:
        pairs_of: the costs at parameters of shape `(P,)`.
        at: the parameters.

    Returns:
        Weights, shape `(K,)`, and their derivatives in the parameters, shape `(K, P)`.
    """
    pairs = pairs_of(at)
    weights = smallest_allocation(pairs)
    m, arms = pairs.best.size, weights.size
    active = pairs.costs(weights[:m], weights[m:]) < 1 + _ACTIVE
    slopes_of_costs = _matrix(pairs, weights, np.zeros(int(active.sum())), active)[arms:, :arms]
    prices = np.linalg.lstsq(slopes_of_costs.T, np.ones(arms), rcond=None)[0]
    for _ in range(_NEWTON_STEPS):
        matrix = _matrix(pairs, weights, prices, active)
        step = _solved(matrix, _conditions(pairs, weights, prices, active))
        if not np.all(weights - step[:arms] > 0):
            break
        weights, prices = weights - step[:arms], prices - step[arms:]
    widths = _WIDTH * np.maximum(np.abs(at), 1e-3)
    by_parameter = [
        (
            _conditions(pairs_of(at + width * unit), weights, prices, active)
            - _conditions(pairs_of(at - width * unit), weights, prices, active)
        )
        / (2 * width)
        for width, unit in zip(widths, np.eye(at.size), strict=True)
    ]
    matrix = _matrix(pairs, weights, prices, active)
    return weights, -_solved(matrix, np.stack(by_parameter, axis=1))[:arms]


def _conditions(pairs: PairCosts, weights: Array, prices: Array, active: NDArray[np.bool_]) -> Array:
    """Return the conditions, 0 at the optimum: sum of y grad c, minus 1, `(K,)`; then c - 1 of the active pairs."""
    m = pairs.best.size
    y = np.zeros(active.shape)
    y[active] = prices
    of_best, of_rest = pairs.divergences(pairs.closest_alternative(weights[:m], weights[m:]))
    pull = np.concatenate([(y * of_best).sum(axis=1), (y * of_rest).sum(axis=0)])
    costs = weights[:m, None] * of_best + weights[None, m:] * of_rest
    return np.concatenate([pull - 1, costs[active] - 1])


def _matrix(pairs: PairCosts, weights: Array, prices: Array, active: NDArray[np.bool_]) -> Array:
    """Return the derivatives of the conditions in weights and prices."""
    m, arms, number = pairs.best.size, weights.size, int(active.sum())
    y = np.zeros(active.shape)
    y[active] = prices
    lie = pairs.closest_alternative(weights[:m], weights[m:])
    of_best, of_rest = pairs.divergences(lie)
    u, v = pairs.curvature(weights[:m], weights[m:], lie)
    matrix = np.zeros((arms + number, arms + number))
    matrix[:m, :m] = -np.diag((y * u**2).sum(axis=1))
    matrix[m:arms, m:arms] = -np.diag((y * v**2).sum(axis=0))
    matrix[:m, m:arms] = -y * u * v
    matrix[m:arms, :m] = matrix[:m, m:arms].T
    best, rest = np.nonzero(active)
    places = np.arange(arms, arms + number)
    matrix[places, best] = of_best[active]
    matrix[places, m + rest] = of_rest[active]
    matrix[:arms, arms:] = matrix[arms:, :arms].T
    return matrix


def _solved(matrix: Array, right: Array) -> Array:
    return np.linalg.lstsq(matrix, right, rcond=1e-12)[0]
