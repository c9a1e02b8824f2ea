"""`BettingRace` with empirical Bernstein sequences, from the formulas of Waudby-Smith and Ramdas (2024)."""

import numpy as np

import jaxbandits as jb

RULE = jb.BettingRace
CASES = {
    "betting race": (jb.BettingRace(epsilon=0.05, delta=0.3), jb.bernoulli([0.8, 0.5, 0.5, 0.1])),
    "betting race, two of four": (jb.BettingRace(epsilon=0.1, delta=0.5, m=2), jb.beta([9.0, 8, 2, 1], [1.0, 2, 8, 9])),
}
TIES = [jb.BettingRace(epsilon=0.9, delta=0.9), jb.BettingRace(epsilon=0.9, delta=0.9, m=2)]


def interval(rewards, level):
    """The interval of one arm, cut to those before, in [0, 1]."""
    x = np.asarray(rewards, float)
    t = np.arange(1, len(x) + 1)
    mean = (0.5 + np.cumsum(x)) / (t + 1)
    squares = 0.25 + np.cumsum((x - mean) ** 2)
    before, spread = np.r_[0.5, mean[:-1]], np.r_[0.25, squares[:-1]] / t
    bet = np.minimum(np.sqrt(2 * level / (spread * t * np.log1p(t))), 0.5)
    weight, won = np.cumsum(bet), np.cumsum(bet * x)
    paid = np.cumsum((-np.log1p(-bet) - bet) * (x - before) ** 2)
    lower, upper = (won - level - paid) / weight, (won + level + paid) / weight
    return max(lower.max(), 0), min(upper.min(), 1)


def reference(view, algorithm):
    """The arm with the fewest pulls of those that no look has decided on."""
    b, arms = algorithm.b or view.b, range(view.count)
    level = np.log(2 * view.count / algorithm.delta)
    lower, upper = b * np.asarray([interval(np.asarray(seen) / b, level) for seen in view.rewards]).T
    active, accepted = view.memory.setdefault("sets", (set(arms), set()))

    def leaders():
        left = algorithm.m - len(accepted)
        values = np.where([arm in active for arm in arms], view.mean[0], -np.inf)
        return set(view.top(values, left, view.order[0])) if 0 < left < len(active) else set(sorted(active)[:left])

    inside = leaders()
    outside = active - inside
    high, low = max((upper[a] for a in outside), default=-np.inf), min((lower[a] for a in inside), default=np.inf)
    taken = {a for a in inside if high - lower[a] < algorithm.epsilon}
    dropped = {a for a in outside if upper[a] - low < algorithm.epsilon}
    if outside and inside:
        view.doubt(high - lower[sorted(inside)] - algorithm.epsilon)
        view.doubt(upper[sorted(outside)] - low - algorithm.epsilon)
    active -= taken | dropped
    accepted |= taken
    ended = len(accepted) == algorithm.m or algorithm.m - len(accepted) == len(active)
    answer = accepted | leaders()
    pulled = view.first(-np.where([arm in active for arm in arms], view.pulls[0], np.inf), view.order[0])
    return [pulled], answer, -np.inf if ended else np.inf
