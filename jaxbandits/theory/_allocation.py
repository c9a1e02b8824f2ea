"""The convex programme behind the characteristic time, solved by an interior-point method in float64 on the host.

The cost c_ij(w) = inf over lambda of w_i d(mu_i, lambda) + w_j d(mu_j, lambda + epsilon) of making arm j of the rest
overtake arm i of the best by epsilon is concave and homogeneous of degree 1 in w. Maximising min c_ij over
proportions is therefore the same as minimising sum(w) subject to c_ij(w) >= 1: the minimum is T*, and its w, scaled
to sum to 1, the proportions.

Arrays over pairs are (m, K - m): rows are the best arms, columns the rest.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jaxbandits.theory._allocation_families import Family

__all__ = ["PairCosts", "smallest_allocation"]

Array = NDArray[np.float64]

# Relative duality gap at which the barrier method stops, and the factor by which it shrinks between centrings.
_GAP = 1e-9
_SHRINK = 0.1
# A centring takes about five Newton steps; the limits only guard against rounding at the very end.
_NEWTON_STEPS = 50
_HALVINGS = 40
_CENTRED = 1e-4
_ARMIJO = 0.1
# So many halvings of [0, 1] reach float64's resolution; Newton's method rarely needs more than ten steps.
_BISECTIONS = 60
_RESOLUTION = 1e-14


@dataclass(frozen=True)
class PairCosts:
    """The costs c_ij as functions of the weights of the best arms (m,) and of the rest (K - m,).

    Attributes:
        family: the rewards.
        best: means of the best arms, shape (m,).
        rest: means of the other arms, shape (K - m,).
        epsilon: lead that an arm of the rest needs; less than the width of the family's range.
    """

    family: Family
    best: Array
    rest: Array
    epsilon: float

    def cheapest_lie(self, w_best: Array, w_rest: Array) -> Array:
        """Shape (m, K - m): the lambda to which each pair's best arm is moved, its rival going to lambda + epsilon."""
        mu_i, mu_j = self.best[:, None], self.rest[None, :]
        w_i, w_j = w_best[:, None], w_rest[None, :]
        if self.epsilon == 0 or np.isinf(self.family.lowest):
            # The weighted mean: in every exponential family if epsilon = 0, in the Gaussian one after a shift.
            mean: Array = (w_i * mu_i + w_j * (mu_j - self.epsilon)) / (w_i + w_j)
            return mean
        low, high = np.broadcast_arrays(*self._bracket())
        lie: Array = (low + high) / 2
        # Newton's method on the increasing derivative in lambda; where a step leaves the bracket, that is halved.
        for _ in range(_BISECTIONS):
            slope = w_i * self.family.slope(mu_i, lie) + w_j * self.family.slope(mu_j, lie + self.epsilon)
            low, high = np.where(slope < 0, lie, low), np.where(slope < 0, high, lie)
            with np.errstate(divide="ignore", invalid="ignore"):  # beyond twice its mean, an exponential d is concave
                last, lie = lie, lie - slope / self._stiffness(w_best, w_rest, lie)
            lie = np.where((lie >= low) & (lie <= high), lie, (low + high) / 2)
            if np.all(np.abs(lie - last) <= _RESOLUTION * last):
                break
        return lie

    def divergences(self, lie: Array) -> tuple[Array, Array]:
        """Divergences of both arms from their lies; by the envelope theorem the derivatives of c in w_i and w_j."""
        return (
            self.family.divergence(self.best[:, None], lie),
            self.family.divergence(self.rest[None, :], lie + self.epsilon),
        )

    def costs(self, w_best: Array, w_rest: Array) -> Array:
        """c_ij(w), shape (m, K - m)."""
        of_best, of_rest = self.divergences(self.cheapest_lie(w_best, w_rest))
        costs: Array = w_best[:, None] * of_best + w_rest[None, :] * of_rest
        return costs

    def bending(self, w_best: Array, w_rest: Array, lie: Array) -> tuple[Array, Array]:
        """The pair u, v for which the Hessian of c in (w_i, w_j) is -[u v]'[u v]."""
        low, high = self._bracket()
        # Two means on one border of the range leave lambda no room to move.
        free = np.where(high > low, 1 / np.sqrt(self._stiffness(w_best, w_rest, lie)), 0.0)
        return (
            free * self.family.slope(self.best[:, None], lie),
            free * self.family.slope(self.rest[None, :], lie + self.epsilon),
        )

    def _stiffness(self, w_best: Array, w_rest: Array, lie: Array) -> Array:
        """Second derivative in lambda of what `cheapest_lie` minimises."""
        of_best = self.family.curvature(self.best[:, None], lie)
        of_rest = self.family.curvature(self.rest[None, :], lie + self.epsilon)
        stiffness: Array = w_best[:, None] * of_best + w_rest[None, :] * of_rest
        return stiffness

    def _bracket(self) -> tuple[Array, Array]:
        return (
            np.maximum(self.rest[None, :] - self.epsilon, self.family.lowest),
            np.minimum(self.best[:, None], self.family.highest - self.epsilon),
        )


def smallest_allocation(pairs: PairCosts) -> tuple[Array, Array]:
    """The weights of smallest sum with every c_ij >= 1, all c_ij being positive at positive weights.

    Args:
        pairs: the costs.

    Returns:
        Weights of the best arms, shape (m,), and of the rest, shape (K - m,), optimal to a relative 1e-9.
    """
    m, arms = pairs.best.size, pairs.best.size + pairs.rest.size
    # Homogeneity: any positive weights, scaled up, are strictly feasible.
    weights = np.full(arms, 2 / pairs.costs(np.ones(m), np.ones(arms - m)).min())
    constraints = m * (arms - m) + arms
    gap = weights.sum()
    while gap > _GAP * weights.sum():
        gap *= _SHRINK
        weights = _centre(pairs, weights, constraints / gap)
    return weights[:m], weights[m:]


def _centre(pairs: PairCosts, weights: Array, price: float) -> Array:
    """Newton's method on price sum(w) - sum log(c_ij - 1) - sum log w_k, from a feasible point."""
    m = pairs.best.size
    slack = pairs.costs(weights[:m], weights[m:]) - 1
    for _ in range(_NEWTON_STEPS):
        gradient, hessian = _derivatives(pairs, weights, slack, price)
        step = -np.linalg.solve(hessian, gradient)
        decrease = -float(gradient @ step)
        if decrease < _CENTRED:
            break
        size = 1.0
        for _ in range(_HALVINGS):
            moved = weights + size * step
            if moved.min() > 0:
                new_slack = pairs.costs(moved[:m], moved[m:]) - 1
                if new_slack.min() > 0:
                    # The change of the barrier function, not the difference of two large values.
                    change = price * size * step.sum() - np.log(new_slack / slack).sum() - np.log(moved / weights).sum()
                    if change <= -_ARMIJO * size * decrease:
                        break
            size /= 2
        else:
            break
        weights, slack = moved, new_slack
    return weights


def _derivatives(pairs: PairCosts, weights: Array, slack: Array, price: float) -> tuple[Array, Array]:
    """Gradient (K,) and Hessian (K, K) of the barrier function, the best arms first."""
    m = pairs.best.size
    w_best, w_rest = weights[:m], weights[m:]
    lie = pairs.cheapest_lie(w_best, w_rest)
    of_best, of_rest = pairs.divergences(lie)
    u, v = pairs.bending(w_best, w_rest, lie)
    pull = np.concatenate([(of_best / slack).sum(axis=1), (of_rest / slack).sum(axis=0)])
    hessian = np.diag(weights**-2.0)
    hessian[:m, :m] += np.diag(((of_best / slack) ** 2 + u**2 / slack).sum(axis=1))
    hessian[m:, m:] += np.diag(((of_rest / slack) ** 2 + v**2 / slack).sum(axis=0))
    hessian[:m, m:] = of_best * of_rest / slack**2 + u * v / slack
    hessian[m:, :m] = hessian[:m, m:].T
    return price - pull - 1 / weights, hessian
