"""The posterior of each arm's mean, and what follows from all: which is the best, and what a choice would lose."""

import abc
import dataclasses
from typing import NamedTuple

import numpy as np
import scipy  # type: ignore[import-untyped,unused-ignore]

__all__ = ["BetaMarginals", "Chances", "Marginals", "StudentMarginals", "chances"]

#: Nodes of a quadrature: for each arm, and entries of a table of all distribution functions at most.
_NODES, _ENTRIES = 513, 8e6
#: The quantiles of the nodes, as those of a standard normal draw: beyond it is less than 1e-15.
_FAR = 8.0


class Marginals(abc.ABC):
    """The laws of K independent means."""

    @property
    @abc.abstractmethod
    def means(self) -> np.ndarray:
        """Return the posterior means, float64 `(K,)`."""

    @abc.abstractmethod
    def below(self, x: np.ndarray) -> np.ndarray:
        """Return P(mean <= x) for each arm, float64 `(K, G)`, of points `(G,)`."""

    @abc.abstractmethod
    def quantiles(self, level: np.ndarray) -> np.ndarray:
        """Return the quantiles of each arm, float64 `(K, G)`, at levels `(G,)`."""


@dataclasses.dataclass(frozen=True)
class BetaMarginals(Marginals):
    """Beta laws; `a` and `b` float64 `(K,)`."""

    a: np.ndarray
    b: np.ndarray

    @property
    def means(self) -> np.ndarray:
        """Return a / (a + b)."""
        return np.asarray(self.a / (self.a + self.b))

    def below(self, x: np.ndarray) -> np.ndarray:
        """Return the distribution functions."""
        inside = np.clip(x, 0.0, 1.0)
        return np.asarray(scipy.special.betainc(self.a[:, None], self.b[:, None], inside))

    def quantiles(self, level: np.ndarray) -> np.ndarray:
        """Return the quantiles."""
        return np.asarray(scipy.special.betaincinv(self.a[:, None], self.b[:, None], level))


@dataclasses.dataclass(frozen=True)
class StudentMarginals(Marginals):
    """Student's laws, scaled and shifted, float64 `(K,)` each; all that lies outside [low, high] is at these ends."""

    center: np.ndarray
    scale: np.ndarray
    freedom: np.ndarray
    low: float = -np.inf
    high: float = np.inf

    @property
    def means(self) -> np.ndarray:
        """Return the centers."""
        return np.clip(self.center, self.low, self.high)

    def below(self, x: np.ndarray) -> np.ndarray:
        """Return the distribution functions."""
        standard = (x - self.center[:, None]) / self.scale[:, None]
        inside = scipy.special.stdtr(self.freedom[:, None], standard)
        return np.where(x >= self.high, 1.0, np.where(x < self.low, 0.0, inside))

    def quantiles(self, level: np.ndarray) -> np.ndarray:
        """Return the quantiles."""
        standard = scipy.special.stdtrit(self.freedom[:, None], level)
        return np.clip(self.center[:, None] + self.scale[:, None] * standard, self.low, self.high)


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
