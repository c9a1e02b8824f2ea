"""Independent programs of rules that answer a question about the means, in NumPy: many runs at once, in float64.

As in `held_out_programs.py`. A closest alternative is a function of means and weights `(R, K)`; it returns the means
that it moves to, `(R, K)`, and its cost, `(R,)`.
"""

import math
from collections.abc import Callable

import numpy as np
from scipy import special

from tests.algorithms.held_out_programs import Bandit, best_first, kl, only

Closest = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
Divergence = Callable[[np.ndarray, np.ndarray], np.ndarray]


def normal(sd: float) -> Divergence:
    """The divergence of normal laws."""
    return lambda p, q: (p - q) ** 2 / (2 * sd**2)


def heuristic(bandit: Bandit, delta: float) -> np.ndarray:
    """Garivier and Kaufmann (2016): ln((1 + ln t) / delta)."""
    return np.log((1 + np.log(bandit.pulls.sum(axis=1))) / delta)


def gk16(bandit: Bandit, delta: float, sets: int) -> np.ndarray:
    """Garivier and Kaufmann (2016), Theorem 10, for sets of two arms: ln(2 t M / delta)."""
    return np.log(2 * bandit.pulls.sum(axis=1) * sets / delta)


def plain(bandit: Bandit) -> tuple[np.ndarray, np.ndarray]:
    """Means of arms without a structure, and their variances as multiples of one reward's."""
    return bandit.means, 1 / bandit.pulls


def game(
    bandit: Bandit, closest: Closest, d: Divergence, threshold: Callable[[], np.ndarray],
    fit: Callable[[Bandit], tuple[np.ndarray, np.ndarray]] = plain,
) -> np.ndarray:  # fmt: skip
    """Degenne, Koolen and Ménard (2019): AdaHedge against closest alternatives, with C-tracking; returns the means.

    Gaps of AdaHedge begin with 0.01, as in the authors' program; alternatives are for shares of at least 1e-6.
    """
    gains, gap, asked = np.zeros(bandit.pulls.shape), np.full((len(bandit.every), 1), 0.01), bandit.pulls.astype(float)
    while True:
        mean, variance = fit(bandit)
        running = closest(mean, bandit.pulls)[1] <= threshold()
        if not running.any():
            return mean
        rate = math.log(bandit.arms) / gap
        shares = special.softmax(rate * gains, axis=1)
        away = d(mean, closest(mean, np.maximum(shares, 1e-6))[0])
        gain = (np.sqrt(away) + np.sqrt(variance * np.log(bandit.pulls.sum(axis=1, keepdims=True)))) ** 2
        mixed = special.logsumexp(rate * gain, b=shares, axis=1, keepdims=True) / rate
        gap = gap + np.maximum(mixed - (shares * gain).sum(axis=1, keepdims=True), 0)
        gains, asked = gains + gain, asked + shares
        bandit.pull(np.argmax(asked - bandit.pulls, axis=1), running)


def level_alternative(level: float, d: Divergence) -> Closest:
    """One mean moves to the level."""

    def closest(mean, weight):
        cost = weight * d(mean, np.full(mean.shape, level))
        moved = only(np.argmin(cost, axis=1), mean.shape[1])
        return np.where(moved, level, mean), cost.min(axis=1)

    return closest


def top_alternative(m: int, d: Divergence) -> Closest:
    """One of the m largest means and one of the others move to their weighted mean."""

    def closest(mean, weight):
        runs, arms = mean.shape
        ranks = best_first(mean)
        least, alternative = np.full(runs, np.inf), mean.copy()
        for one in range(arms):
            for other in range(arms):
                cost, meeting = meet(mean, weight, one, other, d)
                better = (ranks[:, one] < m) & (ranks[:, other] >= m) & (cost < least)
                least = np.where(better, cost, least)
                moved = only(np.full(runs, one), arms) | only(np.full(runs, other), arms)
                alternative = np.where(better[:, None], np.where(moved, meeting[:, None], mean), alternative)
        return alternative, least

    return closest


def meet(mean: np.ndarray, weight: np.ndarray, one: int, other: int, d: Divergence) -> tuple[np.ndarray, np.ndarray]:
    """The cost at which two means meet, and where, `(R,)` each."""
    v, w = weight[:, one], weight[:, other]
    meeting = (v * mean[:, one] + w * mean[:, other]) / (v + w)
    return v * d(mean[:, one], meeting) + w * d(mean[:, other], meeting), meeting


def threshold_game(bandit: Bandit, delta: float, level: float, d: Divergence = kl) -> np.ndarray:
    """The arms whose mean is at least a level."""
    return game(bandit, level_alternative(level, d), d, lambda: heuristic(bandit, delta)) >= level


def top_m_game(bandit: Bandit, m: int, d: Divergence, threshold: Callable[[Bandit], np.ndarray]) -> np.ndarray:
    """The m arms with the largest means."""
    mean = game(bandit, top_alternative(m, d), d, lambda: threshold(bandit))
    return best_first(mean) < m


def pareto_alternative(objectives: int, d: Divergence) -> Closest:
    """A design of the Pareto set meets another where it is better; or a dominated one leaves those that dominate it."""

    def closest(mean, weight):
        runs, arms = mean.shape
        designs = arms // objectives
        arm = np.arange(arms).reshape(designs, objectives)
        least, alternative = np.full(runs, np.inf), mean.copy()
        for x in range(designs):
            dominated = np.zeros(runs, bool)
            away, moved_away = np.full(runs, -np.inf), mean.copy()  # x leaves all that dominate it
            below, moved_below = np.full(runs, np.inf), mean.copy()  # x meets another that then dominates it
            for y in range(designs):
                if y == x:
                    continue
                cost, meeting = (np.stack(values, axis=1) for values in zip(
                    *(meet(mean, weight, arm[x, o], arm[y, o], d) for o in range(objectives)), strict=True
                ))  # fmt: skip
                better = mean[:, arm[x]] > mean[:, arm[y]]
                dominates = (mean[:, arm[y]] >= mean[:, arm[x]]).all(axis=1)
                dominated |= dominates
                # x leaves y in the cheapest objective
                out = only(np.argmin(cost, axis=1), objectives)
                costlier = dominates & (cost.min(axis=1) > away)
                away = np.where(costlier, cost.min(axis=1), away)
                moved_away = np.where(costlier[:, None], moved(mean, arm[x], arm[y], out, meeting), moved_away)
                # y comes to dominate x in all objectives
                total = np.where(better, cost, 0).sum(axis=1)
                cheaper = total < below
                below = np.where(cheaper, total, below)
                moved_below = np.where(cheaper[:, None], moved(mean, arm[x], arm[y], better, meeting), moved_below)
            of_x = np.where(dominated, away, below)
            cheaper = of_x < least
            least = np.where(cheaper, of_x, least)
            new = np.where(dominated[:, None], moved_away, moved_below)
            alternative = np.where(cheaper[:, None], new, alternative)
        return alternative, least

    return closest


def moved(mean: np.ndarray, x: np.ndarray, y: np.ndarray, which: np.ndarray, meeting: np.ndarray) -> np.ndarray:
    """The means after two designs met in some objectives."""
    new = mean.copy()
    for arms in (x, y):
        new[:, arms] = np.where(which, meeting, mean[:, arms])
    return new


def pareto_game(bandit: Bandit, delta: float, objectives: int, d: Divergence) -> np.ndarray:
    """The designs that no other dominates."""
    mean = game(bandit, pareto_alternative(objectives, d), d, lambda: heuristic(bandit, delta))
    table = mean.reshape(len(mean), -1, objectives)
    beaten = (table[:, :, None] <= table[:, None]).all(axis=3) & (table[:, :, None] < table[:, None]).any(axis=3)
    return np.repeat(~beaten.any(axis=2), objectives, axis=1)


def lin_game(bandit: Bandit, features: np.ndarray, delta: float, sd: float, *, proved: bool) -> np.ndarray:
    """Degenne et al. (2020) for the best arm; with `proved` the threshold of Jedra and Proutiere (2020), u = 0.1."""
    basis = np.linalg.qr(np.asarray(features))[0]
    x = basis[bandit.of]

    def information(weight):
        return np.einsum("rk,rki,rkj->rij", weight, x, x)

    def fit(bandit):
        inverse = np.linalg.inv(information(bandit.pulls))
        theta = np.einsum("rij,rk,rkj->ri", inverse, bandit.sums, x)
        return np.einsum("rki,ri->rk", x, theta), np.einsum("rki,rij,rkj->rk", x, inverse, x)

    def closest(mean, weight):
        best = np.argmax(mean, axis=1)
        inverse = np.linalg.inv(information(weight))
        y = x[bandit.every, best][:, None] - x
        gap, spread = mean.max(axis=1, keepdims=True) - mean, np.einsum("rki,rij,rkj->rk", y, inverse, y)
        with np.errstate(divide="ignore", invalid="ignore"):
            cost = np.where(only(best, bandit.arms), np.inf, gap**2 / (2 * sd**2 * spread))
        rival = np.argmin(cost, axis=1)
        step = (gap / np.where(only(best, bandit.arms), 1, spread))[bandit.every, rival]
        moves = np.einsum("rki,rij,rj->rk", x, inverse, y[bandit.every, rival])
        return mean - step[:, None] * moves, cost.min(axis=1)

    def threshold():
        if not proved:
            return heuristic(bandit, delta)
        u = 0.1
        eigenvalues = np.linalg.eigvalsh(information(bandit.pulls))
        evidence = np.log((eigenvalues + u) / u).sum(axis=1) / 2 + math.log(1 / delta)
        return (1 + u / bandit.pulls.min(axis=1)) * evidence

    return only(np.argmax(game(bandit, closest, normal(sd), threshold, fit), axis=1), bandit.arms)


def lin_gap_e(bandit: Bandit, features: np.ndarray, delta: float, b: float, epsilon: float = 0) -> np.ndarray:
    """Xu et al. (2018), the greedy variant, with lambda = S = 1."""
    x, every, arms = np.asarray(features)[bandit.of], bandit.every, bandit.arms
    while True:
        a = np.eye(x.shape[2]) + np.einsum("rk,rki,rkj->rij", bandit.pulls, x, x)
        inverse = np.linalg.inv(a)
        theta = np.einsum("rij,rk,rkj->ri", inverse, bandit.sums, x)
        mean = np.einsum("rki,ri->rk", x, theta)
        best = np.argmax(mean, axis=1)
        y = x - x[every, best][:, None]
        radius = b / 2 * np.sqrt(2 * np.log(arms**2 * np.sqrt(np.linalg.det(a)) / delta)) + 1
        width = np.sqrt(np.einsum("rki,rij,rkj->rk", y, inverse, y)) * radius[:, None]
        bound = np.where(only(best, arms), -np.inf, mean - mean[every, best][:, None] + width)
        rival = np.argmax(bound, axis=1)
        running = bound[every, rival] > epsilon
        if not running.any():
            return only(best, arms)
        toward = np.einsum("rij,rj->ri", inverse, y[every, rival])
        # y' (A + x x')^-1 y = y' A^-1 y - (x' A^-1 y)^2 / (1 + x' A^-1 x)
        less = np.einsum("rki,ri->rk", x, toward) ** 2 / (1 + np.einsum("rki,rij,rkj->rk", x, inverse, x))
        bandit.pull(np.argmax(less, axis=1), running)
