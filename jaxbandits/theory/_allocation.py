"""The convex programme behind the characteristic time: costs of distinguishing pairs of arms, in float64 on the host.

The cost c_ij(w) is the inf over lambda of w_i d(mu_i, lambda) + w_j d(mu_j, lambda + epsilon). It makes arm j of the
rest overtake arm i of the best by epsilon. It is concave and homogeneous of degree 1 in w. Maximising min c_ij over
proportions is therefore the same as minimising sum(w) subject to c_ij(w) >= 1. The minimum is T*, and its w, scaled to
sum to 1, are the proportions.

Arrays over pairs are (…, m, K - m): rows are the best arms, columns the rest. Unlike elsewhere, instances … come before
the arms, as in NumPy's linear algebra.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jaxbandits.theory._allocation_families import Family

__all__ = ["PairCosts"]

Array = NDArray[np.float64]

# This many halvings of [0, 1] reach float64's resolution; Newton's method rarely needs more than ten steps.
_BISECTIONS = 60
_RESOLUTION = 1e-14


@dataclass(frozen=True)
class PairCosts:
    """The costs c_ij as functions of the weights of the best arms (…, m) and of the rest (…, K - m).

    Attributes:
        family: the rewards.
        best: means of the best arms, shape (…, m).
        rest: means of the other arms, shape (…, K - m).
        epsilon: lead that an arm of the rest needs, shape (…); less than the width of the family's range.
        spread: variances of normal rewards, of the best arms (…, m) and of the rest (…, K - m); None for 1 each.
    """

    family: Family
    best: Array
    rest: Array
    epsilon: Array
    spread: tuple[Array, Array] | None = None

    @property
    def number(self) -> int:
        """Return how many best arms there are, m."""
        return self.best.shape[-1]

    def of(self, instances: NDArray[np.bool_] | None) -> "PairCosts":
        """Return some of the instances; the index None adds an axis, of one instance."""
        spread = None if self.spread is None else (self.spread[0][instances], self.spread[1][instances])
        return PairCosts(self.family, self.best[instances], self.rest[instances], self.epsilon[instances], spread)

    def closest_alternative(self, w_best: Array, w_rest: Array) -> Array:
        """Return the lambda to which the best arm of a pair is moved, shape (…, m, K - m).

        Its rival moves to lambda + epsilon.
        """
        mu_i, mu_j, lead = _rows(self.best), _columns(self.rest), _both(self.epsilon)
        w_i, w_j = self._counting(_rows(w_best), _columns(w_rest))
        if np.isinf(self.family.lowest) or not np.any(lead):
            # The weighted mean: in every exponential family if epsilon = 0, in the Gaussian one after a shift.
            mean: Array = (w_i * mu_i + w_j * (mu_j - lead)) / (w_i + w_j)
            return mean
        low, high = np.broadcast_arrays(*self._bracket())
        lie: Array = (low + high) / 2
        # Newton's method on the increasing derivative in lambda; a step that leaves the bracket is replaced by its
        # middle.
        for _ in range(_BISECTIONS):
            slope = w_i * self.family.slope(mu_i, lie) + w_j * self.family.slope(mu_j, lie + lead)
            low, high = np.where(slope < 0, lie, low), np.where(slope < 0, high, lie)
            with np.errstate(divide="ignore", invalid="ignore"):  # beyond twice its mean, an exponential d is concave
                last, lie = lie, lie - slope / self._stiffness(w_best, w_rest, lie)
            lie = np.where((lie >= low) & (lie <= high), lie, (low + high) / 2)
            if np.all(np.abs(lie - last) <= _RESOLUTION * last):
                break
        return lie

    def divergences(self, lie: Array) -> tuple[Array, Array]:
        """Return the divergences of both arms from their lies: by the envelope theorem, d c/d w_i and d c/d w_j."""
        return self._counting(
            self.family.divergence(_rows(self.best), lie),
            self.family.divergence(_columns(self.rest), lie + _both(self.epsilon)),
        )

    def costs(self, w_best: Array, w_rest: Array) -> Array:
        """Return c_ij(w), shape (…, m, K - m)."""
        of_best, of_rest = self.divergences(self.closest_alternative(w_best, w_rest))
        costs: Array = _rows(w_best) * of_best + _columns(w_rest) * of_rest
        return costs

    def curvature(self, w_best: Array, w_rest: Array, lie: Array) -> tuple[Array, Array]:
        """Return the pair u, v for which the Hessian of c in (w_i, w_j) is -[u v]'[u v]."""
        low, high = self._bracket()
        # Two means on one border of the range leave lambda no room to move.
        free = np.where(high > low, 1 / np.sqrt(self._stiffness(w_best, w_rest, lie)), 0.0)
        return self._counting(
            free * self.family.slope(_rows(self.best), lie),
            free * self.family.slope(_columns(self.rest), lie + _both(self.epsilon)),
        )

    def _stiffness(self, w_best: Array, w_rest: Array, lie: Array) -> Array:
        """Return the second derivative in lambda of the objective of `closest_alternative`."""
        of_best, of_rest = self._counting(
            self.family.curvature(_rows(self.best), lie),
            self.family.curvature(_columns(self.rest), lie + _both(self.epsilon)),
        )
        stiffness: Array = _rows(w_best) * of_best + _columns(w_rest) * of_rest
        return stiffness

    def _counting(self, of_best: Array, of_rest: Array) -> tuple[Array, Array]:
        """Return what a pull of each arm of a pair counts, given what it would count with variance 1."""
        if self.spread is None:
            return of_best, of_rest
        return of_best / _rows(self.spread[0]), of_rest / _columns(self.spread[1])

    def _bracket(self) -> tuple[Array, Array]:
        lead = _both(self.epsilon)
        return (
            np.maximum(_columns(self.rest) - lead, self.family.lowest),
            np.minimum(_rows(self.best), self.family.highest - lead),
        )


def _rows(x: Array) -> Array:
    return x[..., :, None]


def _columns(x: Array) -> Array:
    return x[..., None, :]


def _both(x: Array) -> Array:
    return np.asarray(x)[..., None, None]
