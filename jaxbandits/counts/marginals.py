"""The posterior of each arm's mean, and what follows from all: which is the best, and what a choice would lose."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy  # type: ignore[import-untyped,unused-ignore]

__all__ = ["Chances", "Marginals", "beta_marginals", "chances", "student_marginals"]

#: Nodes of a law, and entries of a table of all distribution functions, at most.
_NODES, _ENTRIES = 513, 8e6
#: Nodes of the law of the largest mean, at most and at least; quantiles of all arms, at most, and of one, at least.
_MOST, _FEWEST, _QUANTILES, _ROUGH = 2049, 257, 1e6, 65
#: The quantiles of the nodes, as those of a standard normal draw: beyond it is less than 1e-15.
_FAR = 8.0
#: How often the nodes of the largest mean are placed, each time by its law at the last ones.
_PLACED = 4
#: Nodes among means that tie at an end, of one arm and of the largest.
_TIED = 65


Places = np.ndarray | slice
_ALL = slice(None)


class Marginals(NamedTuple):
    """The laws of K independent means; all that lies outside [low, high] is at these ends.

    Attributes:
        means: float64 `(K,)`, the posterior means.
        distribution: of points `(G,)` inside the ends and places in K; returns P(mean <= x) there, float64 `(…, G)`.
        inverse: of levels `(G,)` and places in K; returns the quantiles of these arms, float64 `(…, G)`.
        low: the lower end.
        high: the upper end.
    """

    means: np.ndarray
    distribution: Callable[[np.ndarray, Places], np.ndarray]
    inverse: Callable[[np.ndarray, Places], np.ndarray]
    low: float
    high: float

    def below(self, x: np.ndarray) -> np.ndarray:
        """Return P(mean <= x) for each arm, float64 `(K, G)`, of points `(G,)`."""
        inside = self.distribution(np.clip(x, self.low, self.high), _ALL)
        return np.where(x >= self.high, 1.0, np.where(x < self.low, 0.0, inside))

    def quantiles(self, level: np.ndarray, places: Places = _ALL) -> np.ndarray:
        """Return the quantiles of arms, all or those at these places in K, float64 `(…, G)`, at levels `(G,)`."""
        return np.clip(self.inverse(level, places), self.low, self.high)


def beta_marginals(a: np.ndarray, b: np.ndarray) -> Marginals:
    """Return Beta laws; `a` and `b` float64 `(K,)`."""
    of, to = a[:, None], b[:, None]
    return Marginals(
        a / (a + b),
        lambda x, places: scipy.special.betainc(of[places], to[places], x),
        lambda level, places: scipy.special.betaincinv(of[places], to[places], level), 0.0, 1.0,
    )  # fmt: skip


def student_marginals(
    center: np.ndarray, scale: np.ndarray, freedom: np.ndarray, low: float = -np.inf, high: float = np.inf
) -> Marginals:
    """Return Student's laws, scaled and shifted, float64 `(K,)` each."""
    middle, unit, dof = center[:, None], scale[:, None], freedom[:, None]
    return Marginals(
        np.clip(center, low, high),
        lambda x, places: scipy.special.stdtr(dof[places], (x - middle[places]) / unit[places]),
        lambda level, places: middle[places] + unit[places] * scipy.special.stdtrit(dof[places], level), low, high,
    )  # fmt: skip


class Chances(NamedTuple):
    """What the means' posterior says of each arm, float64 `(K,)`.

    Attributes:
        best: the probability that it has the largest mean; they add up to 1.
        near: the probability that no arm is better than it by more than epsilon.
        loss: the expectation of the largest mean less its own.
        error: by how much a probability may be off, `()`: the difference to a quadrature with half of the nodes.
    """

    best: np.ndarray
    near: np.ndarray
    loss: np.ndarray
    error: float


def chances(marginals: Marginals, epsilon: float) -> Chances:
    """Return the chances of each arm, by quadrature.

    P(arm k is best) is the integral of the other arms' distribution functions with respect to its own. It is taken by
    trapezoids between quantiles of the largest mean, and of the arms with the largest posterior means. The expected
    loss is the integral of P(mean of k < x < largest other mean) over x. No difference of nearby numbers is taken, so
    that small losses keep their digits.

    Args:
        marginals: the posterior of the means of K arms.
        epsilon: not negative.
    """
    arms = len(marginals.means)
    largest = _of_largest(marginals, int(min(_MOST, max(_FEWEST, _ENTRIES / arms / 4))))
    leading = np.argsort(-marginals.means, kind="stable")[: max(1, int(_ENTRIES / arms / _NODES))]
    own = marginals.quantiles(_levels(_NODES), leading)
    moved = np.clip(largest - epsilon, marginals.low, marginals.high)
    nodes = np.unique(np.concatenate([own.ravel(), largest, moved]))
    first, untied = nodes[0], len(nodes)
    nodes, below = _with_ties(marginals, nodes)
    same = epsilon == 0 and len(nodes) == untied
    shifted = below if same else marginals.below(nodes + epsilon)
    half = np.arange(len(nodes)) % 2 == 0
    jump = nodes == _just_below(marginals)  # the next node is the end, where means tie
    half |= jump | np.append(False, jump[:-1])
    half[-1] = True
    fine = _integrated(nodes, below, shifted)
    rough = below[:, half]
    coarse = _integrated(nodes[half], rough, rough if same else shifted[:, half])
    best, near, loss = fine
    error = float(max(np.max(np.abs(one - other)) for one, other in zip(fine[:2], coarse[:2], strict=True)))
    best = best / best.sum()
    return Chances(best, np.minimum(np.maximum(near, best), 1.0), loss + _short_of(marginals, first), error)


def _with_ties(marginals: Marginals, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes, an end several times, and the distribution functions there, float64 `(K, G)`.

    Means that tie at an end are best equally often, as if they lay beyond it with a uniform law each.
    """
    even = np.linspace(0.0, 1.0, _TIED)
    share = np.unique(np.concatenate([even, even ** (1 / len(marginals.means))]))
    below = marginals.below(nodes)
    if nodes[0] == marginals.low:
        nodes = np.concatenate([np.full(len(share) - 1, nodes[0]), nodes])
        below = np.concatenate([below[:, :1] * share[:-1], below], axis=1)
    if nodes[-1] == marginals.high:
        inside = marginals.distribution(nodes[-1:], _ALL)
        below = np.concatenate([below[:, :-1], inside, inside + (1 - inside) * share], axis=1)
        nodes = np.concatenate([nodes[:-1], [_just_below(marginals)], np.full(len(share), nodes[-1])])
    return nodes, below


def _just_below(marginals: Marginals) -> float:
    """Return the largest number below the upper end."""
    return float(np.nextafter(marginals.high, marginals.low))


def _levels(count: int) -> np.ndarray:
    """Return an even grid of quantiles of a standard normal draw, as probabilities, `(count,)`."""
    return np.asarray(scipy.special.ndtr(np.linspace(-_FAR, _FAR, count)))


def _of_largest(marginals: Marginals, count: int) -> np.ndarray:
    """Return points that are about an even grid of normal quantiles of the largest mean, `(count,)`."""
    ends = marginals.quantiles(_levels(2))
    nodes = np.linspace(ends[:, 0].max(), ends[:, 1].max(), count)
    wanted = np.linspace(-_FAR, _FAR, count)
    for _ in range(_PLACED):
        logs = np.log(np.maximum(marginals.below(nodes), 1e-300)).sum(axis=0)
        found = np.clip(scipy.special.ndtri_exp(np.minimum(logs, -1e-300)), -_FAR, _FAR)
        nodes = np.interp(wanted, found, nodes)
    return nodes


def _short_of(marginals: Marginals, x: float) -> np.ndarray:
    """Return the expectation of what each mean is below x, `(K,)`."""
    level = _levels(int(min(_NODES, max(_ROUGH, _QUANTILES / len(marginals.means)))))
    short = np.maximum(x - marginals.quantiles(level), 0.0)
    return np.asarray(np.sum((short[:, 1:] + short[:, :-1]) / 2 * np.diff(level), axis=1))


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
    near = others if shifted is below else of_others(shifted)
    return against(others), against(near), loss
