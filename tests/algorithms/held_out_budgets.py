"""Independent programs of rules that spend a budget, in NumPy: many runs at once, in float64.

As in `held_out_programs.py`; rewards are normal in most cases, so that means do not tie.
"""

import math
from collections.abc import Callable

import numpy as np

from tests.algorithms.held_out_programs import Bandit, best_first, only, spend


def variances(bandit: Bandit) -> np.ndarray:
    """The unbiased variances of the rewards so far."""
    return (bandit.squares - bandit.pulls * bandit.means**2) / (bandit.pulls - 1)


def allocate(shares: np.ndarray, pulls: np.ndarray, more: int, rest: np.ndarray) -> np.ndarray:
    """Chen and Lee (2011): whole pulls near the shares; arms ahead of theirs get none, one arm gets the rest.

    OCBA-m makes the shares of two arms multiples of their pulls, so that parts are often whole: hence 1e-6.
    """
    total, open_ = pulls.sum(axis=1, keepdims=True) + more, np.ones(pulls.shape, bool)
    while True:
        left = total - np.where(open_, 0, pulls).sum(axis=1, keepdims=True)
        wanted = np.floor(left * shares / np.where(open_, shares, 0).sum(axis=1, keepdims=True) + 1e-6).astype(int)
        ahead = open_ & (wanted < pulls)
        if not ahead.any():
            break
        open_ &= ~ahead
    wanted = np.where(open_, wanted, pulls)
    wanted[np.arange(len(pulls)), rest] += total[:, 0] - wanted.sum(axis=1)
    return wanted - pulls


def increments(
    bandit: Bandit, budget: int, increment: int, initial: int, shares: Callable[[], tuple[np.ndarray, np.ndarray]]
) -> None:
    """Pull each arm so often at first, and then by increments, each by the shares at its beginning."""
    always = np.ones(len(bandit.every), bool)
    for position in range(bandit.arms):
        for _ in range(initial - 1):
            bandit.pull(np.full(len(always), position), always)
    left = np.zeros(bandit.pulls.shape, int)
    for _ in range(budget - initial * bandit.arms):
        if not left.any():
            weights, rest = shares()
            left = allocate(weights, bandit.pulls, increment, rest)
        arm = np.argmax(left, axis=1)
        bandit.pull(arm, always)
        left[bandit.every, arm] -= 1


def ocba(bandit: Bandit, budget: int, increment: int, initial: int) -> np.ndarray:
    """Chen et al. (2000): N_i in proportion to (s_i / d_i)^2, and N_b = s_b sqrt(sum_i N_i^2 / s_i^2)."""

    def shares():
        best = np.argmax(bandit.means, axis=1)
        leads, variance = only(best, bandit.arms), variances(bandit)
        gap = np.where(leads, np.inf, bandit.means.max(axis=1, keepdims=True) - bandit.means)
        others = variance / gap**2
        of_best = np.sqrt(variance * (others**2 / variance).sum(axis=1, keepdims=True))
        return np.where(leads, of_best, others), best

    increments(bandit, budget, increment, initial, shares)
    return only(np.argmax(bandit.means, axis=1), bandit.arms)


def ocba_m(bandit: Bandit, budget: int, m: int, increment: int, initial: int) -> np.ndarray:
    """Chen et al. (2008): (s_i / (mean_i - c))^2, c between the m-th and the next mean by their standard errors."""

    def shares():
        variance = variances(bandit)
        order = np.argsort(-bandit.means, axis=1)
        mean = np.take_along_axis(bandit.means, order, axis=1)[:, m - 1 : m + 1]
        error = np.take_along_axis(np.sqrt(variance / bandit.pulls), order, axis=1)[:, m - 1 : m + 1]
        border = (error[:, 1] * mean[:, 0] + error[:, 0] * mean[:, 1]) / error.sum(axis=1)
        return variance / (bandit.means - border[:, None]) ** 2, order[:, m - 1]

    increments(bandit, budget, increment, initial, shares)
    return best_first(bandit.means) < m


def shvar(bandit: Bandit, budget: int, spread: np.ndarray) -> np.ndarray:
    """Lalitha et al. (2023): the arm with the largest s^2 / N of the stage; the better half stays; spread by arm."""
    runs, arms = bandit.pulls.shape
    stages, variance = math.ceil(math.log2(arms)), np.square(spread)[bandit.of]
    alive, left = np.ones((runs, arms), bool), arms
    pulls, sums = np.zeros((runs, arms)), np.zeros((runs, arms))  # before the stage
    for stage in range(stages):
        for _ in range(budget // stages - (arms if stage == 0 else 0)):
            with np.errstate(divide="ignore"):
                wanted = np.where(alive, variance / (bandit.pulls - pulls), -1)
            bandit.pull(np.argmax(wanted, axis=1), np.ones(runs, bool))
        mean = (bandit.sums - sums) / np.maximum(bandit.pulls - pulls, 1)
        left = -(-left // 2)
        alive = best_first(np.where(alive, mean, -np.inf)) < left
        pulls, sums = bandit.pulls.copy(), bandit.sums.copy()
    return alive


def doubling_halving(bandit: Bandit, budget: int) -> np.ndarray:
    """Sequential Halving with K ceil(log2 K) pulls, then twice as many, ...: the answer of the last complete one."""
    runs, arms = bandit.pulls.shape
    stages = math.ceil(math.log2(arms))
    length, spent, answer = arms * stages, arms, np.zeros((runs, arms), bool)
    pulls, sums = np.zeros((runs, arms)), np.zeros((runs, arms))  # before the stage
    while True:
        alive, left = np.ones((runs, arms), bool), arms
        for _ in range(stages):
            for _ in range(left * (length // (left * stages)) - int((bandit.pulls - pulls)[0].sum())):
                if spent == budget:
                    return answer
                made = np.where(alive, bandit.pulls - pulls, np.inf)
                bandit.pull(np.argmin(made, axis=1), np.ones(runs, bool))
                spent += 1
            mean = (bandit.sums - sums) / np.maximum(bandit.pulls - pulls, 1)
            left = -(-left // 2)
            alive = best_first(np.where(alive, mean, -np.inf)) < left
            pulls, sums = bandit.pulls.copy(), bandit.sums.copy()
        answer, length = alive, 2 * length


def anytime_eb_tc(bandit: Bandit, budget: int, share: float | None, slack: float) -> np.ndarray:
    """Jourdan et al. (2023), Algorithm 1: the leader, or the challenger if it is due in this role; None: IDS."""
    runs, arms = bandit.pulls.shape
    as_challenger, due, every = np.zeros((runs, arms, arms)), np.zeros((runs, arms, arms)), bandit.every

    def choose():
        leader = np.argmax(bandit.means, axis=1)
        n, of_leader = bandit.pulls, bandit.pulls[every, leader][:, None]
        cost = (bandit.means.max(axis=1, keepdims=True) - bandit.means + slack) / np.sqrt(1 / n + 1 / of_leader)
        rival = np.argmin(np.where(only(leader, arms), np.inf, cost), axis=1)
        of_rival, of_leader = n[every, rival], of_leader[:, 0]
        due[every, leader, rival] += of_leader / (of_leader + of_rival) if share is None else 1 - share
        late = as_challenger[every, leader, rival] <= due[every, leader, rival] + 1e-9
        as_challenger[every, leader, rival] += late
        return np.where(late, rival, leader)

    spend(bandit, budget, choose)
    return only(np.argmax(bandit.means, axis=1), arms)
