"""What the references of questions share: AdaHedge against best responses, in double precision and plain Python."""

import math

import numpy as np
from scipy import optimize, special

CLOSE = 2e-3  # float32 tells sums of shares no better


def divergence(family, b, mean, x):
    if family == "gaussian":
        return 2 * ((mean - x) / b) ** 2
    p, q = np.clip(mean / b, 0, 1), np.clip(x / b, 0, 1)
    return np.maximum(special.rel_entr(p, q) + special.rel_entr(1 - p, 1 - q), 0)


def threshold(word, time, size, number, delta):
    """By the sum over a set of arms of N d, of several sets: Kaufmann and Koolen's for normal rewards, and others'."""
    if word == "heuristic":
        return math.log((1 + math.log(time)) / delta)
    x = math.log(number / delta)
    if word == "gk16":  # the mixture of Krichevsky and Trofimov costs log(2 sqrt(N)) for each arm
        return x + size * math.log(2 * math.sqrt(time / size))

    def bound(l):  # noqa: E741
        g = 2 * l - 2 * l * math.log(4 * l) + math.log(special.zeta(2 * l)) - math.log(1 - l) / 2
        return (g + x / size) / l

    least = optimize.minimize_scalar(bound, bounds=(0.5 + 1e-9, 1 - 1e-9), method="bounded", options={"xatol": 1e-10})
    return size * (least.fun + 2 * math.log(4 + math.log(time / size)))


def mixture(regrets, rate):
    """-log of the mean of exp(-rate regret), over the rate."""
    return -math.log(sum(math.exp(-rate * regret) for regret in regrets) / len(regrets)) / rate


def play(view, family, b, fit, respond, boundary, answer, seen=None):
    """What a reference says; functions of the arms as the run sees them.

    fit(pulls, means) -> estimates and their variances; respond(means, shares) -> the closest alternative. `seen` are
    the arms in the order of the game, where it is not the run's.
    """
    seen = np.argsort(view.order[0]) if seen is None else seen
    pulls, K = np.round(view.pulls[0][seen]), view.count
    means, variances = fit(pulls, view.mean[0][seen])
    regrets, gap, asked = view.memory.get("game", ([0.0] * K, 0.01, [1.0] * K))
    rate = math.log(K) / gap
    powers = [math.exp(-rate * (regret - min(regrets))) for regret in regrets]
    shares = np.asarray(powers) / sum(powers)
    moved = respond(means, np.maximum(shares, 1e-6))
    gains = (np.sqrt(divergence(family, b, means, moved)) + np.sqrt(variances * math.log(view.time))) ** 2
    after = [regret - gain for regret, gain in zip(regrets, gains, strict=True)]
    before, least = min(regrets), min(after)
    mixed = least + mixture([x - least for x in after], rate) - before - mixture([x - before for x in regrets], rate)
    asked = [x + share for x, share in zip(asked, shares, strict=True)]
    view.memory["game"] = after, gap + max(-float(shares @ gains) - mixed, 0.0), asked
    behind = np.asarray(asked) - pulls
    ranked = np.sort(behind)
    view.near |= bool(ranked[-1] - ranked[-2] < CLOSE)
    against = divergence(family, b, means, respond(means, pulls))
    missing = boundary(pulls) - float(pulls @ against)
    answered = {int(seen[arm]) for arm in answer(means)}
    return [int(seen[behind.argmax()])], answered, 0.0 if abs(missing) < 1e-3 else missing
