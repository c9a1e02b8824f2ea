"""Continuous Rejects, pull by pull: Wang, Tzeng, Proutiere (2023)."""

import numpy as np

import jaxbandits as jb

RULE = jb.ContinuousRejects
COINS = jb.bernoulli([0.5, 0.4, 0.4, 0.1, 0.2, 0.9])
SMOOTH = jb.gaussian([0.5, 0.4, 0.4, 0.3, 0.6], 0.2)
CASES = {
    "cr-a": (jb.ContinuousRejects(budget=140), COINS),
    "cr-c": (jb.ContinuousRejects(budget=140, conservative=True), COINS),
    "cr-a, a range": (jb.ContinuousRejects(budget=97), SMOOTH),
    "cr-c, a range": (jb.ContinuousRejects(budget=97, conservative=True), SMOOTH),
    "cr-a of two": (jb.ContinuousRejects(budget=40), jb.bernoulli([0.5, 0.4])),
}
TIES = [jb.ContinuousRejects(budget=20), jb.ContinuousRejects(budget=31, conservative=True)]


def reference(view, algorithm):
    means, order = view.mean[0], view.order[0]
    alive = view.memory.setdefault("alive", list(range(view.count)))
    pulls = [len(rewards) for rewards in view.rewards]
    if len(alive) > 2:
        dropped = [arm for arm in range(view.count) if arm not in alive]
        worst = alive[view.first(-means[alive], order[alive])]
        others = [means[arm] for arm in alive if arm != worst]
        gap = (min(others) if algorithm.conservative else sum(others) / len(others)) - means[worst]
        log_bar = 0.5 + sum(1 / i for i in range(2, len(alive) + 1))
        beta = sum(pulls[arm] for arm in alive) * log_bar / (algorithm.budget - sum(pulls[arm] for arm in dropped))
        level = 1 / np.sqrt(beta) - 1
        more = all(pulls[worst] > pulls[arm] for arm in dropped)
        if more:
            view.doubt(gap / view.b - level)
        if more and gap / view.b > level:
            alive.remove(worst)
    view.memory["near"] = view.near = view.near or view.memory.get("near", False)
    fewest = min(alive, key=lambda arm: (pulls[arm], order[arm]))
    return [fewest], {alive[view.first(means[alive], order[alive])]}, None
