"""The weights of smallest sum with every cost at least 1, by an interior-point method, for many instances at once.

Shapes are those of `_allocation`, with one axis of instances, `(N, …)`. Each instance takes separate steps; finished
ones are left out.
"""

import numpy as np
from numpy.typing import NDArray

from jaxbandits.theory._allocation import PairCosts

__all__ = ["smallest_allocation"]

Array = np.ndarray

# Relative duality gap at which the barrier method stops, and the factor by which it shrinks between centrings.
_GAP = 1e-9
_SHRINK = 0.1
# A centring takes about five Newton steps; the limits only guard against rounding at the very end.
_NEWTON_STEPS = 50
_HALVINGS = 40
_CENTRED = 1e-4
_ARMIJO = 0.1


def smallest_allocation(pairs: PairCosts) -> Array:
    """Return the weights of smallest sum with every c_ij >= 1, all c_ij being positive at positive weights.

    Args:
        pairs: the costs of N instances, or of one without an axis for it.

    Returns:
        Weights, shape (N, K) or (K,), the best arms first, optimal to a relative 1e-9.
    """
    if pairs.best.ndim == 1:
        alone: Array = smallest_allocation(pairs.of(None))[0]
        return alone
    number, m = pairs.best.shape
    arms = m + pairs.rest.shape[1]
    # Homogeneity: any positive weights, scaled up, are strictly feasible.
    ones = np.ones((number, arms))
    weights = ones * 2 / pairs.costs(ones[:, :m], ones[:, m:]).min(axis=(1, 2))[:, None]
    constraints = m * (arms - m) + arms
    gap = weights.sum(axis=1)
    while (going := gap > _GAP * weights.sum(axis=1)).any():
        gap[going] *= _SHRINK
        weights[going] = _centred(pairs.of(going), weights[going], constraints / gap[going])
    return weights


def _centred(pairs: PairCosts, weights: Array, price: Array) -> Array:
    """Minimise price sum(w) - sum log(c_ij - 1) - sum log w_k by Newton's method, from feasible points."""
    m, result, places = pairs.number, weights.copy(), np.arange(len(weights))
    slack = pairs.costs(weights[:, :m], weights[:, m:]) - 1
    for _ in range(_NEWTON_STEPS):
        gradient, hessian = _derivatives(pairs, weights, slack, price)
        step = -np.linalg.solve(hessian, gradient[..., None])[..., 0]
        decrease = -np.sum(gradient * step, axis=1)
        moved, new_slack, found = _along(pairs, weights, slack, price, step, decrease)
        result[places] = moved
        going = found & (decrease >= _CENTRED)
        if not going.any():
            break
        pairs, places, price = pairs.of(going), places[going], price[going]
        weights, slack = moved[going], new_slack[going]
    return result


def _along(
    pairs: PairCosts, weights: Array, slack: Array, price: Array, step: Array, decrease: Array
) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Return weights and slacks at the first halving of a step where the barrier falls enough, and where it does."""
    m, size = pairs.number, np.ones(len(weights))
    moved, new_slack, found = weights.copy(), slack.copy(), decrease < _CENTRED  # these do not move
    for _ in range(_HALVINGS):
        trying = ~found
        if not trying.any():
            break
        some, old, far = pairs.of(trying), weights[trying], size[trying, None] * step[trying]
        tried = old + far
        inside = tried.min(axis=1) > 0
        spare = some.costs(*np.split(np.where(inside[:, None], tried, old), [m], axis=1)) - 1
        inside &= spare.min(axis=(1, 2)) > 0
        # The change of the barrier function, not the difference of two large values.
        ratio = np.where(inside[:, None, None], spare / slack[trying], 1.0)
        growth = np.where(inside[:, None], tried / old, 1.0)
        change = price[trying] * far.sum(axis=1) - np.log(ratio).sum(axis=(1, 2)) - np.log(growth).sum(axis=1)
        good = inside & (change <= -_ARMIJO * size[trying] * decrease[trying])
        places = np.nonzero(trying)[0][good]
        moved[places], new_slack[places], found[places] = tried[good], spare[good], True
        size /= 2
    return moved, new_slack, found


def _derivatives(pairs: PairCosts, weights: Array, slack: Array, price: Array) -> tuple[Array, Array]:
    """Return the gradient (N, K) and the Hessian (N, K, K) of the barrier function, the best arms first."""
    m, arms = pairs.number, weights.shape[1]
    w_best, w_rest = weights[:, :m], weights[:, m:]
    lie = pairs.closest_alternative(w_best, w_rest)
    of_best, of_rest = pairs.divergences(lie)
    u, v = pairs.curvature(w_best, w_rest, lie)
    pull = np.concatenate([(of_best / slack).sum(axis=2), (of_rest / slack).sum(axis=1)], axis=1)
    diagonal = weights**-2.0
    diagonal[:, :m] += ((of_best / slack) ** 2 + u**2 / slack).sum(axis=2)
    diagonal[:, m:] += ((of_rest / slack) ** 2 + v**2 / slack).sum(axis=1)
    hessian = np.zeros((len(weights), arms, arms))
    places = np.arange(arms)
    hessian[:, places, places] = diagonal
    hessian[:, :m, m:] = of_best * of_rest / slack**2 + u * v / slack
    hessian[:, m:, :m] = hessian[:, :m, m:].transpose(0, 2, 1)
    return price[:, None] - pull - 1 / weights, hessian
