"""The posterior of each arm's mean, and what follows from all: which is the best, and what a choice would lose."""

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy  # type: ignore[import-untyped,unused-ignore]

__all__ = ["Chances", "Marginals", "beta_marginals", "chances", "student_marginals"]

#: Nodes of a quadrature: for each arm, and entries of a table of all distribution functions at most.
_NODES, _ENTRIES = 513, 8e6
#: The quantiles of the nodes, as those of a standard normal draw: beyond it is less than 1e-15.
_FAR = 8.0


class Marginals(NamedTuple):
    """The laws of K independent means; all that lies outside [low, high] is at these ends.

    Attributes:
        means: float64 `(K,)`, the posterior means.
        distribution: returns P(mean <= x) for each arm, float64 `(K, G)`, of points `(G,)` inside the ends.
        inverse: returns the quantiles of each arm, float64 `(K, G)`, at levels `(G,)`.
        low: the lower end.
        high: the upper end.
    """

    means: np.ndarray
    distribution: Callable[[np.ndarray], np.ndarray]
    inverse: Callable[[np.ndarray], np.ndarray]
    low: float
    high: float

    def below(self, x: np.ndarray) -> np.ndarray:
        """Return P(mean <= x) for each arm, float64 `(K, G)`, of points `(G,)`."""
        inside = self.distribution(np.clip(x, self.low, self.high))
        return np.where(x >= self.high, 1.0, np.where(x < self.low, 0.0, inside))

    def quantiles(self, level: np.ndarray) -> np.ndarray:
        """Return the quantiles of each arm, float64 `(K, G)`, at levels `(G,)`."""
        return np.clip(self.inverse(level), self.low, self.high)


def beta_marginals(a: np.ndarray, b: np.ndarray) -> Marginals:
    """Return Beta laws; `a` and `b` float64 `(K,)`."""
    law = a[:, None], b[:, None]
    distribution, inverse = (functools.partial(one, *law) for one in (scipy.special.betainc, scipy.special.betaincinv))
    return Marginals(a / (a + b), distribution, inverse, 0.0, 1.0)


def student_marginals(
    center: np.ndarray, scale: np.ndarray, freedom: np.ndarray, low: float = -np.inf, high: float = np.inf
) -> Marginals:
    """Return Student's laws, scaled and shifted, float64 `(K,)` each."""
    middle, unit, dof = center[:, None], scale[:, None], freedom[:, None]
    return Marginals(
        np.clip(center, low, high), lambda x: scipy.special.stdtr(dof, (x - middle) / unit),
        lambda level: middle + unit * scipy.special.stdtrit(dof, level), low, high,
    )  # fmt: skip


class Chances(NamedTuple):
    """What the means' posterior says of each arm, float64 `(K,)`.

    Attributes:
        best: the probability that it has the largest mean; they add up to 1.
        near: the probability that no arm is better than it by more than epsilon.
        loss: the expectation of the largest mean less its own.
        error: by how much a probability may be off, `()`: the difference to a coarser quadrature.
    """

    best: np.ndarray
    near: np.ndarray
    loss: np.ndarray
    error: float


def chances(marginals: Marginals, epsilon: float) -> Chances:
    """Return the chances of each arm, by quadrature.

    P(arm k is best) is the integral of the other arms' distribution functions with respect to its own, by trapezoids
    between quantiles of all arms. Its expected loss is the integral of P(mean of k < x < largest other mean) over x:
    no difference of nearby numbers is taken, so that small losses keep their digits.

    Args:
        marginals: the posterior of the means of K arms.
        epsilon: not negative.
    """
    arms = len(marginals.means)
    each = int(min(_NODES, max(9, _ENTRIES / arms**2)))
    level = scipy.special.ndtr(np.linspace(-_FAR, _FAR, each))
    nodes = np.unique(marginals.quantiles(level))
    most = int(max(_NODES, _ENTRIES / arms))
    nodes = nodes[np.unique(np.linspace(0, len(nodes) - 1, min(len(nodes), most)).round().astype(int))]
    below = marginals.below(nodes)
    shifted = below if epsilon == 0 else marginals.below(nodes + epsilon)
    fine, coarse = (_integrated(nodes[::step], below[:, ::step], shifted[:, ::step]) for step in (1, 2))
    best, near, loss = fine
    error = float(np.max(np.abs(best - coarse[0])))
    best = best / best.sum()
    return Chances(best, np.minimum(np.maximum(near, best), 1.0), loss, error)


def _integrated(nodes: np.ndarray, below: np.ndarray, shifted: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    steps = np.diff(below, axis=1, prepend=0.0)  # what lies below the first node is at it

    def of_others(table: np.ndarray) -> np.ndarray:
        """Return the logarithm of the product over all other arms."""
        logs = np.log(np.maximum(table, 1e-300))
        return np.asarray(logs.sum(axis=0) - logs)

    def against(others: np.ndarray) -> np.ndarray:
        product = np.exp(others)
        middle = (product + np.concatenate([product[:, :1], product[:, :-1]], axis=1)) / 2
        return np.asarray(np.sum(steps * middle, axis=1))

    others = of_others(below)
    lost = below * -np.expm1(others)
    loss = np.sum((lost[:, 1:] + lost[:, :-1]) / 2 * np.diff(nodes), axis=1)
    return against(others), against(of_others(shifted)), loss
