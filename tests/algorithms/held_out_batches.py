"""Independent programs of rules that pull in few batches, in NumPy: many runs at once, in float64.

As in `held_out_programs.py`; the bandit begins without a pull.
"""

import math

import numpy as np

from tests.algorithms.held_out_programs import Bandit, best_first, kl, only


def proportions(b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """w* `(R, K)` and T* `(R,)` of Bernoulli means, by two nested bisections for all runs at once."""
    best = np.argmax(b, axis=1)[:, None]
    top, rival = np.take_along_axis(b, best, axis=1), np.arange(b.shape[1]) != best
    tied = (b == top).sum(axis=1) > 1
    other = np.where(rival & ~tied[:, None], b, top / 2)

    def ratios(y):
        low, high = np.full(b.shape, -25.0), np.full(b.shape, 25.0)
        for _ in range(40):
            middle = (low + high) / 2
            x = np.exp(middle)
            meeting = (top + x * other) / (1 + x)
            over = kl(top, meeting) + x * kl(other, meeting) > y
            low, high = np.where(over, low, middle), np.where(over, middle, high)
        return np.exp(low)

    low = np.zeros((len(b), 1))
    high = np.minimum(np.where(rival, kl(top, other), np.inf).min(axis=1, keepdims=True), 40)
    for _ in range(40):
        y = (low + high) / 2
        x = ratios(y)
        meeting = (top + x * other) / (1 + x)
        with np.errstate(divide="ignore", invalid="ignore"):
            sum_of_both = np.where(rival, kl(top, meeting) / kl(other, meeting), 0).sum(axis=1, keepdims=True)
        low, high = np.where(sum_of_both > 1, low, y), np.where(sum_of_both > 1, y, high)
    x = np.where(rival, ratios(low), 1)
    weights, time = x / x.sum(axis=1, keepdims=True), x.sum(axis=1) / low[:, 0]
    even = (b == top) / (b == top).sum(axis=1, keepdims=True)
    return np.where(tied[:, None], even, weights), np.where(tied, np.inf, time)


def three_batches(bandit: Bandit, delta: float, shift: float, l1: int, l2: int, alpha: float = 1.001) -> np.ndarray:
    """Jin et al. (2024), stages I to III: whether each run has passed the test; gk16's threshold for delta / 2."""
    runs, arms = bandit.pulls.shape
    bandit.batch(np.full((runs, arms), l1))
    for q in (1, 2):
        leader = only(np.argmax(bandit.means, axis=1), arms)
        w, time = proportions(np.clip(bandit.means + np.where(leader, -shift, shift), 0, 1))
        with np.errstate(invalid="ignore"):
            wanted = 2**q * alpha * w * time[:, None] * math.log(1 / delta)
        bandit.batch(np.where(w > 0, np.minimum(np.ceil(np.nan_to_num(wanted, posinf=l2)), l2), 0).astype(int))
    n, mean, best = bandit.pulls, bandit.means, np.argmax(bandit.means, axis=1)[:, None]
    of_best, top = np.take_along_axis(n, best, axis=1), np.take_along_axis(mean, best, axis=1)
    meeting = (of_best * top + n * mean) / (of_best + n)
    ratio = np.where(np.arange(arms) == best, np.inf, of_best * kl(top, meeting) + n * kl(mean, meeting)).min(axis=1)
    return ratio >= np.log(2 * n.sum(axis=1) * (arms - 1) / (delta / 2))


def tri_bbai(bandit: Bandit, delta: float, shift: float, l1: int, l2: int, l3: int) -> np.ndarray:
    """Jin et al. (2024), Algorithm 1."""
    passed = three_batches(bandit, delta, shift, l1, l2)[:, None]
    bandit.batch(np.where(passed, 0, np.maximum(l3 - bandit.pulls, 0)))
    return only(np.argmax(bandit.means, axis=1), bandit.arms)


def opt_bbai(bandit: Bandit, delta: float, shift: float, l1: int, l2: int, scale: float) -> np.ndarray:
    """Jin et al. (2024), Algorithm 2, with the constants of `jb.OptBBAI`; runs are too short for a check."""
    runs, arms = bandit.pulls.shape
    alive = ~three_batches(bandit, delta, shift, l1, l2)[:, None] & np.ones((runs, arms), bool)
    answer, r = np.argmax(bandit.means, axis=1), 0
    while (running := alive.sum(axis=1) > 1).any():
        r += 1
        assert r < 6
        epsilon = 2.0**-r / 4
        each = math.ceil(scale * 8 / epsilon**2 * math.log(2 * 4 * arms * r**2 / delta))
        before = bandit.sums.copy()
        bandit.batch(np.where(alive & running[:, None], each, 0))
        mean = np.where(alive, (bandit.sums - before) / each, -np.inf)
        answer = np.where(running, np.argmax(mean, axis=1), answer)
        alive &= ~running[:, None] | (mean >= mean.max(axis=1, keepdims=True) - epsilon)
    return only(answer, arms)


def bayes_elim(bandit: Bandit, budget: int, mean: np.ndarray, sd: float, variances: np.ndarray) -> np.ndarray:
    """Atsidakou et al. (2022): halving by posterior means of the rewards of each round; values of arms by arm."""
    runs, arms = bandit.pulls.shape
    alive, left, rounds = np.ones((runs, arms), bool), arms, math.ceil(math.log2(arms))
    prior, spread = np.asarray(mean)[bandit.of], np.asarray(variances)[bandit.of]
    for _ in range(rounds):
        n = np.floor(budget // rounds * spread / np.where(alive, spread, 0).sum(axis=1, keepdims=True) + 1e-9)
        n, before = np.where(alive, n, 0).astype(int), bandit.sums.copy()
        bandit.batch(n)
        posterior = (prior / sd**2 + (bandit.sums - before) / spread) / (1 / sd**2 + n / spread)
        left = -(-left // 2)
        alive &= best_first(np.where(alive, posterior, -np.inf)) < left
    return alive
