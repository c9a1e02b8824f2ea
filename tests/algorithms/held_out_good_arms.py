"""Independent programs of rules that find all good arms, in NumPy: many runs at once, in float64.

As in `held_out_programs.py`; b is the range of the rewards, or twice their standard deviation.
"""

import math
from collections.abc import Callable

import numpy as np

from tests.algorithms.held_out_programs import Bandit, only

MOST = 10**9  # pulls of a run


def kano(
    bandit: Bandit, delta: float, threshold: float, index: Callable[[np.ndarray], np.ndarray], most: int,
    *, first: bool = False,
) -> np.ndarray:  # fmt: skip
    """Kano et al. (2019), Algorithm 1: decide arms by their intervals, pull the undecided one with the largest index.

    `index` is of the radius of each arm; with `first` a run ends with its first good arm. The pulls of a whole run do
    not depend on the index, as each arm is decided by its own rewards: only those of the `most` first pulls do.
    """
    good = np.zeros(bandit.pulls.shape, bool)
    open_ = ~good
    while True:
        radius = np.sqrt(np.log(4 * bandit.arms * bandit.pulls**2.0 / delta) / (2 * bandit.pulls))
        running = open_.any(axis=1) & ~(first & good.any(axis=1))
        good |= open_ & running[:, None] & (bandit.means - radius >= threshold)
        open_ &= ~running[:, None] | ~(good | (bandit.means + radius < threshold))
        running = open_.any(axis=1) & ~(first & good.any(axis=1)) & (bandit.pulls.sum(axis=1) < most)
        if not running.any():
            return good
        bandit.pull(np.argmax(np.where(open_, index(radius), -np.inf), axis=1), running)


def hdoc(bandit: Bandit, delta: float, threshold: float, most: int = MOST, *, first: bool = False) -> np.ndarray:
    """HDoC: the index is that of UCB1, mean + sqrt(ln t / (2 N)) (eq. 6)."""

    def index(radius):
        del radius
        return bandit.means + np.sqrt(np.log(bandit.pulls.sum(axis=1, keepdims=True)) / (2 * bandit.pulls))

    return kano(bandit, delta, threshold, index, most, first=first)


def lucb_g(bandit: Bandit, delta: float, threshold: float, most: int) -> np.ndarray:
    """LUCB-G: the index is the upper end of the interval that decides (eq. 4)."""
    return kano(bandit, delta, threshold, lambda radius: bandit.means + radius, most)


def apt_g(bandit: Bandit, delta: float, threshold: float, most: int) -> np.ndarray:
    """APT-G: the arm with the least sqrt(N) |mean - threshold|."""
    return kano(bandit, delta, threshold, lambda _: -np.sqrt(bandit.pulls) * np.abs(bandit.means - threshold), most)


def line(best: np.ndarray, epsilon: float, *, multiplicative: bool) -> np.ndarray:
    """The least mean of an epsilon-good arm beside the largest mean, `(R, 1)`."""
    best = best[:, None]
    return (1 - epsilon) * best if multiplicative else best - epsilon


def st2(
    bandit: Bandit, epsilon: float, delta: float, gamma: float, b: float = 1, *, multiplicative: bool = False
) -> np.ndarray:
    """Mason et al. (2020), Algorithm 1, with intervals mean +- b sqrt(ln(K log2(2N) / delta) / N)."""
    while True:
        radius = b * np.sqrt(np.log(bandit.arms * np.log2(2 * bandit.pulls) / delta) / bandit.pulls)
        lower, upper, mean = bandit.means - radius, bandit.means + radius, bandit.means
        good = lower > line(upper.max(axis=1), epsilon + gamma, multiplicative=multiplicative)
        bad = upper < line(lower.max(axis=1), epsilon, multiplicative=multiplicative)
        above, unknown = mean >= line(mean.max(axis=1), epsilon, multiplicative=multiplicative), ~(good | bad)
        running = unknown.any(axis=1)
        if not running.any():
            return good
        bandit.pull(np.argmax(upper, axis=1), running)
        for some, values in ((unknown & above, -lower), (unknown & ~above, upper)):
            bandit.pull(np.argmax(np.where(some, values, -np.inf), axis=1), running & some.any(axis=1))


def fareast(bandit: Bandit, epsilon: float, delta: float, b: float = 1, *, multiplicative: bool = False) -> np.ndarray:
    """Mason et al. (2020), FAREAST as the authors' program has it, with all rewards of an arm in its intervals."""
    runs, arms = bandit.pulls.shape
    active, good, k = np.ones((runs, arms), bool), np.zeros((runs, arms), bool), 0

    def interval(events):
        radius = b * np.sqrt(np.log(events * np.log2(2 * bandit.pulls)) / bandit.pulls)
        return bandit.means - radius, bandit.means + radius

    while (running := (active & ~good).any(axis=1)).any():
        k += 1
        precision, before = b * 2.0**-k, bandit.pulls.sum(axis=1)
        # Look for an arm within the precision of the best, among good arms if there are some.
        among = active & (good | ~(active & good).any(axis=1, keepdims=True))
        while True:
            best = np.argmax(np.where(among, bandit.means, -np.inf), axis=1)
            (lower, upper), others = interval(16), among & ~only(best, arms)
            upper = np.where(others, upper, -np.inf)
            searching = running & (upper.max(axis=1) - lower[bandit.every, best] > precision)
            if not searching.any():
                break
            two = searching[:, None] & (only(best, arms) | only(np.argmax(upper, axis=1), arms))
            bandit.batch(np.where(two, 1 + bandit.pulls // 16, 0))
        # Pull this arm and the unknown ones so often that bad arms are seen.
        batch = math.ceil(4**k * math.log(16 * arms * k**2 / delta))
        some, sums = ((active & ~good) | only(best, arms)) & running[:, None], bandit.sums
        bandit.batch(np.where(some, batch, 0))
        mean = (bandit.sums - sums) / batch
        top = np.where(some | ~running[:, None], mean, -(10.0**9)).max(axis=1)
        far = line(top, epsilon, multiplicative=multiplicative) - mean >= 2 * precision
        active &= ~(some & ~good & far)
        # Sweep with as many pulls, or a few more.
        left = -(-(bandit.pulls.sum(axis=1) - before) // np.maximum(active.sum(axis=1), 1))
        while (sweeping := (left > 0) & (active & ~good).any(axis=1)).any():
            times = np.minimum(left, np.where(active, 1 + bandit.pulls // 16, 10**9).min(axis=1))
            seen = active & sweeping[:, None]
            bandit.batch(seen * times[:, None])
            left -= times * sweeping
            lower, upper = interval(2 * arms / delta)
            highest, lowest = (np.where(active, ends, -(10.0**9)).max(axis=1) for ends in (upper, lower))
            good |= seen & (lower > line(highest, epsilon, multiplicative=multiplicative))
            beaten = np.where(
                good, upper < lowest[:, None], upper < line(lowest, epsilon, multiplicative=multiplicative)
            )
            active &= ~(seen & beaten)
    return good
