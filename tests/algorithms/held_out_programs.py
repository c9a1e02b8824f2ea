"""Independent programs of rules, in NumPy, from the formulas of their papers: many runs at once, in float64.

Each takes a `Bandit` and returns the answer of every run, bool `(R, K)`. Nothing is shared with the package, and the
arms of each run are in a random order of its own, so that ties are fair.
"""

import math
from collections.abc import Callable

import numpy as np
from scipy import special


class Bandit:
    """What R runs have seen of K arms; arms are in a random order, groups of `together` too.

    Attributes:
        of: int `(R, K)`, the arm at each position.
        pulls: int `(R, K)`.
        sums: float64 `(R, K)`, of rewards.
        squares: float64 `(R, K)`, of squared rewards.
    """

    def __init__(self, means, runs: int, seed: int, sd=None, first: int = 1, together: int = 1) -> None:
        self._random = np.random.default_rng(seed)
        self.of = self._order(runs, len(means) // together)
        if together > 1:
            within = self._order(runs, together)
            self.of = (self.of[:, :, None] * together + within[:, None]).reshape(runs, -1)
        self._means, self._sd = np.asarray(means)[self.of], None if sd is None else np.asarray(sd)[self.of]
        self.every, self.arms = np.arange(runs), len(means)
        self.pulls, self.sums = np.zeros((runs, self.arms), int), np.zeros((runs, self.arms))
        self.squares = np.zeros((runs, self.arms))
        for position in range(self.arms if first else 0):
            self.pull(np.full(runs, position), np.ones(runs, bool))

    def _order(self, runs: int, count: int) -> np.ndarray:
        return self._random.permuted(np.tile(np.arange(count), (runs, 1)), axis=1)

    def batch(self, counts: np.ndarray) -> None:
        """Pull each arm of each run so often, int `(R, K)`: the sums of the rewards are drawn; no squares are kept."""
        if self._sd is None:
            sums = self._random.binomial(counts, self._means)
        else:
            sums = counts * self._means + np.sqrt(counts) * self._sd * self._random.standard_normal(counts.shape)
        self.pulls, self.sums = self.pulls + counts, self.sums + sums

    def pull(self, position: np.ndarray, running: np.ndarray) -> None:
        """Pull one arm of each run that still runs."""
        runs, position = self.every[running], position[running]
        mean = self._means[runs, position]
        if self._sd is None:
            reward = (self._random.random(len(runs)) < mean).astype(float)
        else:
            reward = mean + self._sd[runs, position] * self._random.standard_normal(len(runs))
        self.pulls[runs, position] += 1
        self.sums[runs, position] += reward
        self.squares[runs, position] += reward * reward

    @property
    def means(self) -> np.ndarray:
        """The means so far, `(R, K)`."""
        return self.sums / self.pulls

    def by_arm(self, values: np.ndarray) -> np.ndarray:
        """Values `(R, K)` by position, in the order of the problem's arms."""
        return np.take_along_axis(values, np.argsort(self.of, axis=1), axis=1)


def only(position: np.ndarray, arms: int) -> np.ndarray:
    """The answer of one arm in each run."""
    return position[:, None] == np.arange(arms)


def best_first(values: np.ndarray) -> np.ndarray:
    """The rank of each value in its run, 0 for the largest."""
    return np.argsort(np.argsort(-values, axis=1, kind="stable"), axis=1)


def kl(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The divergence of Bernoulli laws, without the negative rounding errors of a sum of two terms."""
    return np.maximum(special.rel_entr(p, q) + special.rel_entr(1 - p, 1 - q), 0)


def spend(bandit: Bandit, budget: int, choose: Callable[[], np.ndarray]) -> None:
    """Pull the chosen arm of every run until the budget is spent."""
    for _ in range(budget - bandit.arms):
        bandit.pull(choose(), np.ones(len(bandit.every), bool))


def lsa(bandit: Bandit, budget: int, threshold: float) -> np.ndarray:
    """Tao et al. (2019): the arm with the least alpha T gap^2 + ln(T) / 2, with alpha = 1."""

    def choose():
        gap = np.abs(bandit.means - threshold)
        return np.argmin(bandit.pulls * gap**2 + np.log(bandit.pulls) / 2, axis=1)

    spend(bandit, budget, choose)
    return bandit.means >= threshold


def apgai_arm(bandit: Bandit, threshold: float) -> tuple[np.ndarray, np.ndarray]:
    """Jourdan et al. (2023): the arm to pull, by two transportation costs, and whether some mean is above."""
    root, above = np.sqrt(bandit.pulls), bandit.means > threshold
    plus = root * np.maximum(bandit.means - threshold, 0)
    minus = root * np.maximum(threshold - bandit.means, 0)
    found = above.any(axis=1)
    return np.where(found, np.argmax(plus, axis=1), np.argmin(minus, axis=1)), found


def apgai_b(bandit: Bandit, budget: int, threshold: float) -> np.ndarray:
    """APGAI for a budget."""
    spend(bandit, budget, lambda: apgai_arm(bandit, threshold)[0])
    arm, found = apgai_arm(bandit, threshold)
    return only(arm, bandit.arms) & found[:, None]


def apgai_c(bandit: Bandit, delta: float, threshold: float) -> np.ndarray:
    """APGAI with the threshold c = W(2 ln(K/delta) + 4 ln ln(e^4 t) + 1/2) / 2, W(x) = -W_{-1}(-e^-x).

    Rewards in [0, 1] are 1/2-sub-Gaussian: the generalised likelihood ratio is N gap^2 / (2 (1/2)^2).
    """
    while True:
        t = bandit.pulls.sum(axis=1)
        x = 2 * np.log(bandit.arms / delta) + 4 * np.log(np.log(np.exp(4) * t)) + 0.5
        limit = -special.lambertw(-np.exp(-x), -1).real / 2
        arm, found = apgai_arm(bandit, threshold)
        gap = bandit.means - threshold
        ratio = bandit.pulls * gap**2 / (2 * 0.25)
        up, down = np.where(gap > 0, ratio, 0).max(axis=1), np.where(gap < 0, ratio, 0).min(axis=1)
        running = np.where(found, up, down) < limit
        if not running.any():
            return only(arm, bandit.arms) & found[:, None]
        bandit.pull(arm, running)


def sh_ada_var(bandit: Bandit, budget: int, level: float) -> np.ndarray:
    """Lalitha et al. (2023): Sequential Halving by overestimated variances, each stage with its own rewards."""
    runs, arms = bandit.pulls.shape
    stages, log_level = math.ceil(math.log2(arms)), math.log(1 / level)
    alive, left = np.ones((runs, arms), bool), arms
    pulls, sums, squares = (np.zeros((runs, arms)) for _ in range(3))  # before the stage
    for stage in range(stages):
        for _ in range(budget // stages - (arms if stage == 0 else 0)):
            n = bandit.pulls - pulls
            few = alive & (n <= 4 * log_level + 1)
            with np.errstate(divide="ignore", invalid="ignore"):
                mean = (bandit.sums - sums) / n
                variance = (bandit.squares - squares - n * mean**2) / (n - 1)
                upper = variance / (1 - 2 * np.sqrt(log_level / (n - 1))) / n
            wanted = np.where(alive & ~few, upper, -np.inf)
            fewest = np.argmin(np.where(few, n, np.inf), axis=1)
            bandit.pull(np.where(few.any(axis=1), fewest, np.argmax(wanted, axis=1)), np.ones(runs, bool))
        n = bandit.pulls - pulls
        mean = np.where(alive, (bandit.sums - sums) / np.maximum(n, 1), -np.inf)
        left = -(-left // 2)
        alive = best_first(mean) < left
        pulls, sums, squares = bandit.pulls.copy(), bandit.sums.copy(), bandit.squares.copy()
    return alive


def at_lucb(bandit: Bandit, budget: int, m: int, first_delta: float = 0.5, alpha: float = 0.99) -> np.ndarray:
    """Jun and Nowak (2016): LUCB whose delta shrinks by alpha whenever it would stop."""
    runs, arms = bandit.pulls.shape
    stage, t, answer = np.zeros(runs, int), 1, np.zeros((runs, arms), bool)
    every = bandit.every

    def rivals(stage):
        level = np.log(5 / 4 * arms * t**4 / first_delta) - stage * np.log(alpha)
        radius = np.sqrt(level[:, None] / (2 * bandit.pulls))
        ranks = best_first(bandit.means)
        lower, upper = (
            np.where(ranks < m, bandit.means - radius, np.inf),
            np.where(ranks < m, -np.inf, bandit.means + radius),
        )
        weak, strong = np.argmin(lower, axis=1), np.argmax(upper, axis=1)
        return weak, strong, upper[every, strong] < lower[every, weak], ranks < m

    while True:
        grown = np.zeros(runs, bool)
        while (stops := rivals(stage)[2]).any():
            stage += stops
            grown |= stops
        weak, strong, _, high = rivals(stage)
        answer = np.where((grown | (stage == 0))[:, None], high, answer)
        if budget - bandit.pulls[0].sum() < 2:
            return answer
        for arm in (weak, strong):
            bandit.pull(arm, np.ones(runs, bool))
        t += 1


def fc2fb(bandit: Bandit, budget: int, least: int, rule: str, first_delta: float, b: float) -> np.ndarray:
    """Balagopalan et al. (2026), Algorithm 3: a rule with fixed confidence started anew in each of R stages."""
    runs, arms = bandit.pulls.shape
    stages = math.floor(math.log2(budget / least))
    stopped, answer = np.zeros(runs, bool), np.zeros(runs, int)
    pulls, sums = np.zeros((runs, arms)), np.zeros((runs, arms))  # before the stage
    for stage in range(1, stages + 1):
        delta = first_delta ** (2.0 ** (stages - stage))
        if stage > 1:
            for position in range(arms):
                bandit.pull(np.full(runs, position), ~stopped)
        for made in range(arms, budget // stages + 1):
            n = np.maximum(bandit.pulls - pulls, 1)
            arm, best, stops = (ugape if rule == "ugape-c" else lil_ucb)(n, (bandit.sums - sums) / n, delta, b)
            answer = np.where(stops & ~stopped, best, answer)
            stopped |= stops
            if made < budget // stages:
                bandit.pull(arm, ~stopped)
        pulls, sums = bandit.pulls.copy(), bandit.sums.copy()
    return only(np.where(stopped, answer, np.argmax(bandit.means, axis=1)), arms)


def ugape(n: np.ndarray, means: np.ndarray, delta: float, b: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """UGapEc for one arm (Gabillon et al. 2012, Figure 1): the arm to pull, the answer, and whether it stops."""
    arms, every = n.shape[1], np.arange(len(n))
    radius = b * np.sqrt(0.5 * np.log(4 * arms * n.sum(axis=1, keepdims=True) ** 3 / delta) / n)
    upper = means + radius
    two = -np.sort(-upper, axis=1)[:, :2]
    largest_other = np.where(only(np.argmax(upper, axis=1), arms), two[:, 1:], two[:, :1])
    index = largest_other - (means - radius)
    best = np.argmin(index, axis=1)
    rival = np.argmax(np.where(only(best, arms), -np.inf, upper), axis=1)
    wider = np.where(radius[every, rival] > radius[every, best], rival, best)
    even = radius[every, rival] == radius[every, best]
    return np.where(even, np.minimum(rival, best), wider), best, index[every, best] < 0


def lil_ucb(n: np.ndarray, means: np.ndarray, delta: float, b: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """lil'UCB with the constants of its theorem (Jamieson et al. 2014, Theorem 2), for b/2-sub-Gaussian rewards."""
    eps, beta, every = 0.01, 1.0, np.arange(len(n))
    c = (2 + eps) / eps * (1 / math.log(1 + eps)) ** (1 + eps)
    omega = ((math.sqrt(1 + delta) - 1) / (2 * math.sqrt(c))) ** 2
    radius = np.sqrt(2 * (b / 2) ** 2 * (1 + eps) * np.log(np.log((1 + eps) * n) / omega) / n)
    most = np.argmax(n, axis=1)
    limit = ((2 + beta) / beta) ** 2
    stops = n[every, most] >= 1 + limit * (n.sum(axis=1) - n[every, most])
    return np.argmax(means + (1 + beta) * (1 + math.sqrt(eps)) * radius, axis=1), most, stops
