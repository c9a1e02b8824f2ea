"""OCBA, increment by increment: Chen and Lee (2011); what OCBA-m shares is here too."""

import numpy as np

import jaxbandits as jb
from tests.algorithms.programs import means_of, reference_of

RULE = jb.OCBA
SPREAD = jb.gaussian([0.5, 0.4, 0.4, 0.3, 0.6], [0.3, 0.1, 0.5, 0.2, 0.2])
CASES = {
    "ocba": (jb.OCBA(budget=140), SPREAD),
    "ocba, coins": (jb.OCBA(budget=140, initial=3, increment=7), jb.bernoulli([0.5, 0.4, 0.4, 0.1, 0.9])),
}
TIES = [jb.OCBA(budget=31, initial=2)]


def program_of(shares):
    """The program of a rule with these shares; they return also the arm that gets what rounding leaves."""

    def program(view, algorithm):
        while True:
            pulls = np.asarray([len(seen) for seen in view.rewards])
            means = means_of(view.rewards)
            variances = np.asarray([np.var(seen, ddof=1) for seen in view.rewards])
            variances[variances == 0] = variances.mean() or 1.0
            owed = planned(view, *shares(view, algorithm, means, variances, pulls), pulls, algorithm.increment)
            while max(owed) > 0:
                arm = view.first(owed, view.order[0])
                yield [arm], set(view.top(means_of(view.rewards), getattr(algorithm, "m", 1), view.order[0])), None
                owed[arm] -= 1

    return program


def planned(view, shares, rest, pulls, increment):
    """How many more pulls each arm gets."""
    target, open_ = pulls.copy(), list(range(view.count))
    while True:
        left = pulls.sum() + increment - sum(pulls[arm] for arm in range(view.count) if arm not in open_)
        parts = {arm: left * shares[arm] / sum(shares[other] for other in open_) for arm in open_}
        for arm in open_:
            part = parts[arm] + 1e-3  # what is nearly whole is whole
            view.near |= bool(abs(part - round(part)) < 5e-6 * max(1, part))
            target[arm] = int(part)
        behind = [arm for arm in open_ if target[arm] < pulls[arm]]
        if not behind:
            break
        target[behind] = pulls[behind]
        open_ = [arm for arm in open_ if arm not in behind]
    owed = target - pulls
    owed[rest] += increment - owed.sum()
    return owed


def of_distances(distance, variances):
    """Shares in proportion to variance over squared distance; the arms with distance 0 have all."""
    if min(distance) == 0:
        return np.where(distance == 0, variances, 0)
    return variances / distance**2


def shares(view, algorithm, means, variances, pulls):
    del algorithm, pulls
    best = view.first(means, view.order[0])
    gap = np.where(np.arange(view.count) == best, np.inf, means[best] - means)
    found = of_distances(gap, variances)
    found[best] = np.sqrt(variances[best] * sum(found**2 / variances))
    return found, best


reference = reference_of(program_of(shares))
